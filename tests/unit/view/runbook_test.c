#include "view/runbook.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "scene.h"

/* The SQL of the document is tried, not only read: it must publish and take back on a real database. */
static const char tables[] =
    "CREATE TABLE \"da\"\"ily\" (flight_date TEXT, carrier TEXT, delay REAL, note TEXT,"
    " PRIMARY KEY (flight_date, carrier));"
    "INSERT INTO \"da\"\"ily\" VALUES ('2013-02-01', 'UA', 1, 'keep'), ('2013-02-01', 'B6', 2, 'goes'),"
    " ('2013-02-02', 'UA', 3, 'moves');"
    "CREATE TABLE tidegate_backfill (id, state, changed_at, swapped_at, lease_owner);"
    "CREATE TABLE tidegate_event (backfill, at, who, what, detail);"
    "CREATE TABLE tidegate_object (backfill, role, dropped_at);"
    "INSERT INTO tidegate_backfill VALUES ('7f3a', 'ready', 0, 0, NULL);"
    "INSERT INTO tidegate_object VALUES ('7f3a', 'changes', 0);"
    "CREATE TABLE tidegate_7f3a_changes (op, date, batch, old_flight_date, old_carrier, old_delay, old_note,"
    " new_flight_date, new_carrier, new_delay);"
    "INSERT INTO tidegate_7f3a_changes VALUES"
    " ('U', 1, 1, '2013-02-01', 'UA', 1, 'keep', '2013-02-01', 'UA', 10),"
    " ('D', 1, 1, '2013-02-01', 'B6', 2, 'goes', NULL, NULL, NULL),"
    " ('M', 1, 1, '2013-02-02', 'UA', 3, 'moves', '2013-02-03', 'UA', 30),"
    " ('I', 1, 1, NULL, NULL, NULL, NULL, '2013-02-02', 'AA', 7);";

static const char before[] = "2013-02-01,B6,2.0,goes;2013-02-01,UA,1.0,keep;2013-02-02,UA,3.0,moves;";
static const char after[] = "2013-02-01,UA,10.0,keep;2013-02-02,AA,7.0,;2013-02-03,UA,30.0,moves;";

static int collect(void *context, int n, char **values, char **names) {
  (void)names;
  for (int i = 0; i < n; i++) buf_printf(context, "%s%s", values[i] == NULL ? "" : values[i], i + 1 < n ? "," : ";");
  return 0;
}

static void run(sqlite3 *db, const char *sql, Buf *rows) {
  char *message = NULL;
  if (sqlite3_exec(db, sql, rows == NULL ? NULL : collect, rows, &message) != SQLITE_OK)
    fail_msg("%s in:\n%s", message, sql);
}

static void expect_rows(sqlite3 *db, const char *expected) {
  BUF_SCOPED rows = {0};
  run(db, "SELECT flight_date, carrier, delay, note FROM \"da\"\"ily\" ORDER BY 1, 2", &rows);
  assert_string_equal(buf_text(&rows), expected);
}

/* Runs the n-th block of SQL of the document. */
static void run_block(sqlite3 *db, const char *document, int n, Buf *rows) {
  const char *start = document;
  for (int i = 0; i <= n; i++) {
    start = strstr(start, "```sql\n");
    assert_non_null(start);
    start += 7;
  }
  BUF_SCOPED sql = {0};
  buf_append(&sql, start, (size_t)(strstr(start, "\n```") - start));
  run(db, buf_text(&sql), rows);
}

static void print_runbook(Buf *out, Arena *arena) {
  Plan plan = scene_plan();
  plan.spec.owner.text = "data | platform\x1b[1m";
  RunbookFacts facts = {.target = "da\"ily",
                        .database = "f.db",
                        .spec = &plan.spec,
                        .shape = &plan.shape,
                        .id = "7f3a",
                        .engine = "sqlite",
                        .changes = "tidegate_7f3a_changes",
                        .radius = &plan.radius};
  view_runbook(out, arena, &facts);
}

static void a_person_can_follow_it_without_tidegate(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0}, counts = {0}, later = {0};
  sqlite3 *db = NULL;
  print_runbook(&out, &arena);
  assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
  run(db, tables, NULL);
  run_block(db, buf_text(&out), 0, NULL);
  run_block(db, buf_text(&out), 1, NULL);
  run_block(db, buf_text(&out), 2, &counts);
  assert_string_equal(buf_text(&counts), "0;0;");
  run_block(db, buf_text(&out), 3, NULL);
  expect_rows(db, after);
  run_block(db, buf_text(&out), 4, &later);
  assert_string_equal(buf_text(&later), "swapped,;");
  run_block(db, buf_text(&out), 5, NULL);
  expect_rows(db, before);
  run_block(db, buf_text(&out), 6, NULL);
  BUF_SCOPED end = {0};
  run(db, "SELECT state FROM tidegate_backfill; SELECT count(*) FROM sqlite_schema WHERE name GLOB 'tidegate_7*'",
      &end);
  assert_string_equal(buf_text(&end), "discarded;0;");
  sqlite3_close(db);
}

static void drift_shows_in_the_counts(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0}, counts = {0};
  sqlite3 *db = NULL;
  print_runbook(&out, &arena);
  assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
  run(db, tables, NULL);
  run(db,
      "UPDATE \"da\"\"ily\" SET note = 'other' WHERE carrier = 'B6'; INSERT INTO \"da\"\"ily\" VALUES "
      "('2013-02-02', 'AA', 1, '')",
      NULL);
  run_block(db, buf_text(&out), 2, &counts);
  assert_string_equal(buf_text(&counts), "1;1;");
  sqlite3_close(db);
}

static void facts_stay_inside_their_cell(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  print_runbook(&out, &arena);
  assert_non_null(strstr(buf_text(&out), "| owner | data / platform\\x1b[1m |\n"));
  assert_non_null(strstr(buf_text(&out), "| wrong | cancelled flights were counted as zero delay |\n"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_person_can_follow_it_without_tidegate),
                                     cmocka_unit_test(drift_shows_in_the_counts),
                                     cmocka_unit_test(facts_stay_inside_their_cell)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
