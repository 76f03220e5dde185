#include "time/zone.h"

#include <stdlib.h>
#include <unistd.h>

#include "time_test.h"

/* Values from Python's zoneinfo and the tz database's own source, not from this program. */
static void known_instants(void **state) {
  static const struct {
    const char *zone, *instant, *shown;
  } known[] = {
      {"Australia/Lord_Howe", "2019-10-05T15:29:59Z", "2019-10-06T01:59:59+10:30"},
      {"Australia/Lord_Howe", "2019-10-05T15:30:00Z", "2019-10-06T02:30:00+11:00"},
      {"Antarctica/Troll", "2026-03-29T00:59:59Z", "2026-03-29T00:59:59+00:00"},
      {"Antarctica/Troll", "2026-03-29T01:00:00Z", "2026-03-29T03:00:00+02:00"},
      {"Antarctica/Troll", "2026-10-25T01:00:00Z", "2026-10-25T01:00:00+00:00"},
      {"America/Nuuk", "2024-03-31T00:59:59Z", "2024-03-30T22:59:59-02:00"},
      {"America/Nuuk", "2024-03-31T01:00:00Z", "2024-03-31T00:00:00-01:00"},
      {"Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29T23:59:59-10:00"},
      {"Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31T00:00:00+14:00"},
      {"Asia/Hebron", "2022-03-26T21:59:59Z", "2022-03-26T23:59:59+02:00"},
      {"Asia/Hebron", "2022-03-26T22:00:00Z", "2022-03-27T01:00:00+03:00"},
      {"America/St_Johns", "2005-10-30T02:30:59Z", "2005-10-30T00:00:59-02:30"},
      {"America/St_Johns", "2005-10-30T02:31:00Z", "2005-10-29T23:01:00-03:30"},
      {"Asia/Kolkata", "2016-01-03T07:39:03Z", "2016-01-03T13:09:03+05:30"},
      {"America/New_York", "2013-02-01T05:00:00Z", "2013-02-01T00:00:00-05:00"},
      {"America/New_York", "2500-07-01T04:00:00Z", "2500-07-01T00:00:00-04:00"},
      {"America/New_York", "9999-12-31T12:00:00Z", "9999-12-31T07:00:00-05:00"},
      {"Europe/Dublin", "2500-07-01T00:00:00Z", "2500-07-01T01:00:00+01:00"},
      {"Europe/Dublin", "2500-01-01T00:00:00Z", "2500-01-01T00:00:00+00:00"},
      {"UTC", "2013-02-01T05:00:00Z", "2013-02-01T05:00:00+00:00"},
  };
  Arena arena = {0};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    assert_instant(at(known[i].instant), zone(&arena, known[i].zone), known[i].shown);
  arena_release(&arena);
}

static void far_years_follow_the_rule(void **state) {
  Arena arena = {0};
  const Zone *berlin = zone(&arena, "Europe/Berlin");
  /* The last Sundays of March and October 2437 and 7777, by the calendar's 400-year cycle: 2037 and 2177. */
  assert_int_equal(zone_offset(berlin, at("2437-03-29T00:59:59Z")), 3600);
  assert_int_equal(zone_offset(berlin, at("2437-03-29T01:00:00Z")), 7200);
  assert_int_equal(zone_offset(berlin, at("2437-10-25T00:59:59Z")), 7200);
  assert_int_equal(zone_offset(berlin, at("2437-10-25T01:00:00Z")), 3600);
  Instant change;
  assert_true(zone_next_change(berlin, at("7777-01-01T00:00:00Z"), &change));
  assert_int_equal(civil_weekday(change / 86400), 0);
  assert_instant(change, zone_utc(), "7777-03-30T01:00:00+00:00");
  assert_false(zone_next_change(berlin, at("9999-11-30T00:00:00Z"), &change));
  arena_release(&arena);
}

