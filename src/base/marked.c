#include "base/marked.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/buf.h"

enum { MOST_ENVIRON = 4 * 1024 * 1024 };

/* The environment of a process, its variables each ended by NUL; empty when it cannot be seen. */
static void read_environ(int pid, Buf *ret) {
  char path[64], block[65536];
  buf_clear(ret);
  snprintf(path, sizeof path, "/proc/%d/environ", pid);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ssize_t n;
  while (ret->len < MOST_ENVIRON && (n = read(file, block, sizeof block)) > 0) buf_append(ret, block, (size_t)n);
  close(file);
}

bool marked_is(int pid, const char *variable) {
  BUF_SCOPED settings = {0};
  if (pid <= 1 || pid == getpid()) return false;
  read_environ(pid, &settings);
  const char *text = buf_text(&settings);
  for (size_t at = 0; at < settings.len; at += strnlen(text + at, settings.len - at) + 1)
    if (strcmp(text + at, variable) == 0) return true;
  return false;
}

/* Calls `look` for each of them until it says stop; their number up to there. */
static size_t each(const char *variable, bool (*look)(int pid, void *context), void *context) {
  size_t found = 0;
  bool more = true;
  DIR *processes = opendir("/proc");
  if (processes == NULL) return 0;
  for (const struct dirent *entry; more && (entry = readdir(processes)) != NULL;) {
    int pid = atoi(entry->d_name);
    if (!marked_is(pid, variable)) continue;
    found++;
    more = look(pid, context);
  }
  closedir(processes);
  return found;
}

typedef struct Signalled {
  int number, *ret_pid;
} Signalled;

static bool signal_one(int pid, void *context) {
  const Signalled *signalled = context;
  *signalled->ret_pid = pid;
  if (signalled->number != 0) kill(pid, signalled->number);
  return true;
}

size_t marked_each(const char *variable, int signal_number, int *ret_pid) {
  return each(variable, signal_one, &(Signalled){signal_number, ret_pid});
}

/* ---- locks ------------------------------------------------------------------------------------------------------- */

/* Some file systems show another device there than to stat. */
bool marked_lock_names(const char *line, const struct stat *file) {
  unsigned device_major, device_minor;
  unsigned long long inode;
  const char *at = strstr(line, "-> ") == NULL ? line : strstr(line, "-> ") + 3; /* somebody who waits for it */
  if (sscanf(at, "%*s %*s %*s %*s %*s %x:%x:%llu", &device_major, &device_minor, &inode) != 3 &&
      sscanf(at, "%*s %*s %*s %*s %x:%x:%llu", &device_major, &device_minor, &inode) != 3)
    return false;
  if (inode != file->st_ino) return false;
  return (device_major == major(file->st_dev) && device_minor == minor(file->st_dev)) || device_major == 0 ||
         major(file->st_dev) == 0;
}

typedef struct LockLook {
  const struct stat *file;
  bool found;
} LockLook;

static bool shows_lock(int folder, const char *name, const struct stat *file) {
  static const char key[] = "lock:";
  char line[256];
  bool found = false;
  int descriptor = openat(folder, name, O_RDONLY | O_CLOEXEC);
  FILE *lines = descriptor < 0 ? NULL : fdopen(descriptor, "re");
  if (lines == NULL && descriptor >= 0) close(descriptor);
  while (lines != NULL && !found && fgets(line, sizeof line, lines) != NULL)
    found = strncmp(line, key, sizeof key - 1) == 0 && marked_lock_names(line + sizeof key - 1, file);
  if (lines != NULL) fclose(lines);
  return found;
}

static bool look_for_lock(int pid, void *context) {
  LockLook *look = context;
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fdinfo", pid);
  DIR *open_files = opendir(path);
  if (open_files == NULL) return true;
  for (const struct dirent *entry; !look->found && (entry = readdir(open_files)) != NULL;)
    look->found = entry->d_name[0] != '.' && shows_lock(dirfd(open_files), entry->d_name, look->file);
  closedir(open_files);
  return !look->found;
}

bool marked_locks(const char *variable, const struct stat *file) {
  LockLook look = {file, false};
  each(variable, look_for_lock, &look);
  return look.found;
}
