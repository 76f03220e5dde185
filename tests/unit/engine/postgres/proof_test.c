#include "changes.h"

/* Would production take every row, and who points to those that go? */

static const char *refusal_of(Fixture *f, const Shape *shape) {
  const char *refusal = "unset";
  Error err = {0};
  must(pg_probe_constraints(f->engine, &f->arena, shape, id, &refusal, &err), &err);
  assert_false(pg_in_transaction(pg_engine(f->engine)));
  return refusal == NULL ? "none" : refusal;
}

/* The change set of `recompute` over the table t and what is said of it. */
static const char *probe(Fixture *f, const char *key, const char *given, const char *recompute) {
  Shape shape = shape_of(f, "t", "d", key, given);
  stage(f, &shape, recompute);
  return refusal_of(f, &shape);
}

#define LIKE_IT "SELECT d, k, v FROM t"

static Fixture *plain(void **state, const char *more) {
  Fixture *f = fixture_of(state);
  run(f, arena_printf(&f->arena, "CREATE TABLE t (d date NOT NULL, k int PRIMARY KEY, v int%s)", more));
  run(f, "INSERT INTO t (d, k, v) VALUES ('2024-01-01', 1, 10), ('2024-01-02', 2, 20), ('2024-02-01', 3, 30)");
  return f;
}

static void what_the_table_takes_is_accepted(void **state) {
  Fixture *f = plain(state, ", note text DEFAULT 'none' NOT NULL, CHECK (v < 100), UNIQUE (v)");
  assert_string_equal(probe(f, "k", "d,k,v",
                            "SELECT d, k, v + 1 AS v FROM t WHERE d < '2024-02-01' UNION ALL SELECT "
                            "'2024-01-03', 4, 99"),
                      "none");
  assert_string_equal(one(f, "SELECT string_agg(k || ':' || v, ' ' ORDER BY k) FROM t"), "1:10 2:20 3:30");
}

static void checks_speak(void **state) {
  Fixture *f = plain(state, ", note text, CONSTRAINT small CHECK (v < 100 OR coalesce(note, '') = 'big')");
  assert_has(probe(f, "k", "d,k,v", "SELECT d, k, v + 90 AS v FROM t WHERE k = 1"), "\"small\"");
  run(f, "UPDATE t SET note = 'big' WHERE k = 1");
  assert_string_equal(probe(f, "k", "d,k,v", "SELECT d, k, v + 90 AS v FROM t WHERE k = 1"), "none");
  const char *words = probe(f, "k", "d,k,v", "SELECT '2024-01-05'::date AS d, 9 AS k, 100 AS v");
  assert_has(words, "relation \"t\"");
  assert_has(words, "\"small\"");
}

static void not_null_and_generated_columns_speak(void **state) {
  Fixture *f = plain(state, ", w numeric(3,0) GENERATED ALWAYS AS (v * 10) STORED, x int");
  assert_has(probe(f, "k", "d,k,v", "SELECT d, k, v * 10 AS v FROM t WHERE k = 1"), "overflow");
  run(f, "ALTER TABLE t DROP COLUMN w, ALTER COLUMN v SET NOT NULL");
  assert_has(probe(f, "k", "d,k,v", "SELECT d, k, NULL::int AS v FROM t WHERE k = 1"), "null value in column \"v\"");
}

static void other_unique_indexes_see_productions_rows(void **state) {
  Fixture *f = plain(state, ", CONSTRAINT \"one v\" UNIQUE (v)");
  const char *words = probe(f, "k", "d,k,v", "SELECT d, k, 30 AS v FROM t WHERE k = 1");
  assert_has(words, "1 new rows meet rows that stay as they are");
  assert_has(words, "“one v”");
  assert_has(probe(f, "k", "d,k,v", "SELECT d, k, 7 AS v FROM t WHERE k < 3"), "unique constraint \"one v\"");
  /* 2 goes, and its value is free */
  assert_string_equal(probe(f, "k", "d,k,v", "SELECT d, k, 20 AS v FROM t WHERE k = 1"), "none");
  /* the two exchange theirs */
  assert_has(probe(f, "k", "d,k,v", "SELECT d, k, 30 - v AS v FROM t WHERE k < 3"), "DEFERRABLE");
  run(f, "ALTER TABLE t DROP CONSTRAINT \"one v\", ADD UNIQUE (v) DEFERRABLE");
  assert_string_equal(probe(f, "k", "d,k,v", "SELECT d, k, 30 - v AS v FROM t WHERE k < 3"), "none");
}

