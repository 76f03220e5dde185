#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "server.h"

static PgEngine *closed(const char *url) {
  static PgEngine engine;
  engine = (PgEngine){.url = (char *)(uintptr_t)url, .schema = (char *)(uintptr_t) "tidegate"};
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
                                            {"max_parallel_maintenance_workers", "0"},
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

/* ---- poolers ---------------------------------------------------------------------------------------------------- */

/* A PgBouncer of its own in `folder`: the database under the names session, transaction and statement, and `small` with
 * a single connection for all. */
static pid_t start_pooler(const Fixture *f, const char *folder) {
  char path[64];
  snprintf(path, sizeof path, "%s/ini", folder);
  FILE *file = fopen(path, "we");
  static const char *const modes[] = {"session", "transaction", "statement", "session pool_size=1"};
  fputs("[databases]\n", file);
  for (int i = 0; i < 4; i++)
    fprintf(file, "%s = host=%s dbname=%s user=postgres pool_mode=%s\n", i < 3 ? modes[i] : "small", server.host,
            f->name, modes[i]);
  fprintf(file, "[pgbouncer]\nlisten_addr =\nunix_socket_dir = %s\nlisten_port = 6432\nauth_type = any\n", folder);
  fclose(file);
  chmod(folder, 0777);
  pid_t pooler = fork();
  if (pooler != 0) return pooler;
  dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
  struct stat info; /* the server's folder is its user's alone */
  const struct passwd *owner = stat(server.host, &info) == 0 ? getpwuid(info.st_uid) : NULL;
  if (getuid() == 0 && owner != NULL)
    execlp("pgbouncer", "pgbouncer", "-q", "-u", owner->pw_name, path, NULL);
  else
    execlp("pgbouncer", "pgbouncer", "-q", path, NULL);
  _exit(127);
}

/* Until it answers; false when it ended instead. Its socket stands a moment before. */
static bool pooler_is_up(pid_t pooler, const char *folder) {
  char url[128];
  snprintf(url, sizeof url, "postgresql:///session?host=%s&port=6432&user=postgres", folder);
  while (PQping(url) == PQPING_NO_RESPONSE)
    if (waitpid(pooler, NULL, WNOHANG) != 0) return false;
  return true;
}

/* Skipped where the machine has no PgBouncer. */
static void a_pool_must_be_in_session_mode(void **state) {
  Fixture *f = fixture_of(state);
  static const char *const names[] = {"session", "small", "transaction", "statement"};
  char folder[] = "/tmp/tidegate-pool-XXXXXX", url[128], clean[64];
  bool connected[4] = {0};
  Error errs[4] = {0};
  assert_non_null(mkdtemp(folder));
  pid_t pooler = start_pooler(f, folder);
  bool up = pooler_is_up(pooler, folder);
  for (int i = 0; up && i < 4; i++) {
    snprintf(url, sizeof url, "postgresql:///%s?host=%s&port=6432&user=postgres", names[i], folder);
    PgEngine *engine = closed(url);
    connected[i] = pg_connect(engine, &errs[i]);
    PQfinish(engine->conn);
  }
  if (up) {
    kill(pooler, SIGKILL);
    waitpid(pooler, NULL, 0);
  }
  snprintf(clean, sizeof clean, "rm -rf %s", folder);
  assert_int_equal(system(clean), 0);
  if (!up) fail_msg("pgbouncer does not start (script/deps check installs it)");
  for (int i = 0; i < 2; i++) must(connected[i], &errs[i]);
  for (int i = 2; i < 4; i++) {
    assert_refused(connected[i], &errs[i], ERR_DATABASE, "a connection pooler stands before the server");
    assert_has(errs[i].hint, "session mode");
  }
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
      FIXTURE_TEST(a_pool_must_be_in_session_mode),
      cmocka_unit_test(names_are_quoted),
  };
  return cmocka_run_group_tests(tests, server_start, server_stop);
}
