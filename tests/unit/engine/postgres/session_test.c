#include "server.h"

enum { DAY = 86400, FIRST = 19905 }; /* 2024-07-01 */

static const ShapeColumn columns[] = {
    {.name = "id", .type = "integer", .key = true, .given = true, .not_null = true},
    {.name = "day", .type = "date", .given = true},
    {.name = "v", .type = "integer", .given = true},
};

/* A table of 20 rows on the five days of the range and 20 on the five days behind it. */
static void fill(Fixture *f) {
  Error err = {0};
  must(pg_ledger_create(f->engine, &err), &err);
  run(f, "CREATE TABLE t (id int PRIMARY KEY, day date, v int)");
  run(f, "INSERT INTO t SELECT n, date '2024-07-01' + n / 4, n FROM generate_series(0, 39) n");
  run(f, "CREATE TABLE source (x int)");
}

static const char *token_of(Fixture *f) {
  Error err = {0};
  const char *token;
  must(pg_change_token(f->engine, &f->arena, &token, &err), &err);
  return token;
}

/* "production sources", each 1 or 0: what is proven of the range, with that many rows, since the token. */
static const char *proven_of(Fixture *f, const char *token, int64_t rows) {
  Error err = {0};
  Unchanged unchanged;
  Instant dates[6];
  for (int i = 0; i < 6; i++) dates[i] = (Instant)(FIRST + i) * DAY;
  Shape shape = {.table = "t", .columns = columns, .n = 3, .date = 1, .keyed = true};
  shape.codec = (DateCodec){.kind = DATE_TEXT, .grain = GRAIN_DAY, .zone = zone_utc()};
  Job job = {.shape = &shape, .dates = dates, .n = 5, .range = {dates[0], dates[5]}};
  must(pg_unchanged(f->engine, &job, token, rows, &unchanged, &err), &err);
  return arena_printf(&f->arena, "%d %d", unchanged.production, unchanged.sources);
}

static const char *proven(Fixture *f, const char *token) { return proven_of(f, token, 20); }

/* ---- what others do -------------------------------------------------------------------------------------------- */

