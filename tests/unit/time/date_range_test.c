#include "time/grain.h"
#include "time_test.h"

static void assert_range(const char *text, Grain grain, const Zone *in, const char *from, const char *to) {
  DateRange range;
  Error err = {0};
  if (!date_range_parse(text, grain, in, &range, &err)) fail_msg("%s: %s", text, err.message);
  assert_instant(range.from, in, from);
  assert_instant(range.to, in, to);
}

static void both_ends_are_included(void **state) {
  Arena arena = {0};
  const Zone *new_york = zone(&arena, "America/New_York"), *utc = zone_utc();
  assert_range("2013-02-01..2013-02-28", GRAIN_DAY, new_york, "2013-02-01T00:00:00-05:00", "2013-03-01T00:00:00-05:00");
  assert_range(" 2013-03-10 .. 2013-03-10 ", GRAIN_DAY, new_york, "2013-03-10T00:00:00-05:00",
               "2013-03-11T00:00:00-04:00");
  assert_range("2013-02-01", GRAIN_DAY, utc, "2013-02-01T00:00:00+00:00", "2013-02-02T00:00:00+00:00");
  assert_range("2013-02", GRAIN_MONTH, utc, "2013-02-01T00:00:00+00:00", "2013-03-01T00:00:00+00:00");
  assert_range("2012-12..2013-01", GRAIN_MONTH, utc, "2012-12-01T00:00:00+00:00", "2013-02-01T00:00:00+00:00");
  assert_range("2013-02-01..2013-02-28", GRAIN_MONTH, utc, "2013-02-01T00:00:00+00:00", "2013-03-01T00:00:00+00:00");
  assert_range("2013-02..2013-03-31", GRAIN_MONTH, utc, "2013-02-01T00:00:00+00:00", "2013-04-01T00:00:00+00:00");
  assert_range("2012..2013", GRAIN_YEAR, utc, "2012-01-01T00:00:00+00:00", "2014-01-01T00:00:00+00:00");
  assert_range("2013-02-04..2013-02-17", GRAIN_WEEK, utc, "2013-02-04T00:00:00+00:00", "2013-02-18T00:00:00+00:00");
  assert_range("2013-02-01T05..2013-02-01T06", GRAIN_HOUR, utc, "2013-02-01T05:00:00+00:00",
               "2013-02-01T07:00:00+00:00");
  assert_range("2013-02-01..2013-02-01", GRAIN_HOUR, utc, "2013-02-01T00:00:00+00:00", "2013-02-02T00:00:00+00:00");
  assert_range("2013-02-28T23..2013-03-01", GRAIN_HOUR, utc, "2013-02-28T23:00:00+00:00", "2013-03-02T00:00:00+00:00");
  arena_release(&arena);
}

static void an_hour_in_a_fold(void **state) {
  Arena arena = {0};
  const Zone *new_york = zone(&arena, "America/New_York"), *lord_howe = zone(&arena, "Australia/Lord_Howe");
  assert_range("2013-11-03T01", GRAIN_HOUR, new_york, "2013-11-03T01:00:00-04:00", "2013-11-03T02:00:00-05:00");
  assert_range("2013-11-03T01-04:00", GRAIN_HOUR, new_york, "2013-11-03T01:00:00-04:00", "2013-11-03T01:00:00-05:00");
  assert_range("2013-11-03T01-05:00", GRAIN_HOUR, new_york, "2013-11-03T01:00:00-05:00", "2013-11-03T02:00:00-05:00");
  assert_range("2019-04-07T01", GRAIN_HOUR, lord_howe, "2019-04-07T01:00:00+11:00", "2019-04-07T02:00:00+10:30");
  assert_range("2019-10-06T02", GRAIN_HOUR, lord_howe, "2019-10-06T02:30:00+11:00", "2019-10-06T03:00:00+11:00");
  arena_release(&arena);
}

