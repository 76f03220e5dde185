#include "view/plan_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/doc.h"
#include "scene.h"
#include "view/radius.h"
#include "view/verdict.h"

static const char allowed[] =
    "daily_delays  1–3 Feb 2013  3 dates, 20 rows  7f3a\n"
    "wrong     cancelled flights were counted as zero delay\n"
    "correct   the average covers departed flights only\n"
    "control   25–31 Jan reproduced: 222 of 222 rows identical\n"
    "reads     flights: all 3 dates present\n"
    "feeds     monthly (cascade)  worst_days (view, follows)\n"
    "window    open, no end in sight; production: none scheduled\n"
    "batches   2 Feb (4 rows), then 1, 1 dates\n"
    "undo      tidegate rollback 7f3a, for 7 days after the swap\n"
    "evidence  control dates, 1 check on every row\n"
    "unproven  that the formula is right outside the control dates\n"
    "inferred  key: flight_date, carrier (primary key)\n"
    "cost      20 rows to recompute; disk: 20 kB needed at most, 5.0 MB free\n"
    "ALLOW     production untouched. Next: tidegate run 7f3a\n";

static void an_allowed_plan_answers_every_question(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  Plan plan = scene_plan();
  Verdict verdict = {.allow = true};
  view_plan(&(Paint){.out = &out}, &arena, &plan, &verdict);
  assert_string_equal(buf_text(&out), allowed);
}

static void a_denial_gives_every_reason_and_names_no_run(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  Plan plan = scene_plan();
  static const GateReason reasons[] = {{.rule = "evidence", .text = "there is none", .hint = "declare some"},
                                       {.rule = "null-dates", .text = "3 rows have no date"}};
  Verdict verdict = {.rule = "evidence", .reasons = reasons, .n = 2};
  plan.id = NULL;
  view_plan(&(Paint){.out = &out}, &arena, &plan, &verdict);
  const char *deny = strstr(buf_text(&out), "DENY");
  assert_non_null(deny);
  assert_string_equal(deny,
                      "DENY      production untouched.\n"
                      "          - evidence: there is none\n"
                      "            HINT: declare some\n"
                      "          - null-dates: 3 rows have no date\n");
  assert_null(strstr(buf_text(&out), "tidegate run"));
}

static void a_denial_by_the_hour_says_until_when(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  Plan plan = scene_plan();
  static const GateReason reasons[] = {{.rule = "production-run", .text = "it runs", .waits = true}};
  Verdict verdict = {
      .rule = "production-run", .reasons = reasons, .n = 1, .waits = true, .wait_until = plan.planned_at + 3900};
  view_plan(&(Paint){.out = &out}, &arena, &plan, &verdict);
  assert_non_null(strstr(buf_text(&out), "window    closed until 01:05 UTC"));
  assert_non_null(strstr(buf_text(&out),
                         "DENY      production untouched. Only time is missing until 01:05 UTC. Next: "
                         "tidegate run 7f3a\n"));
}

static void faults_that_were_measured_are_shown(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  Plan plan = scene_plan();
  static const Instant missing[] = {INT64_C(1359763200)};
  static const Example examples[] = {{.date = "2013-01-25", .key = "UA", .column = "delay", .new_value = "1.5"}};
  const SourceFacts source = {.table = "flights\x1b[1m",
                              .dates_present = 2,
                              .dates_missing = missing,
                              .n_missing = 1,
                              .missing = 1,
                              .dated = true,
                              .newest = INT64_C(1388448000)};
  plan.sources = &source;
  plan.control.same = 221;
  plan.control.differing = 1;
  plan.control.examples = examples;
  plan.control.n = 1;
  view_plan(&(Paint){.out = &out}, &arena, &plan, &(Verdict){.allow = true});
  const char *text = buf_text(&out);
  assert_non_null(strstr(text,
                         "control   25–31 Jan NOT reproduced: 221 of 222 rows identical\n"
                         "          date        key  column  old   new\n"
                         "          2013-01-25  UA   delay   NULL  1.5\n"));
  assert_non_null(strstr(text, "reads     flights\\x1b[1m: 1 of 3 dates missing: 2 Feb; newest 31 Dec\n"));
}

