#include "jobs/idle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above. */
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "time/idle_hours.h"
#include "time/quantity.h"

static Instant at(const char *text) {
  Instant instant = 0;
  Error err = {0};
  if (!instant_parse(text, &instant, &err)) fail_msg("%s", err.message);
  return instant;
}

static const Zone *zone(Arena *arena, const char *name) {
  const Zone *opened = NULL;
  Error err = {0};
  if (!zone_open(arena, name, &opened, &err)) fail_msg("%s", err.message);
  return opened;
}

enum { DAY = 86400, MOST = 1000 };

typedef struct Runs {
  JobRun items[MOST];
  size_t n;
} Runs;

/* A run of that length at this time of every day (of the weekdays of `days`, 0x7F for all), by the zone's clock. */
static void add_daily(Runs *runs, const Zone *in, const char *first_day, int n_days, unsigned days, int minute,
                      int minutes) {
  Civil civil = civil_from_seconds(at(first_day));
  int64_t first = civil_to_days(civil.year, civil.month, civil.day);
  for (int64_t day = first; day < first + n_days; day++) {
    if ((days >> civil_weekday(day) & 1) == 0) continue;
    Civil when = civil_from_days(day);
    when.hour = minute / 60;
    when.minute = minute % 60;
    ZoneReadings readings = zone_read(in, &when);
    Instant begin = readings.n == 0 ? readings.gap_end : readings.at[0];
    assert_true(runs->n < MOST);
    runs->items[runs->n++] = (JobRun){begin, begin, begin + minutes * 60, false, false};
  }
}

static const char *proposed(Arena *arena, const Runs *runs, const Zone *in, IdleEvidence *evidence) {
  const char *why = NULL;
  const char *text = jobs_idle_hours(arena, runs->items, runs->n, in, evidence, &why);
  if (text == NULL) fail_msg("%s", why);
  /* What is proposed can be read, no run is in it, and every hour that is not in it was met. */
  IdleHours idle;
  Error err = {0};
  Instant until;
  if (!idle_hours_parse(arena, text, in, &idle, &err)) fail_msg("%s: %s", text, err.message);
  for (size_t i = 0; i < runs->n; i++)
    for (Instant now = runs->items[i].scheduled; now < runs->items[i].ended; now += 60)
      if (idle_hours_at(&idle, now, &until)) fail_msg("%s: a run at %lld", text, (long long)now);
  int open = 0;
  Instant monday = at("2026-06-01T00:00:00Z");
  for (int hour = 0; hour < 168; hour++) open += idle_hours_at(&idle, monday + hour * 3600, &until);
  assert_int_equal(open, evidence->idle);
  return text;
}

static void by_night_and_at_the_weekend(void **state) {
  ARENA_SCOPED arena = {0};
  Runs runs = {0};
  IdleEvidence evidence;
  /* Four weeks from a Monday on, workdays from 08:00 to 19:30; a nightly run at 02:00. */
  add_daily(&runs, zone_utc(), "2026-01-05T00:00:00Z", 28, 0x3E, 8 * 60, 690);
  assert_string_equal(proposed(&arena, &runs, zone_utc(), &evidence),
                      "Mon 00:00-08:00, Mon-Thu 20:00-08:00, Fri 20:00-24:00, Sat,Sun 00:00-24:00");
  assert_int_equal(evidence.runs, 20);
  assert_int_equal(evidence.busy[1][8], 4);
  assert_int_equal(evidence.busy[1][19], 4);
  assert_int_equal(evidence.busy[1][20], 0);
  add_daily(&runs, zone_utc(), "2026-01-05T00:00:00Z", 28, 0x3E, 8 * 60 + 15, 5); /* another job: no other weeks */
  add_daily(&runs, zone_utc(), "2026-01-05T00:00:00Z", 28, 0x3E, 8 * 60 + 30, 5);
  proposed(&arena, &runs, zone_utc(), &evidence);
  assert_int_equal(evidence.busy[1][8], 4);
  add_daily(&runs, zone_utc(), "2026-01-05T00:00:00Z", 28, 0x7F, 2 * 60, 20);
  assert_string_equal(proposed(&arena, &runs, zone_utc(), &evidence),
                      "Mon-Fri 03:00-08:00, Mon-Fri 20:00-02:00, Sat,Sun 03:00-02:00");
}

