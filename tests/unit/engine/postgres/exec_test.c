#include <time.h>

#include "server.h"

static double monotonic_seconds(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static bool ask(Fixture *f, const char *sql, Error *err) {
  PG_SCOPED result = NULL;
  return pg_query(pg_engine(f->engine), sql, NULL, 0, &result, "asking", err);
}

static void errors_by_their_kind(void **state) {
  Fixture *f = fixture_of(state);
  static const struct {
    const char *sql;
    ErrorCode code;
    const char *state, *words;
  } cases[] = {
      {"SELECT 1/0", ERR_HELD, "22012", "asking: division by zero"},
      {"INSERT INTO t VALUES (1)", ERR_HELD, "23505", "Key (a)=(1) already exists."},
      {"SELECT * FROM nope", ERR_NOT_FOUND, "42P01", "relation \"nope\" does not exist"},
      {"SELECT 1::nope", ERR_NOT_FOUND, "42704", "type \"nope\" does not exist"},
      {"SELEC 1", ERR_DATABASE, "42601", "syntax error"},
      {"SELECT 1; SELECT 2", ERR_DATABASE, "42601", "several statements"},
      {"DO $$BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '55P03'; END$$", ERR_LOCKED, "55P03", "a lock that another"},
      {"DO $$BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '40001'; END$$", ERR_LOCKED, "40001", "the same rows"},
      {"DO $$BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '40P01'; END$$", ERR_LOCKED, "40P01", "a deadlock"},
      {"DO $$BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '53100'; END$$", ERR_FULL, "53100", "disk is full"},
      {"DO $$BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '57014'; END$$", ERR_PAUSED, "57014", "asking: no"},
      {"COPY t TO STDOUT", ERR_SPEC, "", "COPY gives no rows"},
  };
  run(f, "CREATE TABLE t (a int PRIMARY KEY)");
  run(f, "INSERT INTO t VALUES (1)");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Error err = {0};
    assert_refused(ask(f, cases[i].sql, &err), &err, cases[i].code, cases[i].words);
    assert_string_equal(pg_sqlstate(pg_engine(f->engine)), cases[i].state);
    assert_false(pg_in_transaction(pg_engine(f->engine)));
  }
  assert_string_equal(one(f, "SELECT count(*) FROM t"), "1");
}

static void what_is_not_allowed_says_who_helps(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  run(f, "CREATE TABLE t (a int)");
  run(f, "CREATE ROLE nobody_much LOGIN");
  Engine *poor = open_as(f, "nobody_much");
  bool ok = pg_run(pg_engine(poor), "SELECT * FROM t", NULL, 0, NULL, "reading", &err);
  close_engine(poor);
  run(f, "DROP ROLE nobody_much");
  assert_refused(ok, &err, ERR_DATABASE, "permission denied for table t");
  assert_has(err.hint, "tidegate doctor --grant");
}

static bool not_any_more(void *context) { return false; }

/* `one` on another connection. */
static const char *one_by(Fixture *f, Engine *other, const char *sql) {
  Engine *own = f->engine;
  f->engine = other;
  const char *text = one(f, sql);
  f->engine = own;
  return text;
}

/* How many sessions of this database, but the asking one, run something. */
static const char *running(Fixture *f, Engine *other) {
  return one_by(f, other,
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND pid "
                "<> pg_backend_pid()");
}

static void a_stopped_statement_is_gone(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  Interrupt interrupt = {not_any_more, NULL};
  PgEngine *engine = pg_engine(f->engine);
  Engine *other = open_again(f);
  engine->interrupt = &interrupt;
  assert_refused(ask(f, "SELECT pg_sleep(600)", &err), &err, ERR_PAUSED, "stopped before it had ended");
  assert_string_equal(running(f, other), "0");
  engine->interrupt = NULL;
  engine->deadline = monotonic_seconds() - 1;
  assert_refused(ask(f, "SELECT count(*) FROM generate_series(1, 100000000000)", &err), &err, ERR_PAUSED, "stopped");
  assert_string_equal(running(f, other), "0");
  engine->deadline = 0;
  assert_string_equal(one(f, "SELECT 7"), "7");
  close_engine(other);
}

static void kill_connection(Fixture *f) {
  Engine *other = open_again(f);
  int pid = PQbackendPID(pg_engine(f->engine)->conn);
  const char *kill = arena_printf(&f->arena, "SELECT pg_terminate_backend(%d)", pid);
  const char *there = arena_printf(&f->arena, "SELECT count(*) FROM pg_stat_activity WHERE pid = %d", pid);
  assert_string_equal(one_by(f, other, kill), "t");
  while (strcmp(one_by(f, other, there), "0") != 0) continue;
  close_engine(other);
}

static void an_idle_connection_that_was_lost_is_made_again(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE TABLE t (a int)");
  kill_connection(f);
  run(f, "INSERT INTO t VALUES (1)");
  assert_string_equal(one(f, "SELECT count(*) FROM t"), "1");
  assert_string_equal(one(f, "SELECT current_setting('row_security')"), "off");
}

