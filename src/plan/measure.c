#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "plan/plan_int.h"

/* What reading rows says: weights, keys, control, sources, space. */

enum {
  ROW_OVERHEAD = 24,    /* bytes a row takes beside its values: header, its key in an index, the date */
  COLUMN_GUESS = 16,    /* bytes a value takes, by and large */
  SPACE_BASE = 1000000, /* for the tables themselves and the ledger */
};

static bool go_on(const Interrupt *interrupt, Error *err) {
  if (interrupt == NULL || interrupt->go_on == NULL || interrupt->go_on(interrupt->context)) return true;
  return error_set(err, ERR_PAUSED, "stopped while planning: nothing was written");
}

/* The rows in which the change scope lets something change, as one condition; NULL: all of them. */
static const char *suspect_condition(Arena *arena, const Plan *plan) {
  BUF_SCOPED text = {0};
  if (plan->n_scope == 0) return NULL;
  for (size_t i = 0; i < plan->n_scope; i++) {
    if (plan->scope[i].kind == JOB_SCOPE_NEW) continue;
    if (plan->scope[i].where == NULL) return NULL;
    buf_printf(&text, "%s(%s\n)", text.len == 0 ? "" : " OR ", plan->scope[i].where);
  }
  return text.len == 0 ? "1 = 0" : arena_strdup(arena, buf_text(&text));
}

static int by_date(const void *left, const void *right) {
  const DateRecord *a = left, *b = right;
  return a->date < b->date ? -1 : a->date > b->date;
}

static bool measure_dates(Arena *arena, Engine *engine, Plan *plan, Error *err) {
  DateRecord *found;
  size_t n_found, n;
  const Instant *starts = plan_dates(arena, plan, plan->range, &n);
  if (!engine->ops->count_dates(engine, arena, &plan->shape, plan->range, suspect_condition(arena, plan), &found,
                                &n_found, &plan->null_dates, err))
    return error_wrap(err, "counting the rows of the range");
  plan->dates = arena_array(arena, n, sizeof *plan->dates);
  for (size_t i = 0; i < n; i++) plan->dates[i].date = starts[i];
  for (size_t i = 0; i < n_found; i++) {
    DateRecord *date = bsearch(&found[i], plan->dates, n, sizeof *found, by_date);
    if (date == NULL) return error_set(err, ERR_INTERNAL, "rows were counted for a date that is not of the range");
    date->expected = found[i].expected;
    date->suspect = found[i].suspect;
    plan->rows += found[i].expected;
    plan->suspects += found[i].suspect;
  }
  return true;
}

static bool measure_space(Engine *engine, Plan *plan, Error *err) {
  if (!engine->ops->space(engine, &plan->space, err)) return false;
  const PlanEstimate *estimate = &plan->estimate;
  double values = estimate->told ? estimate->whole.width : COLUMN_GUESS * (double)plan->shape.n;
  double row = ROW_OVERHEAD + values;
  double suspects = plan->rows == 0 ? estimate->rows : (double)plan->suspects; /* all of them are new then */
  double rows = 2.2 * suspects; /* old and new side by side, and the journal of writing them */
  if (plan->spec.full_shadow || plan->recompute == NULL) rows += 1.1 * estimate->rows;
  plan->space_needed = (int64_t)(row * rows) + SPACE_BASE;
  return true;
}

bool plan_count(Arena *arena, Engine *engine, Plan *plan, Error *err) {
  plan->rows = plan->suspects = 0;
  return engine->ops->now(engine, &plan->planned_at, err) && measure_dates(arena, engine, plan, err);
}

static int by_weight(const void *left, const void *right) {
  const DateRecord *a = left, *b = right;
  return a->expected < b->expected ? -1 : a->expected > b->expected;
}

/* By the engine's planner; below 0 where there is none. */
static double planned_seconds(const PlanEstimate *estimate) {
  return estimate->seconds < 0 || estimate->rows <= 0 ? -1 : estimate->seconds / estimate->rows;
}

bool plan_trial(Arena *arena, Engine *engine, Plan *plan, const Interrupt *interrupt, double *ret_seconds, Error *err) {
  const DateCodec *codec = &plan->shape.codec;
  DateRecord *dates = arena_array(arena, (size_t)plan->n_dates, sizeof *dates);
  BatchFacts facts;
  size_t n = 0;
  if (!plan_measure_estimate(arena, engine, plan, interrupt, err)) return false;
  *ret_seconds = planned_seconds(&plan->estimate);
  if (plan->estimate.told) return true;
  for (int64_t i = 0; i < plan->n_dates; i++)
    if (plan->dates[i].expected > 0) dates[n++] = plan->dates[i];
  if (n == 0 || plan->recompute == NULL) return true;
  qsort(dates, n, sizeof *dates, by_weight);
  const DateRecord *date = &dates[n / 2];
  Instant starts[2] = {date->date, grain_next(codec->grain, codec->zone, date->date)};
  Job job = plan_job(plan, starts, 1);
  double began = clock_seconds();
  if (!engine->ops->compare(engine, arena, &job, interrupt, &facts, err))
    return error_wrap(err, "recomputing one date for trial");
  *ret_seconds = (clock_seconds() - began) / (double)date->expected;
  return true;
}

bool plan_measure(Arena *arena, Engine *engine, Plan *plan, const Interrupt *interrupt, Error *err) {
  plan->null_keys = plan->duplicate_keys = 0;
  if (!plan_count(arena, engine, plan, err) || !go_on(interrupt, err)) return false;
  if (plan->shape.keyed &&
      !engine->ops->key_faults(engine, arena, &plan->shape, plan->range, &plan->duplicate_keys, &plan->null_keys, err))
    return error_wrap(err, "looking whether the key is one");
  if (!go_on(interrupt, err) || !plan_measure_control(arena, engine, plan, interrupt, err) || !go_on(interrupt, err) ||
      !plan_measure_estimate(arena, engine, plan, interrupt, err) || !go_on(interrupt, err) ||
      !plan_measure_way(arena, engine, plan, err) || !go_on(interrupt, err) ||
      !plan_measure_sources(arena, engine, plan, err) || !measure_space(engine, plan, err))
    return false;
  plan_measure_clock(arena, plan);
  plan_measure_dbt_checks(arena, engine, plan);
  plan->measured = true;
  return true;
}
