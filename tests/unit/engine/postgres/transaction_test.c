#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "server.h"

static void begun_joined_and_ended(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  PgEngine *engine = pg_engine(f->engine);
  bool own, inner;
  run(f, "CREATE TABLE t (a int)");
  must(pg_begin(engine, true, &own, "beginning", &err), &err);
  assert_true(own && pg_in_transaction(engine));
  assert_string_equal(one(f, "SELECT current_setting('transaction_isolation')"), "repeatable read");
  must(pg_begin(engine, false, &inner, "beginning", &err), &err);
  assert_false(inner);
  run(f, "INSERT INTO t VALUES (1)");
  must(pg_end(engine, inner, true, "ending", &err), &err);
  assert_true(pg_in_transaction(engine));
  must(pg_end(engine, own, true, "ending", &err), &err);
  assert_false(pg_in_transaction(engine));
  must(pg_begin(engine, false, &own, "beginning", &err), &err);
  assert_string_equal(one(f, "SELECT current_setting('transaction_isolation')"), "read committed");
  run(f, "INSERT INTO t VALUES (2)");
  pg_undo(engine, false);
  assert_true(pg_in_transaction(engine));
  assert_false(pg_end(engine, own, false, "ending", &err));
  assert_false(pg_in_transaction(engine));
  assert_string_equal(one(f, "SELECT string_agg(a::text, ' ') FROM t"), "1");
}

/* A constraint that is looked at only by COMMIT, and a failure that the caller forgot. */
static void a_commit_that_does_not_commit_says_so(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  PgEngine *engine = pg_engine(f->engine);
  bool own;
  run(f, "CREATE TABLE t (a int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED)");
  must(pg_begin(engine, false, &own, "beginning", &err), &err);
  run(f, "INSERT INTO t VALUES (1), (1)");
  assert_refused(pg_end(engine, own, true, "ending", &err), &err, ERR_HELD, "ending: duplicate key");
  assert_false(pg_in_transaction(engine));
  must(pg_begin(engine, false, &own, "beginning", &err), &err);
  run(f, "INSERT INTO t VALUES (2)");
  assert_false(pg_run(engine, "SELECT 1/0", NULL, 0, NULL, "failing", &err));
  assert_refused(pg_end(engine, own, true, "ending", &err), &err, ERR_DATABASE, "aborted");
  assert_false(pg_in_transaction(engine));
  assert_string_equal(one(f, "SELECT count(*) FROM t"), "0");
}

static bool never(void *context) { return false; }

static void undoing_is_not_stopped(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  PgEngine *engine = pg_engine(f->engine);
  Interrupt interrupt = {never, NULL};
  bool own;
  must(pg_begin(engine, false, &own, "beginning", &err), &err);
  engine->interrupt = &interrupt;
  assert_refused(pg_run(engine, "SELECT pg_sleep(600)", NULL, 0, NULL, "sleeping", &err), &err, ERR_PAUSED, "stopped");
  assert_false(pg_end(engine, own, false, "ending", &err));
  assert_false(pg_in_transaction(engine));
  assert_ptr_equal(engine->interrupt, &interrupt);
  engine->interrupt = NULL;
  assert_string_equal(one(f, "SELECT 1"), "1");
}

/* What is noted as Tidegate's own: writes to its own tables and to temporary ones, and nothing else. */
static void only_what_publishes_nothing_is_noted_as_own(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  PgEngine *engine = pg_engine(f->engine);
  static const struct {
    const char *sql, *noted;
  } cases[] = {
      {"UPDATE tidegate.backfill SET state = state", "0"}, /* no row: nothing is written, no transaction id */
      {"SELECT * FROM t", "0"},
      {"INSERT INTO tidegate.tidegate_7f_changes VALUES (1)", "1"},
      {"CREATE TEMP TABLE aside AS SELECT 1", "2"},
      {"CREATE TABLE tidegate.tidegate_8a_changes (a int)", "3"},
      {"INSERT INTO t VALUES (1)", "3"},
      {"WITH i AS (INSERT INTO t VALUES (2)) INSERT INTO tidegate.tidegate_7f_changes VALUES (2)", "3"},
      {"INSERT INTO tidegate.theirs VALUES (1)", "3"},
      {"INSERT INTO parted VALUES (1)", "3"},
      {"TRUNCATE t", "3"},
      {"INSERT INTO tidegate.tidegate_7f_changes VALUES (3)", "4"},
      {"DELETE FROM tidegate.audit", "5"},
  };
  must(pg_ledger_create(f->engine, &err), &err);
  int64_t number;
  const AuditRecord verdict = {.command = "", .digest = "", .verdict = "deny", .reasons = "[]"};
  must(pg_audit_add(f->engine, &verdict, &number, &err), &err);
  run(f, "CREATE TABLE t (a int)");
  run(f, "CREATE TABLE tidegate.theirs (a int)");
  run(f, "CREATE TABLE tidegate.tidegate_7f_changes (a int)");
  run(f, "CREATE TABLE parted (a int) PARTITION BY LIST (a)");
  run(f, "CREATE TABLE part PARTITION OF parted FOR VALUES IN (1)");
  run(f, "DELETE FROM tidegate.xact");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bool own;
    must(pg_begin(engine, false, &own, "beginning", &err), &err);
    run(f, cases[i].sql);
    must(pg_end(engine, own, true, "ending", &err), &err);
    if (strcmp(one(f, "SELECT count(*) FROM tidegate.xact"), cases[i].noted) != 0) fail_msg("%s", cases[i].sql);
  }
}

