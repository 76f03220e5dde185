#include "sealed.h"

/* Ids 1 to 8 on five dates; wanted: 1 changes, 2 goes, 3 moves to the fifth, 20 is new, the rest stays. */
static Case scene(Fixture *f) {
  run(f,
      "CREATE TABLE \"Daily Sales\" (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, \"order day\" date NOT NULL,"
      " amount int, made text DEFAULT 'db', twice int GENERATED ALWAYS AS (amount * 2) STORED)");
  run(f,
      "INSERT INTO \"Daily Sales\" (\"order day\", amount, made)"
      " SELECT '2024-01-01'::date + (i / 2), i * 10, 'job' FROM generate_series(1, 8) AS i");
  run(f, "CREATE TABLE want AS SELECT id, \"order day\", amount FROM \"Daily Sales\"");
  run(f, "UPDATE want SET amount = 11 WHERE id = 1");
  run(f, "DELETE FROM want WHERE id = 2");
  run(f, "UPDATE want SET \"order day\" = '2024-01-05' WHERE id = 3");
  run(f, "INSERT INTO want VALUES (20, '2024-01-03', 200)");
  return case_of(f, "\"Daily Sales\"", "id!^,order day!@,amount,made-,twice=");
}

static const char published[] =
    "1,2024-01-01,11,job,22|3,2024-01-05,30,job,60|4,2024-01-03,40,job,80|"
    "5,2024-01-03,50,job,100|6,2024-01-04,60,job,120|7,2024-01-04,70,job,140|"
    "8,2024-01-05,80,job,160|20,2024-01-03,200,db,400";
static const char all_rows[] = "SELECT * FROM \"Daily Sales\" ORDER BY id";
static const char before[] =
    "1,2024-01-01,10,job,20|2,2024-01-02,20,job,40|3,2024-01-02,30,job,60|"
    "4,2024-01-03,40,job,80|5,2024-01-03,50,job,100|6,2024-01-04,60,job,120|"
    "7,2024-01-04,70,job,140|8,2024-01-05,80,job,160";

static void what_is_wanted_is_there(void **state) {
  Fixture *f = fixture_of(state);
  Case c = scene(f);
  seal(&c);
  assert_int_equal(c.counts.inserts, 1);
  assert_int_equal(c.counts.updates, 1);
  assert_int_equal(c.counts.deletes, 1);
  assert_int_equal(c.counts.moves, 1);
  applied(&c);
  assert_rows(f, published, all_rows);
}

static void rows_that_do_not_change_are_not_written(void **state) {
  Fixture *f = fixture_of(state);
  Case c = scene(f);
  run(f, "CREATE TABLE where_from AS SELECT id, ctid AS at FROM \"Daily Sales\" WHERE id > 3");
  seal(&c);
  applied(&c);
  assert_string_equal(one(f,
                          "SELECT count(*) FROM \"Daily Sales\" AS p JOIN where_from AS w ON w.id = p.id"
                          " AND w.at = p.ctid"),
                      "5");
}

static void rows_that_lie_elsewhere_are_found_by_key(void **state) {
  Fixture *f = fixture_of(state);
  Case c = scene(f);
  seal(&c);
  run(f, "CREATE INDEX backwards ON \"Daily Sales\" ((-id))");
  run(f, "CLUSTER \"Daily Sales\" USING backwards");
  assert_string_equal(one(f, "SELECT id FROM \"Daily Sales\" WHERE ctid = '(0,1)'"), "8");
  applied(&c);
  assert_rows(f, published, all_rows);
}

