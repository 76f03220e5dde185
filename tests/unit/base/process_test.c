#include "base/process.h"

#include "base_test.h"

static const ProcessVariable variables[] = {{"{from}", "TIDEGATE_FROM", "2024-01-10"},
                                            {"{to}", "TIDEGATE_TO", "2024-01-12"},
                                            {"{to_inclusive}", "TIDEGATE_TO_INCLUSIVE", "2024-01-11"}};
enum { N = sizeof variables / sizeof *variables };

static const char *fill(Arena *arena, const char *word) { return process_fill(arena, word, variables, N); }

static void places_are_filled(void **state) {
  ARENA_SCOPED arena = {0};
  assert_string_equal(fill(&arena, "{from}"), "2024-01-10");
  assert_string_equal(fill(&arena, "--dates={from}..{to_inclusive}"), "--dates=2024-01-10..2024-01-11");
  assert_string_equal(fill(&arena, "{from}{to}"), "2024-01-102024-01-12");
}

static void all_else_stays(void **state) {
  ARENA_SCOPED arena = {0};
  static const char *const words[] = {"", "plain", "{other}", "{from", "from}", "{ from }", "{}"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) assert_string_equal(fill(&arena, words[i]), words[i]);
}

static void what_belongs_to_the_shell_stays(void **state) {
  ARENA_SCOPED arena = {0};
  assert_string_equal(fill(&arena, "${from} {from}"), "${from} 2024-01-10");
}

static ProcessRules rules(void) {
  return (ProcessRules){.variables = variables, .n = N, .timeout = 60, .timeout_name = "the test"};
}

static void the_command_finds_the_same_in_its_environment(void **state) {
  BUF_SCOPED log = {0};
  Error err;
  ProcessRules all = rules();
  char *argv[] = {"/bin/sh", "-c", "echo $TIDEGATE_FROM ${TIDEGATE_TO_INCLUSIVE}", NULL};
  assert_true(process_run(argv, &all, &log, &err));
  assert_string_equal(buf_text(&log), "2024-01-10 2024-01-11\n");
}

static void a_status_and_the_end_of_the_output_are_told(void **state) {
  BUF_SCOPED log = {0};
  Error err = {0};
  ProcessRules all = rules();
  char *argv[] = {"/bin/sh", "-c", "echo no such day >&2; exit 3", NULL};
  assert_false(process_run(argv, &all, &log, &err));
  assert_int_equal(err.code, ERR_COMMAND);
  assert_non_null(strstr(err.message, "exit status 3: no such day"));
}

static void a_status_may_be_the_answer(void **state) {
  BUF_SCOPED log = {0};
  Error err = {0};
  int status = -1;
  ProcessRules all = rules();
  char *asked[] = {"/bin/sh", "-c", "exit 3", NULL}, *killed[] = {"/bin/sh", "-c", "echo secret; kill -9 $$", NULL};
  assert_true(process_status(asked, &all, &log, &status, &err));
  assert_int_equal(status, 3);
  assert_false(process_status(killed, &all, &log, &status, &err));
  assert_int_equal(err.code, ERR_COMMAND);
  assert_non_null(strstr(err.message, "killed by signal 9"));
  assert_null(strstr(err.message, "secret"));
  assert_int_equal(status, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(places_are_filled),
      cmocka_unit_test(all_else_stays),
      cmocka_unit_test(what_belongs_to_the_shell_stays),
      cmocka_unit_test(the_command_finds_the_same_in_its_environment),
      cmocka_unit_test(a_status_and_the_end_of_the_output_are_told),
      cmocka_unit_test(a_status_may_be_the_answer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
