#include "time/dialect.h"
#include "time_test.h"
/* Needs both before it. */
#include "dialect_cases.h"

static const Civil new_year = {2024, 1, 1, 0, 0, 0};

static DialectRule parse(Arena *arena, const char *expression) {
  DialectRule rule = {0};
  Error err = {0};
  if (!dialect_vixie.parse(arena, expression, &rule, &err)) fail_msg("%s: %s", expression, err.message);
  return rule;
}

static bool next(DialectRule rule, const Civil *from, Civil *ret) { return rule.next(rule.rule, from, ret); }

static void spellings_of_one_schedule(void **state) {
  static const char *const pairs[][2] = {{"@hourly", "0 * * * *"},
                                         {"@daily", "0 0 * * *"},
                                         {"@midnight", "0 0 * * *"},
                                         {"@weekly", "0 0 * * 0"},
                                         {"@monthly", "0 0 1 * *"},
                                         {"@yearly", "0 0 1 1 *"},
                                         {"@annually", "0 0 1 1 *"},
                                         {"0 0 * * 7", "0 0 * * 0"},
                                         {"0 0 * * SUN", "0 0 * * 0"},
                                         {"0 0 * * sun-sun", "0 0 * * 0"},
                                         {"0 0 * * 5-7", "0 0 * * 0,5,6"},
                                         {"0 0 * * fri-sun", "0 0 * * 5-7"},
                                         {"0 0 * * 2-3,6-0", "0 0 * * 2,3,6,7"},
                                         {"0 0 * * 0-7", "0 0 * * *"},
                                         {"0 0 * * mon-Fri", "0 0 * * 1-5"},
                                         {"0 0 1 jan,Mar,DEC *", "0 0 1 1,3,12 *"},
                                         {"0 0 1 jan-mar *", "0 0 1 1-3 *"},
                                         {"*/15 * * * *", "0,15,30,45 * * * *"},
                                         {"10-50/20 * * * *", "10,30,50 * * * *"},
                                         {"5-59/15 * * * *", "5,20,35,50 * * * *"},
                                         {"*/99 * * * *", "0 * * * *"},
                                         {"0 0 */32 * *", "0 0 1 * *"},
                                         {"00 007 * * *", "0 7 * * *"},
                                         {"1,2,3,3,2 * * * *", "1-3 * * * *"},
                                         {"  0\t2  * * *  ", "0 2 * * *"},
                                         {"0 0 * * */7", "0 0 * * 0"},
                                         {"0 0 * * 7,*", "0 0 * * *"}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) assert_same("vixie", pairs[i][0], pairs[i][1]);
}

/* OR unless the first character of a day field is `*`. January 2024: the 1st is a Monday. */
static void the_two_day_fields(void **state) {
  static const struct {
    const char *expression;
    int days[4]; /* of January 2024 */
  } known[] = {{"0 0 13 * 5", {5, 12, 13, 19}},    {"0 0 */2 * 5", {5, 19, 0, 0}},   {"0 0 13 * *", {13, 0, 0, 0}},
               {"0 0 * * 5", {5, 12, 19, 26}},     {"0 0 1-7 * */5", {5, 7, 0, 0}},  {"0 0 2,* * 5", {1, 2, 3, 4}},
               {"0 0 */32,1-7 * 2", {2, 0, 0, 0}}, {"0 0 31,30 * 1", {1, 8, 15, 22}}};
  Arena arena = {0};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const DialectRule rule = parse(&arena, known[i].expression);
    Civil from = new_year;
    for (int j = 0; j < 4 && known[i].days[j] != 0; j++) {
      Civil fire;
      assert_true(next(rule, &from, &fire));
      if (fire.month != 1 || fire.day != known[i].days[j])
        fail_msg("%s: %d-%d", known[i].expression, fire.month, fire.day);
      from = civil_from_seconds(civil_to_seconds(&fire) + 1);
    }
  }
  arena_release(&arena);
}

/* An independent matcher: every minute of two years, one by one. */
static bool matches_by_hand(const Civil *civil) {
  int weekday = civil_weekday(civil_to_days(civil->year, civil->month, civil->day));
  bool day = civil->day == 10 || civil->day == 31 || weekday == 3;
  return civil->minute % 20 == 7 && civil->hour >= 22 && civil->month != 2 && day;
}

static void agrees_minute_by_minute(void **state) {
  Arena arena = {0};
  const DialectRule rule = parse(&arena, "7-59/20 22-23 10,31 1,3-12 wed");
  Civil from = {2023, 12, 31, 0, 0, 0}, fire;
  assert_true(next(rule, &from, &fire));
  for (int64_t t = civil_to_seconds(&from); t < INT64_C(1767225600); t += 60) {
    Civil now = civil_from_seconds(t);
    bool matched = civil_to_seconds(&fire) == t;
    if (matched != matches_by_hand(&now))
      fail_msg("%d-%d-%d %d:%d", now.year, now.month, now.day, now.hour, now.minute);
    now = civil_from_seconds(t + 1);
    if (matched) assert_true(next(rule, &now, &fire));
  }
  arena_release(&arena);
}

