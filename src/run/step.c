#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "run/run_int.h"
#include "swap/swap.h"
#include "validate/validate.h"

/* Of a step alone the run's own thread is asked; what a worker writes is cancelled by that thread, or by the first
 * batch that fails. */
static bool go_on(void *context) {
  RunStep *step = context;
  if (step->by_worker) return !atomic_load(&step->run->cancelled) && clock_seconds() < step->deadline;
  run_tell(step->run, step->run->progress.doing, false);
  return run_goes_on(step->run) && clock_seconds() < step->deadline;
}

static bool rest_apart(void *context, double seconds) {
  const RunStep *step = context;
  if (atomic_load(&step->run->cancelled)) return false;
  clock_sleep(seconds);
  return !atomic_load(&step->run->cancelled);
}

/* As run_begin; a worker's transactions go with those of the others. */
static bool begin(RunStep *step, EngineWriter *writer, bool snapshot, Error *err) {
  if (!step->by_worker) return run_begin(step->run, writer, snapshot, err);
  const SpecBudget *budget = &step->run->plan->spec.budget;
  TxnLimits limits = {.lock_wait = budget->lock, .snapshot = snapshot, .hold = budget->statement, .shared = true};
  int refused = 0;
  return swap_begin(step->engine, writer, limits, budget->lock_tries, rest_apart, step, &refused, err);
}

static bool prepare_objects(Run *run, EngineWriter *writer, Error *err) {
  if (strcmp(run->record->state, "planned") != 0) return true;
  const EngineOps *ops = run->engine->ops;
  const Plan *plan = run->plan;
  if (!run_begin(run, writer, false, err)) return false;
  bool ok = ops->create(writer, &plan->shape, "changes", err) &&
            (!plan->spec.full_shadow || ops->create(writer, &plan->shape, "shadow", err));
  if (ok) return ledger_commit(run->engine, run->arena, writer, run->record, (LedgerMove){.verb = "run"}, err);
  ops->abort(writer);
  return false;
}

static bool fill_shadow(RunStep *step, EngineWriter *writer, const Job *job, Error *err) {
  const EngineOps *ops = step->engine->ops;
  Interrupt interrupt = {go_on, step};
  if (!begin(step, writer, false, err)) return false;
  step->deadline = clock_seconds() + step->run->plan->spec.budget.statement;
  return engine_end(step->engine, writer, ops->fill_shadow(writer, job, &interrupt, err), err);
}

/* The full shadow, made by the recompute or the command. *ret_token: of a snapshot before anything was read; NULL where
 * a command read, which nobody can look at. `again` as in compute. */
static bool make_shadow(RunStep *step, EngineWriter *writer, Job *job, bool again, const char **ret_token,
                        const char **ret_log, Error *err) {
  Run *run = step->run;
  *ret_token = NULL;
  job->recompute = run->plan->recompute;
  bool command = job->recompute == NULL;
  if (!command && !step->engine->ops->change_token(step->engine, step->arena, ret_token, err)) return false;
  if ((!command || !again) && !fill_shadow(step, writer, job, err)) return false;
  if (command && !run_command(run, job, step->number, ret_log, err)) return false;
  job->recompute = NULL;
  return true;
}

/*
 * Computes the batch once; directly in a transaction of its own, which stays open to be stored. `again`: a second time,
 * for the proof that a date can be run again; a command then meets what it wrote before.
 */
static bool compute(RunStep *step, EngineWriter *writer, Job *job, bool again, BatchFacts *ret, const char **ret_log,
                    Error *err) {
  const EngineOps *ops = step->engine->ops;
  const SpecBudget *budget = &step->run->plan->spec.budget;
  Interrupt interrupt = {go_on, step};
  const char *token = NULL;
  ops->abort(writer);
  if (step->run->plan->spec.full_shadow && !make_shadow(step, writer, job, again, &token, ret_log, err)) return false;
  if (run_directly(step->run) && !begin(step, writer, true, err)) return false;
  step->deadline = clock_seconds() + budget->statement;
  if (ops->compute(writer, step->arena, job, &interrupt, ret, err)) {
    if (token != NULL) ret->token = token;
    return true;
  }
  if (err->code == ERR_PAUSED && clock_seconds() >= step->deadline) {
    char limit[32];
    duration_label(budget->statement, limit);
    error_set(err, ERR_PAUSED, "a batch took longer than `budget: statement` (%s) allows", limit);
    error_hint(err, "raise the limit, or make the recompute faster (an index on its sources' dates?), and run again");
  }
  return false;
}

