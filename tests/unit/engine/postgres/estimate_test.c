#include "server.h"

#include "engine/postgres/work.h"

/* What the planner says of a recompute: rows, width, cost, and which tables are read from end to end. */

static int estimate_setup(void **state) {
  if (fixture_setup(state) != 0) return -1;
  Fixture *f = *state;
  if (f == NULL) return 0;
  run(f, "CREATE SCHEMA \"Raw\"");
  run(f, "CREATE TABLE \"Raw\".\"the rows\" (day date NOT NULL, id int NOT NULL, n bigint)");
  run(f,
      "INSERT INTO \"Raw\".\"the rows\" SELECT date '2024-01-01' + i / 1000, i, i FROM generate_series(0, 29999) AS i");
  run(f, "CREATE TABLE fact (day date NOT NULL, id int PRIMARY KEY, n bigint)");
  run(f, "CREATE TABLE parts (day date NOT NULL, id int NOT NULL, n bigint) PARTITION BY RANGE (day)");
  run(f, "CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM ('2024-01-01') TO ('2024-01-16')");
  run(f, "CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM ('2024-01-16') TO ('2024-02-01')");
  run(f, "INSERT INTO parts SELECT * FROM \"Raw\".\"the rows\"");
  run(f, "ANALYZE");
  return 0;
}
#define ESTIMATE_TEST(name) cmocka_unit_test_setup_teardown(name, estimate_setup, fixture_teardown)

static Shape fact(Fixture *f) {
  ShapeColumn *columns = arena_array(&f->arena, 3, sizeof *columns);
  columns[0] = (ShapeColumn){.name = "day", .type = "date", .given = true, .not_null = true};
  columns[1] = (ShapeColumn){.name = "id", .type = "integer", .key = true, .given = true, .not_null = true};
  columns[2] = (ShapeColumn){.name = "n", .type = "bigint", .given = true};
  return (Shape){.table = "fact",
                 .columns = columns,
                 .n = 3,
                 .keyed = true,
                 .codec = {.kind = DATE_TEXT, .grain = GRAIN_DAY, .zone = zone_utc(), .separator = ' '}};
}

/* Of the dates of a range, as text. */
static EstimateFacts of(Fixture *f, const char *recompute, const char *range) {
  Shape shape = fact(f);
  DateRange dates = {0};
  EstimateFacts facts = {0};
  Error err = {0};
  must(date_range_parse(range, GRAIN_DAY, zone_utc(), &dates, &err), &err);
  const Instant ends[] = {dates.from, dates.to};
  Job job = {.shape = &shape, .recompute = recompute, .range = dates, .dates = ends, .n = 1};
  must(pg_estimate(f->engine, &f->arena, &job, &facts, &err), &err);
  assert_false(pg_in_transaction(pg_engine(f->engine)));
  return facts;
}

static void within(double value, double low, double high) {
  if (value < low || value > high) fail_msg("%g is not between %g and %g", value, low, high);
}

#define ROWS "SELECT day, id, n FROM \"Raw\".\"the rows\" WHERE day >= :from AND day < :to"

static void rows_width_and_cost_of_a_range(void **state) {
  Fixture *f = fixture_of(state);
  EstimateFacts whole = of(f, ROWS, "2024-01-01..2024-01-20"), one = of(f, ROWS, "2024-01-05");
  within(whole.rows, 10000, 40000);
  within(one.rows, 500, 2000);
  assert_true(whole.width == 16); /* date 4, integer 4, bigint 8 */
  assert_true(whole.cost >= one.cost);
  assert_int_equal(one.n_scans, 1);
  assert_string_equal(one.scans[0].table, "\"Raw\".\"the rows\"");
  within(one.scans[0].rows, 29000, 31000);
  within(one.scans[0].kept, 500, 2000);
}

static void an_index_spares_the_scan(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE INDEX ON \"Raw\".\"the rows\" (day)");
  EstimateFacts whole = of(f, ROWS, "2024-01-01..2024-01-20"), one = of(f, ROWS, "2024-01-05");
  assert_int_equal(one.n_scans, 0);
  assert_true(whole.cost > 5 * one.cost);
}

static void partitions_count_as_their_table(void **state) {
  Fixture *f = fixture_of(state);
  static const char sql[] = "SELECT day, id, n FROM parts WHERE day >= :from AND day < :to";
  EstimateFacts whole = of(f, sql, "2024-01-01..2024-01-30"), one = of(f, sql, "2024-01-05");
  assert_int_equal(whole.n_scans, 1);
  assert_string_equal(whole.scans[0].table, "parts");
  within(whole.scans[0].rows, 29000, 31000);
  assert_int_equal(one.n_scans, 1);
  within(one.scans[0].rows, 14000, 16000); /* the other partition is left out */
}

static void scans_inside_of_joins_and_subqueries(void **state) {
  Fixture *f = fixture_of(state);
  EstimateFacts one = of(f,
                         "WITH s AS MATERIALIZED (SELECT * FROM parts) SELECT r.day, r.id, (SELECT max(n) FROM s) AS n "
                         "FROM \"Raw\".\"the rows\" r WHERE r.day >= :from AND r.day < :to -- the end",
                         "2024-01-05");
  assert_int_equal(one.n_scans, 2);
}

static void a_table_that_was_never_analysed(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE TABLE fresh (day date NOT NULL, id int, n bigint)");
  run(f, "INSERT INTO fresh SELECT * FROM \"Raw\".\"the rows\"");
  EstimateFacts one = of(f, "SELECT day, id, n FROM fresh WHERE day >= :from AND day < :to", "2024-01-05");
  assert_int_equal(one.n_scans, 1);
  assert_true(one.scans[0].rows > 0 && one.cost > 0);
}

static void nothing_of_it_is_run(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE SEQUENCE counter");
  of(f, "SELECT day, nextval('counter')::int AS id, n FROM parts WHERE day >= :from AND day < :to", "2024-01-05");
  assert_string_equal(one(f, "SELECT is_called::text FROM counter"), "false");
}

static void what_the_server_says_of_a_query_that_it_cannot_plan(void **state) {
  Fixture *f = fixture_of(state);
  Shape shape = fact(f);
  EstimateFacts facts;
  Error err = {0};
  const Instant ends[] = {0, 86400};
  Job job = {.shape = &shape, .recompute = "SELECT day, id, n FROM nowhere", .dates = ends, .n = 1};
  assert_refused(pg_estimate(f->engine, &f->arena, &job, &facts, &err), &err, ERR_NOT_FOUND, "nowhere");
  assert_false(pg_in_transaction(pg_engine(f->engine)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      ESTIMATE_TEST(rows_width_and_cost_of_a_range),
      ESTIMATE_TEST(an_index_spares_the_scan),
      ESTIMATE_TEST(partitions_count_as_their_table),
      ESTIMATE_TEST(scans_inside_of_joins_and_subqueries),
      ESTIMATE_TEST(a_table_that_was_never_analysed),
      ESTIMATE_TEST(nothing_of_it_is_run),
      ESTIMATE_TEST(what_the_server_says_of_a_query_that_it_cannot_plan),
  };
  return cmocka_run_group_tests(tests, server_start, server_stop);
}
