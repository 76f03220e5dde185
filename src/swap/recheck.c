#include <string.h>

#include "swap/swap_int.h"

bool recheck_init(Act *act, Recheck *recheck, Error *err) {
  const EngineOps *ops = act->engine->ops;
  if (!ops->ledger_batches(act->engine, act->arena, act->record->id, &recheck->batches, &recheck->n_batches, err) ||
      !ops->ledger_dates(act->engine, act->arena, act->record->id, &recheck->dates, &recheck->n_dates, err))
    return false;
  recheck->tokens = arena_array(act->arena, recheck->n_batches, sizeof *recheck->tokens);
  for (size_t i = 0; i < recheck->n_batches; i++) recheck->tokens[i] = recheck->batches[i].token;
  return true;
}

bool recheck_holds(const Recheck *recheck, const char *token) {
  for (size_t i = 0; i < recheck->n_batches; i++)
    if (recheck->tokens[i] == NULL || strcmp(recheck->tokens[i], token) != 0) return false;
  return true;
}

static const DateRecord *date_record(const Recheck *recheck, Instant date) {
  for (size_t low = 0, high = recheck->n_dates; low < high;) {
    size_t middle = low + (high - low) / 2;
    if (recheck->dates[middle].date == date) return &recheck->dates[middle];
    if (recheck->dates[middle].date < date)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

/* Production by its fingerprint; the sources by the fingerprint of what the recompute makes of them now. */
static const char *what_drifted(const Recheck *recheck, const BatchFacts *facts) {
  for (size_t i = 0; i < facts->n; i++) {
    const DateRecord *then = date_record(recheck, facts->dates[i].date);
    if (then == NULL || !fingerprint_equal(&then->production, &facts->dates[i].production)) return "production";
    if (!fingerprint_equal(&then->stable, &facts->dates[i].stable)) return "a source of the recompute";
  }
  for (size_t i = 0; i < facts->n_findings; i++)
    if (facts->findings[i].kind == FINDING_ROW_CHECK) return "what a check reads";
  return NULL;
}

bool recheck_look(Act *act, Recheck *recheck, DateRange *ret_drift, const char **ret_what, Error *err) {
  const EngineOps *ops = act->engine->ops;
  const char *now;
  *ret_drift = (DateRange){0, 0};
  if (!ops->change_token(act->engine, act->arena, &now, err)) return false;
  for (size_t i = 0; i < recheck->n_batches; i++) {
    const BatchRecord *batch = &recheck->batches[i];
    ARENA_SCOPED arena = {0};
    BatchFacts facts;
    size_t n;
    if (recheck->tokens[i] != NULL && strcmp(recheck->tokens[i], now) == 0) continue;
    const Instant *dates = plan_dates(&arena, act->plan, (DateRange){batch->from, batch->to}, &n);
    Job job = plan_job(act->plan, dates, n);
    job.fingerprint_only = job.n_row_checks == 0; /* a check may read what changes, like a list of the erased */
    if (!ops->compare(act->engine, &arena, &job, NULL, &facts, err)) return false;
    *ret_what = what_drifted(recheck, &facts);
    if (*ret_what != NULL) {
      *ret_drift = (DateRange){batch->from, batch->to};
      return true;
    }
    recheck->tokens[i] = arena_strdup(act->arena, facts.token);
  }
  return true;
}
