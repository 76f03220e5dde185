#include "swap/swap_int.h"

static bool refresh(Act *act, const char *view, const char *what, const char *detail, RefreshFacts *ret, Error *err) {
  const EngineOps *ops = act->engine->ops;
  bool ok = act_still_idle(act, err) && ops->refresh(act->writer, view, &ret->readers_went_on, err) &&
            ops->ledger_event(act->engine, act->record->id, ledger_owner(), what, detail, err);
  return engine_end(act->engine, act->writer, ok, err);
}

bool swap_refresh(Backfill on, const char *view, const char *what, const char *detail,
                  const volatile sig_atomic_t *stop, RefreshFacts *ret, Error *err) {
  Act act = act_on(on);
  const SpecBudget *budget = &on.plan->spec.budget;
  *ret = (RefreshFacts){0};
  if (on.engine->ops->refresh == NULL)
    return error_set(err, ERR_NOT_FOUND, "this engine has no materialized views: %s cannot be refreshed", view);
  if (!act_begin(&act, NULL, GATE_SWAP, budget->statement, err)) return false;
  double began = clock_seconds();
  bool ok = false;
  while (!ok) {
    if (!act_lock_for(&act, NULL, budget->statement, stop, err)) break;
    ok = refresh(&act, view, what, detail, ret, err);
    if (!ok && !act_try_again(&act, stop, err)) break;
  }
  ret->seconds = clock_seconds() - began;
  act_end(&act);
  return ok;
}
