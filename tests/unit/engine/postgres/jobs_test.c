#include "server.h"

#include <math.h>

static PGconn *session(const Fixture *f, const char *role, const char *application) {
  char url[256];
  snprintf(url, sizeof url, "postgresql:///%s?host=%s&user=%s&application_name=%s", f->name, server.host, role,
           application);
  PGconn *conn = PQconnectdb(url);
  assert_int_equal(PQstatus(conn), CONNECTION_OK);
  return conn;
}

static void say(PGconn *conn, const char *sql) {
  PGresult *result = PQexec(conn, sql);
  if (PQresultStatus(result) != PGRES_TUPLES_OK) fail_msg("%s: %s", sql, PQerrorMessage(conn));
  PQclear(result);
}

static SessionFacts ask(Fixture *f, Engine *engine, SessionQuestion question) {
  SessionFacts facts;
  Error err = {0};
  must(pg_sessions(engine, &f->arena, &question, 10, &facts, &err), &err);
  return facts;
}

static void assert_none(SessionFacts facts) {
  if (facts.found != NULL || facts.unknown != NULL)
    fail_msg("none was expected: %s%s", facts.found == NULL ? "" : facts.found,
             facts.unknown == NULL ? "" : facts.unknown);
}

/* What another session does is seen soon, not at once: asked again until it says so, at most half a minute. */
static SessionFacts await(Fixture *f, Engine *engine, SessionQuestion question, bool there) {
  SessionFacts facts = {0};
  for (int i = 0; i < 600; i++) {
    facts = ask(f, engine, question);
    if ((facts.found != NULL) == there && facts.unknown == NULL) return facts;
    usleep(50000);
  }
  fail_msg("a session was to be %s", there ? "found" : "gone");
  return facts;
}

static void a_session_is_known_by_its_application(void **state) {
  Fixture *f = fixture_of(state);
  SessionQuestion question = {.application = "nightly_load"};
  assert_none(ask(f, f->engine, question));
  PGconn *job = session(f, "postgres", "nightly_load");
  SessionFacts facts = await(f, f->engine, question, true);
  assert_has(facts.found, "nightly_load");
  assert_has(facts.found, "is idle");
  assert_true(facts.since > 1700000000);
  assert_none(ask(f, f->engine, (SessionQuestion){.application = "nightly"}));
  PQfinish(job);
  await(f, f->engine, question, false);
}

static void a_transaction_sees_sessions_that_came_later(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  bool own;
  SessionQuestion question = {.application = "nightly_load"};
  must(pg_begin(pg_engine(f->engine), false, &own, "beginning", &err), &err);
  assert_none(ask(f, f->engine, question));
  PGconn *job = session(f, "postgres", "nightly_load");
  await(f, f->engine, question, true);
  must(pg_end(pg_engine(f->engine), own, true, "ending", &err), &err);
  PQfinish(job);
}

static void our_own_sessions_are_no_job(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  char url[256];
  Engine *renamed;
  snprintf(url, sizeof url, "postgresql:///%s?host=%s&user=postgres&application_name=nightly_load", f->name,
           server.host);
  must(engine_open(url, NULL, &renamed, &err), &err);
  assert_none(ask(f, f->engine, (SessionQuestion){.application = "nightly_load", .role = "postgres", .query = "%"}));
  engine_close(&renamed);
  assert_has(ask(f, f->engine, (SessionQuestion){.application = "tidegate"}).unknown, "Tidegate's own");
}

static void names_that_no_session_can_have_are_unknown(void **state) {
  Fixture *f = fixture_of(state);
  assert_has(ask(f, f->engine, (SessionQuestion){.role = "nobody_of_that_name"}).unknown, "there is no role");
  assert_has(ask(f, f->engine, (SessionQuestion){.application = "nächtlich"}).unknown, "printable ASCII");
  char long_name[80];
  memset(long_name, 'a', sizeof long_name - 1);
  long_name[64] = '\0';
  assert_has(ask(f, f->engine, (SessionQuestion){.application = long_name}).unknown, "63 bytes");
  long_name[63] = '\0';
  assert_none(ask(f, f->engine, (SessionQuestion){.application = long_name}));
}

static void a_statement_counts_while_it_runs(void **state) {
  Fixture *f = fixture_of(state);
  SessionQuestion question = {.query = "%insert into daily%"};
  PGconn *job = session(f, "postgres", "psql");
  say(job, "SELECT 'INSERT INTO daily'");
  assert_none(ask(f, f->engine, question)); /* it was the last, and has ended */
  PQclear(PQexec(job, "BEGIN"));
  say(job, "SELECT 'INSERT INTO daily'");
  assert_has(await(f, f->engine, question, true).found, "is idle in transaction");
  PQclear(PQexec(job, "COMMIT"));
  assert_int_equal(PQsendQuery(job, "SELECT pg_sleep(60) /* INSERT INTO daily */"), 1);
  assert_has(await(f, f->engine, question, true).found, "is active");
  PQfinish(job);
}

