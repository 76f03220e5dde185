#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "run/in_place_int.h"

/* One batch of a tool that writes production in place. */

/* For one answer of a job, and between two questions. */
static const double ASK_SECONDS = 5, ASK_EVERY = 1;

enum { APPLICATION = PLAN_VARIABLES, MARK, N_VARIABLES };

/* ---- the gate ---------------------------------------------------------------------------------------------------- */

bool in_place_window(InPlace *work, double need, double *ret_left, Error *err) {
  Run *run = &work->run;
  double whole = need + swap_longest_wait(&run->plan->spec.budget);
  for (;;) {
    ARENA_SCOPED arena = {0};
    Verdict verdict;
    const GatePass *pass;
    Instant now;
    if (!run_wait_for_gate(run, whole, NULL, err) ||
        !gate_judge(&arena, run->engine, run->plan, GATE_BATCH, whole, &verdict, &pass, err) ||
        !run->engine->ops->now(run->engine, &now, err))
      return false;
    if (pass == NULL) continue;
    *ret_left = verdict.window.to == 0 ? INFINITY : (double)(verdict.window.to - now);
    return in_place_writer(work, err);
  }
}

bool in_place_writer(InPlace *work, Error *err) {
  Run *run = &work->run;
  if (work->writer != NULL) return true;
  return run_wait_for_gate(run, swap_longest_wait(&run->plan->spec.budget), &work->pass, err) &&
         run->engine->ops->writer_open(run->engine, work->pass, run->record->id, run->epoch, &work->writer, err);
}

/* ---- the ledger -------------------------------------------------------------------------------------------------- */

void in_place_event(InPlace *work, const char *what, const char *detail) {
  Error ignored; /* nothing is lost by an event that could not be written */
  work->run.engine->ops->ledger_event(work->run.engine, work->run.record->id, ledger_owner(), what, detail, &ignored);
}

bool in_place_note(InPlace *work, const char *verb, Error *err) {
  Run *run = &work->run;
  const EngineOps *ops = run->engine->ops;
  const char *id = run->record->id, *document = opened_json(run->arena, &work->opened);
  if (!run_begin(run, work->writer, false, err)) return false;
  if (verb == NULL)
    return engine_end(run->engine, work->writer, ops->ledger_doc(run->engine, id, "seal", document, err), err);
  const char *reason = strcmp(verb, "open") == 0 ? work->opened.line : NULL;
  LedgerMove move = {.verb = verb, .reason = reason, .doc = "seal", .json = document};
  return ledger_commit(run->engine, run->arena, work->writer, run->record, move, err);
}

bool in_place_found(InPlace *work, const Findings *findings, Error *err) {
  Run *run = &work->run;
  const EngineOps *ops = run->engine->ops;
  if (!run_begin(run, work->writer, false, err)) return false;
  bool added = ops->ledger_add_findings(run->engine, run->record->id, findings->items, findings->n, err);
  if (!engine_end(run->engine, work->writer, added, err)) return false;
  return error_set(err, ERR_HELD, "production was written in place and does not pass: %s", findings->items[0].message);
}

/* ---- the tool ---------------------------------------------------------------------------------------------------- */

static bool go_on(void *context) {
  InPlace *work = context;
  run_tell(&work->run, work->run.progress.doing, false);
  return !run_stopped(&work->run) && run_beat(&work->run) && in_place_alone(work);
}

static bool why_stopped(const InPlace *work, Error *err) {
  if (work->run.lost) return error_set(err, ERR_LEASED, "the tool was ended: %s", work->run.why_lost.message);
  if (work->run.met != NULL && !run_stopped(&work->run)) return in_place_met(work, err);
  return error_set(err, ERR_PAUSED, "the tool was ended because you asked to stop");
}

