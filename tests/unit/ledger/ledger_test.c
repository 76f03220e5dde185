#include "../engine/open.h"

#include <signal.h>
#include <sys/wait.h>

#include "ledger/ledger.h"
#include "ledger/owner.h"

static void add(Fixture *f, const char *id, const char *target, const char *state, const char *path) {
  Error err = {0};
  BackfillRecord record = {.id = id,
                           .target = target,
                           .state = state,
                           .way = "shadow",
                           .digest = id,
                           .spec_path = path,
                           .spec_text = "",
                           .plan = "{}",
                           .owner = "ann"};
  must(f->engine->ops->ledger_create(f->engine, &err), &err);
  must(f->engine->ops->ledger_add(f->engine, &record, NULL, 0, &err), &err);
}

static void the_table_is_whole(void **state) {
  size_t n;
  const Transition *transitions = state_transitions(&n);
  for (int s = 0; s < STATE_COUNT_; s++) {
    bool reached = s == STATE_planned, leaves = false;
    for (size_t i = 0; i < n; i++) {
      reached = reached || transitions[i].to == (State)s;
      leaves = leaves || transitions[i].from == (State)s;
    }
    assert_true(reached);
    assert_true(leaves != state_is_final((State)s));
    assert_true(strlen(state_meaning((State)s)) > 0);
  }
  for (size_t i = 0; i < n; i++) /* a verb leads from a state to one place only */
    for (size_t j = 0; j < i; j++)
      assert_false(transitions[i].from == transitions[j].from && strcmp(transitions[i].verb, transitions[j].verb) == 0);
  assert_true(state_is_final(STATE_finished));
  assert_false(state_is_final(STATE_superseded));
}

static void a_state_of_a_newer_ledger_is_refused(void **state) {
  BackfillRecord record = {.id = "7f3a", .target = "t", .state = "frozen"};
  State found;
  Error err = {0};
  assert_refused(state_of(&record, &found, &err), &err, ERR_STATE, "frozen");
  assert_refused(ledger_allows(&record, "run", &err), &err, ERR_STATE, "frozen");
}

static void a_backfill_is_found_by_what_people_type(void **state) {
  Fixture *f = *state;
  BackfillRecord found;
  Error err = {0};
  assert_refused(ledger_find(f->engine, &f->arena, "7f3a", &found, &err), &err, ERR_NOT_FOUND, "7f3a");
  assert_has(err.hint, "empty");
  add(f, "7f3a", "sales", "finished", "/specs/sales.yaml");
  add(f, "7f3b2", "sales", "planned", "/specs/sales.yaml");
  add(f, "7f3b29", "orders", "planned", f->path);
  must(ledger_find(f->engine, &f->arena, "7f3b2", &found, &err), &err); /* whole, though it begins another */
  assert_string_equal(found.id, "7f3b2");
  assert_refused(ledger_find(f->engine, &f->arena, "7f3", &found, &err), &err, ERR_USAGE, "several");
  must(ledger_find(f->engine, &f->arena, "7F3A", &found, &err), &err);
  assert_string_equal(found.id, "7f3a");
  must(ledger_find(f->engine, &f->arena, "Sales", &found, &err), &err);
  assert_string_equal(found.id, "7f3b2");
  must(ledger_find(f->engine, &f->arena, "/specs/sales.yaml", &found, &err), &err);
  assert_string_equal(found.id, "7f3b2");
  char crooked[128];
  snprintf(crooked, sizeof crooked, "/tmp/../tmp/%s", strrchr(f->path, '/') + 1);
  must(ledger_find(f->engine, &f->arena, crooked, &found, &err), &err);
  assert_string_equal(found.id, "7f3b29");
  assert_refused(ledger_find(f->engine, &f->arena, "", &found, &err), &err, ERR_NOT_FOUND, "no backfill");
  assert_has(err.hint, "7f3a (sales, finished)");
}

static void the_newest_counts_when_all_are_final(void **state) {
  Fixture *f = *state;
  BackfillRecord found;
  Error err = {0};
  add(f, "aaaa", "sales", "finished", NULL);
  add(f, "bbbb", "sales", "discarded", NULL);
  must(ledger_find(f->engine, &f->arena, "sales", &found, &err), &err);
  assert_string_equal(found.id, "bbbb");
}

static void new_ids_are_short_and_free(void **state) {
  Fixture *f = *state;
  const char *id, *digest = "0123456789abcdef0123456789abcdef";
  Error err = {0};
  must(ledger_new_id(f->engine, &f->arena, digest, &id, &err), &err);
  assert_string_equal(id, "0123");
  for (int i = 0; i < 40; i++) { /* more often than one digest has beginnings */
    must(ledger_new_id(f->engine, &f->arena, digest, &id, &err), &err);
    add(f, id, "sales", "planned", NULL);
  }
  must(ledger_new_id(f->engine, &f->arena, digest, &id, &err), &err);
}

static void state_changes_along_the_table_only(void **state) {
  Fixture *f = *state;
  BackfillRecord record;
  Error err = {0};
  add(f, "7f3a", "sales", "planned", NULL);
  must(ledger_find(f->engine, &f->arena, "7f3a", &record, &err), &err);
  assert_refused(ledger_move(f->engine, &record, (LedgerMove){.verb = "swap"}, &err), &err, ERR_STATE, "is planned");
  assert_has(err.hint, "run, discard, snapshot");
  must(ledger_allows(&record, "run", &err), &err);
  must(ledger_move(f->engine, &record, (LedgerMove){.verb = "run"}, &err), &err);
  assert_string_equal(record.state, "building");
  BackfillRecord stale = record;
  must(ledger_move(f->engine, &record, (LedgerMove){.verb = "hold", .reason = "a check failed"}, &err), &err);
  assert_refused(ledger_move(f->engine, &stale, (LedgerMove){.verb = "seal"}, &err), &err, ERR_STATE, "held");
  must(ledger_reload(f->engine, &f->arena, &stale, &err), &err);
  assert_string_equal(stale.state, "held");
  assert_string_equal(stale.reason, "a check failed");
}

