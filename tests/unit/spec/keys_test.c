#include "spec_test.h"

static void every_key_is_described(void **state) {
  size_t n = 0;
  for (const SpecKey *key; (key = spec_key(n)) != NULL; n++) {
    assert_true(*key->name != '\0' && *key->description != '\0' && *key->example != '\0');
    assert_null(strchr(key->description, '\n'));
    assert_true(key->where != 0);
    for (size_t i = 0; i < n; i++) assert_string_not_equal(spec_key(i)->name, key->name);
  }
  assert_true(n > 50);
  assert_null(spec_key(n));
  assert_null(spec_key(SIZE_MAX));
}

/* What the parent of an inner key asks for beside it. */
static const char *beside(const char *name) {
  static const struct {
    const char *begin, *line;
  } wanted[] = {{"recompute.shell", "command: a | b"},
                {"recompute.timeout", "command: [a]"},
                {"downstream.name", NULL},
                {"downstream.", "name: x"},
                {"gate.override", "role: r"},
                {"jobs.writes", NULL},
                {"jobs.", "writes: [x]"}};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    if (strncmp(name, wanted[i].begin, strlen(wanted[i].begin)) == 0) return wanted[i].line;
  return NULL;
}

/* A new line, this deep inside. */
static void put_indent(Buf *out, int depth) { buf_printf(out, "%*s", 2 * depth, ""); }

/* What a way of asking whether a job runs, or a shadow, needs beside one of its keys. */
static void put_company(Buf *out, int depth, const char *whole, const char *name) {
  static const char *const airflow[] = {"url: \"http://h\"", "dag: d"};
  if (strstr(whole, ".live.heartbeat") != NULL && strcmp(name, "heartbeat") == 0) {
    put_indent(out, depth);
    buf_puts(out, "heartbeat_within: 2m\n");
  }
  if (strstr(whole, ".shadow.") != NULL) {
    put_indent(out, depth);
    buf_puts(out, strcmp(name, "role") == 0 ? "parameter: p\n" : "role: r\n");
  }
  for (size_t i = 0; i < 2 && strstr(whole, ".live.airflow.") != NULL; i++) {
    if (strncmp(airflow[i], name, 3) == 0) continue;
    put_indent(out, depth);
    buf_printf(out, "%s\n", airflow[i]);
  }
}

/* "parent:\n  name: example\n", with what its parent asks for beside it. */
static const char *lines_of(Arena *arena, const SpecKey *key, const char *value) {
  BUF_SCOPED out = {0};
  const char *name = key->name;
  int depth = 0;
  for (const char *dot; (dot = strchr(name, '.')) != NULL; name = dot + 1) {
    put_indent(&out, depth++);
    buf_printf(&out, "%.*s:\n", (int)(dot - name), name);
    if (strncmp(name, "overrides.", 10) == 0) {
      put_indent(&out, depth++);
      buf_puts(&out, "weekly_delays:\n");
    }
    if (depth > 1) continue;
    if (strncmp(name, "jobs.", 5) == 0) {
      put_indent(&out, depth++);
      buf_puts(&out, "nightly_load:\n");
    }
    if (beside(key->name) == NULL) continue;
    put_indent(&out, depth);
    buf_printf(&out, "%s\n", beside(key->name));
  }
  put_company(&out, depth, key->name, name);
  put_indent(&out, depth);
  buf_printf(&out, "%s: ", name);
  for (const char *c = value; *c != '\0'; c++) {
    buf_putc(&out, *c);
    if (*c == '\n') put_indent(&out, depth);
  }
  buf_putc(&out, '\n');
  return arena_strdup(arena, buf_text(&out));
}

/* A backfill without the line that a key of the test gives again. */
static const char *backfill_around(Arena *arena, const char *name, const char *lines) {
  static const char *const least[] = {"target: t\n",  "range: 2013-02-01\n",   "wrong: w\n",
                                      "correct: c\n", "recompute: SELECT 1\n", "control: 2013-01-01\n"};
  const char *text = lines;
  for (size_t i = 0; i < sizeof least / sizeof *least; i++) {
    size_t n = strcspn(least[i], ":");
    if (strncmp(name, least[i], n) != 0 || (name[n] != '\0' && name[n] != '.'))
      text = arena_printf(arena, "%s%s", text, least[i]);
  }
  return text;
}

