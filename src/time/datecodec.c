#include "time/datecodec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "time/text.h"

enum { DATE_BYTES = 10 };
/* 1970-01-01T00:00Z as a Julian day, in milliseconds: 2440587.5 * 86,400,000. */
static const int64_t julian_1970 = INT64_C(210866760000000);
static const double julian_day_millis = 86400000.0;

static const char *const names[] = {"date", "timestamp", "unix_seconds", "unix_millis", "julian_day"};

const char *date_kind_name(DateKind kind) { return names[kind]; }

bool date_kind_parse(const char *text, DateKind *ret_kind) {
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(text, names[i]) == 0) {
      *ret_kind = (DateKind)i;
      return true;
    }
  return false;
}

static bool from_instant(const DateCodec *codec, Instant at, Instant *ret_date) {
  if (at < INSTANT_MIN || at > INSTANT_MAX) return false;
  *ret_date = grain_floor(codec->grain, codec->zone, at);
  return true;
}

/* A civil day; false for one that the zone went over. */
static bool from_day(const DateCodec *codec, const Civil *civil, Instant *ret_date) {
  ZoneReadings readings = zone_read(codec->zone, civil);
  Instant start = readings.n > 0 ? readings.at[0] : readings.gap_end;
  if (readings.n == 0 && zone_civil(codec->zone, start).day != civil->day) return false;
  if (codec->grain >= GRAIN_WEEK) {
    Instant as_utc = grain_floor(codec->grain, zone_utc(), civil_to_seconds(civil));
    Civil first = civil_from_seconds(as_utc);
    start = zone_first(codec->zone, &first);
  }
  *ret_date = start;
  return true;
}

bool datecodec_from_text(const DateCodec *codec, const char *text, size_t n, Instant *ret_date) {
  if (codec->kind == DATE_TEXT) {
    Civil civil;
    return n == DATE_BYTES && text_date(text, &civil) && from_day(codec, &civil, ret_date);
  }
  TextStamp stamp;
  if (codec->kind != TIMESTAMP_TEXT || !text_stamp(text, n, &stamp)) return false;
  bool separator_fits =
      codec->separator != '\0' ? stamp.separator == codec->separator : stamp.separator == 'T' || stamp.separator == ' ';
  return separator_fits && from_instant(codec, civil_to_seconds(&stamp.civil) - stamp.offset, ret_date);
}

static int64_t floor_seconds(int64_t millis) { return millis / 1000 - (millis % 1000 < 0); }

/* Milliseconds since 1970 of a Julian day, rounded as SQLite's date() does; huge values stay huge. */
static int64_t julian_millis(double value) { return (int64_t)(value * julian_day_millis + 0.5) - julian_1970; }

bool datecodec_from_int(const DateCodec *codec, int64_t value, Instant *ret_date) {
  switch (codec->kind) {
    case UNIX_SECONDS:
      return from_instant(codec, value, ret_date);
    case UNIX_MILLIS:
      return from_instant(codec, floor_seconds(value), ret_date);
    case JULIAN_DAY:
      return datecodec_from_real(codec, (double)value, ret_date);
    default:
      return false;
  }
}

bool datecodec_from_real(const DateCodec *codec, double value, Instant *ret_date) {
  if (!(fabs(value) < 1e16)) return false;
  switch (codec->kind) {
    case UNIX_SECONDS:
      return from_instant(codec, (Instant)floor(value), ret_date);
    case UNIX_MILLIS:
      return from_instant(codec, floor_seconds((int64_t)floor(value)), ret_date);
    case JULIAN_DAY:
      /* The years accepted lie between 1.7 and 5.4 million days. */
      return value > 0 && value < 1e7 && from_instant(codec, floor_seconds(julian_millis(value)), ret_date);
    default:
      return false;
  }
}

/* The smallest Julian day that is read as the instant or later, so that no row is cut off by the rounding. */
static double julian_bound(Instant date) {
  int64_t millis = date * 1000;
  double bound = ((double)(millis + julian_1970) - 0.5) / julian_day_millis;
  while (julian_millis(bound) < millis) bound = nextafter(bound, INFINITY);
  for (double lower; julian_millis(lower = nextafter(bound, 0)) >= millis;) bound = lower;
  return bound;
}

/* The first civil day that does not begin before the date. */
static void day_bound(const DateCodec *codec, Instant date, char text[12]) {
  Instant day = grain_floor(GRAIN_DAY, codec->zone, date);
  if (day < date) day = grain_next(GRAIN_DAY, codec->zone, day);
  Civil civil = zone_civil(codec->zone, day);
  text_put_date(text, &civil);
}

/*
 * The shortest text that is not after the instant: a longer one would sort after rows that write the same instant with
 * fewer parts ('05:00' is before '05:00:00').
 */
static void stamp_bound(const DateCodec *codec, Instant date, char text[40]) {
  Civil civil = civil_from_seconds(date);
  char day[12], time[16] = "";
  text_put_date(day, &civil);
  unsigned hour = (unsigned)civil.hour % 100u, minute = (unsigned)civil.minute % 100u;
  unsigned second = (unsigned)civil.second % 100u;
  char separator = codec->separator == '\0' ? ' ' : codec->separator;
  if (second != 0)
    snprintf(time, sizeof time, "%c%02u:%02u:%02u", separator, hour, minute, second);
  else if (hour != 0 || minute != 0)
    snprintf(time, sizeof time, "%c%02u:%02u", separator, hour, minute);
  snprintf(text, 40, "%s%s", day, time);
}

DateBound datecodec_bound(const DateCodec *codec, Instant date) {
  DateBound bound = {.type = BOUND_INT};
  date = instant_clamp(date);
  switch (codec->kind) {
    case DATE_TEXT:
      bound.type = BOUND_TEXT;
      day_bound(codec, date, bound.text);
      break;
    case TIMESTAMP_TEXT:
      bound.type = BOUND_TEXT;
      stamp_bound(codec, date, bound.text);
      break;
    case UNIX_SECONDS:
      bound.integer = date;
      break;
    case UNIX_MILLIS:
      bound.integer = date * 1000;
      break;
    case JULIAN_DAY:
      bound.type = BOUND_REAL;
      bound.real = julian_bound(date);
      break;
  }
  return bound;
}

bool datecodec_guess_text(const char *text, size_t n, DateKind *ret_kind, char *ret_separator) {
  Civil civil;
  TextStamp stamp;
  if (n == DATE_BYTES && text_date(text, &civil)) {
    *ret_kind = DATE_TEXT;
    *ret_separator = ' ';
    return true;
  }
  if (!text_stamp(text, n, &stamp) || (stamp.separator != 'T' && stamp.separator != ' ')) return false;
  *ret_kind = TIMESTAMP_TEXT;
  *ret_separator = stamp.separator;
  return true;
}
