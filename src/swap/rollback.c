#include <inttypes.h>

#include "swap/swap_int.h"

enum { CONFLICT_EXAMPLES = 20 };

/* Rows that stand in the range beyond what the swap left, date by date. */
static bool count_arrived(Act *act, int64_t *ret, Error *err) {
  ARENA_SCOPED arena = {0};
  const DateRecord *dates;
  const DateFacts *facts;
  size_t n, n_facts, k = 0;
  *ret = 0;
  if (!act->engine->ops->ledger_dates(act->engine, &arena, act->record->id, &dates, &n, err) ||
      !act->engine->ops->fingerprint(act->engine, &arena, &act->plan->shape, act->plan->range, &facts, &n_facts, err))
    return false;
  for (size_t i = 0; i < n; i++) {
    while (k < n_facts && facts[k].date < dates[i].date) k++;
    int64_t now = k < n_facts && facts[k].date == dates[i].date ? facts[k].production.rows : 0;
    if (now > dates[i].recomputed.rows) *ret += now - dates[i].recomputed.rows;
  }
  return true;
}

static const char *decision(LaterRows later) {
  return later == LATER_KEEP        ? "later rows kept"
         : later == LATER_OVERWRITE ? "later rows overwritten"
                                    : "no later rows";
}

/* Is every row that the swap published still kept? */
static bool kept_whole(Act *act, Error *err) {
  ChangeCounts kept, *sealed = &act->counts;
  if (!act->engine->ops->change_counts(act->engine, &act->plan->shape, act->record->id, &kept, err)) return false;
  if (kept.inserts == sealed->inserts && kept.updates == sealed->updates && kept.deletes == sealed->deletes &&
      kept.moves == sealed->moves)
    return true;
  return error_set(err, ERR_DATABASE, "the kept rows are not those that the swap kept: nothing was rolled back");
}

static bool rollback(Act *act, LaterRows later, const volatile sig_atomic_t *stop, RollbackFacts *ret, Error *err) {
  const EngineOps *ops = act->engine->ops;
  const Shape *shape = &act->plan->shape;
  if (!count_arrived(act, &ret->arrived, err) ||
      !ops->conflicts(act->engine, act->arena, shape, act->record->id, CONFLICT_EXAMPLES, &ret->conflicts, err))
    return false;
  double locked;
  for (;;) {
    if (!act_lock(act, shape->table, stop, err)) return false;
    locked = clock_seconds();
    if (act_still_idle(act, err) && act_no_new_column(act, ERR_CONFLICT, err) && kept_whole(act, err) &&
        ops->revert(act->writer, shape, act->columns, later, act->plan->spec.triggers == TRIGGERS_SKIP, &ret->left,
                    err))
      break;
    if (act_try_again(act, stop, err)) continue;
    ops->abort(act->writer);
    return act_took_too_long(act, err);
  }
  const char *reason = arena_printf(act->arena, "%s; %" PRId64 " rows left as they are", decision(later), ret->left);
  if (!act_commit(act, (LedgerMove){.verb = "rollback", .reason = reason}, err)) return false;
  ret->lock_seconds = clock_seconds() - locked;
  ret->restored = act->counts.inserts + act->counts.updates + act->counts.deletes + act->counts.moves - ret->left;
  return true;
}

bool swap_rollback(Backfill on, LaterRows later, const volatile sig_atomic_t *stop, RollbackFacts *ret, Error *err) {
  Act act = act_on(on);
  *ret = (RollbackFacts){0};
  if (!act_begin(&act, "rollback", GATE_ROLLBACK, on.plan->spec.budget.swap_lock, err)) return false;
  bool ok = act_read_seal(&act, err) && rollback(&act, later, stop, ret, err);
  act_end(&act);
  return ok;
}
