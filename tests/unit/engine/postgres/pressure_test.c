#include "server.h"

#include <poll.h>
#include <unistd.h>

#include "engine/postgres/postgres_sql.h"

/* Of a server on which nothing else goes on this allows everything. */
static const PressureLimits generous = {.lag = 3600, .wal = INT64_C(1) << 50, .canary_time = 60};

static const Shape target = {.table = "public.daily"};

static Pressure look(Fixture *f, PressureLimits limits) {
  Pressure pressure;
  Error err = {0};
  must(pg_pressure(f->engine, &f->arena, &target, &limits, &pressure, &err), &err);
  return pressure;
}

/* The first sign that says this; fails when there is none. */
static PressureSign sign(const Pressure *pressure, const char *part) {
  for (size_t i = 0; i < pressure->n; i++)
    if (strstr(pressure->signs[i].reason, part) != NULL) return pressure->signs[i];
  fail_msg("no sign says “%s”", part);
  return (PressureSign){0};
}

/* Looks again until something is felt of which the reason says this; fails after half a minute. */
static Pressure await(Fixture *f, PressureLimits limits, const char *part) {
  Pressure pressure = {0};
  for (int i = 0; i < 600; i++) {
    pressure = look(f, limits);
    for (size_t k = 0; k < pressure.n; k++)
      if (pressure.signs[k].state != PRESSURE_FINE && strstr(pressure.signs[k].reason, part) != NULL) return pressure;
    poll(NULL, 0, 50);
  }
  fail_msg("“%s” was never felt; last: %s", part, pressure.reason == NULL ? "nothing" : pressure.reason);
  return pressure;
}

static PGconn *other(const Fixture *f, const char *sql) {
  char url[256];
  snprintf(url, sizeof url, "postgresql:///%s?host=%s&user=postgres", f->name, server.host);
  PGconn *conn = PQconnectdb(url);
  assert_int_equal(PQstatus(conn), CONNECTION_OK);
  assert_int_equal(PQsendQuery(conn, sql), 1);
  return conn;
}

static void nothing_is_felt_of_an_idle_server(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE TABLE daily(d date)");
  Pressure pressure = look(f, generous);
  assert_int_equal(pressure.state, PRESSURE_FINE);
  assert_null(pressure.reason);
  assert_true(pressure.wal > 0 && pressure.n >= 2);
}

static void much_wal_slows_down(void **state) {
  Fixture *f = fixture_of(state);
  PressureLimits limits = generous;
  limits.last_wal = look(f, limits).wal;
  run(f,
      "CREATE TABLE daily AS SELECT date '2024-01-01' + i AS d, repeat('x', 200) AS t FROM generate_series(1, 5000) i");
  assert_int_equal(look(f, limits).state, PRESSURE_FINE);
  limits.wal = 500000; /* 5000 rows of 200 bytes are more */
  Pressure pressure = look(f, limits);
  assert_has(sign(&pressure, "WAL were written").reason, "`budget: wal` allows 500 kB");
  assert_int_equal(sign(&pressure, "WAL were written").state, PRESSURE_SLOW_DOWN);
  limits.last_wal = pressure.wal;
  limits.wal = INT64_C(1) << 50;
  assert_int_equal(look(f, limits).state, PRESSURE_FINE);
}

static void a_slow_canary_pauses(void **state) {
  Fixture *f = fixture_of(state);
  PressureLimits limits = generous;
  run(f, "CREATE TABLE daily(d date)");
  limits.canary = "SELECT pg_sleep(0.3)";
  limits.canary_time = 0.2;
  Pressure pressure = look(f, limits);
  assert_int_equal(pressure.state, PRESSURE_PAUSE);
  assert_has(pressure.reason, "; `budget: canary_time` allows 200 ms");
  limits.canary_time = 0.05; /* cut off after 0.2 s */
  pressure = look(f, limits);
  assert_int_equal(pressure.state, PRESSURE_PAUSE);
  assert_has(pressure.reason, "the canary took more than ");
  limits.canary = "SELECT pg_sleep(2)"; /* more than half of the limit, and far below it */
  limits.canary_time = 3.9;
  assert_int_equal(look(f, limits).state, PRESSURE_SLOW_DOWN);
  limits.canary_time = 30;
  assert_int_equal(look(f, limits).state, PRESSURE_FINE);
  assert_string_equal(one(f, "SHOW statement_timeout"), "5min");
}

