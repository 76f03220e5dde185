#include "view/paint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect_escaped(const char *text, const char *expected) {
  BUF_SCOPED out = {0};
  paint_escape(&out, text);
  assert_string_equal(buf_text(&out), expected);
}

static void nothing_that_a_terminal_would_act_on_gets_through(void **state) {
  (void)state;
  expect_escaped("plain – Zürich ✓", "plain – Zürich ✓");
  expect_escaped("\x1b[2Jgone", "\\x1b[2Jgone");
  expect_escaped("a\rb\nc\td\x7f", "a\\rb\\nc\\td\\x7f");
  expect_escaped(
      "c1 \xC2\x9B"
      "31m",
      "c1 \\x9b31m");
  expect_escaped("evil \xE2\x80\xAE txt", "evil \\u202e txt");
  expect_escaped("zero\xE2\x80\x8Bwidth", "zero\\u200bwidth");
  expect_escaped("bad \xFF\xC0\xAF \xED\xA0\x80", "bad \\xff\\xc0\\xaf \\xed\\xa0\\x80");
  expect_escaped(NULL, "NULL");
}

static void columns_are_counted_not_bytes(void **state) {
  (void)state;
  assert_int_equal(paint_columns("Zürich"), 6);
  assert_int_equal(paint_columns("日本"), 4);
  assert_int_equal(paint_columns("e\xCC\x81"), 1);
}

static void lines_wrap_under_themselves(void **state) {
  (void)state;
  BUF_SCOPED out = {0};
  Paint paint = {.out = &out, .width = 60};
  paint_line(&paint, "wrong", "%s", "one two three four five six seven eight nine ten eleven\ntwelve\n");
  assert_string_equal(buf_text(&out),
                      "wrong     one two three four five six seven eight nine ten\n"
                      "          eleven twelve\n");
}

static void a_label_may_be_longer_than_its_column_and_a_text_empty(void **state) {
  (void)state;
  BUF_SCOPED out = {0};
  Paint paint = {.out = &out};
  paint_line(&paint, "much too long", "%s", "x");
  paint_line(&paint, "empty", "%s", "");
  assert_string_equal(buf_text(&out), "much too long x\nempty\n");
}

static void colours_only_when_asked_for(void **state) {
  (void)state;
  BUF_SCOPED plain = {0}, coloured = {0};
  paint_verdict(&(Paint){.out = &plain}, STYLE_BAD, "DENY", "%s", "no");
  paint_verdict(&(Paint){.out = &coloured, .colour = true}, STYLE_BAD, "DENY", "%s", "no");
  assert_string_equal(buf_text(&plain), "DENY      no\n");
  assert_string_equal(buf_text(&coloured), "\x1b[31mDENY\x1b[0m      no\n");
}

static void no_color_and_dumb_terminals_are_respected(void **state) {
  (void)state;
  setenv("TERM", "xterm", 1);
  unsetenv("NO_COLOR");
  assert_true(paint_wants_colour(true));
  assert_false(paint_wants_colour(false));
  setenv("NO_COLOR", "", 1);
  assert_true(paint_wants_colour(true));
  setenv("NO_COLOR", "1", 1);
  assert_false(paint_wants_colour(true));
  unsetenv("NO_COLOR");
  setenv("TERM", "dumb", 1);
  assert_false(paint_wants_colour(true));
}

static void tables_align_and_cut(void **state) {
  (void)state;
  static const char *const heads[] = {"name", "rows", "note"};
  static const char *const cells[] = {"Zürich", "5", NULL, "a\nb", "1000", "0123456789012345678901234567890123456789+"};
  BUF_SCOPED out = {0};
  Table table = {.heads = heads, .cells = cells, .columns = 3, .rows = 2, .right = 1U << 1, .indent = 2};
  paint_table(&(Paint){.out = &out}, &table);
  assert_string_equal(buf_text(&out),
                      "  name    rows  note\n"
                      "  Zürich     5\n"
                      "  a\\nb    1000  012345678901234567890123456789012345678…\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_that_a_terminal_would_act_on_gets_through),
                                     cmocka_unit_test(columns_are_counted_not_bytes),
                                     cmocka_unit_test(lines_wrap_under_themselves),
                                     cmocka_unit_test(a_label_may_be_longer_than_its_column_and_a_text_empty),
                                     cmocka_unit_test(colours_only_when_asked_for),
                                     cmocka_unit_test(no_color_and_dumb_terminals_are_respected),
                                     cmocka_unit_test(tables_align_and_cut)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
