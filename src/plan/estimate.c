#include <stdlib.h>

#include "base/clock.h"
#include "plan/plan_int.h"

/*
 * What the whole is expected to cost before a batch is measured: the time of one date recomputed for trial, times the
 * ratio of what the engine's planner expects of the range and of that date, or of their rows. Once batches are written,
 * their own speed counts (src/run/forecast.c).
 */

/* Measured on the workload of bench/, whose rows are 37 bytes wide: bytes of WAL a changed row, beside its values. */
static const double CHANGE_WAL = 440;
/* The change set holds its old and its new values, production the new ones. */
static const double CHANGE_COPIES = 3;
/* A row that is exchanged along is written once, and so are its keys in two indexes. */
static const double EXCHANGE_WAL = 93;
/* Bytes a row takes in its page, beside its values. */
static const double ROW_HEADER = 28;

/* A scan of fewer rows is no cost that a person would feel in every batch. */
static const double SCAN_ROWS = 100000;
/* … nor one of which so much as the inverse of this is needed, nor where there are fewer dates. */
static const double SCAN_WASTE = 4;

static int by_weight(const void *left, const void *right) {
  const DateRecord *a = left, *b = right;
  if (a->expected != b->expected) return a->expected < b->expected ? -1 : 1;
  return a->date < b->date ? -1 : a->date > b->date;
}

/* Of the dates in which a change is expected the one of median weight; where production has no rows, the middle one. */
static const DateRecord *trial_date(Arena *arena, const Plan *plan) {
  DateRecord *dates = arena_array(arena, (size_t)plan->n_dates, sizeof *dates);
  size_t n = 0;
  for (int64_t i = 0; i < plan->n_dates; i++)
    if (plan->dates[i].suspect > 0) dates[n++] = plan->dates[i];
  if (n == 0) return plan->rows == 0 && plan->n_dates > 0 ? &plan->dates[plan->n_dates / 2] : NULL;
  qsort(dates, n, sizeof *dates, by_weight);
  return &dates[n / 2];
}

/* No change set is there yet: a recompute that reads the target sees production as it is. */
static Job recompute_of(const Plan *plan, const Instant *dates, size_t n) {
  Job job = plan_job(plan, dates, n);
  job.overlay = false;
  return job;
}

static bool try_date(Arena *arena, Engine *engine, Plan *plan, const Job *job, const DateRecord *date,
                     const Interrupt *interrupt, Error *err) {
  PlanEstimate *estimate = &plan->estimate;
  BatchFacts facts;
  Error failed;
  double began = clock_seconds();
  if (!engine->ops->compare(engine, arena, job, interrupt, &facts, &failed)) {
    *err = failed;
    if (failed.code != ERR_HELD) return error_wrap(err, "recomputing one date for trial");
    plan_warn(arena, plan, "one date could not be recomputed for trial: %s", failed.message);
    return true;
  }
  int64_t rows = facts.rows > date->expected ? facts.rows : date->expected;
  estimate->trial_seconds = clock_seconds() - began;
  estimate->trial_rows = facts.rows;
  if (rows > 0 && date->expected > 0) estimate->share = (double)facts.changes / (double)rows;
  return true;
}

static const ScanFacts *scan_of(const EstimateFacts *facts, const char *table) {
  for (size_t i = 0; i < facts->n_scans; i++)
    if (plan_same_table(facts->scans[i].table, table)) return &facts->scans[i];
  return NULL;
}

/* What one date reads from end to end, every batch reads so, however few dates it has. */
static void warn_of_scans(Arena *arena, Plan *plan) {
  const PlanEstimate *estimate = &plan->estimate;
  for (size_t i = 0; i < estimate->one.n_scans && (double)plan->n_dates >= SCAN_WASTE; i++) {
    const ScanFacts *scan = &estimate->one.scans[i], *whole = scan_of(&estimate->whole, scan->table);
    bool sifted = scan->kept * SCAN_WASTE < scan->rows;
    if (scan->rows < SCAN_ROWS || (!sifted && (whole == NULL || whole->rows > scan->rows))) continue;
    plan_warn(arena, plan,
              "every batch reads about %.0f rows of %s from end to end (Seq Scan), however few dates it has%s",
              scan->rows, scan->table,
              sifted ? ": an index on the column by which the recompute chooses the dates would spare that"
                     : ": the recompute needs them for each of its dates");
  }
}

/* Joining and writing grows by the rows, recomputing by the planner's cost: where that hardly grows, every batch pays
 * the fixed part of it again. So the larger ratio counts. */