static void a_canary_cannot_write(void **state) {
  Fixture *f = fixture_of(state);
  PressureLimits limits = generous;
  Pressure pressure;
  Error err = {0};
  run(f, "CREATE TABLE daily(d date)");
  limits.canary = "INSERT INTO daily VALUES ('2024-01-01')";
  assert_false(pg_pressure(f->engine, &f->arena, &target, &limits, &pressure, &err));
  assert_has(err.message, "budget: canary");
  assert_has(err.hint, "only reads");
  assert_string_equal(one(f, "SELECT count(*) FROM daily"), "0");
}

static void busy_sessions_slow_down_then_pause(void **state) {
  Fixture *f = fixture_of(state);
  PressureLimits limits = generous;
  run(f, "CREATE TABLE daily(d date)");
  PGconn *busy[2];
  for (int i = 0; i < 2; i++) busy[i] = other(f, "SELECT pg_sleep(60)");
  limits.sessions = 1;
  Pressure pressure = await(f, limits, "2 other sessions are active; `budget: sessions` allows 1");
  assert_int_equal(pressure.state, PRESSURE_PAUSE);
  limits.sessions = 2;
  assert_int_equal(await(f, limits, "other sessions").state, PRESSURE_SLOW_DOWN);
  limits.sessions = 30;
  pressure = look(f, limits);
  assert_int_equal(sign(&pressure, "other sessions").state, PRESSURE_FINE);
  for (int i = 0; i < 2; i++) PQfinish(busy[i]);
}

static void sessions_that_wait_for_locks_are_felt(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE TABLE daily(d date)");
  run(f, "CREATE TABLE elsewhere(i int)");
  PGconn *holder = other(f, "BEGIN; LOCK elsewhere; SELECT pg_sleep(60)");
  for (int i = 0; strcmp(one(f,
                             "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted "
                             "AND relation = 'elsewhere'::regclass"),
                         "1") != 0;
       i++) {
    assert_true(i < 600);
    poll(NULL, 0, 50);
  }
  PGconn *waiting[2];
  for (int i = 0; i < 2; i++) waiting[i] = other(f, "TABLE elsewhere");
  Pressure pressure = await(f, generous, "2 sessions have waited for a lock");
  assert_int_equal(pressure.state, PRESSURE_SLOW_DOWN);
  for (int i = 0; i < 2; i++) PQfinish(waiting[i]);
  PQfinish(holder);
}

static void a_vacuum_of_the_target_slows_down(void **state) {
  Fixture *f = fixture_of(state);
  run(f, "CREATE TABLE daily AS SELECT i, repeat('x', 500) AS t FROM generate_series(1, 40000) i");
  run(f, "UPDATE daily SET i = -i");
  PGconn *vacuum = other(f, "SET vacuum_cost_delay = 100");
  PQclear(PQgetResult(vacuum));
  assert_null(PQgetResult(vacuum));
  PQsendQuery(vacuum, "VACUUM daily");
  Pressure pressure = await(f, generous, "a vacuum works on daily (pid ");
  assert_int_equal(pressure.state, PRESSURE_SLOW_DOWN);
  PQfinish(vacuum);
  run(f, "SELECT pg_terminate_backend(pid) FROM pg_stat_progress_vacuum");
}

static void a_slot_that_holds_back_wal_is_felt(void **state) {
  Fixture *f = fixture_of(state);
  PressureLimits limits = generous;
  run(f, "CREATE TABLE daily(d date)");
  char slot[80], sql[160];
  snprintf(slot, sizeof slot, "%s_slot", f->name);
  snprintf(sql, sizeof sql, "SELECT pg_create_physical_replication_slot('%s', true)", slot);
  run(f, sql);
  run(f, "INSERT INTO daily SELECT '2024-01-01' FROM generate_series(1, 10000)");
  Pressure pressure = look(f, limits);
  assert_has(sign(&pressure, "replication slot").reason, "nobody uses it");
  assert_int_equal(pressure.state, PRESSURE_FINE);
  limits.wal = 10000;
  pressure = look(f, limits);
  snprintf(sql, sizeof sql, "SELECT pg_drop_replication_slot('%s')", slot);
  run(f, sql);
  assert_int_equal(pressure.state, PRESSURE_PAUSE);
  assert_has(pressure.reason, "fill the server's disk: drop it if nobody will");
}

