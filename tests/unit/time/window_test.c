#include "time/window.h"

#include <math.h>

#include "time_test.h"
/* Needs cmocka before it. */
#include "cases.h"

static BusyRule rule(Arena *arena, const char *cron, const char *zone_text, double p95, double guard, double jitter) {
  const Schedule *schedule = NULL;
  Error err = {0};
  if (!schedule_parse(arena, "vixie", cron, zone(arena, zone_text), &schedule, &err)) fail_msg("%s", err.message);
  return (BusyRule){schedule, p95 * 60, guard * 60, jitter * 60};
}

static IdleHours hours(const char *text, const Zone *in) {
  IdleHours idle = {0};
  Error err = {0};
  if (!idle_hours_parse(text, in, &idle, &err)) fail_msg("%s: %s", text, err.message);
  return idle;
}

static WindowCloser closer_of(const BusyRule *rules, size_t n, const IdleHours *idle, const char *from,
                              const char *to) {
  WindowCloser closer = CLOSED_BY_NOTHING;
  Instant when;
  bool is_free = window_free(rules, n, idle, at(from), at(to), &closer, &when);
  assert_int_equal(is_free, closer == CLOSED_BY_NOTHING);
  return closer;
}

/* Columns: id, production cron, zone, window start, window end, p95, guard, jitter, expected, note; minutes. */
static void check_row(char **row) {
  Arena arena = {0};
  const bool allow = strcmp(row[8], "allow") == 0;
  if (strchr(row[1], 'L') != NULL) {
    /* Not Vixie cron: a schedule that is not understood is refused, and the gate denies. */
    const Schedule *schedule = NULL;
    Error err = {0};
    assert_false(schedule_parse(&arena, "vixie", row[1], zone(&arena, row[2]), &schedule, &err));
    assert_false(allow);
  } else {
    BusyRule busy = rule(&arena, row[1], row[2], atof(row[5]), atof(row[6]), atof(row[7]));
    if ((closer_of(&busy, 1, NULL, row[3], row[4]) == CLOSED_BY_NOTHING) != allow)
      fail_msg("%s: not %s", row[0], row[8]);
    WindowCloser closer;
    Instant fire;
    if (!allow && !window_free(&busy, 1, NULL, at(row[3]), at(row[4]), &closer, &fire))
      assert_int_equal(closer, CLOSED_BY_RUN);
  }
  arena_release(&arena);
}

static void the_shared_cases(void **state) { assert_true(for_each_case("windows.tsv", 9, check_row) >= 10); }

static void the_fire_that_closes_is_named(void **state) {
  Arena arena = {0};
  const Zone *berlin = zone(&arena, "Europe/Berlin");
  BusyRule busy[2] = {rule(&arena, "0 4 * * *", "UTC", 10, 5, 0),
                      rule(&arena, "30 2 * * *", "Europe/Berlin", 20, 5, 0)};
  WindowCloser closer;
  Instant fire;
  assert_false(window_free(busy, 2, NULL, at("2025-03-30T00:50:00Z"), at("2025-03-30T06:00:00Z"), &closer, &fire));
  assert_int_equal(closer, CLOSED_BY_RUN);
  assert_instant(fire, berlin, "2025-03-30T03:00:00+02:00");
  assert_false(window_free(busy, 2, NULL, at("2025-03-30T03:00:00Z"), at("2025-03-30T06:00:00Z"), &closer, &fire));
  assert_instant(fire, zone_utc(), "2025-03-30T04:00:00+00:00");
  arena_release(&arena);
}

/* A run of two days that began before the window, and one of ten minutes. */
static void runs_begun_before_the_window(void **state) {
  Arena arena = {0};
  BusyRule busy = rule(&arena, "0 0 1 * *", "UTC", 48 * 60, 15, 0);
  assert_int_equal(closer_of(&busy, 1, NULL, "2024-03-02T23:00:00Z", "2024-03-02T23:30:00Z"), CLOSED_BY_RUN);
  assert_int_equal(closer_of(&busy, 1, NULL, "2024-03-03T00:14:59Z", "2024-03-03T00:30:00Z"), CLOSED_BY_RUN);
  assert_int_equal(closer_of(&busy, 1, NULL, "2024-03-03T00:15:00Z", "2024-03-03T00:30:00Z"), CLOSED_BY_NOTHING);
  BusyRule jitter = rule(&arena, "0 2 * * *", "UTC", 10, 15, 30);
  assert_int_equal(closer_of(&jitter, 1, NULL, "2024-03-01T02:54:00Z", "2024-03-01T03:00:00Z"), CLOSED_BY_RUN);
  assert_int_equal(closer_of(&jitter, 1, NULL, "2024-03-01T02:55:00Z", "2024-03-01T03:00:00Z"), CLOSED_BY_NOTHING);
  arena_release(&arena);
}

