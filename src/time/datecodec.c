#include "time/datecodec.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "time/text.h"

/* 1970-01-01T00:00Z as a Julian day, in milliseconds: 2440587.5 * 86,400,000. */
static const int64_t julian_1970 = INT64_C(210866760000000);
static const double julian_day_millis = 86400000.0;

static const struct {
  const char *name;
  Grain grain;
  bool civil, text, dashes;
} kinds[DATE_KINDS] = {
    [DATE_TEXT] = {.name = "date", .grain = GRAIN_DAY, .civil = true, .text = true, .dashes = true},
    [TIMESTAMP_TEXT] = {.name = "timestamp", .grain = GRAIN_HOUR, .text = true, .dashes = true},
    [UNIX_SECONDS] = {.name = "unix_seconds", .grain = GRAIN_HOUR},
    [UNIX_MILLIS] = {.name = "unix_millis", .grain = GRAIN_HOUR},
    [JULIAN_DAY] = {.name = "julian_day", .grain = GRAIN_HOUR},
    [MONTH_TEXT] = {.name = "month", .grain = GRAIN_MONTH, .civil = true, .text = true, .dashes = true},
    [BASIC_TEXT] = {.name = "basic_date", .grain = GRAIN_DAY, .civil = true, .text = true},
    [DAY_NUMBER] = {.name = "yyyymmdd", .grain = GRAIN_DAY, .civil = true},
    [MONTH_NUMBER] = {.name = "yyyymm", .grain = GRAIN_MONTH, .civil = true},
};

const char *date_kind_name(DateKind kind) { return kinds[kind].name; }
bool date_kind_is_civil(DateKind kind) { return kinds[kind].civil; }
bool date_kind_is_text(DateKind kind) { return kinds[kind].text; }
bool date_kind_has_dashes(DateKind kind) { return kinds[kind].dashes; }
Grain date_kind_grain(DateKind kind) { return kinds[kind].grain; }
Grain date_kind_usual_grain(DateKind kind) { return kinds[kind].grain > GRAIN_DAY ? kinds[kind].grain : GRAIN_DAY; }

