#ifndef TIDEGATE_GATE_HOOK_INSTALL_H
#define TIDEGATE_GATE_HOOK_INSTALL_H

#include "gate/hook/configs.h"

/*
 * Puts Tidegate's entry into a place's file, and takes it out. The file is written beside and renamed, keeps its mode
 * and owner, and is followed through symbolic links. What stood there first is kept in FILE.before-tidegate; it is put
 * back byte for byte when nothing else changed meanwhile. Errors: ERR_SPEC for a file that is not understood,
 * ERR_INTERNAL for one that cannot be read or written.
 */
typedef struct HookTarget {
  const HookConfig *config;
  const char *path;
} HookTarget;

typedef enum HookChange { HOOK_UNCHANGED, HOOK_WRITTEN, HOOK_RESTORED, HOOK_DELETED } HookChange;

/* This program's own path. Errors: ERR_INTERNAL when it cannot be told or was replaced. */
bool hook_binary(Arena *arena, const char **ret, Error *err);

/* The file of a place for this user, or of the project in the working directory. Errors: ERR_USAGE. */
bool hook_target(Arena *arena, const HookFile *file, bool project, HookTarget *ret, Error *err);

bool hook_install(Arena *arena, const HookTarget *target, const char *binary, HookChange *ret, Error *err);
bool hook_uninstall(Arena *arena, const HookTarget *target, HookChange *ret, Error *err);
/* As hook_edit_find; *ret_binary NULL where there is no file. */
bool hook_look(Arena *arena, const HookTarget *target, const char **ret_binary, const char **ret_command, Error *err);

/* git's pre-commit hook of the repository of the working directory: a hook that was there is kept and called. */
bool git_hook_path(Arena *arena, const char **ret, Error *err);
bool git_hook_install(Arena *arena, const char *path, const char *binary, HookChange *ret, Error *err);
bool git_hook_uninstall(Arena *arena, const char *path, HookChange *ret, Error *err);
bool git_hook_look(Arena *arena, const char *path, const char **ret_binary, Error *err);

/* Programs in a folder that stands first on PATH, each a script that asks before it starts the real one. */
bool shim_folder(Arena *arena, const char **ret, Error *err);
bool shim_install(Arena *arena, const char *folder, const char *name, const char *binary, HookChange *ret, Error *err);
/* Takes all of them out, and the folder. */
bool shim_uninstall(Arena *arena, const char *folder, HookChange *ret, Error *err);
/* The names of those that are there, and the program that the last of them calls (NULL: there is none). */
bool shim_look(Arena *arena, const char *folder, const char *const **ret, size_t *ret_n, const char **ret_binary,
               Error *err);
/* The program of that name further down PATH, no shim; NULL: there is none. */
const char *shim_real(Arena *arena, const char *name);
/* Tools that get a shim when they are on PATH; NULL ends. */
const char *const *shim_tools(void);

#endif
