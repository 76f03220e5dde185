#include "spec_test.h"

static void words_out_of_a_few(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec = parse_with(&arena, "shadow: full\ntriggers: skip\ngrain: month\ndate_kind: julian_day\n");
  assert_true(spec.full_shadow);
  assert_int_equal(spec.triggers, TRIGGERS_SKIP);
  assert_text(spec.grain, "month", "dir/b.yaml", 8, 8);
  assert_text(spec.date_kind, "julian_day", "dir/b.yaml", 9, 12);
  assert_false(parse_with(&arena, "shadow: thin\n").full_shadow);
  assert_int_equal(parse_with(&arena, "triggers: fire\n").triggers, TRIGGERS_FIRE);
  assert_string_equal(parse_with(&arena, "production: {dialect: vixie}\n").production.when.dialect, "vixie");
  refused_with("shadow: fat\n", "b.yaml:6:9", "cannot be “fat”: it is one of thin, full", "shadow: fat\n        ^",
               "shadow: full");
  refused_with("triggers: skipp\n", "b.yaml:6:11", "one of deny, fire, skip", "triggers: skipp\n          ^",
               "did you mean “skip”?");
  refused_with("grain: dya\n", "b.yaml:6:8", "one of hour, day, week, month, year", "grain: dya\n       ^",
               "did you mean “day”?");
  refused_with("date_kind: unixseconds\n", "b.yaml:6:12", "one of date, timestamp",
               "date_kind: unixseconds\n           ^", "did you mean “unix_seconds”?");
  refused_with("production: {dialect: quarz}\n", "b.yaml:6:23", "“production.dialect” cannot be “quarz”",
               "production: {dialect: quarz}\n                      ^", "did you mean “quartz”?");
  refused_with("grain: [day]\n", "b.yaml:6:8", "one text, not a list", "grain: [day]\n       ^", "grain: day");
}

static void groups_must_be_maps(void **state) {
  refused_with("budget: 60s\n", "b.yaml:6:9", "“budget” must be a map", "budget: 60s\n        ^",
               "budget: {batch: 60s");
  refused_with("sample: [a]\n", "b.yaml:6:9", "“sample” must be a map", "sample: [a]\n        ^", "sample:");
  refused_with("checks: {}\n", "b.yaml:6:9", "“checks” is empty", "checks: {}\n        ^", "checks:");
}

static void allow(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec = parse_with(&arena, "allow: {emptied_dates: [2013-02-14, 2013-02-20..2013-02-21], null_dates: yes}\n");
  assert_int_equal(spec.allow_emptied.n, 2);
  assert_text(spec.allow_emptied.items[1], "2013-02-20..2013-02-21", "dir/b.yaml", 6, 37);
  assert_true(spec.allow_null_dates);
  assert_false(spec.allow_null_keys);
}

static void idle(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec = parse_with(&arena, "idle: 22:00-06:00\nproduction: {zone: Europe/Berlin}\n");
  assert_text(spec.idle, "22:00-06:00", "dir/b.yaml", 6, 7);
  assert_string_equal(spec.idle_zone.text, "Europe/Berlin");
  spec = parse_with(&arena, "idle: {hours: 22:00-06:00, zone: UTC}\nproduction: {zone: Europe/Berlin}\n");
  assert_string_equal(spec.idle.text, "22:00-06:00");
  assert_text(spec.idle_zone, "UTC", "dir/b.yaml", 6, 34);
  assert_null(parse_with(&arena, "idle: 22:00-06:00\n").idle_zone.text);
  refused_with("idle: [a]\n", "b.yaml:6:7", "must be a map", "idle: [a]\n      ^", "idle: 22:00-06:00");
}

static void production(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec =
      parse_with(&arena,
                 "production:\n  schedule: 0 2 * * *\n  zone: America/New_York\n  p95: 20m\n  guard: 5m\n  jitter: 1m\n"
                 "  running: SELECT 0\n  lookback: 3\n  lookback_fixed: yes\n");
  assert_text(spec.production.when.expression, "0 2 * * *", "dir/b.yaml", 7, 13);
  assert_text(spec.production.when.zone, "America/New_York", "dir/b.yaml", 8, 9);
  assert_text(spec.production.live.running, "SELECT 0", "dir/b.yaml", 12, 12);
  assert_true(spec.production.when.p95 == 1200 && spec.production.when.guard == 300 &&
              spec.production.when.jitter == 60);
  assert_int_equal(spec.production.lookback, 3);
  assert_true(spec.production.lookback_fixed);
  assert_false(spec.production.none);
  assert_true(parse_with(&arena, "production: none\n").production.none);
  refused_with("production: nightly\n", "b.yaml:6:13", "must be none or a map", "production: nightly\n            ^",
               "schedule");
  refused_with("production: {}\n", "b.yaml:6:13", "“production” is empty", "production: {}\n            ^", "schedule");
}