/* ---- a COMMIT without an answer -------------------------------------------------------------------------------- */

typedef enum Cut {
  CUT_ANSWER,  /* the server's answer to COMMIT is swallowed and the connection cut */
  CUT_REQUEST, /* COMMIT is swallowed and the connection cut */
  CUT_ALL      /* the same, and nobody can connect any more */
} Cut;

static int dial(void) {
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  snprintf(at.sun_path, sizeof at.sun_path, "%.80s/.s.PGSQL.5432", server.host);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(fd, (struct sockaddr *)&at, sizeof at) != 0) _exit(1);
  return fd;
}

/* Moves what one side says to the other. False at the end, or where it shall be cut. */
static bool relay(int from, int to, bool from_client, Cut cut, bool *committing) {
  char bytes[65536];
  ssize_t n = read(from, bytes, sizeof bytes);
  if (n <= 0) return false;
  if (*committing && !from_client) return false; /* the answer: what it answers has happened */
  if (cut >= 0 && from_client && memmem(bytes, (size_t)n, "COMMIT", 7) != NULL) {
    *committing = true;
    if (cut != CUT_ANSWER) return false;
  }
  for (ssize_t done = 0; done < n;) {
    ssize_t more = write(to, bytes + done, (size_t)(n - done));
    if (more <= 0) return false;
    done += more;
  }
  return true;
}

/* A process between client and server that cuts the first connection at its COMMIT. */
static _Noreturn void stand_between(int listener, Cut cut) {
  for (bool committing = false;;) {
    int client = accept(listener, NULL, NULL), backend = dial();
    struct pollfd ends[] = {{.fd = client, .events = POLLIN}, {.fd = backend, .events = POLLIN}};
    bool before = committing, now = false, *mark = before ? &now : &committing, on = true;
    while (on && poll(ends, 2, -1) > 0) {
      if (ends[0].revents != 0) on = relay(client, backend, true, before ? (Cut)-1 : cut, mark);
      if (on && ends[1].revents != 0) on = relay(backend, client, false, cut, mark);
    }
    close(client);
    close(backend);
    if (committing && cut == CUT_ALL) _exit(0);
  }
}

/* Ends a transaction that inserts a row over a connection that is cut. */
static bool end_over(Fixture *f, Cut cut, bool writes, Error *err) {
  char folder[] = "/tmp/tidegate-cut-XXXXXX", url[256];
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  assert_non_null(mkdtemp(folder));
  snprintf(at.sun_path, sizeof at.sun_path, "%s/.s.PGSQL.5432", folder);
  int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
  assert_int_equal(listen(listener, 5), 0);
  pid_t between = fork();
  if (between == 0) stand_between(listener, cut);
  close(listener);
  snprintf(url, sizeof url, "postgresql:///%s?host=%s&user=postgres", f->name, folder);
  PgEngine engine = {.url = url, .schema = (char *)(uintptr_t) "tidegate"};
  bool own;
  must(pg_connect(&engine, err), err);
  must(pg_begin(&engine, false, &own, "beginning", err), err);
  run_on(&engine.base, writes ? "INSERT INTO t VALUES (1)" : "SELECT * FROM t");
  bool ok = pg_end(&engine, own, true, "publishing", err);
  assert_false(pg_in_transaction(&engine));
  PQfinish(engine.conn);
  kill(between, SIGKILL);
  waitpid(between, NULL, 0);
  unlink(at.sun_path);
  rmdir(folder);
  return ok;
}

static void a_commit_whose_answer_was_lost_is_looked_up(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  run(f, "CREATE TABLE t (a int)");
  must(end_over(f, CUT_ANSWER, true, &err), &err);
  assert_string_equal(one(f, "SELECT count(*) FROM t"), "1");
  assert_refused(end_over(f, CUT_REQUEST, true, &err), &err, ERR_DATABASE, "nothing of it was committed");
  assert_string_equal(one(f, "SELECT count(*) FROM t"), "1");
  assert_has(err.hint, "the same command carries on");
}

static void a_commit_that_cannot_be_looked_up_is_left_to_the_ledger(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  run(f, "CREATE TABLE t (a int)");
  assert_refused(end_over(f, CUT_ALL, true, &err), &err, ERR_DATABASE, "cannot be asked now");
  assert_has(err.hint, "reads from the ledger");
}

static void a_lost_end_of_a_reading_transaction_is_none(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  run(f, "CREATE TABLE t (a int)");
  must(end_over(f, CUT_REQUEST, false, &err), &err);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(begun_joined_and_ended),
      FIXTURE_TEST(a_commit_that_does_not_commit_says_so),
      FIXTURE_TEST(undoing_is_not_stopped),
      FIXTURE_TEST(only_what_publishes_nothing_is_noted_as_own),
      FIXTURE_TEST(a_commit_whose_answer_was_lost_is_looked_up),
      FIXTURE_TEST(a_commit_that_cannot_be_looked_up_is_left_to_the_ledger),
      FIXTURE_TEST(a_lost_end_of_a_reading_transaction_is_none),
  };
  return cmocka_run_group_tests(tests, server_start, server_stop);
}
