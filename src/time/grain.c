#include "time/grain.h"

#include <stdio.h>
#include <string.h>

#include "time/text.h"

enum { DAY = 86400, HOUR = 3600 };

static const char *const names[] = {"hour", "day", "week", "month", "year"};

const char *grain_name(Grain grain) { return names[grain]; }

bool grain_parse(const char *text, Grain *ret_grain) {
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(text, names[i]) == 0) {
      *ret_grain = (Grain)i;
      return true;
    }
  return false;
}

static int64_t divide_down(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* The day number at which the grain that holds the civil day begins. Not for hours. */
static int64_t floor_days(Grain grain, int64_t days) {
  if (grain == GRAIN_DAY) return days;
  if (grain == GRAIN_WEEK) return days - (civil_weekday(days) + 6) % 7;
  Civil civil = civil_from_days(days);
  return civil_to_days(civil.year, grain == GRAIN_YEAR ? 1 : civil.month, 1);
}

/* The day number at which the grain after the one that begins at `days` begins. Not for hours. */
static int64_t next_days(Grain grain, int64_t days) {
  if (grain == GRAIN_DAY) return days + 1;
  if (grain == GRAIN_WEEK) return days + 7;
  Civil civil = civil_from_days(days);
  if (grain == GRAIN_YEAR) return civil_to_days(civil.year + 1, 1, 1);
  return civil.month == 12 ? civil_to_days(civil.year + 1, 1, 1) : civil_to_days(civil.year, civil.month + 1, 1);
}

static Instant day_start(const Zone *zone, int64_t days) {
  Civil civil = civil_from_days(days);
  return zone_first(zone, &civil);
}

/* The day number that the wall clock shows. */
static int64_t local_days(const Zone *zone, Instant at) { return divide_down(at + zone_offset(zone, at), DAY); }

/*
 * Does the hour go on over the change of offset at `at`? It does where the clock goes forward inside one hour; where it
 * goes back, a new hour begins.
 */
static bool hour_goes_on(const Zone *zone, Instant at) {
  int before = zone_offset(zone, at - 1), after = zone_offset(zone, at);
  return after > before && divide_down(at - 1 + before, HOUR) == divide_down(at + after, HOUR);
}

static Instant floor_hour(const Zone *zone, Instant at) {
  for (;;) {
    Instant from, until;
    int offset = zone_offset_span(zone, at, &from, &until);
    Instant start = divide_down(at + offset, HOUR) * HOUR - offset;
    if (start >= from) return start;
    if (!hour_goes_on(zone, from)) return from;
    at = from - 1;
  }
}

static Instant next_hour(const Zone *zone, Instant at) {
  for (;;) {
    Instant from, until;
    int offset = zone_offset_span(zone, at, &from, &until);
    Instant next = (divide_down(at + offset, HOUR) + 1) * HOUR - offset;
    if (next <= until) return next;
    if (!hour_goes_on(zone, until)) return until;
    at = until;
  }
}

Instant grain_floor(Grain grain, const Zone *zone, Instant at) {
  at = instant_clamp(at);
  if (grain == GRAIN_HOUR) return floor_hour(zone, at);
  Instant from, until;
  int offset = zone_offset_span(zone, at, &from, &until);
  int64_t days = floor_days(grain, divide_down(at + offset, DAY));
  Instant start = days * DAY - offset;
  /* Three days after a change of offset, no clock can go back to a border that it has shown already. */
  if (from == INT64_MIN || start > from + 3 * DAY) return start;
  start = day_start(zone, days);
  for (;;) {
    days = next_days(grain, days);
    Instant next = day_start(zone, days);
    if (next > at) return start;
    start = next;
  }
}

Instant grain_next(Grain grain, const Zone *zone, Instant start) {
  start = instant_clamp(start);
  if (grain == GRAIN_HOUR) return next_hour(zone, start);
  int64_t days = floor_days(grain, local_days(zone, start));
  for (;;) {
    days = next_days(grain, days);
    Instant next = day_start(zone, days);
    if (next > start) return next;
  }
}

/* Does the wall clock show this hour, or a part of it, twice? */
static bool hour_is_doubled(const Zone *zone, Instant start) {
  Civil first = zone_civil(zone, start), last = zone_civil(zone, next_hour(zone, start) - 1);
  return zone_read(zone, &first).n == 2 || zone_read(zone, &last).n == 2;
}

void grain_label(Grain grain, const Zone *zone, Instant start, char text[32]) {
  start = instant_clamp(start);
  Civil civil =
      grain == GRAIN_WEEK ? civil_from_days(floor_days(grain, local_days(zone, start))) : zone_civil(zone, start);
  char date[12], offset[12] = "";
  text_put_date(date, &civil);
  switch (grain) {
    case GRAIN_YEAR:
      snprintf(text, 32, "%.4s", date);
      return;
    case GRAIN_MONTH:
      snprintf(text, 32, "%.7s", date);
      return;
    case GRAIN_WEEK:
    case GRAIN_DAY:
      snprintf(text, 32, "%s", date);
      return;
    case GRAIN_HOUR:
      if (hour_is_doubled(zone, start)) text_put_offset(offset, zone_offset(zone, start));
      snprintf(text, 32, "%sT%02u%s", date, (unsigned)civil.hour % 100u, offset);
  }
}

/* The hours that begin in [from, to): on the full hour of each offset, and where the clock was moved inside one. */
static int64_t count_hours(const Zone *zone, Instant from, Instant to) {
  int64_t count = 0;
  while (from < to) {
    Instant begin, until;
    int offset = zone_offset_span(zone, from, &begin, &until);
    Instant end = until < to ? until : to;
    count += divide_down(end + offset - 1, HOUR) - divide_down(from + offset - 1, HOUR);
    if (from == begin && (from + offset) % HOUR != 0 && !hour_goes_on(zone, from)) count++;
    from = end;
  }
  return count;
}

/* Calendar days between from and to that the zone never had: it went over the date line. */
static int64_t count_skipped_days(const Zone *zone, Instant from, Instant to) {
  int64_t skipped = 0;
  for (Instant at = from; zone_next_change(zone, at, &at) && at <= to;) {
    int64_t days = local_days(zone, at) - local_days(zone, at - 1) - 1;
    if (days > 0) skipped += days;
  }
  return skipped;
}

int64_t date_range_count(const DateRange *range, Grain grain, const Zone *zone) {
  Instant from = instant_clamp(range->from), to = instant_clamp(range->to);
  if (to <= from) return 0;
  if (grain == GRAIN_HOUR) return count_hours(zone, from, to);
  int64_t first = floor_days(grain, local_days(zone, from)), end = floor_days(grain, local_days(zone, to));
  Civil a = civil_from_days(first), b = civil_from_days(end);
  switch (grain) {
    case GRAIN_YEAR:
      return b.year - a.year;
    case GRAIN_MONTH:
      return (b.year - a.year) * INT64_C(12) + b.month - a.month;
    case GRAIN_WEEK:
      return (end - first) / 7;
    default:
      return end - first - count_skipped_days(zone, from, to);
  }
}
