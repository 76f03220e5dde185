#include "swap/in_place.h"

#include <inttypes.h>
#include <string.h>

#include "ledger/opened.h"
#include "swap/swap_int.h"
#include "validate/validate.h"

/* ---- fingerprints ------------------------------------------------------------------------------------------------ */

/* The target with every stored column given, as a tool may write them all. */
static Shape whole_shape(Arena *arena, const Shape *shape, bool exact) {
  Shape whole = *shape;
  ShapeColumn *columns = arena_array(arena, shape->n, sizeof *columns);
  for (size_t i = 0; i < shape->n; i++) {
    columns[i] = shape->columns[i];
    columns[i].given = !columns[i].generated;
    if (exact) columns[i].tolerance = 0;
  }
  whole.columns = columns;
  return whole;
}

/* Dates without rows are not among the facts. `snapshot`: of a comparison, the old side. */
static void take_dates(Arena *arena, const Plan *plan, const DateFacts *facts, size_t n_facts, RangeLook *ret) {
  const Instant *dates = plan_dates(arena, plan, plan->range, &ret->n);
  ret->dates = arena_array(arena, ret->n, sizeof *ret->dates);
  ret->rows = 0;
  for (size_t i = 0, at = 0; i < ret->n; i++) {
    while (at < n_facts && facts[at].date < dates[i]) at++;
    ret->dates[i] = at < n_facts && facts[at].date == dates[i] ? facts[at].production : (Fingerprint){0};
    ret->rows += ret->dates[i].rows;
  }
}

bool in_place_look(Arena *arena, Engine *engine, const Plan *plan, RangeLook *ret, Error *err) {
  Shape shape = whole_shape(arena, &plan->shape, true);
  const DateFacts *whole, *dates;
  size_t n_whole, n;
  if (!engine->ops->fingerprint(engine, arena, &shape, (DateRange){0, 0}, &whole, &n_whole, err) ||
      !engine->ops->fingerprint(engine, arena, &shape, plan->range, &dates, &n, err))
    return false;
  take_dates(arena, plan, dates, n, ret);
  ret->outside = whole[0].production;
  for (size_t i = 0; i < ret->n; i++) fingerprint_minus(&ret->outside, &ret->dates[i]);
  return true;
}

static Job whole_job(Arena *arena, const Plan *plan) {
  size_t n;
  const Instant *dates = plan_dates(arena, plan, plan->range, &n);
  return plan_job(plan, dates, n);
}

bool in_place_look_snapshot(Arena *arena, Engine *engine, const Plan *plan, RangeLook *ret, Error *err) {
  Shape shape = whole_shape(arena, &plan->shape, true);
  Job job = whole_job(arena, plan);
  BatchFacts facts;
  job.shape = &shape;
  job.n_scope = 0;
  job.n_row_checks = 0;
  job.fingerprint_only = true;
  if (!engine->ops->compare_snapshot(engine, arena, &job, &facts, err)) return false;
  ret->outside = (Fingerprint){0};
  take_dates(arena, plan, facts.dates, facts.n, ret);
  return true;
}

/* ---- evidence ---------------------------------------------------------------------------------------------------- */

bool in_place_judge(Arena *arena, Engine *engine, const Plan *plan, DateRange dates, int64_t batch, int64_t batches,
                    InPlaceFacts *ret, Error *err) {
  BatchFacts facts;
  size_t n;
  const Instant *starts = plan_dates(arena, plan, dates, &n);
  Job job = plan_job(plan, starts, n);
  InPlaceFacts found = {.findings = {.arena = arena, .batch = batch}};
  Shape shape = whole_shape(arena, &plan->shape, false);
  if (plan->n_scope > 0) job.shape = &shape; /* nothing else may differ, whatever the recompute gives */
  if (!engine->ops->compare_snapshot(engine, arena, &job, &facts, err)) return false;
  validate_batch(&found.findings, plan, &facts);
  found.rows = facts.rows;
  found.changed = facts.changes;
  Plan alone = *plan; /* production itself, not an overlay */
  alone.id = NULL;
  if (found.findings.n == 0 && !validate_totals(&found.findings, engine, &alone, dates, err)) return false;
  if (found.findings.n == 0 && batches > 0 && found.changed > 0 &&
      !validate_oracle(&found.findings, engine, plan, dates, found.changed, batches, err))
    return false;
  *ret = found;
  return true;
}

/* ---- putting it back --------------------------------------------------------------------------------------------- */

bool in_place_restore(Backfill on, EngineWriter *writer, GateWatch *watch, DateRange dates, bool whole,
                      int64_t *ret_changed, Error *err) {
  Act act = act_on(on);
  const EngineOps *ops = on.engine->ops;
  act.writer = writer;
  act.watch = watch;
  for (;;) {
    if (!act_lock(&act, on.plan->shape.table, NULL, err)) return false;
    if (act_still_idle(&act, err) &&
        ops->restore_range(writer, &on.plan->shape, dates, on.plan->spec.triggers != TRIGGERS_FIRE, ret_changed, err))
      break;
    if (act_try_again(&act, NULL, err)) continue;
    ops->abort(writer);
    return false;
  }
  /* From snapshotted nothing was opened: the state stays, production equals the snapshot again. */
  if (!whole || strcmp(on.record->state, state_name(STATE_snapshotted)) == 0) return ops->commit(writer, err);
  const char *reason = arena_printf(on.arena, "%" PRId64 " rows put back", *ret_changed);
  return act_commit(&act, (LedgerMove){.verb = "restore", .reason = reason}, err);
}
