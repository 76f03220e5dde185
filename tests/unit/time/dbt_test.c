#include "dialect_cases.h"

static void presets_and_cron(void **state) {
  assert_same("dbt", "every 6 hours", "0 */6 * * *");
  assert_same("dbt", "every 1 hour", "0 * * * *");
  assert_same("dbt", "every 12 hours on 1-5", "0 */12 * * mon-fri");
  assert_same("dbt", "at 0,12,23 on sat", "0 0,12,23 * * 6");
  assert_days("dbt", "0 0 L * *", "01-31 02-29 03-31");
}

static void always_utc(void **state) {
  assert_fires_at("dbt", "0 2 * * *", "America/New_York", "2025-03-08T12:00:00Z",
                  "2025-03-09T02:00:00Z;2025-03-10T02:00:00Z");
}

static void what_is_refused(void **state) {
  static const struct {
    const char *expression, *message, *hint;
  } known[] = {{"", "not a schedule of the dbt platform", "every 6 hours"},
               {"every day", "not a schedule of the dbt platform", "every 6 hours"},
               {"every six hours", "not a schedule of the dbt platform", "every 6 hours"},
               {"0 0 0 * * *", "not a schedule of the dbt platform", "five cron fields"},
               {"@daily", "not a schedule of the dbt platform", "five cron fields"},
               {"every 0 hours", "step of 0", "1 or more"},
               {"at 24", "24 is not from 0 to 23", "minute, hour"},
               {"0 0 30 2 *", "never fires", "leave the schedule out"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    assert_refused("dbt", known[i].expression, known[i].message, known[i].hint);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(presets_and_cron), cmocka_unit_test(always_utc),
                                     cmocka_unit_test(what_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
