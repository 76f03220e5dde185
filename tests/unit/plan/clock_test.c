#include <unistd.h>

#include "scene.h"

/* The plan of a backfill whose tidegate.yaml is this. The recompute reads orders. */
static bool try_with(Fixture *f, const char *pipeline, Plan *ret, Error *err) {
  Spec spec;
  static const char backfill[] = HEAD EVIDENCE RECOMPUTE;
  must(spec_parse(&f->arena, "/nowhere/sales.yaml", backfill, "/nowhere/tidegate.yaml", pipeline, &spec, err), err);
  return plan_resolve(&f->arena, f->engine, &spec, ret, err);
}

static Plan with(Fixture *f, const char *pipeline) {
  Plan plan;
  Error err = {0};
  must(try_with(f, pipeline, &plan, &err), &err);
  return plan;
}

static void the_jobs_that_concern_the_target(void **state) {
  Fixture *f = *state;
  run(f, sales_sql);
  Plan plan = with(f,
                   "production: {schedule: 0 2 * * *, p95: 20m}\n"
                   "jobs:\n"
                   "  other: {writes: [elsewhere], reads: [orders], schedule: 0 1 * * *}\n" /* as the recompute does */
                   "  load: {writes: main.ORDERS, schedule: 0 3 * * *}\n"
                   "  fix: {writes: [sales], reads: [orders], schedule: 0 4 * * *}\n"
                   "  report: {reads: [sales]}\n"
                   "  both: {writes: orders, reads: sales, schedule: none}\n");
  static const struct {
    const char *name;
    unsigned concerns;
    bool declared, scheduled;
  } expected[] = {{"production", CONCERNS_WRITES, true, true},
                  {"load", CONCERNS_FEEDS, true, true},
                  {"fix", CONCERNS_WRITES, true, true},
                  {"report", CONCERNS_READS, false, false},
                  {"both", CONCERNS_READS | CONCERNS_FEEDS, true, false}};
  assert_int_equal(plan.clock.n, 5);
  for (size_t i = 0; i < 5; i++) {
    assert_string_equal(plan.clock.jobs[i].name, expected[i].name);
    assert_int_equal(plan.clock.jobs[i].concerns, expected[i].concerns);
    assert_int_equal(plan.clock.jobs[i].declared, expected[i].declared);
    assert_int_equal(plan.clock.rules[i].schedule != NULL, expected[i].scheduled);
  }
}

static void a_job_that_writes_the_target_stands_for_production(void **state) {
  Fixture *f = *state;
  run(f, sales_sql);
  assert_false(with(f, NULL).clock.jobs[0].declared);
  assert_true(with(f, "production: none\n").clock.jobs[0].declared);
  assert_false(with(f, "jobs: {load: {writes: orders, schedule: 0 2 * * *}}\n").clock.jobs[0].declared);
  Plan plan = with(f, "jobs: {load: {writes: sales}}\n");
  assert_true(plan.clock.jobs[0].declared);
  assert_false(plan.clock.jobs[1].declared);
}

static void zones_of_jobs(void **state) {
  Fixture *f = *state;
  run(f, sales_sql);
  Plan plan =
      with(f,
           "production: {schedule: 0 2 * * *, zone: Europe/Berlin}\n"
           "jobs: {a: {writes: sales, schedule: 0 3 * * *}, b: {writes: sales, schedule: 0 4 * * *, zone: UTC}}\n"
           "freeze: month end\n");
  assert_string_equal(zone_name(schedule_zone(plan.clock.rules[1].schedule)), "Europe/Berlin");
  assert_string_equal(zone_name(schedule_zone(plan.clock.rules[2].schedule)), "UTC");
  assert_string_equal(zone_name(plan.clock.freezes.zone), "Europe/Berlin");
  assert_int_equal(plan.n_warnings, 0);
  plan =
      with(f,
           "jobs: {a: {reads: sales, schedule: 0 3 * * *, zone: Asia/Tokyo}, b: {writes: sales, schedule: 0 4 * * *, "
           "zone: Europe/Berlin}}\nidle: 22:00-06:00\nfreeze: month end\n");
  assert_string_equal(zone_name(plan.clock.freezes.zone), "Europe/Berlin");
  assert_string_equal(zone_name(plan.clock.idle.zone), "Europe/Berlin");
  plan = with(f, "jobs: {load: {writes: sales, schedule: 0 3 * * *}}\n");
  assert_among(plan.warnings, plan.n_warnings, "the schedule of load has no zone");
}

static void refused(Fixture *f, const char *pipeline, const char *where, const char *message) {
  Plan plan;
  Error err = {0};
  assert_false(try_with(f, pipeline, &plan, &err));
  assert_int_equal(err.code, ERR_SPEC);
  assert_string_equal(err.where, where);
  assert_has(err.message, message);
}

