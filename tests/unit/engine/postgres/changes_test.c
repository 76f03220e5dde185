#include "changes.h"

/* A table of types that are easily got wrong, a key that is moved to another day, one that goes and one that comes. */
static const char odd[] =
    "CREATE TABLE odd (d date NOT NULL, \"k k\" text NOT NULL, n numeric(10,2), j json, x xml, a int[], b bytea, "
    "c char(5), f float8, t text, ok bool, at timestamptz, twice numeric GENERATED ALWAYS AS (n * 2) STORED, note "
    "text, "
    "PRIMARY KEY (\"k k\"))";

static Fixture *odd_fixture(void **state, Shape *ret) {
  Fixture *f = fixture_of(state);
  run(f, odd);
  run(f,
      "INSERT INTO odd (d, \"k k\", n, j, x, a, b, c, f, t, ok, at, note) VALUES "
      "('2024-01-01', 'a', 1.5, '{\"a\": 1}', '<a/>', '{1,NULL}', '\\x00ff', 'ab', -0.0, '', true, "
      "'2024-01-01 00:00+00', 'kept'), "
      "('2024-01-02', 'b', 2, NULL, NULL, NULL, NULL, NULL, 'NaN', NULL, false, NULL, NULL), "
      "('2024-01-03', 'c', 3, NULL, NULL, NULL, NULL, NULL, 1, 'x', NULL, NULL, NULL), "
      "('2024-02-01', 'z', 9, NULL, NULL, NULL, NULL, NULL, 1, 'x', NULL, NULL, NULL)");
  *ret = shape_of(f, "odd", "d", "k k", "d,k k,n,j,x,a,b,c,f,t,ok,at");
  return f;
}

/* a changes, b moves to the 5th, c goes, e comes. */
static const char recompute[] =
    "SELECT d, \"k k\", n + 1 AS n, '{\"a\":1}'::json AS j, x, a, b, c, f, NULL::text AS t, ok, at FROM odd WHERE "
    "\"k k\" = 'a' UNION ALL SELECT '2024-01-05', \"k k\", n, j, x, a, b, c, f, t, ok, at FROM odd WHERE \"k k\" = 'b' "
    "UNION ALL SELECT '2024-01-04', 'e', 7, NULL, NULL, NULL, NULL, NULL, NULL, '', NULL, NULL";

static const char *value(const Shape *shape, const char *const *values, const char *column) {
  for (size_t i = 0; i < shape->n; i++)
    if (strcmp(shape->columns[i].name, column) == 0) return values[i] == NULL ? "NULL" : values[i];
  fail_msg("no column %s", column);
  return NULL;
}

static const ChangeRow *rows_of(Fixture *f, const Shape *shape, Instant date, size_t limit, size_t *ret_n) {
  const ChangeRow *rows;
  Error err = {0};
  must(pg_change_rows(f->engine, &f->arena, shape, id, date, limit, &rows, ret_n, &err), &err);
  return rows;
}

static void rows_are_read_as_a_person_reads_them(void **state) {
  Shape shape;
  Fixture *f = odd_fixture(state, &shape);
  size_t n;
  stage(f, &shape, recompute);
  const ChangeRow *rows = rows_of(f, &shape, 0, 5000, &n);
  assert_int_equal(n, 4);
  assert_int_equal(rows[0].op, 'U');
  assert_int_equal(rows[1].op, 'D');
  assert_int_equal(rows[2].op, 'I');
  assert_int_equal(rows[3].op, 'M');
  assert_string_equal(rows[0].date, "2024-01-01");
  assert_string_equal(rows[0].key, "a");
  assert_string_equal(rows[1].key, "c");
  assert_string_equal(rows[2].key, "e");
  assert_string_equal(rows[3].date, "2024-01-05");
  assert_string_equal(value(&shape, rows[0].old_values, "n"), "1.50");
  assert_string_equal(value(&shape, rows[0].new_values, "n"), "2.50");
  assert_string_equal(value(&shape, rows[0].old_values, "j"), "{\"a\": 1}");
  assert_string_equal(value(&shape, rows[0].old_values, "a"), "{1,NULL}");
  assert_string_equal(value(&shape, rows[0].old_values, "b"), "\\x00ff");
  assert_string_equal(value(&shape, rows[0].old_values, "c"), "ab");
  assert_string_equal(value(&shape, rows[0].old_values, "ok"), "true");
  assert_string_equal(value(&shape, rows[0].old_values, "note"), "kept");
  assert_string_equal(value(&shape, rows[0].new_values, "note"), "NULL");
  assert_string_equal(value(&shape, rows[0].old_values, "twice"), "NULL");
  assert_string_equal(value(&shape, rows[0].old_values, "t"), "");
  assert_string_equal(value(&shape, rows[0].new_values, "t"), "NULL");
  assert_string_equal(value(&shape, rows[2].new_values, "t"), "");
  assert_string_equal(value(&shape, rows[2].old_values, "d"), "NULL");
  rows = rows_of(f, &shape, JANUARY + 3 * DAY, 100, &n);
  assert_int_equal(n, 1);
  assert_int_equal(rows[0].op, 'I');
  rows_of(f, &shape, JANUARY, 1, &n); /* fewest of all dates are looked for by the ledger's: tests/flow */
  assert_int_equal(n, 1);
}

