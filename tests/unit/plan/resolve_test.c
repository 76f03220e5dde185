#include "scene.h"

static void names_and_columns_are_found(void **state) {
  Fixture *f = *state;
  run(f, sales_sql);
  Plan plan = plan_of(f, GOOD);
  assert_string_equal(plan.shape.table, "sales");
  assert_int_equal(plan.shape.n, 4);
  assert_int_equal(plan.shape.date, 0);
  for (size_t i = 0; i < 3; i++) assert_true(plan.shape.columns[i].given); /* by name, never by position (B23) */
  assert_false(plan.shape.columns[3].given);
  assert_true(plan.shape.keyed);
  assert_int_equal(plan.n_dates, 3);
  assert_false(plan.overlay);
  assert_int_equal(plan.n_reads, 1);
  assert_int_equal(plan.radius.n, 1);
  assert_int_equal(plan.radius.nodes[0].needs, NEEDS_FOLLOWS);
  assert_inferred(&plan, "date_column", "day", "only date-like");
  assert_inferred(&plan, "date_kind", "date", "sampled");
  assert_inferred(&plan, "grain", "day", "default");
  assert_inferred(&plan, "key", "day, shop", "primary key");
  assert_inferred(&plan, "preserve", "note", "not given");
  assert_among(plan.unproven, plan.n_unproven, "totals");
  assert_false(plan.measured);
  assert_int_equal(strlen(plan.digest), 32);
}

/* A spec that must be refused: what the message says, and where. */
static const struct {
  const char *sql, *yaml, *message, *where;
  ErrorCode code;
} refused[] = {
    {"", "target: sale\nrange: 2024-03-05\nwrong: w\ncorrect: c\n" EVIDENCE RECOMPUTE, "no table “sale”", ":1:9",
     ERR_NOT_FOUND},
    {"", "target: best\nrange: 2024-03-05\nwrong: w\ncorrect: c\n" EVIDENCE RECOMPUTE, "is a view", ":1:9", ERR_SPEC},
    {"", HEAD EVIDENCE "recompute: SELECT day, shop, 1 AS totl FROM orders WHERE day >= :from AND day < :to\n",
     "“totl” is not a column of sales", "", ERR_SPEC},
    {"", HEAD EVIDENCE "recompute: SELECT day, shop, shop FROM orders WHERE day >= :from AND day < :to\n",
     "“shop” twice", "", ERR_SPEC},
    {"", HEAD EVIDENCE "recompute: SELECT shop, amount AS total FROM orders WHERE day >= :from AND day < :to\n",
     "“day” is not given", "", ERR_SPEC},
    {"", HEAD EVIDENCE "recompute: SELECT day, shop, amount AS total FROM orders\n", ":from and :to", "", ERR_SPEC},
    {"", HEAD EVIDENCE "recompute: SELECT day, shop, amount AS total FROM orders WHERE day >= :from\n", ":to", "",
     ERR_SPEC},
    {"",
     HEAD EVIDENCE "recompute: |\n  SELECT day, shop,\n    amonut AS total\n  FROM orders WHERE day >= :from AND day "
                   "< :to\n",
     "amonut", ":8:5", ERR_SPEC},
    {"", HEAD "changes: {shop: true}\n" RECOMPUTE, "part of the key", ":5:11", ERR_SPEC},
    {"", HEAD "changes: {totl: true}\n" RECOMPUTE, "“totl” is not a column", ":5:11", ERR_SPEC},
    {"", HEAD "changes: {note: shop = 'a'}\n" RECOMPUTE, "does not give it", ":5:11", ERR_SPEC},
    {"", HEAD "changes: {total: shp = 'a'}\n" RECOMPUTE, "shp", ":5:18", ERR_SPEC},
    {"", HEAD "checks: {rows: [totl > 0]}\n" RECOMPUTE, "totl", ":5:17", ERR_SPEC},
    {"", HEAD "control: 2024-03-07..2024-03-09\n" RECOMPUTE, "overlap", ":5:10", ERR_SPEC},
    {"", HEAD EVIDENCE "key: [day, id]\n" RECOMPUTE, "“id” is not a column", ":6:12", ERR_SPEC},
    {"", HEAD EVIDENCE "key: [day, note]\n" RECOMPUTE, "not given by the recompute", ":6:12", ERR_SPEC},
    {"", HEAD EVIDENCE "date_column: dya\n" RECOMPUTE, "“dya” is not a column", ":6:14", ERR_SPEC},
    {"", HEAD EVIDENCE "date_kind: unix_seconds\n" RECOMPUTE, "no date of the kind “unix_seconds”", "", ERR_SPEC},
    {"", HEAD EVIDENCE "preserve: [nothing]\n" RECOMPUTE, "“nothing” is not a column", ":6:12", ERR_SPEC},
    {"", HEAD EVIDENCE "sources: {ordrs: day}\n" RECOMPUTE, "does not read “ordrs”", ":6:11", ERR_SPEC},
    {"ALTER TABLE sales ADD COLUMN seen DATE;", GOOD, "2 columns of sales look like a date: day, seen", ":1:9",
     ERR_SPEC},
    {"UPDATE sales SET day = 'soon' WHERE rowid = 3;", GOOD, "no column of sales looks like a date", ":1:9", ERR_SPEC},
    {"UPDATE sales SET day = 'soon' WHERE rowid = 3;", HEAD EVIDENCE "date_column: day\n" RECOMPUTE, "holds “soon”",
     ":6:14", ERR_SPEC},
    {"UPDATE sales SET day = day || 'T00:00:00+02:00';", GOOD, "offsets do not sort", "", ERR_SPEC},
    {"ALTER TABLE sales ADD COLUMN twice AS (total * 2);",
     HEAD EVIDENCE "recompute: SELECT day, shop, amount AS total, 1 AS twice FROM orders WHERE day >= :from AND day < "
                   ":to\n",
     "generated", "", ERR_SPEC},
};

