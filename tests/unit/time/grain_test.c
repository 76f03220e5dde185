#include "time/grain.h"

#include "time_test.h"

static void names(void **state) {
  static const char *const words[] = {"hour", "day", "week", "month", "year"};
  for (int i = 0; i < 5; i++) {
    Grain grain;
    assert_true(grain_parse(words[i], &grain));
    assert_int_equal(grain, i);
    assert_string_equal(grain_name(grain), words[i]);
  }
  Grain grain;
  assert_false(grain_parse("days", &grain));
  assert_false(grain_parse("", &grain));
}

static void starts_in_utc(void **state) {
  static const struct {
    Grain grain;
    const char *instant, *start, *next, *label;
  } known[] = {
      {GRAIN_HOUR, "2013-02-01T05:59:59Z", "2013-02-01T05:00:00+00:00", "2013-02-01T06:00:00+00:00", "2013-02-01T05"},
      {GRAIN_DAY, "2013-02-01T23:59:59Z", "2013-02-01T00:00:00+00:00", "2013-02-02T00:00:00+00:00", "2013-02-01"},
      {GRAIN_DAY, "1969-12-31T00:00:01Z", "1969-12-31T00:00:00+00:00", "1970-01-01T00:00:00+00:00", "1969-12-31"},
      {GRAIN_WEEK, "2013-02-03T23:59:59Z", "2013-01-28T00:00:00+00:00", "2013-02-04T00:00:00+00:00", "2013-01-28"},
      {GRAIN_WEEK, "2013-02-04T00:00:00Z", "2013-02-04T00:00:00+00:00", "2013-02-11T00:00:00+00:00", "2013-02-04"},
      {GRAIN_MONTH, "2012-02-29T12:00:00Z", "2012-02-01T00:00:00+00:00", "2012-03-01T00:00:00+00:00", "2012-02"},
      {GRAIN_MONTH, "2012-12-31T12:00:00Z", "2012-12-01T00:00:00+00:00", "2013-01-01T00:00:00+00:00", "2012-12"},
      {GRAIN_YEAR, "2012-12-31T23:59:59Z", "2012-01-01T00:00:00+00:00", "2013-01-01T00:00:00+00:00", "2012"},
  };
  const Zone *utc = zone_utc();
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    char label[32];
    Instant start = grain_floor(known[i].grain, utc, at(known[i].instant));
    assert_instant(start, utc, known[i].start);
    assert_instant(grain_next(known[i].grain, utc, start), utc, known[i].next);
    grain_label(known[i].grain, utc, start, label);
    assert_string_equal(label, known[i].label);
  }
}

/* How many hours the civil day has. */
static int64_t hours_of_day(const Zone *in, const char *instant) {
  Instant day = grain_floor(GRAIN_DAY, in, at(instant));
  DateRange range = {day, grain_next(GRAIN_DAY, in, day)};
  return date_range_count(&range, GRAIN_HOUR, in);
}

static void days_have_23_or_25_hours(void **state) {
  Arena arena = {0};
  const Zone *berlin = zone(&arena, "Europe/Berlin");
  Instant spring = grain_floor(GRAIN_DAY, berlin, at("2025-03-30T12:00:00Z"));
  assert_instant(spring, berlin, "2025-03-30T00:00:00+01:00");
  assert_int_equal(grain_next(GRAIN_DAY, berlin, spring) - spring, 23 * 3600);
  Instant autumn = grain_floor(GRAIN_DAY, berlin, at("2025-10-26T12:00:00Z"));
  assert_int_equal(grain_next(GRAIN_DAY, berlin, autumn) - autumn, 25 * 3600);
  assert_int_equal(hours_of_day(berlin, "2025-03-30T12:00:00Z"), 23);
  assert_int_equal(hours_of_day(berlin, "2025-10-26T12:00:00Z"), 25);
  assert_int_equal(hours_of_day(berlin, "2025-10-27T12:00:00Z"), 24);
  arena_release(&arena);
}