static double times_the_trial(const PlanEstimate *estimate) {
  double cost = estimate->whole.cost / estimate->one.cost;
  double rows = estimate->trial_rows > 0 ? estimate->rows / (double)estimate->trial_rows : 1;
  return cost > rows ? cost : rows;
}

static void reckon(Plan *plan) {
  PlanEstimate *estimate = &plan->estimate;
  double changed = estimate->rows * estimate->share;
  if (estimate->trial_seconds >= 0 && estimate->one.cost > 0)
    estimate->seconds = estimate->trial_seconds * times_the_trial(estimate);
  estimate->wal = changed * plan_change_wal(plan);
  estimate->full_pages = changed * (estimate->whole.width + ROW_HEADER);
}

double plan_change_wal(const Plan *plan) { return CHANGE_WAL + CHANGE_COPIES * plan->estimate.whole.width; }

double plan_exchange_wal(const Plan *plan) { return EXCHANGE_WAL + plan->estimate.whole.width; }

/* A value that does not fit its column may be met while planning already: the run says which, the plan goes on. */
static bool ask_planner(Arena *arena, Engine *engine, Plan *plan, const Job *job, EstimateFacts *ret, bool *ret_told,
                        Error *err) {
  Error failed;
  *ret_told = engine->ops->estimate(engine, arena, job, ret, &failed);
  if (*ret_told) return true;
  *err = failed;
  if (failed.code != ERR_HELD) return false;
  plan_warn(arena, plan, "what the recompute will cost is not known: %s", failed.message);
  return true;
}

static bool try_one(Arena *arena, Engine *engine, Plan *plan, const DateRecord *date, const Interrupt *interrupt,
                    Error *err) {
  const DateCodec *codec = &plan->shape.codec;
  const Instant dates[2] = {date->date, grain_next(codec->grain, codec->zone, date->date)};
  Job job = recompute_of(plan, dates, 1);
  bool told;
  plan->estimate.date = date->date;
  if (!ask_planner(arena, engine, plan, &job, &plan->estimate.one, &told, err)) return false;
  if (!told) return true;
  if (!try_date(arena, engine, plan, &job, date, interrupt, err)) return false;
  warn_of_scans(arena, plan);
  return true;
}

bool plan_measure_estimate(Arena *arena, Engine *engine, Plan *plan, const Interrupt *interrupt, Error *err) {
  PlanEstimate *estimate = &plan->estimate;
  size_t n;
  *estimate = (PlanEstimate){.seconds = -1, .trial_seconds = -1, .share = 1, .rows = (double)plan->rows};
  if (engine->ops->estimate == NULL || plan->recompute == NULL) return true;
  const Instant *dates = plan_dates(arena, plan, plan->range, &n);
  Job whole = recompute_of(plan, dates, n);
  if (!ask_planner(arena, engine, plan, &whole, &estimate->whole, &estimate->told, err)) return false;
  if (!estimate->told) return true;
  if (plan->rows == 0) estimate->rows = estimate->whole.rows;
  const DateRecord *date = trial_date(arena, plan);
  if (date != NULL && !try_one(arena, engine, plan, date, interrupt, err)) return false;
  reckon(plan);
  return true;
}

void plan_json_estimate(const Plan *plan, Json *json) {
  const PlanEstimate *estimate = &plan->estimate;
  if (!estimate->told) {
    json_null(json, "estimate");
    return;
  }
  json_object(json, "estimate");
  json_real(json, "rows", estimate->whole.rows);
  json_real(json, "row_bytes", estimate->whole.width);
  json_real(json, "cost", estimate->whole.cost);
  if (estimate->trial_seconds >= 0) {
    json_object(json, "trial");
    plan_json_date(plan, json, "date", estimate->date);
    json_int(json, "rows", estimate->trial_rows);
    json_real(json, "seconds", estimate->trial_seconds);
    json_real(json, "cost", estimate->one.cost);
    json_object_end(json);
    json_real(json, "changed_share", estimate->share);
    json_real(json, "seconds", estimate->seconds);
    json_real(json, "wal_bytes", estimate->wal);
    json_real(json, "full_page_bytes", estimate->full_pages);
  }
  json_array(json, "scans");
  for (size_t i = 0; i < estimate->one.n_scans; i++) {
    json_object(json, NULL);
    json_text(json, "table", estimate->one.scans[i].table);
    json_real(json, "rows", estimate->one.scans[i].rows);
    json_object_end(json);
  }
  json_array_end(json);
  json_object_end(json);
}