static void unique_indexes_of_every_kind(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE TABLE t (d date NOT NULL, k int PRIMARY KEY, v text COLLATE \"C\", \"Odd w\" char(4), e int[])");
  run(f, "INSERT INTO t VALUES ('2024-01-01', 1, 'a', 'x', '{1}'), ('2024-02-01', 3, 'B', NULL, '{2,NULL}')");
  static const char b[] = "SELECT d, k, 'b' AS v, \"Odd w\", e FROM t WHERE k = 1";
  static const char null[] = "SELECT d, k, v, NULL::char(4) AS \"Odd w\", e FROM t WHERE k = 1";
  static const char array[] = "SELECT d, k, v, \"Odd w\", '{2,NULL}'::int[] AS e FROM t WHERE k = 1";
  run(f, "CREATE UNIQUE INDEX u ON t (lower(v))");
  assert_has(probe(f, "k", NULL, b), "unique index “u” of public.t");
  run(f, "DROP INDEX u");
  run(f, "CREATE UNIQUE INDEX u ON t (lower(v)) WHERE k < 3");
  assert_string_equal(probe(f, "k", NULL, b), "none");
  run(f, "DROP INDEX u");
  run(f, "CREATE UNIQUE INDEX u ON t (\"Odd w\")");
  assert_string_equal(probe(f, "k", NULL, null), "none");
  run(f, "DROP INDEX u");
  run(f, "CREATE UNIQUE INDEX u ON t (\"Odd w\") INCLUDE (v)");
  assert_string_equal(probe(f, "k", NULL, null), "none");
  run(f, "DROP INDEX u");
  if (atoi(one(f, "SHOW server_version_num")) >= 150000) {
    run(f, "CREATE UNIQUE INDEX u ON t (\"Odd w\") NULLS NOT DISTINCT");
    assert_has(probe(f, "k", NULL, null), "unique index “u”");
    run(f, "DROP INDEX u");
  }
  run(f, "CREATE UNIQUE INDEX u ON t (e)");
  assert_has(probe(f, "k", NULL, array), "unique index “u”");
}

/* A row also meets others when it comes into the part of a partial index. */
static void a_row_may_come_into_a_partial_index(void **state) {
  Fixture *f = plain(state, ", note text");
  run(f, "UPDATE t SET note = 'same'");
  run(f, "CREATE UNIQUE INDEX part ON t (note) WHERE v > 25");
  assert_string_equal(probe(f, "k", "d,k,v", "SELECT d, k, v + 1 AS v FROM t"), "none");
  assert_has(probe(f, "k", "d,k,v", "SELECT d, k, v + 10 AS v FROM t"), "unique index “part”");
}

static void exclusion_constraints_see_productions_rows(void **state) {
  Fixture *f = fixture_of(state);
  run(f,
      "CREATE TABLE t (d date NOT NULL, k int PRIMARY KEY, v int4range, "
      "CONSTRAINT apart EXCLUDE USING gist (v WITH &&) WHERE (k > 0))");
  run(f, "INSERT INTO t VALUES ('2024-01-01', 1, '[1,2)'), ('2024-01-01', 2, '[5,6)'), ('2024-02-01', 3, '[8,9)')");
  assert_string_equal(probe(f, "k", NULL, "SELECT d, k, '[1,3)'::int4range AS v FROM t WHERE k = 1"), "none");
  assert_has(probe(f, "k", NULL, "SELECT d, k, '[1,9)'::int4range AS v FROM t WHERE k = 1"),
             "exclusion constraint “apart”");
  assert_has(probe(f, "k", NULL, "SELECT d, k, '[3,4)'::int4range AS v FROM t WHERE k < 3"), "apart");
}

static void foreign_keys_need_a_parent(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE TABLE p (a int, b int, PRIMARY KEY (a, b))");
  run(f, "INSERT INTO p VALUES (1, 1)");
  run(f,
      "CREATE TABLE t (d date NOT NULL, k int PRIMARY KEY, a int, b int, CONSTRAINT up FOREIGN KEY (a, b) "
      "REFERENCES p (a, b))");
  run(f, "INSERT INTO t VALUES ('2024-01-01', 1, 1, 1)");
  static const char two[] = "SELECT d, k, 1 AS a, 2 AS b FROM t", half[] = "SELECT d, k, 5 AS a, NULL::int AS b FROM t";
  assert_has(probe(f, "k", NULL, two), "1 rows have no parent in p (foreign key “up”)");
  assert_string_equal(probe(f, "k", NULL, half), "none");
  run(f, "ALTER TABLE t DROP CONSTRAINT up, ADD CONSTRAINT up FOREIGN KEY (a, b) REFERENCES p (a, b) MATCH FULL");
  assert_has(probe(f, "k", NULL, half), "no parent in p");
  assert_string_equal(probe(f, "k", NULL, "SELECT d, k, NULL::int AS a, NULL::int AS b FROM t"), "none");
  /* what was wrong before and does not change is nobody's business */
  run(f, "ALTER TABLE t DROP CONSTRAINT up");
  run(f, "UPDATE t SET a = 9");
  run(f, "ALTER TABLE t ADD v int, ADD CONSTRAINT up FOREIGN KEY (a, b) REFERENCES p (a, b) NOT VALID");
  assert_string_equal(probe(f, "k", NULL, "SELECT d, k, a, b, 3 AS v FROM t"), "none");
  assert_has(probe(f, "k", NULL, "SELECT d, k, 8 AS a, b, v FROM t"), "no parent in p");
}