static void a_row_too_few_is_drift(void **state) {
  static const struct {
    const char *write, *message;
  } cases[] = {{"DELETE FROM \"Daily Sales\" WHERE id = 1", "updating the rows that change: 1 rows instead of 2"},
               {"DELETE FROM \"Daily Sales\" WHERE id = 2", "deleting the rows that go: 0 rows instead of 1"},
               {"DELETE FROM \"Daily Sales\" WHERE id = 3", "updating the rows that change: 1 rows instead of 2"}};
  Fixture *f = fixture_of(state);
  Case c = scene(f);
  seal(&c);
  for (size_t i = 0; i < 3; i++) {
    Error err = {0};
    run(f, "BEGIN");
    run(f, cases[i].write);
    bool ok = pg_apply(&c.writer, &c.shape, c.columns, c.counts, false, &err);
    run(f, "ROLLBACK");
    assert_refused(ok, &err, ERR_DRIFT, cases[i].message);
    assert_rows(f, before, all_rows);
  }
}

static void the_next_id_is_beyond_the_new_ones(void **state) {
  Fixture *f = fixture_of(state);
  Case c = scene(f);
  seal(&c);
  applied(&c);
  assert_string_equal(one(f, "INSERT INTO \"Daily Sales\" (\"order day\") VALUES ('2025-01-01') RETURNING id"), "21");
}

static void a_sequence_never_goes_back(void **state) {
  Fixture *f = fixture_of(state);
  Case c = scene(f);
  seal(&c);
  run(f, "SELECT setval('\"Daily Sales_id_seq\"', 500)");
  applied(&c);
  assert_string_equal(one(f, "INSERT INTO \"Daily Sales\" (\"order day\") VALUES ('2025-01-01') RETURNING id"), "501");
}

static void sequences_that_count_down_or_are_nobodys(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE SEQUENCE \"S q\" INCREMENT -1 MAXVALUE 100 START 50");
  run(f, "CREATE TABLE t (id int PRIMARY KEY DEFAULT nextval('\"S q\"'), d date)");
  run(f, "CREATE TABLE want AS SELECT 7 AS id, '2024-01-02'::date AS d");
  Case c = case_of(f, "t", "id!^,d@");
  seal(&c);
  applied(&c);
  assert_string_equal(one(f, "INSERT INTO t (d) VALUES (NULL) RETURNING id"), "6");
}

static void what_the_database_gives_new_rows_is_noted(void **state) {
  Fixture *f = fixture_of(state);
  Case c = scene(f);
  seal(&c);
  applied(&c);
  assert_rows(f, "D,job,|I,db,20|M,job,3|U,job,1",
              "SELECT op, old_made, new_id FROM tidegate.tidegate_t1_changes ORDER BY op::text");
}

/* ---- unique keys and foreign keys ---------------------------------------------------------------------------------
 */

static Case exchange(Fixture *f, const char *constraint) {
  run(f, "CREATE TABLE t (id int PRIMARY KEY, d date NOT NULL, place int)");
  run(f, arena_printf(&f->arena, "ALTER TABLE t ADD UNIQUE (place)%s", constraint));
  run(f, "INSERT INTO t VALUES (1, '2024-01-01', 1), (2, '2024-01-01', 2), (3, '2024-01-02', 3)");
  run(f, "CREATE TABLE want AS SELECT id, d, 3 - place AS place FROM t WHERE id < 3");
  run(f, "INSERT INTO want VALUES (9, '2024-01-02', 3)");
  Case c = case_of(f, "t", "id!^,d!@,place");
  seal(&c);
  return c;
}

static void two_rows_exchange_a_deferrable_unique_value(void **state) {
  Fixture *f = fixture_of(state);
  Case c = exchange(f, " DEFERRABLE");
  applied(&c);
  assert_rows(f, "1,2024-01-01,2|2,2024-01-01,1|9,2024-01-02,3", "SELECT * FROM t ORDER BY id");
}

static void a_unique_violation_is_a_failure(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  Case c = exchange(f, "");
  assert_refused(apply(&c, false, &err), &err, ERR_HELD, "t_place_key");
  assert_rows(f, "1,1|2,2|3,3", "SELECT id, place FROM t ORDER BY id");
}

