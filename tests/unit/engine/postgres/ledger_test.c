#include <time.h>

#include "server.h"

enum { DAY = 86400 };

static const BackfillRecord record = {.id = "7f3a",
                                      .target = "daily delays",
                                      .state = "planned",
                                      .way = "shadow",
                                      .digest = "d1",
                                      .spec_text = "wrong: it's \"quoted\"\n",
                                      .plan = "{}",
                                      .owner = "ann@host"};

/* A ledger with the backfill of 4 dates. */
static Engine *planned(Fixture *f) {
  Error err = {0};
  DateRecord dates[4] = {{.date = 0, .expected = 10, .suspect = 2, .production = {10, 1, 2}},
                         {.date = DAY, .expected = 20},
                         {.date = 2 * DAY},
                         {.date = 3 * DAY}};
  must(pg_ledger_create(f->engine, &err), &err);
  must(pg_ledger_add(f->engine, &record, dates, 4, &err), &err);
  return f->engine;
}

static const char *last_event(Fixture *f) {
  return one(f, "SELECT format('%s|%s|%s', who, what, detail) FROM tidegate.event ORDER BY number DESC LIMIT 1");
}

static void creating_is_idempotent(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  bool exists = true;
  const BackfillRecord *list;
  size_t n = 7;
  must(pg_ledger_exists(f->engine, &exists, &err), &err);
  assert_false(exists);
  must(pg_ledger_list(f->engine, &f->arena, &list, &n, &err), &err);
  assert_int_equal(n, 0);
  must(pg_ledger_create(f->engine, &err), &err);
  const char *uuid = one(f, "SELECT uuid FROM tidegate.meta");
  assert_int_equal(strlen(uuid), 36);
  must(pg_ledger_create(f->engine, &err), &err);
  assert_string_equal(one(f, "SELECT uuid FROM tidegate.meta"), uuid);
  must(pg_ledger_exists(f->engine, &exists, &err), &err);
  assert_true(exists);
}

static void a_newer_ledger_is_refused(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  bool exists;
  planned(f);
  run(f, "UPDATE tidegate.meta SET version = 2");
  assert_refused(pg_ledger_create(f->engine, &err), &err, ERR_STATE, "version 2 and this tidegate knows version 1");
  assert_refused(pg_ledger_exists(f->engine, &exists, &err), &err, ERR_STATE, "version 2");
  run(f, "DELETE FROM tidegate.meta");
  assert_refused(pg_ledger_create(f->engine, &err), &err, ERR_STATE, "does not say which version");
  run(f, "ALTER TABLE tidegate.meta RENAME COLUMN version TO v");
  assert_refused(pg_ledger_create(f->engine, &err), &err, ERR_STATE, "does not say which version");
}

static void a_backfill_is_kept_whole(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  const BackfillRecord *list;
  const DateRecord *dates;
  size_t n;
  BackfillRecord second = record;
  planned(f);
  second.id = "8a00";
  must(pg_ledger_add(f->engine, &second, NULL, 0, &err), &err);
  must(pg_ledger_list(f->engine, &f->arena, &list, &n, &err), &err);
  assert_int_equal(n, 2);
  assert_string_equal(list[0].id, "8a00");
  assert_string_equal(list[1].target, "daily delays");
  assert_string_equal(list[1].spec_text, record.spec_text);
  assert_string_equal(list[1].owner, "ann@host");
  assert_null(list[1].seal);
  assert_null(list[1].lease_owner);
  assert_true(list[1].created_at > 1700000000);
  assert_int_equal(list[1].swapped_at, 0);
  must(pg_ledger_dates(f->engine, &f->arena, "7f3a", &dates, &n, &err), &err);
  assert_int_equal(n, 4);
  assert_int_equal(dates[0].expected, 10);
  assert_int_equal(dates[0].suspect, 2);
  assert_true(fingerprint_equal(&dates[0].production, &(Fingerprint){10, 1, 2}));
  assert_int_equal(dates[3].date, 3 * DAY);
  assert_string_equal(last_event(f), "ann@host|planned|daily delays");
  assert_refused(pg_ledger_add(f->engine, &record, NULL, 0, &err), &err, ERR_STATE, "already, planned");
}

