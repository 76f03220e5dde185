#ifndef TIDEGATE_TIME_INTERVAL_H
#define TIDEGATE_TIME_INTERVAL_H

#include "time/dialect.h"

/* Every so many seconds, whatever the wall clock does. Private to this room. */
typedef struct Interval {
  int64_t step;  /* seconds, 1 or more */
  bool anchored; /* from `from` on; else from whenever its scheduler began to count, and then after `after` */
  Instant from;
} Interval;

/* Fills the rule. What is not anchored may fire at any time, so its rule is `anytime`. */
void interval_rule(Arena *arena, Interval interval, DialectRule *ret);

#endif