static bool same_twice(const BatchFacts *first, const BatchFacts *second) {
  for (size_t i = 0; i < first->n; i++)
    if (!fingerprint_equal(&first->dates[i].stable, &second->dates[i].stable)) return false;
  return true;
}

/* May others have changed what came out of the second writing? */
static bool others_wrote(const RunStep *step, const Job *job, const BatchFacts *first, bool *ret, Error *err) {
  Unchanged unchanged;
  int64_t rows = 0;
  for (size_t i = 0; i < first->n; i++) rows += first->dates[i].production.rows;
  if (!step->engine->ops->unchanged(step->engine, job, first->token, rows, &unchanged, err)) return false;
  *ret = !unchanged.production || !unchanged.sources;
  return true;
}

void run_stored(Run *run, const RunStep *step) {
  for (size_t i = 0; i < step->n; i++) {
    DateRecord *date = &run->dates[step->from + i];
    const DateFacts *fact = &step->facts.dates[i];
    date->batch = step->number;
    date->production = fact->production;
    date->recomputed = fact->recomputed;
    date->stable = fact->stable;
    run->progress.rows_done += date->expected;
  }
  run->progress.dates_done += (int64_t)step->n;
  run->progress.changes += step->facts.changes;
  run->written++;
  run_measured(run, step->n, step->facts.rows, step->seconds);
}

/* Records findings and moves to held, with the open transaction; always returns false with ERR_HELD. */
static bool hold(Run *run, EngineWriter *writer, const Findings *findings, Error *err) {
  const EngineOps *ops = run->engine->ops;
  BUF_SCOPED reason = {0};
  for (size_t i = 0; i < findings->n; i++) buf_printf(&reason, "%s%s", i == 0 ? "" : "; ", findings->items[i].message);
  if (!ops->ledger_add_findings(run->engine, run->record->id, findings->items, findings->n, err)) {
    ops->abort(writer);
    return false;
  }
  LedgerMove held = {.verb = "hold", .reason = buf_text(&reason)};
  if (!ledger_commit(run->engine, run->arena, writer, run->record, held, err)) return false;
  error_set(err, ERR_HELD, "%s", buf_text(&reason));
  return error_hint(err,
                    "production is untouched. Look: tidegate diff %s; put the cause right and try again: tidegate run "
                    "%s; or give up: tidegate discard %s",
                    run->record->id, run->record->id, run->record->id);
}

static bool store(RunStep *step, EngineWriter *writer, const Job *job, const BatchRecord *record, Error *err) {
  const EngineOps *ops = step->engine->ops;
  if (!run_directly(step->run) && !begin(step, writer, false, err)) return false;
  if (!ops->store(writer, job, &step->facts, record, err)) {
    ops->abort(writer);
    return false;
  }
  if (step->findings.n > 0) return hold(step->run, writer, &step->findings, err);
  return ops->commit(writer, err);
}

bool run_hold(Run *run, EngineWriter *writer, const Findings *findings, Error *err) {
  return run_begin(run, writer, false, err) && hold(run, writer, findings, err);
}

/* Where others commit between two writings, it is they who may have changed what comes out: it is written once more. */
enum { MOST_WRITINGS = 4 };

static void validate(RunStep *step, const BatchFacts *facts) {
  step->findings = (Findings){.arena = step->arena, .batch = step->number};
  validate_batch(&step->findings, step->run->plan, facts);
}

/* The evidence of one batch, before it is stored. */
static bool judge(RunStep *step, EngineWriter *writer, Job *job, const char **log, Error *err) {
  validate(step, &step->facts);
  if (step->findings.n == 0 && step->failed != NULL) step->findings = step->failed->findings; /* it comes and goes */
  if (step->number > 1 || step->findings.n > 0) return true;
  BatchFacts again;
  bool others = true;
  for (int writing = 2;; writing++) {
    /* Rows that were appended may show as a key that several rows have only now. */
    if (!compute(step, writer, job, true, &again, log, err)) return false;
    validate(step, &again);
    if (step->findings.n == 0 && same_twice(&step->facts, &again)) break;
    if (writing < MOST_WRITINGS && !others_wrote(step, job, &step->facts, &others, err)) return false;
    if (writing < MOST_WRITINGS && others) {
      step->facts = again;
      continue;
    }
    findings_add(
        &step->findings,
        (FindingRecord){.kind = "not-repeatable",
                        .subject = "first batch",
                        .count = 1,
                        .message =
                            "the first batch, written twice, came out differently: the recompute cannot be run again "
                            "safely (random values, the clock, or rows that are appended instead of replaced)"});
    break;
  }
  step->facts = again;
  return true;
}

