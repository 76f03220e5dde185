#include "time/datecodec.h"

#include <math.h>

#include "time_test.h"

static bool read_text(const DateCodec *codec, const char *text, Instant *ret) {
  /* Exactly its bytes, without a NUL, so that reading one more is seen. */
  size_t n = strlen(text);
  char *copy = test_malloc(n == 0 ? 1 : n);
  memcpy(copy, text, n);
  bool ok = datecodec_from_text(codec, copy, n, ret);
  test_free(copy);
  return ok;
}

static void names(void **state) {
  static const char *const words[DATE_KINDS] = {"date",  "timestamp",  "unix_seconds", "unix_millis", "julian_day",
                                                "month", "basic_date", "yyyymmdd",     "yyyymm"};
  DateKind kind;
  for (int i = 0; i < DATE_KINDS; i++) {
    assert_true(date_kind_parse(words[i], &kind));
    assert_int_equal(kind, i);
    assert_string_equal(date_kind_name(kind), words[i]);
  }
  assert_false(date_kind_parse("epoch", &kind));
}

static void dates_are_civil_days(void **state) {
  Arena arena = {0};
  const Zone *new_york = zone(&arena, "America/New_York");
  const DateCodec day = {DATE_TEXT, GRAIN_DAY, new_york, ' '}, month = {DATE_TEXT, GRAIN_MONTH, new_york, ' '};
  const DateCodec week = {DATE_TEXT, GRAIN_WEEK, new_york, ' '};
  Instant date;
  assert_true(read_text(&day, "2013-07-04", &date));
  assert_instant(date, new_york, "2013-07-04T00:00:00-04:00");
  assert_true(read_text(&month, "2013-07-04", &date));
  assert_instant(date, new_york, "2013-07-01T00:00:00-04:00");
  assert_true(read_text(&week, "2013-03-10", &date));
  assert_instant(date, new_york, "2013-03-04T00:00:00-05:00");
  arena_release(&arena);
}

static void text_that_is_no_date_is_refused(void **state) {
  static const char *const bad[] = {"",           "2013-02-30",       "2013-02-1",  "2013-2-01",
                                    "2013/02/01", "2013-02-01 ",      "0000-01-01", "2013-00-01",
                                    "2013-01-00", "2013-02-01 00:00", " 2013-02-0", "2013-02-0a",
                                    "-013-02-01", "20130201",         "NULL",       "2013-02-:1"};
  const DateCodec codec = {DATE_TEXT, GRAIN_DAY, zone_utc(), ' '};
  Instant date;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    if (read_text(&codec, bad[i], &date)) fail_msg("accepted: %s", bad[i]);
}

static void stamps(void **state) {
  static const struct {
    const char *text, *instant;
  } good[] = {
      {"2013-02-01 05:06", "2013-02-01T05:06:00Z"},         {"2013-02-01 05:06:07", "2013-02-01T05:06:07Z"},
      {"2013-02-01 05:06:07.999", "2013-02-01T05:06:07Z"},  {"2013-02-01 05:06:07.999999999Z", "2013-02-01T05:06:07Z"},
      {"2013-02-01 05:06Z", "2013-02-01T05:06:00Z"},        {"2013-02-01 05:06:07+02:00", "2013-02-01T03:06:07Z"},
      {"2013-02-01 23:30:00-05:30", "2013-02-02T05:00:00Z"}};
  static const char *const bad[] = {"2013-02-01",
                                    "2013-02-01 24:00:00",
                                    "2013-02-01 05:60",
                                    "2013-02-01 05:06:60",
                                    "2013-02-01 05:06:07.",
                                    "2013-02-01 05",
                                    "2013-02-01 5:06",
                                    "2013-02-30 05:06",
                                    "2013-02-01 05:06 ",
                                    "2013-02-01 05:06:7",
                                    "2013-02-01 05:06z",
                                    "2013-02-01 05:06+2",
                                    "2013-02-01 05:06+0200",
                                    "2013-02-01 05:06+24:00",
                                    "2013-02-01_05:06",
                                    "2013-02-01T05:06",
                                    "0001-01-01 00:00+01:00",
                                    "9999-12-31 23:59-01:00"};
  const DateCodec codec = {TIMESTAMP_TEXT, GRAIN_HOUR, zone_utc(), ' '};
  Instant date;
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    if (!read_text(&codec, good[i].text, &date)) fail_msg("refused: %s", good[i].text);
    assert_int_equal(date, grain_floor(GRAIN_HOUR, zone_utc(), at(good[i].instant)));
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    if (read_text(&codec, bad[i], &date)) fail_msg("accepted: %s", bad[i]);
  const DateCodec either = {TIMESTAMP_TEXT, GRAIN_DAY, zone_utc(), '\0'};
  assert_true(read_text(&either, "2013-02-01T05:06", &date));
  assert_true(read_text(&either, "2013-02-01 05:06", &date));
}

