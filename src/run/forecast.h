#ifndef TIDEGATE_RUN_FORECAST_H
#define TIDEGATE_RUN_FORECAST_H

#include "plan/plan.h"

/* When a backfill can work, how much fits, and when it would end: an estimate, and nothing is written. */

/* A window and what fits into it. */
typedef struct ForecastSlot {
  Window window;
  double work;   /* seconds of batches that it has room for, rests and waits for locks left out */
  int64_t dates; /* how many of the dates left would fit if it began here; −1: not known */
} ForecastSlot;

typedef struct Forecast {
  const char *id;       /* the recorded backfill that is carried on; NULL: not planned yet */
  int64_t dates, rows;  /* left to write */
  double row_seconds;   /* of work a row; below 0: not known */
  const char *measured; /* what row_seconds rests on, in words; NULL: not known */

  Instant from;
  double horizon; /* seconds from `from` that were looked at */
  double need;    /* a window that is shorter, in seconds, is of no use */
  const ForecastSlot *slots;
  size_t n;
  const Window *chosen; /* when it would work, begun at `from`; empty when row_seconds is not known */
  size_t n_chosen;
  Instant ends; /* when the last batch would be done; 0: not known, or not within the horizon */
} Forecast;

/*
 * What is left, and how fast it goes: of the newest backfill with the plan's digest that is not sealed yet, by its
 * batches; else of the whole range, one date recomputed for trial (which counts the plan's dates first). Errors:
 * ERR_DATABASE, ERR_PAUSED, ERR_SPEC for SQL that fails when it runs.
 */
bool forecast_work(Arena *arena, Engine *engine, Plan *plan, const Interrupt *interrupt, Forecast *ret, Error *err);

/* The windows from an instant on, the first `count` of them told in slots. */
void forecast_windows(Arena *arena, const Plan *plan, Instant from, double horizon, size_t count, Forecast *forecast);

#endif