static void what_a_deferred_constraint_says_comes_inside(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  Case c = exchange(f, " DEFERRABLE INITIALLY DEFERRED");
  run(f, "UPDATE tidegate.tidegate_t1_changes SET new_place = 1 WHERE new_id = 9");
  run(f, "BEGIN");
  bool ok = pg_apply(&c.writer, &c.shape, c.columns, c.counts, false, &err);
  run(f, "ROLLBACK");
  assert_refused(ok, &err, ERR_HELD, "checking the deferrable constraints");
}

static void children_that_would_be_touched_are_spared(void **state) {
  static const struct {
    const char *action, *parent, *message; /* NULL: fine */
  } cases[] = {{"ON DELETE CASCADE", "2", "1 rows of public.child refer to rows that would be deleted"},
               {"ON DELETE SET NULL", "2", "1 rows of public.child"},
               {"ON DELETE SET DEFAULT", "2", "1 rows of public.child"},
               {"", "2", "still referenced from table \"child\""},
               {"ON DELETE CASCADE", "1", NULL},
               {"ON UPDATE CASCADE", "1", NULL}};
  Fixture *f = fixture_of(state);
  Case c = scene(f);
  seal(&c);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Error err = {0};
    run(f, "DROP TABLE IF EXISTS child");
    run(f, arena_printf(&f->arena, "CREATE TABLE child AS SELECT %s::bigint AS parent", cases[i].parent));
    run(f, arena_printf(&f->arena, "ALTER TABLE child ADD FOREIGN KEY (parent) REFERENCES \"Daily Sales\" %s",
                        cases[i].action));
    run(f, "BEGIN");
    bool ok = pg_apply(&c.writer, &c.shape, c.columns, c.counts, false, &err);
    run(f, "ROLLBACK");
    if (cases[i].message != NULL) assert_refused(ok, &err, ERR_HELD, cases[i].message);
    if (cases[i].message == NULL) must(ok, &err);
    assert_string_equal(one(f, "SELECT parent FROM child"), cases[i].parent);
  }
}

static void a_referred_value_that_changes_spares_children(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  run(f, "CREATE TABLE t (id int PRIMARY KEY, d date, code text UNIQUE)");
  run(f, "INSERT INTO t VALUES (1, '2024-01-01', 'a'), (2, '2024-01-01', 'b')");
  run(f, "CREATE TABLE \"Kin d\" (code text REFERENCES t (code) ON UPDATE CASCADE)");
  run(f, "INSERT INTO \"Kin d\" VALUES ('b')");
  run(f, "CREATE TABLE want AS SELECT id, d, code || 'x' AS code FROM t");
  Case c = case_of(f, "t", "id!^,d@,code");
  seal(&c);
  assert_refused(apply(&c, false, &err), &err, ERR_HELD, "1 rows of public.\"Kin d\" refer to rows that would get");
  assert_string_equal(one(f, "SELECT code FROM \"Kin d\""), "b");
}

static void a_table_that_refers_to_itself(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE TABLE t (id int PRIMARY KEY, d date NOT NULL, boss int REFERENCES t)");
  run(f, "INSERT INTO t VALUES (1, '2024-01-01', NULL), (2, '2024-01-02', 1)");
  run(f,
      "CREATE TABLE want AS SELECT * FROM (VALUES (2, '2024-01-02'::date, 5), (5, '2024-01-03', NULL)) AS w (id, d, "
      "boss)");
  Case c = case_of(f, "t", "id!^,d!@,boss");
  seal(&c);
  applied(&c);
  assert_rows(f, "2,2024-01-02,5|5,2024-01-03,", "SELECT * FROM t ORDER BY id");
  int64_t left;
  Error err = {0};
  must(reverted(&c, LATER_REFUSE, &left, &err), &err);
  assert_rows(f, "1,2024-01-01,|2,2024-01-02,1", "SELECT * FROM t ORDER BY id");
}

/* ---- other targets -------------------------------------------------------------------------------------------------
 */

