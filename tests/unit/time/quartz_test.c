#include "dialect_cases.h"

static void spellings_of_one_schedule(void **state) {
  static const char *const pairs[][2] = {{"0 0 12 * * ?", "0 0 12 ? * *"},
                                         {"0 0 12 ? * MON-fri", "0 0 12 ? * 2-6"},
                                         {"0 0 12 ? * FRI-MON", "0 0 12 ? * 1,2,6,7"},
                                         {"0 0 22-2 * * ?", "0 0 22,23,0,1,2 * * ?"},
                                         {"0 0 22-4/3 * * ?", "0 0 22,1,4 * * ?"},
                                         {"0 0 0 30-2 * ?", "0 0 0 30,31,1,2 * ?"},
                                         {"0 0 0 1 NOV-feb ?", "0 0 0 1 11,12,1,2 ?"},
                                         {"0 /15 * * * ?", "0 0,15,30,45 * * * ?"},
                                         {"0 5/20 * * * ?", "0 5,25,45 * * * ?"},
                                         {"0 0 12 ? * L", "0 0 12 ? * SAT"},
                                         {"0 0 12 ? * 6L", "0 0 12 ? * fril"},
                                         {"0 0 12 ? * 6#3", "0 0 12 ? * FRI#3"},
                                         {"0 0 12 L-0 * ?", "0 0 12 l * ?"},
                                         {"0 0 12 * * ? *", "0 0 12 * * ?  1970-9999"}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) assert_same("quartz", pairs[i][0], pairs[i][1]);
}

static void the_days(void **state) {
  assert_days("quartz", "0 0 0 L * ?", "01-31 02-29 03-31 04-30");
  assert_days("quartz", "0 0 0 L-3 * ?", "01-28 02-26 03-28");
  assert_days("quartz", "0 0 0 L-30 * ?", "01-01 03-01 05-01");
  assert_days("quartz", "0 0 0 LW * ?", "01-31 02-29 03-29 04-30 05-31 06-28");
  assert_days("quartz", "0 0 0 L-3W * ?", "01-29 02-26 03-28");
  assert_days("quartz", "0 0 0 15W * ?", "01-15 02-15 03-15 04-15 05-15 06-14");
  assert_days("quartz", "0 0 0 1W * ?", "01-01 02-01 03-01 04-01 05-01 06-03");
  /* 31 April is a Wednesday to come; 31 June 2024 is a Monday; 31 November 2024 is a Sunday. */
  assert_days("quartz", "0 0 0 31W * ?", "01-31 03-29 05-31 07-31 08-30 10-31 12-31");
  assert_days("quartz", "0 0 0 ? * 6#5", "03-29 05-31 08-30");
  assert_days("quartz", "0 0 0 ? * 1L", "01-28 02-25 03-31");
}

/* As the real one has it: a month that ends on a Friday, and the Saturday after it asked for. */
static void a_working_day_just_after_the_month(void **state) {
  assert_fires_at("quartz", "0 0 9 31W * ?", "UTC", "2000-06-01T00:00:00Z",
                  "2000-06-30T09:00:00Z;2000-07-31T09:00:00Z");
  assert_fires_at("quartz", "0 0 9 29W 2 ?", "UTC", "2003-01-01T00:00:00Z",
                  "2003-02-28T09:00:00Z;2004-02-27T09:00:00Z");
}

static void years(void **state) {
  assert_fires_at("quartz", "0 0 0 1 1 ? 2025,2030/10", "UTC", "2024-06-01T00:00:00Z",
                  "2025-01-01T00:00:00Z;2030-01-01T00:00:00Z;2040-01-01T00:00:00Z");
  assert_fires_at("quartz", "0 0 0 1 1 ? 2025", "UTC", "2024-06-01T00:00:00Z", "2025-01-01T00:00:00Z;-");
  assert_fires_at("quartz", "0 0 0 29 2 ? 2000/400", "UTC", "2024-06-01T00:00:00Z",
                  "2400-02-29T00:00:00Z;2800-02-29T00:00:00Z");
}

/* Java takes a time that comes twice for standard time. */
static void missing_times_are_left_out_and_doubled_ones_run_second(void **state) {
  assert_fires_at("quartz", "0 30 2 * * ?", "Europe/Berlin", "2025-03-29T12:00:00Z", "2025-03-31T02:30:00+02:00");
  assert_fires_at("quartz", "0 30 2 * * ?", "Europe/Berlin", "2025-10-25T12:00:00Z",
                  "2025-10-26T02:30:00+01:00;2025-10-27T02:30:00+01:00");
}

static void what_is_refused(void **state) {
  static const struct {
    const char *expression, *message, *hint;
  } known[] = {{"0 0 12 * *", "not 5", "second first"},
               {"0 0 12 * * ? * *", "not 8", "write all"},
               {"@daily", "not a shorthand", "0 0 0 * * ?"},
               {"0 0 12 * * *", "none of the two day fields", "write ?"},
               {"0 0 12 1 * 2", "none of the two day fields", "write ?"},
               {"0 0 12 ? * ?", "each of the two day fields", "write ?"},
               {"? 0 12 ? * 2", "'?'", "write *"},
               {"0 0 12 ? * 0", "0 is not from 1 to 7", "day of week"},
               {"0 0 12 ? * 8", "8 is not from 1 to 7", "day of week"},
               {"0 0 24 * * ?", "24 is not from 0 to 23", "hour"},
               {"0 0 12 ? * 6#6", "no such weekday", "#5"},
               {"0 0 12 ? * 6#1,2", "no place in a list", "alone"},
               {"0 0 12 L,5 * ?", "no place in a list", "alone"},
               {"0 0 12 1W,15 * ?", "no place in a list", "alone"},
               {"0 0 12 L-31 * ?", "more than 30 days", "L-30"},
               {"0 0 12 ? * MON-FRI/2", "left out of account", "numbers"},
               {"0 0 12 ? * MON-6", "a name at one end", "numbers"},
               {"0 0 */25 * * ?", "beyond the field", "smaller"},
               {"0 */0 * * * ?", "step of 0", "1 or more"},
               {"0 0 12 * * ? 1969", "1969 is not from 1970", "year"},
               {"0 0 12 * * ? 2030-2020", "ends before it begins", "list"},
               {"0 0 12 31 4 ?", "never fires", "leave the schedule out"},
               {"0 0 12 29 2 ? 2023", "never fires", "leave the schedule out"},
               {"0 H 12 * * ?", "hash", "pause"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    assert_refused("quartz", known[i].expression, known[i].message, known[i].hint);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(spellings_of_one_schedule),
                                     cmocka_unit_test(the_days),
                                     cmocka_unit_test(a_working_day_just_after_the_month),
                                     cmocka_unit_test(years),
                                     cmocka_unit_test(missing_times_are_left_out_and_doubled_ones_run_second),
                                     cmocka_unit_test(what_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