static void the_window_is_told_in_the_schedules_own_time(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  Plan plan = scene_plan();
  const Zone *zone = NULL;
  Error err;
  assert_true(zone_open(&arena, "America/New_York", &zone, &err));
  BusyRule rule = {.guard = 900};
  assert_true(schedule_parse(&arena, "vixie", "0 2 * * *", zone, &rule.schedule, &err));
  const PlanJob job = {.name = "production", .declared = true};
  plan.clock = (PlanClock){.jobs = &job, .rules = &rule, .n = 1};
  /* 2013-02-11T00:00Z is 19:00 of the day before in New York. */
  Verdict verdict = {.allow = true,
                     .window = {.from = plan.planned_at, .to = plan.planned_at + 24300},
                     .next_run = plan.planned_at + 25200};
  assert_string_equal(view_window_text(&arena, &plan, &verdict, plan.planned_at),
                      "open until Mon 11 Feb 01:45 New York; production Mon 11 Feb 02:00, guard 15m");
  assert_string_equal(view_window_text(&arena, &plan, &verdict, plan.planned_at + 6 * 3600),
                      "open until 01:45 New York; production 02:00, guard 15m");
}

static void batches_grow_while_dates_are_left(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  Plan plan = scene_plan();
  assert_string_equal(view_batches_text(&arena, &plan), "2 Feb (4 rows), then 1, 1 dates");
  plan.n_dates = 2;
  assert_string_equal(view_batches_text(&arena, &plan), "2 Feb (4 rows), then 1 date");
  plan.overlay = true;
  assert_string_equal(view_batches_text(&arena, &plan), "1 Feb (10 rows), then 1 date");
  plan.n_dates = 1;
  assert_string_equal(view_batches_text(&arena, &plan), "1 Feb (10 rows)");
  DateRecord month[28] = {[1].suspect = 1};
  for (int i = 0; i < 28; i++) month[i].expected = 10;
  plan.overlay = false;
  plan.dates = month;
  plan.n_dates = 28;
  for (int i = 0; i < 28; i++) month[i].date = plan.range.from + i * 86400;
  assert_string_equal(view_batches_text(&arena, &plan), "2 Feb (10 rows), then 1, 2, 3, 4, 6, 9, 2 dates");
}

static void an_estimate_says_what_it_rests_on(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  Plan plan = scene_plan();
  plan.rows = 0;
  plan.estimate = (PlanEstimate){.told = true,
                                 .whole = {.rows = 30, .width = 12, .cost = 300},
                                 .one = {.cost = 10},
                                 .date = plan.dates[1].date,
                                 .trial_rows = 4,
                                 .trial_seconds = 0.5,
                                 .rows = 30,
                                 .share = 0.25,
                                 .seconds = 15,
                                 .wal = 4000000,
                                 .full_pages = 80000};
  view_plan(&(Paint){.out = &out}, &arena, &plan, &(Verdict){.allow = true});
  assert_non_null(
      strstr(buf_text(&out),
             "\nestimate  about 15 s to recompute and compare all dates; 25.0 % of the rows change: WAL 4.0 "
             "MB, and up to 80 kB more in whole pages behind a checkpoint\n"
             "          by EXPLAIN (30 rows of 12 bytes, cost 300) and 2 Feb recomputed for trial (4 rows, "
             "500 ms, cost 10); once batches are written, by their own speed\n"
             "cost      30 rows to recompute; "));
  buf_clear(&out);
  plan.estimate.seconds = -1;
  view_plan(&(Paint){.out = &out}, &arena, &plan, &(Verdict){.allow = true});
  assert_non_null(
      strstr(buf_text(&out), "\nestimate  30 rows of 12 bytes, by EXPLAIN; no date was recomputed for trial\n"));
}

static void the_json_is_valid(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  Plan plan = scene_plan();
  const DocNode *root = NULL;
  Error err;
  Json json = {.out = &out};
  json_object(&json, NULL);
  view_plan_json(&json, &plan, &(Verdict){.allow = true});
  json_object_end(&json);
  if (!doc_parse(&arena, "out", out.data, out.len, &root, &err)) fail_msg("%s\n%s", err.message, out.data);
  assert_non_null(doc_get(root, "plan"));
  assert_non_null(doc_get(root, "verdict"));
}

