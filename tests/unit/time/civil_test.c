#include "time/civil.h"

#include <time.h>

#include "time_test.h"

static void known_days(void **state) {
  static const struct {
    int year, month, day;
    int64_t days;
    int weekday;
  } known[] = {{1970, 1, 1, 0, 4},      {1969, 12, 31, -1, 3},  {2000, 2, 29, 11016, 2},    {2000, 3, 1, 11017, 3},
               {2013, 2, 1, 15737, 5},  {1, 1, 1, -719162, 1},  {9999, 12, 31, 2932896, 5}, {1900, 3, 1, -25508, 4},
               {2100, 2, 28, 47540, 0}, {2100, 3, 1, 47541, 1}, {1582, 10, 15, -141427, 5}, {0, 3, 1, -719468, 3}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    assert_int_equal(civil_to_days(known[i].year, known[i].month, known[i].day), known[i].days);
    Civil civil = civil_from_days(known[i].days);
    assert_int_equal(civil.year, known[i].year);
    assert_int_equal(civil.month, known[i].month);
    assert_int_equal(civil.day, known[i].day);
    assert_int_equal(civil_weekday(known[i].days), known[i].weekday);
  }
}

/* Every day of the years accepted, counted up by the calendar's own rules. */
static void every_day_follows_the_one_before(void **state) {
  int64_t days = civil_to_days(CIVIL_YEAR_MIN, 1, 1);
  int weekday = 1;
  for (int year = CIVIL_YEAR_MIN; year <= CIVIL_YEAR_MAX; year++)
    for (int month = 1; month <= 12; month++)
      for (int day = 1; day <= civil_month_days(year, month); day++, days++, weekday = (weekday + 1) % 7) {
        Civil civil = civil_from_days(days);
        if (civil.year != year || civil.month != month || civil.day != day || civil_to_days(year, month, day) != days ||
            civil_weekday(days) != weekday)
          fail_msg("%d-%d-%d", year, month, day);
      }
  assert_int_equal(days, civil_to_days(10000, 1, 1));
}

static void seconds_agree_with_glibc(void **state) {
  for (int64_t seconds = INSTANT_MIN; seconds <= INSTANT_MAX; seconds += 86400 * INT64_C(37) + 4321) {
    struct tm tm;
    time_t time = (time_t)seconds;
    assert_non_null(gmtime_r(&time, &tm));
    Civil civil = civil_from_seconds(seconds);
    if (civil.year != tm.tm_year + 1900 || civil.month != tm.tm_mon + 1 || civil.day != tm.tm_mday ||
        civil.hour != tm.tm_hour || civil.minute != tm.tm_min || civil.second != tm.tm_sec)
      fail_msg("%lld", (long long)seconds);
    assert_int_equal(civil_to_seconds(&civil), seconds);
  }
}

static void limits_are_the_first_and_last_second(void **state) {
  const Civil first = {1, 1, 1, 0, 0, 0}, last = {9999, 12, 31, 23, 59, 59};
  assert_int_equal(civil_to_seconds(&first), INSTANT_MIN);
  assert_int_equal(civil_to_seconds(&last), INSTANT_MAX);
}

static void the_second_before_an_epoch_is_the_day_before(void **state) {
  Civil civil = civil_from_seconds(-1);
  assert_int_equal(civil.year, 1969);
  assert_int_equal(civil.day, 31);
  assert_int_equal(civil.hour, 23);
  assert_int_equal(civil.second, 59);
}

static void extreme_numbers_do_not_overflow(void **state) {
  assert_true(civil_from_seconds(INT64_MAX).year > 9999);
  assert_true(civil_from_seconds(INT64_MIN).year < 0);
  assert_true(civil_from_days(INT64_MAX).year > 9999);
  assert_true(civil_from_days(INT64_MIN).year < 0);
  assert_in_range(civil_weekday(INT64_MIN), 0, 6);
  assert_true(instant_clamp(INT64_MAX) > INSTANT_MAX);
  assert_true(instant_clamp(INT64_MIN) < INSTANT_MIN);
  assert_int_equal(instant_clamp(12345), 12345);
}

static void months_know_leap_years(void **state) {
  assert_int_equal(civil_month_days(2013, 2), 28);
  assert_int_equal(civil_month_days(2012, 2), 29);
  assert_int_equal(civil_month_days(1900, 2), 28);
  assert_int_equal(civil_month_days(2000, 2), 29);
  assert_int_equal(civil_month_days(2013, 4), 30);
  assert_int_equal(civil_month_days(2013, 12), 31);
}

static void validity(void **state) {
  static const Civil good[] = {{2012, 2, 29, 0, 0, 0}, {1, 1, 1, 0, 0, 0}, {9999, 12, 31, 23, 59, 59}};
  static const Civil bad[] = {{2013, 2, 29, 0, 0, 0}, {2013, 0, 1, 0, 0, 0},  {2013, 13, 1, 0, 0, 0},
                              {2013, 1, 0, 0, 0, 0},  {2013, 4, 31, 0, 0, 0}, {0, 1, 1, 0, 0, 0},
                              {10000, 1, 1, 0, 0, 0}, {2013, 1, 1, 24, 0, 0}, {2013, 1, 1, 0, 60, 0},
                              {2013, 1, 1, 0, 0, 60}, {2013, 1, 1, -1, 0, 0}, {2013, 1, 1, 0, -1, 0}};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) assert_true(civil_valid(&good[i]));
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(civil_valid(&bad[i]));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(known_days),
                                     cmocka_unit_test(every_day_follows_the_one_before),
                                     cmocka_unit_test(seconds_agree_with_glibc),
                                     cmocka_unit_test(limits_are_the_first_and_last_second),
                                     cmocka_unit_test(the_second_before_an_epoch_is_the_day_before),
                                     cmocka_unit_test(extreme_numbers_do_not_overflow),
                                     cmocka_unit_test(months_know_leap_years),
                                     cmocka_unit_test(validity)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
