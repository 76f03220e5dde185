#include "dialect_cases.h"

static void times_of_every_day(void **state) {
  assert_fires_at("times", "14:30, 02:00:05", "Europe/Berlin", "2025-03-28T12:00:00Z",
                  "2025-03-28T14:30:00+01:00;2025-03-29T02:00:05+01:00;2025-03-29T14:30:00+01:00;"
                  "2025-03-30T14:30:00+02:00;2025-03-31T02:00:05+02:00");
  assert_fires_at("times", "00:00", "UTC", "2025-12-31T12:00:00Z", "2026-01-01T00:00:00Z");
  assert_fires_at("times", "02:00:05", "UTC", "2025-12-31T02:00:04Z", "2025-12-31T02:00:05Z;2026-01-01T02:00:05Z");
  assert_same("times", "02:00 14:30", "14:30,02:00,,02:00");
}

static void instants(void **state) {
  assert_fires_at("times", "2026-03-01T02:00:00Z 2025-03-01T02:00:00+01:00,2025-03-01T01:00:00Z", "UTC",
                  "2025-01-01T00:00:00Z", "2025-03-01T01:00:00Z;2026-03-01T02:00:00Z;-");
}

static void what_is_refused(void **state) {
  static const struct {
    const char *expression, *message, *hint;
  } known[] = {{"", "empty", "leave the schedule out"},
               {" , ", "empty", "leave the schedule out"},
               {"24:00", "neither", "02:00"},
               {"2:00", "neither", "02:00"},
               {"02:60", "neither", "02:00"},
               {"2026-03-01", "neither", "02:00"},
               {"2026-03-01T02:00:00", "neither", "offset"},
               {"02:00 2026-03-01T02:00:00Z", "times of every day and instants", "not both"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    assert_refused("times", known[i].expression, known[i].message, known[i].hint);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(times_of_every_day), cmocka_unit_test(instants),
                                     cmocka_unit_test(what_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
