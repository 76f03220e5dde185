#ifndef TIDEGATE_TIME_GRAIN_H
#define TIDEGATE_TIME_GRAIN_H

#include "time/zone.h"

/* To what a row's date is rounded. Weeks begin on Monday (ISO 8601). */
typedef enum Grain { GRAIN_HOUR, GRAIN_DAY, GRAIN_WEEK, GRAIN_MONTH, GRAIN_YEAR } Grain;

/* "hour", "day", "week", "month", "year". */
const char *grain_name(Grain grain);
bool grain_parse(const char *text, Grain *ret_grain);

/*
 * The start of the grain that holds the instant, in the zone. A "date" inside the program is this instant. Hours are
 * steps of the wall clock: a day of 23 or 25 hours has as many hour dates, and where the clock goes back a new one
 * begins. Dates never go backwards: where the clock goes back over midnight, the new day, once begun, goes on.
 */
Instant grain_floor(Grain grain, const Zone *zone, Instant at);

/* The start of the next one after the grain that starts at `start`: steps by calendar, never by 86,400 seconds. */
Instant grain_next(Grain grain, const Zone *zone, Instant start);

/*
 * Writes the date as a person reads it: 2013-02-01, 2013-02 (month), 2013 (year), 2013-02-01 (week, its Monday),
 * 2013-02-01T05 (hour; in a fold followed by the offset, 2013-11-03T01-04:00). NUL-terminated, at most 32 bytes.
 */
void grain_label(Grain grain, const Zone *zone, Instant start, char text[32]);

/* The dates of a range: half-open, both ends starts of a grain. */
typedef struct DateRange {
  Instant from, to;
} DateRange;

/*
 * Parses what a person writes: "2013-02-01..2013-02-28", both ends included, or one date alone. Ends in the grain's own
 * form or as days (YYYY-MM-DD; month YYYY-MM; year YYYY; hour YYYY-MM-DDTHH). Days with a coarser grain must begin and
 * end on its borders. Refused with the reason: an open end, words such as "yesterday", an end before the start, a day
 * that does not exist, a range not on the grain's borders (the nearest ranges that are, are named). An hour that occurs
 * twice means both, unless its offset follows as in grain_label. Errors: ERR_SPEC.
 */
bool date_range_parse(const char *text, Grain grain, const Zone *zone, DateRange *ret_range, Error *err);

/* The number of dates in the range. */
int64_t date_range_count(const DateRange *range, Grain grain, const Zone *zone);

/* "1–28 Feb 2013", "25 Jan – 3 Feb 2013", "28 Dec 2012 – 2 Jan 2013"; other grains as labels with "–". Both ends
 * included. */
void date_range_label(const DateRange *range, Grain grain, const Zone *zone, char text[96]);

#endif
