#ifndef TIDEGATE_TIME_WINDOW_H
#define TIDEGATE_TIME_WINDOW_H

#include "time/freeze.h"
#include "time/idle_hours.h"
#include "time/schedule.h"

/*
 * The time in which a backfill may work: idle hours minus every production run with its guard, minus the frozen days.
 * busy = [fire − guard, fire + jitter + p95 + guard), half-open, on the union of all readings of the schedule, runs
 * that began before included (shared case file schedules.md, A.2).
 */
typedef struct BusyRule {
  const Schedule *schedule;  /* NULL: nothing is scheduled */
  double p95, guard, jitter; /* seconds */
} BusyRule;

/* Everything that closes windows. Negative times of a rule count as 0, and not-a-number as for ever: what is not
 * understood closes. */
typedef struct WindowRules {
  const BusyRule *busy; /* may be NULL when n is 0 */
  size_t n;
  const Freezes *freezes; /* NULL: none */
  const IdleHours *idle;  /* NULL: all day */
} WindowRules;

typedef struct Window {
  Instant from, to; /* half-open */
} Window;

/* Why an instant or a stretch is not open. A run is named before a freeze, and that before idle hours. */
typedef enum WindowCloser { CLOSED_BY_NOTHING, CLOSED_BY_RUN, CLOSED_BY_FREEZE, CLOSED_BY_IDLE_HOURS } WindowCloser;

typedef struct WindowClosed {
  WindowCloser by;
  Instant at;   /* the fire (CLOSED_BY_RUN), else the first instant that is closed */
  size_t index; /* of the rule or of the freeze */
} WindowClosed;

/* Is all of [start, end) free? On false, *ret says by what it is closed: of runs, the one that is busy first. An empty
 * stretch is judged as its start instant. */
bool window_free(const WindowRules *rules, Instant start, Instant end, WindowClosed *ret);

/*
 * The first window that is open at or after `after` and at least `least` seconds long, looking at most `horizon`
 * seconds ahead; false if there is none. to − from is clipped to the horizon. A window is whole seconds, never empty.
 */
bool window_next(const WindowRules *rules, Instant after, double least, double horizon, Window *ret);

/* All such windows, as many as `most`, in the arena. */
size_t window_list(Arena *arena, const WindowRules *rules, Instant after, double least, double horizon, size_t most,
                   const Window **ret);

/* A stretch of time with one reason for being closed, or open. */
typedef struct WindowStretch {
  Instant from, to; /* half-open */
  WindowCloser closer;
  size_t index; /* of the rule or of the freeze */
} WindowStretch;

/* [from, to) without a gap, in the arena: neighbours differ in closer or index. Of runs that overlap, that which is
 * first in the rules is named. */
size_t window_stretches(Arena *arena, const WindowRules *rules, Instant from, Instant to, const WindowStretch **ret);

#endif
