#ifndef TIDEGATE_TIME_SCHEDULE_H
#define TIDEGATE_TIME_SCHEDULE_H

#include "time/zone.h"

/*
 * When a production run fires. The dialect is part of the definition and never guessed from the number of fields; a
 * dialect is one entry in the table of schedule.c with its own parser, so that another is one file and one entry.
 */
typedef struct Schedule Schedule;

/* What a scheduler does with a wall-clock time that does not exist (gap) or exists twice (overlap); OWN: what the
 * dialect's own does with this expression. */
typedef enum GapPolicy { GAP_SKIP, GAP_SHIFT, GAP_END, GAP_OWN } GapPolicy;
typedef enum OverlapPolicy { OVERLAP_FIRST, OVERLAP_SECOND, OVERLAP_BOTH, OVERLAP_OWN } OverlapPolicy;

/*
 * Parses an expression of a dialect ("vixie"). Refused with the reason and what to do instead: what is not of the
 * dialect, what cannot be predicted (@reboot, H, R, ~), what never fires (30 February). A zone that the expression
 * names takes the place of `zone`. Lives in the arena. Errors: ERR_SPEC.
 */
bool schedule_parse(Arena *arena, const char *dialect, const char *expression, const Zone *zone, const Schedule **ret,
                    Error *err);
/* The same for a scheduler that was told to have both day fields match (croniter's day_or=False). */
bool schedule_parse_and_days(Arena *arena, const char *dialect, const char *expression, const Zone *zone,
                             const Schedule **ret, Error *err);

/* The names of the dialects, NULL-terminated. */
const char *const *schedule_dialects(void);

/*
 * The first fire strictly after `after` under the policies; false if there is none before year 9999. Fires are never
 * decreasing; a fire that two policies' readings share is given once.
 */
bool schedule_next(const Schedule *schedule, Instant after, GapPolicy gap, OverlapPolicy overlap, Instant *ret_at);

/*
 * The last fire strictly before `before` under the policies; false if there is none from year 1 on. With Airflow's data
 * intervals it is the logical date of the run that starts at `before`: a run is labelled with the interval's beginning
 * and starts at its end.
 */
bool schedule_previous(const Schedule *schedule, Instant before, GapPolicy gap, OverlapPolicy overlap, Instant *ret_at);

/*
 * The first fire strictly after `after` on the union of all readings: in a gap both the gap's end and the shifted time,
 * in a fold both passes, after a change what a scheduler reckons by the old offset (Airflow with a star hour) and what
 * goes over a missing midnight to the next day (robfig), and every second where nobody knows since when the scheduler
 * counts (robfig's @every, AWS rate()). Law 4 is judged on this.
 */
bool schedule_next_any(const Schedule *schedule, Instant after, Instant *ret_at);

/* Does it count from when its scheduler began, which nobody knows? Then a run may start at any second. */
bool schedule_anytime(const Schedule *schedule);

const char *schedule_expression(const Schedule *schedule);
/* The zone of its wall clock: the expression's own, else the caller's. */
const Zone *schedule_zone(const Schedule *schedule);

#endif
