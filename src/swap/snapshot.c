#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/opened.h"
#include "swap/in_place.h"
#include "swap/swap_int.h"

/* ---- taking it --------------------------------------------------------------------------------------------------- */

static bool snapshot(Act *act, SnapshotFacts *ret, Error *err) {
  const EngineOps *ops = act->engine->ops;
  const SpecBudget *budget = &act->plan->spec.budget;
  TxnLimits limits = {.lock_wait = budget->lock, .snapshot = true, .hold = budget->statement};
  RangeLook look;
  if (!ops->begin(act->writer, limits, err)) return false;
  if (!ops->create(act->writer, &act->plan->shape, "snapshot", err) ||
      !ops->copy_range(act->writer, &act->plan->shape, act->plan->range, err) ||
      !in_place_look(act->arena, act->engine, act->plan, &look, err)) {
    ops->abort(act->writer);
    return false;
  }
  Opened opened = {.rows = look.rows, .outside = look.outside};
  ret->rows = look.rows;
  ret->outside_unchanged = true;
  LedgerMove taken = {.verb = "snapshot", .doc = "seal", .json = opened_json(act->arena, &opened)};
  return act_commit(act, taken, err);
}

bool swap_snapshot(Backfill on, SnapshotFacts *ret, Error *err) {
  Act act = act_on(on);
  *ret = (SnapshotFacts){0};
  if (!act_begin(&act, "snapshot", GATE_SNAPSHOT, 0, err)) return false;
  bool ok = snapshot(&act, ret, err);
  act_end(&act);
  return ok;
}

/* ---- checking what was written in place -------------------------------------------------------------------------- */

/* A tool that Tidegate ran itself has to have written every date: part of them right is not right. */
static bool is_complete(Act *act, const Opened *opened, Error *err) {
  int64_t dates = 0;
  int pid;
  if (opened->line == NULL) return true;
  const char *id = act->record->id;
  if (in_place_tools(act->record, &pid) > 0) {
    error_set(err, ERR_STATE, "the tool still runs, as process %d: what it writes cannot be checked yet", pid);
    return error_hint(err, "wait for its end, or end it and put the old rows back: tidegate restore %s", id);
  }
  for (size_t i = 0; i < opened->n; i++) dates += opened->done[i].n;
  if (dates == act->plan->n_dates) return true;
  error_set(err, ERR_STATE, "the tool has written %" PRId64 " of %" PRId64 " dates", dates, act->plan->n_dates);
  return error_hint(err, "carry on with the same command, tidegate snapshot SPEC --then '…', or: tidegate restore %s",
                    id);
}

static bool check(Act *act, SnapshotFacts *ret, Error *err) {
  InPlaceFacts facts;
  RangeLook now;
  Opened opened;
  const char *id = act->record->id;
  if (!opened_read(act->arena, act->record, &opened, err) || !is_complete(act, &opened, err) ||
      !in_place_look(act->arena, act->engine, act->plan, &now, err) ||
      !in_place_judge(act->arena, act->engine, act->plan, act->plan->range, 0, opened.line == NULL ? 1 : 0, &facts,
                      err))
    return false;
  *ret = (SnapshotFacts){.rows = now.rows,
                         .changed = facts.changed,
                         .outside_unchanged = fingerprint_equal(&now.outside, &opened.outside)};
  const Findings *findings = &facts.findings;
  if (findings->n > 0) {
    if (!act->engine->ops->ledger_add_findings(act->engine, id, findings->items, findings->n, err)) return false;
    error_set(err, ERR_HELD, "production was written in place and does not pass: %s", findings->items[0].message);
    return error_hint(err, "put the old rows back: tidegate restore %s", id);
  }
  if (facts.changed == 0) {
    error_set(err, ERR_NO_CHANGE, "production still equals the snapshot: nothing was written");
    return error_hint(err, "run the tool, then check again; or tidegate discard %s", id);
  }
  const char *reason = ret->outside_unchanged ? NULL : "rows outside the range changed meanwhile";
  return act_lock(act, NULL, NULL, err) && act_commit(act, (LedgerMove){.verb = "check", .reason = reason}, err);
}

bool swap_check(Backfill on, SnapshotFacts *ret, Error *err) {
  Act act = act_on(on);
  *ret = (SnapshotFacts){0};
  if (!act_begin(&act, "check", GATE_CLEAN, 0, err)) return false;
  bool ok = check(&act, ret, err);
  act_end(&act);
  return ok;
}

/* ---- putting it back --------------------------------------------------------------------------------------------- */

bool swap_restore(Backfill on, SnapshotFacts *ret, Error *err) {
  Act act = act_on(on);
  *ret = (SnapshotFacts){0};
  const char *verb = strcmp(on.record->state, state_name(STATE_snapshotted)) == 0 ? "open" : "restore";
  if (!act_begin(&act, verb, GATE_ROLLBACK, on.plan->spec.budget.swap_lock, err)) return false;
  bool ok = in_place_quiet(on.engine, on.record, err) &&
            in_place_restore(on, act.writer, act.watch, on.plan->range, true, &ret->changed, err);
  act_end(&act);
  return ok;
}
