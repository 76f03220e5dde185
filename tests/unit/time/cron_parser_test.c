#include "dialect_cases.h"

/* README.md and src/ of cron-parser 5. The new year of 2024 is a Monday. */

static void spellings_of_one_schedule(void **state) {
  static const char *const pairs[][2] = {{"@yearly", "0 0 0 1 1 *"},
                                         {"@annually", "0 0 1 1 *"},
                                         {"@monthly", "0 0 1 * *"},
                                         {"@weekly", "0 0 * * 0"},
                                         {"@daily", "0 0 * * *"},
                                         {"@hourly", "0 * * * *"},
                                         {"@minutely", "* * * * *"},
                                         {"@secondly", "* * * * * *"},
                                         {"@weekdays", "0 0 * * mon-fri"},
                                         {"@weekends", "0 0 * * SAT,sun"},
                                         {"? 2 ? * ?", "* 2 * * *"},
                                         {"0 0 * * 5-7", "0 0 * * 0,5,6"},
                                         {"0 0 * * 7", "0 0 * * 0"},
                                         {"5/15 * * * *", "5,20,35,50 * * * *"},
                                         {"0 0 * * 1/2", "0 0 * * 0,1,3,5"},
                                         {"0 0 1 Jan,mar *", "0 0 1 1,3 *"},
                                         {"0 0 * * 5L", "0 0 * * FRIL"}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) assert_same("cron-parser", pairs[i][0], pairs[i][1]);
}

static void the_days(void **state) {
  static const char *const known[][2] = {{"0 0 L * *", "01-31 02-29 03-31"},
                                         {"0 0 15,L * *", "01-15 01-31"},
                                         {"0 0 * * 1#1", "01-01 02-05"},
                                         {"0 0 * * 5L", "01-26 02-23"},
                                         {"0 0 * * 1,5L", "01-01 01-08 01-15 01-22 01-26"},
                                         {"0 0 13 * 5", "01-05 01-12 01-13"},
                                         {"0 0 13 * ?", "01-13 02-13"},
                                         {"0 0 */10 * 5", "01-01 01-05 01-11"},
                                         {"0 0 L * 1#1", "01-01 01-31 02-05"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) assert_days("cron-parser", known[i][0], known[i][1]);
}

/* A missing time: moved. A doubled one: once, first. With every hour: by the time that passed. */
static void gaps_and_folds(void **state) {
  assert_fires_at("cron-parser", "30 2 * * *", "Europe/Berlin", "2025-03-29T12:00:00Z",
                  "2025-03-30T03:30:00+02:00;2025-03-31T02:30:00+02:00");
  assert_fires_at("cron-parser", "30 2 * * *", "Europe/Berlin", "2025-10-25T12:00:00Z",
                  "2025-10-26T02:30:00+02:00;2025-10-27T02:30:00+01:00");
  assert_fires_at("cron-parser", "30 * * * *", "Europe/Berlin", "2025-10-26T01:30:00+02:00",
                  "2025-10-26T02:30:00+02:00;2025-10-26T02:30:00+01:00;2025-10-26T03:30:00+01:00");
  assert_fires_at("cron-parser", "15 30 * * * *", "Europe/Berlin", "2025-03-30T01:30:00+01:00",
                  "2025-03-30T01:30:15+01:00;2025-03-30T03:30:15+02:00");
}

static void refused_with_the_reason(void **state) {
  static const struct {
    const char *expression, *message, *hint;
  } refused[] = {{"", "not 0", "at least"},
                 {"* * * *", "not 4", "at least"},
                 {"* * * * * * *", "not 7", "at least"},
                 {"H * * * *", "hash", "pause"},
                 {"H/5 * * * *", "hash", "pause"},
                 {"@reboot", "cannot be predicted", "pause"},
                 {"@Daily", "not a shorthand", "@daily"},
                 {"60 * * * *", "60 is not", "minute"},
                 {"* * * * 8", "8 is not", "minute"},
                 {"22-4 * * * * *", "ends before it begins", "list"},
                 {"* * * * sat-mon", "ends before it begins", "list"},
                 {"*/0 * * * *", "step of 0", "1 or more"},
                 {"*/ * * * *", "not understood", "steps"},
                 {"1,1 * * * *", "twice", "once"},
                 {"1-5,3 * * * *", "twice", "once"},
                 {"0 0 * * 0,7", "twice", "once"},
                 {"0 0 * * 5L,5L", "twice", "once"},
                 {"0 0 L,L * *", "twice", "once"},
                 {"0 0 15W * *", "'W'", "14-16"},
                 {"0 0 * * L", "'L'", "28-31"},
                 {"0 0 * * 1#6", "'#'", "5#2"},
                 {"0 0 * * 1#2,3", "'#'", "5#2"},
                 {"0 0 * * 1,2#2", "'#'", "5#2"},
                 {"1,,2 * * * *", "not understood", "lists"},
                 {"0 0 30 2 *", "never fires", "correct"}};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    assert_refused("cron-parser", refused[i].expression, refused[i].message, refused[i].hint);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(spellings_of_one_schedule), cmocka_unit_test(the_days),
                                     cmocka_unit_test(gaps_and_folds), cmocka_unit_test(refused_with_the_reason)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
