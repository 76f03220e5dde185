#include "gate/hook/install.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gate/hook/files.h"

enum { NEW_MODE = 0600 };

bool hook_binary(Arena *arena, const char **ret, Error *err) {
  char path[4096];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  if (n <= 0) return error_set(err, ERR_INTERNAL, "this program cannot tell its own path");
  path[n] = '\0';
  const char *slash = strrchr(path, '/');
  if (slash == NULL || strncmp(slash, "/tidegate", 9) != 0 || strstr(path, " (deleted)") != NULL) {
    error_set(err, ERR_INTERNAL, "this program's path is %s, which a hook cannot call for long", path);
    return error_hint(err, "run the tidegate that is installed");
  }
  *ret = arena_strdup(arena, path);
  return true;
}

/* The folder that the variable names stands for the first part of the path, or for the home directory. */
static const char *user_path(Arena *arena, const HookFile *file) {
  const char *home = getenv("HOME"), *other = file->variable == NULL ? NULL : getenv(file->variable);
  const char *slash = strchr(file->user, '/');
  if (other != NULL && *other == '/')
    return arena_printf(arena, "%s/%s", other, slash == NULL ? file->user : slash + 1);
  return home == NULL || *home != '/' ? NULL : arena_printf(arena, "%s/%s", home, file->user);
}

bool hook_target(Arena *arena, const HookFile *file, bool project, HookTarget *ret, Error *err) {
  char here[4096];
  *ret = (HookTarget){.config = &file->config};
  if (project && file->project == NULL) {
    error_set(err, ERR_USAGE, "%s has no file of a project", file->config.place);
    return error_hint(err, "install it for the user: tidegate hook install %s", file->config.place);
  }
  if (project && getcwd(here, sizeof here) == NULL)
    return error_set(err, ERR_INTERNAL, "the working directory cannot be told");
  ret->path = project ? arena_printf(arena, "%s/%s", here, file->project) : user_path(arena, file);
  return ret->path != NULL ||
         error_set(err, ERR_USAGE, "HOME names no folder, so it is not known where %s looks", file->config.place);
}

static const char *backup_of(Arena *arena, const char *path) { return arena_printf(arena, "%s.before-tidegate", path); }

bool hook_install(Arena *arena, const HookTarget *target, const char *binary, HookChange *ret, Error *err) {
  TextFile file;
  const char *after, *old, *command;
  if (!file_read(arena, target->path, &file, err)) return false;
  if (!hook_edit_find(arena, target->config, target->path, file.text, &old, &command, err)) return false;
  if (!hook_edit_add(arena, target->config, target->path, file.text, binary, &after, err)) return false;
  *ret = HOOK_UNCHANGED;
  if (file.exists && strcmp(after, file.text) == 0) return true;
  /* What stands there with an entry is not what stood there first. */
  if (file.exists && old == NULL && !file_write(backup_of(arena, file.path), file.text, &file, NEW_MODE, err))
    return false;
  *ret = HOOK_WRITTEN;
  return file_write(file.path, after, &file, NEW_MODE, err);
}

/* Is the text what installing made of `first`? */
static bool is_made_of(Arena *arena, const HookTarget *target, const char *first, const char *text,
                       const char *binary) {
  const char *made;
  Error ignored;
  return hook_edit_add(arena, target->config, target->path, first, binary, &made, &ignored) && strcmp(made, text) == 0;
}

bool hook_uninstall(Arena *arena, const HookTarget *target, HookChange *ret, Error *err) {
  TextFile file, first;
  const char *binary, *command, *after;
  *ret = HOOK_UNCHANGED;
  if (!file_read(arena, target->path, &file, err) ||
      !hook_edit_find(arena, target->config, target->path, file.text, &binary, &command, err) ||
      !hook_edit_remove(arena, target->config, target->path, file.text, &after, err))
    return false;
  if (strcmp(after, file.text) == 0) return true;
  const char *backup = backup_of(arena, file.path);
  if (!file_read(arena, backup, &first, err)) return false;
  if (binary != NULL && is_made_of(arena, target, first.text, file.text, binary)) {
    *ret = first.exists ? HOOK_RESTORED : HOOK_DELETED;
    if (first.exists) return file_move(backup, file.path, err);
    if (!file_delete(file.path, err)) return false;
    const char *slash = strrchr(file.path, '/');
    /* A folder that was made for it alone; one with anything in it stays. */
    if (target->config->format != HOOK_SHELL) rmdir(arena_strndup(arena, file.path, (size_t)(slash - file.path)));
    return true;
  }
  if (*after == '\0' && !first.exists) { /* there was no file, and nobody wrote into it */
    *ret = HOOK_DELETED;
    return file_delete(file.path, err);
  }
  *ret = HOOK_WRITTEN;
  return file_write(file.path, after, &file, NEW_MODE, err) && file_delete(backup, err);
}

bool hook_look(Arena *arena, const HookTarget *target, const char **ret_binary, const char **ret_command, Error *err) {
  TextFile file;
  return file_read(arena, target->path, &file, err) &&
         hook_edit_find(arena, target->config, target->path, file.text, ret_binary, ret_command, err);
}
