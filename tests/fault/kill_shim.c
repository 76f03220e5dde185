/*
 * LD_PRELOAD: counts what the process does to the files of one database, and ends it by SIGKILL at the Nth act.
 *
 *   TIDEGATE_KILL_FILE        the database's whole path; its -journal, -wal and -shm count too
 *   TIDEGATE_KILL_AT          N, from 1; without it nothing is killed
 *   TIDEGATE_KILL_WHEN        before | after | torn (half of a write is written, then the kill)
 *   TIDEGATE_KILL_COUNT_FILE  the number of acts is written there at the end
 *
 * What is written to the wal-index goes through a mapping and is not seen. The settings are taken out of the
 * environment, so that a command which the program starts is left alone.
 */
#undef _FILE_OFFSET_BITS /* else pwrite and pwrite64 are one symbol */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/types.h>

#include "shim.h"

typedef enum When { BEFORE, AFTER, TORN } When;

static char database[PATH_MAX], count_file[PATH_MAX];
static long at, count;
static When when;
static pid_t owner;

__attribute__((constructor)) static void begin(void) {
  const char *file = getenv("TIDEGATE_KILL_FILE"), *moment = getenv("TIDEGATE_KILL_WHEN");
  const char *counts = getenv("TIDEGATE_KILL_COUNT_FILE");
  snprintf(database, sizeof database, "%s", file == NULL ? "" : file);
  snprintf(count_file, sizeof count_file, "%s", counts == NULL ? "" : counts);
  at = shim_number("TIDEGATE_KILL_AT", 0);
  when = moment == NULL || strcmp(moment, "before") == 0 ? BEFORE : strcmp(moment, "after") == 0 ? AFTER : TORN;
  owner = getpid();
  unsetenv("LD_PRELOAD");
  unsetenv("TIDEGATE_KILL_FILE");
  unsetenv("TIDEGATE_KILL_AT");
}

__attribute__((destructor)) static void end(void) {
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

static _Noreturn void die(void) {
  for (;;) kill(getpid(), SIGKILL);
}

/* Counts the act; true when the process is to end at it. */
static bool is_the_one(void) { return getpid() == owner && ++count == at; }

#define ACT(meant, call)                 \
  do {                                   \
    bool last = (meant) && is_the_one(); \
    if (last && when != AFTER) die();    \
    result = (call);                     \
    if (last) die();                     \
  } while (0)

#define WRITE(name, parameters, half, whole)                       \
  ssize_t name parameters {                                        \
    static ssize_t(*real) parameters;                              \
    ssize_t result;                                                \
    if (real == NULL) *(void **)&real = next(#name);               \
    bool last = shim_is_database_fd(fd, database) && is_the_one(); \
    if (last && when == BEFORE) die();                             \
    result = last && when == TORN ? real half : real whole;        \
    if (last) die();                                               \
    return result;                                                 \
  }

WRITE(write, (int fd, const void *data, size_t n), (fd, data, n / 2), (fd, data, n))
WRITE(pwrite, (int fd, const void *data, size_t n, off_t offset), (fd, data, n / 2, offset), (fd, data, n, offset))
WRITE(pwrite64, (int fd, const void *data, size_t n, off64_t offset), (fd, data, n / 2, offset), (fd, data, n, offset))

#define ON_FD(name, parameters, arguments)                  \
  int name parameters {                                     \
    static int(*real) parameters;                           \
    int result;                                             \
    if (real == NULL) *(void **)&real = next(#name);        \
    ACT(shim_is_database_fd(fd, database), real arguments); \
    return result;                                          \
  }

ON_FD(fsync, (int fd), (fd))
ON_FD(fdatasync, (int fd), (fd))
ON_FD(ftruncate, (int fd, off_t size), (fd, size))
ON_FD(ftruncate64, (int fd, off64_t size), (fd, size))
ON_FD(fallocate, (int fd, int mode, off_t offset, off_t n), (fd, mode, offset, n))
ON_FD(fallocate64, (int fd, int mode, off64_t offset, off64_t n), (fd, mode, offset, n))

#define ON_PATH(name, parameters, arguments)                    \
  int name parameters {                                         \
    static int(*real) parameters;                               \
    int result;                                                 \
    if (real == NULL) *(void **)&real = next(#name);            \
    ACT(shim_is_database_path(path, database), real arguments); \
    return result;                                              \
  }

ON_PATH(unlink, (const char *path), (path))
ON_PATH(rename, (const char *path, const char *to), (path, to))