static void what_others_commit_is_seen(void **state) {
  Fixture *f = fixture_of(state);
  static const struct {
    const char *what, *sql[4], *proven;
  } cases[] = {
      {"nothing", {"SELECT 1"}, "1 1"},
      {"a reader", {"BEGIN", "SELECT * FROM t", "COMMIT"}, "1 1"},
      {"taken back", {"BEGIN", "INSERT INTO t VALUES (100, '2024-07-01', 1)", "ROLLBACK"}, "1 1"},
      {"a source", {"INSERT INTO source VALUES (1)"}, "1 0"},
      {"outside the range", {"UPDATE t SET v = -1 WHERE id = 30"}, "1 0"},
      {"insert", {"INSERT INTO t VALUES (100, '2024-07-03', 1)"}, "0 0"},
      {"update", {"UPDATE t SET v = -1 WHERE id = 3"}, "0 0"},
      {"update without a change", {"UPDATE t SET v = v WHERE id = 3"}, "0 0"},
      {"delete", {"DELETE FROM t WHERE id = 3"}, "0 0"},
      {"a date leaves", {"UPDATE t SET day = '2024-07-08' WHERE id = 3"}, "0 0"},
      {"a date arrives", {"UPDATE t SET day = '2024-07-03' WHERE id = 30"}, "0 0"},
      {"the last day's end", {"UPDATE t SET day = '2024-07-05' WHERE id = 20"}, "0 0"},
      {"one leaves, one arrives",
       {"UPDATE t SET day = date '2024-07-10' - (day - date '2024-07-01') WHERE id IN (3, 39)"},
       "0 0"},
      {"one goes, one comes",
       {"BEGIN", "DELETE FROM t WHERE id = 3", "INSERT INTO t VALUES (100, '2024-07-03', 1)", "COMMIT"},
       "0 0"},
      {"in a savepoint",
       {"DO $$BEGIN DELETE FROM t WHERE id = 3; BEGIN INSERT INTO t VALUES (100, '2024-07-03', 1); EXCEPTION WHEN "
        "others THEN NULL; END; END$$"},
       "0 0"},
      {"emptied and loaded again",
       {"CREATE TABLE kept AS SELECT * FROM t", "TRUNCATE t", "INSERT INTO t SELECT * FROM kept"},
       "0 0"},
      {"frozen", {"VACUUM (FREEZE) t"}, "1 1"},
      {"changed and frozen", {"UPDATE t SET v = -1 WHERE id = 3", "VACUUM (FREEZE) t"}, "0 0"},
      {"written anew", {"VACUUM (FULL) t"}, "1 0"},
      {"changed and written anew", {"UPDATE t SET v = -1 WHERE id = 3", "VACUUM (FULL, FREEZE) t"}, "0 0"},
      {"another type", {"ALTER TABLE t ALTER v TYPE bigint"}, "0 0"},
  };
  fill(f);
  Engine *other = open_again(f);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    run(f, "TRUNCATE t");
    run(f, "INSERT INTO t SELECT n, date '2024-07-01' + n / 4, n FROM generate_series(0, 39) n");
    run(f, "DROP TABLE IF EXISTS kept");
    run(f, "ALTER TABLE t ALTER v TYPE int");
    run(f, "ALTER TABLE t SET (autovacuum_enabled = false)");
    const char *token = token_of(f);
    for (size_t j = 0; j < 4 && cases[i].sql[j] != NULL; j++) run_on(other, cases[i].sql[j]);
    const char *got = proven(f, token);
    if (strcmp(got, cases[i].proven) != 0) fail_msg("%s: %s instead of %s", cases[i].what, got, cases[i].proven);
  }
  close_engine(other);
}

static void one_that_began_before_the_snapshot_is_seen(void **state) {
  Fixture *f = fixture_of(state);
  static const char *const early[] = {"SELECT pg_current_xact_id()", "SAVEPOINT a", "DELETE FROM t WHERE id = 4",
                                      "SELECT count(*) FROM t"};
  fill(f);
  Engine *other = open_again(f);
  for (size_t i = 0; i < sizeof early / sizeof *early; i++) {
    run(f, "TRUNCATE t");
    run(f, "INSERT INTO t SELECT n, date '2024-07-01' + n / 4, n FROM generate_series(0, 39) n");
    run_on(other, "BEGIN");
    run_on(other, early[i]);
    if (strncmp(early[i], "SAVE", 4) == 0) run_on(other, "DELETE FROM t WHERE id = 5");
    const char *token = token_of(f);
    assert_string_equal(proven(f, token), "1 1");
    run_on(other, "DELETE FROM t WHERE id = 3");
    run_on(other, "INSERT INTO t VALUES (100, '2024-07-03', 1)");
    assert_string_equal(proven(f, token), "1 1");
    run_on(other, "COMMIT");
    assert_string_equal(proven(f, token), "0 0");
  }
  close_engine(other);
}

/* COPY … (FREEZE) writes rows that are frozen from the start. */
static void frozen_from_the_start_is_seen(void **state) {
  Fixture *f = fixture_of(state);
  fill(f);
  Engine *other = open_again(f);
  const char *file = one(f, "SELECT quote_literal(current_setting('data_directory') || '/copy')");
  const char *token = token_of(f);
  run_on(other, arena_printf(&f->arena, "COPY t TO %s", file));
  run_on(other, "BEGIN");
  run_on(other, "TRUNCATE t");
  run_on(other, arena_printf(&f->arena, "COPY t FROM %s (FREEZE)", file));
  run_on(other, "COMMIT");
  assert_string_equal(proven(f, token), "0 0");
  close_engine(other);
}

