#include "ledger/owner.h"

#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "ledger/ledger.h"

enum { HOST_SIZE = 256, USER_SIZE = 64, OWNER_SIZE = HOST_SIZE + USER_SIZE + 64 };

/*
 * When a process started, in clock ticks after boot: field 22 of /proc/PID/stat (proc(5)). Field 2, the command's name,
 * may hold spaces and brackets, so the count begins behind the last bracket. A zombie, which holds nothing any more,
 * started at 0. False where /proc does not say.
 */
static bool process_start(long pid, unsigned long long *ret_start) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  FILE *file = fopen(path, "re");
  if (file == NULL) return false;
  size_t n = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[n] = '\0';
  const char *field = strrchr(text, ')');
  if (field != NULL && strncmp(field, ") Z", 3) == 0) {
    *ret_start = 0;
    return true;
  }
  for (int i = 2; i < 22 && field != NULL; i++) field = strchr(field + 1, ' ');
  if (field == NULL) return false;
  char *end;
  errno = 0;
  *ret_start = strtoull(field + 1, &end, 10);
  return errno == 0 && end != field + 1;
}

/*
 * Where a pid means one process and no other: hosts and containers that talk to one server may have the same name, so
 * the host's name is followed by digits of its boot (random(4)) and of the pid namespace (pid_namespaces(7)). False
 * where /proc does not say.
 */
static bool place_name(char place[HOST_SIZE]) {
  char host[HOST_SIZE / 2] = "", boot[64] = "", space[64] = "", digits[33];
  FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
  bool known = file != NULL && fgets(boot, sizeof boot, file) != NULL;
  if (file != NULL) fclose(file);
  known = known && readlink("/proc/self/ns/pid", space, sizeof space - 1) > 0;
  if (gethostname(host, sizeof host - 1) != 0) snprintf(host, sizeof host, "unknown");
  snprintf(place, HOST_SIZE, "%s %s", boot, space);
  hash_hex(place, strlen(place), digits);
  snprintf(place, HOST_SIZE, "%s/%.8s", host, known ? digits : "?");
  return known;
}

static void user_name(char user[USER_SIZE]) {
  struct passwd entry, *found = NULL;
  char space[4096];
  if (getpwuid_r(geteuid(), &entry, space, sizeof space, &found) == 0 && found != NULL)
    snprintf(user, USER_SIZE, "%s", found->pw_name);
  else
    snprintf(user, USER_SIZE, "uid%lu", (unsigned long)geteuid());
}

const char *ledger_owner(void) {
  /* What the process is does not change: filled once (once more after a fork), then only read. */
  static _Thread_local char owner[OWNER_SIZE];
  static _Thread_local pid_t filled_by;
  if (filled_by == getpid()) return owner;
  char host[HOST_SIZE], user[USER_SIZE];
  unsigned long long start = 0;
  place_name(host);
  user_name(user);
  process_start(getpid(), &start);
  snprintf(owner, sizeof owner, "%s@%s:%ld:%llu", user, host, (long)getpid(), start);
  filled_by = getpid();
  return owner;
}

bool owner_is_dead(const char *owner) {
  char text[OWNER_SIZE], host[HOST_SIZE];
  if (strlen(owner) >= sizeof text) return false;
  memcpy(text, owner, strlen(owner) + 1);
  char *start_text = strrchr(text, ':');
  if (start_text == NULL) return false;
  *start_text++ = '\0';
  char *pid_text = strrchr(text, ':');
  if (pid_text == NULL) return false;
  *pid_text++ = '\0';
  const char *at = strrchr(text, '@');
  if (at == NULL || !place_name(host) || strcmp(at + 1, host) != 0) return false;

  char *pid_end, *start_end;
  long pid = strtol(pid_text, &pid_end, 10);
  unsigned long long start = strtoull(start_text, &start_end, 10), now;
  if (pid <= 0 || *pid_end != '\0' || start_end == start_text || *start_end != '\0') return false;
  if (kill((pid_t)pid, 0) != 0 && errno == ESRCH) return true;
  return start != 0 && process_start(pid, &now) && now != start;
}
