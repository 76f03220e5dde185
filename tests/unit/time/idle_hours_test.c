#include "time/idle_hours.h"

#include "time_test.h"

static IdleHours hours(Arena *arena, const char *text) {
  IdleHours idle = {0};
  Error err = {0};
  if (!idle_hours_parse(arena, text, zone(arena, "Europe/Berlin"), &idle, &err)) fail_msg("%s: %s", text, err.message);
  return idle;
}

enum { MONDAY = 1, SATURDAY = 6, WEEKEND = 1 | 1 << SATURDAY, WORKDAYS = IDLE_EVERY_DAY & ~WEEKEND };

static void one_stretch(void **state) {
  ARENA_SCOPED arena = {0};
  static const struct {
    const char *text;
    unsigned days;
    int from, to;
  } good[] = {{"22:00-06:00", IDLE_EVERY_DAY, 1320, 360},
              {"22:00..06:00", IDLE_EVERY_DAY, 1320, 360},
              {"22:00–06:00", IDLE_EVERY_DAY, 1320, 360},
              {" 6:30 - 7:45 ", IDLE_EVERY_DAY, 390, 465},
              {"22:00-24:00", IDLE_EVERY_DAY, 1320, 0},
              {"Mon-Fri 22:00-06:00", WORKDAYS, 1320, 360},
              {"monday – friday 22:00-06:00", WORKDAYS, 1320, 360},
              {"Sat,Sun 00:00-24:00", WEEKEND, 0, 0},
              {"Sat , SUNDAY  00:00-24:00", WEEKEND, 0, 0},
              {"Fri..Mon 01:00-02:00", WEEKEND | 1 << 5 | 1 << MONDAY, 60, 120},
              {"Wed 01:00-02:00", 1 << 3, 60, 120}};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    IdleHours idle = hours(&arena, good[i].text);
    assert_int_equal(idle.n, 1);
    assert_int_equal(idle.items[0].days, good[i].days);
    assert_int_equal(idle.items[0].from, good[i].from);
    assert_int_equal(idle.items[0].to, good[i].to);
  }
  assert_int_equal(hours(&arena, "00:00-24:00").n, 0); /* always */
  assert_int_equal(hours(&arena, "09:00-09:00").n, 0);
  assert_int_equal(hours(&arena, "22:00-23:00, Mon-Sun 00:00-24:00").n, 0);
}

static void several_stretches(void **state) {
  ARENA_SCOPED arena = {0};
  IdleHours idle = hours(&arena, "Mon-Fri 22:00-06:00, Sat,Sun 00:00-24:00,12:00-13:00");
  assert_int_equal(idle.n, 3);
  assert_int_equal(idle.items[1].days, WEEKEND);
  assert_int_equal(idle.items[2].days, IDLE_EVERY_DAY);
  assert_int_equal(idle.items[2].from, 720);
}

static void what_is_refused(void **state) {
  ARENA_SCOPED arena = {0};
  static const char *const bad[] = {"",
                                    "22:00",
                                    "22:00-",
                                    "-06:00",
                                    "22-06",
                                    "24:00-06:00",
                                    "22:60-06:00",
                                    "22:00-24:01",
                                    "22:00-06:0",
                                    "22:00-06:00 UTC",
                                    "22:00 06:00",
                                    "night",
                                    "22:00-006:00",
                                    "22:00--06:00",
                                    "22:00-06:000",
                                    "22:00-06:00,",
                                    "22:00-06:00,,23:00-24:00",
                                    "Mon-Fri",
                                    "Mon-Fri, 22:00-06:00",
                                    "Mon- 22:00-06:00",
                                    "Mo-Fr 22:00-06:00",
                                    "Mondays 22:00-06:00",
                                    "Mon-Fri 22:00-06:00 Sat,Sun 00:00-24:00"};
  IdleHours idle;
  Error err = {0};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    if (idle_hours_parse(&arena, bad[i], zone_utc(), &idle, &err)) fail_msg("accepted: %s", bad[i]);
    assert_int_equal(err.code, ERR_SPEC);
    assert_contains(err.hint, "Mon-Fri 22:00-06:00");
  }
}

/* Open from `from` to `to`, closed the second before and at the end. */
static void assert_open(const IdleHours *idle, const char *from, const char *to) {
  Instant until, when = at(from), end = at(to);
  assert_false(idle_hours_at(idle, when - 1, &until));
  while (when < end) {
    assert_true(idle_hours_at(idle, when, &until));
    assert_true(until > when);
    when = until;
  }
  assert_int_equal(when, end);
  assert_false(idle_hours_at(idle, end, &until));
}

/* 2025-03-28 is a Friday; on Sunday the 30th Berlin's clock goes from 02:00 to 03:00. */
static void a_night_belongs_to_the_day_on_which_it_begins(void **state) {
  ARENA_SCOPED arena = {0};
  IdleHours workdays = hours(&arena, "Mon-Fri 22:00-06:00"), sunday = hours(&arena, "Sun 22:00-06:00"),
            both = hours(&arena, "Mon-Fri 22:00-06:00, Sat,Sun 00:00-24:00");
  assert_open(&workdays, "2025-03-28T22:00:00+01:00", "2025-03-29T06:00:00+01:00");
  assert_open(&workdays, "2025-03-31T22:00:00+02:00", "2025-04-01T06:00:00+02:00");
  assert_open(&sunday, "2025-03-30T22:00:00+02:00", "2025-03-31T06:00:00+02:00");
  assert_open(&both, "2025-03-28T22:00:00+01:00", "2025-03-31T00:00:00+02:00");
}

static void a_whole_day_from_another_hour(void **state) {
  ARENA_SCOPED arena = {0};
  IdleHours idle = hours(&arena, "Sat 09:00-09:00");
  assert_open(&idle, "2025-03-29T09:00:00+01:00", "2025-03-30T09:00:00+02:00");
}

static void all_day_never_changes(void **state) {
  ARENA_SCOPED arena = {0};
  IdleHours idle = hours(&arena, "00:00-24:00");
  Instant until;
  assert_true(idle_hours_at(&idle, 0, &until));
  assert_true(until == INT64_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(one_stretch),
                                     cmocka_unit_test(several_stretches),
                                     cmocka_unit_test(what_is_refused),
                                     cmocka_unit_test(a_night_belongs_to_the_day_on_which_it_begins),
                                     cmocka_unit_test(a_whole_day_from_another_hour),
                                     cmocka_unit_test(all_day_never_changes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