/* Twenty nodes: a line a need, names with their own dates where those are not the plan's. */
static void many_are_told_by_what_they_need(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  LineageNode nodes[20];
  Plan plan = scene_plan();
  for (size_t i = 0; i < 20; i++)
    nodes[i] = (LineageNode){.name = arena_printf(&arena, "n%zu", i),
                             .kind = "model",
                             .needs = i < 8 ? NEEDS_CASCADE : NEEDS_FOLLOWS,
                             .ranged = true,
                             .range = plan.range,
                             .grain = GRAIN_DAY};
  nodes[1].range.to += SCENE_DAY;
  nodes[1].why = "it sums up";
  plan.radius = (BlastRadius){.nodes = nodes, .n = 20};
  view_feeds(&(Paint){.out = &out}, &arena, &plan);
  assert_string_equal(buf_text(&out),
                      "feeds     20: 8 cascade, 12 follows. All of them: tidegate impact 7f3a\n"
                      "          cascade: n0, n1 1–4 Feb 2013, n2, n3, n4, n5 and 2 more\n"
                      "          - n1: it sums up\n");
  buf_clear(&out);
  view_stale(&(Paint){.out = &out}, &arena, &plan, "7f3a");
  assert_string_equal(buf_text(&out),
                      "stale     n0 (cascade): it was made from the old rows\n"
                      "          n1 (cascade 1–4 Feb 2013): it was made from the old rows\n"
                      "          n2 (cascade): it was made from the old rows\n"
                      "          n3 (cascade): it was made from the old rows\n"
                      "          n4 (cascade): it was made from the old rows\n"
                      "          n5 (cascade): it was made from the old rows\n"
                      "          n6 (cascade): it was made from the old rows\n"
                      "          n7 (cascade): it was made from the old rows\n"
                      "          Next: tidegate cascade 7f3a\n");
}

/* As lines of YAML that can be taken over; whatever a name holds, it stays on its line. */
static void tests_of_dbt_are_offered(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  Plan plan = scene_plan();
  static const DbtCheck tests[] = {{.name = "values\n- x", .sql = "\"a\" IN ('it''s', '\"')"},
                                   {.name = "once", .sql = "count(a) = count(DISTINCT a)", .total = true},
                                   {.name = "warns", .why = "only warns"},
                                   {.name = "own", .why = "is SQL of its own"}};
  plan.dbt_tests = tests;
  plan.n_dbt_tests = 4;
  view_plan(&(Paint){.out = &out}, &arena, &plan, &(Verdict){.allow = true});
  assert_non_null(
      strstr(buf_text(&out),
             "tests     2 tests of dbt's are asked by no check of the spec. Under `checks` they are, before "
             "the swap:\n"
             "          rows:\n"
             "            - \"\\\"a\\\" IN ('it''s', '\\\"')\" # values\\n- x\n"
             "          totals:\n"
             "            - \"count(a) = count(DISTINCT a)\" # once\n"
             "          only by dbt, after the swap: warns, which only warns; own, which is SQL of its own\n"));
  buf_clear(&out);
  plan.dbt_tests = tests + 2;
  plan.n_dbt_tests = 2;
  view_plan(&(Paint){.out = &out}, &arena, &plan, &(Verdict){.allow = true});
  assert_non_null(strstr(buf_text(&out), "\ntests     only by dbt, after the swap: warns, which"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(an_allowed_plan_answers_every_question),
                                     cmocka_unit_test(a_denial_gives_every_reason_and_names_no_run),
                                     cmocka_unit_test(a_denial_by_the_hour_says_until_when),
                                     cmocka_unit_test(faults_that_were_measured_are_shown),
                                     cmocka_unit_test(the_window_is_told_in_the_schedules_own_time),
                                     cmocka_unit_test(batches_grow_while_dates_are_left),
                                     cmocka_unit_test(an_estimate_says_what_it_rests_on),
                                     cmocka_unit_test(many_are_told_by_what_they_need),
                                     cmocka_unit_test(tests_of_dbt_are_offered),
                                     cmocka_unit_test(the_json_is_valid)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
