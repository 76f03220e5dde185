#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gate/gate.h"

/* Every rule is seen to deny and to allow, on a plan made by hand: a good one with one thing spoiled. */

enum { DAY = 86400, FEBRUARY = 15737 }; /* 2013-02-01 in days since 1970 */

/* An engine that knows the time, and a number. */
typedef struct Scene {
  Engine engine;
  EngineOps ops;
  Arena arena;
  Plan plan;
  ShapeColumn columns[3];
  JobScope scope;
  SourceFacts source;
  TriggerFacts trigger;
  SpecText argument;
  PlanJob jobs[3]; /* production alone is in the plan, unless a test says otherwise */
  BusyRule rules[3];
  Freeze freeze;
  Instant now;
  double number;
  ErrorCode number_fails; /* 0: it does not */
  bool now_fails;
  BackfillRecord other; /* in the ledger; id NULL: nothing is */
} Scene;

static bool scene_now(Engine *engine, Instant *ret, Error *err) {
  const Scene *scene = (const Scene *)engine;
  *ret = scene->now;
  return !scene->now_fails || error_set(err, ERR_DATABASE, "the clock is gone");
}

static bool scene_number(Engine *engine, const char *sql, double timeout, double *ret, Error *err) {
  const Scene *scene = (const Scene *)engine;
  *ret = scene->number;
  return scene->number_fails == 0 || error_set(err, scene->number_fails, "no such table: runs");
}

static bool scene_ledger_exists(Engine *engine, bool *ret, Error *err) {
  *ret = ((const Scene *)engine)->other.id != NULL;
  return true;
}

static bool scene_ledger_list(Engine *engine, Arena *arena, const BackfillRecord **ret, size_t *ret_n, Error *err) {
  *ret = &((const Scene *)engine)->other;
  *ret_n = 1;
  return true;
}

/* 1–28 Feb 2013, planned at noon of 1 March, production at 02:00 UTC. */
static void good_scene(Scene *scene) {
  Error err;
  memset(scene, 0, sizeof *scene);
  scene->ops.now = scene_now;
  scene->ops.number = scene_number;
  scene->ops.ledger_exists = scene_ledger_exists;
  scene->ops.ledger_list = scene_ledger_list;
  scene->engine.ops = &scene->ops;
  scene->now = (FEBRUARY + 28) * (Instant)DAY + DAY / 2;
  scene->columns[0] = (ShapeColumn){.name = "day", .key = true, .given = true};
  scene->columns[1] = (ShapeColumn){.name = "shop", .key = true, .given = true};
  scene->columns[2] = (ShapeColumn){.name = "total", .given = true};
  scene->scope = (JobScope){.kind = JOB_SCOPE_COLUMN, .column = 2};
  scene->source = (SourceFacts){.table = "orders", .dates_present = 28};
  Plan *plan = &scene->plan;
  plan->shape = (Shape){.table = "sales", .columns = scene->columns, .n = 3, .keyed = true};
  plan->shape.codec = (DateCodec){DATE_TEXT, GRAIN_DAY, zone_utc(), 0};
  plan->day_zone = zone_utc();
  plan->range = (DateRange){FEBRUARY * (Instant)DAY, (FEBRUARY + 28) * (Instant)DAY};
  plan->n_dates = 28;
  plan->recompute = "…";
  plan->measured = true;
  plan->rows = 100;
  plan->scope = &scene->scope;
  plan->n_scope = 1;
  plan->sources = &scene->source;
  plan->n_sources = 1;
  plan->space = (SpaceFacts){1000, 5000000};
  plan->space_needed = 1000000;
  plan->spec.retention = 7 * DAY;
  scene->jobs[0] = (PlanJob){
      .name = "production", .concerns = CONCERNS_WRITES, .when.p95 = 1200, .live = {.timeout = 10}, .declared = true};
  scene->rules[0] = (BusyRule){.p95 = 1200, .guard = 900};
  plan->clock = (PlanClock){.jobs = scene->jobs, .rules = scene->rules, .n = 1};
  if (!schedule_parse(&scene->arena, "vixie", "0 2 * * *", zone_utc(), &scene->rules[0].schedule, &err))
    fail_msg("%s", err.message);
}

