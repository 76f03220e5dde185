#include "time/posix_tz.h"

#include "time_test.h"

static bool parse(const char *text, PosixTz *ret) { return posix_tz_parse(text, strlen(text), ret); }

static void a_fixed_offset(void **state) {
  PosixTz tz;
  assert_true(parse("UTC0", &tz));
  assert_int_equal(tz.offset, 0);
  assert_false(tz.has_summer);
  assert_true(parse("<+0545>-5:45", &tz));
  assert_int_equal(tz.offset, 20700);
  assert_true(parse("EST5", &tz));
  assert_int_equal(tz.offset, -18000);
}

static void weekday_rules(void **state) {
  PosixTz tz;
  assert_true(parse("CET-1CEST,M3.5.0,M10.5.0/3", &tz));
  assert_int_equal(tz.offset, 3600);
  assert_int_equal(tz.summer_offset, 7200);
  assert_int_equal(posix_tz_start(&tz, 2025), at("2025-03-30T01:00:00Z"));
  assert_int_equal(posix_tz_end(&tz, 2025), at("2025-10-26T01:00:00Z"));
  assert_true(parse("EST5EDT,M3.2.0,M11.1.0", &tz));
  assert_int_equal(posix_tz_start(&tz, 2012), at("2012-03-11T07:00:00Z"));
  assert_int_equal(posix_tz_end(&tz, 2012), at("2012-11-04T06:00:00Z"));
}

/* Hebron's rule of tzdata 2024: the time of a rule may be beyond the day, and before it for Nuuk. */
static void times_beyond_the_day(void **state) {
  PosixTz tz;
  assert_true(parse("EET-2EEST,M3.4.4/50,M10.4.4/50", &tz));
  assert_int_equal(posix_tz_start(&tz, 2040), at("2040-03-24T00:00:00Z"));
  assert_true(parse("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", &tz));
  assert_int_equal(posix_tz_start(&tz, 2040), at("2040-03-25T01:00:00Z"));
  assert_int_equal(tz.summer_offset, -3600);
}

static void negative_summer_time(void **state) {
  PosixTz tz;
  assert_true(parse("IST-1GMT0,M10.5.0,M3.5.0/1", &tz));
  assert_int_equal(tz.offset, 3600);
  assert_int_equal(tz.summer_offset, 0);
  assert_int_equal(posix_tz_start(&tz, 2025), at("2025-10-26T01:00:00Z"));
}

static void julian_rules(void **state) {
  PosixTz tz;
  assert_true(parse("AAA0BBB,J60/0,59/0", &tz));
  assert_int_equal(posix_tz_start(&tz, 2023), at("2023-03-01T00:00:00Z"));
  assert_int_equal(posix_tz_start(&tz, 2024), at("2024-03-01T00:00:00Z"));
  assert_int_equal(posix_tz_end(&tz, 2023), at("2023-02-28T23:00:00Z"));
  assert_int_equal(posix_tz_end(&tz, 2024), at("2024-02-28T23:00:00Z"));
}

static void broken_strings_are_refused(void **state) {
  static const char *const broken[] = {"",
                                       "CET",
                                       "CE-1",
                                       "CET-1CEST",
                                       "CET-1CEST,",
                                       "CET-1CEST,M3.5.0",
                                       "<+01-1",
                                       "CET-1CEST,M13.5.0,M10.5.0",
                                       "CET-1CEST,M3.6.0,M10.5.0",
                                       "CET-1CEST,M3.5.7,M10.5.0",
                                       "CET-1CEST,M3.5.0/168,M10.5.0",
                                       "CET-1CEST,J0,J1",
                                       "CET-1CEST,366,1",
                                       "CET-99999999999999999999",
                                       "CET-1:60",
                                       "CET-1CEST,M3.5.0,M10.5.0/3 ",
                                       ":Europe/Berlin"};
  PosixTz tz;
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
    if (parse(broken[i], &tz)) fail_msg("accepted: %s", broken[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_fixed_offset),       cmocka_unit_test(weekday_rules),
      cmocka_unit_test(times_beyond_the_day), cmocka_unit_test(negative_summer_time),
      cmocka_unit_test(julian_rules),         cmocka_unit_test(broken_strings_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
