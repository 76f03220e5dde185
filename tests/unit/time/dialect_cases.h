#ifndef TIDEGATE_TESTS_TIME_DIALECT_CASES_H
#define TIDEGATE_TESTS_TIME_DIALECT_CASES_H

#include "time/schedule.h"

#include "time_test.h"

/* What the tests of the dialects ask of an expression, by the policies of the dialect's own scheduler. */

static inline const Schedule *schedule_of(Arena *arena, const char *dialect, const char *expression,
                                          const char *in_zone) {
  const Schedule *schedule = NULL;
  Error err = {0};
  if (!schedule_parse(arena, dialect, expression, zone(arena, in_zone), &schedule, &err))
    fail_msg("%s '%s': %s", dialect, expression, err.message);
  return schedule;
}

/* The fires of the schedule after an instant must be those named, parted by ";"; "-" at the end: no more. */
static inline void assert_schedule(const char *name, const Schedule *schedule, const char *after, GapPolicy gap,
                                   OverlapPolicy overlap, const char *expected) {
  char list[1024];
  Instant from = at(after), fire;
  snprintf(list, sizeof list, "%s", expected);
  for (char *rest = list, *one; (one = strsep(&rest, ";")) != NULL; from = fire) {
    bool found = schedule_next(schedule, from, gap, overlap, &fire);
    if (strcmp(one, "-") == 0) {
      if (found) fail_msg("%s: fires after the last", name);
      return;
    }
    if (!found) fail_msg("%s: no fire, expected %s", name, one);
    char shown[40];
    instant_rfc3339(fire, schedule_zone(schedule), shown);
    if (fire != at(one)) fail_msg("%s: %s, expected %s", name, shown, one);
  }
}

static inline void assert_fires_at(const char *dialect, const char *expression, const char *in_zone, const char *after,
                                   const char *expected) {
  Arena arena = {0};
  assert_schedule(expression, schedule_of(&arena, dialect, expression, in_zone), after, GAP_OWN, OVERLAP_OWN, expected);
  arena_release(&arena);
}

/* Days of 2024 as "01-31 02-29", the first that the expression has after the new year's first second. */
static inline void assert_days(const char *dialect, const char *expression, const char *days) {
  Arena arena = {0};
  const Schedule *schedule = schedule_of(&arena, dialect, expression, "UTC");
  Instant fire = at("2023-12-31T23:59:59Z");
  char list[256];
  snprintf(list, sizeof list, "%s", days);
  for (char *rest = list, *one; (one = strsep(&rest, " ")) != NULL;) {
    if (!schedule_next(schedule, fire, GAP_OWN, OVERLAP_OWN, &fire)) fail_msg("%s '%s': no fire", dialect, expression);
    char shown[40];
    instant_rfc3339(fire, zone_utc(), shown);
    if (strncmp(shown + 5, one, 5) != 0) fail_msg("%s '%s': %s, expected %s", dialect, expression, shown, one);
  }
  arena_release(&arena);
}

/* Both expressions fire at the same 500 times from 2024 on. */
static inline void assert_same(const char *dialect, const char *one, const char *other) {
  Arena arena = {0};
  const Schedule *a = schedule_of(&arena, dialect, one, "UTC"), *b = schedule_of(&arena, dialect, other, "UTC");
  Instant x = at("2023-12-31T23:59:59Z"), y = x;
  for (int i = 0; i < 500; i++) {
    bool more = schedule_next(a, x, GAP_OWN, OVERLAP_OWN, &x);
    assert_int_equal(schedule_next(b, y, GAP_OWN, OVERLAP_OWN, &y), more);
    if (x != y) fail_msg("%s: '%s' and '%s' differ", dialect, one, other);
    if (!more) break;
  }
  arena_release(&arena);
}

/* Refused, with these words in the message and in the hint. */
static inline void assert_refused(const char *dialect, const char *expression, const char *message, const char *hint) {
  Arena arena = {0};
  const Schedule *schedule = NULL;
  Error err = {0};
  if (schedule_parse(&arena, dialect, expression, zone_utc(), &schedule, &err))
    fail_msg("%s: accepted '%s'", dialect, expression);
  assert_null(schedule);
  assert_int_equal(err.code, ERR_SPEC);
  if (strstr(err.message, message) == NULL)
    fail_msg("%s '%s': '%s' lacks '%s'", dialect, expression, err.message, message);
  if (strstr(err.hint, hint) == NULL) fail_msg("%s '%s': '%s' lacks '%s'", dialect, expression, err.hint, hint);
  arena_release(&arena);
}

#endif
