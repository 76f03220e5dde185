#include "../engine/postgres/server.h"
#include "view/runbook.h"

/* The SQL of the document is tried, not only read: it must publish and take back on a real server. */
static const char *const tables[] = {
    "CREATE SCHEMA ops",
    "CREATE TABLE ops.\"da\"\"ily\" (id int8 GENERATED ALWAYS AS IDENTITY, flight_date date NOT NULL, carrier text NOT "
    "NULL, delay numeric(10,2), extra json, note text DEFAULT 'new', PRIMARY KEY (flight_date, carrier))",
    "INSERT INTO ops.\"da\"\"ily\" (flight_date, carrier, delay, extra, note) VALUES ('2013-02-01', 'UA', 1, '{}', "
    "'keep'), ('2013-02-01', 'B6', 2, NULL, 'goes'), ('2013-02-02', 'UA', 3, '{\"a\": 1}', 'stays')",
    "CREATE SCHEMA \"Led\"\"ger\"",
    "CREATE TABLE \"Led\"\"ger\".backfill (id text, target text, state text, changed_at int8, swapped_at int8, "
    "lease_owner text)",
    "CREATE TABLE \"Led\"\"ger\".event (backfill text, at int8, who text, what text)",
    "CREATE TABLE \"Led\"\"ger\".object (backfill text, role text, dropped_at int8)",
    "INSERT INTO \"Led\"\"ger\".backfill VALUES ('7f3a', 'ops.\"da\"\"ily\"', 'ready', 0, 0, NULL)",
    "INSERT INTO \"Led\"\"ger\".object VALUES ('7f3a', 'changes', 0)",
    "CREATE TABLE \"Led\"\"ger\".tidegate_7f3a_changes (op \"char\", date int8, part oid, tid tid, old_id int8, "
    "old_flight_date date, old_carrier text, old_delay numeric(10,2), old_extra json, old_note text, new_flight_date "
    "date, new_carrier text, new_delay numeric(10,2), new_extra json)",
    "INSERT INTO \"Led\"\"ger\".tidegate_7f3a_changes SELECT CASE carrier WHEN 'UA' THEN 'U' ELSE 'D' END, 1, "
    "tableoid, "
    "ctid, id, flight_date, carrier, delay, extra, note, CASE carrier WHEN 'UA' THEN flight_date END, CASE carrier "
    "WHEN 'UA' THEN carrier END, CASE carrier WHEN 'UA' THEN 10 END, CASE carrier WHEN 'UA' THEN '{\"b\": 2}'::json "
    "END "
    "FROM ops.\"da\"\"ily\" WHERE flight_date = '2013-02-01'",
    "INSERT INTO \"Led\"\"ger\".tidegate_7f3a_changes (op, date, new_flight_date, new_carrier, new_delay) VALUES ('I', "
    "2, '2013-02-02', 'AA', 7)"};

static const char before[] = "2013-02-01 B6 2.00  goes;2013-02-01 UA 1.00 {} keep;2013-02-02 UA 3.00 {\"a\": 1} stays";
static const char after[] =
    "2013-02-01 UA 10.00 {\"b\": 2} keep;2013-02-02 AA 7.00  new;2013-02-02 UA 3.00 {\"a\": 1} stays";

static void expect_rows(Fixture *f, const char *expected) {
  assert_string_equal(one(f,
                          "SELECT string_agg(concat_ws(' ', flight_date, carrier, delay, coalesce(extra::text, ''), "
                          "note), ';' ORDER BY flight_date, carrier) FROM ops.\"da\"\"ily\""),
                      expected);
}

/* Runs the n-th block of the document as psql sends it, one statement after the other: the rows of every SELECT. */
static const char *run_block(Fixture *f, const char *document, int n) {
  const char *start = document;
  BUF_SCOPED sql = {0}, rows = {0};
  for (int i = 0; i <= n; i++) {
    start = strstr(start, "```sql\n");
    assert_non_null(start);
    start += 7;
  }
  buf_append(&sql, start, (size_t)(strstr(start, "\n```") - start));
  PGconn *conn = pg_engine(f->engine)->conn;
  PGresult *result;
  assert_int_equal(PQsendQuery(conn, buf_text(&sql)), 1);
  while ((result = PQgetResult(conn)) != NULL) {
    if (PQresultStatus(result) != PGRES_TUPLES_OK && PQresultStatus(result) != PGRES_COMMAND_OK)
      fail_msg("%s in:\n%s", PQresultErrorMessage(result), buf_text(&sql));
    for (int row = 0; row < PQntuples(result); row++)
      for (int column = 0; column < PQnfields(result); column++)
        buf_printf(&rows, "%s%s", PQgetvalue(result, row, column), column + 1 < PQnfields(result) ? "," : ";");
    PQclear(result);
  }
  return arena_strdup(&f->arena, buf_text(&rows));
}