static void an_empty_stretch_is_its_start(void **state) {
  Arena arena = {0};
  BusyRule busy = rule(&arena, "0 2 * * *", "UTC", 10, 15, 0);
  assert_int_equal(closer_of(&busy, 1, NULL, "2024-03-01T01:44:59Z", "2024-03-01T01:44:59Z"), CLOSED_BY_NOTHING);
  assert_int_equal(closer_of(&busy, 1, NULL, "2024-03-01T01:45:00Z", "2024-03-01T01:45:00Z"), CLOSED_BY_RUN);
  assert_int_equal(closer_of(&busy, 1, NULL, "2024-03-01T02:24:59Z", "2024-03-01T02:24:59Z"), CLOSED_BY_RUN);
  assert_int_equal(closer_of(&busy, 1, NULL, "2024-03-01T02:25:00Z", "2024-03-01T02:25:00Z"), CLOSED_BY_NOTHING);
  arena_release(&arena);
}

static void nothing_scheduled_is_free(void **state) {
  const BusyRule none = {NULL, 600, 900, 0};
  assert_int_equal(closer_of(NULL, 0, NULL, "2024-03-01T00:00:00Z", "2034-03-01T00:00:00Z"), CLOSED_BY_NOTHING);
  assert_int_equal(closer_of(&none, 1, NULL, "2024-03-01T00:00:00Z", "2034-03-01T00:00:00Z"), CLOSED_BY_NOTHING);
}

static void figures_not_understood_close(void **state) {
  Arena arena = {0};
  BusyRule busy = rule(&arena, "0 0 1 1 *", "UTC", 0, 0, 0);
  assert_int_equal(closer_of(&busy, 1, NULL, "2024-06-01T00:00:00Z", "2024-06-01T01:00:00Z"), CLOSED_BY_NOTHING);
  assert_int_equal(closer_of(&busy, 1, NULL, "2024-01-01T00:00:00Z", "2024-01-01T01:00:00Z"), CLOSED_BY_RUN);
  busy.p95 = -3600;
  assert_int_equal(closer_of(&busy, 1, NULL, "2024-01-01T00:00:00Z", "2024-01-01T01:00:00Z"), CLOSED_BY_RUN);
  busy.p95 = NAN;
  assert_int_equal(closer_of(&busy, 1, NULL, "2024-06-01T00:00:00Z", "2024-06-01T01:00:00Z"), CLOSED_BY_RUN);
  busy.p95 = INFINITY;
  assert_int_equal(closer_of(&busy, 1, NULL, "2024-06-01T00:00:00Z", "2024-06-01T01:00:00Z"), CLOSED_BY_RUN);
  arena_release(&arena);
}

static void idle_hours_as_text(void **state) {
  static const struct {
    const char *text;
    int from, to;
  } good[] = {{"22:00-06:00", 1320, 360},  {"22:00..06:00", 1320, 360}, {"22:00–06:00", 1320, 360},
              {" 6:30 - 7:45 ", 390, 465}, {"00:00-24:00", 0, 0},       {"22:00-24:00", 1320, 0},
              {"09:00-09:00", 540, 540}};
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
                                    "22:00-06:000"};
  IdleHours idle;
  Error err = {0};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    idle = hours(good[i].text, zone_utc());
    assert_int_equal(idle.from, good[i].from);
    assert_int_equal(idle.to, good[i].to);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    if (idle_hours_parse(bad[i], zone_utc(), &idle, &err)) fail_msg("accepted: %s", bad[i]);
    assert_int_equal(err.code, ERR_SPEC);
    assert_contains(err.hint, "22:00-06:00");
  }
}

