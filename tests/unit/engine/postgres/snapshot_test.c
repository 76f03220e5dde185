#include "sealed.h"

/* A generated column stands before the others, so that the snapshot's columns are not at the target's places. */
static Case scene(Fixture *f) {
  run(f,
      "CREATE TABLE \"T t\" (twice int GENERATED ALWAYS AS (amount * 2) STORED, id int PRIMARY KEY, d date NOT NULL,"
      " amount int, made text DEFAULT 'db', n int GENERATED ALWAYS AS IDENTITY)");
  run(f,
      "INSERT INTO \"T t\" (id, d, amount) SELECT i, '2023-12-31'::date + i / 2, i * 10 FROM generate_series(1, 9) AS "
      "i");
  run(f, "CREATE TABLE was AS TABLE \"T t\"");
  run(f, "CREATE SCHEMA tidegate");
  run(f, "CREATE TABLE tidegate.tidegate_t1_snapshot (id int, d date, amount int, made text, n int)");
  return case_of(f, "\"T t\"", "twice=,id!^,d!@,amount,made-,n-");
}

static DateRange range_of(const Case *c) { return (DateRange){c->dates[0], c->dates[DATES]}; }

static void copied(Case *c) {
  Error err = {0};
  run(c->f, "BEGIN");
  must(pg_copy_range(&c->writer, &c->shape, range_of(c), &err), &err);
  run(c->f, "COMMIT");
}

/* What a tool does to the range: 2 and 3 change, 4 goes, 5 moves out, 6 moves inside, 50 comes. */
static void written_in_place(Fixture *f) {
  run(f, "UPDATE \"T t\" SET amount = 7 WHERE id = 2");
  run(f, "UPDATE \"T t\" SET made = 'tool' WHERE id = 3");
  run(f, "DELETE FROM \"T t\" WHERE id = 4");
  run(f, "UPDATE \"T t\" SET d = '2025-01-01' WHERE id = 5");
  run(f, "UPDATE \"T t\" SET d = '2024-01-09' WHERE id = 6");
  run(f, "INSERT INTO \"T t\" (id, d, amount) VALUES (50, '2024-01-04', NULL)");
}

static int64_t restored(Case *c, bool skip_triggers) {
  Error err = {0};
  int64_t changed;
  run(c->f, "BEGIN");
  must(pg_restore_range(&c->writer, &c->shape, range_of(c), skip_triggers, &changed, &err), &err);
  run(c->f, "COMMIT");
  return changed;
}

static void assert_as_it_was(Fixture *f) {
  assert_string_equal(one(f,
                          "SELECT count(*) FROM ((TABLE \"T t\" EXCEPT TABLE was) UNION ALL"
                          " (TABLE was EXCEPT TABLE \"T t\")) AS x"),
                      "0");
}

static void the_range_is_copied_whole(void **state) {
  Fixture *f = fixture_of(state);
  Case c = scene(f);
  copied(&c);
  assert_string_equal(one(f, "SELECT count(*) FROM tidegate.tidegate_t1_snapshot"), "8"); /* 1 lies before the range */
  assert_rows(f, "2,2024-01-01,20,db,2", "SELECT * FROM tidegate.tidegate_t1_snapshot WHERE id = 2");
}

static void a_copy_that_is_not_equal_is_refused(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  Case c = scene(f);
  run(f, "INSERT INTO tidegate.tidegate_t1_snapshot VALUES (1, '2023-12-31', 1, 'more', 1)");
  run(f, "BEGIN");
  bool ok = pg_copy_range(&c.writer, &c.shape, range_of(&c), &err);
  run(f, "ROLLBACK");
  assert_refused(ok, &err, ERR_DATABASE, "does not equal");
}

static void an_empty_range_is_copied_too(void **state) {
  Fixture *f = fixture_of(state);
  Case c = scene(f);
  run(f, "DELETE FROM \"T t\"");
  copied(&c);
  assert_string_equal(one(f, "SELECT count(*) FROM tidegate.tidegate_t1_snapshot"), "0");
}

static void the_range_is_what_it_was(void **state) {
  Fixture *f = fixture_of(state);
  Case c = scene(f);
  copied(&c);
  assert_int_equal(restored(&c, false), 0);
  written_in_place(f);
  assert_int_equal(restored(&c, false), 6);
  assert_as_it_was(f);
}

/* The commonest tool of all: the rows have new identities then. */
static void a_tool_that_deletes_and_inserts(void **state) {
  Fixture *f = fixture_of(state);
  Case c = scene(f);
  copied(&c);
  run(f, "CREATE TABLE fresh AS SELECT id, d, amount + (id % 3) AS amount FROM \"T t\" WHERE d >= '2024-01-01'");
  run(f, "DELETE FROM \"T t\" WHERE d >= '2024-01-01'");
  run(f, "INSERT INTO \"T t\" (id, d, amount) SELECT * FROM fresh");
  assert_int_equal(restored(&c, false), 8);
  assert_as_it_was(f);
}