static Verdict judge_need(Scene *scene, GateAct act, double need) {
  Verdict verdict;
  const GatePass *pass = NULL;
  Error err;
  if (!gate_judge(&scene->arena, &scene->engine, &scene->plan, act, need, &verdict, &pass, &err))
    fail_msg("%s", err.message);
  assert_true((pass != NULL) == verdict.allow); /* law 8 */
  assert_true(verdict.allow == (verdict.n == 0));
  return verdict;
}

static Verdict judge(Scene *scene, GateAct act) { return judge_need(scene, act, 60); }

/* ---- one spoiled thing a rule ------------------------------------------------------------------------------------ */

static void no_range(Scene *s) { s->plan.range.to = s->plan.range.from; }
static void today(Scene *s) { s->now -= DAY; }
static void unmeasured(Scene *s) { s->plan.measured = false; }
static void no_evidence(Scene *s) { s->plan.n_scope = 0; }
static void bad_control(Scene *s) {
  s->plan.control = (ControlFacts){.declared = true, .range = {0, 7 * DAY}, .rows = 222, .same = 220, .differing = 2};
}
static void key_changes(Scene *s) { s->scope.column = 1; }
static void null_dates(Scene *s) { s->plan.null_dates = 3; }
static void null_keys(Scene *s) { s->plan.null_keys = 3; }
static void double_keys(Scene *s) { s->plan.duplicate_keys = 2; }
static void source_gone(Scene *s) { s->source.missing = s->source.at_risk = 2; }
static void source_moves(Scene *s) {
  static const char *const reads[] = {"orders"};
  s->plan.reads = reads;
  s->plan.n_reads = 1;
  s->other = (BackfillRecord){.id = "7f3a", .target = "orders", .state = "building"};
}
static void nothing(Scene *s) {
  s->plan.rows = 0;
  s->source.dates_present = 0;
}
static void command(Scene *s) {
  s->argument.text = "./recompute.sh";
  s->plan.recompute = NULL;
  s->plan.spec.recompute.command = (SpecTexts){&s->argument, 1};
}
static void unread_lineage(Scene *s) {
  s->plan.spec.lineage.required = true;
  s->plan.radius.uncovered = "no source of lineage is declared";
}
static void triggers(Scene *s) {
  s->trigger = (TriggerFacts){.name = "notify"};
  s->plan.triggers = &s->trigger;
  s->plan.n_triggers = 1;
}
static void opened(Scene *s) { s->other = (BackfillRecord){.id = "7f3a", .target = "sales", .state = "opened"}; }
static void no_retention(Scene *s) { s->plan.spec.retention = 0; }
static void full_disk(Scene *s) { s->plan.space_needed = s->plan.space.free_bytes + 1; }
static void no_schedule(Scene *s) {
  s->jobs[0].declared = false;
  s->rules[0].schedule = NULL;
}
static void no_p95(Scene *s) { s->jobs[0].when.p95 = -1; }
static void lookback(Scene *s) { s->plan.spec.production.lookback = 3; }
static void running(Scene *s) {
  s->jobs[0].live.running.text = "…";
  s->number = 1;
}
static void near_run(Scene *s) { s->now += DAY / 2 + 7200 - 900 - 30; } /* 30 s before the guard of 02:00 */
static void frozen(Scene *s) {
  Error err;
  if (!freeze_parse(&s->arena, "1 March", &s->freeze, &err)) fail_msg("%s", err.message);
  s->plan.clock.freezes = (Freezes){zone_utc(), &s->freeze, 1};
}
static void not_idle(Scene *s) {
  static const IdleStretch night = {IDLE_EVERY_DAY, 22 * 60, 6 * 60};
  s->plan.clock.has_idle = true;
  s->plan.clock.idle = (IdleHours){zone_utc(), &night, 1};
  s->plan.spec.idle.text = "22:00-06:00";
}

