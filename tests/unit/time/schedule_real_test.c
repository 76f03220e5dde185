#include "dialect_cases.h"
/* Needs cmocka before it. */
#include "cases.h"

/*
 * What the real schedulers answered to a seeded sample, recorded by tests/soak/record.
 * Columns: dialect expression timezone from expected_next source.
 */
static void check_row(char **row) {
  Arena arena = {0};
  if (strcmp(row[4], "refused") == 0) {
    assert_refused(row[0], row[1], "", "");
  } else {
    assert_schedule(row[1], schedule_of(&arena, row[0], row[1], row[2]), row[3], GAP_OWN, OVERLAP_OWN, row[4]);
  }
  arena_release(&arena);
}

static void what_the_real_ones_answered(void **state) {
  assert_int_equal(for_each_case("schedule-real.tsv", 6, check_row), 1042);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_the_real_ones_answered)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
