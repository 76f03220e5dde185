#include "spec_test.h"

static void the_design_s_own_example(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec = parse_both(
      &arena,
      "target: daily_delays\n"
      "range: 2013-02-01..2013-02-28            # both included\n"
      "wrong: cancelled flights were counted as zero delay\n"
      "correct: the average covers departed flights only\n"
      "changes: {avg_dep_delay: cancelled > 0}  # nothing else may differ\n"
      "control: 2013-01-25..2013-01-31          # right today; must be reproduced\n"
      "checks:\n"
      "  rows: [avg_dep_delay IS NOT NULL OR cancelled = flights]\n"
      "  totals: [sum(flights) = (SELECT count(*) FROM flights WHERE flight_date >= :from AND flight_date < :to)]\n"
      "recompute: |\n"
      "  SELECT flight_date, count(*) AS flights\n"
      "  FROM flights WHERE flight_date >= :from AND flight_date < :to GROUP BY 1\n"
      "production: {schedule: \"0 2 * * *\", zone: America/New_York, p95: 20m}\n",
      NULL);
  assert_text(spec.target, "daily_delays", "dir/b.yaml", 1, 9);
  assert_text(spec.range, "2013-02-01..2013-02-28", "dir/b.yaml", 2, 8);
  assert_text(spec.wrong, "cancelled flights were counted as zero delay", "dir/b.yaml", 3, 8);
  assert_text(spec.correct, "the average covers departed flights only", "dir/b.yaml", 4, 10);
  assert_text(spec.control, "2013-01-25..2013-01-31", "dir/b.yaml", 6, 10);
  assert_int_equal(spec.n_changes, 1);
  assert_int_equal(spec.row_checks.n, 1);
  assert_text(spec.total_checks.items[0],
              "sum(flights) = (SELECT count(*) FROM flights WHERE flight_date >= :from AND flight_date < :to)",
              "dir/b.yaml", 9, 12);
  assert_text(spec.recompute.sql,
              "SELECT flight_date, count(*) AS flights\n"
              "FROM flights WHERE flight_date >= :from AND flight_date < :to GROUP BY 1\n",
              "dir/b.yaml", 11, 3);
  assert_string_equal(spec.production.when.expression.text, "0 2 * * *");
  assert_string_equal(spec.backfill_file.file, "dir/b.yaml");
  assert_memory_equal(spec.backfill_file.source, "target: daily", 13);
  assert_null(spec.pipeline_file.file);
}

static void every_default(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec = parse_with(&arena, "");
  assert_true(spec.production.when.guard == 900 && spec.production.when.jitter == 0 && spec.production.when.p95 == -1);
  assert_string_equal(spec.production.when.dialect, "vixie");
  assert_int_equal(spec.production.lookback, 0);
  assert_false(spec.production.lookback_fixed || spec.production.none);
  assert_null(spec.production.when.expression.text);
  assert_null(spec.production.when.zone.text);
  assert_null(spec.production.live.running.text);
  assert_true(spec.budget.batch == 60 && spec.budget.statement == 300 && spec.budget.lock == 1.5);
  assert_true(spec.budget.swap_lock == 10 && spec.budget.lag == 10 && spec.budget.duty == 0.5);
  assert_int_equal(spec.budget.lock_tries, 20);
  assert_int_equal(spec.budget.wal, 1000000000);
  assert_true(spec.retention == 7 * 86400);
  assert_true(spec.sample_share == 0.1 / 100 && spec.sample_confidence == 0.95);
  assert_int_equal(spec.triggers, TRIGGERS_DENY);
  assert_true(spec.recompute.timeout == 600);
  assert_false(spec.recompute.shell || spec.full_shadow || spec.allow_null_dates || spec.allow_null_keys);
  const SpecText not_given[] = {spec.database, spec.oracle, spec.date_column, spec.date_kind, spec.zone,
                                spec.grain,    spec.idle,   spec.owner,       spec.idle_zone, spec.runbook_note};
  for (size_t i = 0; i < sizeof not_given / sizeof *not_given; i++) assert_null(not_given[i].text);
  assert_null(spec.database_path);
  assert_int_equal(spec.key.n + spec.preserve.n + spec.contacts.n + spec.allow_emptied.n + spec.row_checks.n +
                       spec.total_checks.n + spec.n_changes + spec.n_sources + spec.n_downstream + spec.n_tolerances,
                   0);
}

