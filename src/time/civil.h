#ifndef TIDEGATE_TIME_CIVIL_H
#define TIDEGATE_TIME_CIVIL_H

#include <stdbool.h>
#include <stdint.h>

/* Seconds since 1970-01-01T00:00:00Z, no leap seconds. */
typedef int64_t Instant;

/* A wall-clock time without a zone, proleptic Gregorian calendar. month 1–12, day 1–31, hour 0–23, minute and second
 * 0–59. */
typedef struct Civil {
  int year, month, day, hour, minute, second;
} Civil;

/* The years that Tidegate accepts anywhere: 0001 to 9999. */
enum { CIVIL_YEAR_MIN = 1, CIVIL_YEAR_MAX = 9999 };
/* Their first and last second in UTC: 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z. */
#define INSTANT_MIN INT64_C(-62135596800)
#define INSTANT_MAX INT64_C(253402300799)

/* Keeps an instant within ten thousand years of 1970, so that no sum with an offset or a duration overflows. */
static inline Instant instant_clamp(Instant at) {
  const Instant limit = INT64_C(315569520000);
  return at > limit ? limit : at < -limit ? -limit : at;
}

/* Days since 1970-01-01 of a civil date (Howard Hinnant, "chrono-compatible low-level date algorithms"). */
int64_t civil_to_days(int year, int month, int day);
/* The civil date of a day number, at midnight. Day numbers whose year does not fit an int give the nearest that does.
 */
Civil civil_from_days(int64_t days);
/* Seconds since 1970-01-01T00:00:00 of a wall-clock time, as if it were UTC; and back. */
int64_t civil_to_seconds(const Civil *civil);
Civil civil_from_seconds(int64_t seconds);
/* Days in the month; month 1–12. */
int civil_month_days(int year, int month);
/* 0 = Sunday … 6 = Saturday. */
int civil_weekday(int64_t days);
/* True if every field is in its range, leap years and the years accepted respected. */
bool civil_valid(const Civil *civil);

#endif
