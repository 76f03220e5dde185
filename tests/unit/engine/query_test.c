#include "open.h"

static int query_setup(void **state) {
  fixture_setup(state);
  run(*state,
      "CREATE TABLE flights (flight_date TEXT, origin TEXT, dep_delay REAL); CREATE TABLE \"odd 'name\" (\"a b\", n);"
      "CREATE VIEW slow AS SELECT flight_date, avg(dep_delay) AS d FROM flights GROUP BY 1;"
      "CREATE VIEW today AS SELECT * FROM flights WHERE flight_date = date('now')");
  return 0;
}
#define QUERY_TEST(name) cmocka_unit_test_setup_teardown(name, query_setup, fixture_teardown)

static QueryFacts describe(Fixture *f, const char *sql) {
  QueryFacts facts;
  Error err = {0};
  int offset;
  must(sqlite_describe_query(f->engine, &f->arena, sql, &facts, &offset, &err), &err);
  return facts;
}

/* "table(column,…) table(…)" */
static const char *reads_of(Fixture *f, const char *sql) {
  QueryFacts facts = describe(f, sql);
  BUF_SCOPED text = {0};
  for (size_t i = 0; i < facts.n_reads; i++) {
    buf_printf(&text, "%s%s(", i == 0 ? "" : " ", facts.reads[i].table);
    for (size_t j = 0; j < facts.reads[i].n; j++)
      buf_printf(&text, "%s%s", j == 0 ? "" : ",", facts.reads[i].columns[j]);
    buf_putc(&text, ')');
  }
  return arena_strdup(&f->arena, buf_text(&text));
}

static const char *volatile_of(Fixture *f, const char *sql) {
  QueryFacts facts = describe(f, sql);
  BUF_SCOPED text = {0};
  for (size_t i = 0; i < facts.n_volatile; i++)
    buf_printf(&text, "%s%s", i == 0 ? "" : " ", facts.volatile_functions[i]);
  return arena_strdup(&f->arena, buf_text(&text));
}

static void refused(Fixture *f, const char *sql, int place, const char *message, const char *hint) {
  QueryFacts facts;
  Error err = {0};
  int offset = -2;
  bool ok = sqlite_describe_query(f->engine, &f->arena, sql, &facts, &offset, &err);
  if (ok) fail_msg("not refused: %s", sql);
  assert_refused(ok, &err, ERR_SPEC, message);
  assert_has(error_hint_text(&err), hint);
  if (offset != place) fail_msg("place %d instead of %d: %s", offset, place, sql);
}

static void columns_and_parameters(void **state) {
  Fixture *f = *state;
  QueryFacts facts = describe(f,
                              "SELECT flight_date, count(*) AS \"n f\", max(dep_delay) FROM flights\n"
                              "WHERE flight_date >= :from AND flight_date < :to GROUP BY 1");
  assert_int_equal(facts.n_columns, 3);
  assert_string_equal(facts.columns[1], "n f");
  assert_string_equal(facts.columns[2], "max(dep_delay)");
  assert_true(facts.uses_from && facts.uses_to);
  facts = describe(f, "SELECT * FROM flights WHERE flight_date >= :from_date");
  assert_true(facts.uses_from && !facts.uses_to);
  facts = describe(f, "WITH c AS (SELECT origin FROM flights) SELECT * FROM c");
  assert_true(!facts.uses_from && !facts.uses_to);
  assert_string_equal(facts.columns[0], "origin");
}

static void tables_behind_views_are_read(void **state) {
  Fixture *f = *state;
  assert_string_equal(reads_of(f, "SELECT origin FROM Flights WHERE dep_delay > 1"), "flights(origin,dep_delay)");
  assert_string_equal(reads_of(f, "SELECT d FROM slow"), "flights(flight_date,dep_delay) slow(d)");
  assert_string_equal(reads_of(f, "SELECT count(*) FROM flights"), "flights()");
  assert_string_equal(reads_of(f, "SELECT \"a b\" FROM \"odd 'name\""), "odd 'name(a b)");
  assert_string_equal(reads_of(f, "WITH flights2 AS (SELECT n FROM \"odd 'name\") SELECT n FROM flights2"),
                      "odd 'name(n)");
  assert_string_equal(reads_of(f, "SELECT value FROM json_each('[1]')"), "");
  assert_string_equal(reads_of(f, "VALUES (1)"), "");
}

