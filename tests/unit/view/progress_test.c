#include "view/progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const RunProgress half = {
    .dates_done = 2, .dates = 4, .rows_done = 50, .rows = 100, .changes = 7, .remaining = 12, .doing = "3 Feb 2013"};

static void the_bar_is_drawn_on_a_terminal_only(void **state) {
  (void)state;
  BUF_SCOPED bar = {0}, line = {0};
  progress_line(&bar, &half, true, 120);
  progress_line(&line, &half, false, 0);
  assert_string_equal(buf_text(&bar), "[##########..........] 2 of 4 dates, 7 changes, about 12 s to go: 3 Feb 2013");
  assert_string_equal(buf_text(&line), "2 of 4 dates, 50 of 100 rows, 7 changes, about 12 s to go: 3 Feb 2013");
}

static void what_is_not_known_is_said_to_be_so(void **state) {
  (void)state;
  BUF_SCOPED out = {0};
  RunProgress now = half;
  now.remaining = -1;
  progress_line(&out, &now, false, 0);
  assert_non_null(strstr(buf_text(&out), "time to go not known yet"));
}

static void on_a_terminal_of_80_columns_it_says_for_what_it_waits(void **state) {
  (void)state;
  BUF_SCOPED waits = {0}, rests = {0};
  RunProgress now = half;
  now.waiting = true;
  now.doing = "the job load, which writes daily_delays, is running";
  progress_line(&waits, &now, true, 80);
  assert_string_equal(buf_text(&waits), "2 of 4 dates, 7 changes: the job load, which writes daily_delays, is running");
  assert_true(waits.len < 80);
  now.doing = "resting";
  progress_line(&rests, &now, true, 80);
  assert_string_equal(buf_text(&rests), "[##########..........] 2 of 4 dates, 7 changes, about 12 s to go: resting");
}

/* Everything that is written for a sequence of reports. */
static void record(Progress *progress, const RunProgress *reports, size_t n, char *ret, size_t size) {
  char *text = NULL;
  size_t length = 0;
  progress->file = open_memstream(&text, &length);
  for (size_t i = 0; i < n; i++) progress_show(progress, &reports[i]);
  progress_end(progress);
  fclose(progress->file);
  snprintf(ret, size, "%s", text);
  free(text);
}

static void elsewhere_one_line_a_batch_and_one_for_waiting(void **state) {
  (void)state;
  char text[1024];
  Progress progress = {.dates_shown = -1};
  RunProgress waiting = half;
  waiting.waiting = true;
  waiting.doing = "production runs until 03:05";
  RunProgress first = half;
  first.dates_done = 1;
  const RunProgress reports[] = {first, first, half, half, waiting, waiting};
  record(&progress, reports, 6, text, sizeof text);
  assert_string_equal(text,
                      "2 of 4 dates, 50 of 100 rows, 7 changes, about 12 s to go: 3 Feb 2013\n"
                      "2 of 4 dates, 50 of 100 rows, 7 changes, about 12 s to go: production runs until 03:05\n");
}

static void on_a_terminal_the_line_is_written_over_and_never_wider(void **state) {
  (void)state;
  char text[1024];
  Progress progress = {.dates_shown = -1, .terminal = true, .width = 30};
  record(&progress, &half, 1, text, sizeof text);
  assert_string_equal(text, "\r2 of 4 dates, 7 changes, abou\x1b[K\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_bar_is_drawn_on_a_terminal_only),
                                     cmocka_unit_test(what_is_not_known_is_said_to_be_so),
                                     cmocka_unit_test(on_a_terminal_of_80_columns_it_says_for_what_it_waits),
                                     cmocka_unit_test(elsewhere_one_line_a_batch_and_one_for_waiting),
                                     cmocka_unit_test(on_a_terminal_the_line_is_written_over_and_never_wider)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