static bool commit_fails(EngineWriter *writer, Error *err) {
  return error_set(err, ERR_DATABASE, "the connection was lost");
}

static bool list_fails(Engine *engine, Arena *arena, const BackfillRecord **ret, size_t *ret_n, Error *err) {
  return error_set(err, ERR_DATABASE, "the connection was lost");
}

static void after_a_lost_commit_the_ledger_says_the_state(void **state) {
  Fixture *f = *state;
  const EngineOps *whole = f->engine->ops;
  EngineOps lost = *whole;
  BackfillRecord record;
  Error err = {0};
  lost.commit = commit_fails;
  add(f, "7f3a", "sales", "planned", NULL);
  must(ledger_find(f->engine, &f->arena, "7f3a", &record, &err), &err);
  f->engine->ops = &lost; /* no transaction is open: what is moved stays so */
  assert_refused(ledger_commit(f->engine, &f->arena, NULL, &record, (LedgerMove){.verb = "run"}, &err), &err,
                 ERR_DATABASE, "connection");
  assert_string_equal(record.state, "building");
  lost.ledger_list = list_fails;
  assert_refused(ledger_commit(f->engine, &f->arena, NULL, &record, (LedgerMove){.verb = "seal"}, &err), &err,
                 ERR_DATABASE, "connection");
  assert_string_equal(record.state, "building");
  f->engine->ops = whole;
}

static void only_a_gone_process_is_dead(void **state) {
  char owner[512];
  pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
  const char *own = ledger_owner();
  assert_false(owner_is_dead(own));
  const char *host = strchr(own, '@') + 1;
  int length = (int)(strrchr(own, ':') - host);
  snprintf(owner, sizeof owner, "ann@%.*s:1", length, host); /* our pid, started at another time */
  assert_true(owner_is_dead(owner));
  snprintf(owner, sizeof owner, "ann@%.*s:%d:77", (int)strcspn(host, ":"), host, (int)child);
  assert_true(owner_is_dead(owner));
  snprintf(owner, sizeof owner, "ann@elsewhere:%d:77", (int)child);
  assert_false(owner_is_dead(owner));
  /* another machine or container of the same name, where the pid may well be somebody */
  snprintf(owner, sizeof owner, "ann@%.*s/00000000:%d:77", (int)strcspn(host, "/"), host, (int)child);
  assert_false(owner_is_dead(owner));
  snprintf(owner, sizeof owner, "ann@%.*s:%d:77", (int)strcspn(host, "/"), host, (int)child);
  assert_false(owner_is_dead(owner));
  static const char *const odd[] = {"", "ann", "ann@host", ":::", "ann@host:x:y", "ann@host:-1:3"};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) assert_false(owner_is_dead(odd[i]));
}

/* A killed holder whose parent does not look for it is still in the process table. */
static void a_zombie_is_dead(void **state) {
  int ends[2];
  char owner[512] = "";
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    const char *own = ledger_owner();
    _exit(write(ends[1], own, strlen(own)) < 0);
  }
  close(ends[1]);
  assert_true(read(ends[0], owner, sizeof owner - 1) > 0);
  close(ends[0]);
  siginfo_t info;
  assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
  assert_true(owner_is_dead(owner));
  assert_int_equal(waitpid(child, NULL, 0), child);
}

static void a_dead_holder_loses_the_lease_at_once(void **state) {
  Fixture *f = *state;
  int64_t epoch;
  Error err = {0};
  add(f, "7f3a", "sales", "planned", NULL);
  pid_t child = fork();
  if (child == 0) {
    Engine *other = open_again(f);
    if (ledger_lease(other, "7f3a", 3600, &epoch, &err)) raise(SIGKILL);
    _exit(1);
  }
  int status;
  waitpid(child, &status, 0);
  assert_true(WIFSIGNALED(status));
  must(ledger_lease(f->engine, "7f3a", 3600, &epoch, &err), &err);
  assert_int_equal(epoch, 2);
  must(f->engine->ops->lease_take(f->engine, "7f3a", ledger_owner(), 3600, owner_is_dead, &epoch, &err), &err);
  assert_refused(f->engine->ops->lease_take(f->engine, "7f3a", "ann@elsewhere:1:1", 3600, owner_is_dead, &epoch, &err),
                 &err, ERR_LEASED, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_table_is_whole),
      cmocka_unit_test(a_state_of_a_newer_ledger_is_refused),
      FIXTURE_TEST(a_backfill_is_found_by_what_people_type),
      FIXTURE_TEST(the_newest_counts_when_all_are_final),
      FIXTURE_TEST(new_ids_are_short_and_free),
      FIXTURE_TEST(state_changes_along_the_table_only),
      FIXTURE_TEST(after_a_lost_commit_the_ledger_says_the_state),
      cmocka_unit_test(only_a_gone_process_is_dead),
      cmocka_unit_test(a_zombie_is_dead),
      FIXTURE_TEST(a_dead_holder_loses_the_lease_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
