#include "spec_test.h"

static void texts(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec = parse_with(&arena, "owner: 'a team'\nnotes: |\n  one\n  two\n");
  assert_text(spec.owner, "a team", "dir/b.yaml", 6, 8);
  assert_text(spec.runbook_note, "one\ntwo", "dir/b.yaml", 8, 3);
  assert_text(parse_with(&arena, "owner: 2013\n").owner, "2013", "dir/b.yaml", 6, 8);
  refused_with("owner: ''\n", "b.yaml:6:8", "“owner” is empty", "owner: ''\n       ^", "owner: data-platform");
}

static void blank_texts(void **state) {
  refused_with("owner: \" \\t\\n\"\n", "b.yaml:6:8", "“owner” is empty", "owner: \" \\t\\n\"\n       ^", "owner");
  refused_with("owner: [a]\n", "b.yaml:6:8", "“owner” must be one text, not a list", "owner: [a]\n       ^", "owner");
  refused_with("owner: {a: b}\n", "b.yaml:6:8", "not a mapping", "owner: {a: b}\n       ^", "owner");
}

static void sql_stays_as_written(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec = parse_with(&arena, "oracle: |\n  SELECT 1 -- one\n    , 2\n\n");
  assert_text(spec.oracle, "SELECT 1 -- one\n  , 2\n", "dir/b.yaml", 7, 3);
}

static void empty_sql(void **state) {
  static const char *const empty[] = {"''",         "' ; '",     "-- later",
                                      "/* none */", "'/* open'", "\" -- a\\n;\\n/* b */ -- c\""};
  for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
    ARENA_SCOPED arena = {0};
    const char *line = arena_printf(&arena, "oracle: %s\n", empty[i]);
    refused_with(line, "b.yaml:6:9", "the SQL of “oracle” is empty",
                 arena_printf(&arena, "oracle: %s\n        ^", empty[i]), "oracle: |");
  }
  refused_with("checks: {rows: [a > 0, '']}\n", "b.yaml:6:24", "the SQL of “checks.rows” is empty",
               "checks: {rows: [a > 0, '']}\n                       ^", "rows: [flights >= cancelled]");
  refused_backfill("target: t\nrange: r\nwrong: w\ncorrect: c\nrecompute: '  '\n" CONTROL, "b.yaml:5:12",
                   "the SQL of “recompute” is empty", "recompute: '  '\n           ^", "recompute");
}

static void lists_of_texts(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec = parse_with(
      &arena, "key: [a, b]\npreserve: created\nchecks: {rows: a > 0, totals: ['sum(a) = 1', count(*) > 0]}\n");
  assert_int_equal(spec.key.n, 2);
  assert_text(spec.key.items[1], "b", "dir/b.yaml", 6, 10);
  assert_int_equal(spec.preserve.n, 1);
  assert_text(spec.preserve.items[0], "created", "dir/b.yaml", 7, 11);
  assert_text(spec.row_checks.items[0], "a > 0", "dir/b.yaml", 8, 16);
  assert_int_equal(spec.total_checks.n, 2);
  refused_with("key: []\n", "b.yaml:6:6", "the list “key” is empty", "key: []\n     ^", "key: [flight_date");
  refused_with("key: {a: 1}\n", "b.yaml:6:6", "a list of texts, not a mapping", "key: {a: 1}\n     ^", "key:");
  refused_with("key: [a, [b]]\n", "b.yaml:6:10", "must be one text, not a list", "key: [a, [b]]\n         ^", "key:");
  refused_with("key: [a, ~]\n", "b.yaml:6:10", "must be one text, not nothing", "key: [a, ~]\n         ^", "key:");
  refused_with("key: [a, b, a]\n", "b.yaml:6:13", "“a” stands in the list twice", "key: [a, b, a]\n            ^",
               "keep one");
}

static void yes_and_no(void **state) {
  static const char *const yes[] = {"true", "yes", "True", "YES"}, *const no[] = {"false", "no", "False", "NO"};
  for (size_t i = 0; i < 4; i++) {
    ARENA_SCOPED arena = {0};
    assert_true(parse_with(&arena, arena_printf(&arena, "allow: {null_keys: %s}\n", yes[i])).allow_null_keys);
    assert_false(parse_with(&arena, arena_printf(&arena, "allow: {null_keys: %s}\n", no[i])).allow_null_keys);
  }
  refused_with("allow: {null_dates: 'yes'}\n", "b.yaml:6:21", "must be yes or no, without quotes",
               "allow: {null_dates: 'yes'}\n                    ^", "null_dates: yes");
  refused_with("allow: {null_dates: 1}\n", "b.yaml:6:21", "must be yes or no",
               "allow: {null_dates: 1}\n                    ^", "null_dates: yes");
  refused_with("allow: {null_dates: [yes]}\n", "b.yaml:6:21", "must be yes or no",
               "allow: {null_dates: [yes]}\n                    ^", "null_dates: yes");
}

