#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/doc.h"
#include "base/process.h"
#include "swap/swap_int.h"
#include "validate/validate.h"

/* ---- rows outside the range
 * ------------------------------------------------------------------------------------------ */

/* Fingerprints are sums, so the rows outside are the whole less the range; rows without a date count as outside. */
static bool outside(Act *act, Fingerprint *ret, int64_t *ret_rows, Error *err) {
  ARENA_SCOPED arena = {0};
  const DateFacts *whole, *dates;
  size_t n_whole, n;
  const EngineOps *ops = act->engine->ops;
  if (!ops->fingerprint(act->engine, &arena, &act->plan->shape, (DateRange){0, 0}, &whole, &n_whole, err) ||
      !ops->fingerprint(act->engine, &arena, &act->plan->shape, act->plan->range, &dates, &n, err))
    return false;
  *ret = whole[0].production;
  *ret_rows = 0;
  for (size_t i = 0; i < n; i++) {
    const Fingerprint *part = &dates[i].production;
    ret->rows -= part->rows;
    ret->high -= part->high + (ret->low < part->low);
    ret->low -= part->low;
    *ret_rows += part->rows;
  }
  return true;
}

static bool outside_then(Act *act, Fingerprint *ret, Error *err) {
  const DocNode *root;
  const char *seal = act->record->seal;
  if (seal == NULL) return error_set(err, ERR_STATE, "backfill %s has no snapshot", act->record->id);
  if (!doc_parse(act->arena, "snapshot", seal, strlen(seal), &root, err)) return false;
  return fingerprint_parse(doc_text(root, "outside", NULL), ret) ||
         error_set(err, ERR_STATE, "the record of snapshot %s cannot be read", act->record->id);
}

/* ---- taking it
 * ----------------------------------------------------------------------------------------------------------- */

static bool snapshot(Act *act, SnapshotFacts *ret, Error *err) {
  const EngineOps *ops = act->engine->ops;
  Fingerprint rest;
  char text[FINGERPRINT_TEXT];
  BUF_SCOPED out = {0};
  Json json = {.out = &out};
  const SpecBudget *budget = &act->plan->spec.budget;
  TxnLimits limits = {.lock_wait = budget->lock, .snapshot = true, .hold = budget->statement};
  if (!ops->begin(act->writer, limits, err)) return false;
  if (!ops->create(act->writer, &act->plan->shape, "snapshot", err) ||
      !ops->copy_range(act->writer, &act->plan->shape, act->plan->range, err) ||
      !outside(act, &rest, &ret->rows, err)) {
    ops->abort(act->writer);
    return false;
  }
  fingerprint_text(&rest, text);
  json_object(&json, NULL);
  json_int(&json, "rows", ret->rows);
  json_text(&json, "outside", text);
  json_object_end(&json);
  ret->outside_unchanged = true;
  return act_commit(act, "snapshot", NULL, "seal", buf_text(&out), err);
}

bool swap_snapshot(Arena *arena, Engine *engine, BackfillRecord *record, const Plan *plan, SnapshotFacts *ret,
                   Error *err) {
  Act act = {.arena = arena, .engine = engine, .record = record, .plan = plan};
  *ret = (SnapshotFacts){0};
  if (!act_begin(&act, "snapshot", GATE_SNAPSHOT, 0, err)) return false;
  bool ok = snapshot(&act, ret, err);
  act_end(&act);
  return ok;
}

/* ---- checking what was written in place
 * ------------------------------------------------------------------------------------ */

static bool evidence(Act *act, SnapshotFacts *ret, const FindingRecord **ret_findings, size_t *ret_n, Error *err) {
  BatchFacts facts;
  Fingerprint then, now;
  Job job = act_whole_job(act);
  if (!act->engine->ops->compare_snapshot(act->engine, act->arena, &job, &facts, err) ||
      !outside_then(act, &then, err) || !outside(act, &now, &ret->rows, err) ||
      !validate_batch(act->arena, act->engine, act->plan, &job, &facts, 0, ret_findings, ret_n, err))
    return false;
  ret->changed = facts.changes;
  ret->outside_unchanged = fingerprint_equal(&then, &now);
  Plan alone = *act->plan;
  alone.id = NULL;
  if (*ret_n > 0) return true;
  return validate_totals(act->arena, act->engine, &alone, act->plan->range, 0, ret_findings, ret_n, err);
}

