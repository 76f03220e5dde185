#include "dialect_cases.h"

static void cron_in_six_fields(void **state) {
  assert_same("aws", "cron(0 12 * * ? *)", "cron( 0 12 ? * * 1970-2199 )");
  assert_same("aws", "cron(0/15 8-17 ? * MON-FRI *)", "cron(0,15,30,45 8-17 ? * 2-6 *)");
  assert_days("aws", "cron(0 0 ? * 3#2 *)", "01-09 02-13 03-12");
  assert_days("aws", "cron(0 0 ? * 6L *)", "01-26 02-23 03-29");
  assert_days("aws", "cron(0 0 L * ? *)", "01-31 02-29 03-31");
  assert_days("aws", "cron(0 0 15W * ? *)", "01-15 02-15 03-15 04-15 05-15 06-14");
  assert_days("aws", "cron(0 0 LW * ? *)", "01-31 02-29 03-29");
}

/* The Scheduler leaves a missing time out, and runs a doubled one once. */
static void gaps_and_folds(void **state) {
  assert_fires_at("aws", "cron(30 2 * * ? *)", "Europe/Berlin", "2025-03-29T12:00:00Z", "2025-03-31T02:30:00+02:00");
  assert_fires_at("aws", "cron(30 2 * * ? *)", "Europe/Berlin", "2025-10-25T12:00:00Z",
                  "2025-10-26T02:30:00+02:00;2025-10-27T02:30:00+01:00");
}

/* It counts from the instant asked about, a day is 24 hours, and any second may be a fire. */
static void rates(void **state) {
  assert_fires_at("aws", "rate(5 minutes)", "UTC", "2024-01-01T00:00:07Z", "2024-01-01T00:05:07Z;2024-01-01T00:10:07Z");
  assert_fires_at("aws", "rate(1 hour)", "UTC", "2024-01-01T00:00:00Z", "2024-01-01T01:00:00Z");
  assert_fires_at("aws", "rate(1 day)", "Europe/Berlin", "2025-03-29T12:00:00+01:00", "2025-03-30T13:00:00+02:00");
  Arena arena = {0};
  Instant fire;
  assert_true(schedule_next_any(schedule_of(&arena, "aws", "rate(7 days)", "UTC"), at("2024-01-01T00:00:00Z"), &fire));
  assert_true(fire == at("2024-01-01T00:00:01Z"));
  arena_release(&arena);
}

static void once(void **state) {
  assert_fires_at("aws", "at(2026-03-01T02:00:00)", "Asia/Tokyo", "2024-01-01T00:00:00Z", "2026-02-28T17:00:00Z;-");
}

static void what_is_refused(void **state) {
  static const struct {
    const char *expression, *message, *hint;
  } known[] = {{"0 12 * * ? *", "not a schedule of EventBridge", "cron("},
               {"cron(0 12 * * ? *", "not a schedule of EventBridge", "cron("},
               {"Cron(0 12 * * ? *)", "not a schedule of EventBridge", "cron("},
               {"cron(0 12 * * ?)", "not 5", "cron("},
               {"cron(0 12 * * * *)", "none of the two day fields", "write ?"},
               {"cron(0 12 ? * ? *)", "each of the two day fields", "write ?"},
               {"cron(0 12 L-3 * ? *)", "not understood", "1-31"},
               {"cron(0 12 ? * FRI-MON *)", "ends before it begins", "list"},
               {"cron(0 12 ? * 3#1,6#3 *)", "no place in a list", "alone"},
               {"cron(0 12 * * ? 2200)", "not from 1970 to 2199", "year"},
               {"cron(0 12 30 2 ? *)", "never fires", "leave the schedule out"},
               {"rate(5 minute)", "plural", "rate(5 minutes)"},
               {"rate(1 hours)", "singular", "rate(1 hour)"},
               {"rate(0 minutes)", "from 1 on", "rate("},
               {"rate(-5 minutes)", "from 1 on", "rate("},
               {"rate(5minutes)", "from 1 on", "rate("},
               {"rate(30 seconds)", "minutes, hours or days", "rate("},
               {"at(2026-03-01)", "to the second", "zone"},
               {"at(2026-02-30T02:00:00)", "to the second", "zone"},
               {"at(2026-03-01T02:00:00Z)", "to the second", "zone"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    assert_refused("aws", known[i].expression, known[i].message, known[i].hint);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(cron_in_six_fields), cmocka_unit_test(gaps_and_folds),
                                     cmocka_unit_test(rates), cmocka_unit_test(once),
                                     cmocka_unit_test(what_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
