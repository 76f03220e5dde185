/*
 * LD_PRELOAD: makes the Nth call of a kind fail.
 *
 *   TIDEGATE_FAIL_KIND        malloc (malloc, calloc, realloc, strdup by way of them) | write | sync | truncate | open
 * | unlink TIDEGATE_FAIL_AT          N, from 1; 0 only counts TIDEGATE_FAIL_EVER        1: that call and every one
 * after it TIDEGATE_FAIL_ERRNO       the number of the error (EIO, ENOSPC, …) TIDEGATE_FAIL_FILE        the database's
 * whole path; its -journal, -wal and -shm count too, and SQLite's temporary files TIDEGATE_FAIL_COUNT_FILE  the number
 * of calls is written there at the end
 *
 * Counting begins when main is about to: what the loader needs is not in question.
 */
#undef _FILE_OFFSET_BITS /* else pwrite and pwrite64 are one symbol */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/types.h>

#include "shim.h"

typedef enum Kind { NONE, MALLOC, WRITE, SYNC, TRUNCATE, OPEN, UNLINK } Kind;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static char database[PATH_MAX], count_file[PATH_MAX];
static long at, count;
static bool ever;
static int error_number;
static Kind kind;
static pid_t owner;

static Kind kind_of(const char *name) {
  static const char *const names[] = {"", "malloc", "write", "sync", "truncate", "open", "unlink"};
  for (int i = MALLOC; name != NULL && i <= UNLINK; i++)
    if (strcmp(name, names[i]) == 0) return (Kind)i;
  return NONE;
}

__attribute__((constructor)) static void begin(void) {
  const char *file = getenv("TIDEGATE_FAIL_FILE"), *counts = getenv("TIDEGATE_FAIL_COUNT_FILE");
  snprintf(database, sizeof database, "%s", file == NULL ? "" : file);
  snprintf(count_file, sizeof count_file, "%s", counts == NULL ? "" : counts);
  at = shim_number("TIDEGATE_FAIL_AT", 0);
  ever = shim_number("TIDEGATE_FAIL_EVER", 0) != 0;
  error_number = (int)shim_number("TIDEGATE_FAIL_ERRNO", EIO);
  owner = getpid();
  Kind wanted = kind_of(getenv("TIDEGATE_FAIL_KIND"));
  unsetenv("LD_PRELOAD");
  kind = wanted;
}

__attribute__((destructor)) static void end(void) {
  kind = NONE;
  if (count_file[0] == '\0' || getpid() != owner) return;
  FILE *file = fopen(count_file, "we");
  if (file == NULL) return;
  fprintf(file, "%ld\n", count);
  fclose(file);
}

static void *next(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found == NULL) abort();
  return found;
}

/* Counts a call of this kind; true, with errno, when it is to fail. */
static bool fails(Kind called) {
  if (called != kind || getpid() != owner) return false;
  count++;
  if (at == 0 || !(ever ? count >= at : count == at)) return false;
  errno = called == MALLOC ? ENOMEM : error_number;
  return true;
}

static bool is_meant_path(const char *path) {
  return shim_is_database_path(path, database) || (path != NULL && strstr(path, "/etilqs_") != NULL);
}

static bool is_meant(int fd) {
  char path[PATH_MAX];
  return kind != NONE && kind != MALLOC && fd > 2 && shim_fd_path(fd, path) && is_meant_path(path);
}

void *malloc(size_t size) { return fails(MALLOC) ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return fails(MALLOC) ? NULL : __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { return fails(MALLOC) ? NULL : __libc_realloc(old, size); }

#define ON_FD(type, name, called, parameters, arguments)        \
  type name parameters {                                        \
    static type(*real) parameters;                              \
    if (real == NULL) *(void **)&real = next(#name);            \
    return is_meant(fd) && fails(called) ? -1 : real arguments; \
  }

ON_FD(ssize_t, write, WRITE, (int fd, const void *data, size_t n), (fd, data, n))
ON_FD(ssize_t, pwrite, WRITE, (int fd, const void *data, size_t n, off_t offset), (fd, data, n, offset))
ON_FD(ssize_t, pwrite64, WRITE, (int fd, const void *data, size_t n, off64_t offset), (fd, data, n, offset))
ON_FD(int, fsync, SYNC, (int fd), (fd))
ON_FD(int, fdatasync, SYNC, (int fd), (fd))
ON_FD(int, ftruncate, TRUNCATE, (int fd, off_t size), (fd, size))
ON_FD(int, ftruncate64, TRUNCATE, (int fd, off64_t size), (fd, size))

static int open_as(const char *name, const char *path, int flags, mode_t mode) {
  int (*real)(const char *, int, ...);
  if (kind == OPEN && is_meant_path(path) && fails(OPEN)) return -1;
  *(void **)&real = next(name);
  return real(path, flags, mode);
}

static mode_t mode_of(int flags, va_list arguments) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}

int open(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_as("open", path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_as("open64", path, flags, mode);
}

int unlink(const char *path) {
  static int (*real)(const char *);
  if (real == NULL) *(void **)&real = next("unlink");
  return kind == UNLINK && is_meant_path(path) && fails(UNLINK) ? -1 : real(path);
}
