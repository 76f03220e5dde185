#include <string.h>

#include "base/doc.h"
#include "plan/plan_int.h"

/*
 * How the swap publishes: row by row from the change set, by exchanging whole partitions, or by replacing every row of
 * the range. plan->estimate says how many rows change and how long the recompute takes.
 */

/* Measured on the workload of bench/ (docs/decisions): from this share of changed rows on the exchange is cheaper. */
static const double EXCHANGE_SHARE = 0.2;
/* … as long as the range is at least this much of the partitions: what is not of it must be copied along. */
static const double LEAST_COVERED = 0.5;

/* From this share on replacing every row is cheaper than updating those that change; of fewer rows neither is felt. */
static const double REPLACE_SHARE = 0.8;
static const int64_t REPLACE_ROWS = 10000;

/* Measured there too: seconds a row, beside the recompute. */
static const double CHANGE_SECONDS = 6.2e-6, CHANGE_LOCK = 4.2e-6, EXCHANGE_SECONDS = 1.8e-6;
static const double REPLACE_SECONDS = 4e-6, REPLACE_LOCK = 3.5e-6;
static const double EXCHANGE_LOCK = 0.05, COUNT_SECONDS = 1.5e-7;

static void estimate(Plan *plan) {
  PlanWay *way = &plan->way;
  double rows = plan->estimate.rows, changed = plan->estimate.share * rows, whole = (double)way->exchange.rows;
  double recompute = plan->estimate.seconds > 0 ? plan->estimate.seconds : 0;
  way->changes = (WayCost){.seconds = recompute + changed * CHANGE_SECONDS,
                           .lock = changed * CHANGE_LOCK + rows * COUNT_SECONDS,
                           .wal = changed * plan_change_wal(plan)};
  way->exchanged = (WayCost){.seconds = recompute + whole * EXCHANGE_SECONDS,
                             .lock = EXCHANGE_LOCK + rows * COUNT_SECONDS,
                             .wal = whole * plan_exchange_wal(plan)};
  way->replaced = (WayCost){.seconds = recompute + rows * REPLACE_SECONDS,
                            .lock = rows * (REPLACE_LOCK + COUNT_SECONDS),
                            .wal = rows * plan_change_wal(plan)};
}

/* A swap that needs its lock for longer than it may have it is given up: better told before the work than after it. */
static void warn_of_lock(Arena *arena, Plan *plan) {
  const PlanWay *way = &plan->way;
  const WayCost *costs[] = {
      [WAY_CHANGES] = &way->changes, [WAY_EXCHANGE] = &way->exchanged, [WAY_REPLACE] = &way->replaced};
  double lock = costs[plan->shape.way]->lock, most = plan->spec.budget.swap_lock;
  char needed[32], given[32];
  if (lock <= most) return;
  duration_label(lock, needed);
  duration_label(most, given);
  plan_warn(arena, plan,
            "the swap is expected to hold its lock for about %s, and `budget: swap_lock` gives it up after %s: give it "
            "more, or backfill the range in parts",
            needed, given);
}

/* Why nothing but row by row can be, before the engine is asked; NULL: it may be. */
static const char *ruled_out(const Plan *plan) {
  if (plan->overlay) return "the recompute reads the table itself";
  if (plan->recompute == NULL || plan->spec.full_shadow) return "a full shadow is compared row by row";
  return plan->spec.publish == PUBLISH_CHANGES ? "`publish: changes`" : NULL;
}

static bool look_at_exchange(Arena *arena, Engine *engine, Plan *plan, bool *ret, Error *err) {
  PlanWay *way = &plan->way;
  *ret = false;
  if (engine->ops->exchange_facts == NULL || plan->spec.publish == PUBLISH_REPLACE) return true;
  if (!engine->ops->exchange_facts(engine, arena, &plan->shape, plan->range, plan->spec.triggers == TRIGGERS_SKIP,
                                   &way->exchange, err))
    return error_wrap(err, "looking whether partitions can be exchanged");
  *ret = way->exchange.why_not == NULL;
  if (!*ret) way->why = way->exchange.why_not;
  return true;
}

