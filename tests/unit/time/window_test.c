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

static IdleHours hours(Arena *arena, const char *text, const Zone *in) {
  IdleHours idle = {0};
  Error err = {0};
  if (!idle_hours_parse(arena, text, in, &idle, &err)) fail_msg("%s: %s", text, err.message);
  return idle;
}

static WindowRules rules_of(const BusyRule *busy, size_t n, const IdleHours *idle) {
  return (WindowRules){.busy = busy, .n = n, .idle = idle};
}

static WindowCloser closer_of(const BusyRule *rules, size_t n, const IdleHours *idle, const char *from,
                              const char *to) {
  WindowRules all = rules_of(rules, n, idle);
  WindowClosed closed;
  bool is_free = window_free(&all, at(from), at(to), &closed);
  assert_int_equal(is_free, closed.by == CLOSED_BY_NOTHING);
  return closed.by;
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
    if (!allow) assert_int_equal(closer_of(&busy, 1, NULL, row[3], row[4]), CLOSED_BY_RUN);
  }
  arena_release(&arena);
}

static void the_shared_cases(void **state) { assert_true(for_each_case("windows.tsv", 9, check_row) >= 10); }

static void the_fire_that_closes_is_named(void **state) {
  Arena arena = {0};
  const Zone *berlin = zone(&arena, "Europe/Berlin");
  BusyRule busy[2] = {rule(&arena, "0 4 * * *", "UTC", 10, 5, 0),
                      rule(&arena, "30 2 * * *", "Europe/Berlin", 20, 5, 0)};
  const WindowRules rules = {.busy = busy, .n = 2};
  WindowClosed closed;
  assert_false(window_free(&rules, at("2025-03-30T00:50:00Z"), at("2025-03-30T06:00:00Z"), &closed));
  assert_int_equal(closed.by, CLOSED_BY_RUN);
  assert_int_equal(closed.index, 1);
  assert_instant(closed.at, berlin, "2025-03-30T03:00:00+02:00");
  assert_false(window_free(&rules, at("2025-03-30T03:00:00Z"), at("2025-03-30T06:00:00Z"), &closed));
  assert_int_equal(closed.index, 0);
  assert_instant(closed.at, zone_utc(), "2025-03-30T04:00:00+00:00");
  const BusyRule turned[2] = {busy[1], busy[0]};
  assert_false(window_free(&(WindowRules){.busy = turned, .n = 2}, at("2025-03-30T00:50:00Z"),
                           at("2025-03-30T06:00:00Z"), &closed));
  assert_int_equal(closed.index, 0);
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

static void idle_hours_over_midnight(void **state) {
  Arena arena = {0};
  const Zone *new_york = zone(&arena, "America/New_York");
  IdleHours night = hours(&arena, "22:00-06:00", new_york), day = hours(&arena, "09:00-17:00", new_york),
            all = hours(&arena, "00:00-24:00", new_york);
  assert_int_equal(closer_of(NULL, 0, &night, "2013-02-01T22:00:00-05:00", "2013-02-02T06:00:00-05:00"),
                   CLOSED_BY_NOTHING);
  assert_int_equal(closer_of(NULL, 0, &night, "2013-02-01T21:59:59-05:00", "2013-02-02T05:00:00-05:00"),
                   CLOSED_BY_IDLE_HOURS);
  assert_int_equal(closer_of(NULL, 0, &day, "2013-02-01T09:00:00-05:00", "2013-02-01T17:00:00-05:00"),
                   CLOSED_BY_NOTHING);
  assert_int_equal(closer_of(NULL, 0, &day, "2013-02-01T16:00:00-05:00", "2013-02-01T17:00:01-05:00"),
                   CLOSED_BY_IDLE_HOURS);
  assert_int_equal(closer_of(NULL, 0, &all, "2013-02-01T00:00:00Z", "2023-02-01T00:00:00Z"), CLOSED_BY_NOTHING);
  const WindowRules rules = {.idle = &night};
  WindowClosed closed;
  assert_false(window_free(&rules, at("2013-02-02T05:00:00-05:00"), at("2013-02-03T05:00:00-05:00"), &closed));
  assert_instant(closed.at, new_york, "2013-02-02T06:00:00-05:00");
  assert_false(window_free(&rules, at("2013-02-02T12:00:00-05:00"), at("2013-02-02T12:00:00-05:00"), &closed));
  assert_instant(closed.at, new_york, "2013-02-02T12:00:00-05:00");
  arena_release(&arena);
}

/* 01:00-03:00 in Berlin is one hour in spring and three in autumn; 02:15-02:45 does not occur in spring. */
static void idle_hours_follow_the_wall_clock(void **state) {
  Arena arena = {0};
  const Zone *berlin = zone(&arena, "Europe/Berlin");
  IdleHours early = hours(&arena, "01:00-03:00", berlin), gap = hours(&arena, "02:15-02:45", berlin),
            fold = hours(&arena, "02:30-03:00", berlin);
  Window window;
  assert_true(window_next(&(WindowRules){.idle = &early}, at("2025-03-29T12:00:00Z"), 1, 86400 * 2, &window));
  assert_int_equal(window.to - window.from, 3600);
  assert_true(window_next(&(WindowRules){.idle = &early}, at("2025-10-25T12:00:00Z"), 1, 86400 * 2, &window));
  assert_int_equal(window.to - window.from, 3 * 3600);
  assert_true(window_next(&(WindowRules){.idle = &gap}, at("2025-03-29T12:00:00Z"), 1, 86400 * 3, &window));
  assert_instant(window.from, berlin, "2025-03-31T02:15:00+02:00");
  assert_true(window_next(&(WindowRules){.idle = &fold}, at("2025-10-25T12:00:00Z"), 1, 86400 * 3, &window));
  assert_instant(window.from, berlin, "2025-10-26T02:30:00+02:00");
  assert_instant(window.to, berlin, "2025-10-26T02:00:00+01:00");
  assert_true(window_next(&(WindowRules){.idle = &fold}, window.to, 1, 86400 * 3, &window));
  assert_instant(window.from, berlin, "2025-10-26T02:30:00+01:00");
  arena_release(&arena);
}

static void the_next_window(void **state) {
  Arena arena = {0};
  const Zone *new_york = zone(&arena, "America/New_York");
  BusyRule busy = rule(&arena, "0 2 * * *", "America/New_York", 20, 15, 0);
  IdleHours night = hours(&arena, "22:00-06:00", new_york);
  Window window;
  /* Open until the guard of 02:00 begins at 01:45. */
  assert_true(window_next(&(WindowRules){.busy = &busy, .n = 1, .idle = &night}, at("2013-02-01T23:00:00-05:00"), 60,
                          86400, &window));
  assert_instant(window.from, new_york, "2013-02-01T23:00:00-05:00");
  assert_instant(window.to, new_york, "2013-02-02T01:45:00-05:00");
  /* Too short for three hours: the next is after the run, until the idle hours end. */
  assert_true(window_next(&(WindowRules){.busy = &busy, .n = 1, .idle = &night}, at("2013-02-01T23:00:00-05:00"),
                          3 * 3600, 86400, &window));
  assert_instant(window.from, new_york, "2013-02-02T02:35:00-05:00");
  assert_instant(window.to, new_york, "2013-02-02T06:00:00-05:00");
  /* By day: closed until the evening. */
  assert_true(window_next(&(WindowRules){.busy = &busy, .n = 1, .idle = &night}, at("2013-02-01T12:00:00-05:00"), 0,
                          86400, &window));
  assert_instant(window.from, new_york, "2013-02-01T22:00:00-05:00");
  /* No night has four hours in one piece. */
  assert_false(window_next(&(WindowRules){.busy = &busy, .n = 1, .idle = &night}, at("2013-02-01T12:00:00-05:00"),
                           4 * 3600, 86400 * 30, &window));
  /* Clipped to the horizon, and none left behind it. */
  assert_true(window_next(&(WindowRules){0}, at("2013-02-01T12:00:00Z"), 60, 3600, &window));
  assert_int_equal(window.to - window.from, 3600);
  assert_false(window_next(&(WindowRules){0}, at("2013-02-01T12:00:00Z"), 3601, 3600, &window));
  assert_false(window_next(&(WindowRules){0}, at("2013-02-01T12:00:00Z"), 1, 0, &window));
  assert_false(window_next(&(WindowRules){0}, at("2013-02-01T12:00:00Z"), NAN, 3600, &window));
  arena_release(&arena);
}

static void hourly_production_leaves_slots(void **state) {
  Arena arena = {0};
  BusyRule busy = rule(&arena, "0 * * * *", "UTC", 10, 15, 0), always = rule(&arena, "* * * * *", "UTC", 1, 0, 0);
  BusyRule both[2] = {busy, rule(&arena, "30 * * * *", "UTC", 1, 0, 0)};
  Window window;
  assert_true(window_next(&(WindowRules){.busy = &busy, .n = 1}, at("2024-03-01T01:00:00Z"), 1200, 86400, &window));
  assert_instant(window.from, zone_utc(), "2024-03-01T01:25:00+00:00");
  assert_instant(window.to, zone_utc(), "2024-03-01T01:45:00+00:00");
  assert_false(
      window_next(&(WindowRules){.busy = &busy, .n = 1}, at("2024-03-01T01:00:00Z"), 1201, 86400 * 30, &window));
  assert_true(window_next(&(WindowRules){.busy = both, .n = 2}, at("2024-03-01T01:00:00Z"), 600, 86400, &window));
  assert_instant(window.from, zone_utc(), "2024-03-01T01:31:00+00:00");
  assert_false(
      window_next(&(WindowRules){.busy = &always, .n = 1}, at("2024-03-01T01:00:00Z"), 1, 86400 * 30, &window));
  arena_release(&arena);
}

/* ---- several jobs, hours and freezes ----------------------------------------------------------------------------- */

static Freezes freezes(Arena *arena, const Zone *in, const char *const *texts, size_t n) {
  Freeze *items = arena_array(arena, n, sizeof *items);
  Error err = {0};
  for (size_t i = 0; i < n; i++)
    if (!freeze_parse(arena, texts[i], &items[i], &err)) fail_msg("%s: %s", texts[i], err.message);
  return (Freezes){in, items, n};
}

static void a_freeze_closes_its_days(void **state) {
  ARENA_SCOPED arena = {0};
  static const char *const texts[] = {"2026-12-24..2026-12-26", "month end"};
  const Zone *berlin = zone(&arena, "Europe/Berlin");
  const Freezes days = freezes(&arena, berlin, texts, 2);
  const WindowRules rules = {.freezes = &days};
  WindowClosed closed;
  Window window;
  assert_true(window_free(&rules, at("2026-12-23T12:00:00Z"), at("2026-12-23T23:00:00Z"), &closed));
  assert_false(window_free(&rules, at("2026-12-23T12:00:00Z"), at("2026-12-23T23:00:01Z"), &closed));
  assert_int_equal(closed.by, CLOSED_BY_FREEZE);
  assert_int_equal(closed.index, 0);
  assert_instant(closed.at, berlin, "2026-12-24T00:00:00+01:00");
  assert_true(window_next(&rules, at("2026-12-25T12:00:00Z"), 60, 30 * 86400, &window));
  assert_instant(window.from, berlin, "2026-12-27T00:00:00+01:00");
  assert_instant(window.to, berlin, "2026-12-31T00:00:00+01:00");
}

static void a_run_is_named_before_a_freeze_and_that_before_hours(void **state) {
  ARENA_SCOPED arena = {0};
  static const char *const texts[] = {"2026-12-24"};
  const Freezes days = freezes(&arena, zone_utc(), texts, 1);
  const IdleHours night = hours(&arena, "22:00-06:00", zone_utc());
  const BusyRule busy = rule(&arena, "0 13 * * *", "UTC", 10, 15, 0);
  const WindowRules rules = {.busy = &busy, .n = 1, .freezes = &days, .idle = &night};
  WindowClosed closed;
  assert_false(window_free(&rules, at("2026-12-24T12:00:00Z"), at("2026-12-24T13:30:00Z"), &closed));
  assert_int_equal(closed.by, CLOSED_BY_RUN);
  assert_false(window_free(&rules, at("2026-12-24T12:00:00Z"), at("2026-12-24T12:30:00Z"), &closed));
  assert_int_equal(closed.by, CLOSED_BY_FREEZE);
  assert_false(window_free(&rules, at("2026-12-25T12:00:00Z"), at("2026-12-25T12:30:00Z"), &closed));
  assert_int_equal(closed.by, CLOSED_BY_IDLE_HOURS);
  /* The hours close first, and the freeze is named all the same. */
  assert_false(window_free(&rules, at("2026-12-23T21:00:00Z"), at("2026-12-24T00:30:00Z"), &closed));
  assert_int_equal(closed.by, CLOSED_BY_FREEZE);
  assert_instant(closed.at, zone_utc(), "2026-12-24T00:00:00+00:00");
}

static void every_job_closes(void **state) {
  ARENA_SCOPED arena = {0};
  const BusyRule jobs[3] = {
      rule(&arena, "0 2 * * *", "UTC", 30, 15, 0), rule(&arena, "0 3 * * *", "UTC", 30, 15, 0), {NULL, 600, 900, 0}};
  const WindowRules rules = {.busy = jobs, .n = 3};
  const Window *windows;
  size_t n = window_list(&arena, &rules, at("2024-03-01T00:00:00Z"), 60, 86400, 10, &windows);
  assert_int_equal(n, 2); /* 02:45 meets 02:45: no second between the two jobs */
  assert_instant(windows[0].to, zone_utc(), "2024-03-01T01:45:00+00:00");
  assert_instant(windows[1].from, zone_utc(), "2024-03-01T03:45:00+00:00");
  assert_instant(windows[1].to, zone_utc(), "2024-03-02T00:00:00+00:00");
  assert_int_equal(window_list(&arena, &rules, at("2024-03-01T00:00:00Z"), 60, 86400, 1, &windows), 1);
}

/* The night in which Berlin's clock goes over: one hour less, one hour more, by the wall clock of jobs and freezes. */
static void freezes_and_jobs_on_the_nights_of_the_change(void **state) {
  ARENA_SCOPED arena = {0};
  static const char *const texts[] = {"2025-03-30", "26 October"};
  const Zone *berlin = zone(&arena, "Europe/Berlin");
  const Freezes days = freezes(&arena, berlin, texts, 2);
  const WindowRules frozen = {.freezes = &days};
  const WindowStretch *stretches;
  size_t n = window_stretches(&arena, &frozen, at("2025-03-29T00:00:00Z"), at("2025-04-01T00:00:00Z"), &stretches);
  assert_int_equal(n, 3);
  assert_int_equal(stretches[1].to - stretches[1].from, 23 * 3600);
  n = window_stretches(&arena, &frozen, at("2025-10-25T00:00:00Z"), at("2025-10-28T00:00:00Z"), &stretches);
  assert_int_equal(n, 3);
  assert_int_equal(stretches[1].index, 1);
  assert_int_equal(stretches[1].to - stretches[1].from, 25 * 3600);
  /* 02:30 is read as 03:00 and as 03:30 in spring, and runs twice in autumn: both count. */
  const BusyRule job = rule(&arena, "30 2 * * *", "Europe/Berlin", 10, 0, 0);
  const WindowRules busy = {.busy = &job, .n = 1};
  n = window_stretches(&arena, &busy, at("2025-03-29T22:00:00Z"), at("2025-03-30T10:00:00Z"), &stretches);
  assert_int_equal(n, 5);
  assert_instant(stretches[1].from, berlin, "2025-03-30T03:00:00+02:00");
  assert_instant(stretches[3].from, berlin, "2025-03-30T03:30:00+02:00");
  n = window_stretches(&arena, &busy, at("2025-10-25T22:00:00Z"), at("2025-10-26T10:00:00Z"), &stretches);
  assert_int_equal(n, 5);
  assert_instant(stretches[1].from, berlin, "2025-10-26T02:30:00+02:00");
  assert_instant(stretches[3].from, berlin, "2025-10-26T02:30:00+01:00");
}

static void stretches_leave_no_gap(void **state) {
  ARENA_SCOPED arena = {0};
  static const char *const texts[] = {"month end 2"};
  const Zone *berlin = zone(&arena, "Europe/Berlin");
  const Freezes days = freezes(&arena, berlin, texts, 1);
  const IdleHours idle = hours(&arena, "Mon-Fri 20:00-07:00, Sat,Sun 00:00-24:00", berlin);
  const BusyRule jobs[2] = {rule(&arena, "*/40 * * * *", "Europe/Berlin", 3, 1, 0),
                            rule(&arena, "15 2 * * 1-5", "America/New_York", 90, 15, 5)};
  const WindowRules rules = {.busy = jobs, .n = 2, .freezes = &days, .idle = &idle};
  const WindowStretch *stretches;
  Instant from = at("2025-02-20T00:00:00Z"), to = at("2025-04-05T00:00:00Z");
  size_t n = window_stretches(&arena, &rules, from, to, &stretches);
  assert_true(n > 1000);
  assert_int_equal(stretches[0].from, from);
  assert_int_equal(stretches[n - 1].to, to);
  for (size_t i = 0; i < n; i++) {
    WindowClosed closed;
    assert_true(stretches[i].from < stretches[i].to);
    if (i > 0) assert_int_equal(stretches[i].from, stretches[i - 1].to);
    bool is_free = window_free(&rules, stretches[i].from, stretches[i].to, &closed);
    assert_int_equal(is_free, stretches[i].closer == CLOSED_BY_NOTHING);
    if (!is_free) assert_int_equal(closed.by, stretches[i].closer);
  }
}

/* What window_next offers, window_free must confirm, and a second more at either end must be closed. */
static void both_functions_agree(void **state) {
  static const char *const crons[] = {"30 2 * * *", "0 * * * *", "*/20 1-4 * * *", "15 0,23 * * 0,6"};
  static const char *const zones[] = {"Europe/Berlin", "Australia/Lord_Howe", "Antarctica/Troll"};
  Arena arena = {0};
  for (size_t i = 0; i < 4; i++)
    for (size_t j = 0; j < 3; j++) {
      BusyRule busy = rule(&arena, crons[i], zones[j], 7.5, 3, 1);
      const IdleHours idle = hours(&arena, "20:00-08:00", zone(&arena, zones[j]));
      Instant from = at("2025-03-01T00:00:00Z"), end = from + 60 * INT64_C(86400);
      Window window;
      for (int n = 0; n < 5000 && window_next(&(WindowRules){.busy = &busy, .n = 1, .idle = &idle}, from, 60,
                                              (double)(end - from), &window);
           n++) {
        WindowRules rules = rules_of(&busy, 1, &idle);
        WindowClosed closed;
        assert_true(window.to - window.from >= 60);
        assert_true(window_free(&rules, window.from, window.to, &closed));
        if (window.to < end) assert_false(window_free(&rules, window.from, window.to + 1, &closed));
        if (window.from > from) assert_false(window_free(&rules, window.from - 1, window.to, &closed));
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

                                     cmocka_unit_test(idle_hours_over_midnight),
                                     cmocka_unit_test(idle_hours_follow_the_wall_clock),
                                     cmocka_unit_test(the_next_window),
                                     cmocka_unit_test(hourly_production_leaves_slots),
                                     cmocka_unit_test(a_freeze_closes_its_days),
                                     cmocka_unit_test(a_run_is_named_before_a_freeze_and_that_before_hours),
                                     cmocka_unit_test(every_job_closes),
                                     cmocka_unit_test(freezes_and_jobs_on_the_nights_of_the_change),
                                     cmocka_unit_test(stretches_leave_no_gap),
                                     cmocka_unit_test(both_functions_agree)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