static void hours_in_a_fold_have_their_offset(void **state) {
  static const char *const labels[] = {"2013-11-03T00", "2013-11-03T01-04:00", "2013-11-03T01-05:00", "2013-11-03T02"};
  Arena arena = {0};
  const Zone *new_york = zone(&arena, "America/New_York");
  Instant hour = grain_floor(GRAIN_DAY, new_york, at("2013-11-03T12:00:00Z"));
  for (int i = 0; i < 4; i++, hour = grain_next(GRAIN_HOUR, new_york, hour)) {
    char label[32];
    grain_label(GRAIN_HOUR, new_york, hour, label);
    assert_string_equal(label, labels[i]);
    assert_int_equal(grain_floor(GRAIN_HOUR, new_york, hour + 3599), hour);
  }
  arena_release(&arena);
}

/* Lord Howe moves its clock by half an hour: an hour of 30 minutes at either change. */
static void half_hours(void **state) {
  Arena arena = {0};
  const Zone *lord_howe = zone(&arena, "Australia/Lord_Howe");
  Instant one = grain_floor(GRAIN_HOUR, lord_howe, at("2019-04-07T01:10:00+11:00"));
  Instant again = grain_next(GRAIN_HOUR, lord_howe, one), two = grain_next(GRAIN_HOUR, lord_howe, again);
  assert_instant(one, lord_howe, "2019-04-07T01:00:00+11:00");
  assert_instant(again, lord_howe, "2019-04-07T01:30:00+10:30");
  assert_instant(two, lord_howe, "2019-04-07T02:00:00+10:30");
  assert_int_equal(grain_floor(GRAIN_HOUR, lord_howe, two - 1), again);
  assert_int_equal(grain_floor(GRAIN_HOUR, lord_howe, again - 1), one);
  char label[32];
  grain_label(GRAIN_HOUR, lord_howe, one, label);
  assert_string_equal(label, "2019-04-07T01+11:00");
  grain_label(GRAIN_HOUR, lord_howe, again, label);
  assert_string_equal(label, "2019-04-07T01+10:30");
  Instant spring = grain_floor(GRAIN_HOUR, lord_howe, at("2019-10-06T02:59:00+11:00"));
  assert_instant(spring, lord_howe, "2019-10-06T02:30:00+11:00");
  assert_instant(grain_next(GRAIN_HOUR, lord_howe, spring), lord_howe, "2019-10-06T03:00:00+11:00");
  arena_release(&arena);
}

static void midnight_in_a_gap(void **state) {
  Arena arena = {0};
  const Zone *hebron = zone(&arena, "Asia/Hebron");
  Instant day = grain_floor(GRAIN_DAY, hebron, at("2022-03-27T12:00:00+03:00"));
  assert_instant(day, hebron, "2022-03-27T01:00:00+03:00");
  assert_int_equal(grain_floor(GRAIN_DAY, hebron, day), day);
  assert_instant(grain_floor(GRAIN_DAY, hebron, day - 1), hebron, "2022-03-26T00:00:00+02:00");
  assert_instant(grain_next(GRAIN_DAY, hebron, day), hebron, "2022-03-28T00:00:00+03:00");
  char label[32];
  grain_label(GRAIN_DAY, hebron, day, label);
  assert_string_equal(label, "2022-03-27");
  arena_release(&arena);
}

static void the_day_that_apia_went_over(void **state) {
  Arena arena = {0};
  const Zone *apia = zone(&arena, "Pacific/Apia");
  Instant before = grain_floor(GRAIN_DAY, apia, at("2011-12-29T12:00:00-10:00"));
  Instant after = grain_next(GRAIN_DAY, apia, before);
  assert_instant(after, apia, "2011-12-31T00:00:00+14:00");
  DateRange range = {before, grain_next(GRAIN_DAY, apia, after)};
  assert_int_equal(date_range_count(&range, GRAIN_DAY, apia), 2);
  DateRange month = {grain_floor(GRAIN_MONTH, apia, before), grain_floor(GRAIN_MONTH, apia, after + 86400)};
  assert_int_equal(date_range_count(&month, GRAIN_DAY, apia), 30);
  assert_int_equal(date_range_count(&month, GRAIN_MONTH, apia), 1);
  arena_release(&arena);
}

