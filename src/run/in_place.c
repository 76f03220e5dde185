#include "run/in_place.h"

#include <inttypes.h>
#include <string.h>

#include "run/in_place_int.h"

/* ---- where it stands --------------------------------------------------------------------------------------------- */

static DateRange dates_of(const InPlace *work, size_t from, size_t n) {
  const DateCodec *codec = &work->run.plan->shape.codec;
  const DateRecord *dates = work->run.dates;
  return (DateRange){dates[from].date, grain_next(codec->grain, codec->zone, dates[from + n - 1].date)};
}

Backfill in_place_backfill(const InPlace *work) {
  const Run *run = &work->run;
  return (Backfill){.arena = run->arena, .engine = run->engine, .record = run->record, .plan = run->plan};
}

bool in_place_is_in(const InPlace *work, size_t date, DateRange dates) {
  Instant at = work->run.dates[date].date;
  return at >= dates.from && at < dates.to;
}

static void take_passed(InPlace *work, const OpenedBatch *batch) {
  Run *run = &work->run;
  InPlaceResult *result = work->result;
  InPlaceBatch passed = {.number = ++run->batches,
                         .dates = batch->dates,
                         .n = batch->n,
                         .rows = batch->rows,
                         .changed = batch->changed,
                         .seconds = batch->seconds};
  InPlaceBatch *all = arena_grow(run->arena, (void *)result->batches, result->n, sizeof *all);
  all[result->n++] = passed;
  result->batches = all;
  for (size_t i = 0; i < run->n_dates; i++) {
    if (!in_place_is_in(work, i, batch->dates)) continue;
    run->dates[i].batch = passed.number;
    run->progress.dates_done++;
    run->progress.rows_done += run->dates[i].expected;
  }
  run->progress.changes += batch->changed;
  if (batch->n > 0 && batch->seconds / (double)batch->n > work->date_seconds)
    work->date_seconds = batch->seconds / (double)batch->n;
  run_measured(run, (size_t)batch->n, batch->rows, batch->seconds);
}

static bool load(InPlace *work, Error *err) {
  Run *run = &work->run;
  const DateRecord *dates;
  RangeLook snapshot;
  if (!opened_read(run->arena, run->record, &work->opened, err) ||
      !run->engine->ops->ledger_dates(run->engine, run->arena, run->record->id, &dates, &run->n_dates, err) ||
      !in_place_look_snapshot(run->arena, run->engine, run->plan, &snapshot, err))
    return false;
  if (snapshot.n != run->n_dates)
    return error_set(err, ERR_STATE, "the dates of backfill %s are no longer those of its spec", run->record->id);
  work->expected = snapshot.dates;
  work->result->facts.rows = work->opened.rows;
  run->dates = arena_array(run->arena, run->n_dates, sizeof *run->dates);
  run->progress = (RunProgress){.dates = (int64_t)run->n_dates, .remaining = -1};
  for (size_t i = 0; i < run->n_dates; i++) {
    run->dates[i] = dates[i];
    run->dates[i].batch = 0;
    run->progress.rows += dates[i].expected;
  }
  for (size_t i = 0; i < work->opened.n; i++) take_passed(work, &work->opened.done[i]);
  return true;
}

/* ---- what others may have done ----------------------------------------------------------------------------------- */

static bool drifted(const InPlace *work, DateRange dates, Error *err) {
  const DateCodec *codec = &work->run.plan->shape.codec;
  const char *id = work->run.record->id;
  char label[96];
  date_range_label(&dates, codec->grain, codec->zone, label);
  error_set(err, ERR_DRIFT, "somebody else wrote %s of %s meanwhile", label, work->run.plan->shape.table);
  if (strcmp(work->run.record->state, state_name(STATE_snapshotted)) == 0)
    return error_hint(err,
                      "nothing was written yet: tidegate check %s judges what is there; else clear the snapshot "
                      "away, tidegate discard %s, and begin again",
                      id, id);
  return error_hint(err,
                    "nothing was put back, since that would lose those rows. Look at them, then: tidegate check %s, or "
                    "put the old rows back over them: tidegate restore %s",
                    id, id);
}

/* The dates that passed on a call before, batch by batch; then they are known date by date. */
static bool expect_passed(InPlace *work, const RangeLook *now, Error *err) {
  for (size_t i = 0; i < work->opened.n; i++) {
    Fingerprint sum = {0};
    const OpenedBatch *batch = &work->opened.done[i];
    for (size_t k = 0; k < now->n; k++) {
      if (!in_place_is_in(work, k, batch->dates)) continue;
      fingerprint_plus(&sum, &now->dates[k]);
      work->expected[k] = now->dates[k];
    }
    if (!fingerprint_equal(&sum, &batch->after)) return drifted(work, batch->dates, err);
  }
  return true;
}

