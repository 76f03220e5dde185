#ifndef TIDEGATE_BASE_CLOCK_H
#define TIDEGATE_BASE_CLOCK_H

/* Seconds of a clock that never jumps (CLOCK_MONOTONIC), to the nanosecond; only differences mean something. */
double clock_seconds(void);

#endif