bool date_kind_parse(const char *text, DateKind *ret_kind) {
  for (size_t i = 0; i < DATE_KINDS; i++)
    if (strcmp(text, kinds[i].name) == 0) {
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

/* A text of a civil kind, or a number's digits: the day, of a month the first. */
static bool civil_text(DateKind kind, const char *text, size_t n, Civil *ret) {
  bool month = kinds[kind].grain == GRAIN_MONTH;
  size_t dash = kinds[kind].dashes ? 1 : 0;
  if (n != (month ? 6 + dash : 8 + 2 * dash)) return false;
  if (dash == 1 && (text[4] != '-' || (!month && text[7] != '-'))) return false;
  *ret = (Civil){.year = text_digits(text, 4),
                 .month = text_digits(text + 4 + dash, 2),
                 .day = month ? 1 : text_digits(text + 6 + 2 * dash, 2)};
  return civil_valid(ret);
}

bool datecodec_from_text(const DateCodec *codec, const char *text, size_t n, Instant *ret_date) {
  Civil civil;
  TextStamp stamp;
  if (!kinds[codec->kind].text) return false;
  if (kinds[codec->kind].civil) return civil_text(codec->kind, text, n, &civil) && from_day(codec, &civil, ret_date);
  if (!text_stamp(text, n, &stamp)) return false;
  bool separator_fits =
      codec->separator != '\0' ? stamp.separator == codec->separator : stamp.separator == 'T' || stamp.separator == ' ';
  return separator_fits && from_instant(codec, civil_to_seconds(&stamp.civil) - stamp.offset, ret_date);
}

static int64_t floor_seconds(int64_t millis) { return millis / 1000 - (millis % 1000 < 0); }

/* Milliseconds since 1970 of a Julian day, rounded as SQLite's date() does; huge values stay huge. */
static int64_t julian_millis(double value) { return (int64_t)(value * julian_day_millis + 0.5) - julian_1970; }

static bool from_digits(const DateCodec *codec, int64_t value, Instant *ret_date) {
  char text[16];
  Civil civil;
  if (value < 0 || value > 99999999) return false;
  int n = snprintf(text, sizeof text, "%0*d", kinds[codec->kind].grain == GRAIN_MONTH ? 6 : 8, (int)value);
  return civil_text(codec->kind, text, (size_t)n, &civil) && from_day(codec, &civil, ret_date);
}

bool datecodec_from_int(const DateCodec *codec, int64_t value, Instant *ret_date) {
  switch (codec->kind) {
    case DAY_NUMBER:
    case MONTH_NUMBER:
      return from_digits(codec, value, ret_date);
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
    case DAY_NUMBER:
    case MONTH_NUMBER:
      return floor(value) == value && datecodec_from_int(codec, (int64_t)value, ret_date);
    default:
      return false;
  }
}

bool datecodec_from_written(const DateCodec *codec, const char *text, Instant *ret_date) {
  if (kinds[codec->kind].text) return datecodec_from_text(codec, text, strlen(text), ret_date);
  char *end;
  errno = 0;
  long long integer = strtoll(text, &end, 10);
  if (end != text && *end == '\0' && errno == 0 && codec->kind != JULIAN_DAY)
    return datecodec_from_int(codec, integer, ret_date);
  double real = strtod(text, &end);
  return end != text && *end == '\0' && datecodec_from_real(codec, real, ret_date);
}

/* The smallest Julian day that is read as the instant or later, so that no row is cut off by the rounding. */
static double julian_bound(Instant date) {
  int64_t millis = date * 1000;
  double bound = ((double)(millis + julian_1970) - 0.5) / julian_day_millis;
  while (julian_millis(bound) < millis) bound = nextafter(bound, INFINITY);
  for (double lower; julian_millis(lower = nextafter(bound, 0)) >= millis;) bound = lower;
  return bound;
}

/* The first day, or month, that does not begin before the date, in the kind's form; numbers as their digits. */
static void civil_bound(const DateCodec *codec, Instant date, char text[12]) {
  Grain grain = kinds[codec->kind].grain;
  Instant start = grain_floor(grain, codec->zone, date);
  if (start < date) start = grain_next(grain, codec->zone, start);
  Civil civil = zone_civil(codec->zone, start);
  bool after_all = civil.year > CIVIL_YEAR_MAX;
  unsigned year = after_all ? 9999 : (unsigned)civil.year % 10000u, month = (unsigned)civil.month % 100u;
  const char *dash = kinds[codec->kind].dashes ? "-" : "";
  if (grain == GRAIN_MONTH)
    snprintf(text, 12, "%04u%s%02u", year, dash, after_all ? 13 : month);
  else
    snprintf(text, 12, "%04u%s%02u%s%02u", year, dash, after_all ? 12 : month, dash,
             after_all ? 32 : (unsigned)civil.day % 100u);
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
    case MONTH_TEXT:
    case BASIC_TEXT:
      bound.type = BOUND_TEXT;
      civil_bound(codec, date, bound.text);
      break;
    case DAY_NUMBER:
    case MONTH_NUMBER:
      civil_bound(codec, date, bound.text);
      bound.integer = strtoll(bound.text, NULL, 10);
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
  static const DateKind civil_kinds[] = {DATE_TEXT, MONTH_TEXT, BASIC_TEXT};
  Civil civil;
  TextStamp stamp;
  for (size_t i = 0; i < sizeof civil_kinds / sizeof *civil_kinds; i++)
    if (civil_text(civil_kinds[i], text, n, &civil) &&
        (civil_kinds[i] != BASIC_TEXT || (civil.year >= 1900 && civil.year < 2200))) {
      *ret_kind = civil_kinds[i];
      *ret_separator = ' ';
      return true;
    }
  if (!text_stamp(text, n, &stamp) || (stamp.separator != 'T' && stamp.separator != ' ')) return false;
  *ret_kind = TIMESTAMP_TEXT;
  *ret_separator = stamp.separator;
  return true;
}
