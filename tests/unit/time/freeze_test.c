#include "time/freeze.h"

#include "time_test.h"

static Freeze freeze(Arena *arena, const char *text) {
  Freeze ret = {0};
  Error err = {0};
  if (!freeze_parse(arena, text, &ret, &err)) fail_msg("%s: %s", text, err.message);
  return ret;
}

/* Is noon of that day in Berlin frozen? */
static bool holds(Arena *arena, const char *text, const char *day) {
  const Freeze one = freeze(arena, text);
  const Freezes all = {zone(arena, "Europe/Berlin"), &one, 1};
  Instant until;
  size_t index = 7;
  bool frozen = freeze_at(&all, at(arena_printf(arena, "%sT11:00:00Z", day)), &until, &index);
  assert_int_equal(index, frozen ? 0 : 7);
  return frozen;
}

static void days_and_ranges(void **state) {
  ARENA_SCOPED arena = {0};
  static const struct {
    const char *text, *day;
    bool frozen;
  } rows[] = {
      {"2026-12-24", "2026-12-24", true},
      {"2026-12-24", "2026-12-23", false},
      {"2026-12-24", "2026-12-25", false},
      {"2026-12-24", "2027-12-24", false},
      {" 2026-12-24..2026-12-26 ", "2026-12-26", true},
      {"2026-12-24..2026-12-26", "2026-12-27", false},
      {"2024-02-29", "2024-02-29", true},
      {"24 December", "2026-12-24", true},
      {"24 dec", "2031-12-24", true},
      {"24 December", "2031-12-25", false},
      {"24 December..26 December", "2030-12-25", true},
      {"24 December .. 26 December", "2030-12-27", false},
      {"12-24..12-26", "2030-12-26", true},
      {"12-24", "2030-12-24", true},
      {"24 December..2 January", "2030-12-31", true}, /* over the turn of the year */
      {"24 December..2 January", "2031-01-02", true},
      {"24 December..2 January", "2031-01-03", false},
      {"24 December..2 January", "2031-06-01", false},
      {"29 February", "2028-02-29", true},
      {"02-28..03-01", "2028-02-29", true},
      {"02-28..03-01", "2027-03-01", true},
      {"29 February", "2027-03-01", false}, /* no such day in that year */
      {"month end", "2027-02-28", true},
      {"month end", "2028-02-28", false},
      {"month end", "2028-02-29", true},
      {"Month end", "2028-04-30", true},
      {"month end", "2028-04-29", false},
      {"month end 2", "2028-04-29", true},
      {"month end 2", "2028-04-28", false},
      {"month end 2", "2100-02-27", true}, /* 2100 is no leap year */
      {"month end 28", "2027-02-01", true},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (holds(&arena, rows[i].text, rows[i].day) != rows[i].frozen)
      fail_msg("%s on %s: not %d", rows[i].text, rows[i].day, rows[i].frozen);
}

static void what_is_refused(void **state) {
  ARENA_SCOPED arena = {0};
  static const char *const bad[] = {"",
                                    "  ",
                                    "christmas",
                                    "2026-02-29",
                                    "2026-13-01",
                                    "2026-12-26..2026-12-24",
                                    "2026-12-24..",
                                    "2026-12",
                                    "2026",
                                    "31 April",
                                    "30 February",
                                    "24 Decembre",
                                    "24 December..",
                                    "24 December-26 December",
                                    "24..26 December",
                                    "13-01",
                                    "12-32",
                                    "12-00",
                                    "12-24..12-26..12-28",
                                    "December",
                                    "month end 0",
                                    "month end 29",
                                    "month end two",
                                    "month ends",
                                    "month end 2 days",
                                    "Monday"};
  Freeze ret;
  Error err = {0};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    if (freeze_parse(&arena, bad[i], &ret, &err)) fail_msg("accepted: %s", bad[i]);
    assert_int_equal(err.code, ERR_SPEC);
    assert_true(err.hint[0] != '\0');
  }
}

/* Midnights of the zone, also of days that have 23 or 25 hours or no midnight (Beirut, 2022-03-27). */
static void a_day_is_from_midnight_to_midnight(void **state) {
  ARENA_SCOPED arena = {0};
  static const struct {
    const char *zone, *day, *from, *to;
  } rows[] = {{"Europe/Berlin", "2025-03-30", "2025-03-30T00:00:00+01:00", "2025-03-31T00:00:00+02:00"},
              {"Europe/Berlin", "2025-10-26", "2025-10-26T00:00:00+02:00", "2025-10-27T00:00:00+01:00"},
              {"Asia/Beirut", "2022-03-27", "2022-03-27T01:00:00+03:00", "2022-03-28T00:00:00+03:00"},
              {"Australia/Lord_Howe", "2025-04-06", "2025-04-06T00:00:00+11:00", "2025-04-07T00:00:00+10:30"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const Freeze one = freeze(&arena, rows[i].day);
    const Freezes all = {zone(&arena, rows[i].zone), &one, 1};
    Instant when = at(rows[i].from), until;
    size_t index;
    assert_false(freeze_at(&all, when - 1, &until, &index));
    assert_int_equal(until, when);
    for (; when < at(rows[i].to); when = until) assert_true(freeze_at(&all, when, &until, &index));
    assert_int_equal(when, at(rows[i].to));
    assert_false(freeze_at(&all, when, &until, &index));
  }
}

static void a_file_of_holidays(void **state) {
  ARENA_SCOPED arena = {0};
  static const char text[] = "# holidays\n\n2026-12-24..2026-12-26  # Christmas\r\n\t1 January\n   \nmonth end";
  Freeze *items = NULL;
  size_t n = 0;
  Error err = {0};
  assert_true(freeze_parse_lines(&arena, "dir/holidays.txt", text, &items, &n, &err));
  assert_int_equal(n, 3);
  assert_string_equal(items[0].text, "2026-12-24..2026-12-26 (dir/holidays.txt:3)");
  assert_string_equal(items[1].text, "1 January (dir/holidays.txt:4)");
  assert_int_equal(items[2].kind, FREEZE_MONTH_END);
  assert_true(freeze_parse_lines(&arena, "h", "", &items, &n, &err));
  assert_int_equal(n, 3);
  assert_false(freeze_parse_lines(&arena, "h.txt", "2026-12-24\n  2026-12-32 # no\n", &items, &n, &err));
  assert_string_equal(err.where, "h.txt:2:3");
  assert_string_equal(err.snippet, "  2026-12-32 # no\n  ^");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(days_and_ranges), cmocka_unit_test(what_is_refused),
                                     cmocka_unit_test(a_day_is_from_midnight_to_midnight),
                                     cmocka_unit_test(a_file_of_holidays)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