static void refused_with_the_reason(void **state) {
  static const struct {
    const char *text;
    Grain grain;
    const char *message, *hint;
  } refused[] = {
      {"", GRAIN_DAY, "empty", "FROM..TO"},
      {"2013-02-01..", GRAIN_DAY, "open end", "FROM..TO"},
      {"..2013-02-01", GRAIN_DAY, "open end", "FROM..TO"},
      {"..", GRAIN_DAY, "open end", "FROM..TO"},
      {"yesterday", GRAIN_DAY, "words are refused", "YYYY-MM-DD"},
      {"2013-02-01..today", GRAIN_DAY, "words are refused", "YYYY-MM-DD"},
      {"2013-02-28..2013-02-01", GRAIN_DAY, "ends (2013-02-01) before it starts (2013-02-28)", "earlier"},
      {"2013-02-30", GRAIN_DAY, "2013-02-30 does not exist: Feb 2013 has 28 days", "exists"},
      {"2013-02-29..2013-03-01", GRAIN_DAY, "28 days", "exists"},
      {"2013-13-01", GRAIN_DAY, "12 months", "exists"},
      {"2013-13", GRAIN_MONTH, "12 months", "exists"},
      {"0000-01-01", GRAIN_DAY, "0001 to 9999", "exists"},
      {"0000", GRAIN_YEAR, "not a date", "YYYY"},
      {"2013-02", GRAIN_DAY, "not a date of the grain day", "YYYY-MM-DD"},
      {"2013", GRAIN_MONTH, "not a date of the grain month", "YYYY-MM"},
      {"2013-02", GRAIN_YEAR, "not a date of the grain year", "YYYY"},
      {"2013-02-01T05", GRAIN_DAY, "not a date of the grain day", "YYYY-MM-DD"},
      {"2013-02-01T24", GRAIN_HOUR, "not a date of the grain hour", "YYYY-MM-DDTHH"},
      {"2013-02-30T05", GRAIN_HOUR, "does not exist", "exists"},
      {"2013-2-1", GRAIN_DAY, "not a date", "YYYY-MM-DD"},
      {"2013-02-01 - 2013-02-02", GRAIN_DAY, "not a date", "FROM..TO"},
      {"2013-02-01...2013-02-02", GRAIN_DAY, "not a date", "FROM..TO"},
      {"20130201", GRAIN_DAY, "not a date", "YYYY-MM-DD"},
      {"+013-02-01", GRAIN_DAY, "not a date", "YYYY-MM-DD"},
      {"2013-02-03..2013-02-28", GRAIN_MONTH, "not made of whole months", "write 2013-02-01..2013-02-28"},
      {"2013-01-15..2013-03-15", GRAIN_MONTH, "whole months", "2013-02-01..2013-02-28 or 2013-01-01..2013-03-31"},
      {"2013-02-04", GRAIN_WEEK, "not made of whole weeks", "write 2013-02-04..2013-02-10"},
      {"2013-02-04..2013-02-11", GRAIN_WEEK, "weeks", "2013-02-04..2013-02-10 or 2013-02-04..2013-02-17"},
      {"2013-01-02..2013-12-31", GRAIN_YEAR, "whole years", "2013-01-01..2013-12-31"},
  };
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    DateRange range = {1, 2};
    Error err = {0};
    if (date_range_parse(refused[i].text, refused[i].grain, zone_utc(), &range, &err))
      fail_msg("accepted: %s", refused[i].text);
    assert_int_equal(err.code, ERR_SPEC);
    assert_contains(err.message, refused[i].message);
    assert_contains(err.hint, refused[i].hint);
    assert_true(range.from == 1 && range.to == 2);
  }
}

static void what_the_zone_went_over_is_refused(void **state) {
  Arena arena = {0};
  DateRange range;
  Error err = {0};
  assert_false(date_range_parse("2011-12-30", GRAIN_DAY, zone(&arena, "Pacific/Apia"), &range, &err));
  assert_contains(err.message, "does not exist in Pacific/Apia");
  assert_false(date_range_parse("2013-03-10T02", GRAIN_HOUR, zone(&arena, "America/New_York"), &range, &err));
  assert_contains(err.message, "does not exist in America/New_York");
  assert_false(date_range_parse("2013-11-03T01-06:00", GRAIN_HOUR, zone(&arena, "America/New_York"), &range, &err));
  assert_range("2022-03-27", GRAIN_DAY, zone(&arena, "Asia/Hebron"), "2022-03-27T01:00:00+03:00",
               "2022-03-28T00:00:00+03:00");
  arena_release(&arena);
}