static void changes_are_counted(void **state) {
  Shape shape;
  Fixture *f = odd_fixture(state, &shape);
  ChangeCounts counts;
  Error err = {0};
  int64_t twice;
  stage(f, &shape, recompute);
  must(pg_change_counts(f->engine, &shape, id, &counts, &err), &err);
  assert_true(counts.inserts == 1 && counts.updates == 1 && counts.deletes == 1 && counts.moves == 1);
  must(pg_change_duplicates(f->engine, &shape, id, &twice, &err), &err);
  assert_int_equal(twice, 0);
  run(f, arena_printf(&f->arena, "UPDATE %s SET \"old_k k\" = 'e' WHERE op = 'D'", changes));
  must(pg_change_duplicates(f->engine, &shape, id, &twice, &err), &err);
  assert_int_equal(twice, 1);
}

static const DateFacts *fingerprint(Fixture *f, const Shape *shape, DateRange range, size_t *ret_n) {
  const DateFacts *facts;
  Error err = {0};
  must(pg_fingerprint(f->engine, &f->arena, shape, range, &facts, ret_n, &err), &err);
  return facts;
}

static void fingerprints_are_those_of_the_batch(void **state) {
  Shape shape;
  Fixture *f = odd_fixture(state, &shape);
  size_t n, k = 0;
  BatchFacts batch = stage(f, &shape, recompute);
  const DateFacts *facts = fingerprint(f, &shape, (DateRange){JANUARY, FEBRUARY}, &n);
  assert_int_equal(n, 3);
  for (size_t i = 0; i < batch.n; i++) {
    if (batch.dates[i].production.rows == 0) continue;
    assert_true(k < n && facts[k].date == batch.dates[i].date);
    assert_true(fingerprint_equal(&facts[k].production, &batch.dates[i].production));
    k++;
  }
  assert_int_equal(k, 3);
}

static void a_fingerprint_sees_every_change_and_no_order(void **state) {
  static const char *const changed[] = {
      "t = NULL WHERE t = ''", "c = 'ac' WHERE \"k k\" = 'a'", "a = '{NULL,1}' WHERE \"k k\" = 'a'",
      "f = 0 WHERE f = 'NaN'", "ok = NULL WHERE NOT ok",       "j = 'null' WHERE \"k k\" = 'b'"};
  Shape shape;
  Fixture *f = odd_fixture(state, &shape);
  size_t n;
  Fingerprint whole = fingerprint(f, &shape, (DateRange){0, 0}, &n)->production;
  assert_int_equal(n, 1);
  assert_int_equal(whole.rows, 4);
  run(f, "UPDATE odd SET note = 'not given'");
  Fingerprint moved = fingerprint(f, &shape, (DateRange){0, 0}, &n)->production;
  assert_true(fingerprint_equal(&whole, &moved));
  for (size_t i = 0; i < sizeof changed / sizeof *changed; i++) {
    run(f, "BEGIN");
    run(f, arena_printf(&f->arena, "UPDATE odd SET %s", changed[i]));
    Fingerprint now = fingerprint(f, &shape, (DateRange){0, 0}, &n)->production;
    run(f, "ROLLBACK");
    if (fingerprint_equal(&whole, &now)) fail_msg("not seen: %s", changed[i]);
  }
}

static void thousands_of_dates_have_fingerprints(void **state) {
  Fixture *f = fixture_of(state);
  size_t n;
  run(f, "CREATE TABLE long (at timestamptz, v int)");
  run(f,
      "INSERT INTO long SELECT '2016-01-01 12:00+00'::timestamptz + i * interval '1 day', i FROM "
      "generate_series(0, 3999) AS i, generate_series(1, 2)");
  Shape shape = shape_of(f, "long", "at", "", NULL);
  shape.codec.kind = TIMESTAMP_TEXT;
  shape.codec.separator = ' ';
  Instant from = 1451606400;
  const DateFacts *facts = fingerprint(f, &shape, (DateRange){from, from + 4000 * DAY}, &n);
  assert_int_equal(n, 4000);
  for (size_t i = 0; i < n; i++) {
    assert_true(facts[i].date == from + (Instant)i * DAY);
    assert_int_equal(facts[i].production.rows, 2);
  }
}