static void what_may_not_be_seen_is_unknown_and_a_grant_cures_it(void **state) {
  Fixture *f = fixture_of(state);
  char role[64], sql[256];
  snprintf(role, sizeof role, "weak_%ld", (long)getpid());
  snprintf(sql, sizeof sql, "CREATE ROLE %s LOGIN", role);
  administer(sql);
  Engine *weak = open_as(f, role);
  PGconn *job = session(f, "postgres", "nightly_load");
  SessionFacts facts = ask(f, weak, (SessionQuestion){.query = "INSERT INTO daily%"});
  assert_null(facts.found);
  assert_has(facts.unknown, "cannot be seen");
  snprintf(sql, sizeof sql, "GRANT pg_read_all_stats TO \"%s\"", role);
  assert_has(facts.remedy, sql);
  /* Names may be seen by everybody. */
  assert_non_null(ask(f, weak, (SessionQuestion){.application = "nightly_load"}).found);
  assert_none(ask(f, weak, (SessionQuestion){.application = "another"}));
  administer(sql);
  assert_none(ask(f, weak, (SessionQuestion){.query = "INSERT INTO daily%"}));
  PQfinish(job);
  close_engine(weak);
  snprintf(sql, sizeof sql, "DROP ROLE %s", role);
  administer(sql);
}

static void a_session_that_does_not_tell_is_unknown(void **state) {
  Fixture *f = fixture_of(state);
  PGconn *job = session(f, "postgres", "psql");
  say(job, "SELECT set_config('track_activities', 'off', false)");
  assert_has(ask(f, f->engine, (SessionQuestion){.query = "INSERT%"}).remedy, "track_activities");
  PQfinish(job);
}

static void an_advisory_lock_is_known_by_its_key(void **state) {
  Fixture *f = fixture_of(state);
  static const struct {
    const char *take, *key, *other;
  } cases[] = {{"SELECT pg_advisory_lock(42)", "42", "0,42"},
               {"SELECT pg_advisory_lock(-7)", "-7", "7"},
               {"SELECT pg_advisory_lock(9007199254740993)", "9007199254740993", "9007199254740992"},
               {"SELECT pg_advisory_lock(7, 42)", "7,42", "42"},
               {"SELECT pg_advisory_lock(-1, -2)", "-1, -2", "-2,-1"},
               {"SELECT pg_advisory_lock_shared(5)", "5", "6"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    SessionQuestion question = {.advisory_lock = cases[i].key};
    assert_none(ask(f, f->engine, question));
    PGconn *job = session(f, "postgres", "loader");
    say(job, cases[i].take);
    assert_has(ask(f, f->engine, question).found, "(loader) holds advisory lock");
    assert_none(ask(f, f->engine, (SessionQuestion){.advisory_lock = cases[i].other}));
    PQfinish(job);
    await(f, f->engine, question, false);
  }
}

static void a_lock_of_another_database_is_another_lock(void **state) {
  Fixture *f = fixture_of(state);
  Fixture elsewhere = {.name = "postgres"};
  PGconn *job = session(&elsewhere, "postgres", "loader");
  say(job, "SELECT pg_advisory_lock(4242)");
  assert_none(ask(f, f->engine, (SessionQuestion){.advisory_lock = "4242"}));
  PQfinish(job);
}

static void an_age_is_counted_by_the_database(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  double age;
  run(f, "CREATE TABLE beat(at timestamptz)");
  must(pg_age(f->engine, "SELECT max(at) FROM beat; \n", 10, &age, &err), &err);
  assert_true(isinf(age));
  must(pg_age(f->engine, "SELECT at FROM beat -- none", 10, &age, &err), &err);
  assert_true(isinf(age));
  run(f, "INSERT INTO beat VALUES (clock_timestamp() - interval '90 s')");
  must(pg_age(f->engine, "SELECT max(at) FROM beat", 10, &age, &err), &err);
  assert_true(age >= 90 && age < 150);
  must(pg_age(f->engine, "SELECT clock_timestamp() + interval '1 h'", 10, &age, &err), &err);
  assert_true(age < -3500);
  run(f, "INSERT INTO beat VALUES (now())");
  assert_false(pg_age(f->engine, "SELECT at FROM beat", 10, &age, &err));
  assert_has(err.message, "several rows");
  assert_false(pg_age(f->engine, "SELECT 'yesterday evening'", 10, &age, &err));
  assert_false(pg_age(f->engine, "DELETE FROM beat RETURNING at", 10, &age, &err));
}

static void an_answer_that_does_not_come_is_given_up(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  double number;
  assert_false(pg_job_number(f->engine, "SELECT 0 FROM pg_sleep(60)", 0.3, &number, &err));
  assert_int_equal(err.code, ERR_LOCKED);
  assert_has(err.message, "in time");
  must(pg_job_number(f->engine, "SELECT 0 FROM pg_sleep(0.5)", 30, &number, &err), &err);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(a_session_is_known_by_its_application),
      FIXTURE_TEST(a_transaction_sees_sessions_that_came_later),
      FIXTURE_TEST(our_own_sessions_are_no_job),
      FIXTURE_TEST(names_that_no_session_can_have_are_unknown),
      FIXTURE_TEST(a_statement_counts_while_it_runs),
      FIXTURE_TEST(what_may_not_be_seen_is_unknown_and_a_grant_cures_it),
      FIXTURE_TEST(a_session_that_does_not_tell_is_unknown),
      FIXTURE_TEST(an_advisory_lock_is_known_by_its_key),
      FIXTURE_TEST(a_lock_of_another_database_is_another_lock),
      FIXTURE_TEST(an_age_is_counted_by_the_database),
      FIXTURE_TEST(an_answer_that_does_not_come_is_given_up),
  };
  return cmocka_run_group_tests(tests, server_start, server_stop);
}