/* The backfill without its recompute; what is added stands from line 6. */
#define NO_RECOMPUTE "target: t\nrange: r\nwrong: w\ncorrect: c\ncontrol: d\n"

static void recompute_in_its_forms(void **state) {
  ARENA_SCOPED arena = {0};
  Spec spec = parse_both(&arena, NO_RECOMPUTE "recompute: |\n  SELECT 1\n  , 2\n", NULL);
  assert_text(spec.recompute.sql, "SELECT 1\n, 2\n", "dir/b.yaml", 7, 3);
  assert_int_equal(spec.recompute.command.n, 0);
  spec = parse_both(&arena, NO_RECOMPUTE "recompute: {sql: SELECT 1}\n", NULL);
  assert_text(spec.recompute.sql, "SELECT 1", "dir/b.yaml", 6, 18);
  spec = parse_both(&arena, NO_RECOMPUTE "recompute: {command: [dbt, run, '', 7, run]}\n", NULL);
  assert_null(spec.recompute.sql.text);
  assert_int_equal(spec.recompute.command.n, 5);
  assert_text(spec.recompute.command.items[1], "run", "dir/b.yaml", 6, 28);
  assert_string_equal(spec.recompute.command.items[2].text, "");
  assert_false(spec.recompute.shell);
  assert_true(spec.recompute.timeout == 600);
  spec = parse_both(&arena, NO_RECOMPUTE "recompute: {command: a | b, shell: yes, timeout: 1h}\n", NULL);
  assert_int_equal(spec.recompute.command.n, 1);
  assert_text(spec.recompute.command.items[0], "a | b", "dir/b.yaml", 6, 22);
  assert_true(spec.recompute.shell);
  assert_true(spec.recompute.timeout == 3600);
}

static void recompute_refused(void **state) {
  static const struct {
    const char *value;
    int column;
    const char *message, *hint;
  } cases[] = {
      {"{sql: SELECT 1, command: [a]}", 37, "both sql and command", "keep the one"},
      {"{shell: yes}", 12, "neither sql nor command", "recompute: |"},
      {"{}", 12, "“recompute” is empty", "recompute: |"},
      {"{sql: SELECT 1, timeout: 5m}", 37, "go with a command", "budget.statement"},
      {"{sql: SELECT 1, shell: no}", 35, "go with a command", "take the line out"},
      {"{command: a b}", 22, "needs a shell", "add: shell: yes"},
      {"{command: [a], shell: yes}", 22, "must be one text", "take out: shell: yes"},
      {"{command: []}", 22, "one text, not a list", "command: [dbt"},
      {"{command: [a, ~]}", 26, "an argument of “recompute.command” must be a text", "quotes"},
      {"{command: ['', a]}", 23, "is empty", "command: [dbt"},
      {"{command: {a: b}}", 22, "not a mapping", "command: [dbt"},
      {"[SELECT 1]", 12, "must be SQL text, not a list", "recompute: |"},
      {"{command: [a], timeout: 0}", 36, "0 would mean no limit", "timeout: 10m"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ARENA_SCOPED arena = {0};
    refused_backfill(arena_printf(&arena, "%srecompute: %s\n", NO_RECOMPUTE, cases[i].value),
                     arena_printf(&arena, "b.yaml:6:%d", cases[i].column), cases[i].message,
                     arena_printf(&arena, "recompute: %s\n%*s^", cases[i].value, cases[i].column - 1, ""),
                     cases[i].hint);
  }
}

static void databases_are_found_from_their_file(void **state) {
  static const struct {
    const char *written, *in_backfill, *in_pipeline;
  } cases[] = {{"x.db", "dir/x.db", "top/x.db"},
               {"../a b.db", "dir/../a b.db", "top/../a b.db"},
               {"/abs/x.db", "/abs/x.db", "/abs/x.db"},
               {"sqlite:x.db", "dir/x.db", "top/x.db"},
               {"sqlite:///abs/x.db", "/abs/x.db", "/abs/x.db"},
               {"sqlite://x.db", "dir/x.db", "top/x.db"},
               {"postgresql://host/name", "postgresql://host/name", "postgresql://host/name"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ARENA_SCOPED arena = {0};
    const char *line = arena_printf(&arena, "database: %s\n", cases[i].written);
    Spec spec = parse_with(&arena, line);
    assert_text(spec.database, cases[i].written, "dir/b.yaml", 6, 11);
    assert_string_equal(spec.database_path, cases[i].in_backfill);
    spec = parse_both(&arena, LEAST CONTROL, line);
    assert_text(spec.database, cases[i].written, "top/tidegate.yaml", 1, 11);
    assert_string_equal(spec.database_path, cases[i].in_pipeline);
  }
  ARENA_SCOPED arena = {0};
  Spec spec;
  Error err;
  assert_true(spec_parse(&arena, "b.yaml", LEAST CONTROL "database: x.db\n", NULL, NULL, &spec, &err));
  assert_string_equal(spec.database_path, "x.db");
  refused_with("database: 'sqlite:'\n", "b.yaml:6:11", "names no file", "database: 'sqlite:'\n          ^",
               "flights.db");
}

/* The line of a password is never shown again. */
static void passwords_are_refused(void **state) {
  static const char *const urls[] = {
      "postgresql://me:hush@host/name",       "postgres://me:hu?sh@host:5432",
      "postgresql://host/name?password=hush", "postgresql://host/name?sslmode=require&p%61ssword=hush",
      "postgresql:///name?sslpassword=hush",  "mysql://me:hush@host/name"};
  static const char *const fine[] = {"postgresql://me@host:5432/name?sslmode=require", "postgresql://host:5432/a:b@c",
                                     "postgresql:///?service=nightly&passfile=/etc/pgpass", "postgresql://[::1]:5432/x",
                                     "postgresql://me:@host/name"};
  for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
    ARENA_SCOPED arena = {0};
    Error err;
    Spec spec;
    const char *text = backfill_with(&arena, arena_printf(&arena, "database: %s\n", urls[i]));
    if (spec_parse(&arena, "b.yaml", text, NULL, NULL, &spec, &err)) fail_msg("not refused: %s", urls[i]);
    assert_refusal(&err, "b.yaml:6:11", "holds a password", "", "~/.pgpass");
    if (strstr(err.message, "hu") != NULL || strstr(err.hint, "hu") != NULL) fail_msg("shown: %s", urls[i]);
  }
  for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
    ARENA_SCOPED arena = {0};
    Spec spec = parse_with(&arena, arena_printf(&arena, "database: %s\n", fine[i]));
    assert_string_equal(spec.database_path, fine[i]);
  }
}