static void an_instant_belongs_to_the_zones_day(void **state) {
  Arena arena = {0};
  const Zone *new_york = zone(&arena, "America/New_York");
  const DateCodec stamp = {TIMESTAMP_TEXT, GRAIN_DAY, new_york, 'T'},
                  seconds = {UNIX_SECONDS, GRAIN_DAY, new_york, ' '};
  Instant date;
  assert_true(read_text(&stamp, "2013-02-01T04:59:59", &date));
  assert_instant(date, new_york, "2013-01-31T00:00:00-05:00");
  assert_true(read_text(&stamp, "2013-02-01T05:00:00", &date));
  assert_instant(date, new_york, "2013-02-01T00:00:00-05:00");
  assert_true(datecodec_from_int(&seconds, at("2013-02-01T04:59:59Z"), &date));
  assert_instant(date, new_york, "2013-01-31T00:00:00-05:00");
  arena_release(&arena);
}

static void numbers(void **state) {
  const Zone *utc = zone_utc();
  const DateCodec seconds = {UNIX_SECONDS, GRAIN_DAY, utc, ' '}, millis = {UNIX_MILLIS, GRAIN_DAY, utc, ' '};
  const DateCodec julian = {JULIAN_DAY, GRAIN_DAY, utc, ' '}, text = {DATE_TEXT, GRAIN_DAY, utc, ' '};
  Instant date, epoch = 0;
  assert_true(datecodec_from_int(&millis, -1, &date));
  assert_int_equal(date, -86400);
  assert_true(datecodec_from_real(&seconds, -0.5, &date));
  assert_int_equal(date, -86400);
  assert_true(datecodec_from_real(&seconds, 86399.999, &date));
  assert_int_equal(date, epoch);
  assert_true(datecodec_from_real(&julian, 2440587.5, &date));
  assert_int_equal(date, epoch);
  assert_true(datecodec_from_real(&julian, 2440587.49, &date));
  assert_int_equal(date, -86400);
  assert_true(datecodec_from_int(&julian, 2440588, &date));
  assert_int_equal(date, epoch);
  assert_false(datecodec_from_int(&text, 0, &date));
  assert_false(datecodec_from_real(&text, 0, &date));
  assert_false(read_text(&seconds, "2013-02-01", &date));
}

static void numbers_out_of_range_are_refused(void **state) {
  static const double reals[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 1e15};
  static const int64_t integers[] = {INT64_MAX, INT64_MIN};
  static const DateKind kinds[] = {UNIX_SECONDS, UNIX_MILLIS, JULIAN_DAY, DAY_NUMBER, MONTH_NUMBER};
  Instant date;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const DateCodec codec = {kinds[i], GRAIN_DAY, zone_utc(), ' '};
    for (size_t j = 0; j < sizeof reals / sizeof *reals; j++)
      assert_false(datecodec_from_real(&codec, reals[j], &date));
    for (size_t j = 0; j < 2; j++) assert_false(datecodec_from_int(&codec, integers[j], &date));
  }
  const DateCodec seconds = {UNIX_SECONDS, GRAIN_DAY, zone_utc(), ' '};
  assert_true(datecodec_from_int(&seconds, INSTANT_MAX, &date));
  assert_false(datecodec_from_int(&seconds, INSTANT_MAX + 1, &date));
  assert_true(datecodec_from_int(&seconds, INSTANT_MIN, &date));
  assert_false(datecodec_from_int(&seconds, INSTANT_MIN - 1, &date));
}

