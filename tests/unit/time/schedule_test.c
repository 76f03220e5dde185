#include "time/schedule.h"

#include <time.h>

#include "dialect_cases.h"
/* Needs cmocka before it. */
#include "cases.h"

static const Schedule *parse(Arena *arena, const char *expression, const char *zone_text) {
  return schedule_of(arena, "vixie", expression, zone_text);
}

static GapPolicy gap_policy(const char *word) {
  if (strcmp(word, "skip") == 0) return GAP_SKIP;
  if (strcmp(word, "shift") == 0) return GAP_SHIFT;
  if (strcmp(word, "gap_end") != 0) fail_msg("gap policy %s", word);
  return GAP_END;
}

static OverlapPolicy overlap_policy(const char *word) {
  if (strcmp(word, "first") == 0 || strcmp(word, "first(all fields)") == 0) return OVERLAP_FIRST;
  if (strcmp(word, "second") == 0) return OVERLAP_SECOND;
  if (strcmp(word, "both") != 0) fail_msg("overlap policy %s", word);
  return OVERLAP_BOTH;
}

/* Columns: id dialect expression timezone from gap_policy overlap_policy expected_next source note. */
static void check_row(char **row) {
  Arena arena = {0};
  const Schedule *schedule = schedule_of(&arena, row[1], row[2], row[3]);
  assert_schedule(row[0], schedule, row[4], gap_policy(row[5]), overlap_policy(row[6]), row[7]);
  /* The policies of a row are what its scheduler does; G12 is the other reading of an hourly schedule. */
  if (strcmp(row[0], "G12") != 0) assert_schedule(row[0], schedule, row[4], GAP_OWN, OVERLAP_OWN, row[7]);
  arena_release(&arena);
}

static void the_shared_cases(void **state) { assert_true(for_each_case("schedule.tsv", 8, check_row) >= 58); }

/* Rows of other dialects in schedule.tsv whose expression means the same to Vixie cron: the policies are what counts.
 */
