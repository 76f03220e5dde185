#include "time/zone_table.h"
#include "time_test.h"

static const char directory[] = "/usr/share/zoneinfo";

static void slips_of_the_pen(void **state) {
  static const char *const pairs[][2] = {{"Europe/Berlim", "Europe/Berlin"},
                                         {"Amerika/New_York", "America/New_York"},
                                         {"Asia/Calcuta", "Asia/Calcutta"},
                                         {"america/new_york", "America/New_York"},
                                         {"London", "Europe/London"},
                                         {"Troll", "Antarctica/Troll"},
                                         {"America/Argentina/BuenosAires", "America/Argentina/Buenos_Aires"}};
  Arena arena = {0};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    const char *name = zone_nearest_name(&arena, directory, pairs[i][0]);
    assert_non_null(name);
    assert_string_equal(name, pairs[i][1]);
  }
  arena_release(&arena);
}

static void nothing_near(void **state) {
  char huge[300];
  memset(huge, 'a', sizeof huge - 1);
  huge[sizeof huge - 1] = '\0';
  Arena arena = {0};
  assert_null(zone_nearest_name(&arena, directory, "Middle-earth/Minas_Tirith"));
  assert_null(zone_nearest_name(&arena, directory, huge));
  assert_null(zone_nearest_name(&arena, "/nonexistent", "UTC"));
  arena_release(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(slips_of_the_pen), cmocka_unit_test(nothing_near)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