static const char *document_of(Fixture *f, bool keyed) {
  static const ShapeColumn keyed_columns[] = {{.name = "id", .type = "bigint"},
                                              {.name = "flight_date", .type = "date", .key = true, .given = true},
                                              {.name = "carrier", .type = "text", .key = true, .given = true},
                                              {.name = "delay", .type = "numeric(10,2)", .given = true},
                                              {.name = "extra", .type = "json", .given = true},
                                              {.name = "note", .type = "text"}};
  static const ShapeColumn plain_columns[] = {{.name = "d", .type = "date", .given = true},
                                              {.name = "v", .type = "text", .given = true}};
  const Shape with_key = {.columns = keyed_columns, .n = 6, .date = 1, .keyed = true};
  const Shape without = {.columns = plain_columns, .n = 2};
  Spec spec = {.postgres.schema.text = "Led\"ger"};
  RunbookFacts facts = {.target = keyed ? "ops.\"da\"\"ily\"" : "bag",
                        .database = "postgresql:///x",
                        .spec = &spec,
                        .shape = keyed ? &with_key : &without,
                        .id = "7f3a",
                        .engine = "postgres",
                        .changes = "\"Led\"\"ger\".\"tidegate_7f3a_changes\""};
  BUF_SCOPED out = {0};
  view_runbook(&out, &f->arena, &facts);
  return arena_strdup(&f->arena, buf_text(&out));
}

static void make_tables(Fixture *f) {
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) run(f, tables[i]);
}

static void a_person_can_follow_it_without_tidegate(void **state) {
  Fixture *f = fixture_of(state);
  make_tables(f);
  const char *document = document_of(f, true);
  assert_has(document, "Open the database with `psql`");
  run_block(f, document, 0);
  assert_string_equal(run_block(f, document, 1), "ready,;");
  assert_string_equal(one(f, "SELECT mode FROM pg_locks WHERE relation = 'ops.\"da\"\"ily\"'::regclass AND granted"),
                      "ShareRowExclusiveLock");
  assert_string_equal(run_block(f, document, 2), "0;0;");
  run_block(f, document, 3);
  expect_rows(f, after);
  assert_string_equal(one(f, "SELECT old_note FROM \"Led\"\"ger\".tidegate_7f3a_changes WHERE op = 'I'"), "new");
  assert_string_equal(run_block(f, document, 4), "swapped,;");
  run_block(f, document, 5);
  expect_rows(f, before);
  run_block(f, document, 6);
  assert_string_equal(one(f, "SELECT to_regclass('\"Led\"\"ger\".tidegate_7f3a_changes')"), "NULL");
  assert_string_equal(one(f, "SELECT state FROM \"Led\"\"ger\".backfill"), "discarded");
}

static void drift_and_later_writes_show(void **state) {
  Fixture *f = fixture_of(state);
  make_tables(f);
  const char *document = document_of(f, true);
  run(f, "UPDATE ops.\"da\"\"ily\" SET extra = '{\"x\": 1}' WHERE carrier = 'UA' AND flight_date = '2013-02-01'");
  run(f, "INSERT INTO ops.\"da\"\"ily\" (flight_date, carrier) VALUES ('2013-02-02', 'AA')");
  assert_string_equal(run_block(f, document, 2), "1;1;");
  run(f, "DELETE FROM ops.\"da\"\"ily\" WHERE carrier = 'AA'");
  run_block(f, document, 1);
  run_block(f, document, 3);
  run(f, "UPDATE ops.\"da\"\"ily\" SET delay = 8 WHERE carrier = 'AA'");
  run(f, "INSERT INTO ops.\"da\"\"ily\" (flight_date, carrier) VALUES ('2013-02-01', 'B6')");
  const char *later = run_block(f, document, 4);
  assert_has(later, "I,2,");
  assert_has(later, "D,1,");
  assert_null(strstr(later, "U,1,"));
  run(f, "ROLLBACK");
}

/* Of rows that are alike exactly as many go and come as were counted. */
static void without_a_key_rows_are_counted(void **state) {
  Fixture *f = fixture_of(state);
  make_tables(f);
  run(f, "CREATE TABLE bag (d date, v text)");
  run(f, "INSERT INTO bag VALUES ('2013-02-01', 'a'), ('2013-02-01', 'a'), ('2013-02-01', 'a'), ('2013-02-01', NULL)");
  run(f, "DROP TABLE \"Led\"\"ger\".tidegate_7f3a_changes");
  run(f,
      "CREATE TABLE \"Led\"\"ger\".tidegate_7f3a_changes (op \"char\", date int8, part oid, tid tid, old_d date, old_v "
      "text, new_d date, new_v text)");
  run(f,
      "INSERT INTO \"Led\"\"ger\".tidegate_7f3a_changes SELECT 'D', 1, tableoid, ctid, d, v FROM bag WHERE v = 'a' "
      "LIMIT 1");
  run(f,
      "INSERT INTO \"Led\"\"ger\".tidegate_7f3a_changes SELECT 'D', 1, tableoid, ctid, d, v FROM bag WHERE v IS NULL");
  run(f,
      "INSERT INTO \"Led\"\"ger\".tidegate_7f3a_changes (op, date, new_d, new_v) VALUES ('I', 1, '2013-02-01', 'b'), "
      "('I', 1, '2013-02-01', 'a')");
  const char *document = document_of(f, false);
  const char *rows = "SELECT string_agg(coalesce(v, '-'), ' ' ORDER BY v) FROM bag";
  run_block(f, document, 1);
  assert_string_equal(run_block(f, document, 2), "0;0;");
  run_block(f, document, 3);
  assert_string_equal(one(f, rows), "a a a b");
  run_block(f, document, 4);
  run_block(f, document, 5);
  assert_string_equal(one(f, rows), "a a a -");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(a_person_can_follow_it_without_tidegate),
      FIXTURE_TEST(drift_and_later_writes_show),
      FIXTURE_TEST(without_a_key_rows_are_counted),
  };
  return cmocka_run_group_tests(tests, server_start, server_stop);
}
