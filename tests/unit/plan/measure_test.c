#include <time.h>

#include "scene.h"

static void weights_and_suspects_are_counted(void **state) {
  Fixture *f = *state;
  run(f, sales_sql);
  run(f, "DELETE FROM sales WHERE day = '2024-03-06'");
  Plan plan = measured(f, GOOD);
  assert_int_equal(plan.rows, 4);
  assert_int_equal(plan.suspects, 2);
  assert_int_equal(plan.dates[0].expected, 2);
  assert_int_equal(plan.dates[0].suspect, 1);
  assert_int_equal(plan.dates[1].expected, 0); /* a date without rows has its record too */
  assert_int_equal(plan.dates[2].expected, 2);
  assert_true(plan.space.free_bytes > 0 && plan.space_needed > 0 && plan.planned_at > 0);
}

static void control_is_compared(void **state) {
  Fixture *f = *state;
  run(f, sales_sql);
  Plan plan = measured(f, GOOD);
  assert_int_equal(plan.control.rows, 6);
  assert_int_equal(plan.control.same, 6);
  assert_int_equal(plan.control.differing, 0);
  run(f,
      "UPDATE sales SET total = -1 WHERE day = '2024-03-01' AND shop = 'a';"
      "DELETE FROM sales WHERE day = '2024-03-02' AND shop = 'a';"
      "INSERT INTO sales VALUES ('2024-03-03', 'z', 1, '');");
  plan = measured(f, GOOD);
  assert_int_equal(plan.control.rows, 7); /* six recomputed, one gone from the recompute */
  assert_int_equal(plan.control.same, 4);
  assert_int_equal(plan.control.differing, 3);
  assert_true(plan.control.n >= 3);
}

static void missing_source_dates_are_listed(void **state) {
  Fixture *f = *state;
  run(f, sales_sql);
  Plan plan = measured(f, GOOD);
  assert_int_equal(plan.n_sources, 1);
  assert_string_equal(plan.sources[0].date_column, "day");
  assert_int_equal(plan.sources[0].dates_present, 3);
  assert_true(plan.sources[0].dated);
  assert_int_equal(plan.sources[0].newest, INT64_C(1710028800)); /* 10 March, behind the range */
  run(f, "DELETE FROM orders WHERE day >= '2024-03-06'; DELETE FROM sales WHERE day = '2024-03-07'");
  plan = measured(f, GOOD);
  assert_int_equal(plan.sources[0].dates_present, 1);
  assert_int_equal(plan.sources[0].missing, 2);
  assert_int_equal(plan.sources[0].dates_missing[0], plan.dates[1].date);
  assert_int_equal(plan.sources[0].newest, plan.dates[0].date);
  assert_int_equal(plan.sources[0].at_risk, 1); /* production has no rows on the other */
  plan = measured(f, GOOD "allow: {emptied_dates: [2024-03-06]}\n");
  assert_int_equal(plan.sources[0].at_risk, 0);
}

static void bad_keys_and_dates_are_counted(void **state) {
  Fixture *f = *state;
  run(f, sales_sql);
  run(f,
      "CREATE TABLE plain (day TEXT, shop TEXT, total INTEGER); INSERT INTO plain VALUES "
      "('2024-03-05', 'a', 1), ('2024-03-05', 'a', 2), ('2024-03-06', NULL, 3), (NULL, 'a', 4);");
  Plan plan = measured(f,
                       "target: plain\nrange: 2024-03-05..2024-03-07\nwrong: w\ncorrect: c\nkey: [day, shop]\n"
                       "changes: {total: true}\nproduction: none\n" RECOMPUTE);
  assert_int_equal(plan.null_dates, 1);
  assert_int_equal(plan.null_keys, 1);
  assert_true(plan.duplicate_keys > 0);
}

static bool stop(void *context) { return false; }

static void it_can_be_stopped(void **state) {
  Fixture *f = *state;
  Error err = {0};
  Interrupt interrupt = {.go_on = stop};
  run(f, sales_sql);
  Plan plan = plan_of(f, GOOD);
  assert_refused(plan_measure(&f->arena, f->engine, &plan, &interrupt, &err), &err, ERR_PAUSED, "");
}

static void ten_thousand_dates_take_no_time(void **state) {
  Fixture *f = *state;
  struct timespec from, to;
  run(f,
      "CREATE TABLE sales (day TEXT PRIMARY KEY, total INTEGER);"
      "CREATE TABLE orders (day TEXT, total INTEGER); CREATE INDEX o ON orders (day);"
      "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)"
      "INSERT INTO orders SELECT date('1990-01-01', i || ' days'), i FROM n;"
      "INSERT INTO sales SELECT * FROM orders");
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
  Plan plan = measured(f,
                       "target: sales\nrange: 1990-01-01..2017-05-18\nwrong: w\ncorrect: c\nchanges: {total: true}\n"
                       "recompute: SELECT * FROM orders WHERE day >= :from AND day < :to\n");
  BUF_SCOPED text = {0};
  Json json = {.out = &text};
  plan_json(&plan, &json);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
  assert_int_equal(plan.n_dates, 10000);
  assert_int_equal(plan.sources[0].dates_present, 10000);
  print_message("10,000 dates planned in %.3f s\n",
                (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(weights_and_suspects_are_counted),
      FIXTURE_TEST(control_is_compared),
      FIXTURE_TEST(missing_source_dates_are_listed),
      FIXTURE_TEST(bad_keys_and_dates_are_counted),
      FIXTURE_TEST(it_can_be_stopped),
      FIXTURE_TEST(ten_thousand_dates_take_no_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