static void idle_hours_over_midnight(void **state) {
  Arena arena = {0};
  const Zone *new_york = zone(&arena, "America/New_York");
  IdleHours night = hours("22:00-06:00", new_york), day = hours("09:00-17:00", new_york),
            all = hours("00:00-24:00", new_york);
  assert_int_equal(closer_of(NULL, 0, &night, "2013-02-01T22:00:00-05:00", "2013-02-02T06:00:00-05:00"),
                   CLOSED_BY_NOTHING);
  assert_int_equal(closer_of(NULL, 0, &night, "2013-02-01T21:59:59-05:00", "2013-02-02T05:00:00-05:00"),
                   CLOSED_BY_IDLE_HOURS);
  assert_int_equal(closer_of(NULL, 0, &day, "2013-02-01T09:00:00-05:00", "2013-02-01T17:00:00-05:00"),
                   CLOSED_BY_NOTHING);
  assert_int_equal(closer_of(NULL, 0, &day, "2013-02-01T16:00:00-05:00", "2013-02-01T17:00:01-05:00"),
                   CLOSED_BY_IDLE_HOURS);
  assert_int_equal(closer_of(NULL, 0, &all, "2013-02-01T00:00:00Z", "2023-02-01T00:00:00Z"), CLOSED_BY_NOTHING);
  WindowCloser closer;
  Instant closed;
  assert_false(
      window_free(NULL, 0, &night, at("2013-02-02T05:00:00-05:00"), at("2013-02-03T05:00:00-05:00"), &closer, &closed));
  assert_instant(closed, new_york, "2013-02-02T06:00:00-05:00");
  assert_false(
      window_free(NULL, 0, &night, at("2013-02-02T12:00:00-05:00"), at("2013-02-02T12:00:00-05:00"), &closer, &closed));
  assert_instant(closed, new_york, "2013-02-02T12:00:00-05:00");
  arena_release(&arena);
}

/* 01:00-03:00 in Berlin is one hour in spring and three in autumn; 02:15-02:45 does not occur in spring. */
static void idle_hours_follow_the_wall_clock(void **state) {
  Arena arena = {0};
  const Zone *berlin = zone(&arena, "Europe/Berlin");
  IdleHours early = hours("01:00-03:00", berlin), gap = hours("02:15-02:45", berlin),
            fold = hours("02:30-03:00", berlin);
  Window window;
  assert_true(window_next(NULL, 0, &early, at("2025-03-29T12:00:00Z"), 1, 86400 * 2, &window));
  assert_int_equal(window.to - window.from, 3600);
  assert_true(window_next(NULL, 0, &early, at("2025-10-25T12:00:00Z"), 1, 86400 * 2, &window));
  assert_int_equal(window.to - window.from, 3 * 3600);
  assert_true(window_next(NULL, 0, &gap, at("2025-03-29T12:00:00Z"), 1, 86400 * 3, &window));
  assert_instant(window.from, berlin, "2025-03-31T02:15:00+02:00");
  assert_true(window_next(NULL, 0, &fold, at("2025-10-25T12:00:00Z"), 1, 86400 * 3, &window));
  assert_instant(window.from, berlin, "2025-10-26T02:30:00+02:00");
  assert_instant(window.to, berlin, "2025-10-26T02:00:00+01:00");
  assert_true(window_next(NULL, 0, &fold, window.to, 1, 86400 * 3, &window));
  assert_instant(window.from, berlin, "2025-10-26T02:30:00+01:00");
  arena_release(&arena);
}

static void the_next_window(void **state) {
  Arena arena = {0};
  const Zone *new_york = zone(&arena, "America/New_York");
  BusyRule busy = rule(&arena, "0 2 * * *", "America/New_York", 20, 15, 0);
  IdleHours night = hours("22:00-06:00", new_york);
  Window window;
  /* Open until the guard of 02:00 begins at 01:45. */
  assert_true(window_next(&busy, 1, &night, at("2013-02-01T23:00:00-05:00"), 60, 86400, &window));
  assert_instant(window.from, new_york, "2013-02-01T23:00:00-05:00");
  assert_instant(window.to, new_york, "2013-02-02T01:45:00-05:00");
  /* Too short for three hours: the next is after the run, until the idle hours end. */
  assert_true(window_next(&busy, 1, &night, at("2013-02-01T23:00:00-05:00"), 3 * 3600, 86400, &window));
  assert_instant(window.from, new_york, "2013-02-02T02:35:00-05:00");
  assert_instant(window.to, new_york, "2013-02-02T06:00:00-05:00");
  /* By day: closed until the evening. */
  assert_true(window_next(&busy, 1, &night, at("2013-02-01T12:00:00-05:00"), 0, 86400, &window));
  assert_instant(window.from, new_york, "2013-02-01T22:00:00-05:00");
  /* No night has four hours in one piece. */
  assert_false(window_next(&busy, 1, &night, at("2013-02-01T12:00:00-05:00"), 4 * 3600, 86400 * 30, &window));
  /* Clipped to the horizon, and none left behind it. */
  assert_true(window_next(NULL, 0, NULL, at("2013-02-01T12:00:00Z"), 60, 3600, &window));
  assert_int_equal(window.to - window.from, 3600);
  assert_false(window_next(NULL, 0, NULL, at("2013-02-01T12:00:00Z"), 3601, 3600, &window));
  assert_false(window_next(NULL, 0, NULL, at("2013-02-01T12:00:00Z"), 1, 0, &window));
  assert_false(window_next(NULL, 0, NULL, at("2013-02-01T12:00:00Z"), NAN, 3600, &window));
  arena_release(&arena);
}