/* An old transaction that still runs keeps the snapshot's beginning back: what came in between is seen by it. */
static void what_the_snapshot_sees_is_no_change(void **state) {
  Fixture *f = fixture_of(state);
  fill(f);
  Engine *old = open_again(f), *other = open_again(f);
  run_on(old, "BEGIN");
  run_on(old, "SELECT pg_current_xact_id()");
  run_on(other, "UPDATE t SET v = -1 WHERE id = 3");
  assert_string_equal(proven(f, token_of(f)), "1 1");
  close_engine(other);
  close_engine(old);
}

/* What a count and a hash say of the range, and of everything. */
static const char *contents(Fixture *f, const char *where) {
  return one(
      f, arena_printf(&f->arena,
                      "SELECT count(*) || ' ' || md5(string_agg(format('%%s %%s %%s', id, day, v), ',' ORDER BY id)) "
                      "FROM t WHERE %s",
                      where));
}

/* Two others at work at random, each on rows of its own: whatever is proven holds. */
static void what_is_proven_holds(void **state) {
  Fixture *f = fixture_of(state);
  enum { STEPS = 1500 };
  static const char *const steps[] = {"BEGIN",
                                      "COMMIT",
                                      "ROLLBACK",
                                      "SAVEPOINT s",
                                      "ROLLBACK TO s",
                                      "RELEASE s",
                                      "SELECT pg_current_xact_id()",
                                      "INSERT INTO t SELECT min(g), '2024-07-03', 0 FROM generate_series(%d, 999, 2) g "
                                      "WHERE NOT EXISTS (SELECT FROM t WHERE id = g)",
                                      "DELETE FROM t WHERE id = (SELECT min(id) FROM t WHERE id %% 2 = %d)",
                                      "UPDATE t SET v = v + 1 WHERE id = (SELECT max(id) FROM t WHERE id %% 2 = %d)",
                                      "UPDATE t SET day = '2024-07-04' WHERE id = (SELECT max(id) FROM t WHERE id %% 2 "
                                      "= %d AND day > '2024-07-05')",
                                      "UPDATE t SET day = '2024-07-08' WHERE id = (SELECT min(id) FROM t WHERE id %% 2 "
                                      "= %d AND day < '2024-07-05')"};
  enum { N = sizeof steps / sizeof *steps };
  const char *token = NULL, *range = NULL, *all = NULL;
  int seen[3] = {0};
  fill(f);
  Engine *others[] = {open_again(f), open_again(f)};
  srandom(4);
  for (int i = 0; i < STEPS; i++) {
    Error ignored;
    char sql[256];
    int who = (int)(random() % 2);
    if (i % 12 == 0) {
      arena_release(&f->arena);
      token = token_of(f);
      range = contents(f, "day < '2024-07-06'");
      all = contents(f, "true");
    }
    snprintf(sql, sizeof sql, steps[random() % N], who);
    pg_run(pg_engine(others[who]), sql, NULL, 0, NULL, sql, &ignored);
    const char *got = proven_of(f, token, strtol(range, NULL, 10));
    if (got[0] == '1') assert_string_equal(contents(f, "day < '2024-07-06'"), range);
    if (got[2] == '1') assert_string_equal(contents(f, "true"), all);
    seen[got[0] - '0' + got[2] - '0']++;
  }
  for (int i = 0; i < 3; i++) assert_true(seen[i] > STEPS / 50);
  close_engine(others[0]);
  close_engine(others[1]);
}

/* ---- what Tidegate does itself --------------------------------------------------------------------------------- */

static void commit_as_own(Fixture *f, const char *sql) {
  Error err = {0};
  bool own;
  must(pg_begin(pg_engine(f->engine), false, &own, "beginning", &err), &err);
  run(f, sql);
  must(pg_end(pg_engine(f->engine), own, true, "ending", &err), &err);
}

