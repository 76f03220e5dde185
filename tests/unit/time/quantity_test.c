#include "time/quantity.h"

#include "time_test.h"

static void durations(void **state) {
  static const struct {
    const char *text;
    double seconds;
  } good[] = {{"15m", 900},     {"90s", 90},
              {"1.5s", 1.5},    {"2h", 7200},
              {"7d", 604800},   {"1h30m", 5400},
              {"500ms", 0.5},   {"0s", 0},
              {"1h 30m", 5400}, {"15 min", 900},
              {" 20m ", 1200},  {"7 days", 604800},
              {"1 day", 86400}, {"1d2h3m4s5ms", 93784.005}};
  static const char *const bad[] = {"",
                                    "15",
                                    "-15m",
                                    "m",
                                    "15x",
                                    "15M",
                                    "1m1h",
                                    "1m1m",
                                    "1e3s",
                                    "0x10s",
                                    "1,5s",
                                    "1.s",
                                    ".5s",
                                    "inf",
                                    "nan",
                                    "15m 3",
                                    "1h-3m",
                                    "99999999d",
                                    "9999999999999999999999s",
                                    "15 minutes",
                                    "+5m"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    double seconds = -1;
    Error err = {0};
    if (!duration_parse(good[i].text, &seconds, &err)) fail_msg("%s: %s", good[i].text, err.message);
    if (seconds != good[i].seconds) fail_msg("%s is %g", good[i].text, seconds);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    double seconds = -1;
    Error err = {0};
    if (duration_parse(bad[i], &seconds, &err)) fail_msg("accepted: %s", bad[i]);
    assert_int_equal(err.code, ERR_SPEC);
    assert_true(seconds == -1);
  }
  double seconds;
  Error err = {0};
  assert_false(duration_parse("15", &seconds, &err));
  assert_contains(err.message, "unit is missing");
  assert_contains(err.hint, "15m");
}

static void sizes(void **state) {
  static const struct {
    const char *text;
    int64_t bytes;
  } good[] = {{"1 GB", 1000000000}, {"500MB", 500000000},   {"64 KiB", 65536},
              {"1000", 1000},       {"1.5 GB", 1500000000}, {"0", 0},
              {"1kb", 1000},        {"1 GiB", 1 << 30},     {"2TB", 2000000000000},
              {"10 B", 10}};
  static const char *const bad[] = {
      "", "GB", "-1 GB", "1 XB", "1.5", "1 GB x", "9 EB", "9999 TiB x", "99999999999999999", "1e9", "1 G", "100000 PB"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    int64_t bytes = -1;
    Error err = {0};
    if (!size_parse(good[i].text, &bytes, &err)) fail_msg("%s: %s", good[i].text, err.message);
    assert_int_equal(bytes, good[i].bytes);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    int64_t bytes;
    Error err = {0};
    if (size_parse(bad[i], &bytes, &err)) fail_msg("accepted: %s", bad[i]);
    assert_int_equal(err.code, ERR_SPEC);
  }
}

static void shares(void **state) {
  static const struct {
    const char *text;
    double share;
  } good[] = {{"50 %", 0.5}, {"50%", 0.5}, {"0.5", 0.5},     {"0", 0},
              {"1", 1},      {"100 %", 1}, {"0.1 %", 0.001}, {"95%", 0.95}};
  static const char *const bad[] = {"", "50", "-1%", "101 %", "1.1", "half", "50 % x", "%", "50%%"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    double share = -1;
    Error err = {0};
    if (!share_parse(good[i].text, &share, &err)) fail_msg("%s: %s", good[i].text, err.message);
    if (share != good[i].share) fail_msg("%s is %.17g", good[i].text, share);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    double share;
    Error err = {0};
    if (share_parse(bad[i], &share, &err)) fail_msg("accepted: %s", bad[i]);
    assert_int_equal(err.code, ERR_SPEC);
  }
}