static void readings_of_a_gap(void **state) {
  Arena arena = {0};
  const Zone *berlin = zone(&arena, "Europe/Berlin"), *apia = zone(&arena, "Pacific/Apia");
  const Civil missing = {2025, 3, 30, 2, 30, 0}, skipped_day = {2011, 12, 30, 12, 0, 0};
  ZoneReadings readings = zone_read(berlin, &missing);
  assert_int_equal(readings.n, 0);
  assert_instant(readings.gap_end, berlin, "2025-03-30T03:00:00+02:00");
  assert_instant(readings.shifted, berlin, "2025-03-30T03:30:00+02:00");
  assert_int_equal(zone_first(berlin, &missing), readings.gap_end);
  readings = zone_read(apia, &skipped_day);
  assert_int_equal(readings.n, 0);
  assert_instant(readings.gap_end, apia, "2011-12-31T00:00:00+14:00");
  assert_instant(readings.shifted, apia, "2011-12-31T12:00:00+14:00");
  const Civil gap_last = {2025, 3, 30, 2, 59, 59}, gap_after = {2025, 3, 30, 3, 0, 0},
              gap_before = {2025, 3, 30, 1, 59, 59};
  assert_int_equal(zone_read(berlin, &gap_last).n, 0);
  assert_int_equal(zone_read(berlin, &gap_after).n, 1);
  assert_int_equal(zone_read(berlin, &gap_before).n, 1);
  arena_release(&arena);
}

static void readings_of_a_fold(void **state) {
  Arena arena = {0};
  const Zone *new_york = zone(&arena, "America/New_York"), *lord_howe = zone(&arena, "Australia/Lord_Howe");
  const Civil doubled = {2013, 11, 3, 1, 30, 0}, half = {2019, 4, 7, 1, 45, 0}, once = {2019, 4, 7, 1, 29, 59};
  ZoneReadings readings = zone_read(new_york, &doubled);
  assert_int_equal(readings.n, 2);
  assert_instant(readings.at[0], new_york, "2013-11-03T01:30:00-04:00");
  assert_instant(readings.at[1], new_york, "2013-11-03T01:30:00-05:00");
  assert_int_equal(zone_first(new_york, &doubled), readings.at[0]);
  readings = zone_read(lord_howe, &half);
  assert_int_equal(readings.n, 2);
  assert_int_equal(readings.at[1] - readings.at[0], 1800);
  assert_int_equal(zone_read(lord_howe, &once).n, 1);
  arena_release(&arena);
}

static void a_midnight_in_a_gap_begins_at_its_end(void **state) {
  Arena arena = {0};
  const Zone *hebron = zone(&arena, "Asia/Hebron");
  const Civil midnight = {2022, 3, 27, 0, 0, 0};
  assert_instant(zone_first(hebron, &midnight), hebron, "2022-03-27T01:00:00+03:00");
  arena_release(&arena);
}

/* Each wall-clock time that a zone shows must be read back as the instant at which it showed it. */
static void reading_is_the_inverse_of_showing(void **state) {
  static const char *const names[] = {"America/New_York",  "Australia/Lord_Howe", "Antarctica/Troll", "Pacific/Apia",
                                      "America/St_Johns",  "Africa/Casablanca",   "Europe/Dublin",    "Asia/Kolkata",
                                      "America/Sao_Paulo", "Asia/Manila"};
  Arena arena = {0};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const Zone *opened = zone(&arena, names[i]);
    for (Instant t = at("1840-01-01T00:00:00Z"); t < at("2480-01-01T00:00:00Z"); t += 3607 * 23) {
      Civil civil = zone_civil(opened, t);
      ZoneReadings readings = zone_read(opened, &civil);
      if (readings.at[0] != t && !(readings.n == 2 && readings.at[1] == t)) fail_msg("%s %lld", names[i], (long long)t);
    }
  }
  arena_release(&arena);
}

static void changes_are_found_one_after_the_other(void **state) {
  Arena arena = {0};
  const Zone *apia = zone(&arena, "Pacific/Apia");
  Instant change;
  assert_true(zone_next_change(apia, at("2011-10-01T00:00:00Z"), &change));
  assert_instant(change, zone_utc(), "2011-12-30T10:00:00+00:00");
  assert_true(zone_next_change(apia, change - 1, &change));
  assert_instant(change, zone_utc(), "2011-12-30T10:00:00+00:00");
  assert_true(zone_next_change(apia, change, &change));
  assert_instant(change, zone_utc(), "2012-03-31T14:00:00+00:00");
  assert_false(zone_next_change(zone_utc(), 0, &change));
  arena_release(&arena);
}