/* The totals of the batch's dates, once it is stored. */
static bool check_totals(RunStep *step, const Job *job, Error *err) {
  DateRange range = {job->dates[0], job->dates[job->n]};
  step->findings.n = 0;
  return validate_totals(&step->findings, step->engine, step->run->plan, range, err);
}

static bool write_batch(RunStep *step, EngineWriter *writer, Error *err) {
  const Plan *plan = step->run->plan;
  const DateCodec *codec = &plan->shape.codec;
  double began = clock_seconds();
  DateRange range = {step->run->dates[step->from].date,
                     grain_next(codec->grain, codec->zone, step->run->dates[step->from + step->n - 1].date)};
  size_t n_dates;
  const Instant *dates = plan_dates(step->arena, plan, range, &n_dates);
  Job job = plan_job(plan, dates, n_dates);
  const char *log = NULL;
  if (!compute(step, writer, &job, false, &step->facts, &log, err) || !judge(step, writer, &job, &log, err))
    return false;
  if (step->by_worker && step->findings.n > 0) return true;
  BatchRecord record = {.number = step->number,
                        .from = range.from,
                        .to = range.to,
                        .attempt = 1,
                        .dates = (int64_t)n_dates,
                        .rows = step->facts.rows,
                        .changes = step->facts.changes,
                        .seconds = clock_seconds() - began,
                        .token = step->facts.token,
                        .log = log};
  if (!go_on(step)) return error_set(err, ERR_PAUSED, "stopped before the batch was stored");
  if (!store(step, writer, &job, &record, err)) return false;
  step->stored = true;
  step->seconds = clock_seconds() - began;
  return check_totals(step, &job, err);
}

/* Whoever reads the part at this moment is not waited for long: then it is left to the seal. */
static bool seal_part(RunStep *step, EngineWriter *writer, Error *err) {
  const EngineOps *ops = step->engine->ops;
  Interrupt interrupt = {go_on, step};
  double began = clock_seconds();
  if (!begin(step, writer, false, err)) return false;
  step->deadline = HUGE_VAL; /* the server has one for each of its statements */
  bool ok = ops->seal_part(writer, &step->run->plan->shape, *step->part, &interrupt, err) && ops->commit(writer, err);
  step->seconds = clock_seconds() - began;
  return ok || err->code == ERR_LOCKED;
}

bool run_step_apart(RunStep *step, const GatePass *pass, Error *err) {
  const EngineOps *ops = step->engine->ops;
  EngineWriter *writer = NULL;
  if (!ops->writer_open(step->engine, pass, step->run->record->id, step->run->epoch, &writer, err)) return false;
  bool ok = step->part != NULL ? seal_part(step, writer, err) : write_batch(step, writer, err);
  ops->abort(writer);
  ops->writer_close(writer);
  return ok;
}

static bool write_alone(Run *run, RunStep *step, EngineWriter *writer, Error *err) {
  if (!prepare_objects(run, writer, err)) return false;
  bool ok = write_batch(step, writer, err);
  if (step->stored) {
    if (step->number > run->batches) run->batches = step->number;
    run_stored(run, step);
  }
  return ok && (step->findings.n == 0 || run_hold(run, writer, &step->findings, err));
}

static bool step_alone(Run *run, RunStep *step, Error *err) {
  int64_t rows = 0;
  for (size_t i = 0; i < step->n; i++) rows += run->dates[step->from + i].expected;
  Verdict verdict;
  const GatePass *pass;
  EngineWriter *writer = NULL;
  if (!gate_judge(step->arena, run->engine, run->plan, GATE_BATCH, run_needed_seconds(run, rows), &verdict, &pass, err))
    return false;
  if (pass == NULL) return gate_deny(&verdict, err);
  if (!run->engine->ops->writer_open(run->engine, pass, run->record->id, run->epoch, &writer, err)) return false;
  bool ok = write_alone(run, step, writer, err);
  if (!ok) run->engine->ops->abort(writer);
  run->engine->ops->writer_close(writer);
  return ok;
}

bool run_step(Run *run, size_t from, size_t n, Error *err) {
  ARENA_SCOPED arena = {0};
  RunStep step = {.run = run, .engine = run->engine, .arena = &arena, .from = from, .n = n, .number = run->batches + 1};
  return step_alone(run, &step, err);
}

bool run_step_failed(Run *run, const RunStep *failed, Error *err) {
  ARENA_SCOPED arena = {0};
  RunStep step = {.run = run,
                  .engine = run->engine,
                  .arena = &arena,
                  .from = failed->from,
                  .n = failed->n,
                  .number = failed->number,
                  .failed = failed};
  return step_alone(run, &step, err);
}