bool in_place_undisturbed(const InPlace *work, const RangeLook *now, Error *err) {
  for (size_t i = 0; i < now->n; i++)
    if (!fingerprint_equal(&now->dates[i], &work->expected[i])) return drifted(work, dates_of(work, i, 1), err);
  return true;
}

/* What a tidegate that was killed left behind: the dates that its tool was writing are put back. Rows outside the range
 * may be others' by now; they are told of. */
static bool recover(InPlace *work, Error *err) {
  Run *run = &work->run;
  Opened *opened = &work->opened;
  DateRange half = opened->running;
  RangeLook now;
  if (!in_place_writer(work, err) || !in_place_quiet(run->engine, run->record, err) ||
      !in_place_look(run->arena, run->engine, run->plan, &now, err) || !expect_passed(work, &now, err))
    return false;
  work->result->facts.outside_unchanged = fingerprint_equal(&now.outside, &opened->outside);
  if (half.from == half.to) return in_place_undisturbed(work, &now, err);
  for (size_t i = 0; i < now.n; i++)
    if (in_place_is_in(work, i, half)) now.dates[i] = work->expected[i];
  if (!in_place_undisturbed(work, &now, err)) return false;
  return in_place_put_back(work, "put back after a crash", err);
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

/* The next batch. A tool that takes one date at a time gets the lightest first; so does any, for its first batch. */
static bool next_batch(const InPlace *work, size_t *ret_from, size_t *ret_n) {
  const Run *run = &work->run;
  if (!run_next_batch(run, ret_from, ret_n)) return false;
  int64_t most = work->options->per_batch;
  if (most > 0 && *ret_n > (size_t)most) *ret_n = (size_t)most;
  if (!work->one_date) return true;
  *ret_n = 1;
  for (size_t i = 0; i < run->n_dates && !run->plan->overlay && run->batches > 0; i++)
    if (run->dates[i].batch == 0 && run->dates[i].expected < run->dates[*ret_from].expected) *ret_from = i;
  return true;
}

/* Seconds that the tool is expected to take for n dates, its start included each time. */
static double expected_seconds(const InPlace *work, size_t n) {
  double batch = work->run.plan->spec.budget.batch;
  return work->date_seconds > 0 ? work->date_seconds * (double)n : batch;
}

static bool stopped(const InPlace *work, Error *err) {
  return error_set(err, ERR_PAUSED, "stopped after %" PRId64 " of %zu dates", work->run.progress.dates_done,
                   work->run.n_dates);
}

static bool batches(InPlace *work, Error *err) {
  Run *run = &work->run;
  for (size_t from, n; next_batch(work, &from, &n);) {
    double left;
    bool again;
    if (run_stopped(run)) return stopped(work, err);
    if (!in_place_window(work, expected_seconds(work, n), &left, err)) return false;
    if (!run_calm(run, &again, err)) return false;
    if (again) continue;
    DateRange dates = dates_of(work, from, n);
    OpenedBatch batch = {.dates = dates, .n = (int64_t)n};
    run_tell(run, run_label(run, from, n), false);
    double began = clock_seconds();
    if (!in_place_batch(work, &batch, left, err)) {
      if (!in_place_again(work, err)) return false;
      continue;
    }
    work->met = 0;
    take_passed(work, &batch);
    if (work->options->passed != NULL)
      work->options->passed(work->options->context, &work->result->batches[work->result->n - 1]);
    bool more = next_batch(work, &from, &n);
    if (more && !run_look_back(run, err)) return false;
    if (more) run_rest_after(run, clock_seconds() - began);
  }
  return true;
}

/* The whole once more, and that it is still what its batches left. */
static bool finish(InPlace *work, Error *err) {
  Run *run = &work->run;
  InPlaceFacts facts;
  RangeLook now;
  if (!in_place_look(run->arena, run->engine, run->plan, &now, err) || !in_place_undisturbed(work, &now, err) ||
      !in_place_judge(run->arena, run->engine, run->plan, run->plan->range, 0, 0, &facts, err))
    return false;
  work->result->facts.changed = facts.changed;
  work->result->facts.outside_unchanged = fingerprint_equal(&now.outside, &work->opened.outside);
  if (facts.findings.n > 0) return in_place_found(work, &facts.findings, err);
  if (facts.changed == 0)
    return error_set(err, ERR_NO_CHANGE, "production still equals the snapshot: the tool changed nothing");
  run_tell(run, "checked", false);
  return in_place_note(work, "check", err);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* Nothing is put back where that could lose what others wrote, or where another tidegate drives. */
static bool is_to_be_put_back(const InPlace *work, const Error *err) {
  return strcmp(work->run.record->state, state_name(STATE_opened)) == 0 && work->writer != NULL &&
         err->code != ERR_DRIFT && err->code != ERR_LEASED;
}

static void put_back(InPlace *work, Error *err) {
  Run *run = &work->run;
  Error cause = *err, failed;
  int64_t rows = 0;
  const char *id = run->record->id;
  if (in_place_unfinished(work)) {
    error_hint(err,
               "PRODUCTION MAY BE PARTLY WRITTEN, and nothing was put back, since it would be written again: %s. End "
               "it there, then: tidegate restore %s",
               work->unfinished, id);
    return;
  }
  run_tell(run, "putting the range back", false);
  bool ok = in_place_quiet(run->engine, run->record, &failed) &&
            in_place_restore(in_place_backfill(work), work->writer, NULL, run->plan->range, true, &rows, &failed);
  *err = cause;
  work->result->restored = ok;
  if (ok) {
    work->result->facts.changed = rows;
    error_hint(err, "production was restored from the snapshot: %" PRId64 " rows put back", rows);
  } else {
    error_hint(err, "PRODUCTION MAY BE PARTLY WRITTEN and could not be restored (%s): tidegate restore %s",
               failed.message, id);
  }
}

/* It ended before the tool was let write, or while it could not be told what was written. */
static void say_how_to_go_on(const InPlace *work, Error *err) {
  const BackfillRecord *record = work->run.record;
  if (err->code == ERR_DRIFT || err->code == ERR_LEASED || err->code == ERR_STATE) return;
  if (strcmp(record->state, state_name(STATE_opened)) == 0)
    error_hint(err, "PRODUCTION MAY BE PARTLY WRITTEN: the same command carries on, or: tidegate restore %s",
               record->id);
  else if (strcmp(record->state, state_name(STATE_snapshotted)) == 0)
    error_hint(err, "nothing was written: the same command carries on, or clear the snapshot away: tidegate discard %s",
               record->id);
}

static bool drive(InPlace *work, Error *err) {
  Run *run = &work->run;
  if (!ledger_reload(run->engine, run->arena, run->record, err) || !load(work, err)) return false;
  bool begun = strcmp(run->record->state, state_name(STATE_opened)) == 0;
  if (!begun && !ledger_allows(run->record, "open", err)) return false;
  if (begun && work->opened.line != NULL && strcmp(work->opened.line, work->options->line) != 0) {
    error_set(err, ERR_STATE, "backfill %s was opened to another command: %s", run->record->id, work->opened.line);
    return error_hint(err, "carry on with that one, or put the old rows back first: tidegate restore %s",
                      run->record->id);
  }
  if (begun && work->opened.line == NULL)
    return error_set(err, ERR_STATE, "backfill %s is open to somebody who writes by hand", run->record->id);
  work->opened.line = work->options->line;
  work->ours = true;
  if (!gate_watch_open(run->engine, run->plan, GATE_BATCH, true, &run->watch, err)) return false;
  return (!begun || recover(work, err)) && batches(work, err) && finish(work, err);
}

bool run_in_place(Backfill on, const InPlaceOptions *options, InPlaceResult *ret, Error *err) {
  InPlace work = {.run = run_on(on, &options->run),
                  .options = options,
                  .result = ret,
                  .one_date = plan_takes_one_date(options->line)};
  Error ignored;
  *ret = (InPlaceResult){.facts = {.outside_unchanged = true}};
  if (!ledger_lease(on.engine, on.record->id, 2 * on.plan->spec.budget.batch + 30, &work.run.epoch, err)) return false;
  bool ok = drive(&work, err);
  if (!ok && work.run.lost && err->code != ERR_LEASED) *err = work.run.why_lost;
  if (!ok && work.ours && is_to_be_put_back(&work, err))
    put_back(&work, err);
  else if (!ok && work.ours)
    say_how_to_go_on(&work, err);
  gate_watch_close(&work.run.watch);
  on.engine->ops->writer_close(work.writer);
  on.engine->ops->lease_drop(on.engine, on.record->id, work.run.epoch, &ignored);
  return ok;
}

bool run_in_place_wait(Backfill on, const RunOptions *options, Error *err) {
  Run run = run_on(on, options);
  if (!gate_watch_open(on.engine, on.plan, GATE_BATCH, true, &run.watch, err)) return false;
  bool ok = run_wait_for_gate(&run, on.plan->spec.budget.batch + swap_longest_wait(&on.plan->spec.budget), NULL, err);
  gate_watch_close(&run.watch);
  return ok;
}
