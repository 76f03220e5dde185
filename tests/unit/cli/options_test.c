#include "cli/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct Line {
  Arena arena;
  Args args;
  Error err;
  bool ok;
} Line;

/* Parses words, "" ends them. */
static void parse(Line *line, char *const *words) {
  int n = 0;
  while (words[n] != NULL) n++;
  *line = (Line){0};
  line->ok = args_parse(&line->arena, n, words, &line->args, &line->err);
}

#define PARSE(line, ...) parse(line, (char *const[]){"tidegate", __VA_ARGS__, NULL})

static void options_stand_anywhere(void **state) {
  (void)state;
  Line line;
  PARSE(&line, "--json", "-d", "a.db", "diff", "--limit=5", "7f3a", "--date", "2013-02-01");
  assert_true(line.ok);
  assert_ptr_equal(line.args.command, &command_diff);
  assert_int_equal(line.args.n_words, 1);
  assert_string_equal(line.args.words[0], "7f3a");
  assert_true(args_has(&line.args, "json"));
  assert_false(args_has(&line.args, "quiet"));
  assert_string_equal(args_value(&line.args, "database"), "a.db");
  assert_string_equal(args_value(&line.args, "date"), "2013-02-01");
  long limit = 0;
  assert_true(args_number(&line.args, "limit", 1, 20, &limit, &line.err));
  assert_int_equal(limit, 5);
  arena_release(&line.arena);
}

static void letters_join_and_beginnings_are_enough(void **state) {
  (void)state;
  Line line;
  PARSE(&line, "diff", "-qjn3", "--data=x.db", "7f3a");
  assert_true(line.ok);
  assert_true(args_has(&line.args, "quiet") && args_has(&line.args, "json"));
  assert_string_equal(args_value(&line.args, "limit"), "3");
  assert_string_equal(args_value(&line.args, "database"), "x.db");
  arena_release(&line.arena);
}

static void two_dashes_end_the_options(void **state) {
  (void)state;
  Line line;
  PARSE(&line, "plan", "--", "--json");
  assert_true(line.ok);
  assert_string_equal(line.args.words[0], "--json");
  assert_false(args_has(&line.args, "json"));
  arena_release(&line.arena);
}

static void nothing_is_a_command_line_too(void **state) {
  (void)state;
  Line line;
  parse(&line, (char *const[]){"tidegate", NULL});
  assert_true(line.ok);
  assert_null(line.args.command);
  arena_release(&line.arena);
  PARSE(&line, "plan", "--help");
  assert_true(line.ok);
  arena_release(&line.arena);
}

static void expect_refused(Line *line, const char *message, const char *hint) {
  assert_false(line->ok);
  assert_int_equal(line->err.code, ERR_USAGE);
  assert_string_equal(line->err.message, message);
  if (strstr(error_hint_text(&line->err), hint) == NULL) fail_msg("hint: %s", error_hint_text(&line->err));
  arena_release(&line->arena);
}

static void what_is_not_known_is_refused_with_the_nearest(void **state) {
  (void)state;
  Line line;
  PARSE(&line, "paln", "x");
  expect_refused(&line, "unknown command paln", "did you mean: tidegate plan?");
  PARSE(&line, "diff", "--limt", "3", "x");
  expect_refused(&line, "unknown option --limt of diff", "did you mean --limit?");
  PARSE(&line, "plan", "-z", "x");
  expect_refused(&line, "unknown option -z", "--help");
  PARSE(&line, "diff", "--d", "x", "y");
  expect_refused(&line, "--d is the beginning of several options", "--help");
}

static void wrong_numbers_of_things_are_refused(void **state) {
  (void)state;
  Line line;
  PARSE(&line, "plan");
  expect_refused(&line, "plan needs SPEC", "tidegate plan SPEC");
  PARSE(&line, "plan", "a", "b");
  expect_refused(&line, "plan: one word too many: b", "tidegate plan SPEC");
  PARSE(&line, "plan", "a", "--json", "-j");
  expect_refused(&line, "--json is given twice", "");
  PARSE(&line, "diff", "a", "--limit");
  expect_refused(&line, "--limit needs N", "");
  PARSE(&line, "plan", "a", "--json=yes");
  expect_refused(&line, "--json takes no value", "");
}

static void numbers_are_whole_and_bounded(void **state) {
  (void)state;
  static const char *const bad[] = {"", "x", "3x", "-1", "99999999999999999999"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    Line line;
    long limit = 0;
    PARSE(&line, "diff", "a", "--limit", (char *)bad[i]);
    assert_true(line.ok);
    assert_false(args_number(&line.args, "limit", 0, 20, &limit, &line.err));
    assert_int_equal(line.err.code, ERR_USAGE);
    arena_release(&line.arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(options_stand_anywhere),
                                     cmocka_unit_test(letters_join_and_beginnings_are_enough),
                                     cmocka_unit_test(two_dashes_end_the_options),
                                     cmocka_unit_test(nothing_is_a_command_line_too),
                                     cmocka_unit_test(what_is_not_known_is_refused_with_the_nearest),
                                     cmocka_unit_test(wrong_numbers_of_things_are_refused),
                                     cmocka_unit_test(numbers_are_whole_and_bounded)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