static bool run_tool(InPlace *work, DateRange dates, double left, Error *err) {
  Run *run = &work->run;
  work->own = (JobOwn){in_place_variable(run->arena, run->record), in_place_application(run->arena, run->record),
                       work->options->starts, dates};
  ARENA_SCOPED arena = {0};
  ProcessVariable variables[N_VARIABLES];
  BUF_SCOPED log = {0};
  double timeout = run->plan->spec.recompute.timeout;
  plan_variables(&arena, run->plan, dates, variables);
  variables[APPLICATION] = (ProcessVariable){"{application}", "PGAPPNAME", work->own.application};
  variables[MARK] = (ProcessVariable){"{tool}", OPENED_VARIABLE, opened_mark(&arena, run->record)};
  bool closes = left < timeout;
  ProcessRules rules = {variables, N_VARIABLES, closes ? left : timeout, closes ? "the window" : "`recompute: timeout`",
                        go_on,     work};
  char *argv[] = {"/bin/sh", "-c", plan_fill(&arena, work->options->line, variables, PLAN_VARIABLES), NULL};
  bool ok = process_run(argv, &rules, &log, err);
  in_place_event(work, ok ? "tool ended" : "tool failed", buf_text(&log));
  return ok || (err->code == ERR_PAUSED ? why_stopped(work, err) : false);
}

static bool pause_between(InPlace *work, const char *doing) {
  run_tell(&work->run, doing, true);
  clock_sleep(0.1);
  return !run_stopped(&work->run) && run_beat(&work->run);
}

/* What the tool has put into the background is part of it. */
static bool await_end(InPlace *work, double seconds, Error *err) {
  double until = clock_seconds() + seconds;
  for (int pid; in_place_tools(work->run.record, &pid) > 0;) {
    if (!pause_between(work, "waiting for what the tool has put into the background") || !in_place_alone(work))
      return why_stopped(work, err);
    if (clock_seconds() > until)
      return error_set(err, ERR_COMMAND, "the tool has ended, but process %d that it has started has not in time", pid);
  }
  return true;
}

/* A tool may only ask for the work and end: then a job runs that the gate knows of. */
static bool await_idle(InPlace *work, double seconds, Error *err) {
  Run *run = &work->run;
  double until = clock_seconds() + seconds, next = 0;
  const char *why = NULL;
  do {
    if (clock_seconds() >= next) {
      why = gate_watch_ask(run->watch, run->engine, ASK_SECONDS);
      if (why == NULL) return true;
      work->unfinished = why = arena_strdup(run->arena, why);
      next = clock_seconds() + ASK_EVERY;
    }
    if (!pause_between(work, why)) return why_stopped(work, err);
  } while (clock_seconds() < until);
  return error_set(err, ERR_COMMAND, "the tool has ended, but what it started has not in time: %s", why);
}

/* ---- before and after -------------------------------------------------------------------------------------------- */

/* Has nobody committed anything since the batch before was looked at? Then that look serves this one too. */
static bool nobody_wrote(InPlace *work, DateRange dates, bool *ret, Error *err) {
  Run *run = &work->run;
  ARENA_SCOPED arena = {0};
  Unchanged unchanged;
  size_t n;
  int64_t rows = 0;
  *ret = false;
  if (work->token == NULL) return true;
  const Instant *starts = plan_dates(&arena, run->plan, dates, &n);
  Job job = plan_job(run->plan, starts, n);
  for (size_t i = 0; i < run->n_dates; i++)
    if (in_place_is_in(work, i, dates)) rows += work->expected[i].rows;
  if (!run->engine->ops->unchanged(run->engine, &job, work->token, rows, &unchanged, err)) return false;
  *ret = unchanged.production && unchanged.sources; /* production alone is proven of these dates only */
  return true;
}