static void own_work_is_no_change_but_a_swap_is(void **state) {
  Fixture *f = fixture_of(state);
  fill(f);
  const char *token = token_of(f);
  commit_as_own(f, "CREATE TABLE tidegate.tidegate_7f_changes (a int)");
  commit_as_own(f, "INSERT INTO tidegate.tidegate_7f_changes VALUES (1)");
  assert_string_equal(proven(f, token), "1 1");
  commit_as_own(f, "INSERT INTO source VALUES (1)");
  assert_string_equal(proven(f, token), "1 0");
  commit_as_own(f, "UPDATE t SET v = 0 WHERE id = 3");
  assert_string_equal(proven(f, token), "0 0");
}

/* The transaction that asks has written too, and its snapshot is what the token says. */
static void asking_inside_a_transaction_that_writes(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  bool own;
  fill(f);
  Engine *other = open_again(f);
  must(pg_begin(pg_engine(f->engine), true, &own, "beginning", &err), &err);
  run(f, "CREATE TABLE tidegate.tidegate_7f_changes AS SELECT * FROM t");
  const char *token = token_of(f);
  run_on(other, "UPDATE t SET v = -1 WHERE id = 3");
  assert_string_equal(token_of(f), token);
  must(pg_end(pg_engine(f->engine), own, true, "ending", &err), &err);
  assert_string_equal(proven(f, token), "0 0");
  token = token_of(f);
  must(pg_begin(pg_engine(f->engine), false, &own, "beginning", &err), &err);
  run(f, "INSERT INTO tidegate.tidegate_7f_changes VALUES (1)");
  assert_string_equal(proven(f, token), "1 1");
  run_on(other, "UPDATE t SET v = -2 WHERE id = 3");
  assert_string_equal(proven(f, token), "0 0");
  pg_undo(pg_engine(f->engine), own);
  close_engine(other);
}

/* ---- what cannot be known -------------------------------------------------------------------------------------- */

static void what_does_not_come_by_commits_is_never_proven(void **state) {
  Fixture *f = fixture_of(state);
  static const struct {
    const char *make, *proven, *drop;
  } cases[] = {
      {"CREATE UNLOGGED TABLE light (a int)", "1 0", "DROP TABLE light"},
      {"CREATE FOREIGN DATA WRAPPER elsewhere", "1 1", "DROP FOREIGN DATA WRAPPER elsewhere"},
      {"CREATE UNLOGGED TABLE tidegate.tidegate_7f_shadow (a int)", "1 1", "DROP TABLE tidegate.tidegate_7f_shadow"},
  };
  fill(f);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    run(f, cases[i].make);
    assert_string_equal(proven(f, token_of(f)), cases[i].proven);
    run(f, cases[i].drop);
  }
  run(f, "CREATE FOREIGN DATA WRAPPER elsewhere");
  run(f, "CREATE SERVER there FOREIGN DATA WRAPPER elsewhere");
  run(f, "CREATE FOREIGN TABLE far (a int) SERVER there");
  assert_string_equal(proven(f, token_of(f)), "1 0");
}

static void tokens_of_elsewhere_prove_nothing(void **state) {
  Fixture *f = fixture_of(state);
  fill(f);
  const char *token = token_of(f);
  char *other = arena_strdup(&f->arena, token);
  char *timeline = strrchr(other, ' ') - 1;
  *timeline = *timeline == '1' ? '2' : '1';
  assert_string_equal(proven(f, other), "0 0");
  assert_string_equal(proven(f, ""), "0 0");
  assert_string_equal(proven(f, "0123456789abcdef:7"), "0 0");
  assert_string_equal(proven(f, token), "1 1");
}

