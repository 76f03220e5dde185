#include <inttypes.h>
#include <string.h>

#include "run/run_int.h"
#include "validate/validate.h"

static bool go_on(void *context) {
  Run *run = context;
  if (run->options->stop != NULL && *run->options->stop >= 2) return false;
  run_tell(run, run->progress.doing, false);
  return clock_seconds() < run->deadline;
}

static bool prepare_objects(Run *run, EngineWriter *writer, Error *err) {
  if (strcmp(run->record->state, "planned") != 0) return true;
  const EngineOps *ops = run->engine->ops;
  const Plan *plan = run->plan;
  if (!run_begin(run, writer, false, err)) return false;
  bool ok = ops->create(writer, &plan->shape, "changes", err) &&
            (!plan->spec.full_shadow || ops->create(writer, &plan->shape, "shadow", err)) &&
            ledger_move(run->engine, run->record, "run", NULL, NULL, NULL, err);
  if (ok) return ops->commit(writer, err);
  ops->abort(writer);
  return false;
}

static bool fill_shadow(Run *run, EngineWriter *writer, const Job *job, const Interrupt *interrupt, Error *err) {
  if (!run_begin(run, writer, false, err)) return false;
  if (run->engine->ops->fill_shadow(writer, job, interrupt, err)) return run->engine->ops->commit(writer, err);
  run->engine->ops->abort(writer);
  return false;
}

/* The full shadow, made by the recompute or the command. *ret_token: of a snapshot before anything was read; NULL where
 * a command read, which nobody can look at. `again` as in compute. */
static bool make_shadow(Run *run, Arena *arena, EngineWriter *writer, Job *job, const Interrupt *interrupt,
                        int64_t batch, bool again, const char **ret_token, const char **ret_log, Error *err) {
  *ret_token = NULL;
  job->recompute = run->plan->recompute;
  run->deadline = clock_seconds() + run->plan->spec.budget.statement;
  bool command = job->recompute == NULL;
  if (!command && !run->engine->ops->change_token(run->engine, arena, ret_token, err)) return false;
  if ((!command || !again) && !fill_shadow(run, writer, job, interrupt, err)) return false;
  if (command && !run_command(run, job, batch, ret_log, err)) return false;
  job->recompute = NULL;
  return true;
}

/*
 * Computes the batch once; directly in a transaction of its own, which stays open to be stored. `again`: a second time,
 * for the proof that a date can be run again; a command then meets what it wrote before.
 */