/* At 00:01 St. John's went back to 23:01 of the day before: the day that has begun goes on. */
static void dates_never_go_backwards(void **state) {
  Arena arena = {0};
  const Zone *st_johns = zone(&arena, "America/St_Johns");
  Instant day = at("2005-10-30T00:00:00-02:30");
  assert_int_equal(grain_floor(GRAIN_DAY, st_johns, day), day);
  assert_int_equal(grain_floor(GRAIN_DAY, st_johns, at("2005-10-29T23:30:00-03:30")), day);
  assert_int_equal(grain_floor(GRAIN_DAY, st_johns, at("2005-10-30T00:30:00-03:30")), day);
  assert_int_equal(grain_floor(GRAIN_DAY, st_johns, day - 1), at("2005-10-29T00:00:00-02:30"));
  arena_release(&arena);
}

/* In every zone and grain: starts ascend, are their own floor, and each instant between belongs to the earlier one. */
static void starts_part_the_time_without_holes(void **state) {
  static const char *const zones[] = {"UTC",          "America/New_York", "Australia/Lord_Howe", "Antarctica/Troll",
                                      "Pacific/Apia", "America/St_Johns", "America/Sao_Paulo",   "Asia/Kathmandu"};
  Arena arena = {0};
  for (size_t i = 0; i < sizeof zones / sizeof *zones; i++)
    for (Grain grain = GRAIN_HOUR; grain <= GRAIN_YEAR; grain++) {
      const Zone *in = zone(&arena, zones[i]);
      Instant from = grain_floor(grain, in, at("2005-01-01T00:00:00Z")), end = at("2014-01-01T00:00:00Z");
      int64_t count = 0;
      Instant start = from;
      for (; start < end; count++) {
        Instant next = grain_next(grain, in, start);
        if (next <= start || grain_floor(grain, in, start) != start || grain_floor(grain, in, next - 1) != start ||
            grain_floor(grain, in, start + (next - start) / 2) != start)
          fail_msg("%s %s %lld", zones[i], grain_name(grain), (long long)start);
        start = next;
      }
      DateRange range = {from, start};
      assert_int_equal(date_range_count(&range, grain, in), count);
    }
  arena_release(&arena);
}

static void far_ends_do_no_harm(void **state) {
  Arena arena = {0};
  const Zone *berlin = zone(&arena, "Europe/Berlin");
  for (Grain grain = GRAIN_HOUR; grain <= GRAIN_YEAR; grain++) {
    char label[32];
    assert_true(grain_floor(grain, berlin, INT64_MAX) > INSTANT_MAX);
    assert_true(grain_floor(grain, berlin, INT64_MIN) < INSTANT_MIN);
    assert_true(grain_next(grain, berlin, INSTANT_MAX) > INSTANT_MAX);
    grain_label(grain, berlin, INT64_MAX, label);
  }
  arena_release(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(names),
                                     cmocka_unit_test(starts_in_utc),
                                     cmocka_unit_test(days_have_23_or_25_hours),
                                     cmocka_unit_test(hours_in_a_fold_have_their_offset),
                                     cmocka_unit_test(half_hours),
                                     cmocka_unit_test(midnight_in_a_gap),
                                     cmocka_unit_test(the_day_that_apia_went_over),
                                     cmocka_unit_test(dates_never_go_backwards),
                                     cmocka_unit_test(starts_part_the_time_without_holes),
                                     cmocka_unit_test(far_ends_do_no_harm)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
