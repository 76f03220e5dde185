#ifndef TIDEGATE_GATE_HOOK_FILES_H
#define TIDEGATE_GATE_HOOK_FILES_H

#include <sys/stat.h>

#include "base/arena.h"
#include "base/error.h"

/* Small text files of other programs. Private to this folder. Errors: ERR_INTERNAL. */

typedef struct TextFile {
  const char *path; /* symbolic links followed */
  bool exists;
  const char *text; /* "" when it does not exist */
  struct stat facts;
} TextFile;

/* Refuses what is no regular file, holds NUL bytes or is larger than 4 MiB. */
bool file_read(Arena *arena, const char *path, TextFile *ret, Error *err);
/* Written beside and renamed; mode and owner of `like` where it exists, else `mode`. Folders are made. */
bool file_write(const char *path, const char *text, const TextFile *like, mode_t mode, Error *err);
bool file_move(const char *from, const char *to, Error *err);
bool file_delete(const char *path, Error *err);
bool file_is_there(const char *path);

#endif