static void whole_numbers(void **state) {
  ARENA_SCOPED arena = {0};
  assert_int_equal(parse_with(&arena, "production: {lookback: 3}\n").production.lookback, 3);
  assert_int_equal(parse_with(&arena, "production: {lookback: 0}\n").production.lookback, 0);
  assert_int_equal(parse_with(&arena, "budget: {lock_tries: 1}\n").budget.lock_tries, 1);
  static const char *const bad[] = {"-1", "1.5", "x", "1000001", "99999999999999999999", "'+1'", "' 1'"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const char *line = arena_printf(&arena, "production: {lookback: %s}", bad[i]);
    refused_with(arena_printf(&arena, "%s\n", line), "b.yaml:6:24", "a whole number from 0 to 1000000",
                 arena_printf(&arena, "%s\n                       ^", line), "lookback: 3");
  }
  refused_with("budget: {lock_tries: 0}\n", "b.yaml:6:22", "from 1 to",
               "budget: {lock_tries: 0}\n                     ^", "lock_tries: 20");
}

static void durations(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec = parse_with(&arena, "retention: 1h30m\nproduction: {guard: 0, jitter: 500ms, p95: '20m'}\n");
  assert_true(spec.retention == 5400 && spec.production.when.guard == 0 && spec.production.when.jitter == 0.5 &&
              spec.production.when.p95 == 1200);
  refused_with("retention: 7\n", "b.yaml:6:12", "“retention”: ", "retention: 7\n           ^", "7d");
  refused_with("retention: soon\n", "b.yaml:6:12", "“retention”: ", "retention: soon\n           ^", "");
  refused_with("retention: -7d\n", "b.yaml:6:12", "“retention”", "retention: -7d\n           ^", "");
  refused_with("budget: {statement: 0}\n", "b.yaml:6:21", "0 would mean no limit",
               "budget: {statement: 0}\n                    ^", "statement: 5m");
  refused_with("budget: {lock: 0s}\n", "b.yaml:6:16", "0 would mean no limit", "budget: {lock: 0s}\n               ^",
               "lock: 1.5s");
  refused_with("budget: {lock: 0.4ms}\n", "b.yaml:6:16", "between a millisecond and 20 days",
               "budget: {lock: 0.4ms}\n               ^", "lock: 1.5s");
  refused_with("budget: {swap_lock: 25d}\n", "b.yaml:6:21", "between a millisecond and 20 days",
               "budget: {swap_lock: 25d}\n                    ^", "swap_lock: 10s");
}

static void sizes(void **state) {
  ARENA_SCOPED arena = {0};
  assert_int_equal(parse_with(&arena, "budget: {wal: 500 MB}\n").budget.wal, 500000000);
  refused_with("budget: {wal: much}\n", "b.yaml:6:15", "“budget.wal”: ", "budget: {wal: much}\n              ^", "");
  refused_with("budget: {wal: 0}\n", "b.yaml:6:15", "above 0", "budget: {wal: 0}\n              ^", "wal: 1 GB");
}

static void shares(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec = parse_with(&arena, "budget: {duty: 100 %}\nsample: {share: 0.5, confidence: 99%}\n");
  assert_true(spec.budget.duty == 1 && spec.sample_share == 0.5 && spec.sample_confidence == 0.99);
  refused_with("sample: {share: 150 %}\n", "b.yaml:6:17", "“sample.share”", "sample: {share: 150 %}\n                ^",
               "");
  refused_with("sample: {share: 0}\n", "b.yaml:6:17", "above 0", "sample: {share: 0}\n                ^",
               "share: 0.1 %");
}

static void errors_that_come_later(void **state) {
  ARENA_SCOPED arena = {0};
  Error err;
  Spec spec = parse_with(&arena, "owner: me\n");
  assert_false(spec_error(&err, &spec.owner.place, "no %s", "such team"));
  assert_int_equal(err.code, ERR_SPEC);
  assert_string_equal(err.where, "dir/b.yaml:6:8");
  assert_string_equal(err.snippet, "owner: me\n       ^");
  assert_string_equal(err.message, "no such team");
  assert_false(spec_error(&err, &(SpecPlace){0}, "a default: %s", err.message));
  assert_string_equal(err.message, "a default: no such team");
  assert_string_equal(err.where, "");
  assert_string_equal(err.snippet, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(texts),
      cmocka_unit_test(blank_texts),
      cmocka_unit_test(sql_stays_as_written),
      cmocka_unit_test(empty_sql),
      cmocka_unit_test(lists_of_texts),
      cmocka_unit_test(yes_and_no),
      cmocka_unit_test(whole_numbers),
      cmocka_unit_test(durations),
      cmocka_unit_test(sizes),
      cmocka_unit_test(shares),
      cmocka_unit_test(errors_that_come_later),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