static const struct {
  const char *rule;
  void (*spoil)(Scene *);
  bool waits;
  const char *text;
} spoiled[] = {
    {"range", no_range, false, "no bounded range"},
    {"dates-not-over", today, false, "not over by the database's clock"},
    {"measured", unmeasured, false, "not looked at"},
    {"evidence", no_evidence, false, "no evidence"},
    {"control", bad_control, false, "220 of 222 rows identical, 2 differ"},
    {"key-in-scope", key_changes, false, "“shop”"},
    {"null-dates", null_dates, false, "3 rows of sales have no date"},
    {"null-keys", null_keys, false, "3 rows of the range have NULL"},
    {"duplicate-keys", double_keys, false, "2 rows of the range share"},
    {"sources", source_gone, false, "orders, which has no rows for 2"},
    {"source-backfilled", source_moves, false,
     "orders, which the recompute reads, is itself being backfilled (7f3a, building)"},
    {"nothing", nothing, false, "neither sales nor any source"},
    {"shadow-not-named", command, false, "not told to write the shadow"},
    {"lineage", unread_lineage, false, "what reads sales is not known: no source"},
    {"triggers", triggers, false, "(notify)"},
    {"open-to-a-tool", opened, false, "7f3a has opened sales"},
    {"retention", no_retention, false, "retention is zero"},
    {"disk", full_disk, false, "of disk"},
    {"schedule-unknown", no_schedule, false, "not declared"},
    {"p95-unknown", no_p95, false, "how long a run of production takes"},
    {"lookback", lookback, false, "last 3 dates"},
    {"running-now", running, true, " now"},
    {"production-run", near_run, true, "2013-03-02 02:00 UTC"},
    {"freeze", frozen, true, "“1 March” (UTC)"},
    {"idle-hours", not_idle, true, "22:00-06:00"},
};

static void each_rule_denies_and_allows(void **state) {
  size_t n;
  const GateRuleFacts *rules = gate_rules(&n);
  assert_int_equal(n, sizeof spoiled / sizeof *spoiled);
  for (size_t i = 0; i < n; i++) {
    Scene scene;
    assert_string_equal(rules[i].name, spoiled[i].rule); /* the table's order */
    assert_non_null(strstr(rules[i].law, "law "));
    good_scene(&scene);
    assert_true(judge(&scene, GATE_PLAN).allow);
    spoiled[i].spoil(&scene);
    Verdict verdict = judge(&scene, GATE_PLAN);
    if (verdict.n != 1) fail_msg("%s: %zu reasons", spoiled[i].rule, verdict.n);
    assert_string_equal(verdict.rule, spoiled[i].rule);
    assert_string_equal(verdict.reasons[0].rule, spoiled[i].rule);
    if (strstr(verdict.reasons[0].text, spoiled[i].text) == NULL) fail_msg("%s", verdict.reasons[0].text);
    assert_true(strlen(verdict.reasons[0].hint) > 0);
    assert_int_equal(verdict.waits, spoiled[i].waits);
    scene.plan.spec.production.lookback_fixed = true;
    assert_true(judge(&scene, GATE_CLEAN).allow); /* never waits */
    arena_release(&scene.arena);
  }
}

static void declared_things_are_allowed(void **state) {
  Scene scene;
  good_scene(&scene);
  null_dates(&scene);
  null_keys(&scene);
  triggers(&scene);
  lookback(&scene);
  command(&scene);
  scene.argument.text = "--into={shadow}";
  scene.plan.spec.allow_null_dates = scene.plan.spec.allow_null_keys = true;
  scene.plan.spec.triggers = TRIGGERS_SKIP;
  scene.plan.spec.production.lookback_fixed = true;
  assert_true(judge(&scene, GATE_PLAN).allow);
  scene.plan.space.free_bytes = -1; /* the engine cannot say: nothing to deny by */
  assert_true(judge(&scene, GATE_PLAN).allow);
  no_schedule(&scene);
  scene.jobs[0].declared = true; /* production: none */
  scene.jobs[0].when.p95 = -1;
  Verdict verdict = judge(&scene, GATE_PLAN);
  assert_true(verdict.allow);
  assert_int_equal(verdict.window.from, scene.now);
  assert_int_equal(verdict.window.to, 0);
  arena_release(&scene.arena);
}