static void a_failed_add_leaves_nothing(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  DateRecord twice[2] = {{.date = 5}, {.date = 5}};
  must(pg_ledger_create(f->engine, &err), &err);
  assert_false(pg_ledger_add(f->engine, &record, twice, 2, &err));
  assert_string_equal(one(f, "SELECT count(*) FROM tidegate.backfill"), "0");
  assert_false(pg_in_transaction(pg_engine(f->engine)));
}

static void moving_compares_and_sets(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  Engine *e = planned(f);
  const EventRecord *events;
  size_t n;
  must(pg_ledger_move(e, "7f3a", "planned", "building", NULL, NULL, NULL, "bob", &err), &err);
  assert_string_equal(last_event(f), "bob|building|from planned");
  assert_refused(pg_ledger_move(e, "7f3a", "planned", "building", NULL, NULL, NULL, "bob", &err), &err, ERR_STATE,
                 "is building, not planned");
  must(pg_ledger_move(e, "7f3a", "building", "ready", "all valid", "seal", "{\"a\":1}", "bob", &err), &err);
  assert_string_equal(one(f, "SELECT concat(state, seal, reason, swapped_at) FROM tidegate.backfill"),
                      "ready{\"a\":1}all valid0");
  must(pg_ledger_move(e, "7f3a", "ready", "swapped", NULL, "swap", "{}", "bob", &err), &err);
  assert_string_equal(one(f, "SELECT swapped_at > 1700000000 AND reason IS NULL FROM tidegate.backfill"), "t");
  assert_refused(pg_ledger_move(e, "none", "ready", "swapped", NULL, NULL, NULL, "bob", &err), &err, ERR_NOT_FOUND,
                 "no backfill 'none'");
  assert_refused(pg_ledger_move(e, "7f3a", "swapped", "x", NULL, "owner", "{}", "bob", &err), &err, ERR_INTERNAL,
                 "no document 'owner'");
  must(pg_ledger_event(e, "7f3a", "bob", "approved", NULL, &err), &err);
  must(pg_ledger_events(e, &f->arena, "7f3a", &events, &n, &err), &err);
  assert_int_equal(n, 5);
  assert_string_equal(events[4].what, "approved");
  assert_null(events[4].detail);
  assert_refused(pg_ledger_event(e, "none", "bob", "approved", NULL, &err), &err, ERR_NOT_FOUND, "none");
}

static void documents_are_replaced(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  Engine *e = planned(f);
  must(pg_ledger_doc(e, "7f3a", "plan", "{\"it's\":2}", &err), &err);
  assert_string_equal(one(f, "SELECT plan FROM tidegate.backfill"), "{\"it's\":2}");
  assert_refused(pg_ledger_doc(e, "none", "plan", "{}", &err), &err, ERR_NOT_FOUND, "none");
  assert_refused(pg_ledger_doc(e, "7f3a", "plans", "{}", &err), &err, ERR_INTERNAL, "plans");
}

static void a_transaction_that_is_open_is_joined(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  Engine *e = planned(f);
  run(f, "BEGIN");
  must(pg_ledger_move(e, "7f3a", "planned", "building", NULL, NULL, NULL, "bob", &err), &err);
  run(f, "ROLLBACK");
  assert_string_equal(one(f, "SELECT state FROM tidegate.backfill"), "planned");
}

static bool is_dead(const char *holder) { return strcmp(holder, "dead") == 0; }
static bool is_alive(const char *holder) { return false; }