static void the_same_every_day(void **state) {
  ARENA_SCOPED arena = {0};
  Runs runs = {0};
  IdleEvidence evidence;
  add_daily(&runs, zone_utc(), "2026-01-01T00:00:00Z", 21, 0x7F, 5 * 60 + 59, 62);
  assert_string_equal(proposed(&arena, &runs, zone_utc(), &evidence), "08:00-05:00");
  assert_int_equal(evidence.idle, 7 * 21);
  /* One run met one hour once: the least busy, which is named. */
  add_daily(&runs, zone_utc(), "2026-01-03T00:00:00Z", 1, 0x7F, 10 * 60, 60);
  assert_string_equal(proposed(&arena, &runs, zone_utc(), &evidence),
                      "Mon-Fri,Sun 08:00-05:00, Sat 08:00-10:00, Sat 11:00-05:00");
  const char *text = jobs_idle_evidence(&arena, &evidence, zone_utc());
  assert_string_equal(
      text,
      "in 2.9 weeks, 22 runs from 2026-01-01 to 2026-01-21, no run met 146 of the 168 hours of the week; "
      "least busy of the others: Sat 10:00, in 1 week");
}

/* On Sunday, 29 March, there is no 02:00, and the run is at 03:00. In winter and in summer 02:00 of Berlin is another
 * hour of UTC; by its own clock it is one. */
static void by_the_clock_of_the_zone(void **state) {
  ARENA_SCOPED arena = {0};
  const Zone *berlin = zone(&arena, "Europe/Berlin");
  Runs runs = {0};
  IdleEvidence evidence;
  add_daily(&runs, berlin, "2026-03-16T00:00:00Z", 28, 0x7F, 2 * 60, 30);
  assert_string_equal(proposed(&arena, &runs, berlin, &evidence), "Mon-Sat 03:00-02:00, Sun 04:00-02:00");
  const char *why;
  assert_non_null(jobs_idle_hours(&arena, runs.items, runs.n, zone_utc(), &evidence, &why));
  assert_int_equal(evidence.busy[3][0] + evidence.busy[3][1], 4);
}

static void a_run_takes_its_queue_and_a_second(void **state) {
  ARENA_SCOPED arena = {0};
  Runs runs = {0};
  IdleEvidence evidence;
  add_daily(&runs, zone_utc(), "2026-01-01T00:00:00Z", 21, 0x7F, 6 * 60, 0);
  for (size_t i = 0; i < runs.n; i++) { /* scheduled at 05:55, started at 06:10 */
    runs.items[i].scheduled -= 300;
    runs.items[i].started = runs.items[i].ended += 600;
  }
  assert_string_equal(proposed(&arena, &runs, zone_utc(), &evidence), "07:00-05:00");
  for (size_t i = 0; i < runs.n; i++) runs.items[i].late = true; /* caught up: the fire says nothing */
  const char *why;
  assert_string_equal(jobs_idle_hours(&arena, runs.items, runs.n, zone_utc(), &evidence, &why), "07:00-06:00");
}

static void what_shows_nothing(void **state) {
  ARENA_SCOPED arena = {0};
  Runs runs = {0};
  IdleEvidence evidence;
  const char *why = NULL;
  assert_null(jobs_idle_hours(&arena, NULL, 0, zone_utc(), &evidence, &why));
  assert_string_equal(why, "there are no runs");
  add_daily(&runs, zone_utc(), "2026-01-01T00:00:00Z", 10, 0x7F, 120, 30);
  assert_null(jobs_idle_hours(&arena, runs.items, runs.n, zone_utc(), &evidence, &why));
  assert_string_equal(why, "10 runs within 9.0 days show no week: at least 14 days are needed");
  assert_int_equal(evidence.runs, 10);
  runs.items[0].ended += 40 * (Instant)DAY;
  assert_null(jobs_idle_hours(&arena, runs.items, runs.n, zone_utc(), &evidence, &why));
  assert_string_equal(why, "in every hour of the week something ran");
  assert_int_equal(evidence.busy[1][12], 6); /* and no week counts twice */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_night_and_at_the_weekend),
                                     cmocka_unit_test(the_same_every_day), cmocka_unit_test(by_the_clock_of_the_zone),
                                     cmocka_unit_test(a_run_takes_its_queue_and_a_second),
                                     cmocka_unit_test(what_shows_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