/* More ids than are looked at one by one. */
static void many_transactions_leave_production_alone(void **state) {
  Fixture *f = fixture_of(state);
  fill(f);
  const char *token = token_of(f);
  run(f,
      "DO $$BEGIN FOR i IN 1..10001 LOOP BEGIN INSERT INTO source VALUES (i); EXCEPTION WHEN others THEN NULL; END; "
      "END LOOP; RAISE serialization_failure; EXCEPTION WHEN serialization_failure THEN NULL; END$$");
  assert_string_equal(proven(f, token), "1 0");
}

/* ---- itself ---------------------------------------------------------------------------------------------------- */

static const char *identity_of(Fixture *f, Engine *engine) {
  Error err = {0};
  const char *identity;
  must(pg_identity(engine, &f->arena, &identity, &err), &err);
  return identity;
}

static void a_copy_is_another_database(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  assert_string_equal(identity_of(f, f->engine), "");
  must(pg_ledger_create(f->engine, &err), &err);
  const char *identity = identity_of(f, f->engine);
  assert_string_equal(identity_of(f, f->engine), identity);
  assert_has(identity, one(f, "SELECT uuid FROM tidegate.meta"));
  assert_has(identity, one(f, "SELECT system_identifier FROM pg_control_system()"));
  Fixture copy = *f;
  snprintf(copy.name, sizeof copy.name, "%.50s_copy", f->name);
  PQfinish(pg_engine(f->engine)->conn); /* a template must have no sessions */
  pg_engine(f->engine)->conn = NULL;
  administer(arena_printf(&f->arena, "CREATE DATABASE %s TEMPLATE %s", copy.name, f->name));
  Engine *other = open_again(&copy);
  const char *of_copy = identity_of(f, other);
  close_engine(other);
  administer(arena_printf(&f->arena, "DROP DATABASE %s", copy.name));
  assert_string_not_equal(of_copy, identity);
  assert_has(of_copy, strrchr(identity, '/'));
  assert_string_equal(identity_of(f, f->engine), identity);
}

static void an_ordinary_role_gives_an_identity_too(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  must(pg_ledger_create(f->engine, &err), &err);
  run(f, "CREATE ROLE plain LOGIN");
  run(f, "GRANT USAGE ON SCHEMA tidegate TO plain");
  run(f, "GRANT SELECT ON tidegate.meta TO plain");
  run(f, "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM public");
  Engine *plain = open_as(f, "plain");
  const char *identity = identity_of(f, plain);
  close_engine(plain);
  run(f, "DROP OWNED BY plain");
  run(f, "DROP ROLE plain");
  assert_true(strncmp(identity, "-/", 2) == 0);
  assert_has(identity, one(f, "SELECT uuid FROM tidegate.meta"));
}

static void settings_show_what_sql_means_here(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  const char *before, *after;
  must(pg_settings(f->engine, &f->arena, &before, &err), &err);
  assert_has(before, "encoding=UTF8");
  run(f, "SET TimeZone = 'Asia/Kathmandu'");
  must(pg_settings(f->engine, &f->arena, &after, &err), &err);
  assert_has(after, "TimeZone=Asia/Kathmandu");
  run(f, "CREATE SCHEMA first");
  run(f, "SET search_path = first, public");
  must(pg_settings(f->engine, &f->arena, &after, &err), &err);
  assert_has(after, "search_path=first, public schemas={first,public}");
}

static void the_clock_and_the_size_are_the_databases(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  Instant now;
  SpaceFacts space;
  int64_t before = strtoll(one(f, "SELECT extract(epoch FROM clock_timestamp())"), NULL, 10);
  must(pg_now(f->engine, &now, &err), &err);
  assert_in_range(now, before, strtoll(one(f, "SELECT extract(epoch FROM clock_timestamp())"), NULL, 10));
  must(pg_space(f->engine, &space, &err), &err);
  assert_true(space.database_bytes > 1000000);
  assert_int_equal(space.free_bytes, -1);
}

