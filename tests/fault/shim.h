#ifndef TIDEGATE_TESTS_FAULT_SHIM_H
#define TIDEGATE_TESTS_FAULT_SHIM_H

/* What the two preloaded libraries share: which files are meant, and the numbers in the environment. */

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline long shim_number(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text == NULL || *text == '\0' ? otherwise : strtol(text, NULL, 10);
}

static inline bool shim_starts(const char *text, const char *beginning) {
  return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* The database, its journal, its -wal and its -shm begin with the same path. */
static inline bool shim_is_database_path(const char *path, const char *database) {
  char whole[2 * PATH_MAX];
  if (path == NULL || database == NULL || *database == '\0') return false;
  if (shim_starts(path, database)) return true;
  /* A name may be relative, and the file may be gone or not there yet: the folder alone is resolved. */
  const char *slash = strrchr(path, '/');
  char folder[PATH_MAX];
  snprintf(folder, sizeof folder, "%.*s", slash == NULL ? 1 : (int)(slash - path), slash == NULL ? "." : path);
  if (realpath(folder, whole) == NULL) return false;
  size_t used = strlen(whole);
  snprintf(whole + used, sizeof whole - used, "/%s", slash == NULL ? path : slash + 1);
  return shim_starts(whole, database);
}

static inline bool shim_fd_path(int fd, char path[PATH_MAX]) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, PATH_MAX - 1);
  if (n < 0) return false;
  path[n] = '\0';
  return true;
}

static inline bool shim_is_database_fd(int fd, const char *database) {
  char path[PATH_MAX];
  return fd > 2 && shim_fd_path(fd, path) && shim_is_database_path(path, database);
}

#endif
