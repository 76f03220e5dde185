#include <string.h>

#include "run/run_int.h"

/* A job that starts early: what is being written stops, and the run waits until it is over. */

/* For one answer, while the run waits for a job's end. */
static const double ASK_SECONDS = 5;

static void note(Run *run, const char *what, const char *detail) {
  Error ignored; /* nothing is lost by an event that could not be written */
  run->engine->ops->ledger_event(run->engine, run->record->id, ledger_owner(), what, detail, &ignored);
}

bool run_goes_on(Run *run) {
  if (run->options->stop != NULL && *run->options->stop >= 2) return false;
  if (run->met != NULL) return false;
  const char *why = gate_watch_glance(run->watch, NULL);
  if (why == NULL) return true;
  run->met = arena_strdup(run->arena, why);
  run_tell(run, arena_printf(run->arena, "%s: stopping what is being written", why), true);
  return false;
}

bool run_met(Run *run, const char *why, Error *err) {
  if (run->met == NULL) run->met = arena_strdup(run->arena, why);
  error_set(err, ERR_DENIED, "stopped, and nothing of it was stored: %s", run->met);
  return error_hint(err, "wait until that run has ended, then the same command carries on");
}

bool run_outwaits(Run *run, const char *doing) {
  while (run->waits && gate_watch_ask(run->watch, run->engine, ASK_SECONDS) != NULL)
    if (!run_rest(run, 1, doing)) return false;
  return true;
}

bool run_is_writing(const Run *run) {
  for (size_t i = 0; run->taken != NULL && i < run->n_dates; i++)
    if (run->taken[i]) return true;
  return false;
}

bool run_again(Run *run, Error *err) {
  if (run->met == NULL || (run->options->stop != NULL && *run->options->stop >= 2)) return false;
  if (err->code != ERR_PAUSED && err->code != ERR_DENIED) return false;
  note(run, "stopped a batch", run->met);
  run_met(run, run->met, err);
  run->met = NULL;
  return run->options->wait;
}

void run_waits(Run *run, const Verdict *verdict) {
  bool running = false;
  for (size_t i = 0; i < verdict->n; i++) running |= strcmp(verdict->reasons[i].rule, "running-now") == 0;
  bool waits = running || (!verdict->allow && verdict->waits && run->options->wait);
  if (waits && (!run->noted || (running && !run->waits))) note(run, "waits", verdict->reasons[0].text);
  if (!waits && run->noted) note(run, "carried on", NULL);
  run->noted = waits;
  run->waits = running;
}
