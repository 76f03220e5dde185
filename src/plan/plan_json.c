#include "plan/plan_int.h"

/* The whole plan as JSON: `plan --json` and the ledger's document. Dates are labels; absent things are null. */

static void put_parts(const Plan *plan, Json *json) {
  json_object(json, "parts");
  json_text(json, "spec", plan->parts.spec);
  json_text(json, "target", plan->parts.target);
  json_text(json, "lineage", plan->parts.lineage);
  json_text(json, "settings", plan->parts.settings);
  json_text(json, "database", plan->parts.database);
  json_object_end(json);
}

static void put_correctness(const Plan *plan, Json *json) {
  json_text(json, "wrong", plan->spec.wrong.text);
  json_text(json, "correct", plan->spec.correct.text);
  json_text(json, "owner", plan->spec.owner.text);
}

static void put_inferred(const Plan *plan, Json *json) {
  json_array(json, "inferred");
  for (size_t i = 0; i < plan->n_inferred; i++) {
    json_object(json, NULL);
    json_text(json, "name", plan->inferred[i].name);
    json_text(json, "value", plan->inferred[i].value);
    json_text(json, "from", plan->inferred[i].from);
    json_object_end(json);
  }
  json_array_end(json);
}

static void put_control(const Plan *plan, Json *json) {
  const ControlFacts *control = &plan->control;
  if (!control->declared) {
    json_null(json, "control");
    return;
  }
  json_object(json, "control");
  plan_json_range(plan, json, "range", &control->range);
  json_int(json, "rows", control->rows);
  json_int(json, "same", control->same);
  json_int(json, "differing", control->differing);
  json_array(json, "examples");
  for (size_t i = 0; i < control->n; i++) {
    const Example *example = &control->examples[i];
    json_object(json, NULL);
    json_text(json, "date", example->date);
    json_text(json, "key", example->key);
    json_text(json, "column", example->column);
    json_text(json, "old", example->old_value);
    json_text(json, "new", example->new_value);
    json_object_end(json);
  }
  json_array_end(json);
  json_object_end(json);
}

static void put_sources(const Plan *plan, Json *json) {
  json_array(json, "sources");
  for (size_t i = 0; i < plan->n_sources; i++) {
    const SourceFacts *source = &plan->sources[i];
    json_object(json, NULL);
    json_text(json, "table", source->table);
    json_text(json, "date_column", source->date_column);
    json_text(json, "from", source->from);
    if (source->dates_present < 0)
      json_null(json, "dates_present");
    else
      json_int(json, "dates_present", source->dates_present);
    if (source->dated)
      plan_json_date(plan, json, "newest", source->newest);
    else
      json_null(json, "newest");
    json_int(json, "missing", source->missing);
    json_int(json, "at_risk", source->at_risk);
    json_array(json, "dates_missing");
    for (size_t j = 0; j < source->n_missing; j++) plan_json_date(plan, json, NULL, source->dates_missing[j]);
    json_array_end(json);
    json_object_end(json);
  }
  json_array_end(json);
}

/* Of the node's own grain, both ends included. */
static void put_node_dates(const Plan *plan, Json *json, const LineageNode *node) {
  const Zone *zone = plan->shape.codec.zone;
  char first[32], last[32];
  if (!node->ranged) return;
  grain_label(node->grain, zone, node->range.from, first);
  grain_label(node->grain, zone, grain_floor(node->grain, zone, node->range.to - 1), last);
  json_text(json, "first", first);
  json_text(json, "last", last);
  json_text(json, "grain", grain_name(node->grain));
  json_bool(json, "assumed", node->assumed);
}

static void put_lineage(const Plan *plan, Json *json) {
  size_t n = 0;
  const GraphSource *sources = plan->radius.graph == NULL ? NULL : graph_sources(plan->radius.graph, &n);
  json_array(json, "read");
  for (size_t i = 0; i < n; i++) {
    json_object(json, NULL);
    json_text(json, "reader", sources[i].reader);
    json_text(json, "path", sources[i].path);
    instant_json(json, "made_at", sources[i].made_at);
    json_text(json, "failed", sources[i].failed);
    json_object_end(json);
  }
  json_array_end(json);
}

