#include "spec_test.h"

static void assert_rule(const ScopeRule *rule, ScopeKind kind, const char *column, const char *where) {
  assert_int_equal(rule->kind, kind);
  if (column == NULL)
    assert_null(rule->column.text);
  else
    assert_string_equal(rule->column.text, column);
  if (where == NULL)
    assert_null(rule->where.text);
  else
    assert_string_equal(rule->where.text, where);
}

static void changes_as_one_column(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec = parse_with(&arena, "changes: delay\n");
  assert_int_equal(spec.n_changes, 1);
  assert_rule(&spec.changes[0], SCOPE_COLUMN, "delay", NULL);
  assert_text(spec.changes[0].column, "delay", "dir/b.yaml", 6, 10);
}

static void changes_as_a_list(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec = parse_with(&arena, "changes: [delay, new rows, '*', vanished rows]\n");
  assert_int_equal(spec.n_changes, 4);
  assert_rule(&spec.changes[0], SCOPE_COLUMN, "delay", NULL);
  assert_rule(&spec.changes[1], SCOPE_NEW_ROWS, NULL, NULL);
  assert_rule(&spec.changes[2], SCOPE_ANY_COLUMN, NULL, NULL);
  assert_rule(&spec.changes[3], SCOPE_VANISHED_ROWS, NULL, NULL);
}

static void changes_as_a_map(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec =
      parse_with(&arena,
                 "changes:\n  delay: cancelled > 0\n  a: true\n  b: Yes\n  c:\n  d: 'yes'\n  \"*\": day < '2013'\n"
                 "  new rows: yes\n  vanished rows: flights = 0\n");
  assert_int_equal(spec.n_changes, 8);
  assert_rule(&spec.changes[0], SCOPE_COLUMN, "delay", "cancelled > 0");
  assert_text(spec.changes[0].where, "cancelled > 0", "dir/b.yaml", 7, 10);
  assert_text(spec.changes[0].column, "delay", "dir/b.yaml", 7, 3);
  assert_rule(&spec.changes[1], SCOPE_COLUMN, "a", NULL);
  assert_rule(&spec.changes[2], SCOPE_COLUMN, "b", NULL);
  assert_rule(&spec.changes[3], SCOPE_COLUMN, "c", NULL);
  assert_rule(&spec.changes[4], SCOPE_COLUMN, "d", "yes");
  assert_rule(&spec.changes[5], SCOPE_ANY_COLUMN, NULL, "day < '2013'");
  assert_rule(&spec.changes[6], SCOPE_NEW_ROWS, NULL, NULL);
  assert_rule(&spec.changes[7], SCOPE_VANISHED_ROWS, NULL, "flights = 0");
}

static void changes_refused(void **state) {
  refused_with("changes: []\n", "b.yaml:6:10", "empty", "changes: []\n         ^", "changes: {avg_dep_delay");
  refused_with("changes: {}\n", "b.yaml:6:10", "nothing could be published", "changes: {}\n         ^", "changes:");
  refused_with("changes: ''\n", "b.yaml:6:10", "empty", "changes: ''\n         ^", "changes:");
  refused_with("changes: {a: no}\n", "b.yaml:6:14", "“a” is declared not to change", "changes: {a: no}\n             ^",
               "take the line out");
  refused_with("changes: {a: ''}\n", "b.yaml:6:14", "SQL of “changes” is empty", "changes: {a: ''}\n             ^",
               "changes:");
  refused_with("changes: {a: [b]}\n", "b.yaml:6:14", "must be SQL text, not a list",
               "changes: {a: [b]}\n             ^", "changes:");
  refused_with("changes: {'': yes}\n", "b.yaml:6:15", "without a name", "changes: {'': yes}\n              ^",
               "changes:");
  refused_with("changes: [a, a]\n", "b.yaml:6:14", "twice", "changes: [a, a]\n             ^", "keep one");
  refused_with("changes: {a: b, a: c}\n", "b.yaml:6:17", "the key “a” is given twice",
               "changes: {a: b, a: c}\n                ^", "keep one");
  refused_with("changes: *\n", "b.yaml:6:11", "alias", "changes: *\n          ^", "put the text into quotes: \"*\"");
}

static void sources(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec = parse_with(&arena, "sources: {flights: flight_date, weather: day}\n");
  assert_int_equal(spec.n_sources, 2);
  assert_text(spec.sources[1].table, "weather", "dir/b.yaml", 6, 33);
  assert_text(spec.sources[1].column, "day", "dir/b.yaml", 6, 42);
  refused_with("sources: flights\n", "b.yaml:6:10", "must be a map of names", "sources: flights\n         ^",
               "sources: {flights: flight_date}");
  refused_with("sources: {}\n", "b.yaml:6:10", "must be a map of names", "sources: {}\n         ^", "sources:");
  refused_with("sources: {a: }\n", "b.yaml:6:11", "one text, not nothing", "sources: {a: }\n          ^", "sources:");
  refused_with("sources: {'': a}\n", "b.yaml:6:15", "a name is missing", "sources: {'': a}\n              ^",
               "sources:");
}