static void what_is_wrong_is_said_at_its_place(void **state) {
  Fixture *f = *state;
  run(f, sales_sql);
  refused(f, "jobs: {load: {writes: orders, schedule: 61 2 * * *}}\n", "/nowhere/tidegate.yaml:1:41", "61");
  refused(f, "jobs: {load: {writes: orders, schedule: 0 2 * * *, zone: Mars}}\n", "/nowhere/tidegate.yaml:1:58",
          "Mars");
  refused(f, "freeze: [month end, 30 February]\n", "/nowhere/tidegate.yaml:1:21", "no such day");
  refused(f, "idle: Mon-Fri 22:00\n", "/nowhere/tidegate.yaml:1:7", "the end is missing");
  /* A job that does not concern this target is none of its business. */
  with(f, "jobs: {load: {writes: elsewhere, schedule: 61 2 * * *}}\n");
}

static void a_file_of_freezes(void **state) {
  Fixture *f = *state;
  char path[] = "/tmp/tidegate-freeze-XXXXXX";
  run(f, sales_sql);
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  const char *pipeline = arena_printf(&f->arena, "production: none\nfreeze: [month end, {file: %s}]\n", path);
  static const char days[] = "# ours\n2026-12-24..2026-12-26\n";
  assert_int_equal(write(fd, days, sizeof days - 1), sizeof days - 1);
  Plan plan = with(f, pipeline);
  assert_null(plan.clock.freeze_unknown);
  assert_int_equal(plan.clock.freezes.n, 2);
  assert_has(plan.clock.freezes.items[1].text, ":2)");
  assert_int_equal(write(fd, "soon\n", 5), 5);
  plan = with(f, pipeline);
  assert_has(plan.clock.freeze_unknown, arena_printf(&f->arena, "%s:3:1: ", path));
  close(fd);
  unlink(path);
  plan = with(f, pipeline);
  assert_has(plan.clock.freeze_unknown, "/nowhere/tidegate.yaml:2:28: cannot read");
  assert_int_equal(plan.clock.freezes.n, 1);
}

static void the_digest_follows_the_jobs(void **state) {
  Fixture *f = *state;
  run(f, sales_sql);
  const char *digest = with(f, "jobs: {load: {writes: orders, schedule: 0 2 * * *, p95: 1m}}\n").digest;
  static const char *const changed[] = {
      "jobs: {load: {writes: orders, schedule: 0 3 * * *, p95: 1m}}\n",
      "jobs: {load: {writes: orders, schedule: 0 2 * * *, p95: 2m}}\n",
      "jobs: {load: {writes: orders, schedule: 0 2 * * *, p95: 1m, runs: 3}}\n",
      "jobs: {load: {writes: orders, schedule: 0 2 * * *, p95: 1m, zone: Asia/Tokyo}}\n",
      "jobs: {load: {writes: orders, schedule: 0 2 * * *, p95: 1m, timetable: interval}}\n",
      "jobs: {load: {writes: orders, schedule: 0 2 * * *, p95: 1m, live: {role: etl}}}\n",
      "jobs: {load: {writes: [orders, sales], schedule: 0 2 * * *, p95: 1m}}\n",
      "jobs: {load: {writes: orders, schedule: 0 2 * * *, p95: 1m}, b: {reads: sales}}\n",
      "jobs: {load: {writes: orders, schedule: 0 2 * * *, p95: 1m}}\nfreeze: month end\n",
  };
  static const char *const same[] = {
      "jobs: {load: {writes: orders, schedule: 0 2 * * *, p95: 1m, measured: 2026-11-01, from: airflow}}\n",
      "jobs: {load: {writes: orders, schedule: 0 2 * * *, p95: 1m}, b: {reads: elsewhere, schedule: 0 9 * * *}}\n"};
  for (size_t i = 0; i < sizeof changed / sizeof *changed; i++)
    if (strcmp(with(f, changed[i]).digest, digest) == 0) fail_msg("the same digest: %s", changed[i]);
  for (size_t i = 0; i < sizeof same / sizeof *same; i++)
    if (strcmp(with(f, same[i]).digest, digest) != 0) fail_msg("another digest: %s", same[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(the_jobs_that_concern_the_target),
      FIXTURE_TEST(a_job_that_writes_the_target_stands_for_production),
      FIXTURE_TEST(zones_of_jobs),
      FIXTURE_TEST(what_is_wrong_is_said_at_its_place),
      FIXTURE_TEST(a_file_of_freezes),
      FIXTURE_TEST(the_digest_follows_the_jobs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