static void postgres(void **state) {
  ARENA_SCOPED arena = {0};
  const char *pipeline =
      "postgres: {schema: ops, tablespace: slow}\ntargets:\n  daily_delays:\n    postgres: {tablespace: fast, shadow: "
      "unlogged}\n";
  Spec spec = parse_both(&arena, LEAST CONTROL, pipeline);
  assert_text(spec.postgres.schema, "ops", "top/tidegate.yaml", 1, 20);
  assert_text(spec.postgres.tablespace, "fast", "top/tidegate.yaml", 4, 28);
  assert_true(spec.postgres.unlogged);
  spec = parse_both(&arena, LEAST CONTROL, "postgres: {shadow: logged}\n");
  assert_string_equal(spec.postgres.schema.text, "tidegate");
  assert_null(spec.postgres.tablespace.text);
  assert_false(spec.postgres.unlogged);
  refused_with("postgres: {tablespace: x}\n", "b.yaml:6:1", "belongs to the pipeline", "postgres: {tablespace: x}\n^",
               "the target's entry");
  refused_pipeline("postgres: {shadow: unloged}\n", "tidegate.yaml:1:20", "one of logged, unlogged",
                   "postgres: {shadow: unloged}\n                   ^", "did you mean “unlogged”?");
  refused_pipeline("targets: {a: {postgres: {schema: x}}}\n", "tidegate.yaml:1:26", "at the top of tidegate.yaml only",
                   "targets: {a: {postgres: {schema: x}}}\n                         ^", "move it to the top");
}

static void targets_refused(void **state) {
  refused_pipeline("targets: {}\n", "tidegate.yaml:1:10", "“targets” is empty", "targets: {}\n         ^",
                   "daily_delays");
  refused_pipeline("targets: [a]\n", "tidegate.yaml:1:10", "must be a map", "targets: [a]\n         ^", "daily_delays");
  refused_pipeline("targets: {a: b}\n", "tidegate.yaml:1:14", "the entry of “a” must be a map",
                   "targets: {a: b}\n             ^", "daily_delays");
  refused_pipeline("targets: {other: {grain: dya}}\n", "tidegate.yaml:1:26", "cannot be “dya”",
                   "targets: {other: {grain: dya}}\n                         ^", "day");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(words_out_of_a_few),
      cmocka_unit_test(groups_must_be_maps),
      cmocka_unit_test(allow),
      cmocka_unit_test(idle),
      cmocka_unit_test(production),
      cmocka_unit_test(recompute_in_its_forms),
      cmocka_unit_test(recompute_refused),
      cmocka_unit_test(databases_are_found_from_their_file),
      cmocka_unit_test(passwords_are_refused),
      cmocka_unit_test(postgres),
      cmocka_unit_test(targets_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