/* Days and months without dashes or without a day, as text and as number. */
static void other_forms_of_days_and_months(void **state) {
  static const struct {
    DateKind kind;
    const char *day, *next, *after_all;
  } forms[] = {{MONTH_TEXT, "2024-02", "2024-03", "9999-13"},
               {BASIC_TEXT, "20240201", "20240202", "99991232"},
               {DAY_NUMBER, "20240201", "20240202", "99991232"},
               {MONTH_NUMBER, "202402", "202403", "999913"}};
  static const char *const bad[] = {"2024-13",  "2024-00", "2024-1", "0000-01",  "2024-02-01", "20240230", "20230229",
                                    "20241301", "2024021", "202400", "00000000", "2024 1",     "-2024021", "202413"};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    const DateCodec codec = {forms[i].kind, date_kind_usual_grain(forms[i].kind), zone_utc(), ' '};
    Instant date;
    assert_true(datecodec_from_written(&codec, forms[i].day, &date));
    assert_int_equal(date, at("2024-02-01T00:00:00Z"));
    DateBound bound = datecodec_bound(&codec, date), next = datecodec_bound(&codec, date + 1);
    DateBound last = datecodec_bound(&codec, at("9999-12-31T00:00:00Z") + 86400);
    assert_string_equal(bound.text, forms[i].day);
    assert_string_equal(next.text, forms[i].next); /* a row of the day is not of what begins later in it */
    assert_string_equal(last.text, forms[i].after_all);
    assert_int_equal(bound.type, date_kind_is_text(forms[i].kind) ? BOUND_TEXT : BOUND_INT);
    if (bound.type == BOUND_INT) assert_int_equal(bound.integer, strtol(forms[i].day, NULL, 10));
    for (size_t j = 0; j < sizeof bad / sizeof *bad; j++)
      if (datecodec_from_written(&codec, bad[j], &date)) fail_msg("%s: %s", date_kind_name(forms[i].kind), bad[j]);
  }
  const DateCodec number = {DAY_NUMBER, GRAIN_MONTH, zone_utc(), ' '}, text = {BASIC_TEXT, GRAIN_DAY, zone_utc(), ' '};
  Instant date;
  assert_true(datecodec_from_int(&number, 20240229, &date));
  assert_int_equal(date, at("2024-02-01T00:00:00Z"));
  assert_true(datecodec_from_real(&number, 20240229.0, &date));
  assert_false(datecodec_from_real(&number, 20240229.5, &date));
  assert_false(datecodec_from_int(&text, 20240229, &date));
  assert_false(read_text(&number, "20240229", &date));
}

static void the_day_that_apia_went_over(void **state) {
  Arena arena = {0};
  const DateCodec codec = {DATE_TEXT, GRAIN_DAY, zone(&arena, "Pacific/Apia"), ' '};
  Instant date;
  assert_false(read_text(&codec, "2011-12-30", &date));
  assert_true(read_text(&codec, "2011-12-31", &date));
  arena_release(&arena);
}

static void bounds_in_text(void **state) {
  Arena arena = {0};
  const Zone *new_york = zone(&arena, "America/New_York"), *utc = zone_utc();
  const Instant new_york_day = at("2013-02-01T00:00:00-05:00"), utc_day = at("2013-02-01T00:00:00Z");
  const DateCodec date = {DATE_TEXT, GRAIN_DAY, new_york, ' '}, stamp = {TIMESTAMP_TEXT, GRAIN_DAY, new_york, 'T'};
  const DateCodec stamp_utc = {TIMESTAMP_TEXT, GRAIN_DAY, utc, ' '}, hour_dates = {DATE_TEXT, GRAIN_HOUR, utc, ' '};
  assert_int_equal(datecodec_bound(&date, new_york_day).type, BOUND_TEXT);
  assert_string_equal(datecodec_bound(&date, new_york_day).text, "2013-02-01");
  assert_string_equal(datecodec_bound(&stamp, new_york_day).text, "2013-02-01T05:00");
  assert_string_equal(datecodec_bound(&stamp_utc, utc_day).text, "2013-02-01");
  assert_string_equal(datecodec_bound(&stamp_utc, utc_day + 3661).text, "2013-02-01 01:01:01");
  /* A row of the 1st is of its first hour, and not of a range that begins in a later one. */
  assert_string_equal(datecodec_bound(&hour_dates, utc_day + 3600).text, "2013-02-02");
  assert_string_equal(datecodec_bound(&date, at("9999-12-31T00:00:00-05:00") + 86400).text, "9999-12-32");
  arena_release(&arena);
}