static void who_reads_the_target_for_long_is_named(void **state) {
  Fixture *f = fixture_of(state);
  PG_SCOPED result = NULL;
  Error err = {0};
  const char *const now[] = {"public.daily", "0"}, *const older[] = {"public.daily", "600"};
  run(f, "CREATE TABLE daily(d date) PARTITION BY RANGE (d)");
  run(f, "CREATE TABLE daily_2024 PARTITION OF daily FOR VALUES FROM ('2024-01-01') TO ('2025-01-01')");
  PGconn *reader = other(f, "BEGIN; TABLE daily_2024; SELECT pg_sleep(60)");
  for (int i = 0; i < 600; i++) {
    PQclear(result);
    must(pg_query(pg_engine(f->engine), sql_pressure_reader, now, 2, &result, "reading", &err), &err);
    if (PQntuples(result) == 1) break;
    poll(NULL, 0, 50);
  }
  assert_int_equal(PQntuples(result), 1);
  assert_int_equal(pg_int(result, 0, 0), PQbackendPID(reader));
  PQclear(result);
  must(pg_query(pg_engine(f->engine), sql_pressure_reader, older, 2, &result, "reading", &err), &err);
  assert_int_equal(PQntuples(result), 0);
  PQfinish(reader);
}

static void cancel(PGconn *conn) {
  char ignored[256];
  PGcancel *cancel = PQgetCancel(conn);
  PQcancel(cancel, ignored, sizeof ignored);
  PQfreeCancel(cancel);
  PQfinish(conn);
}

/* More sessions that compute than there can be processors for: each finds out that none is free. */
static void a_server_without_a_free_processor_is_crowded(void **state) {
  Fixture *f = fixture_of(state);
  PressureLimits limits = generous;
  run(f, "CREATE TABLE daily(d date)");
  limits.room = true;
  assert_null(look(f, limits).crowded); /* nobody else is at work, whatever the machine does besides */
  enum { MOST = 32 };
  PGconn *busy[MOST];
  long n = 2 * sysconf(_SC_NPROCESSORS_ONLN);
  if (n > MOST) n = MOST;
  for (long i = 0; i < n; i++)
    busy[i] = other(f, "SET application_name = 'report'; SELECT sum(sqrt(i)) FROM generate_series(1, 2000000000) i");
  Pressure pressure = {0};
  for (int i = 0; i < 200 && pressure.crowded == NULL; i++) pressure = look(f, limits);
  limits.room = false;
  Pressure unasked = look(f, limits);
  for (long i = 0; i < n; i++) cancel(busy[i]);
  assert_non_null(pressure.crowded);
  assert_has(pressure.crowded, "no processor free");
  assert_int_equal(pressure.state, PRESSURE_FINE);
  assert_null(unasked.crowded);
}

/* A role without rights sees less and is refused nothing. */
static void a_plain_role_can_look(void **state) {
  Fixture *f = fixture_of(state);
  char sql[160];
  Pressure pressure;
  Error err = {0};
  run(f, "CREATE TABLE daily(d date)");
  snprintf(sql, sizeof sql, "CREATE ROLE %s_plain LOGIN", f->name);
  run(f, sql);
  char role[80];
  snprintf(role, sizeof role, "%s_plain", f->name);
  Engine *plain = open_as(f, role);
  bool ok = pg_pressure(plain, &f->arena, &target, &generous, &pressure, &err);
  close_engine(plain);
  snprintf(sql, sizeof sql, "DROP ROLE %s", role);
  run(f, sql);
  must(ok, &err);
  assert_int_equal(pressure.state, PRESSURE_FINE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(nothing_is_felt_of_an_idle_server),
      FIXTURE_TEST(much_wal_slows_down),
      FIXTURE_TEST(a_slow_canary_pauses),
      FIXTURE_TEST(a_canary_cannot_write),
      FIXTURE_TEST(busy_sessions_slow_down_then_pause),
      FIXTURE_TEST(sessions_that_wait_for_locks_are_felt),
      FIXTURE_TEST(a_vacuum_of_the_target_slows_down),
      FIXTURE_TEST(a_slot_that_holds_back_wal_is_felt),
      FIXTURE_TEST(who_reads_the_target_for_long_is_named),
      FIXTURE_TEST(a_server_without_a_free_processor_is_crowded),
      FIXTURE_TEST(a_plain_role_can_look),
  };
  return cmocka_run_group_tests(tests, server_start, server_stop);
}