static void what_may_differ_the_next_time(void **state) {
  Fixture *f = *state;
  assert_string_equal(volatile_of(f, "SELECT origin FROM flights"), "");
  assert_string_equal(volatile_of(f, "SELECT random(), RandomBlob(4), changes(), total_changes()"),
                      "random randomblob changes total_changes");
  assert_string_equal(volatile_of(f, "SELECT last_insert_rowid()"), "last_insert_rowid");
  assert_string_equal(volatile_of(f, "SELECT CURRENT_DATE, current_time, current_timestamp"),
                      "current_date current_time current_timestamp");
  assert_string_equal(volatile_of(f, "SELECT date('NOW', '-1 day'), DateTime ( /* x */ ), strftime('%s')"),
                      "date('now') datetime('now') strftime('now')");
  assert_string_equal(volatile_of(f, "SELECT strftime('%s', coalesce(NULL, 'now')), julianday(), unixepoch('now')"),
                      "strftime('now') julianday('now') unixepoch('now')");
  assert_string_equal(
      volatile_of(f, "SELECT date(flight_date), strftime('%s', flight_date), 'date()', 'now' FROM flights"), "");
  assert_string_equal(volatile_of(f, "SELECT origin FROM today"), "date('now')");
}

static void what_is_not_one_reading_statement(void **state) {
  Fixture *f = *state;
  refused(f, "", 0, "empty", "");
  refused(f, " -- nothing\n ", 13, "empty", "");
  refused(f, "SELECT 1; SELECT 2", 10, "several statements", "one statement");
  refused(f, "SELECT 1;", 8, "ends in ';'", "take the ';' away");
  refused(f, "SELECT 1 -- why", 15, "ends in a comment", "/* … */");
  refused(f, "SELECT 'it", 7, "never closed", "");
  refused(f, "SELECT 1 /* it", 9, "never closed", "");
  refused(f, "SELECT (1", 7, "never closes", "");
  refused(f, "DELETE FROM flights", -1, "writes", "SELECT");
  refused(f, "INSERT INTO flights (origin) VALUES (1) RETURNING origin", -1, "writes", "SELECT");
  refused(f, "WITH c AS (SELECT 1) UPDATE flights SET origin = 1", -1, "writes", "SELECT");
  refused(f, "REPLACE INTO flights SELECT * FROM flights", -1, "writes", "SELECT");
  refused(f, "DROP TABLE flights", -1, "changes the schema", "SELECT");
  refused(f, "CREATE TEMP TABLE x AS SELECT 1", -1, "changes the schema", "SELECT");
  refused(f, "ALTER TABLE flights RENAME TO x", -1, "changes the schema", "SELECT");
  refused(f, "PRAGMA user_version = 7", -1, "is a PRAGMA", "SELECT");
  refused(f, "PRAGMA user_version", -1, "is a PRAGMA", "SELECT");
  refused(f, "ATTACH '/tmp/tidegate-never' AS x", -1, "attaches", "SELECT");
  refused(f, "DETACH main", -1, "detaches", "SELECT");
  refused(f, "BEGIN", -1, "transaction", "SELECT");
  refused(f, "COMMIT", -1, "transaction", "SELECT");
  refused(f, "SAVEPOINT a", -1, "transaction", "SELECT");
  refused(f, "VACUUM", -1, "", "");
  refused(f, "VACUUM INTO '/tmp/tidegate-never'", -1, "", "");
  refused(f, "ANALYZE", -1, "", "SELECT");
  refused(f, "EXPLAIN SELECT 1", -1, "EXPLAIN", "SELECT");
  assert_string_equal(one(f, "PRAGMA user_version"), "0");
}

static void the_place_of_the_fault(void **state) {
  Fixture *f = *state;
  refused(f, "SELECT nope FROM flights", 7, "no such column: nope", "");
  refused(f, "SELEKT 1", 0, "syntax error", "");
  refused(f, "SELECT 1 FROM flights WHERE WHERE", 28, "syntax error", "");
  refused(f, "SELECT 1 FROM nowhere", -1, "no such table: nowhere", "");
}

static void parameters_without_a_value(void **state) {
  Fixture *f = *state;
  refused(f, "SELECT ?", 7, "'?'", ":from");
  refused(f, "SELECT :from, ?2", 14, "'?2'", ":from");
  refused(f, "SELECT '$from', $from", 16, "'$from'", "write :from");
  refused(f, "SELECT @to_unix", 7, "'@to_unix'", "write :to_unix");
  refused(f, "SELECT :day", 7, "':day'", ":from and :to");
  refused(f, "SELECT :FROM", 7, "':FROM'", ":from and :to");
  refused(f, "SELECT :from(x)", 7, "':from(x)'", ":from and :to");
}

static bool condition(Fixture *f, const char *sql, bool aggregate, int *offset, Error *err) {
  return sqlite_describe_condition(f->engine, &f->arena, "Flights", NULL, sql, aggregate, offset, err);
}

static void accepted_condition(Fixture *f, const char *sql, bool aggregate) {
  Error err = {0};
  int offset;
  must(condition(f, sql, aggregate, &offset, &err), &err);
}