static void policies_in_gaps_and_folds(void **state) {
  static const struct {
    const char *expression, *zone, *after;
    GapPolicy gap;
    OverlapPolicy overlap;
    const char *expected;
  } known[] = {
      {"0 2 * * *", "America/New_York", "2012-03-11T00:00:00-05:00", GAP_SKIP, OVERLAP_BOTH,
       "2012-03-12T02:00:00-04:00"},
      {"0 * * * *", "America/New_York", "2012-03-11T01:00:00-05:00", GAP_SKIP, OVERLAP_BOTH,
       "2012-03-11T03:00:00-04:00"},
      {"0 0 * * *", "Asia/Hebron", "2022-03-25T00:00:00+02:00", GAP_END, OVERLAP_BOTH,
       "2022-03-26T00:00:00+02:00;2022-03-27T01:00:00+03:00;2022-03-28T00:00:00+03:00"},
      {"30 1 * * *", "Antarctica/Troll", "2026-03-28T12:00:00+00:00", GAP_SHIFT, OVERLAP_FIRST,
       "2026-03-29T03:30:00+02:00;2026-03-30T01:30:00+02:00"},
      {"0 22,23 * * *", "America/Nuuk", "2024-03-30T00:00:00+00:00", GAP_SHIFT, OVERLAP_FIRST,
       "2024-03-29T23:00:00-02:00;2024-03-30T22:00:00-02:00;2024-03-31T00:00:00-01:00"},
      {"0 2 * * *", "Australia/Lord_Howe", "2023-09-30T02:00:00+10:30", GAP_END, OVERLAP_SECOND,
       "2023-10-01T02:30:00+11:00;2023-10-02T02:00:00+11:00"},
      {"0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00:00-03:00", GAP_SKIP, OVERLAP_BOTH,
       "2018-11-05T00:00:00-02:00"},
      {"0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00:00-03:00", GAP_END, OVERLAP_BOTH,
       "2018-11-04T01:00:00-02:00"},
      {"0 1 4 11 *", "America/Sao_Paulo", "2018-11-03T23:00:00-03:00", GAP_SKIP, OVERLAP_BOTH,
       "2018-11-04T01:00:00-02:00;2019-11-04T01:00:00-03:00"},
      {"0 2 * * *", "America/New_York", "2024-03-09T02:00:00-05:00", GAP_SHIFT, OVERLAP_SECOND,
       "2024-03-10T03:00:00-04:00;2024-03-11T02:00:00-04:00"},
      {"7 * * * *", "Europe/London", "2025-03-30T00:00:00+00:00", GAP_SKIP, OVERLAP_BOTH,
       "2025-03-30T00:07:00+00:00;2025-03-30T02:07:00+01:00"},
      {"0 1 * * *", "America/New_York", "2012-11-04T00:00:00-04:00", GAP_SKIP, OVERLAP_BOTH,
       "2012-11-04T01:00:00-04:00;2012-11-04T01:00:00-05:00;2012-11-05T01:00:00-05:00"},
      {"0 1 * * *", "America/New_York", "2012-11-04T00:00:00-04:00", GAP_SKIP, OVERLAP_FIRST,
       "2012-11-04T01:00:00-04:00;2012-11-05T01:00:00-05:00"},
      {"0 1 * * *", "America/New_York", "2012-11-04T00:00:00-04:00", GAP_SKIP, OVERLAP_SECOND,
       "2012-11-04T01:00:00-05:00;2012-11-05T01:00:00-05:00"},
      {"0 3 * * *", "Europe/Athens", "2016-10-30T02:00:01+03:00", GAP_SHIFT, OVERLAP_FIRST,
       "2016-10-30T03:00:00+03:00;2016-10-31T03:00:00+02:00"},
      {"0 * * * *", "Europe/Warsaw", "2017-10-29T01:59:00+02:00", GAP_END, OVERLAP_BOTH,
       "2017-10-29T02:00:00+02:00;2017-10-29T02:00:00+01:00;2017-10-29T03:00:00+01:00"},
      {"0 0 * * *", "America/Sao_Paulo", "2018-02-17T21:05:00-02:00", GAP_END, OVERLAP_BOTH,
       "2018-02-18T00:00:00-03:00"},
      {"*/5 * * * *", "Europe/Zurich", "2018-10-28T02:55:00+02:00", GAP_END, OVERLAP_BOTH,
       "2018-10-28T02:00:00+01:00;2018-10-28T02:05:00+01:00"},
      {"30 2 * * *", "Europe/Berlin", "2025-03-29T12:00:00Z", GAP_SHIFT, OVERLAP_BOTH, "2025-03-30T03:30:00+02:00"},
      {"30 2 * * *", "Europe/Berlin", "2025-03-29T12:00:00Z", GAP_END, OVERLAP_BOTH, "2025-03-30T03:00:00+02:00"},
      /* Several times of one gap: once at its end, each by itself when shifted. */
      {"*/20 2 * * *", "Europe/Berlin", "2025-03-30T00:00:00Z", GAP_END, OVERLAP_BOTH,
       "2025-03-30T03:00:00+02:00;2025-03-31T02:00:00+02:00"},
      {"*/20 2 * * *", "Europe/Berlin", "2025-03-30T00:00:00Z", GAP_SHIFT, OVERLAP_BOTH,
       "2025-03-30T03:00:00+02:00;2025-03-30T03:20:00+02:00;2025-03-30T03:40:00+02:00;2025-03-31T02:00:00+02:00"},
      {"* * * * *", "Europe/Berlin", "2025-10-26T02:59:00+02:00", GAP_SKIP, OVERLAP_FIRST, "2025-10-26T03:00:00+01:00"},
      {"* * * * *", "Europe/Berlin", "2025-10-26T01:59:00+02:00", GAP_SKIP, OVERLAP_SECOND,
       "2025-10-26T02:00:00+01:00"},
  };
  Arena arena = {0};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    assert_schedule(known[i].expression, parse(&arena, known[i].expression, known[i].zone), known[i].after,
                    known[i].gap, known[i].overlap, known[i].expected);
  arena_release(&arena);
}

static void assert_any(const char *dialect, const char *expression, const char *zone_text, const char *after,
                       const char *expected) {
  Arena arena = {0};
  const Schedule *schedule = schedule_of(&arena, dialect, expression, zone_text);
  Instant from = at(after);
  char list[512];
  snprintf(list, sizeof list, "%s", expected);
  for (char *rest = list, *one; (one = strsep(&rest, ";")) != NULL;) {
    Instant fire;
    assert_true(schedule_next_any(schedule, from, &fire));
    assert_instant(fire, schedule_zone(schedule), one);
    from = fire;
  }
  arena_release(&arena);
}

