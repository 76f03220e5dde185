#include "view/window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above. */
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "scene.h"
#include "time/quantity.h"

/* The scene's plan with jobs, hours and freezes of its own. */
typedef struct Clock {
  Arena arena;
  Plan plan;
  PlanJob jobs[3];
  BusyRule rules[3];
  Freeze freeze;
} Clock;

static Instant at(const char *text) {
  Instant instant = 0;
  Error err = {0};
  if (!instant_parse(text, &instant, &err)) fail_msg("%s", err.message);
  return instant;
}

static void add_job(Clock *clock, const char *name, unsigned concerns, const char *cron, const Zone *zone, double p95) {
  size_t i = clock->plan.clock.n++;
  Error err = {0};
  clock->jobs[i] = (PlanJob){
      .name = name, .concerns = concerns, .when = {.dialect = "vixie", .p95 = p95, .guard = 900}, .declared = true};
  clock->rules[i] = (BusyRule){.p95 = p95, .guard = 900};
  if (!schedule_parse(&clock->arena, "vixie", cron, zone, &clock->rules[i].schedule, &err)) fail_msg("%s", err.message);
}

static void begin(Clock *clock, const char *zone_text) {
  const Zone *zone = NULL;
  Error err = {0};
  *clock = (Clock){.plan = scene_plan()};
  if (!zone_open(&clock->arena, zone_text, &zone, &err)) fail_msg("%s", err.message);
  clock->plan.clock = (PlanClock){.jobs = clock->jobs, .rules = clock->rules};
  clock->plan.spec.budget = (SpecBudget){.batch = 60, .lock = 1.5, .lock_tries = 20, .duty = 0.5};
  add_job(clock, "production", CONCERNS_WRITES, "0 2 * * *", zone, 1200);
}

static void set_idle(Clock *clock, const char *text) {
  Error err = {0};
  const Zone *zone = schedule_zone(clock->rules[0].schedule);
  if (!idle_hours_parse(&clock->arena, text, zone, &clock->plan.clock.idle, &err)) fail_msg("%s", err.message);
  clock->plan.clock.has_idle = true;
  clock->plan.spec.idle.text = text;
}

static void set_freeze(Clock *clock, const char *text) {
  Error err = {0};
  if (!freeze_parse(&clock->arena, text, &clock->freeze, &err)) fail_msg("%s", err.message);
  clock->plan.clock.freezes = (Freezes){schedule_zone(clock->rules[0].schedule), &clock->freeze, 1};
}

/* 28 dates of 1000 rows each, `seconds` of work in all. */
static Forecast forecast_of(Clock *clock, const char *from, double seconds) {
  Forecast forecast = {.dates = 28, .rows = 28000, .row_seconds = seconds / 28000, .measured = "3 batches of 7f3a"};
  forecast_windows(&clock->arena, &clock->plan, at(from), 14 * 86400, 5, &forecast);
  return forecast;
}

static void week_is(Clock *clock, const Forecast *forecast, const char *expected) {
  BUF_SCOPED out = {0};
  Week week = week_make(&clock->arena, &clock->plan, forecast, true);
  view_week(&(Paint){.out = &out}, &clock->arena, &week);
  assert_string_equal(buf_text(&out), expected);
  arena_release(&clock->arena);
}

/*
 * Berlin, from Thursday noon: production at 02:00 closes [01:45, 02:35), the cells from 01:30 to 03:00; another job on
 * workdays at 06:00 closes [05:45, 06:45); idle by night and at the weekend, Saturday frozen. Ten hours of work take
 * twenty at half duty: Thursday 20:00 to Friday 01:45, 02:35 to 05:45, 06:45 to 08:00, and the rest in the next night.
 */
