#include <string.h>

#include "base/process.h"
#include "jobs/live_int.h"

/* What this machine's systemd says of a unit, and a command of the user's. What they print is never shown: it may hold
 * anything. */

static bool run(Asking *asking, const char *const *argv, const char *what, Buf *out, int *ret_status) {
  ProcessRules rules = {.timeout = live_time(asking), .timeout_name = "live.timeout"};
  Error err;
  if (rules.timeout <= 0) return false;
  char **own = arena_array(asking->arena, 16 + asking->live->command.n, sizeof *own);
  for (size_t i = 0; argv[i] != NULL; i++) own[i] = arena_strdup(asking->arena, argv[i]);
  if (process_status(own, &rules, out, ret_status, &err)) return true;
  error_hint(&err, "run it by hand to see what it does; it must answer within live.timeout, which may be longer");
  live_failed(asking, what, &err);
  return false;
}

/* The value of "KEY=value" on a line of its own, in the arena; "" when there is none. */
static const char *property(Arena *arena, const char *text, const char *key) {
  size_t n = strlen(key);
  for (const char *line = text; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, key, n) == 0 && line[n] == '=')
      return arena_strndup(arena, line + n + 1, strcspn(line + n + 1, "\n"));
  }
  return "";
}

static bool is_one_of(const char *text, const char *const *words) {
  for (; *words != NULL; words++)
    if (strcmp(text, *words) == 0) return true;
  return false;
}

/* Active although nothing of the job runs: it has ended and is kept, or something waits for its time. */
static const char *const resting[] = {"exited", "waiting", "listening", "elapsed", NULL};

static void judge_unit(Asking *asking, const char *unit, const char *said) {
  const char *load = property(asking->arena, said, "LoadState"), *active = property(asking->arena, said, "ActiveState"),
             *sub = property(asking->arena, said, "SubState");
  if (strcmp(load, "loaded") != 0 && strcmp(load, "masked") != 0) {
    live_unknown(asking,
                 "write live.systemd as `systemctl list-units --all` shows it; units of a user's own manager "
                 "cannot be asked: use process or command for them",
                 "systemd: %s is %s", unit, load[0] == '\0' ? "not known" : load);
    return;
  }
  if (strcmp(active, "failed") == 0) {
    asking->answer.failed = true;
    live_note(asking, "systemd: the last run of %s failed", unit);
  } else if (strcmp(active, "active") == 0 && is_one_of(sub, resting)) {
    return;
  } else if (strcmp(active, "inactive") != 0) { /* active, activating, reloading, deactivating, what is yet to come */
    asking->answer.retrying |= strcmp(sub, "auto-restart") == 0;
    live_running(asking, 0, "systemd: %s is %s (%s)", unit, active, sub);
  }
}

void live_systemd(Asking *asking) {
  const char *unit = asking->live->systemd.text;
  BUF_SCOPED out = {0};
  int status;
  if (unit == NULL) return;
  size_t n = strlen(unit);
  if (n > 6 && strcmp(unit + n - 6, ".timer") == 0) {
    live_unknown(asking, "name the service that the timer starts",
                 "systemd: %s is a timer, which is active all the time", unit);
    return;
  }
  const char *const argv[] = {"systemctl", "show", "--no-pager", "--property=LoadState,ActiveState,SubState",
                              "--",        unit,   NULL};
  if (!run(asking, argv, "systemd", &out, &status)) return;
  if (status != 0) {
    live_unknown(asking, "is systemd this machine's init? If the job runs elsewhere, ask there: live.command",
                 "systemd: systemctl cannot say what %s does (exit status %d)", unit, status);
    return;
  }
  judge_unit(asking, unit, buf_text(&out));
}

void live_command(Asking *asking) {
  const SpecTexts *command = &asking->live->command;
  BUF_SCOPED out = {0};
  int status;
  if (command->n == 0) return;
  const char **argv = arena_array(asking->arena, command->n + 1, sizeof *argv);
  for (size_t i = 0; i < command->n; i++) argv[i] = command->items[i].text;
  if (!run(asking, argv, "command", &out, &status)) return;
  if (status == 1)
    live_running(asking, 0, "command: %s says that it runs", argv[0]);
  else if (status == 127)
    live_unknown(asking, "look at live.command: is the program there, and may it be run?", "command: %s cannot be run",
                 argv[0]);
  else if (status != 0 &&
           live_unknown(asking, "it must end with status 0 while the job is idle and with 1 while it runs",
                        "command: %s ended with status %d, which says neither", argv[0], status))
    asking->answer.passes = true;
}
