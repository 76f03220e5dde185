#ifndef TIDEGATE_TIME_ZONE_H
#define TIDEGATE_TIME_ZONE_H

#include "base/arena.h"
#include "base/error.h"
#include "time/civil.h"

/*
 * A time zone of the system's tz database (TZif, RFC 9636), read without glibc's process-global zone.
 * Immutable once open; lives in the arena it was opened with.
 */
typedef struct Zone Zone;

/* The readings of one wall-clock time: how often it occurs, and when. */
typedef struct ZoneReadings {
  int n;           /* 1 = once; 2 = twice, in a fold; 0 = never, in a gap */
  Instant at[2];   /* n == 1: at[0]. n == 2: the first and the second pass */
  Instant gap_end; /* n == 0: the first instant after the gap */
  Instant shifted; /* n == 0: the time moved forward by the gap's length (the offset before the gap applied) */
} ZoneReadings;

/*
 * Opens an IANA zone ("Europe/Berlin", "UTC") from $TZDIR, else /usr/share/zoneinfo. "UTC" never needs a file. Names
 * with ".." or a leading "/" are refused. Errors: ERR_SPEC for an unknown zone (hint: the nearest known name when one
 * is near).
 */
bool zone_open(Arena *arena, const char *name, const Zone **ret_zone, Error *err);

/* UTC: needs no file and cannot fail. */
const Zone *zone_utc(void);

const char *zone_name(const Zone *zone);

/* Seconds east of UTC in force at the instant. */
int zone_offset(const Zone *zone, Instant at);

/*
 * The same, with the stretch [*ret_from, *ret_until) over which that offset holds without a change; INT64_MIN and
 * INT64_MAX where it has no end.
 */
int zone_offset_span(const Zone *zone, Instant at, Instant *ret_from, Instant *ret_until);

/* The wall-clock time at an instant. */
Civil zone_civil(const Zone *zone, Instant at);

/* Every instant at which the wall clock shows `civil`. */
ZoneReadings zone_read(const Zone *zone, const Civil *civil);

/*
 * The start of a civil day (or hour): its first instant. A midnight in a gap gives the end of the gap, a doubled
 * midnight the first pass.
 */
Instant zone_first(const Zone *zone, const Civil *civil);

/* The next instant strictly after `after` at which the zone's offset changes; false if there is none before year 9999.
 */
bool zone_next_change(const Zone *zone, Instant after, Instant *ret_at);

#endif
