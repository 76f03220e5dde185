#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "gate/command/command.h"

/* What is decided from the text and tidegate.yaml alone; what the database proves is in tests/flow/gate_test.py. */

static char folder[] = "/tmp/tidegate-judge.XXXXXX";

static int make_folder(void **state) { return mkdtemp(folder) == NULL; }
static int drop_folder(void **state) { return rmdir(folder); }

static CommandVerdict judge(Arena *arena, const char *text, bool can_ask) {
  CommandVerdict ret;
  Error err;
  CommandAsk ask = {.text = text, .n = strlen(text), .place = "test", .directory = folder, .can_ask = can_ask};
  if (!command_judge(arena, &ask, &ret, &err)) fail_msg("%s: %s", text, err.message);
  return ret;
}

/* The first rule that matched; "" when none did. */
static const char *rule(const char *text, CommandDecision want) {
  static char name[64];
  ARENA_SCOPED arena = {0};
  CommandVerdict verdict = judge(&arena, text, false);
  if (verdict.decision != want) fail_msg("%s: %s", text, command_decision_name(verdict.decision));
  strncpy(name, verdict.n == 0 ? "" : verdict.reasons[0].rule, sizeof name - 1);
  return name;
}

static void harmless_commands_pass(void **state) {
  static const char *const texts[] = {"",
                                      "ls",
                                      "airflow dags list",
                                      "echo airflow dags backfill",
                                      "grep -r backfill .",
                                      "psql -c \"DELETE FROM unknown WHERE day >= '2024-01-01'\"",
                                      "airflow dags backfill --help"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) assert_string_equal(rule(texts[i], COMMAND_ALLOW), "");
}

static void the_text_decides_first(void **state) {
  static const char *const texts[][2] = {
      {"airflow dags backfill sales", "dates"},
      {"airflow dags backfill -s 2024-01-01 sales", "dates"},
      {"airflow dags backfill -s 2024-01-02 -e 2024-01-01 sales", "dates"},
      {"airflow dags backfill -s $(date +%F) -e 2024-01-01 sales", "dates"},
      {"airflow dags backfill -s 2024-01-01 -e 2024-01-02 sales", "pipeline"},
      {"airflow dags backfill -s 2024-01-01 -e 2024-01-02 --reset-dagruns sales", "danger"},
      {"dbt run --select a --full-refresh", "dates"},
      {"$TOOL dags backfill -s 2024-01-01 -e 2024-01-02 sales", "not-understood"}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    assert_string_equal(rule(texts[i][0], COMMAND_DENY), texts[i][1]);
}

static void a_person_decides_where_one_can_be_asked(void **state) {
  ARENA_SCOPED arena = {0};
  static const char doubtful[] = "$TOOL dags backfill -s 2024-01-01 -e 2024-01-02 sales";
  assert_int_equal(judge(&arena, doubtful, true).decision, COMMAND_ASK);
  assert_int_equal(judge(&arena, doubtful, false).decision, COMMAND_DENY);
  /* Never what must be denied anyway. */
  assert_int_equal(judge(&arena, "airflow dags backfill --reset-dagruns sales", true).decision, COMMAND_DENY);
}

static void a_request_is_judged_as_it_was_understood(void **state) {
  ARENA_SCOPED arena = {0};
  CommandVerdict verdict;
  Error err;
  const Trigger item = {.sure = true, .system = "airflow3 API", .target = "sales", .from = "2024-01-01"};
  const TriggerReport report = {.verdict = TRIGGER_YES, .items = &item, .n = 1};
  CommandAsk ask = {.place = "airflow", .directory = folder, .report = &report};
  assert_true(command_judge(&arena, &ask, &verdict, &err));
  assert_int_equal(verdict.decision, COMMAND_DENY);
  assert_string_equal(verdict.reasons[0].rule, "dates");
}

/* A loop of many turns is many commands: they are judged in time, and not all of them are told. */
static void a_long_loop_is_told_in_short(void **state) {
  ARENA_SCOPED arena = {0};
  BUF_SCOPED line = {0}, text = {0};
  buf_puts(&line, "for d in");
  for (int i = 0; i < 400; i++) buf_printf(&line, " job%d", i);
  buf_puts(&line, "; do airflow dags backfill $d; done");
  CommandVerdict verdict = judge(&arena, buf_text(&line), false);
  command_text(&verdict, &text);
  assert_int_equal(verdict.decision, COMMAND_DENY);
  assert_true(verdict.report.n > 100 && verdict.n <= 20 && text.len < 8192);
  assert_non_null(strstr(buf_text(&text), "more\n"));
}

static void the_verdict_is_told(void **state) {
  ARENA_SCOPED arena = {0};
  BUF_SCOPED text = {0}, json_text = {0};
  Json json = {.out = &json_text};
  CommandVerdict verdict = judge(&arena, "airflow dags backfill -s 2024-01-01 sales", false);
  command_text(&verdict, &text);
  command_json(&verdict, &json);
  assert_non_null(strstr(buf_text(&text), "DENIED  airflow2 sales from 2024-01-01\n  dates: only the first date"));
  assert_non_null(strstr(buf_text(&json_text), "\"decision\":\"deny\""));
  assert_non_null(strstr(buf_text(&json_text), "\"rule\":\"dates\""));
  buf_clear(&text);
  verdict = judge(&arena, "ls", false);
  command_text(&verdict, &text);
  assert_string_equal(buf_text(&text), "");
}

static void the_rules_are_listed(void **state) {
  size_t n;
  const CommandRuleFacts *rules = command_rules(&n);
  assert_true(n >= 13);
  for (size_t i = 0; i < n; i++)
    assert_true(*rules[i].name != '\0' && *rules[i].needs != '\0' && *rules[i].what != '\0');
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(harmless_commands_pass),
                                     cmocka_unit_test(the_text_decides_first),
                                     cmocka_unit_test(a_person_decides_where_one_can_be_asked),
                                     cmocka_unit_test(a_request_is_judged_as_it_was_understood),
                                     cmocka_unit_test(a_long_loop_is_told_in_short),
                                     cmocka_unit_test(the_verdict_is_told),
                                     cmocka_unit_test(the_rules_are_listed)};
  return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