static void a_row_may_be_the_parent_of_another(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE TABLE t (d date NOT NULL, k int PRIMARY KEY, v int REFERENCES t)");
  run(f, "INSERT INTO t VALUES ('2024-01-01', 1, NULL), ('2024-01-01', 2, NULL), ('2024-02-01', 3, NULL)");
  assert_string_equal(probe(f, "k", NULL,
                            "SELECT d, k, 3 AS v FROM t UNION ALL SELECT '2024-01-02', 5, 6 UNION ALL "
                            "SELECT '2024-01-02', 6, 2"),
                      "none");
  assert_has(probe(f, "k", NULL, "SELECT d, k, 2 AS v FROM t WHERE k = 1"), "no parent in t");
  assert_has(probe(f, "k", NULL, "SELECT d, k, 7 AS v FROM t UNION ALL SELECT '2024-01-02', 7, NULL"),
             "no parent in t");
}

/* Sequences, counters and identities are not touched; what they would give is made up. */
static void defaults_of_new_rows_cost_nothing(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE TABLE counter (n int)");
  run(f, "INSERT INTO counter VALUES (5)");
  run(f, "CREATE FUNCTION take() RETURNS int LANGUAGE sql VOLATILE AS 'UPDATE counter SET n = n + 1 RETURNING n'");
  run(f, "CREATE SEQUENCE words");
  run(f,
      "CREATE TABLE t (id serial PRIMARY KEY, d date NOT NULL, k int NOT NULL UNIQUE, v int, "
      "i bigint GENERATED ALWAYS AS IDENTITY (INCREMENT BY 10) UNIQUE, w text DEFAULT 'W' || nextval('words') NOT "
      "NULL, "
      "c int NOT NULL DEFAULT take(), at timestamptz NOT NULL DEFAULT now(), CHECK (at > '2020-01-01'))");
  run(f, "INSERT INTO t (d, k, v) VALUES ('2024-01-01', 1, 1), ('2024-01-01', 2, 2)");
  const char *state_of =
      "SELECT (SELECT last_value FROM t_id_seq) || ' ' || (SELECT last_value FROM t_i_seq) || ' ' || "
      "(SELECT last_value FROM words) || ' ' || (SELECT n FROM counter)";
  const char *before = one(f, state_of);
  assert_string_equal(before, "2 11 2 7");
  static const char more[] =
      "SELECT d, k, v + 1 AS v FROM t UNION ALL SELECT '2024-01-02', 3, 3 UNION ALL SELECT "
      "'2024-01-02', 4, 4";
  assert_string_equal(probe(f, "k", "d,k,v", more), "none");
  assert_string_equal(one(f, state_of), before);
  /* the sequence is behind what production holds: the swap would meet it */
  run(f, "SELECT setval('t_id_seq', 1)");
  assert_has(probe(f, "k", "d,k,v", more), "t_pkey");
}