/* The range must be as it was left: what others wrote there is in no snapshot. */
static bool before(InPlace *work, DateRange dates, Error *err) {
  Run *run = &work->run;
  ARENA_SCOPED arena = {0};
  RangeLook now;
  bool known;
  if (!nobody_wrote(work, dates, &known, err)) return false;
  if (!known) {
    if (!in_place_look(&arena, run->engine, run->plan, &now, err) || !in_place_undisturbed(work, &now, err))
      return false;
    work->outside = now.outside;
  }
  work->token = NULL;
  work->opened.running = dates;
  work->opened.running_outside = work->outside;
  bool first = strcmp(run->record->state, state_name(STATE_snapshotted)) == 0;
  return in_place_note(work, first ? "open" : NULL, err);
}

static bool not_its_own(InPlace *work, const RangeLook *now, DateRange dates, Error *err) {
  Run *run = &work->run;
  BUF_SCOPED labels = {0};
  Findings findings = {.arena = run->arena, .batch = run->batches + 1};
  FindingRecord finding = {.kind = "outside-batch", .subject = "dates"};
  for (size_t i = 0; i < now->n; i++) {
    if (in_place_is_in(work, i, dates) || fingerprint_equal(&now->dates[i], &work->expected[i])) continue;
    if (finding.count++ < 3) buf_printf(&labels, "%s%s", labels.len == 0 ? "" : ", ", run_label(run, i, 1));
  }
  if (finding.count == 0) return true;
  finding.message = arena_printf(run->arena, "dates that were not this batch's changed while the tool ran: %s%s",
                                 buf_text(&labels), finding.count > 3 ? ", …" : "");
  findings_add(&findings, finding);
  return in_place_found(work, &findings, err);
}

static bool outside_range(InPlace *work, const RangeLook *now, Error *err) {
  if (fingerprint_equal(&now->outside, &work->opened.running_outside)) return true;
  work->result->facts.outside_unchanged = false;
  Findings findings = {.arena = work->run.arena, .batch = work->run.batches + 1};
  FindingRecord finding = {.kind = "outside-range",
                           .subject = "rows outside the range",
                           .count = 1,
                           .message =
                               "rows outside the range changed while the tool ran; the snapshot does not hold "
                               "them, so they stay as they are now"};
  findings_add(&findings, finding);
  return in_place_found(work, &findings, err);
}

static bool after(InPlace *work, OpenedBatch *batch, Error *err) {
  Run *run = &work->run;
  ARENA_SCOPED arena = {0};
  RangeLook now;
  InPlaceFacts facts;
  const char *token;
  if (!run->engine->ops->change_token(run->engine, run->arena, &token, err) ||
      !in_place_look(&arena, run->engine, run->plan, &now, err) || !outside_range(work, &now, err) ||
      !not_its_own(work, &now, batch->dates, err) ||
      !in_place_judge(&arena, run->engine, run->plan, batch->dates, run->batches + 1, (int64_t)run->n_dates, &facts,
                      err))
    return false;
  if (facts.findings.n > 0) return in_place_found(work, &facts.findings, err);
  batch->changed = facts.changed;
  work->token = token;
  work->outside = now.outside;
  for (size_t i = 0; i < now.n; i++) {
    if (!in_place_is_in(work, i, batch->dates)) continue;
    work->expected[i] = now.dates[i];
    fingerprint_plus(&batch->after, &now.dates[i]);
  }
  batch->rows = batch->after.rows;
  return true;
}

bool in_place_batch(InPlace *work, OpenedBatch *batch, double left, Error *err) {
  Run *run = &work->run;
  double began = clock_seconds(), until = began + fmin(left, run->plan->spec.recompute.timeout);
  if (!before(work, batch->dates, err) || !run_tool(work, batch->dates, left - (clock_seconds() - began), err) ||
      !await_end(work, until - clock_seconds(), err) || !await_idle(work, until - clock_seconds(), err) ||
      !after(work, batch, err))
    return false;
  batch->seconds = clock_seconds() - began;
  opened_add(run->arena, &work->opened, *batch);
  work->opened.running = (DateRange){0, 0};
  return in_place_note(work, NULL, err);
}
