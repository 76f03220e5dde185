#include "run/run.h"

#include <string.h>

#include "run/run_int.h"
#include "swap/swap.h"

/* Progress is told at most this often. */
static const double TELL_EVERY = 0.1;
static const double REST_SLICE = 0.1;
/* Well below the lease's time to live, which is 30 s and more. */
static const double BEAT_SECONDS = 5;

Run run_on(Backfill on, const RunOptions *options) {
  return (Run){.arena = on.arena, .engine = on.engine, .record = on.record, .plan = on.plan, .options = options};
}

bool run_stopped(const Run *run) { return run->options->stop != NULL && *run->options->stop > 0; }

/* Work still to do at the measured rate, and the rests that the duty cycle adds. */
static double remaining(const Run *run) {
  if (run->n_speeds == 0) return -1;
  double work = run_expected_seconds(run, run->progress.rows - run->progress.rows_done);
  double duty = run_duty(run);
  if (run->plan->workers > 1) work /= run->plan->workers;
  return duty > 0 ? work / duty : work;
}

void run_tell(Run *run, const char *doing, bool waiting) {
  double now = clock_seconds();
  bool news = run->progress.doing == NULL || strcmp(run->progress.doing, doing) != 0;
  if (run->options->progress == NULL || (!news && now - run->shown_at < TELL_EVERY)) return;
  run->shown_at = now;
  run->progress.doing = doing;
  run->progress.waiting = waiting;
  run->progress.remaining = remaining(run);
  run->options->progress(run->options->context, &run->progress);
}

bool run_beat(Run *run) {
  double now = clock_seconds();
  if (run->lost) return false;
  if (now < run->beat_at || run->epoch == 0) return true;
  run->beat_at = now + BEAT_SECONDS;
  run->lost = !run->engine->ops->lease_beat(run->engine, run->record->id, run->epoch, &run->why_lost) &&
              run->why_lost.code == ERR_LEASED; /* anything else is told by what comes next */
  return !run->lost;
}

bool run_rest(Run *run, double seconds, const char *doing) {
  double until = clock_seconds() + seconds;
  for (double now; (now = clock_seconds()) < until;) {
    if (run_stopped(run) || atomic_load(&run->cancelled) || !run_beat(run)) return false;
    run_tell(run, doing, true);
    double slice = until - now < REST_SLICE ? until - now : REST_SLICE;
    clock_sleep(slice);
  }
  return !run_stopped(run);
}

void run_rest_after(Run *run, double worked) {
  double duty = run_duty(run);
  if (duty > 0 && duty < 1)
    run_rest(run, worked * (1 / duty - 1),
             run->crowded ? "resting: others are at work and the server has no processor free" : "resting");
}

double run_needed_seconds(const Run *run, int64_t rows) {
  return run_expected_seconds(run, rows) + swap_longest_wait(&run->plan->spec.budget);
}

static bool rest_at_lock(void *context, double seconds) { return run_rest(context, seconds, "waiting for the lock"); }