static void duration_labels(void **state) {
  static const struct {
    double seconds;
    const char *label;
  } known[] = {{0.041, "41 ms"},      {3.2, "3.2 s"},   {130, "2m 10s"},    {11400, "3h 10m"},
               {604800, "7 days"},    {0, "0 ms"},      {0.0004, "0.4 ms"}, {0.00001, "<0.1 ms"},
               {0.9999, "1.0 s"},     {9.96, "10 s"},   {59.6, "1m"},       {60, "1m"},
               {3599.7, "1h"},        {3600, "1h"},     {86399, "1 day"},   {86400, "1 day"},
               {129600, "1 day 12h"}, {-90, "-1m 30s"}, {0.0096, "10 ms"},  {42, "42 s"}};
  char label[32];
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    duration_label(known[i].seconds, label);
    assert_string_equal(label, known[i].label);
  }
  duration_label(0.0 / 0.0, label);
  assert_string_equal(label, "unknown");
  duration_label(1e300, label);
  assert_string_equal(label, "for ever");
}

static void size_labels(void **state) {
  static const struct {
    int64_t bytes;
    const char *label;
  } known[] = {{101000000, "101 MB"}, {1200000000, "1.2 GB"}, {0, "0 B"},
               {999, "999 B"},        {1000, "1.0 kB"},       {999600, "1.0 MB"},
               {65536, "66 kB"},      {-1500, "-1.5 kB"},     {9960, "10 kB"},
               {INT64_MAX, "9.2 EB"}, {INT64_MIN, "-9.2 EB"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    char label[32];
    size_label(known[i].bytes, label);
    assert_string_equal(label, known[i].label);
  }
}

static void instants_as_text(void **state) {
  Arena arena = {0};
  char text[40];
  assert_instant(1359694800, zone(&arena, "America/New_York"), "2013-02-01T00:00:00-05:00");
  assert_instant(1359694800, zone_utc(), "2013-02-01T05:00:00+00:00");
  assert_instant(0, zone(&arena, "Asia/Kathmandu"), "1970-01-01T05:30:00+05:30");
  assert_instant(INT64_MAX, zone(&arena, "Asia/Tokyo"), "9999-12-31T23:59:59+00:00");
  assert_instant(INT64_MIN, zone_utc(), "0001-01-01T00:00:00+00:00");
  /* New York's local mean time was -4:56:02: RFC 3339 has no seconds in offsets, and the instant must stay right. */
  const Instant old = -3000000000;
  Instant back;
  Error err = {0};
  instant_rfc3339(old, zone(&arena, "America/New_York"), text);
  assert_contains(text, "-04:56");
  assert_true(instant_parse(text, &back, &err));
  assert_int_equal(back, old);
  arena_release(&arena);
}

static void instants_from_text(void **state) {
  static const struct {
    const char *text;
    Instant instant;
  } good[] = {{"2013-02-01T00:00:00-05:00", 1359694800},
              {"2013-02-01T05:00:00Z", 1359694800},
              {"2013-02-01 05:00:00+00:00", 1359694800},
              {"2013-02-01T05:00:00.999Z", 1359694800},
              {"1969-12-31T23:59:59Z", -1}};
  static const char *const bad[] = {"",
                                    "2013-02-01",
                                    "2013-02-01T05:00:00",
                                    "2013-02-01T05:00Z",
                                    "2013-02-30T05:00:00Z",
                                    "2013-02-01T24:00:00Z",
                                    "2013-02-01x05:00:00Z",
                                    "0001-01-01T00:00:00+01:00",
                                    "9999-12-31T23:59:59-01:00",
                                    "2013-02-01T05:00:00 Z",
                                    "now"};
  Instant instant;
  Error err = {0};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    if (!instant_parse(good[i].text, &instant, &err)) fail_msg("%s: %s", good[i].text, err.message);
    assert_int_equal(instant, good[i].instant);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    if (instant_parse(bad[i], &instant, &err)) fail_msg("accepted: %s", bad[i]);
    assert_int_equal(err.code, ERR_USAGE);
  }
  assert_false(instant_parse("2013-02-01T05:00:00", &instant, &err));
  assert_contains(err.message, "offset is missing");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(durations),         cmocka_unit_test(sizes),       cmocka_unit_test(shares),
      cmocka_unit_test(duration_labels),   cmocka_unit_test(size_labels), cmocka_unit_test(instants_as_text),
      cmocka_unit_test(instants_from_text)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
