#ifndef TIDEGATE_TEST_VIEW_SCENE_H
#define TIDEGATE_TEST_VIEW_SCENE_H

#include "plan/plan.h"

/* The plan of DESIGN.md's example, made by hand: daily_delays, 1–3 Feb 2013, three dates of 10, 4 and 6 rows. */
static const Instant scene_first = INT64_C(1359676800); /* 2013-02-01T00:00:00Z */
enum { SCENE_DAY = 86400 };

static ShapeColumn scene_columns[] = {{.name = "flight_date", .type = "TEXT", .key = true, .given = true},
                                      {.name = "carrier", .type = "TEXT", .key = true, .given = true},
                                      {.name = "delay", .type = "REAL", .given = true},
                                      {.name = "note", .type = "TEXT"}};
static DateRecord scene_dates[] = {
    {.date = INT64_C(1359676800), .expected = 10, .suspect = 3, .updates = 2, .production = {.rows = 10}},
    {.date = INT64_C(1359763200), .expected = 4, .suspect = 1, .inserts = 1, .production = {.rows = 4}},
    {.date = INT64_C(1359849600), .expected = 6, .production = {.rows = 6}}};

/* production: none */
static const PlanJob undisturbed = {.name = "production", .declared = true};
static const BusyRule unscheduled = {0};

static inline Plan scene_plan(void) {
  static const LineageNode nodes[] = {{.name = "monthly", .kind = "table", .needs = NEEDS_CASCADE},
                                      {.name = "worst_days", .kind = "view", .needs = NEEDS_FOLLOWS}};
  static const SourceFacts sources[] = {{.table = "flights", .date_column = "flight_date", .dates_present = 3}};
  static const Inferred inferred[] = {{"key", "flight_date, carrier", "primary key"}};
  static const char *const unproven[] = {"that the formula is right outside the control dates"};
  static const char *const checks[] = {"delay > 0"};
  Plan plan = {
      .id = "7f3a",
      .shape = {.table = "daily_delays",
                .columns = scene_columns,
                .n = 4,
                .date = 0,
                .keyed = true,
                .codec = {.kind = DATE_TEXT, .grain = GRAIN_DAY, .zone = zone_utc()}},
      .day_zone = zone_utc(),
      .range = {scene_first, scene_first + 3 * SCENE_DAY},
      .n_dates = 3,
      .inferred = inferred,
      .n_inferred = 1,
      .row_checks = checks,
      .n_row_checks = 1,
      .clock = {.jobs = &undisturbed, .rules = &unscheduled, .n = 1},
      .radius = {.nodes = nodes, .n = 2},
      .planned_at = scene_first + 10 * SCENE_DAY,
      .dates = scene_dates,
      .rows = 20,
      .suspects = 4,
      .control = {.declared = true, .range = {scene_first - 7 * SCENE_DAY, scene_first}, .rows = 222, .same = 222},
      .sources = sources,
      .n_sources = 1,
      .space = {.database_bytes = 1000, .free_bytes = 5000000},
      .space_needed = 20000,
      .unproven = unproven,
      .n_unproven = 1};
  plan.spec.target.text = "daily_delays";
  plan.spec.wrong.text = "cancelled flights were counted\nas zero delay\n";
  plan.spec.correct.text = "the average covers departed flights only";
  plan.spec.retention = 7 * 86400.0;
  return plan;
}

#endif