static void a_week_as_strips(void **state) {
  Clock clock;
  begin(&clock, "Europe/Berlin");
  add_job(&clock, "load", CONCERNS_FEEDS, "0 6 * * 1-5", schedule_zone(clock.rules[0].schedule), 1800);
  set_idle(&clock, "Mon-Fri 20:00-08:00, Sat,Sun 00:00-24:00");
  set_freeze(&clock, "2026-12-05");
  Forecast forecast = forecast_of(&clock, "2026-12-03T12:00:00+01:00", 36000);
  week_is(
      &clock, &forecast,
      "           00    03    06    09    12    15    18    21    24 Berlin\n"
      "Thu  3 Dec ...###.....###..------------------------========\n"
      "Fri  4 Dec ===###=====###==------------------------========\n"
      "Sat  5 Dec xxx###xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"
      "Sun  6 Dec ===###========..................................\n"
      "Mon  7 Dec ---###-----###--------------------------........\n"
      "Tue  8 Dec ...###.....###..------------------------........\n"
      "Wed  9 Dec ...###.....###..------------------------........\n"
      "          . open   - outside the idle hours   = this backfill, begun now   x frozen   # a run with its guard\n");
}

/* In spring the hour from 02:00 does not occur, and 02:30 is read as 03:00 and as 03:30. */
static void the_night_of_the_change_in_spring(void **state) {
  Clock clock;
  begin(&clock, "Europe/Berlin");
  Error err = {0};
  assert_true(schedule_parse(&clock.arena, "vixie", "30 2 * * *", schedule_zone(clock.rules[0].schedule),
                             &clock.rules[0].schedule, &err));
  clock.rules[0].guard = 0;
  Forecast forecast = forecast_of(&clock, "2025-03-29T23:00:00+01:00", -28000);
  Week week = week_make(&clock.arena, &clock.plan, &forecast, true);
  BUF_SCOPED out = {0};
  view_week(&(Paint){.out = &out}, &clock.arena, &week);
  assert_non_null(strstr(buf_text(&out),
                         "Sat 29 Mar .....#..........................................\n"
                         "Sun 30 Mar ....  ##........................................\n"
                         "Mon 31 Mar .....#..........................................\n"));
  arena_release(&clock.arena);
}

static void text_of(Clock *clock, WindowReport *report, Buf *out) {
  report->week = week_make(&clock->arena, &clock->plan, &report->forecast, report->unknown == NULL);
  view_window(&(Paint){.out = out}, &clock->arena, report);
}

#define assert_said(out, part) \
  if (strstr(buf_text(out), part) == NULL) fail_msg("'%s' is not in:\n%s", part, buf_text(out))

static void the_report(void **state) {
  Clock clock;
  BUF_SCOPED out = {0};
  begin(&clock, "Europe/Berlin");
  clock.jobs[0].when.runs = 34;
  clock.jobs[0].when.measured.text = "2026-11-03";
  clock.jobs[0].when.from.text = "airflow http://h dag load";
  Forecast forecast = forecast_of(&clock, "2026-12-03T12:00:00+01:00", 36000);
  WindowReport report = {.plan = &clock.plan, .forecast = forecast};
  text_of(&clock, &report, &out);
  assert_said(&out,
              "work      28 dates, 28000 rows: about 10h of work, 20h with rests (duty 50 %); by 3 batches of 7f3a\n");
  assert_said(&out,
              "jobs      production (writes it): 0 2 * * * (vixie, Berlin), p95 20m on 34 runs, guard 15m; read 30 "
              "days ago from airflow http://h dag load\n");
  /* 13 h 45 m until the guard, less the 35 s that a lock may take: at half duty 6 h 52 m of work, 19 of 28 dates. */
  assert_said(&out, "12:00            Fri 4 Dec 01:45  13h 45m  6h 52m              19\n");
  assert_said(&out, "Fri 4 Dec 02:35  Sat 5 Dec 01:45  23h 10m  11h 35m         all 28\n");
  assert_said(&out, "ends      about Fri 4 Dec 08:50 Berlin, begun then, over 2 windows; then: tidegate swap\n");
  clock.jobs[0].when.measured.text = "2026-11-02";
  buf_clear(&out);
  view_jobs(&(Paint){.out = &out}, &clock.arena, &clock.plan, forecast.from);
  assert_said(&out, "read 31 days ago from airflow http://h dag load: older than 30 days\n");
  arena_release(&clock.arena);
}

