#ifndef TIDEGATE_TIME_IDLE_HOURS_H
#define TIDEGATE_TIME_IDLE_HOURS_H

#include "time/zone.h"

/* Hours of the wall clock in which work is allowed. */

/* Minutes of the day; `to` at or before `from` ends on the next day, and belongs to the day on which it begins. */
typedef struct IdleStretch {
  unsigned days; /* bit 0: Sunday … bit 6: Saturday */
  int from, to;
} IdleStretch;

typedef struct IdleHours {
  const Zone *zone;
  const IdleStretch *items;
  size_t n; /* 0: all day, every day */
} IdleHours;

enum { IDLE_EVERY_DAY = 0x7F };

/*
 * "22:00-06:00" (also "22:00..06:00", en dash), on some days of the week alone "Mon-Fri 22:00-06:00", several with
 * commas between: "Mon-Fri 22:00-06:00, Sat,Sun 00:00-24:00". Errors: ERR_SPEC.
 */
bool idle_hours_parse(Arena *arena, const char *text, const Zone *zone, IdleHours *ret, Error *err);

/* Are the hours open at the instant, and until when at least does that not change? INT64_MAX: it never does. */
bool idle_hours_at(const IdleHours *idle, Instant at, Instant *ret_until);

/* "Sun" … "Sat", 0 to 6. */
const char *weekday_name(int weekday);

#endif