static void partitions_take_their_rows(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE TABLE t (d date NOT NULL, k int NOT NULL, v int, PRIMARY KEY (d, k)) PARTITION BY RANGE (d)");
  run(f, "CREATE TABLE t1 PARTITION OF t FOR VALUES FROM ('2024-01-01') TO ('2024-01-10')");
  run(f, "CREATE TABLE t2 PARTITION OF t FOR VALUES FROM ('2024-01-10') TO ('2024-01-20') PARTITION BY HASH (k)");
  run(f, "CREATE TABLE t2a PARTITION OF t2 FOR VALUES WITH (MODULUS 1, REMAINDER 0)");
  run(f, "INSERT INTO t VALUES ('2024-01-01', 1, 1), ('2024-01-12', 2, 2)");
  assert_string_equal(probe(f, "d,k", NULL, "SELECT d, k, v + 1 AS v FROM t UNION ALL SELECT '2024-01-13', 3, 3"),
                      "none");
  const char *words = probe(f, "d,k", NULL, LIKE_IT " UNION ALL SELECT '2024-01-25', 3, 3");
  assert_has(words, "no partition of relation public.t found for row");
  assert_has(words, "2024-01-25");
  run(f, "ALTER TABLE t2a ADD CONSTRAINT own CHECK (v < 5)");
  assert_has(probe(f, "d,k", NULL, LIKE_IT " UNION ALL SELECT '2024-01-13', 3, 5"), "“own” of partition public.t2a");
  assert_string_equal(probe(f, "d,k", NULL, LIKE_IT " UNION ALL SELECT '2024-01-03', 3, 5"), "none");
  run(f, "ALTER TABLE t1 ALTER v SET NOT NULL");
  assert_has(probe(f, "d,k", NULL, LIKE_IT " UNION ALL SELECT '2024-01-03', 3, NULL"), "no “v”");
  run(f, "CREATE UNIQUE INDEX own_v ON t1 (v)");
  assert_has(probe(f, "d,k", NULL, LIKE_IT " UNION ALL SELECT '2024-01-03', 3, 1"), "own_v");
  assert_has(probe(f, "d,k", NULL, LIKE_IT " UNION ALL SELECT '2024-01-03', 3, 7 UNION ALL SELECT '2024-01-04', 4, 7"),
             "own_v");
  assert_string_equal(probe(f, "d,k", NULL, LIKE_IT " UNION ALL SELECT '2024-01-13', 3, 1"), "none");
  run(f, "CREATE TABLE rest PARTITION OF t DEFAULT");
  assert_string_equal(probe(f, "d,k", NULL, LIKE_IT " UNION ALL SELECT '2024-01-25', 3, 3"), "none");
}

static void a_partition_keeps_its_bound(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE TABLE whole (d date NOT NULL, k int NOT NULL, v int) PARTITION BY RANGE (d)");
  run(f, "CREATE TABLE t PARTITION OF whole FOR VALUES FROM ('2024-01-01') TO ('2024-01-10')");
  run(f, "INSERT INTO t VALUES ('2024-01-01', 1, 1)");
  assert_string_equal(probe(f, "", NULL, LIKE_IT " UNION ALL SELECT '2024-01-09', 3, 3"), "none");
  assert_has(probe(f, "", NULL, LIKE_IT " UNION ALL SELECT '2024-01-10', 3, 3"), "partition constraint");
}

/* Without a key the old rows of a date go, and may not be met. */
static void whole_dates_may_be_written_again(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE TABLE t (d date NOT NULL, k int UNIQUE, v int)");
  run(f, "INSERT INTO t VALUES ('2024-01-01', 1, 1), ('2024-01-01', 2, 1), ('2024-02-01', 3, 1)");
  assert_string_equal(probe(f, "", NULL, "SELECT d, k, 5 AS v FROM t WHERE d < '2024-02-01'"), "none");
  assert_has(probe(f, "", NULL, "SELECT d, 3 AS k, v FROM t WHERE k = 1"), "t_k_key");
}

static void a_probe_joins_an_open_transaction(void **state) {
  Fixture *f = plain(state, ", CHECK (v < 100)");
  Shape shape = shape_of(f, "t", "d", "k", NULL);
  const char *refusal;
  Error err = {0};
  stage(f, &shape, "SELECT d, k, 100 AS v FROM t WHERE k = 1");
  run(f, "BEGIN");
  must(pg_probe_constraints(f->engine, &f->arena, &shape, id, &refusal, &err), &err);
  assert_has(refusal, "check constraint");
  run(f, "UPDATE t SET v = 11 WHERE k = 1");
  run(f, "COMMIT");
  assert_string_equal(one(f, "SELECT v FROM t WHERE k = 1"), "11");
}

/* ---- children ---------------------------------------------------------------------------------------------------- */

static int64_t orphans(Fixture *f, const char *table, const char *key, const char *recompute, const char *child) {
  Shape shape = shape_of(f, table, "d", key, NULL);
  const char *name = "unset";
  int64_t n = -1;
  Error err = {0};
  stage(f, &shape, recompute);
  must(pg_orphans(f->engine, &f->arena, &shape, id, &name, &n, &err), &err);
  if (n == 0) assert_null(name);
  if (n > 0) assert_string_equal(name, child);
  return n;
}