static void tolerances(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec = parse_with(&arena, "tolerance: {delay: 0.01, speed: 1e-3, zero: 0}\n");
  assert_int_equal(spec.n_tolerances, 3);
  assert_text(spec.tolerances[0].column, "delay", "dir/b.yaml", 6, 13);
  assert_true(spec.tolerances[0].absolute == 0.01 && spec.tolerances[1].absolute == 1e-3 &&
              spec.tolerances[2].absolute == 0);
  static const char *const bad[] = {"-1", "x", "1x", "nan", "inf", "0x10", "1e999", "1 %", "e"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const char *line = arena_printf(&arena, "tolerance: {delay: %s}", bad[i]);
    refused_with(arena_printf(&arena, "%s\n", line), "b.yaml:6:20", "the tolerance of “delay” must be a number",
                 arena_printf(&arena, "%s\n                   ^", line), "tolerance: {avg_dep_delay: 0.01}");
  }
  refused_with("tolerance: 0.1\n", "b.yaml:6:12", "map of names", "tolerance: 0.1\n           ^", "tolerance:");
}

static void downstream(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec = parse_with(&arena, "downstream:\n- sales board\n- {name: mail, kind: job, needs: cascade}\n- name: x\n");
  assert_int_equal(spec.n_downstream, 3);
  assert_text(spec.downstream[0].name, "sales board", "dir/b.yaml", 7, 3);
  assert_string_equal(spec.downstream[0].kind, "table");
  assert_string_equal(spec.downstream[0].needs, "unknown");
  assert_text(spec.downstream[1].name, "mail", "dir/b.yaml", 8, 10);
  assert_string_equal(spec.downstream[1].kind, "job");
  assert_string_equal(spec.downstream[1].needs, "cascade");
  assert_string_equal(spec.downstream[2].needs, "unknown");
  spec = parse_with(&arena, "downstream: board\n");
  assert_text(spec.downstream[0].name, "board", "dir/b.yaml", 6, 13);
  assert_int_equal(parse_with(&arena, "downstream: []\n").n_downstream, 0);
  refused_with("downstream: [{kind: job}]\n", "b.yaml:6:14", "needs a name",
               "downstream: [{kind: job}]\n             ^", "{name: delays dashboard");
  refused_with("downstream: [{name: a, needs: refrsh}]\n", "b.yaml:6:31",
               "cannot be “refrsh”: it is one of nothing, follows, refresh",
               "downstream: [{name: a, needs: refrsh}]\n                              ^", "did you mean “refresh”?");
  refused_with("downstream: [[a]]\n", "b.yaml:6:14", "one text, not a list", "downstream: [[a]]\n             ^",
               "downstream:");
}

static void lineage_paths_and_overrides(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec =
      parse_both(&arena, LEAST CONTROL,
                 "lineage:\n  dbt: [target, /a/manifest.json]\n  openlineage: [\"http://h:5000\", e.ndjson]\n"
                 "  required: yes\n"
                 "  overrides: {monthly: {grain: month}, rolling: {window: 6, lookback: 2}, sum: {cumulative: yes}}\n");
  assert_int_equal(spec.lineage.dbt.n, 2);
  assert_string_equal(spec.lineage.dbt.items[0].text, "top/target");
  assert_string_equal(spec.lineage.dbt.items[1].text, "/a/manifest.json");
  assert_string_equal(spec.lineage.openlineage.items[0].text, "http://h:5000");
  assert_string_equal(spec.lineage.openlineage.items[1].text, "top/e.ndjson");
  assert_true(spec.lineage.required);
  assert_int_equal(spec.lineage.n_overrides, 3);
  assert_string_equal(spec.lineage.overrides[0].node.text, "monthly");
  assert_string_equal(spec.lineage.overrides[0].grain.text, "month");
  assert_int_equal(spec.lineage.overrides[1].window, 6);
  assert_int_equal(spec.lineage.overrides[1].lookback, 2);
  assert_true(spec.lineage.overrides[2].cumulative);
}

static void lineage_refused(void **state) {
  refused_pipeline("lineage: {openlineage: \"http://me:secret@h\"}\n", "tidegate.yaml:1:24",
                   "the URL of “lineage.openlineage” holds", "", "take it out");
  refused_pipeline("lineage: {overrides: {monthly: month}}\n", "tidegate.yaml:1:32", "must be a map of grain, lookback",
                   "lineage: {overrides: {monthly: month}}\n                               ^", "weekly_delays");
  refused_pipeline("lineage: {overrides: {monthly: {window: -1}}}\n", "tidegate.yaml:1:41", "window",
                   "lineage: {overrides: {monthly: {window: -1}}}\n                                        ^", "6");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(changes_as_one_column),
      cmocka_unit_test(changes_as_a_list),
      cmocka_unit_test(changes_as_a_map),
      cmocka_unit_test(changes_refused),
      cmocka_unit_test(sources),
      cmocka_unit_test(tolerances),
      cmocka_unit_test(downstream),
      cmocka_unit_test(lineage_paths_and_overrides),
      cmocka_unit_test(lineage_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
