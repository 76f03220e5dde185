#include "dialect_cases.h"

/* The new year of 2024 is a Monday, and its February has 29 days. */

static void spellings_of_one_schedule(void **state) {
  static const char *const pairs[][2] = {{"@hourly", "0 * * * *"},
                                         {"@Daily", "0 0 * * *"},
                                         {"@midnight", "0 0 * * *"},
                                         {"@weekly", "0 0 * * 0"},
                                         {"@monthly", "0 0 1 * *"},
                                         {"@quarterly", "0 0 1 1,4,7,10 *"},
                                         {"@yearly", "0 0 1 1 *"},
                                         {"@annually", "0 0 1 1 *"},
                                         {"0 0 * * 7", "0 0 * * sun"},
                                         {"0 0 * * FRI-mon", "0 0 * * 0,1,5,6"},
                                         {"0 0 * * 6-7", "0 0 * * 0,6"},
                                         {"0 0 * * SUN-SUN", "0 0 * * *"},
                                         {"0 0 * * 7-7", "0 0 * * *"},
                                         {"0 0 * jan-jan *", "0 0 * * *"},
                                         {"0 22-2 * * *", "0 0-2,22,23 * * *"},
                                         {"0 0 1 oct-FEB *", "0 0 1 10,11,12,1,2 *"},
                                         {"0 0 1 apr-jan/3 *", "0 0 1 1,4,7,10 *"},
                                         {"5/15 * * * *", "5,20,35,50 * * * *"},
                                         {"59/15 * * * *", "59 * * * *"},
                                         {"0 0 * * 2/2", "0 0 * * 2,4,6"},
                                         {"0 0 ? * *", "0 0 * * *"},
                                         {"0 0 1 * ?", "0 0 1 * *"},
                                         {"0 0 28-l * *", "0 0 28-31 * *"},
                                         {"0 0 w15 * *", "0 0 15W * *"},
                                         {"0 0 * * fri#2", "0 0 * * 5#2"},
                                         {"0 0 * * mon-wed#1", "0 0 * * 1#1,2#1,3#1"},
                                         {"0 0 * * 5#3,L5", "0 0 * * l5,fri#3"},
                                         {"0 0 * * * 0", "0 0 * * *"},
                                         {"0 0 * * * 0 *", "0 0 * * *"},
                                         {"0 0 * * * 0 2024/2", "0 0 * * * 0 2024-2098/2"},
                                         {"\t0  0 * * *\n", "0 0 * * *"}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) assert_same("croniter", pairs[i][0], pairs[i][1]);
}

