#include "sealed.h"

/* Ids 1 to 8 of four dates; published: 1 and 2 change, 3 moves, 4 and 5 go, 20 and 21 come. */
static Case published(Fixture *f) {
  run(f,
      "CREATE TABLE \"T t\" (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, \"order day\" date NOT NULL,"
      " amount float8, made text DEFAULT 'db', twice float8 GENERATED ALWAYS AS (amount * 2) STORED)");
  run(f,
      "INSERT INTO \"T t\" (\"order day\", amount, made)"
      " SELECT '2024-01-01'::date + (i / 2), i * 10, 'job' || i FROM generate_series(1, 8) AS i");
  run(f, "CREATE TABLE was AS TABLE \"T t\"");
  run(f,
      "CREATE TABLE want AS SELECT id, \"order day\", amount + CASE WHEN id < 3 THEN 1 ELSE 0 END AS amount"
      " FROM \"T t\" WHERE id NOT IN (4, 5)");
  run(f, "UPDATE want SET \"order day\" = '2024-01-05' WHERE id = 3");
  run(f, "INSERT INTO want VALUES (20, '2024-01-03', 200), (21, '2024-01-03', 210)");
  Case c = case_of(f, "\"T t\"", "id!^,order day!@,amount,made-,twice=");
  ((ShapeColumn *)c.shape.columns)[2].tolerance = 0.5;
  seal(&c);
  applied(&c);
  run(f, "CREATE TABLE now AS TABLE \"T t\"");
  return c;
}

/* What differs from how it was before the swap, or from how the swap left it. */
static const char *from(Fixture *f, const char *table) {
  return one(f,
             arena_printf(&f->arena,
                          "SELECT string_agg(id || ' ' || amount || ' ' || made, ', ' ORDER BY id, amount, made) FROM ("
                          "(TABLE \"T t\" EXCEPT ALL TABLE %s) UNION ALL (TABLE %s EXCEPT ALL TABLE \"T t\")) AS x",
                          table, table));
}

static Conflicts conflicts_of(Case *c, size_t max) {
  Error err = {0};
  Conflicts found;
  must(pg_conflicts(c->f->engine, &c->f->arena, &c->shape, "t1", max, &found, &err), &err);
  return found;
}

static void everything_is_as_it_was(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  int64_t left = 7;
  Case c = published(f);
  assert_int_equal(conflicts_of(&c, 5).count, 0);
  must(reverted(&c, LATER_REFUSE, &left, &err), &err);
  assert_int_equal(left, 0);
  assert_string_equal(from(f, "was"), "NULL");
}

static void it_can_be_published_again(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  int64_t left;
  Case c = published(f);
  must(reverted(&c, LATER_REFUSE, &left, &err), &err);
  applied(&c);
  assert_string_equal(from(f, "now"), "NULL");
  run(f, "VACUUM FULL \"T t\"");
  must(reverted(&c, LATER_REFUSE, &left, &err), &err);
  assert_string_equal(from(f, "was"), "NULL");
}

static void writes_to_other_rows_are_none_of_its_business(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  int64_t left;
  Case c = published(f);
  run(f, "UPDATE \"T t\" SET amount = 0 WHERE id = 8");
  run(f, "UPDATE \"T t\" SET made = 'later' WHERE id = 1"); /* not written by the swap, so it stays */
  assert_int_equal(conflicts_of(&c, 5).count, 0);
  must(reverted(&c, LATER_REFUSE, &left, &err), &err);
  assert_string_equal(from(f, "was"), "1 10 job1, 1 10 later, 8 0 job8, 8 80 job8");
}

/* 1 changed within the tolerance, 2 vanished, 3 moved on, 4 arrived, 20 changed where the database gave it a value. */
static Case written_since(Fixture *f) {
  Case c = published(f);
  run(f, "UPDATE \"T t\" SET amount = amount + 0.25 WHERE id = 1");
  run(f, "DELETE FROM \"T t\" WHERE id = 2");
  run(f, "UPDATE \"T t\" SET \"order day\" = '2025-06-01' WHERE id = 3");
  run(f, "INSERT INTO \"T t\" OVERRIDING SYSTEM VALUE VALUES (4, '2024-01-09', 4, 'again')");
  run(f, "UPDATE \"T t\" SET made = 'by hand' WHERE id = 20");
  run(f, "CREATE TABLE later AS TABLE \"T t\"");
  return c;
}

