#ifndef TIDEGATE_TIME_ZONE_TABLE_H
#define TIDEGATE_TIME_ZONE_TABLE_H

#include "time/zone.h"

/*
 * What zone.c looks things up in. Private to the zone reader.
 *
 * After the last change that the file names, its POSIX TZ rule goes on for ever. The Gregorian calendar repeats every
 * 400 years to the weekday, so the rule is written out for 400 years from `cycle_from`, and later instants are looked
 * up whole cycles earlier.
 */
typedef struct ZoneChange {
  Instant at;
  int offset; /* from then on, seconds east of UTC */
} ZoneChange;

struct Zone {
  const char *name;
  int first_offset;          /* before the first change */
  const ZoneChange *changes; /* ascending, and each changes the offset */
  size_t n;
  bool cycles;
  Instant cycle_from;
};

#define ZONE_CYCLE_SECONDS (INT64_C(146097) * 86400)
/* No offset is larger: RFC 9636 keeps them from -25 to +26 hours, both ends excluded. */
enum { ZONE_OFFSET_MIN = -25 * 3600 + 1, ZONE_OFFSET_MAX = 26 * 3600 - 1, ZONE_REACH = 26 * 3600 };

/* Reads a TZif file (version 2 or later) into everything but the name; on false *ret_why says what is wrong with it. */
bool tzif_parse(Arena *arena, const unsigned char *bytes, size_t n, Zone *zone, const char **ret_why);

/* The known zone name nearest to `name`, or NULL when none is near; in the arena. */
const char *zone_nearest_name(Arena *arena, const char *directory, const char *name);

#endif