/* Nothing more than the plan's own line on the window says: no list of jobs. */
static void production_alone_is_not_listed(void **state) {
  Clock clock;
  BUF_SCOPED out = {0};
  begin(&clock, "Europe/Berlin");
  view_jobs(&(Paint){.out = &out}, &clock.arena, &clock.plan, 0);
  assert_string_equal(buf_text(&out), "");
  add_job(&clock, "load", CONCERNS_READS | CONCERNS_FEEDS, "0 6 * * *", zone_utc(), 60);
  clock.rules[1].jitter = 300;
  view_jobs(&(Paint){.out = &out}, &clock.arena, &clock.plan, 0);
  assert_string_equal(buf_text(&out),
                      "jobs      production (writes it): 0 2 * * * (vixie, Berlin), p95 20m, declared, guard 15m\n"
                      "          load (reads it, feeds it): 0 6 * * * (vixie, UTC), p95 1m, declared, guard 15m, start "
                      "up to 5m late\n");
  arena_release(&clock.arena);
}

static void what_cannot_be_told(void **state) {
  Clock clock;
  BUF_SCOPED out = {0};
  begin(&clock, "Europe/Berlin");
  const GateReason reason = {.text = "when the job load runs is not declared", .hint = "write it"};
  Forecast forecast = forecast_of(&clock, "2026-12-03T12:00:00+01:00", -28000);
  assert_int_equal(forecast.ends, 0);
  assert_int_equal(forecast.n_chosen, 0);
  WindowReport report = {.plan = &clock.plan, .forecast = forecast};
  text_of(&clock, &report, &out);
  assert_said(&out, "how long that takes is not known before the first batch\n");
  assert_null(strstr(buf_text(&out), "ends"));
  report.unknown = &reason;
  buf_clear(&out);
  text_of(&clock, &report, &out);
  assert_said(&out, "window    none can be told: when the job load runs is not declared\n          HINT: write it\n");
  assert_null(strstr(buf_text(&out), "windows"));
  Week week = week_make(&clock.arena, &clock.plan, &forecast, false);
  for (size_t i = 0; i < week.n; i++)
    assert_true(week.items[i].state == WEEK_CLOSED || week.items[i].state == WEEK_BUSY);
  arena_release(&clock.arena);
}

static void more_than_the_windows_hold(void **state) {
  Clock clock;
  BUF_SCOPED out = {0};
  begin(&clock, "Europe/Berlin");
  set_idle(&clock, "22:00-23:00");
  Forecast forecast = forecast_of(&clock, "2026-12-03T12:00:00+01:00", 36000);
  assert_int_equal(forecast.ends, 0);
  assert_int_equal(forecast.n_chosen, 14);
  WindowReport report = {.plan = &clock.plan, .forecast = forecast};
  text_of(&clock, &report, &out);
  assert_said(&out, "ends      not within 14 days, begun then: make the range smaller, or give it more hours\n");
  set_idle(&clock, "22:00-22:01");
  report.forecast = forecast_of(&clock, "2026-12-03T12:00:00+01:00", 36000);
  buf_clear(&out);
  text_of(&clock, &report, &out);
  assert_said(&out, "windows   none of 1m 35s or more in the next 14 days");
  arena_release(&clock.arena);
}

static size_t occurrences(const char *text, const char *part) {
  size_t n = 0;
  for (; (text = strstr(text, part)) != NULL; text += strlen(part)) n++;
  return n;
}