static void all_reasons_are_told_in_order(void **state) {
  Scene scene;
  Error err;
  good_scene(&scene);
  near_run(&scene);
  triggers(&scene);
  no_evidence(&scene);
  Verdict verdict = judge(&scene, GATE_PLAN);
  assert_int_equal(verdict.n, 3);
  assert_string_equal(verdict.rule, "evidence");
  assert_string_equal(verdict.reasons[1].rule, "triggers");
  assert_string_equal(verdict.reasons[2].rule, "production-run");
  assert_false(verdict.waits);
  assert_false(gate_deny(&verdict, &err));
  assert_int_equal(err.code, ERR_DENIED);
  assert_non_null(strstr(err.message, "3 reasons: (1) there is no evidence"));
  assert_non_null(strstr(err.message, "(3) the run of production"));
  assert_string_equal(err.hint, verdict.reasons[0].hint);
  arena_release(&scene.arena);
}

static void the_clock_judges_every_act(void **state) {
  static const GateAct acts[] = {GATE_BATCH, GATE_SWAP, GATE_ROLLBACK, GATE_SNAPSHOT};
  Scene scene;
  good_scene(&scene);
  scene.plan.measured = false; /* as plan_load gives it */
  for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) assert_true(judge(&scene, acts[i]).allow);
  near_run(&scene);
  for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
    Verdict verdict = judge(&scene, acts[i]);
    assert_string_equal(verdict.rule, "production-run");
    assert_true(verdict.waits);
    assert_int_equal(verdict.wait_until, (FEBRUARY + 29) * (Instant)DAY + 7200 + 1200 + 900);
  }
  assert_true(judge_need(&scene, GATE_BATCH, 30).allow);  /* ends as the guard begins */
  assert_false(judge_need(&scene, GATE_BATCH, 31).allow); /* would not */
  arena_release(&scene.arena);
}

/* ---- jobs beside production -------------------------------------------------------------------------------------- */

/* Another job, at 11:50 UTC for 20 minutes: noon lies in it. */
static void add_job(Scene *scene, unsigned concerns) {
  Error err;
  scene->jobs[1] = (PlanJob){.name = "load", .concerns = concerns, .when.p95 = 1200, .declared = true};
  scene->rules[1] = (BusyRule){.p95 = 1200, .guard = 900};
  scene->plan.clock.n = 2;
  if (!schedule_parse(&scene->arena, "vixie", "50 11 * * *", zone_utc(), &scene->rules[1].schedule, &err))
    fail_msg("%s", err.message);
}

