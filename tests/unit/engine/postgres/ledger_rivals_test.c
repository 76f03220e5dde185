#include <signal.h>
#include <sys/wait.h>

#include "server.h"

/* The ledger between several processes and roles. */

static const BackfillRecord record = {.id = "7f3a",
                                      .target = "daily delays",
                                      .state = "planned",
                                      .way = "shadow",
                                      .spec_text = "",
                                      .plan = "{}",
                                      .owner = "ann@host"};

static Engine *planned(Fixture *f) {
  Error err = {0};
  must(pg_ledger_create(f->engine, &err), &err);
  must(pg_ledger_add(f->engine, &record, NULL, 0, &err), &err);
  return f->engine;
}

/* ---- another process -------------------------------------------------------------------------------------------- */

typedef struct Rival {
  pid_t pid;
  int order, answer; /* pipes: a byte from us, a byte from it */
} Rival;

/* A process that runs `body` with a connection of its own. Its result is its answer to each order. */
static Rival rival_start(const Fixture *f, char (*body)(Engine *)) {
  int order[2] = {-1, -1}, answer[2] = {-1, -1};
  Rival rival = {0};
  assert_true(pipe(order) == 0 && pipe(answer) == 0);
  rival.pid = fork();
  assert_true(rival.pid >= 0);
  if (rival.pid == 0) {
    char byte;
    close(order[1]);
    Engine *engine = open_again(f);
    while (read(order[0], &byte, 1) == 1 && byte != 'q') {
      byte = body(engine);
      if (write(answer[1], &byte, 1) != 1) break;
    }
    _exit(0);
  }
  close(order[0]);
  close(answer[1]);
  rival.order = order[1];
  rival.answer = answer[0];
  return rival;
}

static void rival_order(const Rival *rival) { assert_int_equal(write(rival->order, "g", 1), 1); }

static char rival_answer(const Rival *rival) {
  char byte = '?';
  assert_int_equal(read(rival->answer, &byte, 1), 1);
  return byte;
}

static void rival_end(Rival *rival, int signal) {
  int status;
  if (signal != 0)
    assert_int_equal(kill(rival->pid, signal), 0);
  else
    assert_int_equal(write(rival->order, "q", 1), 1);
  close(rival->order);
  assert_int_equal(waitpid(rival->pid, &status, 0), rival->pid);
  assert_true(signal == 0 ? WIFEXITED(status) : WIFSIGNALED(status));
  close(rival->answer);
}

static char creates(Engine *engine) {
  Error err = {0};
  if (pg_ledger_create(engine, &err)) return 'k';
  fprintf(stderr, "%s\n", err.message);
  return 'e';
}

static void two_processes_make_one_ledger(void **state) {
  Fixture *f = fixture_of(state);
  Rival rivals[2] = {rival_start(f, creates), rival_start(f, creates)};
  for (int round = 0; round < 50; round++) {
    for (int i = 0; i < 2; i++) rival_order(&rivals[i]);
    for (int i = 0; i < 2; i++) assert_int_equal(rival_answer(&rivals[i]), 'k');
    assert_string_equal(one(f, "SELECT count(*) FROM tidegate.meta"), "1");
    assert_string_equal(one(f, "SELECT count(*) FROM tidegate.backfill"), "0"); /* made whole */
    run(f, "DROP SCHEMA tidegate CASCADE");
    if (round % 2 == 0) run(f, "CREATE SCHEMA tidegate");
  }
  for (int i = 0; i < 2; i++) rival_end(&rivals[i], 0);
}

static bool is_dead(const char *holder) { return strcmp(holder, "rival") == 0; }

/* Takes the lease and stays inside a transaction of its own, with the backfill's row locked. */
static char holds(Engine *engine) {
  Error err = {0};
  int64_t epoch = 0;
  bool own;
  bool ok = pg_lease_take(engine, "7f3a", "rival", 3600, NULL, &epoch, &err) &&
            pg_begin(pg_engine(engine), true, &own, "working", &err) &&
            pg_ledger_guard(pg_engine(engine), "7f3a", epoch, &err) &&
            pg_ledger_event(engine, "7f3a", NULL, "half", NULL, &err);
  return ok && own ? (char)('0' + epoch) : 'e';
}

