#include "time/cron_field.h"
#include "time_test.h"

static CronRule midnights(CronDays days) {
  return (CronRule){.seconds = 1, .minutes = 1, .hours = 1, .months = CRON_ALL_MONTHS, .days = days};
}

/* The next days from the beginning of 2024, which is a Monday, as "01-31 02-29". */
static void assert_days(const CronRule *rule, const char *expected) {
  Civil from = {.year = 2024, .month = 1, .day = 1}, fire;
  char list[256];
  snprintf(list, sizeof list, "%s", expected);
  for (char *rest = list, *one; (one = strsep(&rest, " ")) != NULL;) {
    char shown[32];
    assert_true(cron_next(rule, &from, &fire));
    snprintf(shown, sizeof shown, "%02d-%02d", fire.month, fire.day);
    assert_string_equal(shown, one);
    from = civil_from_seconds(civil_to_seconds(&fire) + 1);
  }
}

static void days_of_all_kinds(void **state) {
  const CronDays week = {.weekdays = CRON_ALL_WEEKDAYS, .both_sides = true};
  CronDays days = week;
  days.from_end = 1 | 1 << 3;
  CronRule rule = midnights(days);
  assert_days(&rule, "01-28 01-31 02-26 02-29 03-28 03-31");
  days = week;
  days.from_end = UINT32_C(1) << 29; /* 29 February is the 29th day before none */
  rule = midnights(days);
  assert_days(&rule, "01-02 03-02 04-01");
  days = week;
  days.workdays = UINT32_C(1) << 31; /* 31 March 2024 is a Sunday */
  rule = midnights(days);
  assert_days(&rule, "01-31 03-29 05-31");
  days.clamp_workdays = true;
  rule = midnights(days);
  assert_days(&rule, "01-31 02-29 03-29 04-30");
  days = week;
  days.workdays_from_end = 1 | 1 << 2; /* 29 March is both the last working day and that two before the end */
  rule = midnights(days);
  assert_days(&rule, "01-29 01-31 02-27 02-29 03-29 04-29 04-30");
  days = (CronDays){.of_month = CRON_ALL_DAYS, .nth = {[0] = 1 << 5, [1] = 1 << 1, [5] = 1 << 4}, .both_sides = true};
  rule = midnights(days);
  assert_days(&rule, "01-01 01-26 02-05 02-23 02-29 03-04 03-29 04-01");
}

static void either_side_or_both(void **state) {
  CronRule rule = midnights((CronDays){.of_month = 1 << 13, .weekdays = 1 << 5});
  assert_days(&rule, "01-05 01-12 01-13");
  rule.days.both_sides = true;
  assert_days(&rule, "09-13 12-13");
}

static void times_of_day(void **state) {
  CronRule rule = midnights((CronDays){.of_month = CRON_ALL_DAYS});
  const Civil from = {2024, 2, 29, 10, 30, 31}, end = {2024, 12, 31, 23, 59, 59};
  Civil fire;
  rule.hours = 1 << 10 | 1 << 12;
  rule.minutes = 1 << 5 | UINT64_C(1) << 30;
  rule.seconds = 1 << 7 | UINT64_C(1) << 31;
  assert_true(cron_next(&rule, &from, &fire));
  assert_memory_equal(&fire, (&(Civil){2024, 2, 29, 10, 30, 31}), sizeof fire);
  rule.seconds = 1 << 7;
  assert_true(cron_next(&rule, &from, &fire));
  assert_memory_equal(&fire, (&(Civil){2024, 2, 29, 12, 5, 7}), sizeof fire);
  assert_true(cron_next(&rule, &end, &fire));
  assert_memory_equal(&fire, (&(Civil){2025, 1, 1, 10, 5, 7}), sizeof fire);
}

static void years(void **state) {
  CronYears set = {0};
  CronRule rule =
      midnights((CronDays){.of_month = UINT32_C(1) << 29, .weekdays = CRON_ALL_WEEKDAYS, .both_sides = true});
  Civil from = {.year = -4, .month = 12, .day = 31}, fire;
  Error err = {0};
  rule.months = 1 << 2;
  rule.years = &set;
  assert_false(cron_check_fires(&rule, &err));
  assert_int_equal(err.code, ERR_SPEC);
  set.bits[2023 / 64] |= UINT64_C(1) << 2023 % 64;
  assert_false(cron_check_fires(&rule, &err));
  set.bits[9996 / 64] |= UINT64_C(1) << 9996 % 64;
  assert_true(cron_next(&rule, &from, &fire));
  assert_int_equal(fire.year, 9996);
  from = (Civil){9996, 3, 1, 0, 0, 0};
  assert_false(cron_next(&rule, &from, &fire));
  rule.years = NULL;
  from = (Civil){.year = -4, .month = 12, .day = 31};
  assert_true(cron_next(&rule, &from, &fire));
  assert_int_equal(fire.year, 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(days_of_all_kinds), cmocka_unit_test(either_side_or_both),
                                     cmocka_unit_test(times_of_day), cmocka_unit_test(years)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
