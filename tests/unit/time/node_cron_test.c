#include "dialect_cases.h"

/* src/ of node-cron 4. The new year of 2024 is a Monday. */

static void spellings_of_one_schedule(void **state) {
  static const char *const pairs[][2] = {{"@Yearly", "0 0 1 1 *"},
                                         {"@midnight", "0 0 0 * * *"},
                                         {"@weekly", "0 0 * * 7"},
                                         {"@hourly", "0 * * * *"},
                                         {"0 0 ? * ?", "0 0 * * *"},
                                         {"0 0 1 January,sep *", "0 0 1 1,9 *"},
                                         {"0 0 * * Monday-FRI", "0 0 * * 1-5"},
                                         {"0 0 * * 5-7", "0 0 * * 0,5,6"},
                                         {"0 17-9 * * *", "0 0-9,17-23 * * *"},
                                         {"50-10/7 * * * *", "4,50,57 * * * *"},
                                         {"0 0 1 oct-feb/2 *", "0 0 1 2,10,12 *"},
                                         {"0 0 * * fri-mon", "0 0 * * 0,1,5,6"},
                                         {"0 0 * * 7-2", "0 0 * * 0,1,2"},
                                         {"0 0 * * */2", "0 0 * * 0,2,4,6"},
                                         {"0 0 l * *", "0 0 L * *"},
                                         {"0 0 * * 7L", "0 0 * * 0l"},
                                         {"0 0 * * FridayL,friL", "0 0 * * 5L"},
                                         {"0 0 * * tue#3", "0 0 * * 2#3"},
                                         {"10-50/20 * * * *", "10,30,50 * * * *"}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) assert_same("node-cron", pairs[i][0], pairs[i][1]);
}

/* Both day fields must match. */
static void the_days(void **state) {
  static const char *const known[][2] = {
      {"0 0 L * *", "01-31 02-29 03-31"},    {"0 0 L-3 * *", "01-28 02-26 03-28"},
      {"0 0 L-29 * *", "01-02 03-02 04-01"}, /* 29 days before 29 February: none */
      {"0 0 LW * *", "01-31 02-29 03-29"},   {"0 0 1W,15W * *", "01-01 01-15 02-01"},
      {"0 0 31W * *", "01-31 03-29 05-31"}, /* months of 30 days have none */
      {"0 0 * * 2#3", "01-16 02-20"},        {"0 0 * * 5L,1", "01-01 01-08 01-15 01-22 01-26"},
      {"0 0 13 * 5", "09-13 12-13"},         {"0 0 1-7 * MON", "01-01 02-05 03-04"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) assert_days("node-cron", known[i][0], known[i][1]);
}

static void gaps_and_folds(void **state) {
  assert_fires_at("node-cron", "30 2 * * *", "America/New_York", "2026-03-08T06:30:00Z",
                  "2026-03-09T02:30:00-04:00;2026-03-10T02:30:00-04:00");
  assert_fires_at("node-cron", "0 0 29 2 1", "UTC", "2024-03-01T00:00:00Z", "2044-02-29T00:00:00Z");
}

static void refused_with_the_reason(void **state) {
  static const struct {
    const char *expression, *message, *hint;
  } refused[] = {{"", "not 0", "at least"},
                 {"* * * *", "not 4", "at least"},
                 {"* * * * * * *", "not 7", "at least"},
                 {"5/15 * * * *", "step after a single value", "*/15"},
                 {"*/0 * * * *", "step of 0", "1 or more"},
                 {"60 * * * *", "60 is not", "minute"},
                 {"? * * * *", "'?'", "*"},
                 {"0 0 ?,1 * *", "'?'", "*"},
                 {"0 0 0W * *", "0 is not", "day of month"},
                 {"0 0 L-31 * *", "out of reach", "L-30"},
                 {"0 0 L-0 * *", "out of reach", "L-30"},
                 {"0 0 1-15W * *", "'W'", "14-16"},
                 {"0 0 * * L", "'L'", "28-31"},
                 {"0 0 * * L5", "'L'", "28-31"},
                 {"0 0 * * 2#6", "out of reach", "5#5"},
                 {"0 0 * * mond", "not understood", "names"},
                 {"1-2-3 * * * *", "not understood", "ranges"},
                 {"@every 5m", "not a shorthand", "@hourly"},
                 {"0 0 31 2 *", "never fires", "correct"},
                 {"0 0 8 * 1#1", "never fires", "correct"}};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    assert_refused("node-cron", refused[i].expression, refused[i].message, refused[i].hint);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(spellings_of_one_schedule), cmocka_unit_test(the_days),
                                     cmocka_unit_test(gaps_and_folds), cmocka_unit_test(refused_with_the_reason)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
