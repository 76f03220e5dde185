#ifndef TIDEGATE_BASE_CLOCK_H
#define TIDEGATE_BASE_CLOCK_H

/* Seconds of a clock that never jumps (CLOCK_MONOTONIC), to the nanosecond; only differences mean something. */
double clock_seconds(void);

/* Sleeps for so many seconds, or until a signal comes. */
void clock_sleep(double seconds);

#endif
