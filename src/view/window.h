#ifndef TIDEGATE_VIEW_WINDOW_H
#define TIDEGATE_VIEW_WINDOW_H

#include "gate/gate.h"
#include "run/forecast.h"
#include "view/paint.h"

/* When a backfill can work, as text, JSON and a picture. */

/* What a stretch of the picture is. A sign that stands for several shows the last of them. */
typedef enum WeekState { WEEK_OPEN, WEEK_CLOSED, WEEK_CHOSEN, WEEK_FROZEN, WEEK_BUSY, WEEK_STATES_ } WeekState;

/* "open", "closed", "chosen", "frozen", "busy". */
const char *week_word(WeekState state);
/* What the legend says of it. */
const char *week_legend(WeekState state);

typedef struct WeekStretch {
  Instant from, to; /* half-open */
  WeekState state;
  const char *why; /* the job, the freeze; NULL for the other states */
} WeekStretch;

enum { WEEK_DAYS = 7 };

/* Seven days of the wall clock, from midnight to midnight. */
typedef struct Week {
  const Zone *zone;
  Instant days[WEEK_DAYS + 1]; /* their first instants, and the end of the last */
  const WeekStretch *items;    /* without a gap */
  size_t n;
} Week;

typedef struct WindowReport {
  const Plan *plan;
  const Verdict *verdict;    /* on a batch now; NULL: another time than now was asked about */
  const GateReason *unknown; /* a fact is missing without which no window can be told; NULL: all is known */
  Forecast forecast;
  Week week; /* of forecast.from */
} WindowReport;

/* The week in which the forecast begins, by its day. known false: what is not closed for another reason is closed
 * because no window can be told. */
Week week_make(Arena *arena, const Plan *plan, const Forecast *forecast, bool known);

/* What closes them, and what would open one, where the forecast has no window at all. */
const char *view_window_advice(Arena *arena, const Plan *plan, const Forecast *forecast);

/* The jobs that concern the backfill, a line each: schedule, p95 and what it rests on, guard, age. Nothing when there
 * is only production and no more is known of it than its line in the plan says. */
void view_jobs(Paint *paint, Arena *arena, const Plan *plan, Instant now);

void view_window(Paint *paint, Arena *arena, const WindowReport *report);
void view_window_json(Json *json, Arena *arena, const WindowReport *report);

/* A strip a day, 48 half hours wide: "." open, "-" outside the idle hours, "=" this backfill, "x" frozen, "#" a run. An
 * hour that the clock leaves out is blank. */
void view_week(Paint *paint, Arena *arena, const Week *week);

/* The same week as an SVG document, with a title, a description in words and a title for every stretch. */
void view_week_svg(Buf *out, Arena *arena, const WindowReport *report);

#endif