static void a_lease_has_one_holder(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  Engine *e = planned(f), *other = open_again(f);
  int64_t epoch = 0;
  must(pg_lease_take(e, "7f3a", "a", 60, is_alive, &epoch, &err), &err);
  assert_int_equal(epoch, 1);
  assert_refused(pg_lease_take(other, "7f3a", "b", 60, is_alive, &epoch, &err), &err, ERR_LEASED, "driven by a");
  assert_int_equal(epoch, 1);
  must(pg_lease_take(e, "7f3a", "a", 60, NULL, &epoch, &err), &err);
  assert_int_equal(epoch, 2);
  must(pg_lease_drop(e, "7f3a", 1, &err), &err);
  assert_refused(pg_lease_take(other, "7f3a", "b", 60, NULL, &epoch, &err), &err, ERR_LEASED, "driven by a");
  must(pg_lease_drop(e, "7f3a", 2, &err), &err);
  must(pg_lease_take(other, "7f3a", "dead", 60, is_alive, &epoch, &err), &err);
  assert_int_equal(epoch, 3);
  must(pg_lease_take(e, "7f3a", "a", 60, is_dead, &epoch, &err), &err);
  assert_int_equal(epoch, 4);
  assert_has(last_event(f), "a|lease taken|epoch 4, over from dead");
  run(f, "UPDATE tidegate.backfill SET lease_heartbeat = lease_heartbeat - 61");
  must(pg_lease_take(other, "7f3a", "b", 60, is_alive, &epoch, &err), &err);
  assert_int_equal(epoch, 5);
  assert_refused(pg_lease_take(e, "none", "b", 60, is_alive, &epoch, &err), &err, ERR_NOT_FOUND, "none");
  assert_refused(pg_lease_drop(e, "none", 1, &err), &err, ERR_NOT_FOUND, "none");
  close_engine(other);
}

static void a_lease_race_waits_for_the_lock(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  Engine *e = planned(f), *other = open_again(f);
  int64_t epoch = 0;
  run_on(other, "SET lock_timeout = '20ms'");
  run(f, "BEGIN");
  must(pg_lease_take(e, "7f3a", "a", 60, NULL, &epoch, &err), &err);
  assert_refused(pg_lease_take(other, "7f3a", "b", 60, NULL, &epoch, &err), &err, ERR_LOCKED, "lock");
  run(f, "COMMIT");
  assert_refused(pg_lease_take(other, "7f3a", "b", 60, NULL, &epoch, &err), &err, ERR_LEASED, "driven by a");
  close_engine(other);
}

static void the_guard_knows_the_epoch(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  Engine *e = planned(f);
  PgEngine *engine = pg_engine(e);
  int64_t epoch;
  assert_refused(pg_ledger_guard(engine, "7f3a", 0, &err), &err, ERR_LEASED, "given back");
  must(pg_lease_take(e, "7f3a", "a", 60, NULL, &epoch, &err), &err);
  run(f, "UPDATE tidegate.backfill SET lease_heartbeat = 5");
  must(pg_ledger_guard(engine, "7f3a", epoch, &err), &err);
  assert_string_equal(one(f, "SELECT extract(epoch FROM now()) - lease_heartbeat < 5 FROM tidegate.backfill"), "t");
  must(pg_lease_take(e, "7f3a", "a", 60, NULL, &epoch, &err), &err);
  assert_refused(pg_ledger_guard(engine, "7f3a", 1, &err), &err, ERR_LEASED, "epoch 2, not 1");
  must(pg_lease_drop(e, "7f3a", 2, &err), &err);
  assert_refused(pg_ledger_guard(engine, "7f3a", 2, &err), &err, ERR_LEASED, "given back");
  assert_refused(pg_ledger_guard(engine, "none", 2, &err), &err, ERR_NOT_FOUND, "none");
}

static const ShapeColumn columns[] = {{.name = "day"}, {.name = "it's"}, {.name = "n"}};
static const Shape shape = {.table = "daily delays", .columns = columns, .n = 3};

/* Writes a batch of n dates from `first`, changing columns 1 and 2. */
static bool batch(Fixture *f, int64_t number, int64_t first, int64_t n, Error *err) {
  DateFacts dates[4] = {0};
  const int64_t changes[3] = {0, 3, 1};
  for (int64_t i = 0; i < n; i++)
    dates[i] = (DateFacts){.date = (first + i) * DAY, .recomputed = {4, 5, 6}, .updates = 3, .moves_in = 1};
  BatchFacts facts = {.dates = dates, .n = (size_t)n, .column_changes = changes};
  BatchRecord done = {.number = number,
                      .from = first * DAY,
                      .to = (first + n) * DAY,
                      .attempt = 1,
                      .dates = n,
                      .rows = 9,
                      .changes = 3,
                      .seconds = 0.5,
                      .token = "t"};
  return pg_ledger_batch_done(pg_engine(f->engine), "7f3a", &done, &facts, &shape, err);
}

