/*
 * LD_PRELOAD: the process stops itself (SIGSTOP) before it prepares its Nth statement, so that a test can do what it
 * likes at exactly that moment and let it go on (SIGCONT).
 *
 *   TIDEGATE_STOP_AT    N, from 1; 0 only counts
 *   TIDEGATE_STOP_FILE  the number of statements is written there at the end, or the statement at which it stopped
 */
#include <dlfcn.h>
#include <signal.h>

#include "shim.h"

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;

int sqlite3_prepare_v2(sqlite3 *db, const char *sql, int n, sqlite3_stmt **ret, const char **ret_tail);

static char file[PATH_MAX];
static long at, count;
static pid_t owner;

static void tell(const char *what, long number) {
  FILE *out = file[0] == '\0' ? NULL : fopen(file, "we");
  if (out == NULL) return;
  fprintf(out, "%ld\n%s\n", number, what);
  fclose(out);
}

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("TIDEGATE_STOP_FILE");
  snprintf(file, sizeof file, "%s", path == NULL ? "" : path);
  at = shim_number("TIDEGATE_STOP_AT", 0);
  owner = getpid();
  unsetenv("LD_PRELOAD");
}

__attribute__((destructor)) static void end(void) {
  if (at == 0 && getpid() == owner) tell("", count);
}

int sqlite3_prepare_v2(sqlite3 *db, const char *sql, int n, sqlite3_stmt **ret, const char **ret_tail) {
  static int (*real)(sqlite3 *, const char *, int, sqlite3_stmt **, const char **);
  if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "sqlite3_prepare_v2");
  if (getpid() == owner && ++count == at) {
    tell(sql, count);
    raise(SIGSTOP);
  }
  return real(db, sql, n, ret, ret_tail);
}
