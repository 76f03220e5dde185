#include <string.h>

#include "run/in_place_int.h"

/* Law 4, while a tool writes production in place: a job that comes meanwhile has the tool ended and its batch put back,
 * and the batch is begun again when the job is over. */

/* So often a job may come while the tool of one batch runs. */
enum { MOST_MEETINGS = 3 };
/* For one answer of the job that the tool has started. */
static const double ASK_SECONDS = 5;

bool in_place_alone(InPlace *work) {
  Run *run = &work->run;
  const char *why = run->met != NULL ? NULL : gate_watch_glance(run->watch, &work->own);
  if (why != NULL) {
    run->met = arena_strdup(run->arena, why);
    run_tell(run, arena_printf(run->arena, "%s: the tool is being ended, and its batch put back", why), true);
  }
  return run->met == NULL;
}

bool in_place_met(const InPlace *work, Error *err) {
  error_set(err, ERR_DENIED, "the tool was ended, because a job came while it ran: %s", work->run.met);
  return error_hint(err, "wait until that run has ended, then the same command carries on");
}

bool in_place_put_back(InPlace *work, const char *what, Error *err) {
  Run *run = &work->run;
  DateRange dates = work->opened.running;
  char label[96];
  int64_t rows;
  const DateCodec *codec = &run->plan->shape.codec;
  work->token = NULL;
  if (!in_place_restore(in_place_backfill(work), work->writer, NULL, dates, false, &rows, err)) return false;
  work->opened.running = (DateRange){0, 0};
  date_range_label(&dates, codec->grain, codec->zone, label);
  in_place_event(work, what, label);
  return in_place_note(work, NULL, err);
}

bool in_place_unfinished(InPlace *work) {
  ARENA_SCOPED arena = {0};
  Run *run = &work->run;
  const PlanClock *clock = &run->plan->clock;
  if (work->unfinished != NULL) {
    const char *why = gate_watch_ask(run->watch, run->engine, ASK_SECONDS);
    work->unfinished = why == NULL ? NULL : arena_strdup(run->arena, why);
  }
  for (size_t i = 0; i < clock->n && work->unfinished == NULL && work->own.job != NULL; i++) {
    const PlanJob *job = &clock->jobs[i];
    JobAsk ask = {.name = job->name, .live = &job->live, .within = ASK_SECONDS};
    JobAnswer answer;
    if (strcmp(job->name, work->own.job) != 0) continue;
    jobs_ask(&arena, run->engine, &ask, &answer);
    jobs_ask_end(&ask);
    if (answer.state != JOB_IDLE)
      work->unfinished = arena_printf(run->arena, "%s, which the tool starts, %s (%s)", job->name,
                                      answer.state == JOB_RUNNING ? "runs" : "may run", answer.why);
  }
  return work->unfinished != NULL;
}

/* Whatever else the tool or the job has written in the range is no batch's. */
static bool others_are_as_they_were(InPlace *work, Error *err) {
  ARENA_SCOPED arena = {0};
  RangeLook now;
  if (!in_place_look(&arena, work->run.engine, work->run.plan, &now, err)) return false;
  for (size_t i = 0; i < now.n; i++)
    if (in_place_is_in(work, i, work->opened.running)) now.dates[i] = work->expected[i];
  return in_place_undisturbed(work, &now, err);
}

/* The job may hold the table: then as soon as it lets go of it. */
static bool put_back_beside(InPlace *work, Error *err) {
  Run *run = &work->run;
  for (bool idle = false;;) {
    if (in_place_put_back(work, "put back for a job", err)) return true;
    if (err->code != ERR_LOCKED || idle) return false;
    if (!run_rest(run, 1,
                  "PRODUCTION IS PARTLY WRITTEN: its batch is put back as soon as the job lets go of the table"))
      return error_set(err, ERR_PAUSED,
                       "you asked to stop before the batch could be put back: the job holds the table");
    idle = gate_watch_ask(run->watch, run->engine, ASK_SECONDS) == NULL;
  }
}

bool in_place_again(InPlace *work, Error *err) {
  Run *run = &work->run;
  if (run->met == NULL || err->code != ERR_DENIED || run_stopped(run)) return false;
  const char *met = run->met;
  run->met = NULL;
  in_place_event(work, "ended the tool", met);
  if (++work->met == MOST_MEETINGS) {
    return error_set(err, ERR_DENIED,
                     "the tool was ended, because a job came while it ran, %d times in one batch: %s. If it is the "
                     "tool that is taken for that job, say so: --starts NAME",
                     MOST_MEETINGS, met);
  }
  return run->options->wait && !in_place_unfinished(work) && in_place_quiet(run->engine, run->record, err) &&
         others_are_as_they_were(work, err) && put_back_beside(work, err);
}
