#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/sqlite/sqlite_int.h"

/*
 * SQLite has no server that could take a lock away from a frozen client (law 9), so a small process of our own does: it
 * is told how long a transaction may last, and kills this process when that passes. A killed process holds no lock, and
 * its transaction is rolled back by the next reader.
 */
static const double GRACE = 2;

/* Messages on the pipe: milliseconds until the kill, or −1 for "disarmed". */
static _Noreturn void watchdog_main(int pipe_end, pid_t parent) {
  int timeout = -1;
  for (;;) {
    struct pollfd waiting = {.fd = pipe_end, .events = POLLIN};
    int ready = poll(&waiting, 1, timeout);
    if (ready == 0) {
      kill(parent, SIGKILL);
      _exit(0);
    }
    if (ready < 0) continue;
    if (read(pipe_end, &timeout, sizeof timeout) != (ssize_t)sizeof timeout) _exit(0);
  }
}

static int watchdog_start(void) {
  int ends[2];
  pid_t parent = getpid();
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  pid_t child = fork();
  if (child == 0) {
    pid_t grandchild = fork(); /* so that nobody need wait for it */
    if (grandchild != 0) _exit(0);
    dup2(ends[0], 0);
    close_range(1, ~0U, 0);
    setsid();
    watchdog_main(0, parent);
  }
  close(ends[0]);
  if (child > 0) waitpid(child, NULL, 0);
  return ends[1];
}

static void tell(const SqliteEngine *engine, int milliseconds) {
  ssize_t ignored = write(engine->watchdog, &milliseconds, sizeof milliseconds);
  (void)ignored;
}

bool watchdog_arm(SqliteEngine *engine, double seconds, Error *err) {
  if (engine->watchdog < 0) engine->watchdog = watchdog_start();
  if (engine->watchdog < 0) return error_set(err, ERR_DATABASE, "cannot start the process that watches over the lock");
  tell(engine, (int)((seconds + GRACE) * 1000));
  return true;
}

void watchdog_disarm(const SqliteEngine *engine) {
  if (engine->watchdog >= 0) tell(engine, -1);
}