static void the_days(void **state) {
  static const char *const known[][2] = {
      {"0 0 l * *", "01-31 02-29 03-31"},
      {"0 0 l,15 * *", "01-15 01-31 02-15 02-29"},
      {"0 0 15W * *", "01-15 02-15 03-15 04-15 05-15 06-14"}, /* 15 June is a Saturday */
      {"0 0 31W * *", "01-31 02-29 03-29 04-30 05-31 06-28"}, /* 31 March and 30 June are Sundays */
      {"0 0 1W 6-9 *", "06-03 07-01 08-01 09-02"},            /* 1 June is a Saturday, 1 September a Sunday */
      {"0 0 * * sat#1", "01-06 02-03 03-02"},
      {"0 0 * * mon#5", "01-29 04-29 07-29"},
      {"0 0 * * L5", "01-26 02-23 03-29"},
      {"0 0 29 2 *", "02-29 02-29"},
      /* Both day fields: OR unless one is `*`, which a step of 1 and a list of every value beside a restricted day are
         not. */
      {"0 0 13 * 5", "01-05 01-12 01-13 01-19"},
      {"0 0 13 * *", "01-13 02-13"},
      {"0 0 * * 5", "01-05 01-12"},
      {"0 0 */10 * 5", "01-01 01-05 01-11 01-12"},
      {"0 0 */1 * 5", "01-01 01-02 01-03"},
      {"0 0 1-31 * 5", "01-01 01-02 01-03"},
      {"0 0 1-31 * */5", "01-05 01-07 01-12"},
      {"0 0 13 * 0-6", "01-01 01-02"},
      {"0 0 *,13 * 5", "01-05 01-12"},
      /* Beside an n-th weekday or a W the plain field counts for nothing: the code of croniter 7.0. */
      {"0 0 1 * fri#1", "01-05 02-02 03-01"},
      {"0 0 15W * fri", "01-15 02-15"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) assert_days("croniter", known[i][0], known[i][1]);
}

static void seconds_and_years(void **state) {
  assert_fires_at("croniter", "* * * * * 15,25", "UTC", "2012-04-06T13:26:10Z",
                  "2012-04-06T13:26:15Z;2012-04-06T13:26:25Z;2012-04-06T13:27:15Z");
  assert_fires_at("croniter", "59 23 31 12 * 59 2024,2026", "UTC", "2024-01-01T00:00:00Z",
                  "2024-12-31T23:59:59Z;2026-12-31T23:59:59Z;-");
  assert_fires_at("croniter", "0 0 29 2 * 0 2096-2099", "UTC", "2024-01-01T00:00:00Z", "2096-02-29T00:00:00Z;-");
  /* Of a range that wraps croniter leaves out one value more than an even cycle would: 50, 57, then 5 and not 4. */
  assert_fires_at("croniter", "50-10/7 0 1 1 *", "UTC", "2024-01-01T00:50:00Z",
                  "2024-01-01T00:57:00Z;2025-01-01T00:05:00Z;2025-01-01T00:50:00Z");
}

static void and_days(const char *expression, const char *after, const char *expected) {
  Arena arena = {0};
  const Schedule *schedule = NULL;
  Error err = {0};
  if (!schedule_parse_and_days(&arena, "croniter", expression, zone_utc(), &schedule, &err))
    fail_msg("%s", err.message);
  assert_schedule(expression, schedule, after, GAP_OWN, OVERLAP_OWN, expected);
  arena_release(&arena);
}

static void both_days_when_told_so(void **state) {
  and_days("0 0 13 * 5", "2024-01-01T00:00:00Z", "2024-09-13T00:00:00Z;2024-12-13T00:00:00Z;2025-06-13T00:00:00Z");
  and_days("0 0 29 2 1", "2024-03-01T00:00:00Z", "2044-02-29T00:00:00Z;2072-02-29T00:00:00Z;2112-02-29T00:00:00Z");
  Arena arena = {0};
  const Schedule *schedule = NULL;
  Error err = {0};
  assert_false(schedule_parse_and_days(&arena, "croniter", "0 0 8 * 1#1", zone_utc(), &schedule, &err));
  assert_contains(err.message, "never fires");
  assert_false(schedule_parse_and_days(&arena, "vixie", "0 0 13 * 5", zone_utc(), &schedule, &err));
  assert_contains(err.message, "vixie");
  arena_release(&arena);
}

/* A missing time: the end of the gap unless the hour is a star. A doubled one: both. */
static void gaps_and_folds(void **state) {
  assert_fires_at("croniter", "30 2 * * *", "Europe/Berlin", "2025-03-29T12:00:00Z",
                  "2025-03-30T03:00:00+02:00;2025-03-31T02:30:00+02:00");
  assert_fires_at("croniter", "30 * * * *", "Europe/Berlin", "2025-03-30T01:00:00+01:00",
                  "2025-03-30T01:30:00+01:00;2025-03-30T03:30:00+02:00");
  assert_fires_at("croniter", "30 */2,* * * *", "Europe/Berlin", "2025-03-30T01:30:00+01:00",
                  "2025-03-30T03:30:00+02:00");
  assert_fires_at("croniter", "30 2 * * *", "Europe/Berlin", "2025-10-25T12:00:00Z",
                  "2025-10-26T02:30:00+02:00;2025-10-26T02:30:00+01:00;2025-10-27T02:30:00+01:00");
}

/* A missing time: moved by the gap's length. A doubled one: the second pass, both when the hour is a star. */
static void airflow_in_gaps_and_folds(void **state) {
  assert_fires_at("airflow", "30 2 * * *", "Europe/Berlin", "2025-03-29T12:00:00Z",
                  "2025-03-30T03:30:00+02:00;2025-03-31T02:30:00+02:00");
  assert_fires_at("airflow", "30 2 * * *", "Europe/Berlin", "2025-10-25T12:00:00Z",
                  "2025-10-26T02:30:00+01:00;2025-10-27T02:30:00+01:00");
  assert_fires_at("airflow", "30 * * * *", "Europe/Berlin", "2025-10-26T01:30:00+02:00",
                  "2025-10-26T02:30:00+02:00;2025-10-26T02:30:00+01:00;2025-10-26T03:30:00+01:00");
  assert_fires_at("airflow", "30 *,2 * * *", "Europe/Berlin", "2025-10-26T01:30:00+02:00",
                  "2025-10-26T02:30:00+01:00;2025-10-26T03:30:00+01:00");
  assert_same("airflow", "@quarterly", "0 0 1 1,4,7,10 *");
}

/* A missing time: the end of the gap. A doubled one: the second pass. Skipped, and both, when the hour is a star. */
static void dagster_in_gaps_and_folds(void **state) {
  assert_fires_at("dagster", "30 2 * * *", "Europe/Berlin", "2025-03-29T12:00:00Z",
                  "2025-03-30T03:00:00+02:00;2025-03-31T02:30:00+02:00");
  assert_fires_at("dagster", "30 2 * * *", "Europe/Berlin", "2025-10-25T12:00:00Z",
                  "2025-10-26T02:30:00+01:00;2025-10-27T02:30:00+01:00");
  assert_fires_at("dagster", "30 * * * *", "Europe/Berlin", "2025-03-30T01:30:00+01:00", "2025-03-30T03:30:00+02:00");
  assert_fires_at("dagster", "30 * * * *", "Europe/Berlin", "2025-10-26T01:30:00+02:00",
                  "2025-10-26T02:30:00+02:00;2025-10-26T02:30:00+01:00;2025-10-26T03:30:00+01:00");
}

static void refused_with_the_reason(void **state) {
  static const struct {
    const char *dialect, *expression, *message, *hint;
  } refused[] = {{"croniter", "H 2 * * *", "hash", "pause"},
                 {"croniter", "H(0-29)/10 2 * * *", "hash", "pause"},
                 {"croniter", "R 2 * * *", "random", "pause"},
                 {"croniter", "h * * * *", "hash", "pause"},
                 {"croniter", "6~15 2 * * *", "random", "pause"},
                 {"croniter", "@reboot", "cannot be predicted", "pause"},
                 {"airflow", "@once", "cannot be predicted", "pause"},
                 {"airflow", "@continuous", "cannot be predicted", "pause"},
                 {"airflow", "None", "triggered", "pause"},
                 {"airflow", "Dataset(\"s3://a\")", "triggered", "live:"},
                 {"airflow", "asset", "triggered", "pause"},
                 {"airflow", "timedelta(hours=4)", "no cron expression", "dialect: interval"},
                 {"airflow", "CronTriggerTimetable('0 1 * * *', timezone='UTC')", "no cron", "timetable: trigger"},
                 {"croniter", "DTSTART:20240101T020000\nRRULE:FREQ=DAILY", "no cron expression", "dialect: times"},
                 {"airflow", "@every 5m", "not a shorthand of the airflow", "@quarterly"},
                 {"croniter", "", "not 0", "all five"},
                 {"croniter", "0 0 * *", "not 4", "all five"},
                 {"croniter", "0 0 * * * 0 2024 1", "not 8", "zone"},
                 {"dagster", "0 0 * * * 0", "has 5 fields", "leave out"},
                 {"croniter", "60 * * * *", "60 is not from 0 to 59", "minute"},
                 {"croniter", "* 24 * * *", "24 is not", "minute"},
                 {"croniter", "* * 0 * *", "0 is not from 1 to 31", "minute"},
                 {"croniter", "* * * 13 *", "13 is not", "minute"},
                 {"croniter", "* * * * 8", "8 is not", "minute"},
                 {"croniter", "* * * * * 60", "60 is not", "second"},
                 {"croniter", "* * * * * 0 1969", "1969 is not", "year"},
                 {"croniter", "* * * * * 0 2100", "2100 is not", "year"},
                 {"croniter", "*/0 * * * *", "step of 0", "1 or more"},
                 {"croniter", "? * * * *", "'?'", "*"},
                 {"croniter", "* * ?,1 * *", "'?'", "*"},
                 {"croniter", "0 0 L-3 * *", "'L'", "28-31"},
                 {"croniter", "0 0 LW * *", "'L'", "28-31"},
                 {"croniter", "0 0 * * 5L", "'L'", "28-31"},
                 {"croniter", "0 0 * * L", "'L'", "28-31"},
                 {"croniter", "0 0 * * Lfri", "not understood", "names"},
                 {"croniter", "0 0 15W,20 * *", "one day alone", "15W"},
                 {"croniter", "0 0 20,15W * *", "one day alone", "15W"},
                 {"croniter", "0 0 10-15W * *", "'W'", "14-16"},
                 {"croniter", "0 0 0W * *", "not from 1 to 31", "15W"},
                 {"croniter", "0 0 32W * *", "not from 1 to 31", "15W"},
                 {"croniter", "0 0 * * fri#6", "not from 1 to 5", "L5"},
                 {"croniter", "0 0 * * fri#0", "not from 1 to 5", "L5"},
                 {"croniter", "0 0 * * 1-4#3", "two names", "mon-fri#2"},
                 {"croniter", "0 0 * * *#3", "not understood", "names"},
                 {"croniter", "0 0 * * 1,fri#3", "plain weekdays", "two schedules"},
                 {"croniter", "* * * janu *", "not understood", "names"},
                 {"croniter", "mon * * * *", "not understood", "numbers"},
                 {"croniter", "1,,2 * * * *", "not understood", "lists"},
                 {"croniter", "1, * * * *", "not understood", "lists"},
                 {"croniter", "-1 * * * *", "not understood", "ranges"},
                 {"croniter", "1-2-3 * * * *", "not understood", "ranges"},
                 {"croniter", "0 0 30 2 *", "never fires", "correct the day"},
                 {"croniter", "0 0 29 2 * 0 2025-2027", "never fires", "correct the day"},
                 {"croniter", "0 0 13 * fri#1", "never fires", "correct the day"},
                 {"croniter", "0 0 15W * sun", "never fires", "correct the day"}};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    assert_refused(refused[i].dialect, refused[i].expression, refused[i].message, refused[i].hint);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(spellings_of_one_schedule),
                                     cmocka_unit_test(the_days),
                                     cmocka_unit_test(seconds_and_years),
                                     cmocka_unit_test(both_days_when_told_so),
                                     cmocka_unit_test(gaps_and_folds),
                                     cmocka_unit_test(airflow_in_gaps_and_folds),
                                     cmocka_unit_test(dagster_in_gaps_and_folds),
                                     cmocka_unit_test(refused_with_the_reason)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