static void a_killed_holder_is_followed_at_once(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  Engine *e = planned(f);
  int64_t epoch = 0;
  run(f, "SET lock_timeout = '100ms'");
  Rival rival = rival_start(f, holds);
  rival_order(&rival);
  assert_int_equal(rival_answer(&rival), '1');
  /* Even who is sure that it is dead waits for what it still does. */
  assert_refused(pg_lease_take(e, "7f3a", "b", 60, is_dead, &epoch, &err), &err, ERR_LOCKED, "another session");
  rival_end(&rival, SIGKILL);
  run(f, "SET lock_timeout = '10s'");
  assert_refused(pg_lease_take(e, "7f3a", "b", 60, NULL, &epoch, &err), &err, ERR_LEASED, "driven by rival");
  must(pg_lease_take(e, "7f3a", "b", 60, is_dead, &epoch, &err), &err);
  assert_int_equal(epoch, 2);
  assert_refused(pg_ledger_guard(pg_engine(e), "7f3a", 1, &err), &err, ERR_LEASED, "epoch 2, not 1");
  assert_string_equal(one(f, "SELECT count(*) FROM tidegate.event WHERE what = 'half'"), "0");
}

/* What an orphaned session of the first holder sends after the lease went on. */
static void a_statement_that_outlived_its_client_is_refused(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  Engine *e = planned(f), *orphan = open_again(f);
  PgEngine *old = pg_engine(orphan);
  int64_t epoch = 0;
  bool own;
  must(pg_lease_take(orphan, "7f3a", "rival", 60, NULL, &epoch, &err), &err);
  must(pg_begin(old, true, &own, "working", &err), &err);
  must(pg_lease_take(e, "7f3a", "b", 60, is_dead, &epoch, &err), &err);
  assert_refused(pg_ledger_guard(old, "7f3a", 1, &err), &err, ERR_LEASED, "driven by b now (epoch 2, not 1)");
  pg_undo(old, own);
  close_engine(orphan);
}

/* A snapshot that is older than a change of the row: nothing may be written by it. */
static void an_old_snapshot_cannot_pass_the_guard(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  Engine *e = planned(f), *other = open_again(f);
  PgEngine *old = pg_engine(other);
  int64_t epoch = 0, n;
  bool own;
  must(pg_lease_take(e, "7f3a", "a", 60, NULL, &epoch, &err), &err);
  must(pg_begin(old, true, &own, "working", &err), &err);
  must(pg_number(old, "SELECT count(*) FROM tidegate.meta", NULL, 0, &n, "looking", &err), &err);
  must(pg_lease_drop(e, "7f3a", 1, &err), &err);
  assert_refused(pg_ledger_guard(old, "7f3a", 1, &err), &err, ERR_LOCKED, "another session changed");
  pg_undo(old, own);
  close_engine(other);
}

/* A transaction that others under the same lease may be in as well. */
static Engine *sharing(Fixture *f, bool snapshot) {
  Error err = {0};
  Engine *engine = open_again(f);
  bool own;
  int64_t n;
  must(pg_begin(pg_engine(engine), snapshot, &own, "working", &err), &err);
  must(pg_number(pg_engine(engine), "SELECT count(*) FROM tidegate.meta", NULL, 0, &n, "looking", &err), &err);
  return engine;
}

static bool share(Engine *engine, int64_t epoch, Error *err) {
  return pg_ledger_guard_shared(pg_engine(engine), "7f3a", epoch, err);
}

