#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "swap/swap_int.h"

/*
 * Outside the lock production and sources are held against their fingerprints; under the lock it is to be proven that
 * nothing changed since. Where others keep writing, so that nothing can be proven, the fingerprints themselves are
 * looked at under the lock after this many attempts.
 */
enum { RECHECKS_OUTSIDE = 3 };

/* The dates that drifted go back to building, and everything else stays. */
static bool back_to_building(Act *act, DateRange drift, const char *what, Error *err) {
  char label[96];
  const Shape *shape = &act->plan->shape;
  date_range_label(&drift, shape->codec.grain, shape->codec.zone, label);
  const char *reason = arena_printf(act->arena, "%s changed after %s was recomputed", what, label);
  act->engine->ops->abort(act->writer);
  act->refused = 0;
  if (!act_lock(act, NULL, NULL, err)) return false;
  if (!act->engine->ops->forget(act->writer, shape, drift, err)) {
    act->engine->ops->abort(act->writer);
    return false;
  }
  if (!act_commit(act, (LedgerMove){.verb = "drift", .reason = reason}, err)) return false;
  error_set(err, ERR_DRIFT, "%s: nothing was published", reason);
  return error_hint(err, "recompute those dates and swap again: tidegate run %s", act->record->id);
}

/* Takes the lock with everything proven unchanged. False with ERR_DRIFT when something is not. */
static bool lock_unchanged(Act *act, Recheck *recheck, const volatile sig_atomic_t *stop, double *ret_locked,
                           Error *err) {
  const EngineOps *ops = act->engine->ops;
  for (int attempt = 1;; attempt++) {
    DateRange drift;
    const char *what;
    bool holds, under_lock = attempt > RECHECKS_OUTSIDE;
    if (!under_lock) {
      if (!recheck_look(act, recheck, &drift, &what, err)) return false;
      if (drift.from != drift.to) return back_to_building(act, drift, what, err);
    }
    if (!act_lock(act, act->plan->shape.table, stop, err)) return false;
    *ret_locked = clock_seconds();
    bool ok = recheck_holds(act, recheck, &holds, err);
    if (ok && holds) return true;
    if (ok && under_lock) {
      ok = recheck_look(act, recheck, &drift, &what, err);
      if (ok && drift.from == drift.to) return true;
      if (ok) return back_to_building(act, drift, what, err);
    }
    ops->abort(act->writer);
    if (!ok) return false;
  }
}

static const char *swap_json(Act *act, double lock_seconds) {
  BUF_SCOPED out = {0};
  Json json = {.out = &out};
  json_object(&json, NULL);
  json_int(&json, "inserts", act->counts.inserts);
  json_int(&json, "updates", act->counts.updates);
  json_int(&json, "deletes", act->counts.deletes);
  json_int(&json, "moves", act->counts.moves);
  json_real(&json, "lock_seconds", lock_seconds);
  json_object_end(&json);
  return arena_strdup(act->arena, buf_text(&out));
}

/* Production refused a row, or a count was not as sealed: the transaction is gone, and so is nothing else. */
static bool refused(Act *act, Error *err) {
  Error refusal = *err;
  if (refusal.code == ERR_DRIFT)
    return back_to_building(act, act->plan->range,
                            act->plan->shape.way != WAY_CHANGES ? "what stands beside production" : "production", err);
  act->engine->ops->abort(act->writer);
  act->refused = 0;
  if (refusal.code != ERR_HELD || !act_lock(act, NULL, NULL, err) ||
      !act_commit(act, (LedgerMove){.verb = "hold", .reason = refusal.message}, err)) {
    *err = refusal;
    return act_took_too_long(act, err);
  }
  *err = refusal;
  return error_hint(err, "production is untouched. Put the cause right and try again: tidegate run %s",
                    act->record->id);
}

/*
 * Is production what was recomputed? The exact counts and the fingerprints under the lock prove it, unless triggers
 * fired that may have written other values: then every row of the change set is looked at before it is committed.
 */
static bool as_sealed(Act *act, Error *err) {
  Conflicts conflicts = {0};
  const Plan *plan = act->plan;
  if (plan->n_triggers == 0 || plan->spec.triggers != TRIGGERS_FIRE) return true;
  if (!act->engine->ops->conflicts(act->engine, act->arena, &plan->shape, act->record->id, 0, &conflicts, err))
    return false;
  return conflicts.count == 0 ||
         error_set(err, ERR_HELD, "triggers of %s wrote other values than were sealed, in %" PRId64 " rows",
                   plan->shape.table, conflicts.count);
}

static bool publish(Act *act, const volatile sig_atomic_t *stop, SwapFacts *ret, Error *err) {
  const EngineOps *ops = act->engine->ops;
  const Shape *shape = &act->plan->shape;
  Recheck recheck = {0};
  double locked = 0;
  if (!recheck_init(act, &recheck, err)) return false;
  for (;;) {
    if (!lock_unchanged(act, &recheck, stop, &locked, err)) return false;
    if (!act_still_idle(act, err) || !act_no_new_column(act, ERR_SUPERSEDED, err)) {
      ops->abort(act->writer);
      return false;
    }
    if (ops->apply(act->writer, shape, act->columns, act->counts, act->plan->spec.triggers == TRIGGERS_SKIP, err) &&
        as_sealed(act, err))
      break;
    if (!act_try_again(act, stop, err)) return refused(act, err);
  }
  LedgerMove swapped = {.verb = "swap", .doc = "swap", .json = swap_json(act, clock_seconds() - locked)};
  if (!act_commit(act, swapped, err)) return false;
  ret->lock_seconds = clock_seconds() - locked;
  ret->counts = act->counts;
  ret->tries = act->refused + 1;
  Error ignored; /* it is published, whatever else cannot be asked now */
  if (!ops->now(act->engine, &ret->at, &ignored)) ret->at = (Instant)time(NULL);
  return true;
}

/* After a rollback the same sealed change set may be published again. */
static bool reopen(Act *act, Error *err) {
  if (strcmp(act->record->state, state_name(STATE_rolled_back)) != 0) return true;
  return act_lock(act, NULL, NULL, err) && act_commit(act, (LedgerMove){.verb = "reopen"}, err);
}

bool swap_publish(Backfill on, const volatile sig_atomic_t *stop, SwapFacts *ret, Error *err) {
  Act act = act_on(on);
  *ret = (SwapFacts){0};
  const char *verb = strcmp(on.record->state, state_name(STATE_rolled_back)) == 0 ? "reopen" : "swap";
  if (on.plan->changed != NULL) {
    error_set(err, ERR_SUPERSEDED, "nothing was published: %s", on.plan->changed);
    return error_hint(err, "tidegate discard %s, then plan again", on.record->id);
  }
  if (!act_begin(&act, verb, GATE_SWAP, on.plan->spec.budget.swap_lock, err)) return false;
  bool ok = act_read_seal(&act, err) && reopen(&act, err) && publish(&act, stop, ret, err);
  ret->verified = ok;
  act_end(&act);
  return ok;
}