static void every_example_can_be_written(void **state) {
  for (size_t i = 0; spec_key(i) != NULL; i++) {
    ARENA_SCOPED arena = {0};
    const SpecKey *key = spec_key(i);
    const char *lines = lines_of(&arena, key, key->example);
    if (key->where & SPEC_IN_BACKFILL) parse_both(&arena, backfill_around(&arena, key->name, lines), NULL);
    if (key->where & SPEC_IN_PIPELINE) parse_both(&arena, LEAST CONTROL, lines);
    if (key->where & SPEC_IN_TARGET) {
      BUF_SCOPED entry = {0};
      buf_puts(&entry, "targets:\n  daily_delays:\n    ");
      for (const char *c = lines; *c != '\0'; c++) {
        buf_putc(&entry, *c);
        if (*c == '\n') buf_puts(&entry, "    ");
      }
      parse_both(&arena, LEAST CONTROL, buf_text(&entry));
    }
  }
}

static void every_default_can_be_written(void **state) {
  for (size_t i = 0; spec_key(i) != NULL; i++) {
    ARENA_SCOPED arena = {0};
    const SpecKey *key = spec_key(i);
    if (key->fallback == NULL || strcmp(key->name, "recompute.shell") == 0) continue;
    const char *lines = lines_of(&arena, key, key->fallback);
    if (key->where & SPEC_IN_BACKFILL)
      parse_both(&arena, backfill_around(&arena, key->name, lines), NULL);
    else
      parse_both(&arena, LEAST CONTROL, lines);
  }
}

static void unknown_keys_name_the_nearest(void **state) {
  refused_with("shaddow: full\n", "b.yaml:6:1", "unknown key “shaddow”", "shaddow: full\n^",
               "did you mean “shadow”? Known");
  refused_with("Owner: x\n", "b.yaml:6:1", "unknown key “Owner”", "Owner: x\n^", "did you mean “owner”?");
  refused_with("frobnicate: 1\n", "b.yaml:6:1", "unknown key", "frobnicate: 1\n^", "known here: target, range, wrong");
  refused_with("budget:\n  lokc: 1s\n", "b.yaml:7:3", "unknown key “lokc” inside “budget”", "  lokc: 1s\n  ^",
               "did you mean “lock”? Known here: batch, statement, lock,");
  refused_with("production: {scheduel: x}\n", "b.yaml:6:14", "inside “production”",
               "production: {scheduel: x}\n             ^", "did you mean “schedule”?");
  refused_with("downstream: [{nmae: x}]\n", "b.yaml:6:15", "inside “downstream”",
               "downstream: [{nmae: x}]\n              ^", "did you mean “name”?");
  refused_with("<<: {a: 1}\n", "b.yaml:6:1", "unknown key “<<”", "<<: {a: 1}\n^", "known here");
}

static void inner_keys_at_the_top_are_led_home(void **state) {
  refused_with("schedule: x\n", "b.yaml:6:1", "unknown key “schedule”", "schedule: x\n^",
               "inside “production”: schedule: \"0 2 * * *\"");
  refused_with("timeout: 5m\n", "b.yaml:6:1", "unknown key", "timeout: 5m\n^", "inside “recompute”");
}

static void keys_in_the_wrong_file(void **state) {
  refused_pipeline("range: 2013-02-01\n", "tidegate.yaml:1:1", "belongs to one backfill", "range: 2013-02-01\n^",
                   "backfill's own file");
  refused_pipeline("targets:\n  a:\n    wrong: x\n", "tidegate.yaml:3:5", "belongs to one backfill",
                   "    wrong: x\n    ^", "backfill's own file");
  refused_with("in_place: x\n", "b.yaml:6:1", "one table of the pipeline", "in_place: x\n^", "under “targets”");
  refused_pipeline("in_place: x\n", "tidegate.yaml:1:1", "one table of the pipeline", "in_place: x\n^",
                   "under “targets”");
  refused_with("targets: {a: }\n", "b.yaml:6:1", "top of tidegate.yaml only", "targets: {a: }\n^", "move it");
  refused_pipeline("targets: {a: {targets: {b: }}}\n", "tidegate.yaml:1:15", "top of tidegate.yaml only",
                   "targets: {a: {targets: {b: }}}\n              ^", "move it");
}

static void keys_without_a_value(void **state) {
  refused_with("owner:\n", "b.yaml:6:1", "“owner” has no value", "owner:\n^",
               "owner: data-platform (or take the line out)");
  refused_with("budget: {lag: ~}\n", "b.yaml:6:15", "“budget.lag” has no value", "budget: {lag: ~}\n              ^",
               "inside “budget”: lag: 10s");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_key_is_described),
      cmocka_unit_test(every_example_can_be_written),
      cmocka_unit_test(every_default_can_be_written),
      cmocka_unit_test(unknown_keys_name_the_nearest),
      cmocka_unit_test(inner_keys_at_the_top_are_led_home),
      cmocka_unit_test(keys_in_the_wrong_file),
      cmocka_unit_test(keys_without_a_value),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