static void the_search_begins_with_from_itself(void **state) {
  Arena arena = {0};
  const DialectRule rule = parse(&arena, "59 23 31 12 *");
  const Civil exactly = {2024, 12, 31, 23, 59, 0}, second_late = {2024, 12, 31, 23, 59, 1},
              last = {9999, 12, 31, 23, 59, 30};
  Civil fire;
  assert_true(next(rule, &exactly, &fire));
  assert_int_equal(fire.year, 2024);
  assert_true(next(rule, &second_late, &fire));
  assert_int_equal(fire.year, 2025);
  assert_false(next(rule, &last, &fire));
  arena_release(&arena);
}

static void refused_with_the_reason(void **state) {
  static const struct {
    const char *expression, *message, *hint;
  } refused[] = {{"@reboot", "cannot be predicted", "pause"},
                 {"@every 5m", "not a shorthand", "write the fields"},
                 {"@quarterly", "not a shorthand", "@monthly"},
                 {"@DAILY", "not a shorthand", "@daily"},
                 {"@", "not a shorthand", "write the fields"},
                 {"", "5 fields", "all five"},
                 {"   ", "5 fields", "all five"},
                 {"0 2 * *", "not 4", "all five"},
                 {"0 2 * * * *", "not 6", "seconds"},
                 {"0 2 * * * /bin/true", "not 6", "command"},
                 {"TZ=UTC 0 2 * * *", "not 6", "the user and the command"},
                 {"CRON_TZ=UTC", "not 0", "all five"},
                 {"H 2 * * *", "hash", "pause"},
                 {"H/15 * * * *", "hash", "pause"},
                 {"R 2 * * *", "random", "pause"},
                 {"6~15 2 * * *", "random", "pause"},
                 {"~ 2 * * *", "random", "pause"},
                 {"CRON_TZ=UTC @reboot", "cannot be predicted", "pause"},
                 {"0 0 L * *", "'L'", "28-31"},
                 {"0 0 l * *", "'L'", "28-31"},
                 {"0 0 L-3 * *", "'L'", "28-31"},
                 {"0 0 * * 5L", "'L'", "28-31"},
                 {"0 0 * * L5", "'L'", "28-31"},
                 {"0 0 15W * *", "'W'", "14-16"},
                 {"0 0 LW * *", "'L'", "28-31"},
                 {"0 0 * * sat#1", "'#'", "*/32"},
                 {"0 0 ? * *", "'?'", "*"},
                 {"60 * * * *", "60 is not from 0 to 59", "minute"},
                 {"* 24 * * *", "24 is not from 0 to 23", "minute"},
                 {"* * 0 * *", "0 is not from 1 to 31", "minute"},
                 {"* * 32 * *", "32 is not from 1 to 31", "minute"},
                 {"* * * 0 *", "0 is not from 1 to 12", "minute"},
                 {"* * * 13 *", "13 is not from 1 to 12", "minute"},
                 {"* * * * 8", "8 is not from 0 to 7", "minute"},
                 {"99999999999999999999 * * * *", "is not from 0 to 59", "minute"},
                 {"* 22-4 * * *", "ends before it begins", "22-23,0-4"},
                 {"* * * * fri-mon", "ends before it begins", "list"},
                 {"* * * jan-0 *", "0 is not from 1 to 12", "minute"},
                 {"* 22-0 * * *", "ends before it begins", "22-23,0-4"},
                 {"* * * * sat-sun/2", "ends before it begins", "list"},
                 {"*/0 * * * *", "step of 0", "1 or more"},
                 {"5/15 * * * *", "step after a single value", "*/15"},
                 {"*/ * * * *", "not understood", "steps"},
                 {"*-5 * * * *", "not understood", "ranges"},
                 {"1- * * * *", "not understood", "ranges"},
                 {"-1 * * * *", "not understood", "ranges"},
                 {"1,,2 * * * *", "not understood", "lists"},
                 {"1, * * * *", "not understood", "lists"},
                 {",1 * * * *", "not understood", "lists"},
                 {"1-2-3 * * * *", "not understood", "ranges"},
                 {"*/2/2 * * * *", "not understood", "steps"},
                 {"1.5 * * * *", "not understood", "numbers"},
                 {"* * * janu *", "not understood", "names"},
                 {"* * * * monday", "not understood", "names"},
                 {"jan * * * *", "not understood", "numbers"},
                 {"** * * * *", "not understood", "*"},
                 {"0 0 30 2 *", "never fires", "correct the day"},
                 {"0 0 31 2,4,6,9,11 *", "never fires", "correct the day"},
                 {"0 0 30-31 feb */2", "never fires", "correct the day"}};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    assert_refused("vixie", refused[i].expression, refused[i].message, refused[i].hint);
}

/* 30 February OR every Monday of February does fire. */
static void an_impossible_day_or_a_weekday_fires(void **state) {
  Arena arena = {0};
  Civil fire;
  assert_true(next(parse(&arena, "0 0 30 2 1"), &new_year, &fire));
  assert_int_equal(fire.month, 2);
  assert_int_equal(fire.day, 5);
  arena_release(&arena);
}

