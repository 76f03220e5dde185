#include "plan/plan_int.h"

/* The resolved half of a plan as JSON: printed, kept in the ledger, and hashed into the digest. */

void plan_json_date(const Plan *plan, Json *json, const char *key, Instant date) {
  char label[32];
  grain_label(plan->shape.codec.grain, plan->shape.codec.zone, date, label);
  json_text(json, key, label);
}

void plan_json_range(const Plan *plan, Json *json, const char *key, const DateRange *range) {
  const DateCodec *codec = &plan->shape.codec;
  json_object(json, key);
  plan_json_date(plan, json, "from", range->from);
  plan_json_date(plan, json, "to", grain_floor(codec->grain, codec->zone, range->to - 1));
  json_object_end(json);
}

void plan_json_texts(Json *json, const char *key, const char *const *texts, size_t n) {
  json_array(json, key);
  for (size_t i = 0; i < n; i++) json_text(json, NULL, texts[i]);
  json_array_end(json);
}

static void put_columns(const Plan *plan, Json *json) {
  json_array(json, "columns");
  for (size_t i = 0; i < plan->shape.n; i++) {
    const ShapeColumn *column = &plan->shape.columns[i];
    json_object(json, NULL);
    json_text(json, "name", column->name);
    json_text(json, "type", column->type);
    json_bool(json, "key", column->key);
    json_bool(json, "given", column->given);
    json_bool(json, "generated", column->generated);
    json_bool(json, "not_null", column->not_null);
    json_real(json, "tolerance", column->tolerance);
    json_object_end(json);
  }
  json_array_end(json);
}

static void put_dates(const Plan *plan, Json *json) {
  const DateCodec *codec = &plan->shape.codec;
  json_object(json, "date_column");
  json_text(json, "name", plan->shape.columns[plan->shape.date].name);
  json_text(json, "kind", date_kind_name(codec->kind));
  json_text(json, "grain", grain_name(codec->grain));
  json_text(json, "zone", zone_name(codec->zone));
  json_text(json, "day_zone", zone_name(plan->day_zone));
  json_object_end(json);
  plan_json_range(plan, json, "range", &plan->range);
  json_int(json, "dates", plan->n_dates);
  json_array(json, "emptied_dates");
  for (size_t i = 0; i < plan->n_emptied; i++) plan_json_range(plan, json, NULL, &plan->emptied[i]);
  json_array_end(json);
}

static void put_changes(const Plan *plan, Json *json) {
  json_array(json, "changes");
  for (size_t i = 0; i < plan->n_scope; i++) {
    const JobScope *scope = &plan->scope[i];
    static const char *const kinds[] = {[JOB_SCOPE_COLUMN] = "column",
                                        [JOB_SCOPE_ANY] = "any column",
                                        [JOB_SCOPE_NEW] = "new rows",
                                        [JOB_SCOPE_VANISHED] = "vanished rows"};
    json_object(json, NULL);
    json_text(json, "kind", kinds[scope->kind]);
    json_text(json, "column", scope->kind == JOB_SCOPE_COLUMN ? plan->shape.columns[scope->column].name : NULL);
    json_text(json, "where", scope->where);
    json_object_end(json);
  }
  json_array_end(json);
}

static void put_recompute(const Plan *plan, Json *json) {
  const SpecRecompute *recompute = &plan->spec.recompute;
  json_object(json, "recompute");
  json_text(json, "sql", plan->recompute);
  json_array(json, "command");
  for (size_t i = 0; i < recompute->command.n; i++) json_text(json, NULL, recompute->command.items[i].text);
  json_array_end(json);
  json_bool(json, "shell", recompute->shell);
  json_real(json, "timeout", recompute->timeout);
  json_bool(json, "reads_target", plan->overlay);
  plan_json_texts(json, "reads", plan->reads, plan->n_reads);
  plan_json_texts(json, "volatile", plan->volatile_functions, plan->n_volatile);
  json_object_end(json);
}

static void put_text(Json *json, const char *key, const SpecText *text) {
  if (text->text != NULL) json_text(json, key, text->text);
}

static void put_airflow(const SpecAirflow *airflow, Json *json) {
  json_object(json, "airflow");
  put_text(json, "url", &airflow->url);
  put_text(json, "dag", &airflow->dag);
  put_text(json, "user", &airflow->user);
  put_text(json, "password_env", &airflow->password_env);
  put_text(json, "token_env", &airflow->token_env);
  put_text(json, "token_file", &airflow->token_file);
  if (airflow->version != 0) json_int(json, "version", airflow->version);
  json_object_end(json);
}

/* What a job's runs are told by; only what is given. */
static void put_live(const SpecLive *live, Json *json) {
  json_object(json, "live");
  if (live->airflow.url.text != NULL || live->airflow.dag.text != NULL) put_airflow(&live->airflow, json);
  put_text(json, "application", &live->application);
  put_text(json, "role", &live->role);
  put_text(json, "query", &live->query);
  put_text(json, "advisory_lock", &live->advisory_lock);
  put_text(json, "systemd", &live->systemd);
  put_text(json, "process", &live->process);
  put_text(json, "lock_file", &live->lock_file);
  put_text(json, "heartbeat", &live->heartbeat);
  if (live->heartbeat.text != NULL) json_real(json, "heartbeat_within", live->heartbeat_within);
  if (live->command.n > 0) {
    json_array(json, "command");
    for (size_t i = 0; i < live->command.n; i++) json_text(json, NULL, live->command.items[i].text);
    json_array_end(json);
  }
  json_object_end(json);
}

