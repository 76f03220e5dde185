#include "jobs/timer_units.h"

#include <math.h>

#include "history_test.h"

/* systemd.time(7), "Parsing Time Spans"; the sums were compared with systemd-analyze timespan of systemd 252. */
static void spans(void **state) {
  const struct {
    const char *text;
    double seconds;
  } cases[] = {{"90", 90},       {"1h 30min", 5400}, {"1h30min", 5400}, {"5 minutes", 300},    {"2 h", 7200},
               {"48hr", 172800}, {"1w 1d", 691200},  {"300ms", 0.3},    {"1.5s", 1.5},         {"0", 0},
               {"1M", 2629800},  {"1m", 60},         {"5min 20s", 320}, {"infinity", INFINITY}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (!(timer_span(cases[i].text) == cases[i].seconds)) fail_msg("%s: %g", cases[i].text, timer_span(cases[i].text));
  static const char *const wrong[] = {"", "x", "5 parsecs", "-1s", "1h x", "h"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    if (timer_span(wrong[i]) != -1) fail_msg("%s: %g", wrong[i], timer_span(wrong[i]));
}

/* As systemd 252 prints properties of timers. */
static const char shown[] =
    "Unit=nightly.service\n"
    "TimersCalendar={ OnCalendar=*-*-* 02:00:00 Europe/Berlin ; next_elapse=Tue 2026-12-01 02:00:00 CET }\n"
    "TimersCalendar={ OnCalendar=Sat *-*-* 14:00:00 ; next_elapse=Sat 2026-12-05 14:00:00 CET }\n"
    "OnClockChange=no\nOnTimezoneChange=no\nAccuracyUSec=1min\nRandomizedDelayUSec=1h 30min\nPersistent=yes\n"
    "Id=nightly.timer\n"
    "\n"
    "Unit=clean.service\n"
    "TimersMonotonic={ OnUnitActiveUSec=1d ; next_elapse=15h 3min 12.000123s }\n"
    "TimersMonotonic={ OnBootUSec=15min ; next_elapse=15min }\n"
    "OnClockChange=no\nOnTimezoneChange=no\nAccuracyUSec=1min\nRandomizedDelayUSec=0\nPersistent=no\n"
    "Id=clean.timer\n";

static void what_systemctl_shows(void **state) {
  Folder *folder = *state;
  const Timer *timers;
  size_t n;
  timers_of_show(&folder->arena, shown, &timers, &n);
  assert_int_equal(n, 2);
  assert_string_equal(timers[0].id, "nightly.timer");
  assert_string_equal(timers[0].unit, "nightly.service");
  assert_int_equal(timers[0].n, 2);
  assert_string_equal(timers[0].calendars[0], "*-*-* 02:00:00 Europe/Berlin");
  assert_string_equal(timers[0].calendars[1], "Sat *-*-* 14:00:00");
  assert_true(timers[0].delay == 5400 && timers[0].accuracy == 60 && timers[0].persistent);
  assert_null(timers[0].monotonic);
  assert_int_equal(timers[1].n, 0);
  assert_string_equal(timers[1].monotonic, "OnUnitActiveSec=1d, OnBootSec=15min");
  timers_of_show(&folder->arena, "", &timers, &n);
  assert_int_equal(n, 0);
}

static void unit_files_and_their_drop_ins(void **state) {
  Folder *folder = *state;
  const JobHistory *jobs;
  assert_int_equal(mkdir(arena_printf(&folder->arena, "%s/b.timer.d", folder->path), 0700), 0);
  folder_file(folder, "a.timer",
              "[Unit]\nDescription=x\nOnCalendar=yearly\n[Timer]\n# OnCalendar=hourly\n  OnCalendar = Mon *-*-* \\\n"
              "# in between\n 02:00 America/New_York\nRandomizedDelaySec=10min\nAccuracySec=1us\nUnit=load.service\n"
              "[Install]\nWantedBy=timers.target\n");
  folder_file(folder, "b.timer", "[Timer]\nOnCalendar=daily\nPersistent=true\n");
  folder_file(folder, "b.timer.d/10.conf", "[Timer]\nOnCalendar=\nOnCalendar=weekly\n");
  folder_file(folder, "c.timer", "[Timer]\nOnBootSec=15min\n");
  folder_file(folder, "d@.timer", "[Timer]\nOnCalendar=daily\n");
  folder_file(folder, "e.timer", "[Timer]\nOnCalendar=daily\nOnUnitActiveSec=1h\nRandomizedDelaySec=a while\n");
  assert_int_equal(folder_read(folder, "systemd", folder->path, &jobs), 4);
  assert_string_equal(jobs[0].name, "a");
  assert_string_equal(jobs[0].expression, "Mon *-*-* 02:00 America/New_York");
  assert_string_equal(jobs[0].zone, "America/New_York");
  assert_string_equal(jobs[0].unit, "load.service");
  assert_true(fabs(jobs[0].jitter - 600) < 0.001);
  assert_string_equal(doubt(&jobs[0], "zone"), "");
  assert_string_equal(jobs[1].expression, "weekly");
  assert_string_equal(jobs[1].unit, "b.service");
  assert_true(jobs[1].jitter == 60);
  assert_non_null(strstr(doubt(&jobs[1], "schedule"), "Persistent"));
  assert_string_not_equal(doubt(&jobs[1], "zone"), "");
  assert_non_null(strstr(jobs[2].refusal, "OnBootSec=15min"));
  assert_null(jobs[2].expression);
  assert_non_null(strstr(doubt(&jobs[3], "schedule"), "OnUnitActiveSec=1h"));
  assert_true(isinf(jobs[3].jitter)); /* what is not understood may be of any length */
  JobHistory again;
  Error err = {0};
  assert_true(jobs_history_read(&folder->arena, NULL, jobs[1].from, NULL, &again, &err));
  assert_string_equal(again.expression, "weekly");
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, folder_setup, folder_teardown)
  const struct CMUnitTest tests[] = {TEST(spans), TEST(what_systemctl_shows), TEST(unit_files_and_their_drop_ins)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