static void an_empty_table_has_a_fingerprint(void **state) {
  Shape shape;
  Fixture *f = odd_fixture(state, &shape);
  size_t n;
  run(f, "TRUNCATE odd");
  Fingerprint none = {0}, whole = fingerprint(f, &shape, (DateRange){0, 0}, &n)->production;
  assert_true(fingerprint_equal(&none, &whole));
  fingerprint(f, &shape, (DateRange){JANUARY, FEBRUARY}, &n);
  assert_int_equal(n, 0);
}

static bool total(Fixture *f, const Shape *shape, const char *of, const char *expression, Instant from, Instant to) {
  Error err = {0};
  Job job = {.shape = shape, .id = of};
  bool holds;
  must(pg_check_total(f->engine, &job, expression, (DateRange){from, to}, &holds, &err), &err);
  return holds;
}

static void totals_see_production_with_the_changes(void **state) {
  Shape shape;
  Fixture *f = odd_fixture(state, &shape);
  stage(f, &shape, recompute);
  assert_true(total(f, &shape, NULL, "sum(n) = 6.5", JANUARY, FEBRUARY));
  assert_true(total(f, &shape, id, "sum(n) = 11.5 -- all of it", JANUARY, FEBRUARY));
  assert_true(total(f, &shape, id, "count(*) = 1 AND min(\"k k\") = 'b'", JANUARY + 4 * DAY, JANUARY + 5 * DAY));
  assert_true(total(f, &shape, id, "min(d) >= :from AND max(d) < :to", JANUARY, FEBRUARY));
  assert_true(total(f, &shape, id, "bool_and(note IS NULL OR note = 'kept') AND count(note) = 1", JANUARY, FEBRUARY));
  assert_false(total(f, &shape, id, "sum(n) > 100", JANUARY, FEBRUARY));
  assert_false(total(f, &shape, id, "sum(n) > NULL", JANUARY, FEBRUARY));
}

static Finding vanished(Fixture *f, const Shape *shape, const JobScope *scope, size_t n, size_t max_examples) {
  Error err = {0};
  Finding finding;
  Job job = {.shape = shape, .id = id, .scope = scope, .n_scope = n, .max_examples = max_examples};
  must(pg_vanished(f->engine, &f->arena, &job, &finding, &err), &err);
  assert_int_equal(finding.kind, FINDING_VANISHED);
  return finding;
}

static void keys_that_vanish_are_found(void **state) {
  Shape shape;
  Fixture *f = odd_fixture(state, &shape);
  stage(f, &shape, "SELECT d, \"k k\", n, j, x, a, b, c, f, t, ok, at FROM odd WHERE false");
  Finding all = vanished(f, &shape, NULL, 0, 2);
  assert_int_equal(all.count, 3);
  assert_int_equal(all.n, 2);
  assert_string_equal(all.examples[0].key, "a");
  assert_string_equal(all.examples[0].date, "2024-01-01");
  JobScope declared[] = {{JOB_SCOPE_VANISHED, 0, "t = '' -- NULL allows nothing"},
                         {JOB_SCOPE_NEW, 0, NULL},
                         {JOB_SCOPE_VANISHED, 0, "d = '2024-01-03' AND note IS NULL"}};
  Finding some = vanished(f, &shape, declared, 3, 5);
  assert_int_equal(some.count, 1);
  assert_string_equal(some.examples[0].key, "b");
  declared[0].where = NULL;
  assert_int_equal(vanished(f, &shape, declared, 3, 5).count, 0);
  assert_int_equal(vanished(f, &shape, NULL, 0, 0).count, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(rows_are_read_as_a_person_reads_them),   FIXTURE_TEST(changes_are_counted),
      FIXTURE_TEST(fingerprints_are_those_of_the_batch),    FIXTURE_TEST(a_fingerprint_sees_every_change_and_no_order),
      FIXTURE_TEST(thousands_of_dates_have_fingerprints),   FIXTURE_TEST(an_empty_table_has_a_fingerprint),
      FIXTURE_TEST(totals_see_production_with_the_changes), FIXTURE_TEST(keys_that_vanish_are_found),
  };
  return cmocka_run_group_tests(tests, server_start, server_stop);
}