static void children_of_rows_that_go_are_counted(void **state) {
  Fixture *f = plain(state, ", u int UNIQUE");
  run(f, "UPDATE t SET u = k * 100");
  run(f, "CREATE SCHEMA other");
  run(f,
      "CREATE TABLE other.\"Child\" (t int REFERENCES t ON DELETE CASCADE, u int REFERENCES t (u) ON UPDATE CASCADE)");
  run(f, "INSERT INTO other.\"Child\" VALUES (2, NULL), (2, NULL), (3, NULL), (NULL, NULL), (NULL, 100)");
  static const char child[] = "other.\"Child\"";
  assert_int_equal(orphans(f, "t", "k", "SELECT * FROM t WHERE k <> 2", child), 2);
  assert_int_equal(orphans(f, "t", "k", "SELECT d, k, v + 1 AS v, u FROM t", child), 0);
  assert_int_equal(orphans(f, "t", "k", "SELECT d, k, v, u + 1 AS u FROM t", child), 1);
  assert_int_equal(orphans(f, "t", "k", "SELECT d, k, v, CASE k WHEN 1 THEN u ELSE u + 1 END AS u FROM t", child), 0);
}

static void children_that_go_with_their_parents_are_not_orphans(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE TABLE t (d date NOT NULL, k int PRIMARY KEY, v int REFERENCES t)");
  run(f, "INSERT INTO t VALUES ('2024-01-01', 1, NULL), ('2024-01-01', 2, 1), ('2024-02-01', 3, 2)");
  assert_int_equal(orphans(f, "t", "k", "SELECT * FROM t WHERE k = 1", "t"), 1);
  run(f, "UPDATE t SET v = NULL WHERE k = 3");
  assert_int_equal(orphans(f, "t", "k", "SELECT * FROM t WHERE false", "t"), 0);
  assert_int_equal(orphans(f, "t", "k", "SELECT * FROM t WHERE k = 2", "t"), 1);
}

static void children_of_partitions(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE TABLE t (d date NOT NULL, k int NOT NULL, v int, PRIMARY KEY (d, k)) PARTITION BY RANGE (d)");
  run(f, "CREATE TABLE t1 PARTITION OF t FOR VALUES FROM ('2024-01-01') TO ('2024-01-10')");
  run(f, "CREATE TABLE t2 PARTITION OF t FOR VALUES FROM ('2024-01-10') TO ('2024-03-01')");
  run(f, "CREATE UNIQUE INDEX ON t2 (k)");
  run(f, "INSERT INTO t VALUES ('2024-01-01', 1, 1), ('2024-01-12', 1, 2)");
  run(f, "CREATE TABLE child (d date, k int, FOREIGN KEY (d, k) REFERENCES t)");
  run(f, "INSERT INTO child VALUES ('2024-01-01', 1)");
  assert_int_equal(orphans(f, "t", "d,k", "SELECT * FROM t WHERE d < '2024-01-10'", "child"), 0);
  assert_int_equal(orphans(f, "t", "d,k", "SELECT * FROM t WHERE d > '2024-01-10'", "child"), 1);
  run(f, "DROP TABLE child");
  run(f, "CREATE TABLE child (k int REFERENCES t2 (k))");
  run(f, "INSERT INTO child VALUES (1)");
  assert_int_equal(orphans(f, "t", "d,k", "SELECT * FROM t WHERE d > '2024-01-10'", "child"), 0);
  assert_int_equal(orphans(f, "t", "d,k", "SELECT * FROM t WHERE d < '2024-01-10'", "child"), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(what_the_table_takes_is_accepted),
      FIXTURE_TEST(checks_speak),
      FIXTURE_TEST(not_null_and_generated_columns_speak),
      FIXTURE_TEST(other_unique_indexes_see_productions_rows),
      FIXTURE_TEST(unique_indexes_of_every_kind),
      FIXTURE_TEST(a_row_may_come_into_a_partial_index),
      FIXTURE_TEST(exclusion_constraints_see_productions_rows),
      FIXTURE_TEST(foreign_keys_need_a_parent),
      FIXTURE_TEST(a_row_may_be_the_parent_of_another),
      FIXTURE_TEST(defaults_of_new_rows_cost_nothing),
      FIXTURE_TEST(partitions_take_their_rows),
      FIXTURE_TEST(a_partition_keeps_its_bound),
      FIXTURE_TEST(whole_dates_may_be_written_again),
      FIXTURE_TEST(a_probe_joins_an_open_transaction),
      FIXTURE_TEST(children_of_rows_that_go_are_counted),
      FIXTURE_TEST(children_that_go_with_their_parents_are_not_orphans),
      FIXTURE_TEST(children_of_partitions),
  };
  return cmocka_run_group_tests(tests, server_start, server_stop);
}