static void several_share_a_lease_and_nobody_takes_it_meanwhile(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  Engine *e = planned(f), *workers[] = {sharing(f, true), sharing(f, true)};
  int64_t epoch = 0;
  run(f, "SET lock_timeout = '100ms'");
  must(pg_lease_take(e, "7f3a", "rival", 60, NULL, &epoch, &err), &err);
  for (int i = 0; i < 2; i++) {
    pg_undo(pg_engine(workers[i]), true);
    close_engine(workers[i]);
    workers[i] = sharing(f, true);
    must(share(workers[i], 1, &err), &err);
  }
  run(f, "UPDATE tidegate.backfill SET lease_heartbeat = 0");
  must(pg_ledger_guard(pg_engine(e), "7f3a", 1, &err), &err); /* the heartbeat is beaten beside them … */
  assert_string_equal(one(f, "SELECT lease_heartbeat > 0 FROM tidegate.backfill"), "t");
  for (int i = 0; i < 2; i++) { /* … and the last of them keeps everybody out, also who is sure that they are dead */
    assert_refused(pg_lease_take(e, "7f3a", "b", 60, is_dead, &epoch, &err), &err, ERR_LOCKED, "another session");
    assert_refused(pg_lease_drop(e, "7f3a", 1, &err), &err, ERR_LOCKED, "another session");
    must(share(workers[i], 1, &err), &err); /* a beat since their snapshot does not matter */
    pg_undo(pg_engine(workers[i]), true);
  }
  must(pg_lease_take(e, "7f3a", "b", 60, is_dead, &epoch, &err), &err);
  for (int i = 0; i < 2; i++) close_engine(workers[i]);
}

/* Not by a snapshot that is older than the takeover, not by one in the middle of it, and not if a beat came since. */
static void who_shares_never_looks_past_a_takeover(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  Engine *e = planned(f);
  int64_t epoch = 0;
  must(pg_lease_take(e, "7f3a", "rival", 60, NULL, &epoch, &err), &err);
  Engine *before = sharing(f, true), *after_beat = sharing(f, true), *reads_on = sharing(f, false);
  must(pg_lease_take(e, "7f3a", "b", 60, is_dead, &epoch, &err), &err);
  assert_refused(share(before, 1, &err), &err, ERR_LOCKED, "another session changed");
  must(pg_ledger_guard(pg_engine(e), "7f3a", 2, &err), &err);
  assert_refused(share(after_beat, 1, &err), &err, ERR_LOCKED, "another session changed");
  assert_refused(share(reads_on, 1, &err), &err, ERR_LEASED, "driven by b now (epoch 2, not 1)");
  must(share(reads_on, 2, &err), &err);
  close_engine(reads_on);
  must(pg_lease_drop(e, "7f3a", 2, &err), &err);
  Engine *late = sharing(f, true);
  assert_refused(share(late, 2, &err), &err, ERR_LEASED, "was given back");
  close_engine(before);
  close_engine(after_beat);
  close_engine(late);
}

/* ---- rights ----------------------------------------------------------------------------------------------------- */

/* A role of this database's name, without rights. */
static Engine *stranger(Fixture *f) {
  char sql[128];
  snprintf(sql, sizeof sql, "CREATE ROLE %s LOGIN", f->name);
  run(f, sql);
  return open_as(f, f->name);
}

static void drop_stranger(Fixture *f, Engine *engine) {
  char sql[128];
  close_engine(engine);
  snprintf(sql, sizeof sql, "DROP OWNED BY %s CASCADE", f->name);
  run(f, sql);
  snprintf(sql, sizeof sql, "DROP ROLE %s", f->name);
  run(f, sql);
}

static void granted(Fixture *f, const char *what) {
  char sql[256];
  snprintf(sql, sizeof sql, "GRANT %s TO %s", what, f->name);
  run(f, sql);
}

static void who_may_not_make_it_hears_what_to_ask_for(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  bool exists = true;
  Engine *poor = stranger(f);
  assert_refused(pg_ledger_create(poor, &err), &err, ERR_DATABASE, "permission denied");
  assert_has(err.hint, "tidegate doctor --grant unit_");
  assert_false(pg_in_transaction(pg_engine(poor)));
  run(f, "CREATE SCHEMA tidegate");
  assert_refused(pg_ledger_create(poor, &err), &err, ERR_DATABASE, "permission denied for schema tidegate");
  assert_has(err.hint, "tidegate doctor --grant unit_");
  must(pg_ledger_exists(poor, &exists, &err), &err);
  assert_false(exists);
  must(pg_ledger_create(f->engine, &err), &err);
  assert_refused(pg_ledger_exists(poor, &exists, &err), &err, ERR_DATABASE, "permission denied");
  assert_has(err.hint, "tidegate doctor --grant unit_");
  drop_stranger(f, poor);
}