static void later_writes_are_shown(void **state) {
  static const struct {
    const char *what, *date, *key;
  } expected[] = {{"changed since", "2024-01-01", "1"},
                  {"vanished since", "2024-01-02", "2"},
                  {"arrived since", "2024-01-03", "4"},
                  {"changed since", "2024-01-03", "20"},
                  {"moved since", "2024-01-05", "3"}};
  Fixture *f = fixture_of(state);
  Case c = written_since(f);
  Conflicts found = conflicts_of(&c, 10);
  assert_int_equal(found.count, 5);
  assert_int_equal(found.n, 5);
  for (size_t i = 0; i < 5; i++) {
    bool seen = false;
    for (size_t k = 0; k < found.n; k++)
      seen |= strcmp(found.rows[k].what, expected[i].what) == 0 && strcmp(found.rows[k].date, expected[i].date) == 0 &&
              strcmp(found.rows[k].key, expected[i].key) == 0;
    if (!seen) fail_msg("%s %s is not shown", expected[i].what, expected[i].key);
  }
  assert_int_equal(conflicts_of(&c, 2).n, 2);
  found = conflicts_of(&c, 0);
  assert_int_equal(found.count, 5);
  assert_int_equal(found.n, 0);
}

static void later_writes_refuse(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  int64_t left;
  Case c = written_since(f);
  assert_refused(reverted(&c, LATER_REFUSE, &left, &err), &err, ERR_CONFLICT, "5 rows were written after the swap");
  assert_string_equal(from(f, "later"), "NULL");
}

static void later_writes_are_kept(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  int64_t left;
  Case c = written_since(f);
  must(reverted(&c, LATER_KEEP, &left, &err), &err);
  assert_int_equal(left, 5);
  /* Against how it was: 1, 2, 3, 4 and 20 as the later writes left them; 5 is back and 21 is gone. */
  assert_rows(f,
              "1,2024-01-01,11.25,job1|3,2025-06-01,30,job3|4,2024-01-09,4,again|5,2024-01-03,50,job5|"
              "6,2024-01-04,60,job6|7,2024-01-04,70,job7|8,2024-01-05,80,job8|20,2024-01-03,200,\"by hand\"",
              "SELECT id, \"order day\", amount, made FROM \"T t\" ORDER BY id");
}

static void later_writes_are_overwritten(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  int64_t left = 7;
  Case c = written_since(f);
  must(reverted(&c, LATER_OVERWRITE, &left, &err), &err);
  assert_int_equal(left, 0);
  assert_string_equal(from(f, "was"), "NULL");
}

static void a_new_row_that_vanished_since_is_no_hindrance_when_overwriting(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  int64_t left;
  Case c = published(f);
  run(f, "DELETE FROM \"T t\" WHERE id = 20");
  assert_refused(reverted(&c, LATER_REFUSE, &left, &err), &err, ERR_CONFLICT, "1 rows");
  must(reverted(&c, LATER_OVERWRITE, &left, &err), &err);
  assert_string_equal(from(f, "was"), "NULL");
}

/* The key is not the identity: a row that came again under its key has another id. */
static void an_identity_that_no_update_may_write(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  int64_t left;
  run(f, "CREATE TABLE t (k text PRIMARY KEY, d date NOT NULL, v int, n int GENERATED ALWAYS AS IDENTITY)");
  run(f, "INSERT INTO t VALUES ('a', '2024-01-01', 1), ('b', '2024-01-01', 2)");
  run(f, "CREATE TABLE was AS TABLE t");
  run(f, "CREATE TABLE want AS SELECT k, d, 5 AS v FROM t WHERE k = 'a'");
  Case c = case_of(f, "t", "k!^,d!@,v,n-");
  seal(&c);
  applied(&c);
  run(f, "UPDATE t SET v = 6 WHERE k = 'a'");
  run(f, "INSERT INTO t VALUES ('b', '2024-01-02', 7)");
  must(reverted(&c, LATER_OVERWRITE, &left, &err), &err);
  assert_rows(f, "a,2024-01-01,1,1|b,2024-01-01,2,2", "SELECT * FROM t ORDER BY k");
}

static void children_of_new_rows_are_spared(void **state) {
  static const char *const actions[] = {"ON DELETE CASCADE", "ON DELETE SET NULL", ""};
  Fixture *f = fixture_of(state);
  Case c = published(f);
  for (size_t i = 0; i < 3; i++) {
    Error err = {0};
    int64_t left;
    run(f, "DROP TABLE IF EXISTS child");
    run(f, arena_printf(&f->arena, "CREATE TABLE child (parent bigint REFERENCES \"T t\" %s)", actions[i]));
    run(f, "INSERT INTO child VALUES (20)");
    assert_refused(reverted(&c, LATER_REFUSE, &left, &err), &err, ERR_HELD, "child");
    assert_string_equal(one(f, "SELECT parent FROM child"), "20");
    assert_string_equal(from(f, "now"), "NULL");
  }
}