bool run_begin(Run *run, EngineWriter *writer, bool snapshot, Error *err) {
  const SpecBudget *budget = &run->plan->spec.budget;
  TxnLimits limits = {.lock_wait = budget->lock, .snapshot = snapshot, .hold = budget->statement};
  int refused = 0;
  return swap_begin(run->engine, writer, limits, budget->lock_tries, rest_at_lock, run, &refused, err);
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

static bool load(Run *run, Error *err) {
  const DateRecord *dates;
  const BatchRecord *batches;
  size_t n_batches;
  if (!run->engine->ops->ledger_dates(run->engine, run->arena, run->record->id, &dates, &run->n_dates, err) ||
      !run->engine->ops->ledger_batches(run->engine, run->arena, run->record->id, &batches, &n_batches, err))
    return false;
  run->dates = arena_array(run->arena, run->n_dates, sizeof *run->dates);
  if (run->n_dates > 0) memcpy(run->dates, dates, run->n_dates * sizeof *run->dates);
  run->batches = 0;
  run->progress = (RunProgress){.dates = (int64_t)run->n_dates, .remaining = -1};
  for (size_t i = 0; i < n_batches; i++) {
    if (batches[i].number > run->batches) run->batches = batches[i].number;
    run->progress.changes += batches[i].changes;
    run_measured(run, (size_t)batches[i].dates, batches[i].rows, batches[i].seconds);
  }
  for (size_t i = 0; i < run->n_dates; i++) {
    run->progress.rows += run->dates[i].expected;
    if (run->dates[i].batch == 0) continue;
    run->progress.rows_done += run->dates[i].expected;
    run->progress.dates_done++;
  }
  return true;
}

bool run_wait_for_gate(Run *run, double need, const GatePass **ret_pass, Error *err) {
  for (;;) {
    ARENA_SCOPED arena = {0};
    Verdict verdict;
    const GatePass *pass;
    Instant now;
    if (!gate_judge(&arena, run->engine, run->plan, GATE_BATCH, need, &verdict, &pass, err) ||
        !run->engine->ops->now(run->engine, &now, err))
      return false;
    run_waits(run, &verdict);
    if (pass != NULL && ret_pass == NULL) return true;
    if (pass != NULL) return gate_judge(run->arena, run->engine, run->plan, GATE_BATCH, need, &verdict, ret_pass, err);
    if (!verdict.waits || !run->options->wait) return gate_deny(&verdict, err);
    if (run->waits && run_is_writing(run)) return run_met(run, verdict.reasons[0].text, err);
    double wait = verdict.wait_until > now ? (double)(verdict.wait_until - now) : run->waits ? 2 : 5;
    const char *doing = verdict.n > 0 ? arena_strdup(run->arena, verdict.reasons[0].text) : "waiting for the window";
    if (!run_rest(run, wait > 30 ? 30 : wait, doing) || !run_outwaits(run, doing))
      return error_set(err, ERR_PAUSED, "paused while waiting for the window");
  }
}

const char *run_label(const Run *run, size_t from, size_t n) {
  const DateCodec *codec = &run->plan->shape.codec;
  DateRange range = {run->dates[from].date, grain_next(codec->grain, codec->zone, run->dates[from + n - 1].date)};
  char label[96];
  date_range_label(&range, codec->grain, codec->zone, label);
  return arena_strdup(run->arena, label);
}

bool run_pause(const Run *run, Error *err) {
  return error_set(err, ERR_PAUSED, "paused after %lld of %zu dates", (long long)run->progress.dates_done,
                   run->n_dates);
}

/* One after another; the first batch always. */
static bool batches(Run *run, Error *err) {
  for (size_t from, n; run_next_batch(run, &from, &n);) {
    int64_t rows = 0;
    if (run->plan->workers > 1 && run->batches > 0) {
      if (!run_at_once(run, err)) return false;
      continue;
    }
    for (size_t i = 0; i < n; i++) rows += run->dates[from + i].expected;
    if (run_stopped(run)) return run_pause(run, err);
    bool again;
    if (!run_wait_for_gate(run, run_needed_seconds(run, rows), NULL, err)) return false;
    double began = clock_seconds();
    if (!run_calm(run, &again, err)) return false;
    if (again) continue;
    run_tell(run, run_label(run, from, n), false);
    if (!run_step(run, from, n, err)) {
      if (err->code != ERR_DENIED || !run->options->wait || run_stopped(run)) return false;
      continue; /* the window closed, or a job began, since it was waited for: the gate says whether to wait again */
    }
    bool more = run_next_batch(run, &from, &n);
    if (more && !run_look_back(run, err)) return false;
    if (more) run_rest_after(run, clock_seconds() - began);
  }
  return true;
}

/* All that are left, however often a job comes between. */
static bool all_batches(Run *run, Error *err) {
  if (!gate_watch_open(run->engine, run->plan, GATE_BATCH, true, &run->watch, err)) return false;
  bool ok = batches(run, err);
  while (!ok && run_again(run, err)) ok = batches(run, err);
  gate_watch_close(&run->watch);
  return ok;
}

/* A held backfill is tried again from its first date: what was wrong may have been a source of every date. */
static bool retry(Run *run, Error *err) {
  const GatePass *pass = NULL;
  EngineWriter *writer = NULL;
  const EngineOps *ops = run->engine->ops;
  if (strcmp(run->record->state, "held") != 0) return true;
  if (!run_wait_for_gate(run, 0, &pass, err) ||
      !ops->writer_open(run->engine, pass, run->record->id, run->epoch, &writer, err))
    return false;
  bool ok = run_begin(run, writer, false, err) && ops->forget(writer, &run->plan->shape, run->plan->range, err) &&
            ledger_commit(run->engine, run->arena, writer, run->record, (LedgerMove){.verb = "retry"}, err);
  ops->writer_close(writer);
  return ok;
}

/* Dates that are marked as written and of which the full shadow does not hold every row. */
static bool find_lost(Run *run, bool *ret, bool *ret_any, Error *err) {
  const EngineOps *ops = run->engine->ops;
  Shape shadow = run->plan->shape;
  DateRecord *found;
  size_t n, at = 0;
  int64_t nulls;
  shadow.table = ops->object_name(run->engine, run->arena, run->record->id, "shadow");
  if (!ops->count_dates(run->engine, run->arena, &shadow, run->plan->range, NULL, &found, &n, &nulls, err))
    return false;
  *ret_any = false;
  for (size_t i = 0; i < run->n_dates; i++) {
    const DateRecord *date = &run->dates[i];
    while (at < n && found[at].date < date->date) at++;
    int64_t rows = at < n && found[at].date == date->date ? found[at].expected : 0;
    ret[i] = date->batch != 0 && rows != date->recomputed.rows;
    *ret_any |= ret[i];
  }
  return true;
}

static bool forget_lost(Run *run, EngineWriter *writer, const bool *lost, Error *err) {
  const Shape *shape = &run->plan->shape;
  if (!run_begin(run, writer, false, err)) return false;
  bool ok = true;
  for (size_t i = 0; ok && i < run->n_dates; i++) {
    Instant from = run->dates[i].date;
    DateRange date = {from, grain_next(shape->codec.grain, shape->codec.zone, from)};
    ok = !lost[i] || run->engine->ops->forget(writer, shape, date, err);
  }
  return engine_end(run->engine, writer, ok, err);
}

/* A crash of the server empties an unlogged shadow while the marks of what was written survive: that is written again.
 */
static bool refill(Run *run, Error *err) {
  const GatePass *pass = NULL;
  EngineWriter *writer = NULL;
  const EngineOps *ops = run->engine->ops;
  const Spec *spec = &run->plan->spec;
  bool *lost = arena_array(run->arena, run->n_dates, sizeof *lost), any = false;
  if (!spec->full_shadow || !spec->postgres.unlogged || run->progress.dates_done == 0) return true;
  if (!find_lost(run, lost, &any, err)) return false;
  if (!any) return true;
  if (!run_wait_for_gate(run, 0, &pass, err) ||
      !ops->writer_open(run->engine, pass, run->record->id, run->epoch, &writer, err))
    return false;
  bool ok = forget_lost(run, writer, lost, err);
  ops->writer_close(writer);
  return ok && load(run, err);
}

static bool carry_on(Run *run, RunFacts *ret, Error *err) {
  const GatePass *pass = NULL;
  if (!retry(run, err) || !load(run, err) || !refill(run, err) || !all_batches(run, err)) return false;
  if (run_stopped(run)) return error_set(err, ERR_PAUSED, "paused: every date is written, the seal is still to come");
  run_tell(run, "sealing", false);
  return run_wait_for_gate(run, 0, &pass, err) && run_seal(run, pass, ret, err);
}

static bool may_run(const BackfillRecord *record, Error *err) {
  if (strcmp(record->state, state_name(STATE_planned)) == 0 || strcmp(record->state, state_name(STATE_held)) == 0 ||
      ledger_allows(record, "seal", err))
    return true;
  if (strcmp(record->state, state_name(STATE_ready)) != 0) return false;
  error_set(err, ERR_STATE, "backfill %s of %s is ready: every date is written and the change set is sealed",
            record->id, record->target);
  return error_hint(err, "look at it: tidegate diff %s; publish it: tidegate swap %s", record->id, record->id);
}

bool run_backfill(Backfill on, const RunOptions *options, RunFacts *ret, Error *err) {
  Run run = run_on(on, options);
  double began = clock_seconds();
  *ret = (RunFacts){0};
  if (!may_run(on.record, err) ||
      !ledger_lease(on.engine, on.record->id, 2 * on.plan->spec.budget.batch + 30, &run.epoch, err))
    return false;
  run.beat_at = clock_seconds() + BEAT_SECONDS;
  bool ok = ledger_reload(on.engine, on.arena, on.record, err) && carry_on(&run, ret, err);
  if (!ok && run.lost) *err = run.why_lost;
  Error ignored;
  on.engine->ops->lease_drop(on.engine, on.record->id, run.epoch, &ignored);
  ret->batches = run.written;
  ret->seconds = clock_seconds() - began;
  return ok;
}
