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

/* Is it proven that nothing of the dates [from, to) changed since `token`? */
static bool proven(Act *act, const Recheck *recheck, DateRange range, const char *token, bool *ret, Error *err) {
  ARENA_SCOPED arena = {0};
  Unchanged unchanged;
  int64_t rows = 0;
  size_t n;
  const Instant *dates = plan_dates(&arena, act->plan, range, &n);
  Job job = plan_job(act->plan, dates, n);
  *ret = false;
  if (token == NULL) return true;
  for (size_t i = 0; i < recheck->n_dates; i++) {
    const DateRecord *date = &recheck->dates[i];
    if (date->date >= range.from && date->date < range.to) rows += date->production.rows;
  }
  if (!act->engine->ops->unchanged(act->engine, &job, token, rows, &unchanged, err)) return false;
  *ret = unchanged.production && unchanged.sources;
  return true;
}

/* One token for all: the batches, which are the whole range, are asked about at once. */
static bool all_seen_at_once(const Recheck *recheck) {
  for (size_t i = 0; i < recheck->n_batches; i++)
    if (recheck->tokens[i] == NULL || strcmp(recheck->tokens[i], recheck->tokens[0]) != 0) return false;
  return recheck->n_batches > 0;
}

bool recheck_holds(Act *act, const Recheck *recheck, bool *ret, Error *err) {
  if (all_seen_at_once(recheck)) return proven(act, recheck, act->plan->range, recheck->tokens[0], ret, err);
  *ret = true;
  for (size_t i = 0; i < recheck->n_batches && *ret; i++) {
    DateRange range = {recheck->batches[i].from, recheck->batches[i].to};
    if (!proven(act, recheck, range, recheck->tokens[i], ret, err)) return false;
  }
  return true;
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
    bool same;
    DateRange range = {batch->from, batch->to};
    if (!proven(act, recheck, range, recheck->tokens[i], &same, err)) return false;
    if (same) {
      recheck->tokens[i] = now; /* it was seen at a time not before */
      continue;
    }
    const Instant *dates = plan_dates(&arena, act->plan, range, &n);
    Job job = plan_job(act->plan, dates, n);
    job.fingerprint_only = job.n_row_checks == 0; /* a check may read what changes, like a list of the erased */
    if (!ops->compare(act->engine, &arena, &job, NULL, &facts, err)) return false;
    *ret_what = what_drifted(recheck, &facts);
    if (*ret_what != NULL) {
      *ret_drift = range;
      return true;
    }
    recheck->tokens[i] = arena_strdup(act->arena, facts.token);
  }
  return true;
}
