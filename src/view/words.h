#ifndef TIDEGATE_VIEW_WORDS_H
#define TIDEGATE_VIEW_WORDS_H

#include "plan/plan.h"

/* Small pieces of wording that several reports share. All texts live in the arena. */

/* "1 row", "884 rows". */
const char *words_count(Arena *arena, int64_t n, const char *one, const char *many);

/* "New York" of America/New_York. */
const char *words_city(Arena *arena, const Zone *zone);

/* A time as a person reads it beside `now`: "01:45", on another day "Sun 3 Mar 01:45", in another year with the year.
 */
const char *words_clock(Arena *arena, const Zone *zone, Instant now, Instant at);

/* "2013-02-01 04:05 New York". */
const char *words_instant(Arena *arena, const Zone *zone, Instant at);

/* The range's label; its year is left out where it is the year in which the backfill's own range ends. */
const char *words_range(Arena *arena, const Plan *plan, DateRange range);
/* One date in that manner. */
const char *words_date(Arena *arena, const Plan *plan, Instant date);

/* The zone in which the plan's clock times are told: of the schedule, the idle hours or the dates. */
const Zone *words_zone(const Plan *plan);

/* "221 changes: 219 updates, 2 deletes". */
const char *words_changes(Arena *arena, const ChangeCounts *counts);
int64_t words_change_total(const ChangeCounts *counts);

/* Durations and sizes of quantity.h as arena texts. */
const char *words_duration(Arena *arena, double seconds);
const char *words_size(Arena *arena, int64_t bytes);

#endif