static void batches_mark_their_dates(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  Engine *e = planned(f);
  const DateRecord *dates;
  const BatchRecord *batches;
  const ColumnChange *changes;
  size_t n;
  must(batch(f, 1, 0, 2, &err), &err);
  must(batch(f, 2, 2, 1, &err), &err);
  must(pg_ledger_dates(e, &f->arena, "7f3a", &dates, &n, &err), &err);
  assert_int_equal(dates[1].batch, 1);
  assert_int_equal(dates[2].batch, 2);
  assert_int_equal(dates[3].batch, 0);
  assert_int_equal(dates[0].updates, 3);
  assert_int_equal(dates[0].moves_in, 1);
  assert_int_equal(dates[0].expected, 10);
  assert_int_equal(dates[0].recomputed.rows, 4);
  must(pg_ledger_batches(e, &f->arena, "7f3a", &batches, &n, &err), &err);
  assert_int_equal(n, 2);
  assert_int_equal(batches[0].to, 2 * DAY);
  assert_string_equal(batches[0].token, "t");
  assert_null(batches[0].log);
  assert_true(batches[0].done_at > 1700000000 && batches[0].seconds == 0.5);
  must(pg_ledger_columns(e, &f->arena, "7f3a", &changes, &n, &err), &err);
  assert_int_equal(n, 2);
  assert_string_equal(changes[0].column, "it's");
  assert_int_equal(changes[0].rows, 6);
  assert_refused(batch(f, 3, 3, 2, &err), &err, ERR_STATE, "wrote 2 dates, but only 1 are dates of backfill '7f3a'");
}

static void forgetting_never_loses_a_column(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  Engine *e = planned(f);
  const ColumnChange *changes;
  const FindingRecord finding = {.batch = 1, .kind = "row check", .message = "m", .count = 2, .examples = "[]"};
  size_t n;
  must(batch(f, 1, 0, 2, &err), &err);
  must(pg_ledger_add_findings(e, "7f3a", &finding, 1, &err), &err);
  must(pg_ledger_forget(pg_engine(e), "7f3a", (DateRange){0, DAY}, &err), &err);
  assert_string_equal(one(f, "SELECT string_agg(batch::text || updates, ',' ORDER BY date) FROM tidegate.date"),
                      "00,13,00,00");
  must(pg_ledger_columns(e, &f->arena, "7f3a", &changes, &n, &err), &err);
  assert_int_equal(n, 2);
  must(batch(f, 2, 0, 2, &err), &err);
  assert_string_equal(one(f, "SELECT string_agg(number::text, ',') FROM tidegate.batch"), "2");
  assert_string_equal(one(f, "SELECT count(*) FROM tidegate.finding"), "0");
  must(pg_ledger_columns(e, &f->arena, "7f3a", &changes, &n, &err), &err);
  assert_int_equal(changes[0].rows, 3);
  must(pg_ledger_forget(pg_engine(e), "7f3a", (DateRange){0, 4 * DAY}, &err), &err);
  assert_string_equal(one(f, "SELECT count(*) FROM tidegate.batch"), "0");
  must(pg_ledger_columns(e, &f->arena, "7f3a", &changes, &n, &err), &err);
  assert_int_equal(n, 0);
}

static void the_same_batch_again_replaces_itself(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  const FindingRecord finding = {.batch = 1, .kind = "row check", .count = 2};
  planned(f);
  must(batch(f, 1, 0, 2, &err), &err);
  must(pg_ledger_add_findings(f->engine, "7f3a", &finding, 1, &err), &err);
  must(batch(f, 1, 0, 2, &err), &err);
  assert_string_equal(one(f, "SELECT sum(changed_rows) FROM tidegate.col"), "4");
  assert_string_equal(one(f, "SELECT count(*) FROM tidegate.finding"), "1");
}

