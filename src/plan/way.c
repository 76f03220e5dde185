#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/doc.h"
#include "plan/plan_int.h"

/*
 * How the swap publishes: row by row from the change set, or by exchanging whole partitions. A date that is recomputed
 * for trial says how many rows change and how long a row takes.
 */

/* Measured on the workload of bench/ (docs/decisions): from this share of changed rows on the exchange is cheaper. */
static const double EXCHANGE_SHARE = 0.2;
/* … as long as the range is at least this much of the partitions: what is not of it must be copied along. */
static const double LEAST_COVERED = 0.5;

/* Measured there too: seconds and bytes of WAL a row, beside the recompute. */
static const double CHANGE_SECONDS = 4.5e-6, CHANGE_WAL = 550;
static const double EXCHANGE_SECONDS = 1.8e-6, EXCHANGE_WAL = 130;
static const double EXCHANGE_LOCK = 0.05, COUNT_SECONDS = 1.5e-7;

/* The lightest date in which a change is expected. */
static const DateRecord *trial_date(const Plan *plan) {
  const DateRecord *best = NULL;
  for (int64_t i = 0; i < plan->n_dates; i++) {
    const DateRecord *date = &plan->dates[i];
    if (date->suspect > 0 && (best == NULL || date->expected < best->expected)) best = date;
  }
  return best;
}

static bool try_a_date(Arena *arena, Engine *engine, Plan *plan, const Interrupt *interrupt, double *ret_seconds,
                       Error *err) {
  const DateRecord *date = trial_date(plan);
  BatchFacts facts;
  plan->way.share = 1;
  *ret_seconds = 0;
  if (date == NULL) return true; /* the dates are missing: every row is new */
  const DateCodec *codec = &plan->shape.codec;
  Instant dates[2] = {date->date, grain_next(codec->grain, codec->zone, date->date)};
  Job job = plan_job(plan, dates, 1);
  double began = clock_seconds();
  if (!engine->ops->compare(engine, arena, &job, interrupt, &facts, err))
    return error_wrap(err, "recomputing one date for trial");
  int64_t rows = facts.rows > date->expected ? facts.rows : date->expected;
  if (rows > 0) {
    plan->way.share = (double)facts.changes / (double)rows;
    *ret_seconds = (clock_seconds() - began) / (double)rows;
  }
  return true;
}

static void estimate(Plan *plan, double recompute_seconds) {
  PlanWay *way = &plan->way;
  double rows = (double)plan->rows, changed = way->share * rows, whole = (double)way->exchange.rows;
  way->changes = (WayCost){.seconds = rows * recompute_seconds + changed * CHANGE_SECONDS,
                           .lock = changed * CHANGE_SECONDS + rows * COUNT_SECONDS,
                           .wal = changed * CHANGE_WAL};
  way->exchanged = (WayCost){.seconds = rows * recompute_seconds + whole * EXCHANGE_SECONDS,
                             .lock = EXCHANGE_LOCK + rows * COUNT_SECONDS,
                             .wal = whole * EXCHANGE_WAL};
}

static bool wanted_in_vain(const Plan *plan, Error *err) {
  if (plan->spec.publish != PUBLISH_EXCHANGE || plan->shape.exchange) return true;
  spec_error(err, &plan->spec.target.place, "`publish: exchange` is not possible for %s: %s", plan->shape.table,
             plan->way.why);
  return error_hint(err, "leave `publish` out: the changes are then published row by row");
}

bool plan_measure_way(Arena *arena, Engine *engine, Plan *plan, const Interrupt *interrupt, Error *err) {
  PlanWay *way = &plan->way;
  double seconds = 0;
  *way = (PlanWay){.why = "this engine has no partitions to exchange"};
  plan->shape.exchange = false;
  if (plan->spec.publish == PUBLISH_CHANGES) way->why = "`publish: changes`";
  if (plan->recompute == NULL || plan->spec.full_shadow) way->why = "a full shadow is compared row by row";
  if (plan->overlay) way->why = "the recompute reads the table itself";
  bool possible = engine->ops->exchange_facts != NULL && plan->spec.publish != PUBLISH_CHANGES && !plan->overlay &&
                  plan->recompute != NULL && !plan->spec.full_shadow;
  if (possible && !engine->ops->exchange_facts(engine, arena, &plan->shape, plan->range,
                                               plan->spec.triggers == TRIGGERS_SKIP, &way->exchange, err))
    return error_wrap(err, "looking whether partitions can be exchanged");
  if (possible && way->exchange.why_not != NULL) {
    way->why = way->exchange.why_not;
    possible = false;
  }
  if (!possible) return wanted_in_vain(plan, err);
  if (!try_a_date(arena, engine, plan, interrupt, &seconds, err)) return false;
  estimate(plan, seconds);
  bool few = way->share < EXCHANGE_SHARE;
  bool far = way->exchange.covered < LEAST_COVERED;
  plan->shape.exchange = plan->spec.publish == PUBLISH_EXCHANGE || (!few && !far);
  way->why = few   ? arena_printf(arena, "%.1f %% of the rows change", way->share * 100)
             : far ? "most of the partitions is not of the range"
                   : arena_printf(arena, "%.0f %% of the rows change, and nothing is lost by it", way->share * 100);
  return true;
}

static void put_cost(Json *json, const char *name, const WayCost *cost) {
  json_object(json, name);
  json_real(json, "seconds", cost->seconds);
  json_real(json, "lock_seconds", cost->lock);
  json_real(json, "wal_bytes", cost->wal);
  json_object_end(json);
}

void plan_json_way(const Plan *plan, Json *json) {
  const PlanWay *way = &plan->way;
  json_object(json, "publish");
  json_text(json, "way", plan->shape.exchange ? "exchange" : "changes");
  json_text(json, "why", way->why);
  if (way->exchange.partitions > 0) {
    json_real(json, "changed_share", way->share);
    json_int(json, "partitions", way->exchange.partitions);
    json_int(json, "partition_rows", way->exchange.rows);
    put_cost(json, "changes", &way->changes);
    put_cost(json, "exchange", &way->exchanged);
    plan_json_texts(json, "checked", way->exchange.checked, way->exchange.n_checked);
  }
  json_object_end(json);
}

bool plan_load_way(Arena *arena, const BackfillRecord *record, Plan *plan, Error *err) {
  const DocNode *root;
  if (record->plan == NULL) return true;
  if (!doc_parse(arena, "plan", record->plan, strlen(record->plan), &root, err)) return false;
  const DocNode *publish = doc_get(root, "publish"), *way = publish == NULL ? NULL : doc_get(publish, "way");
  plan->shape.exchange = way != NULL && strcmp(way->text, "exchange") == 0;
  return true;
}