static void refused_condition(Fixture *f, const char *sql, bool aggregate, int place, const char *message) {
  Error err = {0};
  int offset = -2;
  bool ok = condition(f, sql, aggregate, &offset, &err);
  if (ok) fail_msg("not refused: %s", sql);
  assert_refused(ok, &err, ERR_SPEC, message);
  if (offset != place) fail_msg("place %d instead of %d: %s", offset, place, sql);
}

static void conditions_over_a_row(void **state) {
  Fixture *f = *state;
  accepted_condition(f, "dep_delay IS NULL OR \"origin\" = ')'", false);
  accepted_condition(f, "origin IN (SELECT \"a b\" FROM \"odd 'name\") -- why\n", false);
  accepted_condition(f, "dep_delay > (SELECT avg(dep_delay) FROM flights)", false);
  refused_condition(f, "dep_dely > 0", false, 0, "no such column: dep_dely");
  refused_condition(f, "origin = 1 AND \"dep_dely\" > 0", false, 15, "no such column");
  refused_condition(f, "count(*) > 1", false, 0, "misuse of aggregate");
  refused_condition(f, "row_number() OVER () > 1", false, 0, "misuse of window function");
  refused_condition(f, "flight_date >= :from", false, 15, "':from'");
  refused_condition(f, "(dep_delay, origin)", false, -1, "row value misused");
  refused_condition(f, "dep_delay >", false, -1, "syntax error");
}

static void totals_over_many(void **state) {
  Fixture *f = *state;
  accepted_condition(
      f, "sum(dep_delay) = (SELECT count(*) FROM flights WHERE flight_date >= :from AND flight_date < :to)", true);
  accepted_condition(f, "(SELECT count(*) FROM flights) > 0", true);
  refused_condition(f, "dep_delay > 0", true, 0, "no aggregate");
  refused_condition(f, "sum(dep_dely) > 0", true, 4, "no such column: dep_dely");
  refused_condition(f, "sum(dep_delay) > ?", true, 17, "'?'");
}

static void nothing_breaks_out_of_a_condition(void **state) {
  Fixture *f = *state;
  static const struct {
    const char *sql;
    int place;
  } attacks[] = {{"1) --", 1},
                 {"1); DELETE FROM flights", 1},
                 {"1; DELETE FROM flights", 3},
                 {"1;", 1},
                 {"1 --", 4},
                 {"1 /*", 2},
                 {"1) OR (1", 1},
                 {"1) UNION SELECT (1", 1},
                 {"'a' OR 'b", 7},
                 {"\"a", 0},
                 {"[a", 0},
                 {"`a``", 0},
                 {"(1", 0},
                 {":x(') OR 1) -- '", 10},
                 {"", 0},
                 {"/* */", 5},
                 {"1 /* ( */ )", 10},
                 {"'--' )", 5},
                 {"'it''s' )", 8}};
  for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++)
    for (int aggregate = 0; aggregate < 2; aggregate++)
      refused_condition(f, attacks[i].sql, aggregate, attacks[i].place, "the ");
}

static void conditions_leave_the_connection_as_it_was(void **state) {
  Fixture *f = *state;
  accepted_condition(f, "dep_delay > 0", false);
  assert_string_equal(one(f, "SELECT \"a text\""), "a text");
  run(f, "CREATE TABLE after_all (x)");
}

static void numbers(void **state) {
  Fixture *f = *state;
  Error err = {0};
  double number = -1;
  must(sqlite_number(f->engine, "SELECT count(*) + 0.5 FROM flights", &number, &err), &err);
  assert_true(number == 0.5);
  static const char *const refusals[][2] = {
      {"SELECT 1, 2", "2 columns"},        {"SELECT 1 WHERE 0", "no row"},
      {"SELECT NULL", "gave NULL"},        {"SELECT '1'", "not one"},
      {"VALUES (1), (2)", "several rows"}, {"SELECT :from", "':from'"},
      {"DELETE FROM flights", "writes"},   {"SELECT 1; DELETE FROM flights", "several statements"}};
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
    assert_refused(sqlite_number(f->engine, refusals[i][0], &number, &err), &err, ERR_SPEC, refusals[i][1]);
  assert_true(number == 0.5);
}

int main(void) {
  const struct CMUnitTest tests[] = {QUERY_TEST(columns_and_parameters),
                                     QUERY_TEST(tables_behind_views_are_read),
                                     QUERY_TEST(what_may_differ_the_next_time),
                                     QUERY_TEST(what_is_not_one_reading_statement),
                                     QUERY_TEST(the_place_of_the_fault),
                                     QUERY_TEST(parameters_without_a_value),
                                     QUERY_TEST(conditions_over_a_row),
                                     QUERY_TEST(totals_over_many),
                                     QUERY_TEST(nothing_breaks_out_of_a_condition),
                                     QUERY_TEST(conditions_leave_the_connection_as_it_was),
                                     QUERY_TEST(numbers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