static void put_radius(const Plan *plan, Json *json) {
  json_object(json, "blast_radius");
  json_array(json, "nodes");
  for (size_t i = 0; i < plan->radius.n; i++) {
    const LineageNode *node = &plan->radius.nodes[i];
    json_object(json, NULL);
    json_text(json, "name", node->name);
    json_text(json, "kind", node->kind);
    json_text(json, "via", node->via);
    json_text(json, "needs", needs_name(node->needs));
    json_text(json, "reader", node->reader);
    json_text(json, "why", node->why);
    json_int(json, "level", node->level);
    put_node_dates(plan, json, node);
    json_object_end(json);
  }
  json_array_end(json);
  put_lineage(plan, json);
  plan_json_texts(json, "cycles", plan->radius.cycles, plan->radius.n_cycles);
  json_text(json, "finding", plan->radius.finding);
  plan_json_texts(json, "not_read", plan->radius.blind, plan->radius.n_blind);
  json_object_end(json);
}

static void put_dates(const Plan *plan, Json *json) {
  json_array(json, "by_date");
  for (int64_t i = 0; plan->dates != NULL && i < plan->n_dates; i++) {
    json_object(json, NULL);
    plan_json_date(plan, json, "date", plan->dates[i].date);
    json_int(json, "rows", plan->dates[i].expected);
    json_int(json, "suspect", plan->dates[i].suspect);
    json_object_end(json);
  }
  json_array_end(json);
}

/* Where the schedules of the jobs come from: nothing of it is judged, so it is not of the digest. */
static void put_provenance(const Plan *plan, Json *json) {
  json_array(json, "provenance");
  for (size_t i = 0; i < plan->clock.n; i++) {
    const PlanJob *job = &plan->clock.jobs[i];
    int age = plan_job_age(job, plan->planned_at);
    json_object(json, NULL);
    json_text(json, "job", job->name);
    json_text(json, "measured", job->when.measured.text);
    if (age >= 0) json_int(json, "days_ago", age);
    json_text(json, "from", job->when.from.text);
    json_object_end(json);
  }
  json_array_end(json);
}

static void put_measured(const Plan *plan, Json *json) {
  json_bool(json, "measured", plan->measured);
  instant_json(json, "planned_at", plan->planned_at);
  json_int(json, "rows", plan->rows);
  json_int(json, "suspects", plan->suspects);
  json_int(json, "null_dates", plan->null_dates);
  json_int(json, "null_keys", plan->null_keys);
  json_int(json, "duplicate_keys", plan->duplicate_keys);
  put_dates(plan, json);
  put_control(plan, json);
  put_sources(plan, json);
  put_provenance(plan, json);
  json_object(json, "space");
  json_int(json, "needed", plan->space_needed);
  if (plan->space.free_bytes < 0)
    json_null(json, "free");
  else
    json_int(json, "free", plan->space.free_bytes);
  json_int(json, "database", plan->space.database_bytes);
  json_object_end(json);
}

static void put_dbt_tests(const Plan *plan, Json *json) {
  json_array(json, "dbt_tests");
  for (size_t i = 0; i < plan->n_dbt_tests; i++) {
    const DbtCheck *test = &plan->dbt_tests[i];
    json_object(json, NULL);
    json_text(json, "name", test->name);
    json_text(json, test->total ? "total" : "row", test->sql);
    json_text(json, "why", test->why);
    json_object_end(json);
  }
  json_array_end(json);
}

void plan_json(const Plan *plan, Json *json) {
  json_object(json, NULL);
  json_text(json, "id", plan->id);
  json_text(json, "digest", plan->digest);
  json_text(json, "database_id", plan->database_id);
  put_parts(plan, json);
  put_correctness(plan, json);
  plan_json_resolved(plan, json);
  put_measured(plan, json);
  plan_json_estimate(plan, json);
  plan_json_way(plan, json);
  put_radius(plan, json);
  put_inferred(plan, json);
  json_int(json, "workers", plan->workers);
  plan_json_texts(json, "unproven", plan->unproven, plan->n_unproven);
  put_dbt_tests(plan, json);
  plan_json_texts(json, "warnings", plan->warnings, plan->n_warnings);
  json_object_end(json);
}
