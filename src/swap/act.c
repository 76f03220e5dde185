#include <stdlib.h>
#include <string.h>

#include "base/doc.h"
#include "swap/swap_int.h"

/* Between two tries at the lock, in seconds: not all who wait come back at the same time. */
static const double SHORTEST_REST = 0.05, LONGEST_REST = 0.25;

double swap_longest_wait(const SpecBudget *budget) {
  return (double)budget->lock_tries * (budget->lock + LONGEST_REST);
}

/* Readers who follow each other without a gap are shut out for a moment in the last of the tries. */
enum { INSISTING_TRIES = 3 };

bool swap_begin(Engine *engine, EngineWriter *writer, TxnLimits limits, int most, LockRest *rest, void *context,
                int *refused, Error *err) {
  for (;;) {
    limits.insist = *refused + INSISTING_TRIES >= most;
    if (engine->ops->begin(writer, limits, err)) return true;
    if (err->code != ERR_LOCKED) return false;
    if (++*refused >= most) return error_wrap(err, "given up after %d tries", most);
    if (!rest(context, SHORTEST_REST + (LONGEST_REST - SHORTEST_REST) * (rand() % 1000) / 1000))
      return error_set(err, ERR_PAUSED, "stopped while waiting for the lock");
  }
}

static double with_retries(const Act *act, double need) {
  return act->plan == NULL || need <= 0 ? need : need + swap_longest_wait(&act->plan->spec.budget);
}

/* What is asked under the lock is asked once before, so that it is quick there: a token, a connection. */
static bool watch(Act *act, GateAct gate, Error *err) {
  if (gate != GATE_SWAP && gate != GATE_ROLLBACK) return true;
  return gate_watch_open(act->engine, act->plan, gate, false, &act->watch, err) && act_still_idle(act, err);
}

bool act_still_idle(Act *act, Error *err) {
  /* Others wait for the lock meanwhile, and the rest of its time is for the work. */
  const char *why = gate_watch_ask(act->watch, act->engine, act->plan->spec.budget.swap_lock / 2);
  if (why == NULL) return true;
  error_set(err, ERR_DENIED, "given up before anything was written: %s", why);
  return error_hint(err, "production is untouched: give the same command again when that run has ended");
}

static bool is_known(const Shape *shape, const ColumnFacts *column) {
  for (size_t i = 0; i < shape->n; i++)
    if (strcmp(shape->columns[i].name, column->name) == 0) return true;
  return column->generated;
}

bool act_no_new_column(Act *act, ErrorCode code, Error *err) {
  const Shape *shape = &act->plan->shape;
  TableFacts now = {0};
  if (shape->keyed) return true;
  if (!act->engine->ops->describe_table(act->engine, act->arena, shape->table, &now, err)) return false;
  for (size_t i = 0; i < now.n_columns; i++) {
    if (is_known(shape, &now.columns[i])) continue;
    error_set(err, code,
              "%s got the column “%s” meanwhile: it has no key, so whole dates would be replaced, and what stands in "
              "that column would be lost",
              shape->table, now.columns[i].name);
    return error_hint(err,
                      "production is untouched: take the column away first, or put rows right by hand as "
                      "tidegate runbook shows");
  }
  return true;
}

static bool allowed(const Act *act, const char *verb, Error *err) {
  return verb == NULL || ledger_allows(act->record, verb, err);
}

Act act_on(Backfill on) { return (Act){.arena = on.arena, .engine = on.engine, .record = on.record, .plan = on.plan}; }

bool act_begin(Act *act, const char *verb, GateAct gate, double need, Error *err) {
  Verdict verdict;
  const GatePass *pass;
  double ttl = act->plan == NULL ? 60 : 2 * act->plan->spec.budget.swap_lock + 30;
  if (!allowed(act, verb, err) || !ledger_lease(act->engine, act->record->id, ttl, &act->epoch, err)) return false;
  bool ok = ledger_reload(act->engine, act->arena, act->record, err) && allowed(act, verb, err) &&
            gate_judge(act->arena, act->engine, act->plan, gate, with_retries(act, need), &verdict, &pass, err) &&
            (pass != NULL || gate_deny(&verdict, err)) && watch(act, gate, err) &&
            act->engine->ops->writer_open(act->engine, pass, act->record->id, act->epoch, &act->writer, err);
  if (!ok) act_end(act);
  return ok;
}

void act_end(Act *act) {
  Error ignored;
  gate_watch_close(&act->watch);
  act->engine->ops->writer_close(act->writer);
  act->writer = NULL;
  if (act->epoch > 0) act->engine->ops->lease_drop(act->engine, act->record->id, act->epoch, &ignored);
  act->epoch = 0;
}

bool act_read_seal(Act *act, Error *err) {
  const DocNode *root;
  const char *seal = act->record->seal;
  if (seal == NULL) return error_set(err, ERR_STATE, "backfill %s was never sealed", act->record->id);
  if (!doc_parse(act->arena, "seal", seal, strlen(seal), &root, err)) return false;
  act->counts = (ChangeCounts){.inserts = doc_int(root, "inserts", 0),
                               .updates = doc_int(root, "updates", 0),
                               .deletes = doc_int(root, "deletes", 0),
                               .moves = doc_int(root, "moves", 0)};
  const Shape *shape = &act->plan->shape;
  const DocNode *columns = doc_get(root, "columns");
  act->columns = arena_array(act->arena, shape->n, sizeof *act->columns);
  for (size_t i = 0; columns != NULL && i < columns->n; i++)
    for (size_t k = 0; k < shape->n; k++)
      if (strcmp(shape->columns[k].name, columns->children[i].text) == 0) act->columns[k] = true;
  return true;
}

static bool rest_unless_stopped(void *context, double seconds) {
  const volatile sig_atomic_t *const *stop = context;
  if (*stop != NULL && **stop > 0) return false;
  clock_sleep(seconds);
  return true;
}

bool act_lock(Act *act, const char *fence, const volatile sig_atomic_t *stop, Error *err) {
  return act_lock_for(act, fence, act->plan->spec.budget.swap_lock, stop, err);
}

bool act_lock_for(Act *act, const char *fence, double hold, const volatile sig_atomic_t *stop, Error *err) {
  const SpecBudget *budget = &act->plan->spec.budget;
  TxnLimits limits = {.lock_wait = budget->lock, .fence = fence, .hold = hold};
  return swap_begin(act->engine, act->writer, limits, budget->lock_tries, rest_unless_stopped, &stop, &act->refused,
                    err);
}

bool act_try_again(Act *act, const volatile sig_atomic_t *stop, const Error *err) {
  if (err->code != ERR_LOCKED || ++act->refused >= act->plan->spec.budget.lock_tries) return false;
  act->engine->ops->abort(act->writer);
  return rest_unless_stopped(&stop, LONGEST_REST);
}

bool act_commit(Act *act, LedgerMove move, Error *err) {
  return ledger_commit(act->engine, act->arena, act->writer, act->record, move, err);
}

bool act_took_too_long(const Act *act, Error *err) {
  char limit[32];
  if (err->code != ERR_PAUSED) return false;
  duration_label(act->plan->spec.budget.swap_lock, limit);
  error_set(err, ERR_PAUSED, "it took longer than `budget: swap_lock` (%s) allows and was taken back whole", limit);
  return error_hint(err, "production is untouched: raise the limit or choose a smaller range, then try again");
}

Job act_whole_job(const Act *act) {
  size_t n;
  const Instant *dates = plan_dates(act->arena, act->plan, act->plan->range, &n);
  return plan_job(act->plan, dates, n);
}
