#ifndef TIDEGATE_TIME_WINDOW_H
#define TIDEGATE_TIME_WINDOW_H

#include "time/schedule.h"

/*
 * The time in which a backfill may work: idle hours minus every production run with its guard.
 * busy = [fire − guard, fire + jitter + p95 + guard), half-open, on the union of all readings of the schedule, runs
 * that began before included (shared case file schedules.md, A.2).
 */
typedef struct BusyRule {
  const Schedule *schedule;  /* NULL: nothing is scheduled */
  double p95, guard, jitter; /* seconds */
} BusyRule;

/* Hours of the wall clock in which work is allowed, e.g. 22:00–06:00; from == to means all day. Minutes of the day;
 * `to` before `from` crosses midnight. */
typedef struct IdleHours {
  const Zone *zone;
  int from, to;
} IdleHours;

/* "22:00-06:00" (also "22:00..06:00", en dash) to minutes of the day. Errors: ERR_SPEC. */
bool idle_hours_parse(const char *text, const Zone *zone, IdleHours *ret, Error *err);

typedef struct Window {
  Instant from, to; /* half-open */
} Window;

/* Why an instant or a stretch is not open. */
typedef enum WindowCloser { CLOSED_BY_NOTHING, CLOSED_BY_RUN, CLOSED_BY_IDLE_HOURS } WindowCloser;

/*
 * Is all of [start, end) free? On false, *ret_closer says by what it is closed and *ret_at the fire (CLOSED_BY_RUN) or
 * the instant at which the idle hours end (start itself when it lies outside of them). A run is named before idle
 * hours, and the run that is busy first before later ones. An empty stretch is judged as its start instant. `rules` and
 * `idle` may be empty (n 0, NULL). Negative times of a rule count as 0, and not-a-number as for ever: what is not
 * understood closes.
 */
bool window_free(const BusyRule *rules, size_t n, const IdleHours *idle, Instant start, Instant end,
                 WindowCloser *ret_closer, Instant *ret_at);

/*
 * The first window that is open at or after `after` and at least `least` seconds long, looking at most `horizon`
 * seconds ahead; false if there is none. to − from is clipped to the horizon. A window is whole seconds, never empty.
 */
bool window_next(const BusyRule *rules, size_t n, const IdleHours *idle, Instant after, double least, double horizon,
                 Window *ret);

#endif