static void a_number_is_asked_for_without_writing(void **state) {
  Fixture *f = fixture_of(state);
  static const struct {
    const char *sql;
    double number;
  } good[] = {{"SELECT count(*) FROM t", 40},
              {"SELECT 1.25::numeric", 1.25},
              {"SELECT EXISTS (SELECT FROM t)", 1},
              {"SELECT false", 0},
              {"SELECT -3", -3},
              {"TABLE one", 7}};
  static const struct {
    const char *sql, *words;
    ErrorCode code;
  } bad[] = {{"SELECT 1 WHERE false", "no row", ERR_SPEC},
             {"SELECT 1, 2", "2 columns", ERR_SPEC},
             {"SELECT id FROM t", "several rows", ERR_SPEC},
             {"SELECT NULL::int", "NULL", ERR_SPEC},
             {"SELECT 'x'", "not one", ERR_SPEC},
             {"SELECT nope", "nope", ERR_SPEC},
             {"SELECT 1; DELETE FROM t", "several statements", ERR_SPEC},
             {"DELETE FROM t RETURNING 1", "must not write", ERR_SPEC},
             {"SELECT wipe()", "must not write", ERR_SPEC},
             {"SELECT 1/0", "division by zero", ERR_HELD},
             {"COPY t TO STDOUT", "COPY", ERR_SPEC}};
  Error err = {0};
  bool own = false;
  fill(f);
  run(f, "CREATE VIEW one AS SELECT 7");
  run(f, "CREATE FUNCTION wipe() RETURNS int LANGUAGE sql AS 'DELETE FROM t; SELECT 1'");
  for (int joined = 0; joined < 2; joined++) {
    double number;
    if (joined) must(pg_begin(pg_engine(f->engine), false, &own, "beginning", &err), &err);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
      must(pg_job_number(f->engine, good[i].sql, 10, &number, &err), &err);
      assert_true(number == good[i].number);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad - (size_t)joined; i++) {
      assert_refused(pg_job_number(f->engine, bad[i].sql, 10, &number, &err), &err, bad[i].code, bad[i].words);
      assert_int_equal(pg_in_transaction(pg_engine(f->engine)), joined);
    }
    run(f, "INSERT INTO source VALUES (1)");
  }
  must(pg_end(pg_engine(f->engine), own, true, "ending", &err), &err);
  assert_string_equal(one(f, "SELECT count(*) FROM source"), "2");
  assert_string_equal(one(f, "SELECT count(*) FROM t"), "40");
}

/* Commits of the whole cluster count: a server of its own, without autovacuum, which commits as well. */
static int own_server(void **state) {
  unsetenv("TIDEGATE_TEST_PGHOST");
  if (server_start(state) != 0) return -1;
  if (server.host[0] == '\0') return 0;
  administer("ALTER SYSTEM SET autovacuum = off");
  administer("SELECT pg_reload_conf()");
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(what_others_commit_is_seen),
      FIXTURE_TEST(one_that_began_before_the_snapshot_is_seen),
      FIXTURE_TEST(frozen_from_the_start_is_seen),
      FIXTURE_TEST(what_the_snapshot_sees_is_no_change),
      FIXTURE_TEST(what_is_proven_holds),
      FIXTURE_TEST(own_work_is_no_change_but_a_swap_is),
      FIXTURE_TEST(asking_inside_a_transaction_that_writes),
      FIXTURE_TEST(what_does_not_come_by_commits_is_never_proven),
      FIXTURE_TEST(tokens_of_elsewhere_prove_nothing),
      FIXTURE_TEST(many_transactions_leave_production_alone),
      FIXTURE_TEST(a_copy_is_another_database),
      FIXTURE_TEST(an_ordinary_role_gives_an_identity_too),
      FIXTURE_TEST(settings_show_what_sql_means_here),
      FIXTURE_TEST(the_clock_and_the_size_are_the_databases),
      FIXTURE_TEST(a_number_is_asked_for_without_writing),
  };
  return cmocka_run_group_tests(tests, own_server, server_stop);
}