static void rows_move_between_partitions(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE TABLE t (id int NOT NULL, d date NOT NULL, v int) PARTITION BY RANGE (d)");
  for (int i = 1; i <= 4; i++)
    run(f, arena_printf(&f->arena,
                        "CREATE TABLE \"P %d\" PARTITION OF t FOR VALUES FROM ('2024-01-0%d') TO ('2024-01-0%d')", i,
                        2 * i - 1, 2 * i + 1));
  run(f, "INSERT INTO t SELECT i, '2024-01-01'::date + (i - 1), i FROM generate_series(1, 8) AS i");
  run(f,
      "CREATE TABLE want AS SELECT id, CASE WHEN id = 2 THEN '2024-01-06' ELSE d END AS d,"
      " CASE WHEN id = 5 THEN 55 ELSE v END AS v FROM t WHERE id <> 7");
  run(f, "INSERT INTO want VALUES (9, '2024-01-01', 9)");
  Case c = case_of(f, "t", "id!^,d!@,v");
  seal(&c);
  applied(&c);
  assert_rows(f,
              "\"\"\"P 1\"\"\",1,1|\"\"\"P 1\"\"\",9,9|\"\"\"P 2\"\"\",3,3|\"\"\"P 2\"\"\",4,4|\"\"\"P "
              "3\"\"\",2,2|\"\"\"P 3\"\"\",5,55|\"\"\"P 3\"\"\",6,6|\"\"\"P 4\"\"\",8,8",
              "SELECT tableoid::regclass, id, v FROM t ORDER BY 1, 2");
  int64_t left;
  Error err = {0};
  must(reverted(&c, LATER_REFUSE, &left, &err), &err);
  assert_rows(f, "1,1|2,2|3,3|4,4|5,5|6,6|7,7|8,8", "SELECT id, v FROM t ORDER BY id");
  assert_string_equal(one(f, "SELECT tableoid::regclass FROM t WHERE id = 2"), "\"P 1\"");
}

static void keyless_case(Fixture *f, bool partitioned, bool elsewhere) {
  run(f,
      arena_printf(&f->arena, "CREATE TABLE t (d date, v int, j json)%s", partitioned ? " PARTITION BY LIST (d)" : ""));
  if (partitioned) {
    run(f, "CREATE TABLE t1 PARTITION OF t FOR VALUES IN ('2024-01-01')");
    run(f, "CREATE TABLE t2 PARTITION OF t DEFAULT");
  }
  run(f,
      "INSERT INTO t VALUES ('2023-01-01', 0, NULL), ('2024-01-01', 1, '1'), ('2024-01-01', 1, '1'),"
      " ('2024-01-02', 2, '{\"a\": 1}'), ('2024-01-03', 3, NULL), (NULL, 1, '1')");
  run(f, "CREATE TABLE want AS SELECT * FROM t WHERE d >= '2024-01-01'");
  run(f, "INSERT INTO want VALUES ('2024-01-01', 1, '1'), ('2024-01-02', 5, NULL)");
  Case c = case_of(f, "t", "d@,v,j");
  seal(&c);
  run(f, elsewhere ? "DELETE FROM t WHERE d < '2024-01-01'" : "SELECT 1");
  if (elsewhere) run(f, "VACUUM FULL t");
  applied(&c);
  assert_rows(f, "2024-01-01,1,1,3|2024-01-02,2,\"{\"\"a\"\": 1}\",1|2024-01-02,5,,1|2024-01-03,3,,1|,1,1,1",
              "SELECT d, v, j::text, count(*) FROM t WHERE d > '2024-01-01'::date - 1 OR d IS NULL GROUP BY 1, 2, 3 "
              "ORDER BY 1, 2");
  int64_t left;
  Error err = {0};
  must(reverted(&c, LATER_REFUSE, &left, &err), &err);
  assert_rows(f, "2024-01-01,1,1,2|2024-01-02,2,\"{\"\"a\"\": 1}\",1|2024-01-03,3,,1|,1,1,1",
              "SELECT d, v, j::text, count(*) FROM t WHERE d > '2024-01-01'::date - 1 OR d IS NULL GROUP BY 1, 2, 3 "
              "ORDER BY 1, 2");
  run(f, "DROP TABLE t, want, tidegate.tidegate_t1_changes");
}