static void what_is_wrong_is_said_with_its_place(void **state) {
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    void *own;
    Plan plan;
    Error err = {0};
    fixture_setup(&own);
    Fixture *f = own;
    run(f, sales_sql);
    run(f, refused[i].sql);
    if (try_plan(f, refused[i].yaml, &plan, &err)) fail_msg("%s: not refused", refused[i].message);
    assert_refused(false, &err, refused[i].code, refused[i].message);
    assert_has(err.where, "/nowhere/sales.yaml:");
    assert_has(err.where, refused[i].where);
    assert_true(strlen(error_hint_text(&err)) > 0);
    fixture_teardown(&own);
  }
}

static void the_nearest_name_is_offered(void **state) {
  Fixture *f = *state;
  Plan plan;
  Error err = {0};
  run(f, sales_sql);
  assert_false(try_plan(f, HEAD "changes: {totl: true}\n" RECOMPUTE, &plan, &err));
  assert_has(err.hint, "“total”");
}

static void a_key_is_taken_from_a_unique_index(void **state) {
  Fixture *f = *state;
  run(f, sales_sql);
  run(f,
      "CREATE TABLE plain (day TEXT NOT NULL, shop TEXT NOT NULL, total INTEGER);"
      "INSERT INTO plain SELECT day, shop, total FROM sales;");
  const char *yaml = "target: plain\nrange: 2024-03-05\nwrong: w\ncorrect: c\n" EVIDENCE RECOMPUTE;
  Plan plan = plan_of(f, yaml);
  assert_false(plan.shape.keyed);
  assert_among(plan.warnings, plan.n_warnings, "whole dates are replaced");
  run(f,
      "CREATE UNIQUE INDEX some_days ON plain (day, shop) WHERE total > 0;"
      "CREATE UNIQUE INDEX with_null ON plain (day, shop, total);");
  assert_false(plan_of(f, yaml).shape.keyed);
  run(f, "CREATE UNIQUE INDEX one_a_day ON plain (shop, day);");
  plan = plan_of(f, yaml);
  assert_inferred(&plan, "key", "shop, day", "unique index one_a_day");
  assert_true(plan.has_constraints); /* the two others */
}

