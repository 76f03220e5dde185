#include <string.h>

#include "base/process.h"
#include "jobs/history_int.h"
#include "jobs/timer_units.h"

/* systemd timers: of the systemd that runs here, as systemctl show prints them, or of a folder of unit files. */

enum { PATIENCE = 15 /* seconds for systemctl */, OUTPUT_MAX = 64 * 1024 /* what process_run keeps */ };

static void name_job(Arena *arena, JobHistory *history, const Timer *timer) {
  size_t length = strlen(timer->id);
  history->name = arena_strndup(arena, timer->id, length - strlen(".timer"));
  history->unit = timer->unit != NULL ? timer->unit : arena_printf(arena, "%s.service", history->name);
  history->command = arena_printf(arena, "systemctl start %s", history->unit);
}

static void refuse(Arena *arena, JobHistory *history, const Timer *timer) {
  const char *what = timer->monotonic != NULL ? timer->monotonic : "no OnCalendar";
  history->refusal = arena_printf(
      arena,
      "%s: it counts from a start of the machine or of a unit, so nobody can foresee its runs; watch the live run "
      "(live.systemd), or give it an OnCalendar",
      what);
}

static void read_timer(Arena *arena, const JobSource *source, const Timer *timer, HistoryList *list) {
  const char *machine = history_machine_zone(arena);
  for (size_t i = 0; i == 0 || i < timer->n; i++) {
    const char *job = i == 0 ? timer->id : arena_printf(arena, "%s #%zu", timer->id, i + 1);
    if (source->job != NULL && strcmp(source->job, job) != 0) continue;
    JobHistory *history = history_add(arena, list, source, job);
    name_job(arena, history, timer);
    history->jitter = timer->delay + timer->accuracy;
    if (timer->n == 0) {
      refuse(arena, history, timer);
      continue;
    }
    history_schedule(arena, history, "systemd", timer->calendars[i], machine);
    if (history->refusal != NULL) continue;
    bool named = history->zone != NULL && (machine == NULL || strcmp(history->zone, machine) != 0);
    if (!named && source->place != NULL)
      history_doubt(arena, history, "zone", "that of this machine; the one that these units are for may have another");
    else if (!named && machine == NULL)
      history_doubt(arena, history, "zone", "that of the machine, which /etc/localtime does not name");
    if (timer->monotonic != NULL)
      history_doubt(arena, history, "schedule",
                    "it also starts at times that nobody can foresee (%s): watch the live "
                    "run too",
                    timer->monotonic);
    if (timer->persistent)
      history_doubt(arena, history, "schedule", "Persistent=yes: a run that was missed starts when the machine does");
    history_doubt(arena, history, "p95", "systemd keeps the last run alone: measure how long it takes");
  }
}

bool history_systemd(Arena *arena, Engine *engine, const JobSource *source, HistoryList *list, Error *err) {
  (void)engine;
  const Timer *timers;
  size_t n;
  if (source->place != NULL) {
    if (!timers_of_folder(arena, source->place, &timers, &n, err)) return false;
  } else {
    char *const argv[] = {"systemctl", "show", "--all", "*.timer", (char *)timers_properties, NULL};
    ProcessRules rules = {.timeout = PATIENCE, .timeout_name = "reading the timers"};
    BUF_SCOPED output = {0};
    if (!process_run(argv, &rules, &output, err)) {
      error_wrap(err, "reading the timers of this machine");
      return error_hint(err, "where no systemd runs, its unit files can be read: systemd=FOLDER");
    }
    if (output.len >= OUTPUT_MAX)
      return error_set(err, ERR_COMMAND, "what systemctl says of the timers is longer than %d KiB", OUTPUT_MAX / 1024);
    timers_of_show(arena, buf_text(&output), &timers, &n);
  }
  for (size_t i = 0; i < n; i++) read_timer(arena, source, &timers[i], list);
  return true;
}