static const char pipeline[] =
    "database: top.db\n"
    "targets:\n"
    "  daily_delays:\n"
    "    owner: delays team\n"
    "    budget: {lag: 20s, duty: 20 %}\n"
    "    key: [a, b]\n"
    "    production: {p95: 30m}\n"
    "  other:\n"
    "    owner: other team\n"
    "owner: everyone\n"
    "grain: day\n"
    "key: [id]\n"
    "budget: {lag: 30s, batch: 30s, duty: 30 %}\n"
    "production: {schedule: 0 2 * * *, zone: UTC, p95: 10m}\n";

static void the_nearer_file_wins(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec = parse_both(&arena, backfill_with(&arena, "budget: {duty: 10 %}\nproduction: {guard: 1m}\n"), pipeline);
  assert_true(spec.budget.duty == 0.1 && spec.budget.lag == 20 && spec.budget.batch == 30 && spec.budget.lock == 1.5);
  assert_text(spec.owner, "delays team", "top/tidegate.yaml", 4, 12);
  assert_text(spec.grain, "day", "top/tidegate.yaml", 11, 8);
  assert_int_equal(spec.key.n, 2);
  assert_true(spec.production.when.p95 == 1800 && spec.production.when.guard == 60);
  assert_text(spec.production.when.expression, "0 2 * * *", "top/tidegate.yaml", 14, 24);
  assert_text(spec.target, "daily_delays", "dir/b.yaml", 1, 9);
  assert_string_equal(spec.database_path, "top/top.db");
  assert_string_equal(spec.pipeline_file.file, "top/tidegate.yaml");
  assert_string_equal(spec.pipeline_file.source, pipeline);
  spec = parse_both(&arena, backfill_with(&arena, "owner: me\nkey: k\nproduction: none\ndatabase: own.db\n"), pipeline);
  assert_text(spec.owner, "me", "dir/b.yaml", 6, 8);
  assert_int_equal(spec.key.n, 1);
  assert_true(spec.production.none);
  assert_null(spec.production.when.expression.text);
  assert_true(spec.production.when.guard == 900 && spec.production.when.p95 == -1);
  assert_string_equal(spec.production.when.dialect, "vixie");
  assert_string_equal(spec.database_path, "dir/own.db");
}

static void a_schedule_ends_a_none_above(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec = parse_both(&arena, backfill_with(&arena, "production: {schedule: 0 2 * * *}\n"), "production: none\n");
  assert_false(spec.production.none);
  assert_string_equal(spec.production.when.expression.text, "0 2 * * *");
}

static void a_target_without_an_entry_takes_the_top(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec = parse_both(&arena, LEAST CONTROL, "targets: {other: {owner: x}, third: }\nowner: y\n");
  assert_string_equal(spec.owner.text, "y");
  spec = parse_both(&arena, LEAST CONTROL, "");
  assert_null(spec.owner.text);
}

static void what_is_missing(void **state) {
  static const char *const lines[] = {"target: t\n", "range: r\n", "wrong: w\n", "correct: c\n",
                                      "recompute: SELECT 1\n"};
  static const char *const names[] = {"target", "range", "wrong", "correct", "recompute"};
  for (size_t i = 0; i < 5; i++) {
    ARENA_SCOPED arena = {0};
    BUF_SCOPED text = {0};
    buf_puts(&text, "# comment\n" CONTROL);
    for (size_t j = 0; j < 5; j++)
      if (i != j) buf_puts(&text, lines[j]);
    refused_backfill(buf_text(&text), "b.yaml:2:1", arena_printf(&arena, "“%s” is missing: ", names[i]), CONTROL "^",
                     arena_printf(&arena, "write, for example: %s: ", names[i]));
  }
}