static void the_picture(void **state) {
  Clock clock;
  BUF_SCOPED out = {0};
  begin(&clock, "Europe/Berlin");
  clock.plan.shape.table = "a<b>&\"c\"\x1b[1m";
  add_job(&clock, "load", CONCERNS_FEEDS, "0 6 * * 1-5", schedule_zone(clock.rules[0].schedule), 1800);
  set_freeze(&clock, "2026-12-05");
  Forecast forecast = forecast_of(&clock, "2026-12-03T12:00:00+01:00", 36000);
  WindowReport report = {.plan = &clock.plan, .forecast = forecast};
  report.week = week_make(&clock.arena, &clock.plan, &forecast, true);
  view_week_svg(&out, &clock.arena, &report);
  assert_said(&out,
              "role=\"img\" aria-labelledby=\"title desc\">\n<title id=\"title\">When a&lt;b&gt;&amp;&quot;c&quot;");
  assert_null(strchr(buf_text(&out), 0x1b));
  assert_said(&out, "<desc id=\"desc\">Windows: 12:00 until Fri 4 Dec 01:45, Fri 4 Dec 02:35 until Fri 4 Dec 05:45,");
  /* 02:00 of Thursday: from 01:45, 52.5 pixels right of midnight at 128, 50 minutes wide. */
  assert_said(
      &out,
      "<rect class=\"busy\" x=\"180.5\" y=\"76\" width=\"25.0\" height=\"22\"><title>Thu 3 Dec 2026 01:45 until "
      "02:35: a run with its guard, production</title></rect>\n");
  assert_said(&out, "a run with its guard, load</title>");
  assert_said(&out, "frozen, 2026-12-05</title>");
  assert_int_equal(occurrences(buf_text(&out), "<rect class=\"busy\""), 7 + 5 + 1); /* runs of a week, the legend */
  assert_int_equal(occurrences(buf_text(&out), "<text x=\"16\""), 7);
  assert_int_equal(occurrences(buf_text(&out), "outside the idle hours"), 0); /* no state that is not there */
  arena_release(&clock.arena);
}

/* The advice names what closes the time: here production every ten minutes, hours within a run, and frozen days. */
static void where_nothing_fits_the_advice_says_why(void **state) {
  Clock clock;
  begin(&clock, "Europe/Berlin");
  Error err = {0};
  assert_true(schedule_parse(&clock.arena, "vixie", "*/40 * * * *", schedule_zone(clock.rules[0].schedule),
                             &clock.rules[0].schedule, &err));
  Forecast often = forecast_of(&clock, "2026-12-03T12:00:00+01:00", 36000);
  assert_int_equal(often.n, 0);
  assert_string_equal(view_window_advice(&clock.arena, &clock.plan, &often),
                      "the runs of production with their guard leave no room: with a guard of 7m 30s there is some");
  arena_release(&clock.arena);

  begin(&clock, "Europe/Berlin");
  set_idle(&clock, "02:00-02:30");
  Forecast within = forecast_of(&clock, "2026-12-03T12:00:00+01:00", 36000);
  assert_non_null(strstr(view_window_advice(&clock.arena, &clock.plan, &within),
                         "the idle hours 02:00-02:30 are closed by the runs of production"));
  arena_release(&clock.arena);

  begin(&clock, "Europe/Berlin");
  set_freeze(&clock, "2026-12-01..2026-12-31");
  Forecast frozen = forecast_of(&clock, "2026-12-03T12:00:00+01:00", 36000);
  assert_non_null(strstr(view_window_advice(&clock.arena, &clock.plan, &frozen), "frozen days close all"));
  arena_release(&clock.arena);

  begin(&clock, "Europe/Berlin");
  set_idle(&clock, "03:00-03:01");
  clock.plan.spec.budget.batch = 3600;
  Forecast brief = forecast_of(&clock, "2026-12-03T12:00:00+01:00", 36000);
  assert_non_null(
      strstr(view_window_advice(&clock.arena, &clock.plan, &brief), "the longest is 1m: a batch of at most 25 s"));
  arena_release(&clock.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_week_as_strips),    cmocka_unit_test(the_night_of_the_change_in_spring),
      cmocka_unit_test(the_report),          cmocka_unit_test(production_alone_is_not_listed),
      cmocka_unit_test(what_cannot_be_told), cmocka_unit_test(more_than_the_windows_hold),
      cmocka_unit_test(the_picture),         cmocka_unit_test(where_nothing_fits_the_advice_says_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
