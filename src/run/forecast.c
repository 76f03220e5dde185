#include "run/forecast.h"

#include <math.h>
#include <string.h>

#include "swap/swap.h"

/* ---- what is left ------------------------------------------------------------------------------------------------ */

/* The newest backfill of this very plan that still has batches to write; id NULL when there is none. */
static bool find_begun(Arena *arena, Engine *engine, const Plan *plan, BackfillRecord *ret, Error *err) {
  static const char *const open[] = {"planned", "building", "held"};
  const BackfillRecord *records;
  size_t n;
  bool exists;
  *ret = (BackfillRecord){0};
  if (!engine->ops->ledger_exists(engine, &exists, err)) return false;
  if (!exists) return true;
  if (!engine->ops->ledger_list(engine, arena, &records, &n, err)) return false;
  for (size_t i = 0; i < n && ret->id == NULL; i++)
    for (size_t k = 0; k < sizeof open / sizeof *open; k++)
      if (strcmp(records[i].state, open[k]) == 0 && records[i].digest != NULL &&
          strcmp(records[i].digest, plan->digest) == 0)
        *ret = records[i];
  return true;
}

/* Of the batches written so far. */
static bool begun_work(Arena *arena, Engine *engine, const char *id, Forecast *ret, Error *err) {
  const DateRecord *dates;
  const BatchRecord *batches;
  size_t n_dates, n_batches;
  double seconds = 0;
  int64_t rows = 0;
  if (!engine->ops->ledger_dates(engine, arena, id, &dates, &n_dates, err) ||
      !engine->ops->ledger_batches(engine, arena, id, &batches, &n_batches, err))
    return false;
  for (size_t i = 0; i < n_dates; i++) {
    if (dates[i].batch != 0) continue;
    ret->dates++;
    ret->rows += dates[i].expected;
  }
  for (size_t i = 0; i < n_batches; i++) {
    seconds += batches[i].seconds;
    rows += batches[i].rows;
  }
  ret->id = arena_strdup(arena, id);
  if (rows == 0) return true;
  int64_t written = (int64_t)n_dates - ret->dates;
  if (ret->rows == 0 && written > 0) ret->rows = rows / written * ret->dates; /* production has none: as those before */
  ret->row_seconds = seconds / (double)rows;
  ret->measured = arena_printf(arena, "%zu %s of %s", n_batches, n_batches == 1 ? "batch" : "batches", id);
  return true;
}

bool forecast_work(Arena *arena, Engine *engine, Plan *plan, const Interrupt *interrupt, Forecast *ret, Error *err) {
  BackfillRecord record;
  Forecast forecast = {.row_seconds = -1};
  if (!find_begun(arena, engine, plan, &record, err)) return false;
  if (record.id != NULL && !begun_work(arena, engine, record.id, &forecast, err)) return false;
  if (forecast.measured == NULL) {
    if (!plan_count(arena, engine, plan, err) ||
        !plan_trial(arena, engine, plan, interrupt, &forecast.row_seconds, err))
      return false;
    if (forecast.row_seconds >= 0)
      forecast.measured = plan->estimate.told ? "one date recomputed for trial and what EXPLAIN says of all of them"
                                              : "one date recomputed for trial";
    if (plan->estimate.told && plan->rows == 0) forecast.rows = (int64_t)plan->estimate.rows;
  }
  if (record.id == NULL) {
    forecast.dates = plan->n_dates;
    forecast.rows = plan->estimate.told ? (int64_t)plan->estimate.rows : plan->rows;
  }
  *ret = forecast;
  return true;
}

/* ---- the windows ------------------------------------------------------------------------------------------------- */

/* Seconds of work that a second of a window holds. */
static double pace(const Plan *plan) {
  double duty = plan->spec.budget.duty;
  return (duty > 0 && duty < 1 ? duty : 1) * (plan->workers > 1 ? plan->workers : 1);
}

static int64_t dates_within(const Forecast *forecast, double work) {
  double whole = forecast->row_seconds * (double)forecast->rows;
  if (forecast->row_seconds < 0) return -1;
  if (work >= whole) return forecast->dates;
  return (int64_t)floor((double)forecast->dates * work / whole);
}

/* Goes from window to window until the work is done. */
static void choose(Arena *arena, const Window *windows, size_t n, double wait, double seconds, Forecast *forecast) {
  Window *chosen = arena_array(arena, n, sizeof *chosen);
  for (size_t i = 0; i < n && forecast->ends == 0; i++) {
    double room = (double)(windows[i].to - windows[i].from) - wait;
    Instant end = seconds <= room ? windows[i].from + (Instant)ceil(seconds) : windows[i].to;
    if (seconds <= room) forecast->ends = end;
    seconds -= room;
    chosen[forecast->n_chosen++] = (Window){windows[i].from, end};
  }
  forecast->chosen = chosen;
}

void forecast_windows(Arena *arena, const Plan *plan, Instant from, double horizon, size_t count, Forecast *forecast) {
  enum { MOST = 100000 };
  WindowRules rules = plan_window(plan);
  const Window *windows;
  double wait = swap_longest_wait(&plan->spec.budget), batch = plan->spec.budget.batch;
  double whole = forecast->row_seconds * (double)forecast->rows;
  if (whole >= 0 && whole < batch) batch = whole;
  forecast->from = from;
  forecast->horizon = horizon;
  forecast->need = ceil(batch + wait);
  size_t n = window_list(arena, &rules, from, forecast->need, horizon, MOST, &windows);
  ForecastSlot *slots = arena_array(arena, n < count ? n : count, sizeof *slots);
  for (size_t i = 0; i < n && i < count; i++) {
    double work = ((double)(windows[i].to - windows[i].from) - wait) * pace(plan);
    slots[i] = (ForecastSlot){windows[i], work, dates_within(forecast, work)};
  }
  forecast->slots = slots;
  forecast->n = n < count ? n : count;
  if (forecast->dates > 0 && whole >= 0) choose(arena, windows, n, wait, whole / pace(plan), forecast);
}
