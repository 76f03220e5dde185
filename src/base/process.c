#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mask.h"

/* A command's output is kept up to this many bytes; the rest is read and thrown away. */
enum { LOG_MAX = 64 * 1024, POLL_MS = 100, TAIL = 400 };

char *process_fill(Arena *arena, const char *word, const ProcessVariable *variables, size_t n) {
  BUF_SCOPED out = {0};
  for (char before = '\0'; *word != '\0';) {
    const ProcessVariable *found = NULL;
    for (size_t i = 0; i < n && found == NULL && before != '$'; i++)
      if (strncmp(word, variables[i].place, strlen(variables[i].place)) == 0) found = &variables[i];
    before = *word;
    if (found == NULL) {
      buf_putc(&out, *word++);
    } else {
      buf_puts(&out, found->value);
      word += strlen(found->place);
    }
  }
  return arena_strdup(arena, buf_text(&out));
}

/* `parent` is dead: nobody would end the command in time, or look at what it has done. */
static void die_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
}

static _Noreturn void become(char *const *argv, const ProcessRules *rules, int output, pid_t parent) {
  setsid(); /* a group of its own, and no terminal: what asks there for a password fails, and does not stand still */
  die_with(parent);
  for (size_t i = 0; i < rules->n; i++) setenv(rules->variables[i].name, rules->variables[i].value, 1);
  int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  close_range(3, ~0U, 0);
  execvp(argv[0], argv);
  dprintf(STDERR_FILENO, "cannot run %s: %s\n", argv[0], strerror(errno));
  _exit(127);
}

/* Ends the whole process group: politely first. */
static void end_group(pid_t group) {
  kill(-group, SIGTERM);
  double until = clock_seconds() + PROCESS_END_SECONDS;
  bool gone = false;
  while (!gone && clock_seconds() < until) {
    gone = waitpid(group, NULL, WNOHANG) == group;
    if (!gone) poll(NULL, 0, POLL_MS);
  }
  kill(-group, SIGKILL);
  if (!gone) waitpid(group, NULL, 0);
}

typedef enum Outcome { ENDED, TIMED_OUT, STOPPED } Outcome;

/* Reads until the command closes its output, then waits for its end, which may come much later. */
static Outcome follow(const ProcessRules *rules, pid_t child, int output, Buf *log, int *ret_status) {
  char bytes[4096];
  double until = clock_seconds() + rules->timeout;
  for (int wait_ms = 0;;) { /* above 0: the output is closed */
    struct pollfd waiting = {.fd = wait_ms > 0 ? -1 : output, .events = POLLIN};
    int ready = poll(&waiting, 1, wait_ms > 0 ? wait_ms : POLL_MS);
    if (wait_ms > 0 && waitpid(child, ret_status, WNOHANG) == child) return ENDED;
    if (rules->go_on != NULL && !rules->go_on(rules->context)) return STOPPED;
    if (clock_seconds() > until) return TIMED_OUT;
    if (wait_ms > 0) wait_ms = wait_ms * 2 < POLL_MS ? wait_ms * 2 : POLL_MS;
    if (ready <= 0) continue;
    ssize_t n = read(output, bytes, sizeof bytes);
    if (n <= 0) wait_ms = 1;
    size_t room = log->len < LOG_MAX ? LOG_MAX - log->len : 0;
    if (n > 0) buf_append(log, bytes, (size_t)n < room ? (size_t)n : room);
  }
}

/* Runs it to its end; *ret_status as waitpid gives it. */
static bool run(char *const *argv, const ProcessRules *rules, Buf *log, int *ret_status, Error *err) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return error_set(err, ERR_COMMAND, "cannot start %s: %s", argv[0], strerror(errno));
  pid_t parent = getpid(), child = fork();
  if (child == 0) become(argv, rules, ends[1], parent);
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return error_set(err, ERR_COMMAND, "cannot start %s: %s", argv[0], strerror(errno));
  }
  Outcome outcome = follow(rules, child, ends[0], log, ret_status);
  close(ends[0]);
  if (outcome != ENDED) end_group(child);
  if (outcome == STOPPED) return error_set(err, ERR_PAUSED, "%s was ended because you asked to stop", argv[0]);
  if (outcome == TIMED_OUT)
    return error_set(err, ERR_COMMAND, "%s ran longer than %s allows and was ended", argv[0], rules->timeout_name);
  return true;
}

/* It goes into messages and records. */
static void mask_log(Buf *log) {
  ARENA_SCOPED arena = {0};
  const char *masked = mask_output(&arena, buf_text(log), log->len);
  buf_clear(log);
  buf_puts(log, masked);
}

bool process_run(char *const *argv, const ProcessRules *rules, Buf *log, Error *err) {
  int status = 0;
  bool ran = run(argv, rules, log, &status, err);
  mask_log(log);
  if (!ran) return false;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  const char *tail = log->len > TAIL ? buf_text(log) + log->len - TAIL : buf_text(log);
  if (WIFEXITED(status))
    return error_set(err, ERR_COMMAND, "%s ended with exit status %d: %s", argv[0], WEXITSTATUS(status), tail);
  return error_set(err, ERR_COMMAND, "%s was killed by signal %d: %s", argv[0], WTERMSIG(status), tail);
}

bool process_status(char *const *argv, const ProcessRules *rules, Buf *log, int *ret_status, Error *err) {
  int status = 0;
  if (!run(argv, rules, log, &status, err)) return false;
  if (!WIFEXITED(status)) return error_set(err, ERR_COMMAND, "%s was killed by signal %d", argv[0], WTERMSIG(status));
  *ret_status = WEXITSTATUS(status);
  return true;
}