/* Under CRON_TZ, as by crontab.5: never in a gap, twice in a fold. */
static void a_zone_of_its_own(void **state) {
  Arena arena = {0};
  const Schedule *schedule = schedule_of(&arena, "vixie", "CRON_TZ=Asia/Tokyo 0 2 * * *", "UTC");
  assert_string_equal(zone_name(schedule_zone(schedule)), "Asia/Tokyo");
  assert_fires_at("vixie", "CRON_TZ=Europe/Berlin\n30 2 * * *", "UTC", "2025-03-29T12:00:00Z",
                  "2025-03-31T02:30:00+02:00");
  assert_fires_at("vixie", "CRON_TZ=Europe/Berlin 30 2 * * *", "UTC", "2025-10-25T12:00:00Z",
                  "2025-10-26T02:30:00+02:00;2025-10-26T02:30:00+01:00");
  assert_fires_at("cronie-daemon", "CRON_TZ=Europe/Berlin 30 2 * * *", "UTC", "2025-10-25T12:00:00Z",
                  "2025-10-26T02:30:00+02:00;2025-10-26T02:30:00+01:00");
  assert_refused("vixie", "CRON_TZ=Mars/Base 0 2 * * *", "zone", "IANA");
  assert_refused("github-actions", "TZ=UTC 0 2 * * *", "not 6", "leave out");
  arena_release(&arena);
}

/* src/cron.c: fixed times are caught up at once and run once; a job whose minute or hour begins with `*` goes on. */
static void crond_in_its_own_zone(void **state) {
  assert_fires_at("cronie-daemon", "10,50 2 * * *", "Europe/Berlin", "2025-03-29T12:00:00Z",
                  "2025-03-30T03:00:00+02:00;2025-03-31T02:10:00+02:00");
  assert_fires_at("cronie-daemon", "30 2 * * *", "Europe/Berlin", "2025-10-25T12:00:00Z",
                  "2025-10-26T02:30:00+02:00;2025-10-27T02:30:00+01:00");
  static const char *const wild[] = {"30 * * * *", "30 */1 * * *", "*/30 1,2,3 * * *"};
  for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
    Arena arena = {0};
    const Schedule *schedule = schedule_of(&arena, "cronie-daemon", wild[i], "Europe/Berlin");
    Instant fire;
    int n = 0;
    /* The policies named are those of fixed times. */
    for (Instant from = at("2025-10-26T01:59:59+02:00"); n < 9; n++, from = fire) {
      assert_true(schedule_next(schedule, from, GAP_END, OVERLAP_FIRST, &fire));
      if (fire >= at("2025-10-26T03:00:00+01:00")) break;
    }
    assert_int_equal(n, *wild[i] == '*' ? 4 : 2);
    assert_true(schedule_next(schedule, at("2025-03-30T01:30:00+01:00"), GAP_END, OVERLAP_FIRST, &fire));
    assert_instant(fire, schedule_zone(schedule),
                   *wild[i] == '*' ? "2025-03-30T03:00:00+02:00" : "2025-03-30T03:30:00+02:00");
    arena_release(&arena);
  }
  assert_days("cronie-daemon", "0 0 1-7 * */5", "01-05 01-07 02-02");
}

static void jenkins(void **state) {
  assert_days("jenkins", "0 0 13 * 5", "09-13 12-13");
  assert_days("jenkins", "0 0 * * 7", "01-07 01-14");
  assert_same("jenkins", "TZ=Europe/Berlin\n0 2 * * 1-5", "TZ=Europe/Berlin 0 2 * * 1,2,3,4,5");
  assert_refused("jenkins", "H 2 * * *", "hash", "pause");
  assert_refused("jenkins", "H(0-7)/2 2 * * *", "hash", "pause");
  assert_refused("jenkins", "@midnight", "not a shorthand", "hashes");
  assert_refused("jenkins", "0 2 * * mon", "not understood", "numbers");
}

static void github_actions(void **state) {
  assert_same("github-actions", "20/15 * * * *", "20,35,50 * * * *");
  assert_days("github-actions", "0 0 13 * FRI", "01-05 01-12 01-13");
  assert_days("github-actions", "0 0 */10 * 5", "01-01 01-05 01-11");
  assert_refused("github-actions", "@daily", "not a shorthand", "none");
  assert_refused("github-actions", "0 0 * * 7", "7 is not from 0 to 6", "minute");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(spellings_of_one_schedule),
                                     cmocka_unit_test(the_two_day_fields),
                                     cmocka_unit_test(agrees_minute_by_minute),
                                     cmocka_unit_test(the_search_begins_with_from_itself),
                                     cmocka_unit_test(refused_with_the_reason),
                                     cmocka_unit_test(an_impossible_day_or_a_weekday_fires),
                                     cmocka_unit_test(a_zone_of_its_own),
                                     cmocka_unit_test(crond_in_its_own_zone),
                                     cmocka_unit_test(jenkins),
                                     cmocka_unit_test(github_actions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