static void without_a_key_the_very_rows_go(void **state) {
  Fixture *f = fixture_of(state);
  for (int i = 0; i < 4; i++) keyless_case(f, i & 1, i & 2);
}

static void keys_that_hold_a_null(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE TABLE t (a int, b text, d date, v int)");
  run(f, "INSERT INTO t VALUES (1, NULL, '2024-01-01', 1), (NULL, '', '2024-01-01', 2), (1, '', '2024-01-01', 3)");
  run(f, "CREATE TABLE want AS SELECT a, b, d, v + 10 AS v FROM t WHERE v < 3");
  Case c = case_of(f, "t", "a^,b^,d@,v");
  seal(&c);
  run(f, "VACUUM FULL t");
  applied(&c);
  assert_rows(f, "1,,2024-01-01,11|,\"\",2024-01-01,12", "SELECT * FROM t ORDER BY v");
  int64_t left;
  Error err = {0};
  must(reverted(&c, LATER_REFUSE, &left, &err), &err);
  assert_rows(f, "1,,2024-01-01,1|,\"\",2024-01-01,2|1,\"\",2024-01-01,3", "SELECT * FROM t ORDER BY v");
}

static void the_planner_is_left_as_it_was(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  Case c = scene(f);
  seal(&c);
  run(f, "VACUUM FULL \"Daily Sales\"");
  run(f, "BEGIN");
  must(pg_apply(&c.writer, &c.shape, c.columns, c.counts, false, &err), &err);
  assert_string_equal(one(f, "SELECT count(*) FROM pg_settings WHERE name LIKE 'enable%' AND setting <> reset_val"),
                      "0");
  run(f, "COMMIT");
}

/* ---- triggers -------------------------------------------------------------------------------------------------------
 */

static const char states[] =
    "SELECT tgrelid::regclass::text, tgname, tgenabled FROM pg_trigger WHERE tgname LIKE 'T %' ORDER BY 1, 2";

static Case with_triggers(Fixture *f) {
  run(f, "CREATE TABLE seen (what text)");
  run(f,
      "CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO seen VALUES (TG_NAME || ' ' || "
      "TG_OP);"
      " RETURN coalesce(NEW, OLD); END $$");
  run(f, "CREATE TABLE t (id int, d date, v int CHECK (v > 0)) PARTITION BY RANGE (d)");
  run(f, "CREATE TABLE \"p a\" PARTITION OF t FOR VALUES FROM ('2024-01-01') TO ('2024-01-03')");
  run(f, "CREATE TABLE \"p b\" PARTITION OF t DEFAULT");
  for (const char *s = "OARD"; *s != '\0'; s++) {
    const char *word = *s == 'O' ? "ENABLE" : *s == 'A' ? "ENABLE ALWAYS" : *s == 'R' ? "ENABLE REPLICA" : "DISABLE";
    run(f,
        arena_printf(
            &f->arena,
            "CREATE TRIGGER \"T %c\" AFTER INSERT OR UPDATE OR DELETE ON t FOR EACH ROW EXECUTE FUNCTION see()", *s));
    run(f, arena_printf(&f->arena, "ALTER TABLE t %s TRIGGER \"T %c\"", word, *s));
  }
  run(f, "ALTER TABLE ONLY \"p b\" DISABLE TRIGGER \"T O\"");
  run(f, "CREATE TRIGGER \"T s\" AFTER UPDATE ON t FOR EACH STATEMENT EXECUTE FUNCTION see()");
  run(f,
      "CREATE CONSTRAINT TRIGGER \"T c\" AFTER UPDATE ON \"p a\" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE "
      "FUNCTION see()");
  run(f, "INSERT INTO t SELECT i, '2024-01-01'::date + i, i FROM generate_series(0, 3) AS i WHERE i > 0");
  run(f, "TRUNCATE seen");
  run(f, "CREATE TABLE want AS SELECT id, d, v + 10 AS v FROM t");
  Case c = case_of(f, "t", "id^,d@,v");
  seal(&c);
  return c;
}