/* What grain_label writes must be read back as the same date. */
static void labels_are_read_back(void **state) {
  static const char *const zones[] = {"UTC", "America/New_York", "Australia/Lord_Howe", "Antarctica/Troll",
                                      "Pacific/Apia"};
  static const Grain grains[] = {GRAIN_HOUR, GRAIN_DAY, GRAIN_MONTH, GRAIN_YEAR};
  Arena arena = {0};
  for (size_t i = 0; i < sizeof zones / sizeof *zones; i++)
    for (size_t j = 0; j < sizeof grains / sizeof *grains; j++) {
      const Zone *in = zone(&arena, zones[i]);
      Instant start = grain_floor(grains[j], in, at("2011-01-01T00:00:00Z"));
      while (start < at("2012-07-01T00:00:00Z")) {
        char label[32];
        DateRange range;
        Error err = {0};
        grain_label(grains[j], in, start, label);
        if (!date_range_parse(label, grains[j], in, &range, &err)) fail_msg("%s: %s", label, err.message);
        Instant next = grain_next(grains[j], in, start);
        if (range.from != start || range.to != next) fail_msg("%s %s", zones[i], label);
        start = next;
      }
    }
  arena_release(&arena);
}

static void ranges_as_a_person_reads_them(void **state) {
  static const struct {
    const char *text;
    Grain grain;
    const char *label;
  } known[] = {{"2013-02-01..2013-02-28", GRAIN_DAY, "1–28 Feb 2013"},
               {"2013-01-25..2013-02-03", GRAIN_DAY, "25 Jan – 3 Feb 2013"},
               {"2012-12-28..2013-01-02", GRAIN_DAY, "28 Dec 2012 – 2 Jan 2013"},
               {"2012-02-01..2013-02-28", GRAIN_DAY, "1 Feb 2012 – 28 Feb 2013"},
               {"2013-02-01", GRAIN_DAY, "1 Feb 2013"},
               {"2013-02..2013-04", GRAIN_MONTH, "2013-02 – 2013-04"},
               {"2013-02", GRAIN_MONTH, "2013-02"},
               {"2012..2013", GRAIN_YEAR, "2012 – 2013"},
               {"2013-02-04..2013-02-17", GRAIN_WEEK, "2013-02-04 – 2013-02-11"},
               {"2013-02-01T05..2013-02-01T07", GRAIN_HOUR, "2013-02-01T05 – 2013-02-01T07"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    char label[96];
    DateRange range;
    Error err = {0};
    assert_true(date_range_parse(known[i].text, known[i].grain, zone_utc(), &range, &err));
    date_range_label(&range, known[i].grain, zone_utc(), label);
    assert_string_equal(label, known[i].label);
  }
  char label[96];
  const DateRange empty = {5, 5};
  date_range_label(&empty, GRAIN_DAY, zone_utc(), label);
  assert_string_equal(label, "no date");
}

static void dates_are_counted(void **state) {
  static const struct {
    const char *text;
    Grain grain;
    int64_t count;
  } known[] = {{"2013-02-01..2013-02-28", GRAIN_DAY, 28},     {"2013-02-01", GRAIN_HOUR, 24},
               {"2012-02..2013-01", GRAIN_MONTH, 12},         {"0001..9999", GRAIN_YEAR, 9999},
               {"2013-02-04..2013-02-17", GRAIN_WEEK, 2},     {"2012-01-01..2012-12-31", GRAIN_DAY, 366},
               {"0001-01-01..9999-12-31", GRAIN_DAY, 3652059}};
  DateRange range;
  Error err = {0};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    assert_true(date_range_parse(known[i].text, known[i].grain, zone_utc(), &range, &err));
    assert_int_equal(date_range_count(&range, known[i].grain, zone_utc()), known[i].count);
  }
  range = (DateRange){10, 5};
  assert_int_equal(date_range_count(&range, GRAIN_DAY, zone_utc()), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_ends_are_included),  cmocka_unit_test(an_hour_in_a_fold),
      cmocka_unit_test(refused_with_the_reason), cmocka_unit_test(what_the_zone_went_over_is_refused),
      cmocka_unit_test(labels_are_read_back),    cmocka_unit_test(ranges_as_a_person_reads_them),
      cmocka_unit_test(dates_are_counted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
