#include "dialect_cases.h"

static void spellings_of_one_schedule(void **state) {
  static const char *const pairs[][2] = {
      {"@hourly", "0 * * * *"},           {"@midnight", "0 0 0 * * *"},
      {"@weekly", "0 0 * * sun"},         {"@annually", "0 0 1 jan ?"},
      {"30 2 * * *", "0 30 2 ? * ?"},     {"5/15 * * * *", "5-59/15 * * * *"},
      {"0 0 * * MON-fri", "0 0 * * 1-5"}, {"TZ=UTC 0 5 * * *", "CRON_TZ=UTC 0 5 * * *"},
      {" 0 5 * * * ", "0 5 */1 * *"}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) assert_same("robfig", pairs[i][0], pairs[i][1]);
}

/* A step above 1 takes the star's meaning away, so that the two day fields are united. */
static void the_two_day_fields(void **state) {
  assert_days("robfig", "0 0 15 * fri", "01-05 01-12 01-15 01-19");
  assert_days("robfig", "0 0 */1 * fri", "01-05 01-12 01-19");
  assert_days("robfig", "0 0 */10 * fri", "01-01 01-05 01-11 01-12 01-19 01-21");
  assert_days("robfig", "0 0 ? * fri", "01-05 01-12");
}

static void seconds_stand_first(void **state) {
  assert_fires_at("robfig", "15 30 2 * * *", "UTC", "2024-01-01T00:00:00Z",
                  "2024-01-01T02:30:15Z;2024-01-02T02:30:15Z");
}

static void the_zone_of_the_expression_wins(void **state) {
  assert_fires_at("robfig", "TZ=America/New_York 0 5 * * *", "Europe/Berlin", "2024-07-01T00:00:00Z",
                  "2024-07-01T09:00:00Z;2024-07-02T09:00:00Z");
  assert_refused("robfig", "TZ=Mars/Olympus 0 5 * * *", "Mars/Olympus", "IANA");
}

static void missing_times_are_left_out_and_doubled_ones_run_twice(void **state) {
  assert_fires_at("robfig", "30 2 * * *", "Europe/Berlin", "2025-03-29T12:00:00Z", "2025-03-31T02:30:00+02:00");
  assert_fires_at("robfig", "30 2 * * *", "Europe/Berlin", "2025-10-25T12:00:00Z",
                  "2025-10-26T02:30:00+02:00;2025-10-26T02:30:00+01:00;2025-10-27T02:30:00+01:00");
}

/* It counts from the instant asked about; for the overlap question any second may be a fire. */
static void every_so_long(void **state) {
  assert_fires_at("robfig", "@every 1h30m", "UTC", "2024-01-01T00:00:07Z", "2024-01-01T01:30:07Z;2024-01-01T03:00:07Z");
  assert_fires_at("robfig", "@every 1.5s", "UTC", "2024-01-01T00:00:00Z", "2024-01-01T00:00:01Z;2024-01-01T00:00:02Z");
  assert_fires_at("robfig", "@every 300ms", "UTC", "2024-01-01T00:00:00Z", "2024-01-01T00:00:01Z");
  Arena arena = {0};
  const Schedule *schedule = schedule_of(&arena, "robfig", "@every 24h", "UTC");
  Instant fire;
  assert_true(schedule_next_any(schedule, at("2024-01-01T00:00:00Z"), &fire));
  assert_true(fire == at("2024-01-01T00:00:01Z"));
  assert_true(schedule_anytime(schedule));
  assert_false(schedule_anytime(schedule_of(&arena, "robfig", "@hourly", "UTC")));
  arena_release(&arena);
}

static void what_is_refused(void **state) {
  static const struct {
    const char *expression, *message, *hint;
  } known[] = {{"", "5 or 6 fields", "write all"},
               {"0 0 * *", "not 4", "write all"},
               {"0 0 0 * * * *", "not 7", "write all"},
               {"0 0 * * 7", "7 is not from 0 to 6", "day of week"},
               {"0 22-2 * * *", "ends before it begins", "22-23,0-4"},
               {"0 0 l * *", "'L'", "28-31"},
               {"0 0 15W * *", "'W'", "14-16"},
               {"H 0 * * *", "hash", "pause"},
               {"*/0 * * * *", "step of 0", "1 or more"},
               {"0,,5 * * * *", "not understood", "lists"},
               {"*-5 * * * *", "not understood", "ranges"},
               {"0 0 30 2 *", "never fires", "leave the schedule out"},
               {"@reboot", "cannot be predicted", "pause"},
               {"@Daily", "not a shorthand", "@daily"},
               {"@every", "not a shorthand", "@every"},
               {"@every 1d", "not a duration", "@every 90s"},
               {"@every -5m", "not a duration", "@every 90s"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    assert_refused("robfig", known[i].expression, known[i].message, known[i].hint);
}

static void kubernetes_is_narrower(void **state) {
  assert_same("kubernetes", "@daily", "0 0 * * ?");
  assert_refused("kubernetes", "0 0 0 * * *", "not 6", "no seconds");
  assert_refused("kubernetes", "TZ=UTC 0 0 * * *", "refused by Kubernetes", "timeZone");
  assert_refused("kubernetes", "CRON_TZ=UTC 0 0 * * *", "refused by Kubernetes", "timeZone");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(spellings_of_one_schedule),
                                     cmocka_unit_test(the_two_day_fields),
                                     cmocka_unit_test(seconds_stand_first),
                                     cmocka_unit_test(the_zone_of_the_expression_wins),
                                     cmocka_unit_test(missing_times_are_left_out_and_doubled_ones_run_twice),
                                     cmocka_unit_test(every_so_long),
                                     cmocka_unit_test(what_is_refused),
                                     cmocka_unit_test(kubernetes_is_narrower)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
