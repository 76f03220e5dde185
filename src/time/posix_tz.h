#ifndef TIDEGATE_TIME_POSIX_TZ_H
#define TIDEGATE_TIME_POSIX_TZ_H

#include <stddef.h>

#include "time/civil.h"

/*
 * The POSIX TZ string at the end of a TZif file ("CET-1CEST,M3.5.0,M10.5.0/3"), with RFC 9636's extension: the time of
 * a rule may be from -167 to 167 hours. Private to the zone reader.
 */
typedef struct PosixRule {
  enum { RULE_JULIAN, RULE_ZERO_JULIAN, RULE_WEEKDAY } kind;
  int day;         /* Jn: 1–365, 29 February never counted; n: 0–365; M: the weekday */
  int month, week; /* M only; week 5 is the last */
  int time;        /* seconds of the local day */
} PosixRule;

typedef struct PosixTz {
  int offset, summer_offset; /* seconds east of UTC */
  bool has_summer;
  PosixRule start, end; /* of summer time; only with has_summer */
} PosixTz;

/* False if text is not such a string, wholly. */
bool posix_tz_parse(const char *text, size_t n, PosixTz *ret);

/* The instants at which summer time starts and ends under the rules of that year. */
Instant posix_tz_start(const PosixTz *tz, int year);
Instant posix_tz_end(const PosixTz *tz, int year);

#endif