static void findings_and_objects(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  Engine *e = planned(f);
  const FindingRecord *findings, some[3] = {{.kind = "new row", .subject = "s", .count = 1},
                                            {.batch = 4, .kind = "vanished", .count = 9, .examples = "[{}]"},
                                            {.kind = "NULL", .subject = "", .message = "a, \"b\" \\n {c}\n\tü"}};
  const ObjectRecord *objects, object = {.name = "tidegate_7f3a_changes", .role = "changes", .identity = "abc"};
  size_t n;
  must(pg_ledger_add_findings(e, "7f3a", some, 3, &err), &err);
  assert_refused(pg_ledger_add_findings(e, "none", some, 3, &err), &err, ERR_NOT_FOUND, "none");
  must(pg_ledger_findings(e, &f->arena, "7f3a", &findings, &n, &err), &err);
  assert_int_equal(n, 3);
  assert_string_equal(findings[2].kind, "NULL");
  assert_string_equal(findings[2].subject, "");
  assert_string_equal(findings[2].message, some[2].message);
  assert_null(findings[2].examples);
  assert_string_equal(findings[0].subject, "s");
  assert_string_equal(findings[1].examples, "[{}]");
  assert_int_equal(findings[1].batch, 4);
  must(pg_ledger_object_add(pg_engine(e), "7f3a", &object, &err), &err);
  must(pg_ledger_object_dropped(pg_engine(e), "7f3a", object.name, &err), &err);
  assert_refused(pg_ledger_object_dropped(pg_engine(e), "7f3a", object.name, &err), &err, ERR_NOT_FOUND,
                 "still exists");
  must(pg_ledger_objects(e, &f->arena, "7f3a", &objects, &n, &err), &err);
  assert_int_equal(n, 1);
  assert_string_equal(objects[0].identity, "abc");
  assert_true(objects[0].created_at > 0 && objects[0].dropped_at >= objects[0].created_at);
  must(pg_ledger_object_add(pg_engine(e), "7f3a", &object, &err), &err);
  must(pg_ledger_objects(e, &f->arena, "7f3a", &objects, &n, &err), &err);
  assert_int_equal(objects[0].dropped_at, 0);
}

static void a_damaged_fingerprint_is_seen(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  const DateRecord *dates;
  size_t n;
  planned(f);
  run(f, "UPDATE tidegate.date SET stable = 'x' WHERE date = 0");
  assert_refused(pg_ledger_dates(f->engine, &f->arena, "7f3a", &dates, &n, &err), &err, ERR_DATABASE, "'x'");
}

static void many_dates_are_quick(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  enum { MANY = 10000 };
  struct timespec start, end;
  DateRecord *dates = arena_array(&f->arena, MANY, sizeof *dates);
  for (int64_t i = 0; i < MANY; i++) dates[i].date = i * DAY;
  must(pg_ledger_create(f->engine, &err), &err);
  clock_gettime(CLOCK_MONOTONIC, &start);
  must(pg_ledger_add(f->engine, &record, dates, MANY, &err), &err);
  clock_gettime(CLOCK_MONOTONIC, &end);
  double ms = (double)(end.tv_sec - start.tv_sec) * 1e3 + (double)(end.tv_nsec - start.tv_nsec) / 1e6;
  print_message("10,000 dates: %.0f ms\n", ms);
  assert_string_equal(one(f, "SELECT count(*) FROM tidegate.date"), "10000");
}

int main(void) {
  const struct CMUnitTest tests[] = {FIXTURE_TEST(creating_is_idempotent),
                                     FIXTURE_TEST(a_newer_ledger_is_refused),
                                     FIXTURE_TEST(a_backfill_is_kept_whole),
                                     FIXTURE_TEST(a_failed_add_leaves_nothing),
                                     FIXTURE_TEST(moving_compares_and_sets),
                                     FIXTURE_TEST(documents_are_replaced),
                                     FIXTURE_TEST(a_transaction_that_is_open_is_joined),
                                     FIXTURE_TEST(a_lease_has_one_holder),
                                     FIXTURE_TEST(a_lease_race_waits_for_the_lock),
                                     FIXTURE_TEST(the_guard_knows_the_epoch),
                                     FIXTURE_TEST(batches_mark_their_dates),
                                     FIXTURE_TEST(forgetting_never_loses_a_column),
                                     FIXTURE_TEST(the_same_batch_again_replaces_itself),
                                     FIXTURE_TEST(findings_and_objects),
                                     FIXTURE_TEST(a_damaged_fingerprint_is_seen),
                                     FIXTURE_TEST(many_dates_are_quick)};
  return cmocka_run_group_tests(tests, server_start, server_stop);
}