static void a_transaction_that_was_lost_stays_lost(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  PgEngine *engine = pg_engine(f->engine);
  bool own;
  run(f, "CREATE TABLE t (a int)");
  must(pg_begin(engine, false, &own, "beginning", &err), &err);
  run(f, "INSERT INTO t VALUES (1)");
  kill_connection(f);
  for (int i = 0; i < 2; i++) {
    assert_refused(ask(f, "INSERT INTO t VALUES (2)", &err), &err, ERR_DATABASE, "was lost while asking");
    assert_string_equal(pg_sqlstate(engine), "");
    assert_true(pg_in_transaction(engine));
  }
  assert_false(pg_end(engine, own, false, "ending", &err));
  assert_false(pg_in_transaction(engine));
  assert_string_equal(one(f, "SELECT count(*) FROM t"), "0");
}

static void a_writers_connection_is_not_mended(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  pg_engine(f->engine)->writer_open = true;
  kill_connection(f);
  assert_refused(ask(f, "SELECT 1", &err), &err, ERR_DATABASE, "was lost");
  pg_engine(f->engine)->writer_open = false;
  assert_string_equal(one(f, "SELECT 1"), "1");
}

/* The sequence counts how often the statement ran: it does not roll back. */
static void what_may_have_run_is_not_sent_again(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  run(f, "CREATE SEQUENCE s");
  assert_refused(ask(f, "SELECT nextval('s'), pg_terminate_backend(pg_backend_pid()), pg_sleep(60)", &err), &err,
                 ERR_DATABASE, "was lost while asking: terminating connection due to administrator command");
  assert_has(err.hint, "the same command carries on");
  assert_string_equal(one(f, "SELECT last_value FROM s"), "1");
}

static void describing_runs_nothing_and_says_where(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  PgEngine *engine = pg_engine(f->engine);
  PG_SCOPED result = NULL;
  int offset;
  static const struct {
    const char *sql, *at;
  } cases[] = {{"SELECT 'ü€😀', nope", "nope"}, {"SELECT 1 FORM t", "t"}, {"SELECT * FROM gone", "gone"}};
  run(f, "CREATE SEQUENCE s");
  must(pg_describe(engine, "SELECT nextval('s') AS a, 'x'::text AS \"B c\"", &result, &offset, "parsing", &err), &err);
  assert_int_equal(PQnfields(result), 2);
  assert_string_equal(PQfname(result, 1), "B c");
  assert_string_equal(one(f, "SELECT is_called FROM s"), "f");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_refused(pg_describe(engine, cases[i].sql, NULL, &offset, "parsing", &err), &err, ERR_SPEC, "parsing: ");
    assert_int_equal(offset, strstr(cases[i].sql, cases[i].at) - cases[i].sql);
  }
  assert_refused(pg_describe(engine, "SELECT 1; DROP SEQUENCE s", NULL, &offset, "parsing", &err), &err, ERR_SPEC,
                 "several statements");
  assert_int_equal(offset, -1);
  assert_string_equal(one(f, "SELECT count(*) FROM s"), "1");
}

static void arrays_are_read_as_the_server_writes_them(void **state) {
  Fixture *f = fixture_of(state);
  size_t n;
  const char *const *items =
      pg_array(&f->arena, one(f, "SELECT ARRAY['a', '', 'b,c', 'd\"e', 'f\\g', '{h}', ' i ', 'NULL', 'ü']"), &n);
  static const char *const expected[] = {"a", "", "b,c", "d\"e", "f\\g", "{h}", " i ", "NULL", "ü"};
  assert_int_equal(n, 9);
  for (size_t i = 0; i < n; i++) assert_string_equal(items[i], expected[i]);
  pg_array(&f->arena, one(f, "SELECT '{}'::text[]"), &n);
  assert_int_equal(n, 0);
  items = pg_array(&f->arena, one(f, "SELECT ARRAY[1, -2]::int8[]"), &n);
  assert_int_equal(n, 2);
  assert_string_equal(items[1], "-2");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(errors_by_their_kind),
      FIXTURE_TEST(what_is_not_allowed_says_who_helps),
      FIXTURE_TEST(a_stopped_statement_is_gone),
      FIXTURE_TEST(an_idle_connection_that_was_lost_is_made_again),
      FIXTURE_TEST(a_transaction_that_was_lost_stays_lost),
      FIXTURE_TEST(a_writers_connection_is_not_mended),
      FIXTURE_TEST(what_may_have_run_is_not_sent_again),
      FIXTURE_TEST(describing_runs_nothing_and_says_where),
      FIXTURE_TEST(arrays_are_read_as_the_server_writes_them),
  };
  return cmocka_run_group_tests(tests, server_start, server_stop);
}