static void the_union_of_all_readings(void **state) {
  assert_any("vixie", "30 2 * * *", "Europe/Berlin", "2025-03-29T12:00:00Z",
             "2025-03-30T03:00:00+02:00;2025-03-30T03:30:00+02:00;2025-03-31T02:30:00+02:00");
  assert_any("vixie", "30 2 * * *", "Europe/Berlin", "2025-10-25T12:00:00Z",
             "2025-10-26T02:30:00+02:00;2025-10-26T02:30:00+01:00;2025-10-27T02:30:00+01:00");
  assert_any("vixie", "0 2 * * *", "Australia/Lord_Howe", "2019-10-05T12:00:00Z",
             "2019-10-06T02:30:00+11:00;2019-10-07T02:00:00+11:00");
  assert_any("vixie", "0 12 30 12 *", "Pacific/Apia", "2011-12-01T00:00:00Z",
             "2011-12-31T00:00:00+14:00;2011-12-31T12:00:00+14:00;2012-12-30T12:00:00+14:00");
  /* The end of the gap is 03:00, where the schedule fires by itself: one fire. */
  assert_any("vixie", "0 2,3 * * *", "Europe/Berlin", "2025-03-29T12:00:00Z",
             "2025-03-30T03:00:00+02:00;2025-03-31T02:00:00+02:00;2025-03-31T03:00:00+02:00");
  /* Airflow adds 25 hours to the run of Saturday 23:00, and is an hour early. */
  assert_any("airflow", "0 * * * 1,6", "America/New_York", "2024-11-03T03:30:00Z",
             "2024-11-03T23:00:00-05:00;2024-11-04T00:00:00-05:00;2024-11-04T01:00:00-05:00");
  assert_any("airflow", "0 1 * * 1,6", "America/New_York", "2024-11-03T03:30:00Z", "2024-11-04T01:00:00-05:00");
  /* robfig/cron v3.0.1 runs it on the 8th too, which has no midnight. */
  assert_any("robfig", "45 1-2 */3 */2 *", "America/Santiago", "2013-09-07T12:00:00Z",
             "2013-09-08T01:45:00-03:00;2013-09-08T02:45:00-03:00;2013-09-10T01:45:00-03:00");
  /* And in April, of which the 1st has none, although March is meant. */
  assert_any("robfig", "30 9 15 3 *", "Asia/Amman", "1988-03-20T00:00:00Z",
             "1988-04-15T09:30:00+03:00;1989-03-15T09:30:00+02:00");
  assert_any("vixie", "45 1-2 */3 */2 *", "America/Santiago", "2013-09-07T12:00:00Z", "2013-09-10T01:45:00-03:00");
}

/* Whatever the policies, each fire is also one of the union, and later than the one before. */
static void within_the_union(const Schedule *schedule) {
  for (int policy = 0; policy < 16; policy++) {
    Instant fire = at("2011-12-20T00:00:00Z"), next, any;
    for (int k = 0; k < 300; k++, fire = next) {
      assert_true(schedule_next(schedule, fire, (GapPolicy)(policy / 4), (OverlapPolicy)(policy % 4), &next));
      assert_true(next > fire);
      assert_true(schedule_next_any(schedule, next - 1, &any));
      assert_true(any == next);
    }
  }
}

static void every_policy_is_within_the_union(void **state) {
  static const char *const expressions[][2] = {{"vixie", "*/7 * * * *"},         {"vixie", "30 0-3 * * *"},
                                               {"vixie", "15 1,2,23 * * *"},     {"vixie", "0 */2 30-31 * *"},
                                               {"cronie-daemon", "0 0 * * *"},   {"cronie-daemon", "*/20 * * * *"},
                                               {"croniter", "0 0 l * * 15,45"},  {"airflow", "*/10 2 * * *"},
                                               {"cron-parser", "30 1-3 * * 5L"}, {"node-cron", "0 1,2 LW * *"}};
  static const char *const zones[] = {"Europe/Berlin", "Australia/Lord_Howe", "Antarctica/Troll", "America/Nuuk",
                                      "Pacific/Apia",  "America/Sao_Paulo",   "America/St_Johns"};
  Arena arena = {0};
  for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++)
    for (size_t j = 0; j < 7; j++)
      within_the_union(schedule_of(&arena, expressions[i][0], expressions[i][1], zones[j]));
  arena_release(&arena);
}

/* Going back over the fires of a stretch gives them all, the last first. */
static void the_fire_before(void **state) {
  static const char *const expressions[][2] = {
      {"vixie", "*/7 1-3 * * *"}, {"vixie", "0 0 29 2 *"}, {"croniter", "* 2 * * * 5"}, {"airflow", "30 2 * * *"}};
  Arena arena = {0};
  for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
    const Schedule *schedule = schedule_of(&arena, expressions[i][0], expressions[i][1], "Europe/Berlin");
    Instant fires[200], fire = at("2025-10-25T00:00:00Z");
    for (int k = 0; k < 200; k++, fire = fires[k - 1])
      assert_true(schedule_next(schedule, fire, GAP_OWN, OVERLAP_OWN, &fires[k]));
    for (int k = 199; k > 0; k--) {
      assert_true(schedule_previous(schedule, fires[k], GAP_OWN, OVERLAP_OWN, &fire));
      assert_true(fire == fires[k - 1]);
      assert_true(schedule_previous(schedule, fires[k] - 1, GAP_OWN, OVERLAP_OWN, &fire));
      assert_true(fire == fires[k - 1]);
    }
  }
  const Schedule *first = schedule_of(&arena, "croniter", "0 0 1 1 * 0 2030", "UTC");
  Instant fire;
  assert_false(schedule_previous(first, at("2030-01-01T00:00:00Z"), GAP_OWN, OVERLAP_OWN, &fire));
  assert_true(schedule_previous(first, at("2030-01-01T00:00:01Z"), GAP_OWN, OVERLAP_OWN, &fire));
  arena_release(&arena);
}