static bool compute(Run *run, Arena *arena, EngineWriter *writer, Job *job, int64_t batch, bool again, BatchFacts *ret,
                    const char **ret_log, Error *err) {
  const EngineOps *ops = run->engine->ops;
  Interrupt interrupt = {go_on, run};
  const char *token = NULL;
  ops->abort(writer);
  if (run->plan->spec.full_shadow &&
      !make_shadow(run, arena, writer, job, &interrupt, batch, again, &token, ret_log, err))
    return false;
  if (run_directly(run) && !run_begin(run, writer, true, err)) return false;
  run->deadline = clock_seconds() + run->plan->spec.budget.statement;
  if (ops->compute(writer, arena, job, &interrupt, ret, err)) {
    if (token != NULL) ret->token = token;
    return true;
  }
  if (err->code == ERR_PAUSED && clock_seconds() >= run->deadline) {
    char limit[32];
    duration_label(run->plan->spec.budget.statement, limit);
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
static bool others_wrote(Run *run, const Job *job, const BatchFacts *first, bool *ret, Error *err) {
  Unchanged unchanged;
  int64_t rows = 0;
  for (size_t i = 0; i < first->n; i++) rows += first->dates[i].production.rows;
  if (!run->engine->ops->unchanged(run->engine, job, first->token, rows, &unchanged, err)) return false;
  *ret = !unchanged.production || !unchanged.sources;
  return true;
}

static FindingRecord *with_finding(Arena *arena, FindingRecord *findings, size_t *n, FindingRecord finding) {
  FindingRecord *all = arena_array(arena, *n + 1, sizeof *all);
  if (*n > 0) memcpy(all, findings, *n * sizeof *all);
  all[(*n)++] = finding;
  return all;
}

static void remember(Run *run, size_t from, size_t n, int64_t batch, const BatchFacts *facts) {
  for (size_t i = 0; i < n; i++) {
    DateRecord *date = &run->dates[from + i];
    const DateFacts *fact = &facts->dates[i];
    date->batch = batch;
    date->production = fact->production;
    date->recomputed = fact->recomputed;
    date->stable = fact->stable;
    run->progress.rows_done += date->expected;
  }
  run->progress.dates_done += (int64_t)n;
  run->progress.changes += facts->changes;
}

static bool store(Run *run, EngineWriter *writer, const Job *job, const BatchFacts *facts, const BatchRecord *record,
                  const FindingRecord *findings, size_t n, Error *err) {
  const EngineOps *ops = run->engine->ops;
  if (!run_directly(run) && !run_begin(run, writer, false, err)) return false;
  if (!ops->store(writer, job, facts, record, err)) {
    ops->abort(writer);
    return false;
  }
  return n > 0 ? run_hold(run, writer, findings, n, err) : ops->commit(writer, err);
}

bool run_hold(Run *run, EngineWriter *writer, const FindingRecord *findings, size_t n, Error *err) {
  const EngineOps *ops = run->engine->ops;
  BUF_SCOPED reason = {0};
  for (size_t i = 0; i < n; i++) buf_printf(&reason, "%s%s", i == 0 ? "" : "; ", findings[i].message);
  if (!ops->ledger_add_findings(run->engine, run->record->id, findings, n, err) ||
      !ledger_move(run->engine, run->record, "hold", buf_text(&reason), NULL, NULL, err)) {
    ops->abort(writer);
    return false;
  }
  if (!ops->commit(writer, err)) return false;
  error_set(err, ERR_HELD, "%s", buf_text(&reason));
  return error_hint(err,
                    "production is untouched. Look: tidegate diff %s; put the cause right and try again: tidegate run "
                    "%s; or give up: tidegate discard %s",
                    run->record->id, run->record->id, run->record->id);
}

/* Where others commit between two writings, it is they who may have changed what comes out: it is written once more. */
enum { MOST_WRITINGS = 4 };

/* The evidence of one batch, before it is stored. */
static bool judge(Run *run, Arena *arena, EngineWriter *writer, Job *job, int64_t batch, BatchFacts *facts,
                  FindingRecord **ret, size_t *ret_n, const char **log, Error *err) {
  const FindingRecord *findings;
  if (!validate_batch(arena, run->engine, run->plan, job, facts, batch, &findings, ret_n, err)) return false;
  *ret = (FindingRecord *)findings;
  if (run->batches > 0 || *ret_n > 0) return true;
  BatchFacts again;
  bool others = true;
  for (int writing = 2;; writing++) {
    if (!compute(run, arena, writer, job, batch, true, &again, log, err) ||
        !validate_batch(arena, run->engine, run->plan, job, &again, batch, &findings, ret_n, err))
      return false;
    *ret = (FindingRecord *)findings; /* rows that were appended may show as a key that several rows have only now */
    if (*ret_n == 0 && same_twice(facts, &again)) break;
    if (writing < MOST_WRITINGS && !others_wrote(run, job, facts, &others, err)) return false;
    if (writing < MOST_WRITINGS && others) {
      *facts = again;
      continue;
    }
    *ret = with_finding(
        arena, *ret, ret_n,
        (FindingRecord){.batch = batch,
                        .kind = "not-repeatable",
                        .subject = "first batch",
                        .count = 1,
                        .message =
                            "the first batch, written twice, came out differently: the recompute cannot be run again "
                            "safely (random values, the clock, or rows that are appended instead of replaced)"});
    break;
  }
  *facts = again;
  return true;
}

static bool check_totals(Run *run, Arena *arena, EngineWriter *writer, const Job *job, int64_t batch, Error *err) {
  const FindingRecord *findings;
  size_t n;
  DateRange range = {job->dates[0], job->dates[job->n]};
  if (run->plan->n_total_checks == 0) return true;
  if (!validate_totals(arena, run->engine, run->plan, range, batch, &findings, &n, err)) return false;
  if (n == 0) return true;
  return run_begin(run, writer, false, err) && run_hold(run, writer, findings, n, err);
}

static bool write_batch(Run *run, Arena *arena, EngineWriter *writer, size_t from, size_t n, Error *err) {
  double began = clock_seconds();
  int64_t batch = run->batches + 1;
  DateRange range = {run->dates[from].date, grain_next(run->plan->shape.codec.grain, run->plan->shape.codec.zone,
                                                       run->dates[from + n - 1].date)};
  size_t n_dates, n_findings;
  const Instant *dates = plan_dates(arena, run->plan, range, &n_dates);
  Job job = plan_job(run->plan, dates, n_dates);
  BatchFacts facts;
  FindingRecord *findings;
  const char *log = NULL;
  if (!prepare_objects(run, writer, err) || !compute(run, arena, writer, &job, batch, false, &facts, &log, err) ||
      !judge(run, arena, writer, &job, batch, &facts, &findings, &n_findings, &log, err))
    return false;
  BatchRecord record = {.number = batch,
                        .from = range.from,
                        .to = range.to,
                        .attempt = 1,
                        .dates = (int64_t)n_dates,
                        .rows = facts.rows,
                        .changes = facts.changes,
                        .seconds = clock_seconds() - began,
                        .token = facts.token,
                        .log = log};
  if (!store(run, writer, &job, &facts, &record, findings, n_findings, err)) return false;
  remember(run, from, n, batch, &facts);
  run->batches = batch;
  run->written++;
  run_measured(run, n, facts.rows, clock_seconds() - began);
  return check_totals(run, arena, writer, &job, batch, err);
}

bool run_step(Run *run, size_t from, size_t n, Error *err) {
  ARENA_SCOPED arena = {0};
  int64_t rows = 0;
  for (size_t i = 0; i < n; i++) rows += run->dates[from + i].expected;
  Verdict verdict;
  const GatePass *pass;
  EngineWriter *writer = NULL;
  if (!gate_judge(&arena, run->engine, run->plan, GATE_BATCH, run_needed_seconds(run, rows), &verdict, &pass, err))
    return false;
  if (pass == NULL) return gate_deny(&verdict, err);
  if (!run->engine->ops->writer_open(run->engine, pass, run->record->id, run->epoch, &writer, err)) return false;
  bool ok = write_batch(run, &arena, writer, from, n, err);
  if (!ok) run->engine->ops->abort(writer);
  run->engine->ops->writer_close(writer);
  return ok;
}