static void hourly_production_leaves_slots(void **state) {
  Arena arena = {0};
  BusyRule busy = rule(&arena, "0 * * * *", "UTC", 10, 15, 0), always = rule(&arena, "* * * * *", "UTC", 1, 0, 0);
  BusyRule both[2] = {busy, rule(&arena, "30 * * * *", "UTC", 1, 0, 0)};
  Window window;
  assert_true(window_next(&busy, 1, NULL, at("2024-03-01T01:00:00Z"), 1200, 86400, &window));
  assert_instant(window.from, zone_utc(), "2024-03-01T01:25:00+00:00");
  assert_instant(window.to, zone_utc(), "2024-03-01T01:45:00+00:00");
  assert_false(window_next(&busy, 1, NULL, at("2024-03-01T01:00:00Z"), 1201, 86400 * 30, &window));
  assert_true(window_next(both, 2, NULL, at("2024-03-01T01:00:00Z"), 600, 86400, &window));
  assert_instant(window.from, zone_utc(), "2024-03-01T01:31:00+00:00");
  assert_false(window_next(&always, 1, NULL, at("2024-03-01T01:00:00Z"), 1, 86400 * 30, &window));
  arena_release(&arena);
}

/* What window_next offers, window_free must confirm, and a second more at either end must be closed. */
static void both_functions_agree(void **state) {
  static const char *const crons[] = {"30 2 * * *", "0 * * * *", "*/20 1-4 * * *", "15 0,23 * * 0,6"};
  static const char *const zones[] = {"Europe/Berlin", "Australia/Lord_Howe", "Antarctica/Troll"};
  Arena arena = {0};
  for (size_t i = 0; i < 4; i++)
    for (size_t j = 0; j < 3; j++) {
      BusyRule busy = rule(&arena, crons[i], zones[j], 7.5, 3, 1);
      IdleHours idle = hours("20:00-08:00", zone(&arena, zones[j]));
      Instant from = at("2025-03-01T00:00:00Z"), end = from + 60 * INT64_C(86400);
      Window window;
      for (int n = 0; n < 5000 && window_next(&busy, 1, &idle, from, 60, (double)(end - from), &window); n++) {
        WindowCloser closer;
        Instant when;
        assert_true(window.to - window.from >= 60);
        assert_true(window_free(&busy, 1, &idle, window.from, window.to, &closer, &when));
        if (window.to < end) assert_false(window_free(&busy, 1, &idle, window.from, window.to + 1, &closer, &when));
        if (window.from > from) assert_false(window_free(&busy, 1, &idle, window.from - 1, window.to, &closer, &when));
        from = window.to;
      }
      assert_true(from > at("2025-04-01T00:00:00Z"));
    }
  arena_release(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_shared_cases),
                                     cmocka_unit_test(the_fire_that_closes_is_named),
                                     cmocka_unit_test(runs_begun_before_the_window),
                                     cmocka_unit_test(an_empty_stretch_is_its_start),
                                     cmocka_unit_test(nothing_scheduled_is_free),
                                     cmocka_unit_test(figures_not_understood_close),
                                     cmocka_unit_test(idle_hours_as_text),
                                     cmocka_unit_test(idle_hours_over_midnight),
                                     cmocka_unit_test(idle_hours_follow_the_wall_clock),
                                     cmocka_unit_test(the_next_window),
                                     cmocka_unit_test(hourly_production_leaves_slots),
                                     cmocka_unit_test(both_functions_agree)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