static void triggers_come_back_as_they_were(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  Case c = with_triggers(f);
  run(f, arena_printf(&f->arena, "CREATE TABLE was AS %s", states));
  assert_string_equal(one(f, "SELECT string_agg(DISTINCT tgenabled, '' ORDER BY tgenabled) FROM was"), "ADOR");
  must(apply(&c, true, &err), &err);
  assert_string_equal(one(f, "SELECT count(*) FROM seen"), "0");
  assert_string_equal(one(f, arena_printf(&f->arena, "SELECT count(*) FROM (TABLE was EXCEPT %s) AS x", states)), "0");
  assert_string_equal(
      one(f, arena_printf(&f->arena, "SELECT count(*) FROM was UNION SELECT count(*) FROM (%s) AS x", states)),
      one(f, "SELECT count(*) FROM was"));
  assert_string_equal(one(f, "SELECT sum(v) FROM t"), "36");
}

static void triggers_fire_where_they_are_wanted(void **state) {
  Fixture *f = fixture_of(state);
  Case c = with_triggers(f);
  applied(&c);
  assert_rows(f, "\"T A UPDATE\",3|\"T O UPDATE\",1|\"T c UPDATE\",1|\"T s UPDATE\",1",
              "SELECT what, count(*) FROM seen GROUP BY 1 ORDER BY 1");
}

static void foreign_keys_hold_without_triggers(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  run(f, "CREATE TABLE parent (id int PRIMARY KEY)");
  run(f, "CREATE TABLE t (id int PRIMARY KEY, d date, parent int REFERENCES parent DEFERRABLE INITIALLY DEFERRED)");
  run(f, "CREATE TABLE want AS SELECT 1 AS id, '2024-01-01'::date AS d, 5 AS parent");
  Case c = case_of(f, "t", "id!^,d@,parent");
  seal(&c);
  assert_refused(apply(&c, true, &err), &err, ERR_HELD, "t_parent_fkey");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(what_is_wanted_is_there),
      FIXTURE_TEST(rows_that_do_not_change_are_not_written),
      FIXTURE_TEST(rows_that_lie_elsewhere_are_found_by_key),
      FIXTURE_TEST(a_row_too_few_is_drift),
      FIXTURE_TEST(the_next_id_is_beyond_the_new_ones),
      FIXTURE_TEST(a_sequence_never_goes_back),
      FIXTURE_TEST(sequences_that_count_down_or_are_nobodys),
      FIXTURE_TEST(what_the_database_gives_new_rows_is_noted),
      FIXTURE_TEST(two_rows_exchange_a_deferrable_unique_value),
      FIXTURE_TEST(a_unique_violation_is_a_failure),
      FIXTURE_TEST(what_a_deferred_constraint_says_comes_inside),
      FIXTURE_TEST(children_that_would_be_touched_are_spared),
      FIXTURE_TEST(a_referred_value_that_changes_spares_children),
      FIXTURE_TEST(a_table_that_refers_to_itself),
      FIXTURE_TEST(rows_move_between_partitions),
      FIXTURE_TEST(without_a_key_the_very_rows_go),
      FIXTURE_TEST(keys_that_hold_a_null),
      FIXTURE_TEST(the_planner_is_left_as_it_was),
      FIXTURE_TEST(triggers_come_back_as_they_were),
      FIXTURE_TEST(triggers_fire_where_they_are_wanted),
      FIXTURE_TEST(foreign_keys_hold_without_triggers),
  };
  return cmocka_run_group_tests(tests, server_start, server_stop);
}