static void every_job_that_concerns_the_target_closes(void **state) {
  static const struct {
    unsigned concerns;
    const char *who;
  } rows[] = {{CONCERNS_WRITES, "of the job load, which writes sales, at 2013-03-01 11:50 UTC is too near"},
              {CONCERNS_READS, "of the job load, which reads sales, at"},
              {CONCERNS_FEEDS, "of the job load, which feeds the recompute of sales, at"},
              {CONCERNS_READS | CONCERNS_FEEDS, "which feeds the recompute of sales, at"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    static const GateAct acts[] = {GATE_PLAN, GATE_BATCH, GATE_SWAP, GATE_SNAPSHOT};
    Scene scene;
    good_scene(&scene);
    add_job(&scene, rows[i].concerns);
    for (size_t k = 0; k < sizeof acts / sizeof *acts; k++) {
      Verdict verdict = judge(&scene, acts[k]);
      assert_string_equal(verdict.rule, "production-run");
      if (strstr(verdict.reasons[0].text, rows[i].who) == NULL) fail_msg("%s", verdict.reasons[0].text);
      assert_int_equal(verdict.wait_until, (FEBRUARY + 28) * (Instant)DAY + 11 * 3600 + 50 * 60 + 1200 + 900);
    }
    /* Taking back what was swapped waits for the writers alone. */
    assert_int_equal(judge(&scene, GATE_ROLLBACK).allow, (rows[i].concerns & CONCERNS_WRITES) == 0);
    scene.now += 3600;
    Verdict verdict = judge(&scene, GATE_BATCH);
    assert_true(verdict.allow);
    assert_int_equal(verdict.next_job, 0); /* production at 02:00 comes first */
    arena_release(&scene.arena);
  }
}

static void an_interval_is_told_with_its_label(void **state) {
  Scene scene;
  good_scene(&scene);
  add_job(&scene, CONCERNS_FEEDS);
  scene.jobs[1].when.interval = true;
  Verdict verdict = judge(&scene, GATE_BATCH);
  assert_non_null(strstr(verdict.reasons[0].text, "2013-03-01 11:50 UTC (labelled 2013-02-28 11:50 UTC)"));
  arena_release(&scene.arena);
}

static void a_job_without_a_schedule_denies(void **state) {
  Scene scene;
  good_scene(&scene);
  add_job(&scene, CONCERNS_READS);
  scene.rules[1].schedule = NULL;
  scene.jobs[1].declared = false;
  Verdict verdict = judge(&scene, GATE_BATCH);
  assert_string_equal(verdict.rule, "schedule-unknown");
  assert_non_null(strstr(verdict.reasons[0].text, "the job load, which reads sales, runs"));
  assert_non_null(strstr(verdict.reasons[0].hint, "under jobs, in load: schedule:"));
  assert_false(verdict.waits);
  scene.jobs[1].declared = true; /* schedule: none */
  assert_true(judge(&scene, GATE_BATCH).allow);
  arena_release(&scene.arena);
}

static void few_runs_are_no_measure(void **state) {
  Scene scene;
  good_scene(&scene);
  scene.jobs[0].when.runs = 4;
  Verdict verdict = judge(&scene, GATE_BATCH);
  assert_string_equal(verdict.rule, "p95-unknown");
  assert_non_null(strstr(verdict.reasons[0].text, "of production takes was measured on 4 runs: too few"));
  scene.jobs[0].when.runs = 5;
  assert_true(judge(&scene, GATE_BATCH).allow);
  scene.jobs[0].when.runs = 0; /* a person answers for it */
  assert_true(judge(&scene, GATE_BATCH).allow);
  arena_release(&scene.arena);
}

static void a_file_of_freezes_that_is_gone_closes(void **state) {
  Scene scene;
  good_scene(&scene);
  scene.plan.clock.freeze_unknown = "tidegate.yaml:3:9: cannot read holidays.txt: No such file or directory";
  Verdict verdict = judge(&scene, GATE_SWAP);
  assert_string_equal(verdict.rule, "freeze");
  assert_non_null(strstr(verdict.reasons[0].text, "tidegate.yaml:3:9"));
  assert_false(verdict.waits);
  assert_true(judge(&scene, GATE_ROLLBACK).allow);
  frozen(&scene);
  scene.plan.clock.freeze_unknown = NULL;
  verdict = judge(&scene, GATE_SWAP);
  assert_true(verdict.waits);
  assert_int_equal(verdict.wait_until, (FEBRUARY + 29) * (Instant)DAY);
  assert_true(judge(&scene, GATE_ROLLBACK).allow);
  arena_release(&scene.arena);
}

static void a_window_that_fits_nowhere_is_told(void **state) {
  Scene scene;
  good_scene(&scene);
  Verdict verdict = judge_need(&scene, GATE_BATCH, DAY);
  assert_string_equal(verdict.rule, "production-run");
  assert_false(verdict.waits);
  assert_non_null(strstr(verdict.reasons[0].hint, "no window"));
  arena_release(&scene.arena);
}

static void what_cannot_be_known_denies(void **state) {
  Scene scene;
  Verdict verdict;
  const GatePass *pass;
  Error err;
  good_scene(&scene);
  running(&scene);
  scene.number = 0;
  assert_true(judge(&scene, GATE_BATCH).allow);
  scene.number = NAN;
  assert_string_equal(judge(&scene, GATE_BATCH).rule, "running-now");
  scene.number_fails = ERR_SPEC;
  verdict = judge(&scene, GATE_BATCH);
  assert_non_null(strstr(verdict.reasons[0].text, "no such table: runs"));
  assert_false(verdict.waits);
  scene.number_fails = ERR_LOCKED; /* another answer may come */
  verdict = judge(&scene, GATE_BATCH);
  assert_string_equal(verdict.rule, "running-now");
  assert_true(verdict.waits);
  scene.now_fails = true;
  assert_false(gate_judge(&scene.arena, &scene.engine, &scene.plan, GATE_BATCH, 60, &verdict, &pass, &err));
  assert_int_equal(err.code, ERR_DATABASE);
  scene.now_fails = false;
  assert_false(gate_judge(&scene.arena, &scene.engine, &scene.plan, GATE_BATCH, NAN, &verdict, &pass, &err));
  arena_release(&scene.arena);
}

static void a_day_is_over_where_people_live(void **state) {
  Scene scene;
  Error err;
  good_scene(&scene);
  scene.now = (FEBRUARY + 28) * (Instant)DAY + 3 * 3600; /* 1 March 03:00 UTC, 28 February 22:00 in New York */
  assert_string_equal(judge(&scene, GATE_PLAN).n == 0 ? "allow" : "deny", "allow");
  assert_true(zone_open(&scene.arena, "America/New_York", &scene.plan.day_zone, &err));
  assert_string_equal(judge(&scene, GATE_PLAN).rule, "dates-not-over");
  arena_release(&scene.arena);
}

static void control_without_rows_proves_nothing(void **state) {
  Scene scene;
  good_scene(&scene);
  bad_control(&scene);
  scene.plan.control.rows = scene.plan.control.same = scene.plan.control.differing = 0;
  assert_string_equal(judge(&scene, GATE_PLAN).rule, "control");
  scene.plan.control.rows = scene.plan.control.same = 5;
  assert_true(judge(&scene, GATE_PLAN).allow);
  arena_release(&scene.arena);
}

static void json_has_every_reason(void **state) {
  Scene scene;
  BUF_SCOPED text = {0};
  Json json = {.out = &text};
  good_scene(&scene);
  near_run(&scene);
  Verdict verdict = judge(&scene, GATE_SWAP);
  gate_json(&verdict, &json);
  assert_non_null(strstr(buf_text(&text), "\"rule\":\"production-run\""));
  assert_non_null(strstr(buf_text(&text), "\"wait_until\":\"2013-03-02T02:35:00+00:00\""));
  arena_release(&scene.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_rule_denies_and_allows),
      cmocka_unit_test(declared_things_are_allowed),
      cmocka_unit_test(all_reasons_are_told_in_order),
      cmocka_unit_test(the_clock_judges_every_act),
      cmocka_unit_test(every_job_that_concerns_the_target_closes),
      cmocka_unit_test(an_interval_is_told_with_its_label),
      cmocka_unit_test(a_job_without_a_schedule_denies),
      cmocka_unit_test(few_runs_are_no_measure),
      cmocka_unit_test(a_file_of_freezes_that_is_gone_closes),
      cmocka_unit_test(a_window_that_fits_nowhere_is_told),
      cmocka_unit_test(what_cannot_be_known_denies),
      cmocka_unit_test(a_day_is_over_where_people_live),
      cmocka_unit_test(control_without_rows_proves_nothing),
      cmocka_unit_test(json_has_every_reason),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