static void the_last_year(void **state) {
  Arena arena = {0};
  Instant fire;
  const Schedule *schedule = parse(&arena, "0 0 1 1 *", "Europe/Berlin");
  assert_true(schedule_next(schedule, at("9998-06-01T00:00:00Z"), GAP_SKIP, OVERLAP_BOTH, &fire));
  assert_instant(fire, schedule_zone(schedule), "9999-01-01T00:00:00+01:00");
  assert_false(schedule_next(schedule, fire, GAP_SKIP, OVERLAP_BOTH, &fire));
  assert_false(schedule_next_any(schedule, INT64_MAX, &fire));
  assert_true(schedule_next_any(schedule, INT64_MIN, &fire));
  assert_true(fire >= INSTANT_MIN && fire < INSTANT_MIN + 366 * INT64_C(86400));
  arena_release(&arena);
}

static void unknown_dialects_are_refused(void **state) {
  static const char *const names[] = {"", "Vixie", "cron", "SYSTEMD", "quartz "};
  Arena arena = {0};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const Schedule *schedule = NULL;
    Error err = {0};
    assert_false(schedule_parse(&arena, names[i], "0 2 * * *", zone_utc(), &schedule, &err));
    assert_int_equal(err.code, ERR_SPEC);
    assert_contains(err.hint, "vixie");
    assert_null(schedule);
  }
  assert_string_equal(schedule_dialects()[0], "vixie");
  arena_release(&arena);
}

static void it_keeps_what_it_was_made_of(void **state) {
  Arena arena = {0};
  char expression[] = "@daily";
  const Schedule *schedule = parse(&arena, expression, "Europe/Berlin");
  expression[1] = 'x';
  assert_string_equal(schedule_expression(schedule), "@daily");
  assert_string_equal(zone_name(schedule_zone(schedule)), "Europe/Berlin");
  arena_release(&arena);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Ten times what is allowed without sanitizers: 10,000 fires in 50 ms, one of 29 February, or none, in 10 ms. */
static void the_search_is_fast(void **state) {
  static const char *const expressions[][2] = {
      {"vixie", "* * * * *"},         {"vixie", "0 2 * * *"},         {"vixie", "0 0 1 1 *"},
      {"vixie", "0 0 29 2 */7"},      {"vixie", "59 23 31 12 7"},     {"croniter", "* * * * * *"},
      {"croniter", "0 0 29 2 sat#5"}, {"airflow", "30 2 * * *"},      {"cron-parser", "* * * * * *"},
      {"node-cron", "30 2 29 2 0"},   {"cronie-daemon", "* * * * *"}, {"croniter", "0 0 29 2 * 0 2096"}};
  static const char *const never[][2] = {{"vixie", "0 0 30 2 *"},
                                         {"node-cron", "0 0 8 * 1#1"},
                                         {"croniter", "0 0 29 2 * 0 2097-2099"},
                                         {"cron-parser", "0 0 31 2,4,6,9,11 *"}};
  for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
    Arena arena = {0};
    const Schedule *schedule = schedule_of(&arena, expressions[i][0], expressions[i][1], "Europe/Berlin");
    Instant fire = at("2024-03-01T00:00:00Z");
    double begin = now();
    for (int j = 0; j < 10000 && schedule_next_any(schedule, fire, &fire); j++)
      if (j == 0 && now() - begin > 0.1) fail_msg("%s: its first took %.3f s", expressions[i][1], now() - begin);
    if (now() - begin > 0.5) fail_msg("%s took %.3f s", expressions[i][1], now() - begin);
    arena_release(&arena);
  }
  for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
    double begin = now();
    assert_refused(never[i][0], never[i][1], "never fires", "correct");
    if (now() - begin > 0.1) fail_msg("%s took %.3f s", never[i][1], now() - begin);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_shared_cases),
                                     cmocka_unit_test(policies_in_gaps_and_folds),
                                     cmocka_unit_test(the_union_of_all_readings),
                                     cmocka_unit_test(every_policy_is_within_the_union),
                                     cmocka_unit_test(the_fire_before),
                                     cmocka_unit_test(the_last_year),
                                     cmocka_unit_test(unknown_dialects_are_refused),
                                     cmocka_unit_test(it_keeps_what_it_was_made_of),
                                     cmocka_unit_test(the_search_is_fast)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