static void what_is_outside_the_range_stays(void **state) {
  Fixture *f = fixture_of(state);
  Case c = scene(f);
  copied(&c);
  run(f, "UPDATE \"T t\" SET amount = 0 WHERE id = 1");
  run(f, "UPDATE \"T t\" SET amount = 0 WHERE id = 2");
  assert_int_equal(restored(&c, false), 1);
  assert_rows(f, "1,0|2,20", "SELECT id, amount FROM \"T t\" WHERE id < 3 ORDER BY id");
}

static void triggers_stay_off(void **state) {
  Fixture *f = fixture_of(state);
  Case c = scene(f);
  copied(&c);
  written_in_place(f);
  run(f, "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$");
  run(f, "CREATE TRIGGER no BEFORE INSERT OR UPDATE OR DELETE ON \"T t\" FOR EACH ROW EXECUTE FUNCTION no()");
  restored(&c, true);
  assert_as_it_was(f);
  assert_string_equal(one(f, "SELECT tgenabled FROM pg_trigger WHERE tgname = 'no'"), "O");
}

static void without_a_key_too(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE TABLE t (d date, v int)");
  run(f, "INSERT INTO t VALUES ('2024-01-01', 1), ('2024-01-01', 1), ('2024-01-02', 2), ('2025-01-01', 3)");
  run(f, "CREATE SCHEMA tidegate");
  run(f, "CREATE TABLE tidegate.tidegate_t1_snapshot (LIKE t)");
  Case c = case_of(f, "t", "d@,v");
  copied(&c);
  run(f, "DELETE FROM t WHERE ctid = '(0,1)'");
  run(f, "UPDATE t SET v = 9 WHERE v = 2");
  restored(&c, false);
  assert_rows(f, "2024-01-01,1|2024-01-01,1|2024-01-02,2|2025-01-01,3", "SELECT * FROM t ORDER BY d, v");
}

/* ---- comparing ------------------------------------------------------------------------------------------------------
 */

static const Finding *finding_of(const BatchFacts *facts, FindingKind kind, size_t index) {
  for (size_t i = 0; i < facts->n_findings; i++)
    if (facts->findings[i].kind == kind && facts->findings[i].index == index) return &facts->findings[i];
  return NULL;
}

static void the_snapshot_is_the_old_side(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  BatchFacts facts;
  Case c = scene(f);
  copied(&c);
  written_in_place(f);
  const JobScope scope[] = {{JOB_SCOPE_COLUMN, 2, NULL}, {JOB_SCOPE_COLUMN, 3, "id <> 2"}};
  const char *const checks[] = {"amount IS NOT NULL"};
  Job job = job_of(&c);
  job.scope = scope;
  job.n_scope = 2;
  job.row_checks = checks;
  job.n_row_checks = 1;
  job.max_examples = 3;
  must(pg_compare_snapshot(f->engine, &f->arena, &job, &facts, &err), &err);
  assert_int_equal(facts.changes, 5); /* what the recompute does not give is not looked at */
  assert_int_equal(facts.column_changes[2], 1);
  assert_int_equal(facts.column_changes[3], 1);
  assert_int_equal(facts.column_changes[0] + facts.column_changes[1] + facts.column_changes[4], 0);
  const Finding *amount = finding_of(&facts, FINDING_OUT_OF_SCOPE, 3);
  assert_non_null(amount);
  assert_int_equal(amount->count, 1);
  assert_string_equal(amount->examples[0].column, "amount");
  assert_string_equal(amount->examples[0].old_value, "20");
  assert_string_equal(amount->examples[0].new_value, "7");
  assert_null(finding_of(&facts, FINDING_OUT_OF_SCOPE, 2));
  assert_int_equal(finding_of(&facts, FINDING_VANISHED, 0)->count, 2);
  assert_int_equal(finding_of(&facts, FINDING_NEW_ROW, 0)->count, 1);
  assert_int_equal(finding_of(&facts, FINDING_ROW_CHECK, 0)->count, 1);
}

static void nothing_written_is_no_difference(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  BatchFacts facts;
  Case c = scene(f);
  copied(&c);
  Job job = job_of(&c);
  must(pg_compare_snapshot(f->engine, &f->arena, &job, &facts, &err), &err);
  assert_int_equal(facts.changes, 0);
  assert_int_equal(facts.n_findings, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(the_range_is_copied_whole),
      FIXTURE_TEST(a_copy_that_is_not_equal_is_refused),
      FIXTURE_TEST(an_empty_range_is_copied_too),
      FIXTURE_TEST(the_range_is_what_it_was),
      FIXTURE_TEST(a_tool_that_deletes_and_inserts),
      FIXTURE_TEST(what_is_outside_the_range_stays),
      FIXTURE_TEST(triggers_stay_off),
      FIXTURE_TEST(without_a_key_too),
      FIXTURE_TEST(the_snapshot_is_the_old_side),
      FIXTURE_TEST(nothing_written_is_no_difference),
  };
  return cmocka_run_group_tests(tests, server_start, server_stop);
}
