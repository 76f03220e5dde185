#include "dialect_cases.h"

/* Examples of systemd.time(7) and of the shorthands. */
static void spellings_of_one_schedule(void **state) {
  static const char *const pairs[][2] = {{"minutely", "*:*"},
                                         {"hourly", "*-*-* *:00:00"},
                                         {"daily", "*-*-*"},
                                         {"Monthly", "*-*-01 00:00:00"},
                                         {"weekly", "Mon *-*-* 00:00:00"},
                                         {"yearly", "01-01"},
                                         {"annually", "*-1-1 0:0:0"},
                                         {"quarterly", "*-01,04,07,10-01"},
                                         {"semi-annually", "*-1,7-1"},
                                         {"Sat,Thu,Mon..Wed,Sat..Sun", "Mon..Thu,Sat,Sun *-*-* 00:00:00"},
                                         {"Mon,Sun 24-*-* 2,1:23", "Mon,Sun 2024-*-* 01,02:23:00"},
                                         {"Wed..Wed,Wed *-1", "Wed *-*-01 00:00:00"},
                                         {"Wed, 17:48", "Wed *-*-* 17:48:00"},
                                         {"monday *-12-* 17:00", "Mon *-12-* 17:00:00"},
                                         {"12,14,13,12:20,10,30", "*-*-* 12,13,14:10,20,30:00"},
                                         {"12..14:10,20,30", "*-*-* 12..14:10,20,30:00"},
                                         {"mon,fri *-1/2-1,3 *:30:45", "Mon,Fri *-01/2-01,03 *:30:45"},
                                         {"05:40:23.000", "05:40:23"},
                                         {"*:2/3", "*-*-* *:02/3:00"},
                                         {"*:0..59/7", "*:0/7"},
                                         {"*:5..63/40", "*:5,45"},
                                         {"*-*~01", "*-*~1 0:0"},
                                         {"*-02~*", "*-02-*"},
                                         {"daily UTC", "*-*-* 0:0:0 utc"}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) assert_same("systemd", pairs[i][0], pairs[i][1]);
}

static void the_days(void **state) {
  assert_days("systemd", "*-*~01", "01-31 02-29 03-31 04-30");
  assert_days("systemd", "*-*~3", "01-29 02-27 03-29");
  assert_days("systemd", "Mon *-*~07/1", "01-29 02-26 03-25");
  assert_days("systemd", "*-02~1..6/2", "02-25 02-27 02-29");
  assert_days("systemd", "Fri *-*-13", "09-13 12-13");
  assert_days("systemd", "*-*-31", "01-31 03-31 05-31 07-31");
  assert_days("systemd", "*-*-30/1", "01-30 01-31 03-30 03-31 04-30");
}

static void zones_and_single_instants(void **state) {
  assert_fires_at("systemd", "2:00 America/New_York", "Europe/Berlin", "2025-07-15T00:00:00Z",
                  "2025-07-15T06:00:00Z;2025-07-16T06:00:00Z");
  assert_fires_at("systemd", "@1767225600", "Europe/Berlin", "2025-07-15T00:00:00Z", "2026-01-01T00:00:00Z;-");
  assert_fires_at("systemd", "2199-12-31", "UTC", "2025-07-15T00:00:00Z", "2199-12-31T00:00:00Z;-");
  assert_fires_at("systemd", "daily", "UTC", "2199-12-30T12:00:00Z", "2199-12-31T00:00:00Z;-");
}

static void missing_times_are_left_out_and_doubled_ones_run_first(void **state) {
  assert_fires_at("systemd", "2:30", "Europe/Berlin", "2025-03-29T12:00:00Z", "2025-03-31T02:30:00+02:00");
  assert_fires_at("systemd", "*:0/30", "Europe/Berlin", "2025-10-26T02:00:00+02:00",
                  "2025-10-26T02:30:00+02:00;2025-10-26T03:00:00+01:00");
}

static void what_is_refused(void **state) {
  static const struct {
    const char *expression, *message, *hint;
  } known[] = {{"", "empty", "weekdays"},
               {"0 2 * * *", "too many parts", "Mon..Fri"},
               {"fortnightly", "'fortnightly'", "English names"},
               {"Fri..Mon", "ends before it begins", "list"},
               {"Mon..", "weekday", "English names"},
               {"*:*/15", "nothing can follow a *", "0/15"},
               {"*:55/10", "more than there is left", "begin earlier"},
               {"*:0/0", "repeats after 0", "1 or more"},
               {"*:60", "not from 0 to 59", "Europe/Berlin"},
               {"24:00", "not from 0 to 23", "Europe/Berlin"},
               {"*:30..10", "ends before it begins", "list"},
               {"*-*~29", "not from 1 to 28", "Europe/Berlin"},
               {"1969-01-01", "not from 1970 to 2199", "Europe/Berlin"},
               {"*:0:0.5", "not a whole second", "jitter"},
               {"*-02-30", "never fires", "leave the schedule out"},
               {"Mon 2024-01-02", "never fires", "leave the schedule out"},
               {"2:00 Mars/Olympus", "Mars/Olympus", "IANA"},
               {"2~3-4", "not understood", "2026-01-31"},
               {"12", "not understood", "weekdays"},
               {"@", "not understood", "since 1970"},
               {"@12x", "not understood", "since 1970"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    assert_refused("systemd", known[i].expression, known[i].message, known[i].hint);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(spellings_of_one_schedule), cmocka_unit_test(the_days),
                                     cmocka_unit_test(zones_and_single_instants),
                                     cmocka_unit_test(missing_times_are_left_out_and_doubled_ones_run_first),
                                     cmocka_unit_test(what_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