static void numbers_are_dates_when_their_name_says_so(void **state) {
  Fixture *f = *state;
  static const char yaml[] =
      "target: ev\nrange: 2024-03-05\nwrong: w\ncorrect: c\ncontrol: 2024-03-01\n"
      "production: {schedule: 0 2 * * *, zone: Asia/Tokyo, p95: 1m}\n"
      "recompute: SELECT id, made_at FROM ev WHERE made_at >= :from AND made_at < :to\n";
  run(f, "CREATE TABLE ev (id INTEGER PRIMARY KEY, made_at INTEGER); INSERT INTO ev VALUES (1, 1709600000);");
  Plan plan = plan_of(f, yaml);
  assert_inferred(&plan, "date_kind", "unix_seconds", "its name");
  assert_true(plan.overlay);
  assert_among(plan.warnings, plan.n_warnings, "Asia/Tokyo"); /* B09 */
  run(f, "UPDATE ev SET made_at = made_at * 1000");
  plan = plan_of(f, yaml);
  assert_inferred(&plan, "date_kind", "unix_millis", "its name");
  run(f, "ALTER TABLE ev RENAME COLUMN made_at TO n;");
  Error err = {0};
  assert_refused(try_plan(f,
                          "target: ev\nrange: 2024-03-05\nwrong: w\ncorrect: c\ncontrol: 2024-03-01\ndate_column: n\n"
                          "recompute: SELECT id, n FROM ev WHERE n >= :from AND n < :to\n",
                          &plan, &err),
                 &err, ERR_SPEC, "cannot be told");
  assert_has(err.hint, "date_kind");
}

static void a_command_gives_every_column(void **state) {
  Fixture *f = *state;
  run(f, sales_sql);
  Plan plan = plan_of(f, HEAD
                      "control: 2024-03-01\nproduction: none\nsources: {orders: day}\n"
                      "recompute: {command: [./make, '{shadow}']}\n");
  assert_null(plan.recompute);
  for (size_t i = 0; i < plan.shape.n; i++) assert_true(plan.shape.columns[i].given);
  assert_int_equal(plan.n_sources, 1);
  assert_among(plan.unproven, plan.n_unproven, "a command is not run while planning");
}

static void without_a_key_the_change_scope_proves_nothing(void **state) {
  Fixture *f = *state;
  run(f, sales_sql);
  run(f, "CREATE TABLE heap (day TEXT, total INTEGER); INSERT INTO heap SELECT day, total FROM sales");
  Plan plan = plan_of(f,
                      "target: heap\nrange: 2024-03-05\nwrong: w\ncorrect: c\nchanges: total\nproduction: none\n"
                      "recompute: SELECT day, total FROM sales WHERE day >= :from AND day < :to\n");
  assert_false(plan.shape.keyed);
  assert_among(plan.unproven, plan.n_unproven, "without a key");
}

static void the_digest_follows_what_the_plan_rests_on(void **state) {
  Fixture *f = *state;
  run(f, sales_sql);
  const char *digest = plan_of(f, GOOD).digest;
  assert_string_equal(plan_of(f, GOOD).digest, digest);
  run(f, "INSERT INTO sales VALUES ('2024-04-01', 'a', 1, '')");
  assert_string_equal(plan_of(f, GOOD).digest, digest); /* rows are not of the plan */
  assert_string_not_equal(plan_of(f, GOOD "# more\n").digest, digest);
  run(f, "CREATE VIEW worst AS SELECT min(total) FROM sales");
  const char *wider = plan_of(f, GOOD).digest;
  assert_string_not_equal(wider, digest);
  run(f, "ALTER TABLE sales ADD COLUMN extra");
  assert_string_not_equal(plan_of(f, GOOD).digest, wider);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(names_and_columns_are_found),
      cmocka_unit_test(what_is_wrong_is_said_with_its_place),
      FIXTURE_TEST(the_nearest_name_is_offered),
      FIXTURE_TEST(a_key_is_taken_from_a_unique_index),
      FIXTURE_TEST(numbers_are_dates_when_their_name_says_so),
      FIXTURE_TEST(a_command_gives_every_column),
      FIXTURE_TEST(without_a_key_the_change_scope_proves_nothing),
      FIXTURE_TEST(the_digest_follows_what_the_plan_rests_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
