#include <inttypes.h>
#include <string.h>

#include "swap/in_place.h"
#include "swap/swap_int.h"
#include "validate/validate.h"

static bool drop_all(Act *act, const char *verb, const char *reason, Error *err) {
  static const char *const roles[] = {"changes", "partition", "shadow", "snapshot"};
  const EngineOps *ops = act->engine->ops;
  if (!ops->begin(act->writer, (TxnLimits){.lock_wait = 5, .hold = 60}, err)) return false;
  for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
    if (!ops->drop(act->writer, roles[i], err)) {
      ops->abort(act->writer);
      return false;
    }
  return act_commit(act, (LedgerMove){.verb = verb, .reason = reason}, err);
}

/* The evidence once more, on production itself. */
static bool production_passes(Act *act, Error *err) {
  ARENA_SCOPED arena = {0};
  const Plan *plan = act->plan;
  BatchFacts facts;
  Findings findings = {.arena = &arena};
  size_t n_dates;
  const Instant *dates = plan_dates(&arena, plan, plan->range, &n_dates);
  Job job = plan_job(plan, dates, n_dates);
  job.id = NULL;
  job.recompute = NULL;
  job.overlay = false;
  Plan alone = *plan;
  alone.id = NULL;
  if (plan->n_row_checks > 0) {
    if (!act->engine->ops->compare(act->engine, &arena, &job, NULL, &facts, err)) return false;
    validate_batch(&findings, plan, &facts);
  }
  if (findings.n == 0 && !validate_totals(&findings, act->engine, &alone, plan->range, err)) return false;
  return findings.n == 0 ||
         error_set(err, ERR_DENIED, "production does not pass its checks: %s", findings.items[0].message);
}

/* The same of a range that a tool wrote: no row of the snapshot may be missing either. */
static bool written_passes(Act *act, Error *err) {
  InPlaceFacts facts;
  if (!in_place_judge(act->arena, act->engine, act->plan, act->plan->range, 0, 0, &facts, err)) return false;
  if (facts.findings.n == 0) return true;
  error_set(err, ERR_DENIED, "production does not pass any more: %s", facts.findings.items[0].message);
  return error_hint(err, "the snapshot may hold the last copy of such rows: tidegate restore %s puts it back",
                    act->record->id);
}

/* What was published is still there. */
static bool still_published(Act *act, Error *err) {
  Conflicts conflicts;
  if (!act->engine->ops->conflicts(act->engine, act->arena, &act->plan->shape, act->record->id, 1, &conflicts, err))
    return false;
  if (conflicts.count == 0) return true;
  error_set(err, ERR_DENIED,
            "%" PRId64 " published rows were written again since the swap (%s %s): the old rows may still be needed",
            conflicts.count, conflicts.rows[0].date, conflicts.rows[0].key == NULL ? "" : conflicts.rows[0].key);
  return error_hint(
      err, "did the production job bring the fault back? Look at those rows; tidegate rollback %s can still be had",
      act->record->id);
}

static bool retention_passed(Act *act, bool early, Error *err) {
  Instant now;
  char left[32];
  if (!act->engine->ops->now(act->engine, &now, err)) return false;
  /* A range written in place was never swapped: there the check counts. */
  Instant then = act->record->swapped_at != 0 ? act->record->swapped_at : act->record->changed_at;
  double since = (double)(now - then);
  if (early || since >= act->plan->spec.retention) return true;
  duration_label(act->plan->spec.retention - since, left);
  error_set(err, ERR_DENIED, "the old rows are to be kept for another %s", left);
  return error_hint(err, "wait, or give the way back up now: tidegate finish %s --early", act->record->id);
}

bool swap_finish(Backfill on, bool early, Error *err) {
  Act act = act_on(on);
  if (!act_begin(&act, "finish", GATE_CLEAN, 0, err)) return false;
  bool swapped = strcmp(on.record->state, state_name(STATE_swapped)) == 0;
  bool ok = retention_passed(&act, early, err) && (!swapped || still_published(&act, err)) &&
            (swapped ? production_passes(&act, err) : written_passes(&act, err)) &&
            drop_all(&act, "finish", early ? "retention given up" : NULL, err);
  act_end(&act);
  return ok;
}

/* While production may hold what a tool wrote in place, the snapshot is the last copy of the old rows. */
static bool nothing_would_be_lost(Act *act, Error *err) {
  BatchFacts facts;
  if (strcmp(act->record->state, state_name(STATE_snapshotted)) != 0) return true;
  if (act->plan == NULL)
    return error_set(err, ERR_STATE,
                     "the spec no longer fits the database, so production cannot be held against the snapshot");
  Job job = act_whole_job(act);
  job.n_scope = 0;
  job.n_row_checks = 0;
  if (!act->engine->ops->compare_snapshot(act->engine, act->arena, &job, &facts, err)) return false;
  if (facts.changes == 0) return true;
  error_set(err, ERR_DENIED,
            "production differs from the snapshot in %" PRId64 " rows: the snapshot is the last copy of the old ones",
            facts.changes);
  return error_hint(err, "tidegate restore %s, or tidegate check %s and then tidegate finish %s", act->record->id,
                    act->record->id, act->record->id);
}

bool swap_discard(Backfill on, Error *err) {
  Act act = act_on(on);
  if (!act_begin(&act, "discard", GATE_CLEAN, 0, err)) return false;
  bool ok = nothing_would_be_lost(&act, err) && drop_all(&act, "discard", NULL, err);
  act_end(&act);
  return ok;
}