static void the_span_holds_one_offset(void **state) {
  Arena arena = {0};
  const Zone *berlin = zone(&arena, "Europe/Berlin");
  Instant from, until;
  assert_int_equal(zone_offset_span(berlin, at("2025-06-01T00:00:00Z"), &from, &until), 7200);
  assert_instant(from, zone_utc(), "2025-03-30T01:00:00+00:00");
  assert_instant(until, zone_utc(), "2025-10-26T01:00:00+00:00");
  assert_int_equal(zone_offset_span(zone_utc(), 0, &from, &until), 0);
  assert_true(from == INT64_MIN && until == INT64_MAX);
  arena_release(&arena);
}

static void bad_names_are_refused(void **state) {
  static const char *const names[] = {
      "",  "../etc/passwd", "/usr/share/zoneinfo/UTC", "Europe", "Europe/", "Europe//Berlin", "zone.tab", "tzdata.zi",
      ".", "a b",           "Mars/Olympus_Mons"};
  Arena arena = {0};
  const Zone *opened;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    Error err = {0};
    assert_false(zone_open(&arena, names[i], &opened, &err));
    assert_int_equal(err.code, ERR_SPEC);
    assert_contains(err.message, "unknown time zone");
  }
  arena_release(&arena);
}

static void a_near_name_is_offered(void **state) {
  static const char *const pairs[][2] = {{"Europe/Berln", "Europe/Berlin"},
                                         {"europe/berlin", "Europe/Berlin"},
                                         {"New_York", "America/New_York"},
                                         {"America/NewYork", "America/New_York"},
                                         {"utc", "UTC"}};
  Arena arena = {0};
  const Zone *opened;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    Error err = {0};
    assert_false(zone_open(&arena, pairs[i][0], &opened, &err));
    assert_contains(err.hint, pairs[i][1]);
  }
  Error err = {0};
  assert_false(zone_open(&arena, "Mars/Olympus_Mons", &opened, &err));
  assert_contains(err.hint, "IANA");
  arena_release(&arena);
}

static void utc_needs_no_file(void **state) {
  Arena arena = {0};
  const Zone *opened = NULL;
  Error err = {0};
  const char *old = getenv("TZDIR");
  char *kept = old == NULL ? NULL : strdup(old);
  setenv("TZDIR", "/nonexistent", 1);
  bool utc = zone_open(&arena, "UTC", &opened, &err);
  bool berlin = zone_open(&arena, "Europe/Berlin", &opened, &err);
  if (kept == NULL)
    unsetenv("TZDIR");
  else
    setenv("TZDIR", kept, 1);
  free(kept);
  assert_true(utc);
  assert_false(berlin);
  assert_string_equal(zone_name(opened), "UTC");
  assert_contains(err.hint, "TZDIR");
  arena_release(&arena);
}

static void instants_out_of_range_do_no_harm(void **state) {
  Arena arena = {0};
  const Zone *berlin = zone(&arena, "Europe/Berlin");
  const Civil huge = {2147483647, 12, 31, 23, 59, 59};
  Instant change;
  assert_true(zone_civil(berlin, INT64_MAX).year > 9999);
  assert_true(zone_civil(berlin, INT64_MIN).year < 1);
  assert_in_range(zone_offset(berlin, INT64_MAX), 3600, 7200);
  assert_int_equal(zone_read(berlin, &huge).n, 1);
  assert_false(zone_next_change(berlin, INT64_MAX, &change));
  arena_release(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(known_instants),
                                     cmocka_unit_test(far_years_follow_the_rule),
                                     cmocka_unit_test(readings_of_a_gap),
                                     cmocka_unit_test(readings_of_a_fold),
                                     cmocka_unit_test(a_midnight_in_a_gap_begins_at_its_end),
                                     cmocka_unit_test(reading_is_the_inverse_of_showing),
                                     cmocka_unit_test(changes_are_found_one_after_the_other),
                                     cmocka_unit_test(the_span_holds_one_offset),
                                     cmocka_unit_test(bad_names_are_refused),
                                     cmocka_unit_test(a_near_name_is_offered),
                                     cmocka_unit_test(utc_needs_no_file),
                                     cmocka_unit_test(instants_out_of_range_do_no_harm)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