/* When a job runs. Where and when that was read changes nothing that is judged, and is not here. */
static void put_when(const PlanJob *job, const BusyRule *rule, Json *json) {
  const SpecSchedule *when = &job->when;
  const Schedule *schedule = rule->schedule;
  json_text(json, "schedule", schedule == NULL ? NULL : schedule_expression(schedule));
  json_text(json, "dialect", schedule == NULL ? NULL : when->dialect);
  json_text(json, "zone", schedule == NULL ? NULL : zone_name(schedule_zone(schedule)));
  if (when->interval) json_text(json, "timetable", "interval");
  if (when->p95 < 0)
    json_null(json, "p95");
  else
    json_real(json, "p95", when->p95);
  if (when->runs > 0) json_int(json, "runs", when->runs);
  json_real(json, "guard", when->guard);
  json_real(json, "jitter", when->jitter);
  json_text(json, "running", job->live.running.text);
  put_live(&job->live, json);
}

static void put_jobs(const PlanClock *clock, Json *json) {
  json_array(json, "jobs");
  for (size_t i = 1; i < clock->n; i++) {
    const PlanJob *job = &clock->jobs[i];
    json_object(json, NULL);
    json_text(json, "name", job->name);
    json_bool(json, "writes", job->concerns & CONCERNS_WRITES);
    json_bool(json, "reads", job->concerns & CONCERNS_READS);
    json_bool(json, "feeds", job->concerns & CONCERNS_FEEDS);
    json_bool(json, "declared", job->declared);
    put_when(job, &clock->rules[i], json);
    json_object_end(json);
  }
  json_array_end(json);
}

/* What a file of them holds is not here: it is read anew whenever the gate judges. */
static void put_freezes(const Spec *spec, Json *json) {
  json_array(json, "freeze");
  for (size_t i = 0; i < spec->n_freezes; i++) {
    json_object(json, NULL);
    json_text(json, spec->freezes[i].file ? "file" : "days", spec->freezes[i].text.text);
    json_object_end(json);
  }
  json_array_end(json);
}

static void put_clock(const Plan *plan, Json *json) {
  const PlanClock *clock = &plan->clock;
  const SpecProduction *production = &plan->spec.production;
  json_object(json, "production");
  json_bool(json, "declared", clock->jobs[0].declared);
  json_bool(json, "none", production->none);
  put_when(&clock->jobs[0], &clock->rules[0], json);
  json_int(json, "lookback", production->lookback);
  json_bool(json, "lookback_fixed", production->lookback_fixed);
  json_object_end(json);
  put_jobs(clock, json);
  if (plan->spec.n_freezes > 0) put_freezes(&plan->spec, json);
  json_text(json, "idle", plan->spec.idle.text);
  json_text(json, "idle_zone", clock->has_idle ? zone_name(clock->idle.zone) : NULL);
}

static void put_limits(const Plan *plan, Json *json) {
  static const char *const triggers[] = {"deny", "fire", "skip"};
  static const char *const publish[] = {"auto", "changes", "exchange", "replace"};
  const Spec *spec = &plan->spec;
  const SpecBudget *budget = &spec->budget;
  json_object(json, "budget");
  json_real(json, "batch", budget->batch);
  json_real(json, "statement", budget->statement);
  json_real(json, "lock", budget->lock);
  json_int(json, "lock_tries", budget->lock_tries);
  json_real(json, "swap_lock", budget->swap_lock);
  json_real(json, "lag", budget->lag);
  json_int(json, "wal", budget->wal);
  json_real(json, "duty", budget->duty);
  json_real(json, "crowded", budget->crowded);
  if (budget->sessions > 0) json_int(json, "sessions", budget->sessions);
  if (budget->canary.text != NULL) {
    json_text(json, "canary", budget->canary.text);
    json_real(json, "canary_time", budget->canary_time);
  }
  json_object_end(json);
  json_real(json, "retention", spec->retention);
  json_object(json, "sample");
  json_real(json, "share", spec->sample_share);
  json_real(json, "confidence", spec->sample_confidence);
  json_object_end(json);
  json_text(json, "shadow", spec->full_shadow ? "full" : "thin");
  json_text(json, "publish_wanted", publish[spec->publish]);
  json_object(json, "allow");
  json_bool(json, "null_dates", spec->allow_null_dates);
  json_bool(json, "null_keys", spec->allow_null_keys);
  json_text(json, "triggers", triggers[spec->triggers]);
  json_object_end(json);
}

void plan_json_resolved(const Plan *plan, Json *json) {
  json_text(json, "target", plan->shape.table);
  put_dates(plan, json);
  put_columns(plan, json);
  json_bool(json, "keyed", plan->shape.keyed);
  put_changes(plan, json);
  plan_json_texts(json, "row_checks", plan->row_checks, plan->n_row_checks);
  plan_json_texts(json, "total_checks", plan->total_checks, plan->n_total_checks);
  json_text(json, "oracle", plan->spec.oracle.text);
  put_recompute(plan, json);
  put_clock(plan, json);
  put_limits(plan, json);
  json_array(json, "triggers");
  for (size_t i = 0; i < plan->n_triggers; i++) json_text(json, NULL, plan->triggers[i].name);
  json_array_end(json);
  json_bool(json, "has_constraints", plan->has_constraints);
  json_bool(json, "has_children", plan->has_children);
}