/* `ours`: Tidegate ran the tool itself, so nobody else was to write meanwhile. */
static bool check(Act *act, bool ours, SnapshotFacts *ret, Error *err) {
  const EngineOps *ops = act->engine->ops;
  const FindingRecord *findings;
  size_t n;
  int tries;
  if (!evidence(act, ret, &findings, &n, err)) return false;
  if (n > 0) {
    if (!ops->ledger_add_findings(act->engine, act->record->id, findings, n, err)) return false;
    error_set(err, ERR_HELD, "production was written in place and does not pass: %s", findings[0].message);
    return error_hint(err, "put the old rows back: tidegate restore %s", act->record->id);
  }
  if (ours && !ret->outside_unchanged)
    return error_set(err, ERR_HELD,
                     "rows outside the range changed while the tool ran; the snapshot does not hold them, so they stay "
                     "as they are now");
  if (ret->changed == 0) {
    error_set(err, ERR_NO_CHANGE, "production still equals the snapshot: nothing was written");
    return error_hint(err, "run the tool, then check again; or tidegate discard %s", act->record->id);
  }
  return act_lock(act, NULL, NULL, &tries, err) &&
         act_commit(act, "check", ret->outside_unchanged ? NULL : "rows outside the range changed meanwhile", NULL,
                    NULL, err);
}

bool swap_check(Arena *arena, Engine *engine, BackfillRecord *record, const Plan *plan, SnapshotFacts *ret,
                Error *err) {
  Act act = {.arena = arena, .engine = engine, .record = record, .plan = plan};
  *ret = (SnapshotFacts){0};
  if (!act_begin(&act, "check", GATE_CLEAN, 0, err)) return false;
  bool ok = check(&act, false, ret, err);
  act_end(&act);
  return ok;
}

/* ---- putting it back
 * ---------------------------------------------------------------------------------------------------------- */

static bool restore(Act *act, SnapshotFacts *ret, Error *err) {
  const EngineOps *ops = act->engine->ops;
  int tries;
  if (!act_lock(act, act->plan->shape.table, NULL, &tries, err)) return false;
  if (!act_still_idle(act, err) || !ops->restore_range(act->writer, &act->plan->shape, act->plan->range,
                                                       act->plan->spec.triggers != TRIGGERS_FIRE, &ret->changed, err)) {
    ops->abort(act->writer);
    return false;
  }
  /* From snapshotted nothing was opened: the state stays, production equals the snapshot again. */
  if (strcmp(act->record->state, state_name(STATE_snapshotted)) == 0) return ops->commit(act->writer, err);
  return act_commit(act, "restore", arena_printf(act->arena, "%" PRId64 " rows put back", ret->changed), NULL, NULL,
                    err);
}

bool swap_restore(Arena *arena, Engine *engine, BackfillRecord *record, const Plan *plan, SnapshotFacts *ret,
                  Error *err) {
  Act act = {.arena = arena, .engine = engine, .record = record, .plan = plan};
  *ret = (SnapshotFacts){0};
  const char *verb = strcmp(record->state, state_name(STATE_snapshotted)) == 0 ? "open" : "restore";
  if (!act_begin(&act, verb, GATE_ROLLBACK, plan->spec.budget.swap_lock, err)) return false;
  bool ok = restore(&act, ret, err);
  act_end(&act);
  return ok;
}

/* ---- running the tool
 * ------------------------------------------------------------------------------------------------------------ */

static bool run_tool(Act *act, const char *shell_line, Error *err) {
  ProcessVariable variables[PLAN_VARIABLES];
  BUF_SCOPED log = {0};
  plan_variables(act->arena, act->plan, act->plan->range, variables);
  ProcessRules rules = {variables, PLAN_VARIABLES, act->plan->spec.recompute.timeout, "`recompute: timeout`", NULL,
                        NULL};
  char *argv[] = {"/bin/sh", "-c", process_fill(act->arena, shell_line, variables, PLAN_VARIABLES), NULL};
  bool ok = process_run(argv, &rules, &log, err);
  Error ignored;
  act->engine->ops->ledger_event(act->engine, act->record->id, ledger_owner(), ok ? "tool ended" : "tool failed",
                                 buf_text(&log), &ignored);
  return ok;
}

bool swap_open(Arena *arena, Engine *engine, BackfillRecord *record, const Plan *plan, const char *shell_line,
               SnapshotFacts *ret, Error *err) {
  Act act = {.arena = arena, .engine = engine, .record = record, .plan = plan};
  int tries;
  *ret = (SnapshotFacts){0};
  if (!act_begin(&act, "open", GATE_BATCH, plan->spec.recompute.timeout, err)) return false;
  bool opened = act_lock(&act, NULL, NULL, &tries, err) && act_commit(&act, "open", shell_line, NULL, NULL, err);
  bool ok = opened && run_tool(&act, shell_line, err) && check(&act, true, ret, err);
  if (opened && !ok) {
    Error cause = *err, failed;
    SnapshotFacts back = {0};
    if (restore(&act, &back, &failed)) {
      ret->changed = back.changed;
      *err = cause;
      error_hint(err, "production was restored from the snapshot: %" PRId64 " rows put back", back.changed);
    } else {
      *err = cause;
      error_hint(err, "PRODUCTION MAY BE PARTLY WRITTEN and could not be restored (%s): tidegate restore %s",
                 failed.message, record->id);
    }
  }
  act_end(&act);
  return ok;
}