static void evidence_is_required(void **state) {
  ARENA_SCOPED arena = {0};
  refused_backfill(LEAST, "b.yaml:1:1", "one of changes, control and checks is needed", "target: daily_delays\n^",
                   "control: 2013-01-25..2013-01-31");
  refused_backfill(LEAST "oracle: SELECT 1\n", "b.yaml:1:1", "one of changes, control and checks",
                   "target: daily_delays\n^", "control:");
  parse_both(&arena, LEAST "changes: a\n", NULL);
  parse_both(&arena, LEAST "control: 2013-01-01\n", NULL);
  parse_both(&arena, LEAST "checks: {rows: a > 0}\n", NULL);
  parse_both(&arena, LEAST "checks: {totals: count(*) > 0}\n", NULL);
}

static void files_that_are_no_spec(void **state) {
  refused_backfill("", "b.yaml:1:1", "the file is empty", "\n^", "a backfill needs: target, range");
  refused_backfill("# nothing yet\n", "b.yaml:1:1", "the file is empty", "# nothing yet\n^", "a backfill needs");
  refused_backfill("just text\n", "b.yaml:1:1", "must be lines of “key: value”", "just text\n^",
                   "target: daily_delays");
  refused_backfill("- a\n- b\n", "b.yaml:1:1", "must be lines of “key: value”", "- a\n^", "target: daily_delays");
  refused_pipeline("- a\n", "tidegate.yaml:1:1", "must be lines of “key: value”", "- a\n^", "target:");
  refused_pipeline("owner: [\n", "tidegate.yaml:1:8", "never closed", "owner: [\n       ^", "close every");
  refused_backfill("target: a\ntarget: b\n", "b.yaml:2:1", "the key “target” is given twice", "target: b\n^",
                   "keep one");
}

static void files_of_other_systems(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec = parse_both(&arena,
                         "\xEF\xBB\xBFtarget: t\r\nrange: r\r\nwrong: w\r\ncorrect: c\r\nrecompute: |\r\n  SELECT 1\r\n"
                         "  , 2\r\ncontrol: d\r\n",
                         NULL);
  assert_text(spec.target, "t", "dir/b.yaml", 1, 9);
  assert_text(spec.recompute.sql, "SELECT 1\n, 2\n", "dir/b.yaml", 6, 3);
  assert_text(spec.control, "d", "dir/b.yaml", 8, 10);
  refused_backfill("\xEF\xBB\xBFtarget: t\r\nrnage: r\r\n", "b.yaml:2:1", "unknown key", "rnage: r\n^", "“range”");
  refused_backfill("target:\t[t]\r\n", "b.yaml:1:9", "one text", "target: [t]\n        ^", "target");
}

static void nothing_is_returned_on_failure(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec, before;
  Error err;
  memset(&spec, 0x5A, sizeof spec);
  memcpy(&before, &spec, sizeof spec);
  assert_false(spec_parse(&arena, "b.yaml", LEAST, NULL, NULL, &spec, &err));
  assert_memory_equal(&spec, &before, sizeof spec);
}

static void texts_may_go_away_after_parsing(void **state) {
  ARENA_SCOPED arena = {0};
  char *text = strdup(LEAST CONTROL), *path = strdup("dir/b.yaml");
  Spec spec;
  Error err;
  assert_true(spec_parse(&arena, path, text, NULL, NULL, &spec, &err));
  free(text);
  free(path);
  spec_error(&err, &spec.range.place, "x");
  assert_string_equal(err.where, "dir/b.yaml:2:8");
  assert_string_equal(err.snippet, "range: 2013-02-01..2013-02-28\n       ^");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_design_s_own_example),
      cmocka_unit_test(every_default),
      cmocka_unit_test(the_nearer_file_wins),
      cmocka_unit_test(a_schedule_ends_a_none_above),
      cmocka_unit_test(a_target_without_an_entry_takes_the_top),
      cmocka_unit_test(what_is_missing),
      cmocka_unit_test(evidence_is_required),
      cmocka_unit_test(files_that_are_no_spec),
      cmocka_unit_test(files_of_other_systems),
      cmocka_unit_test(nothing_is_returned_on_failure),
      cmocka_unit_test(texts_may_go_away_after_parsing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
