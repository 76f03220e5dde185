#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/marked.h"
#include "jobs/live_int.h"

/* This machine's processes, and a file that one of them locks or has written its number into. */

enum { MOST_FILE = 64 * 1024, MOST_ANCESTORS = 256 };

/* What a file of /proc, or a small file, holds; -1: errno says why not. */
static ssize_t slurp(const char *path, char text[MOST_FILE]) {
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return -1;
  size_t n = 0;
  ssize_t got = 0;
  while (n < MOST_FILE - 1 && (got = read(file, text + n, MOST_FILE - 1 - n)) > 0) n += (size_t)got;
  int failure = errno;
  close(file);
  errno = failure;
  text[n] = '\0';
  return got < 0 ? -1 : (ssize_t)n;
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

/* The parent of a process; 0: none, or gone. */
static pid_t parent_of(pid_t pid) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  FILE *file = fopen(path, "re");
  if (file == NULL) return 0;
  size_t n = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[n] = '\0';
  int parent;
  const char *behind = strrchr(text, ')'); /* the name may hold anything */
  return behind != NULL && sscanf(behind + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

static bool descends_from(pid_t pid, pid_t ancestor) {
  for (int i = 0; pid > 0 && i < MOST_ANCESTORS; i++, pid = parent_of(pid))
    if (pid == ancestor) return true;
  return false;
}

/* We ourselves, what we have started, and what has started us: a shell's line names what it runs. */
static bool is_ours(pid_t pid) { return descends_from(pid, getpid()) || descends_from(getpid(), pid); }

/* The tool's that runs meanwhile? */
static bool is_own(const Asking *asking, pid_t pid) {
  return asking->ask->own != NULL && marked_is((int)pid, asking->ask->own->variable);
}

/* The command line with spaces between its words; false when it cannot be seen; "" for one that has none any more. */
static bool command_line(pid_t pid, char text[MOST_FILE]) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
  ssize_t n = slurp(path, text);
  if (n < 0 && errno != ENOENT && errno != ESRCH) return false;
  if (n < 0) n = 0;
  for (ssize_t i = 0; i < n; i++)
    if (text[i] == '\0') text[i] = ' ';
  while (n > 0 && text[n - 1] == ' ') n--;
  text[n] = '\0';
  return true;
}

static void look_at_process(Asking *asking, const regex_t *pattern, pid_t pid) {
  char text[MOST_FILE];
  if (!command_line(pid, text))
    live_unknown(asking, "run tidegate as a user who may see all processes (/proc is mounted with hidepid)",
                 "process: the command line of process %d cannot be seen", (int)pid);
  else if (text[0] != '\0' && regexec(pattern, text, 0, NULL, 0) == 0 && !is_ours(pid) && !is_own(asking, pid))
    live_running(asking, 0, "process: process %d runs it", (int)pid); /* its words may hold a password */
}

void live_process(Asking *asking) {
  const char *expression = asking->live->process.text;
  regex_t pattern;
  char fault[256];
  if (expression == NULL) return;
  int failed = regcomp(&pattern, expression, REG_EXTENDED | REG_NOSUB);
  if (failed != 0) {
    regerror(failed, &pattern, fault, sizeof fault);
    live_unknown(asking, "correct live.process: an extended regular expression", "process: %s", fault);
    return;
  }
  DIR *all = opendir("/proc");
  if (all == NULL || access("/proc/1", F_OK) != 0)
    live_unknown(asking, "run tidegate as a user who may see all processes (/proc is mounted with hidepid)",
                 "process: not all processes can be seen");
  for (struct dirent *entry; all != NULL && (entry = readdir(all)) != NULL;)
    if (isdigit((unsigned char)entry->d_name[0])) look_at_process(asking, &pattern, atoi(entry->d_name));
  if (all != NULL) closedir(all);
  regfree(&pattern);
}

/* ---- a lock file ------------------------------------------------------------------------------------------------- */

/* Is it a lock of the tool's that runs meanwhile? Who took it may have ended and left it to another. */
static bool is_own_lock(const Asking *asking, const char *line, const struct stat *info) {
  int pid;
  const char *waits = strstr(line, "-> ");
  if (asking->ask->own == NULL) return false;
  if (sscanf(waits == NULL ? line : waits + 3, waits == NULL ? "%*s %*s %*s %*s %d" : "%*s %*s %*s %d", &pid) == 1 &&
      is_own(asking, pid))
    return true;
  return waits == NULL && marked_locks(asking->ask->own->variable, info);
}

/* flock, fcntl and open file description locks alike, without taking one. */
static bool is_locked(Asking *asking, const char *path, const struct stat *info) {
  char line[256];
  bool found = false;
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  int file = asking->ask->own != NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file >= 0) found = fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  if (file >= 0) close(file);
  FILE *locks = fopen("/proc/locks", "re");
  if (locks == NULL)
    live_unknown(asking, "use process, systemd or command", "lock_file: whether %s is locked cannot be told: %s", path,
                 strerror(errno));
  while (locks != NULL && !found && fgets(line, sizeof line, locks) != NULL)
    found = marked_lock_names(line, info) && !is_own_lock(asking, line, info);
  if (locks != NULL) fclose(locks);
  return found;
}

/* The process whose number is the first word of the file. */
static void look_inside(Asking *asking, const char *path) {
  char text[MOST_FILE];
  int pid, end = 0;
  if (slurp(path, text) < 0) {
    live_unknown(asking, "let whoever runs tidegate read it", "lock_file: %s cannot be read: %s", path,
                 strerror(errno));
    return;
  }
  if (text[strspn(text, " \t\r\n")] == '\0') return;
  if (sscanf(text, " %d%n", &pid, &end) != 1 || pid <= 0 || (text[end] != '\0' && !isspace((unsigned char)text[end])))
    live_unknown(asking, "a lock file holds nothing, or the number of the process that has it; use command for others",
                 "lock_file: what %s holds says nothing", path);
  else if (!is_own(asking, pid) && (kill(pid, 0) == 0 || errno == EPERM))
    live_running(asking, 0, "lock_file: process %d of %s is alive", pid, path);
}

void live_lock_file(Asking *asking) {
  const char *path = asking->live->lock_file.text;
  struct stat info, folder;
  if (path == NULL) return;
  if (stat(path, &info) != 0) {
    const char *slash = strrchr(path, '/');
    const char *parent = slash == NULL ? "." : arena_strndup(asking->arena, path, (size_t)(slash - path) + 1);
    if (errno != ENOENT || stat(parent, &folder) != 0)
      live_unknown(asking, "correct live.lock_file, or use process, systemd or command",
                   "lock_file: %s cannot be looked at: %s", path, strerror(errno));
    return; /* it is there only while the job runs */
  }
  if (is_locked(asking, path, &info))
    live_running(asking, 0, "lock_file: %s is locked", path);
  else
    look_inside(asking, path);
}
