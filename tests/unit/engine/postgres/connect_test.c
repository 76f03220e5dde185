#include "server.h"

static PgEngine *closed(char *url) {
  static PgEngine engine;
  engine = (PgEngine){.url = url, .schema = (char *)(uintptr_t) "tidegate"};
  return &engine;
}

static void a_password_in_the_url_is_refused(void **state) {
  static const char *const urls[] = {
      "postgresql://ann:s3cret@/db?host=/nowhere", "postgres://ann@nowhere/db?password=s3cret",
      "postgresql://nowhere/db?user=ann&sslpassword=s3cret", "postgresql://ann:s3cret%@nowhere/db"};
  for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
    Error err = {0};
    char url[128];
    snprintf(url, sizeof url, "%s", urls[i]);
    assert_refused(pg_connect(closed(url), &err), &err, ERR_USAGE, i == 3 ? "cannot be read" : "holds a password");
    assert_null(strstr(err.message, "s3cret"));
    assert_null(strstr(err.hint, "s3cret"));
  }
}

static void a_server_that_is_not_there_is_named(void **state) {
  Error err = {0};
  char url[] = "postgresql:///db?host=/nowhere/at/all&user=ann";
  setenv("PGPASSWORD", "s3cret", 1);
  bool ok = pg_connect(closed(url), &err);
  unsetenv("PGPASSWORD");
  assert_refused(ok, &err, ERR_DATABASE, "/nowhere/at/all");
  assert_null(strstr(err.message, "s3cret"));
  assert_null(strchr(err.message, '\n'));
}

static void a_database_that_is_not_there_is_named(void **state) {
  fixture_of(state);
  Error err = {0};
  char url[256];
  snprintf(url, sizeof url, "postgresql:///no_such_db?host=%s&user=postgres", server.host);
  assert_refused(pg_connect(closed(url), &err), &err, ERR_DATABASE, "database \"no_such_db\" does not exist");
}

static const char *setting(Fixture *f, const char *name) {
  return one(f, arena_printf(&f->arena, "SELECT current_setting('%s')", name));
}

static void assert_pinned(Fixture *f) {
  static const char *const settings[][2] = {{"row_security", "off"},
                                            {"DateStyle", "ISO, YMD"},
                                            {"IntervalStyle", "postgres"},
                                            {"extra_float_digits", "1"},
                                            {"bytea_output", "hex"},
                                            {"standard_conforming_strings", "on"},
                                            {"transform_null_equals", "off"},
                                            {"client_encoding", "UTF8"},
                                            {"TimeZone", "Asia/Kathmandu"},
                                            {"synchronous_commit", "on"},
                                            {"lock_timeout", "1500ms"},
                                            {"statement_timeout", "5min"},
                                            {"idle_in_transaction_session_timeout", "5s"},
                                            {"max_parallel_workers_per_gather", "0"},
                                            {"jit", "off"},
                                            {"application_name", "tidegate"}};
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
    assert_string_equal(setting(f, settings[i][0]), settings[i][1]);
  if (PQserverVersion(pg_engine(f->engine)->conn) >= 140000)
    assert_string_equal(setting(f, "client_connection_check_interval"), "2s");
}

static void set_for_all(Fixture *f, const char *what) {
  run(f, arena_printf(&f->arena, "ALTER DATABASE %s SET %s", f->name, what));
}

static void the_session_is_pinned_whatever_the_database_says(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  set_for_all(f, "TimeZone = 'Asia/Kathmandu'");
  set_for_all(f, "DateStyle = 'German, DMY'");
  set_for_all(f, "standard_conforming_strings = off");
  set_for_all(f, "transform_null_equals = on");
  set_for_all(f, "synchronous_commit = off");
  set_for_all(f, "statement_timeout = 0");
  set_for_all(f, "extra_float_digits = -15");
  must(pg_connect(pg_engine(f->engine), &err), &err);
  assert_pinned(f);
  PQfinish(pg_engine(f->engine)->conn);
  pg_engine(f->engine)->conn = NULL;
  must(pg_reconnect(pg_engine(f->engine), &err), &err);
  assert_pinned(f);
}

static void row_security_fails_instead_of_hiding_rows(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  run(f, "CREATE TABLE t (a int)");
  run(f, "ALTER TABLE t ENABLE ROW LEVEL SECURITY");
  run(f, "CREATE ROLE half_blind LOGIN");
  run(f, "GRANT SELECT ON t TO half_blind");
  Engine *blind = open_as(f, "half_blind");
  bool ok = pg_run(pg_engine(blind), "SELECT * FROM t", NULL, 0, NULL, "reading", &err);
  close_engine(blind);
  run(f, "DROP OWNED BY half_blind");
  run(f, "DROP ROLE half_blind");
  assert_refused(ok, &err, ERR_DATABASE, "row-level security");
}

static void names_are_quoted(void **state) {
  ARENA_SCOPED arena = {0};
  PgEngine engine = {.schema = (char *)(uintptr_t) "tide \"gate\""};
  assert_string_equal(pg_schema(&engine, &arena), "\"tide \"\"gate\"\"\"");
  assert_string_equal(pg_object(&engine, &arena, "7f3a", "changes"), "\"tide \"\"gate\"\"\".\"tidegate_7f3a_changes\"");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_password_in_the_url_is_refused),
      cmocka_unit_test(a_server_that_is_not_there_is_named),
      FIXTURE_TEST(a_database_that_is_not_there_is_named),
      FIXTURE_TEST(the_session_is_pinned_whatever_the_database_says),
      FIXTURE_TEST(row_security_fails_instead_of_hiding_rows),
      cmocka_unit_test(names_are_quoted),
  };
  return cmocka_run_group_tests(tests, server_start, server_stop);
}