static bool look_at_replacing(Arena *arena, Engine *engine, Plan *plan, Error *err) {
  PlanWay *way = &plan->way;
  bool wanted = plan->spec.publish == PUBLISH_REPLACE;
  if (!wanted && (plan->spec.publish != PUBLISH_AUTO || plan->rows < REPLACE_ROWS)) return true;
  if (engine->ops->replace_facts == NULL) {
    if (wanted) way->why = "this engine does not replace ranges";
    return true;
  }
  if (!engine->ops->replace_facts(engine, arena, &plan->shape, plan->spec.triggers == TRIGGERS_SKIP, &way->not_replaced,
                                  err))
    return error_wrap(err, "looking whether every row can be replaced");
  way->replaceable = way->not_replaced == NULL;
  if (wanted && !way->replaceable) way->why = way->not_replaced;
  return true;
}

static bool wanted_in_vain(const Plan *plan, Error *err) {
  bool exchange = plan->spec.publish == PUBLISH_EXCHANGE;
  if (!exchange && plan->spec.publish != PUBLISH_REPLACE) return true;
  spec_error(err, &plan->spec.target.place, "`publish: %s` is not possible for %s: %s",
             exchange ? "exchange" : "replace", plan->shape.table, plan->way.why);
  return error_hint(err, "leave `publish` out: the changes are then published row by row");
}

static void choose(Arena *arena, Plan *plan, bool exchangeable) {
  PlanWay *way = &plan->way;
  double share = plan->estimate.share;
  const char *percent = arena_printf(arena, "%.*f %% of the rows change", share < EXCHANGE_SHARE, share * 100);
  bool few = share < EXCHANGE_SHARE, far = exchangeable && way->exchange.covered < LEAST_COVERED;
  if (exchangeable && (plan->spec.publish == PUBLISH_EXCHANGE || (!few && !far)))
    plan->shape.way = WAY_EXCHANGE;
  else if (way->replaceable && (plan->spec.publish == PUBLISH_REPLACE || share >= REPLACE_SHARE))
    plan->shape.way = WAY_REPLACE;
  bool lossless = plan->shape.way == WAY_EXCHANGE && !few && !far;
  way->why = lossless      ? arena_printf(arena, "%s, and nothing is lost by it", percent)
             : far && !few ? "most of the partitions is not of the range"
                           : percent;
}

static bool find_way(Arena *arena, Engine *engine, Plan *plan, Error *err) {
  PlanWay *way = &plan->way;
  bool exchangeable;
  *way = (PlanWay){.why = "this engine has no partitions to exchange"};
  plan->shape.way = WAY_CHANGES;
  const char *out = ruled_out(plan);
  if (out != NULL) {
    way->why = out;
    return wanted_in_vain(plan, err);
  }
  if (!look_at_exchange(arena, engine, plan, &exchangeable, err) || !look_at_replacing(arena, engine, plan, err))
    return false;
  if ((plan->spec.publish == PUBLISH_EXCHANGE && !exchangeable) || (!exchangeable && !way->replaceable))
    return wanted_in_vain(plan, err);
  way->measured = true;
  choose(arena, plan, exchangeable);
  return true;
}

bool plan_measure_way(Arena *arena, Engine *engine, Plan *plan, Error *err) {
  if (!find_way(arena, engine, plan, err)) return false;
  estimate(plan);
  if (engine->ops->replace_facts != NULL) warn_of_lock(arena, plan); /* the seconds a row are PostgreSQL's */
  return true;
}

static void put_cost(Json *json, const char *name, const WayCost *cost) {
  json_object(json, name);
  json_real(json, "seconds", cost->seconds);
  json_real(json, "lock_seconds", cost->lock);
  json_real(json, "wal_bytes", cost->wal);
  json_object_end(json);
}

static const char *const way_names[] = {
    [WAY_CHANGES] = "changes", [WAY_EXCHANGE] = "exchange", [WAY_REPLACE] = "replace"};

void plan_json_way(const Plan *plan, Json *json) {
  const PlanWay *way = &plan->way;
  json_object(json, "publish");
  json_text(json, "way", way_names[plan->shape.way]);
  json_text(json, "why", way->why);
  if (way->not_replaced != NULL) json_text(json, "not_replaced", way->not_replaced);
  if (way->measured) {
    json_real(json, "changed_share", plan->estimate.share);
    put_cost(json, "changes", &way->changes);
  }
  if (way->replaceable) put_cost(json, "replace", &way->replaced);
  if (way->exchange.partitions > 0) {
    json_int(json, "partitions", way->exchange.partitions);
    json_int(json, "partition_rows", way->exchange.rows);
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
  for (size_t i = 0; i < sizeof way_names / sizeof *way_names; i++)
    if (way != NULL && strcmp(way->text, way_names[i]) == 0) plan->shape.way = (ShapeWay)i;
  return true;
}