static void a_schema_of_somebody_else_will_do(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  int64_t epoch;
  Engine *guest = stranger(f);
  run(f, "CREATE SCHEMA tidegate");
  granted(f, "USAGE, CREATE ON SCHEMA tidegate");
  must(pg_ledger_create(guest, &err), &err);
  must(pg_ledger_add(guest, &record, NULL, 0, &err), &err);
  must(pg_lease_take(guest, "7f3a", "a", 60, NULL, &epoch, &err), &err);
  drop_stranger(f, guest);
}

/* ---- transactions of our own ------------------------------------------------------------------------------------ */

static void what_has_written_is_noted_as_our_own(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  PgEngine *engine = pg_engine(f->engine);
  Engine *poor = stranger(f);
  run(f, "CREATE TABLE t (a int)");
  granted(f, "INSERT ON t");
  run(f, "BEGIN");
  run(f, "INSERT INTO t VALUES (1)");
  must(pg_ledger_own_xact(engine, &err), &err); /* no ledger: nothing happens */
  run(f, "COMMIT");
  planned(f);
  run(f, "DELETE FROM tidegate.xact");
  run(f, "BEGIN");
  must(pg_ledger_own_xact(engine, &err), &err); /* nothing was written */
  run(f, "COMMIT");
  assert_string_equal(one(f, "SELECT count(*) FROM tidegate.xact"), "0");
  run_on(poor, "BEGIN");
  run_on(poor, "INSERT INTO t VALUES (1)");
  must(pg_ledger_own_xact(pg_engine(poor), &err), &err); /* it may not write there: that is no fault */
  run_on(poor, "COMMIT");
  run(f, "BEGIN ISOLATION LEVEL REPEATABLE READ");
  run(f, "INSERT INTO t VALUES (7)");
  must(pg_ledger_own_xact(engine, &err), &err);
  must(pg_ledger_own_xact(engine, &err), &err);
  run(f, "COMMIT");
  assert_string_equal(one(f, "SELECT count(*) FROM tidegate.xact x JOIN t ON t.xmin::text = x.xid::text WHERE a = 7"),
                      "1");
  drop_stranger(f, poor);
}

static void old_transactions_are_forgotten_with_a_lease(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  Engine *e = planned(f);
  int64_t epoch;
  run(f, "DELETE FROM tidegate.xact");
  run(f, "INSERT INTO tidegate.xact VALUES ('5', now() - interval '31 days'), ('6', now() - interval '29 days')");
  must(pg_lease_take(e, "7f3a", "a", 60, NULL, &epoch, &err), &err);
  assert_string_equal(one(f, "SELECT count(*) FROM tidegate.xact WHERE xid = '5'"), "0");
  assert_string_equal(one(f, "SELECT count(*) FROM tidegate.xact WHERE xid = '6'"), "1");
}

int main(void) {
  const struct CMUnitTest tests[] = {FIXTURE_TEST(two_processes_make_one_ledger),
                                     FIXTURE_TEST(a_killed_holder_is_followed_at_once),
                                     FIXTURE_TEST(a_statement_that_outlived_its_client_is_refused),
                                     FIXTURE_TEST(an_old_snapshot_cannot_pass_the_guard),
                                     FIXTURE_TEST(several_share_a_lease_and_nobody_takes_it_meanwhile),
                                     FIXTURE_TEST(who_shares_never_looks_past_a_takeover),
                                     FIXTURE_TEST(who_may_not_make_it_hears_what_to_ask_for),
                                     FIXTURE_TEST(a_schema_of_somebody_else_will_do),
                                     FIXTURE_TEST(what_has_written_is_noted_as_our_own),
                                     FIXTURE_TEST(old_transactions_are_forgotten_with_a_lease)};
  return cmocka_run_group_tests(tests, server_start, server_stop);
}
