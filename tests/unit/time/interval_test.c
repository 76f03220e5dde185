#include "dialect_cases.h"

static void it_counts_from_its_start(void **state) {
  assert_fires_at("interval", "every 15m from 2026-01-01T00:07:00Z", "UTC", "2025-01-01T00:00:00Z",
                  "2026-01-01T00:07:00Z;2026-01-01T00:22:00Z");
  assert_fires_at("interval", "every 1h30m from 2026-01-01T00:00:00+01:00", "UTC", "2026-06-01T00:00:00Z",
                  "2026-06-01T00:30:00Z;2026-06-01T02:00:00Z");
  assert_fires_at("interval", "every 15m from 2026-01-01T00:00:00Z", "UTC", "2026-01-01T00:14:59Z",
                  "2026-01-01T00:15:00Z");
  assert_fires_at("interval", "every 15m from 2026-01-01T00:00:00Z", "UTC", "2026-01-01T00:15:00Z",
                  "2026-01-01T00:30:00Z");
}

/* By the time that passed, whatever the wall clock does. */
static void no_change_of_the_clock_matters(void **state) {
  assert_fires_at("interval", "every 24h from 2025-03-01T02:30:00+01:00", "Europe/Berlin", "2025-03-29T12:00:00Z",
                  "2025-03-30T03:30:00+02:00;2025-03-31T03:30:00+02:00");
}

static void the_end_of_time(void **state) {
  assert_fires_at("interval", "every 7d from 2025-03-01T00:00:00Z", "UTC", "9999-12-31T23:59:58Z", "-");
}

static void what_is_refused(void **state) {
  static const struct {
    const char *expression, *message, *hint;
  } known[] = {{"", "not understood", "every 15m from"},
               {"every 15m", "since when", "every 15m from 2026"},
               {"15m from 2026-01-01T00:00:00Z", "not understood", "every 15m from"},
               {"every 15 from 2026-01-01T00:00:00Z", "not a duration", "units"},
               {"every 500ms from 2026-01-01T00:00:00Z", "whole seconds", "every 15m from"},
               {"every 1.5s from 2026-01-01T00:00:00Z", "whole seconds", "every 15m from"},
               {"every 15m from 2026-01-01", "start of the interval", "every 15m from"},
               {"every 15m from 2026-01-01T00:00:00", "start of the interval", "every 15m from"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    assert_refused("interval", known[i].expression, known[i].message, known[i].hint);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(it_counts_from_its_start),
                                     cmocka_unit_test(no_change_of_the_clock_matters),
                                     cmocka_unit_test(the_end_of_time), cmocka_unit_test(what_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