static void a_parent_is_overwritten_in_its_place(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  int64_t left;
  Case c = published(f);
  run(f, "CREATE TABLE child AS SELECT 1::bigint AS parent");
  run(f, "ALTER TABLE child ADD FOREIGN KEY (parent) REFERENCES \"T t\" ON DELETE CASCADE");
  run(f, "UPDATE \"T t\" SET amount = -1 WHERE id = 1");
  must(reverted(&c, LATER_OVERWRITE, &left, &err), &err);
  assert_string_equal(from(f, "was"), "NULL");
  assert_string_equal(one(f, "SELECT count(*) FROM child"), "1");
}

static Case keyless(Fixture *f) {
  run(f, "CREATE TABLE t (d date, v int, made text DEFAULT 'db')");
  run(f,
      "INSERT INTO t VALUES ('2024-01-01', 1, 'a'), ('2024-01-01', 1, 'b'), ('2024-01-05', 2, 'c'), ('2024-01-07', 3, "
      "'d')");
  run(f, "CREATE TABLE want AS SELECT d, v FROM t");
  run(f, "INSERT INTO want VALUES ('2024-01-01', 1), ('2024-01-05', 9)");
  Case c = case_of(f, "t", "d@,v,made-");
  seal(&c);
  applied(&c);
  assert_string_equal(one(f, "SELECT count(*) FROM t"), "6");
  return c;
}

static void without_a_key_whole_dates_are_judged(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  int64_t left;
  Case c = keyless(f);
  run(f, "INSERT INTO t VALUES ('2024-01-07', 8), (NULL, 9)");
  assert_int_equal(conflicts_of(&c, 5).count, 0);
  run(f, "DELETE FROM t WHERE ctid IN (SELECT ctid FROM t WHERE d = '2024-01-01' LIMIT 1)");
  Conflicts found = conflicts_of(&c, 1);
  assert_int_equal(found.count, 5); /* two old rows and three new ones of that date */
  assert_string_equal(found.rows[0].date, "2024-01-01");
  assert_null(found.rows[0].key);
  assert_refused(reverted(&c, LATER_REFUSE, &left, &err), &err, ERR_CONFLICT, "5 rows");
  run(f, "CREATE TABLE copy AS TABLE t");
  must(reverted(&c, LATER_KEEP, &left, &err), &err);
  assert_int_equal(left, 5);
  assert_rows(f, "2024-01-01,1,db|2024-01-01,1,db|2024-01-05,2,c|2024-01-07,3,d|2024-01-07,8,db|,9,db",
              "SELECT * FROM t ORDER BY d, v, made");
  run(f, "TRUNCATE t");
  run(f, "INSERT INTO t TABLE copy");
  must(reverted(&c, LATER_OVERWRITE, &left, &err), &err);
  assert_rows(f, "2024-01-01,1,a|2024-01-01,1,b|2024-01-05,2,c|2024-01-07,3,d|2024-01-07,8,db|,9,db",
              "SELECT * FROM t ORDER BY d, v, made");
}

static void triggers_stay_off(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  int64_t left;
  Case c = published(f);
  run(f, "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$");
  run(f, "CREATE TRIGGER no BEFORE INSERT OR UPDATE OR DELETE ON \"T t\" FOR EACH ROW EXECUTE FUNCTION no()");
  assert_false(reverted(&c, LATER_REFUSE, &left, &err));
  run(f, "BEGIN");
  must(pg_revert(&c.writer, &c.shape, c.columns, LATER_REFUSE, true, &left, &err), &err);
  run(f, "COMMIT");
  assert_string_equal(from(f, "was"), "NULL");
  assert_string_equal(one(f, "SELECT tgenabled FROM pg_trigger WHERE tgname = 'no'"), "O");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(everything_is_as_it_was),
      FIXTURE_TEST(it_can_be_published_again),
      FIXTURE_TEST(writes_to_other_rows_are_none_of_its_business),
      FIXTURE_TEST(later_writes_are_shown),
      FIXTURE_TEST(later_writes_refuse),
      FIXTURE_TEST(later_writes_are_kept),
      FIXTURE_TEST(later_writes_are_overwritten),
      FIXTURE_TEST(a_new_row_that_vanished_since_is_no_hindrance_when_overwriting),
      FIXTURE_TEST(an_identity_that_no_update_may_write),
      FIXTURE_TEST(children_of_new_rows_are_spared),
      FIXTURE_TEST(a_parent_is_overwritten_in_its_place),
      FIXTURE_TEST(without_a_key_whole_dates_are_judged),
      FIXTURE_TEST(triggers_stay_off),
  };
  return cmocka_run_group_tests(tests, server_start, server_stop);
}