/* Law: column >= bound(date) exactly when the row's date is `date` or later. */
static void text_sorts_as_its_date(void **state) {
  static const char *const rows[] = {"2013-01-31T23:59:59.999", "2013-02-01T00:00",         "2013-02-01T00:00:00",
                                     "2013-02-01T04:59",        "2013-02-01T04:59:59.999Z", "2013-02-01T05:00",
                                     "2013-02-01T05:00Z",       "2013-02-01T05:00:00",      "2013-02-01T05:00:00.5",
                                     "2013-02-01T05:00:01",     "2013-02-01T06:00",         "2013-02-02T04:59:59",
                                     "2013-02-02T05:00"};
  static const char *const zones[] = {"UTC", "America/New_York", "Asia/Kolkata"};
  Arena arena = {0};
  for (size_t z = 0; z < 3; z++)
    for (Grain grain = GRAIN_HOUR; grain <= GRAIN_WEEK; grain++) {
      const Zone *in = zone(&arena, zones[z]);
      const DateCodec codec = {TIMESTAMP_TEXT, grain, in, 'T'};
      Instant date = grain_floor(grain, in, at("2013-01-31T00:00:00Z"));
      for (; date < at("2013-02-05T00:00:00Z"); date = grain_next(grain, in, date))
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
          Instant row;
          assert_true(read_text(&codec, rows[i], &row));
          DateBound bound = datecodec_bound(&codec, date);
          if ((strcmp(rows[i], bound.text) >= 0) != (row >= date)) fail_msg("%s against %s", rows[i], bound.text);
        }
    }
  arena_release(&arena);
}

static void numbers_sort_as_their_date(void **state) {
  Arena arena = {0};
  const Zone *new_york = zone(&arena, "America/New_York");
  const DateCodec julian = {JULIAN_DAY, GRAIN_DAY, new_york, ' '}, seconds = {UNIX_SECONDS, GRAIN_DAY, new_york, ' '};
  const DateCodec millis = {UNIX_MILLIS, GRAIN_DAY, new_york, ' '};
  for (Instant date = at("0800-01-01T05:00:00Z"); date < at("9990-01-01T00:00:00Z"); date += INT64_C(9876543210)) {
    Instant start = grain_floor(GRAIN_DAY, new_york, date), row;
    double bound = datecodec_bound(&julian, start).real;
    assert_true(datecodec_from_real(&julian, bound, &row) && row == start);
    assert_true(datecodec_from_real(&julian, nextafter(bound, 0), &row) && row < start);
    /* What SQLite's julianday() writes for this very instant. */
    double written = (double)(start * 1000 + INT64_C(210866760000000)) / 86400000.0;
    assert_true(written >= bound && written - bound < 1e-8);
    assert_true(datecodec_bound(&seconds, start).integer == start);
    assert_true(datecodec_from_int(&millis, datecodec_bound(&millis, start).integer, &row) && row == start);
    assert_true(datecodec_from_int(&millis, datecodec_bound(&millis, start).integer - 1, &row) && row < start);
  }
  arena_release(&arena);
}

static void guesses(void **state) {
  DateKind kind;
  char separator = 'x';
  assert_true(datecodec_guess_text("2013-02-01", 10, &kind, &separator));
  assert_int_equal(kind, DATE_TEXT);
  assert_true(datecodec_guess_text("2013-02-01T05:06:07Z", 20, &kind, &separator));
  assert_int_equal(kind, TIMESTAMP_TEXT);
  assert_int_equal(separator, 'T');
  assert_true(datecodec_guess_text("2013-02-01 05:06", 16, &kind, &separator));
  assert_int_equal(separator, ' ');
  assert_true(datecodec_guess_text("2013-02", 7, &kind, &separator));
  assert_int_equal(kind, MONTH_TEXT);
  assert_true(datecodec_guess_text("20130201", 8, &kind, &separator));
  assert_int_equal(kind, BASIC_TEXT);
  assert_false(datecodec_guess_text("45130201", 8, &kind, &separator));
  assert_false(datecodec_guess_text("2013-02-30", 10, &kind, &separator));
  assert_false(datecodec_guess_text("2013-02-01x05:06", 16, &kind, &separator));
  assert_false(datecodec_guess_text("ORD", 3, &kind, &separator));
  assert_false(datecodec_guess_text("", 0, &kind, &separator));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(names),
                                     cmocka_unit_test(dates_are_civil_days),
                                     cmocka_unit_test(text_that_is_no_date_is_refused),
                                     cmocka_unit_test(stamps),
                                     cmocka_unit_test(an_instant_belongs_to_the_zones_day),
                                     cmocka_unit_test(numbers),
                                     cmocka_unit_test(numbers_out_of_range_are_refused),
                                     cmocka_unit_test(other_forms_of_days_and_months),
                                     cmocka_unit_test(the_day_that_apia_went_over),
                                     cmocka_unit_test(bounds_in_text),
                                     cmocka_unit_test(text_sorts_as_its_date),
                                     cmocka_unit_test(numbers_sort_as_their_date),
                                     cmocka_unit_test(guesses)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
