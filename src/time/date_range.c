#include <stdio.h>
#include <string.h>

#include "time/grain.h"
#include "time/text.h"

static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

/* A piece of the text that was given. */
typedef struct Piece {
  const char *text;
  size_t n;
} Piece;

/* What an end of a range has to be read with. */
typedef struct Reader {
  Grain grain;
  const Zone *zone;
  Error *err;
} Reader;

static Piece trim(const char *text, size_t n) {
  while (n > 0 && (*text == ' ' || *text == '\t')) text++, n--;
  while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t')) n--;
  return (Piece){text, n};
}

/* Is the piece of the shape, in which 0 stands for any digit and ± for a sign? */
static bool has_shape(Piece piece, const char *shape) {
  if (piece.n != strlen(shape)) return false;
  for (size_t i = 0; i < piece.n; i++) {
    char c = piece.text[i];
    bool fits = shape[i] == '0' ? c >= '0' && c <= '9' : shape[i] == '+' ? c == '+' || c == '-' : c == shape[i];
    if (!fits) return false;
  }
  return true;
}

static const char *own_form(Grain grain) {
  switch (grain) {
    case GRAIN_HOUR:
      return "YYYY-MM-DDTHH or YYYY-MM-DD";
    case GRAIN_MONTH:
      return "YYYY-MM or YYYY-MM-DD";
    case GRAIN_YEAR:
      return "YYYY or YYYY-MM-DD";
    default:
      return "YYYY-MM-DD";
  }
}

static bool no_date(const Reader *reader, Piece piece) {
  int n = piece.n > 40 ? 40 : (int)piece.n;
  bool word = piece.n > 0 && ((piece.text[0] | 0x20) >= 'a' && (piece.text[0] | 0x20) <= 'z');
  error_set(reader->err, ERR_SPEC, "'%.*s' is not a date of the grain %s%s", n, piece.text, grain_name(reader->grain),
            word ? ": words are refused, because what they mean changes while the work goes on" : "");
  return error_hint(reader->err, "write %s; a range is FROM..TO, both ends included", own_form(reader->grain));
}

/* "2013-02-30 does not exist: Feb 2013 has 28 days". */
static bool no_such_day(const Reader *reader, Piece piece) {
  int year = text_digits(piece.text, 4), month = text_digits(piece.text + 5, 2);
  error_set(reader->err, ERR_SPEC, "%.*s does not exist", (int)piece.n, piece.text);
  size_t used = strlen(reader->err->message);
  char *rest = reader->err->message + used;
  size_t left = sizeof reader->err->message - used;
  if (year < CIVIL_YEAR_MIN)
    snprintf(rest, left, ": years go from 0001 to 9999");
  else if (month < 1 || month > 12)
    snprintf(rest, left, ": a year has 12 months");
  else
    snprintf(rest, left, ": %s %d has %d days", months[month - 1], year, civil_month_days(year, month));
  return error_hint(reader->err, "write a day that exists");
}

static bool not_in_zone(const Reader *reader, Piece piece) {
  error_set(reader->err, ERR_SPEC, "%.*s does not exist in %s: its clock went over it", (int)piece.n, piece.text,
            zone_name(reader->zone));
  return error_hint(reader->err, "write the date before or after it");
}

static bool parse_day(const Reader *reader, Piece piece, DateRange *ret) {
  Civil civil;
  if (!text_date(piece.text, &civil)) return no_such_day(reader, piece);
  ret->from = zone_first(reader->zone, &civil);
  if (zone_civil(reader->zone, ret->from).day != civil.day) return not_in_zone(reader, piece);
  ret->to = grain_next(GRAIN_DAY, reader->zone, ret->from);
  return true;
}

/* A month or a year: `civil` is its first day. */
static bool parse_long(const Reader *reader, Civil civil, DateRange *ret) {
  ret->from = zone_first(reader->zone, &civil);
  ret->to = grain_next(reader->grain, reader->zone, ret->from);
  return true;
}

/* YYYY-MM-DDTHH, all of its passes, or the one with the offset given. */
static bool parse_hour(const Reader *reader, Piece piece, DateRange *ret) {
  Civil civil;
  bool one_pass = piece.n > 13;
  int offset = 0;
  if (!text_date(piece.text, &civil)) return no_such_day(reader, (Piece){piece.text, 10});
  civil.hour = text_digits(piece.text + 11, 2);
  if (civil.hour > 23) return no_date(reader, piece);
  if (one_pass) {
    offset = text_digits(piece.text + 14, 2) * 3600 + text_digits(piece.text + 17, 2) * 60;
    if (piece.n > 19) offset += text_digits(piece.text + 20, 2);
    if (piece.text[13] == '-') offset = -offset;
  }
  bool found = false;
  /* Where the clock is moved inside the hour, only its beginning or only its end occurs. */
  for (int i = 0; i < 2; i++) {
    ZoneReadings readings = zone_read(reader->zone, &civil);
    for (int j = 0; j < readings.n; j++) {
      Instant at = readings.at[j];
      if (one_pass && zone_offset(reader->zone, at) != offset) continue;
      Instant from = grain_floor(GRAIN_HOUR, reader->zone, at), to = grain_next(GRAIN_HOUR, reader->zone, from);
      if (!found || from < ret->from) ret->from = from;
      if (!found || to > ret->to) ret->to = to;
      found = true;
    }
    civil.minute = civil.second = 59;
  }
  return found || not_in_zone(reader, piece);
}

/* One end of a range: the stretch of time that it names. */
static bool parse_end(const Reader *reader, Piece piece, DateRange *ret) {
  Civil civil = {.month = 1, .day = 1};
  if (has_shape(piece, "0000-00-00")) return parse_day(reader, piece, ret);
  if (reader->grain == GRAIN_HOUR && (has_shape(piece, "0000-00-00T00") || has_shape(piece, "0000-00-00T00+00:00") ||
                                      has_shape(piece, "0000-00-00T00+00:00:00")))
    return parse_hour(reader, piece, ret);
  if (reader->grain == GRAIN_MONTH && has_shape(piece, "0000-00")) {
    civil.year = text_digits(piece.text, 4);
    civil.month = text_digits(piece.text + 5, 2);
    return civil_valid(&civil) ? parse_long(reader, civil, ret) : no_such_day(reader, piece);
  }
  if (reader->grain == GRAIN_YEAR && has_shape(piece, "0000")) {
    civil.year = text_digits(piece.text, 4);
    return civil_valid(&civil) ? parse_long(reader, civil, ret) : no_date(reader, piece);
  }
  return no_date(reader, piece);
}

static Instant grain_ceiling(const Reader *reader, Instant at) {
  Instant start = grain_floor(reader->grain, reader->zone, at);
  return start == at ? start : grain_next(reader->grain, reader->zone, start);
}

/* "2013-02-04..2013-02-10": the range in days, as a person would type it. */
static void put_days(const Zone *zone, Instant from, Instant to, char text[32]) {
  char first[12], last[12];
  Civil a = zone_civil(zone, from), b = zone_civil(zone, to - 1);
  text_put_date(first, &a);
  text_put_date(last, &b);
  snprintf(text, 32, "%s..%s", first, last);
}

/* Demands that the range begins and ends on borders of its grain; else names the nearest ranges that do. */
static bool on_borders(const Reader *reader, const DateRange *range) {
  Instant outer_from = grain_floor(reader->grain, reader->zone, range->from);
  Instant outer_to = grain_ceiling(reader, range->to);
  if (outer_from == range->from && outer_to == range->to) return true;
  char given[32], outer[32], inner[32];
  put_days(reader->zone, range->from, range->to, given);
  put_days(reader->zone, outer_from, outer_to, outer);
  error_set(reader->err, ERR_SPEC, "%s is not made of whole %ss: a part of one cannot be recomputed", given,
            grain_name(reader->grain));
  Instant inner_from = grain_ceiling(reader, range->from);
  Instant inner_to = grain_floor(reader->grain, reader->zone, range->to);
  if (inner_from >= inner_to) return error_hint(reader->err, "write %s", outer);
  put_days(reader->zone, inner_from, inner_to, inner);
  return error_hint(reader->err, "write %s or %s", inner, outer);
}

bool date_range_parse(const char *text, Grain grain, const Zone *zone, DateRange *ret_range, Error *err) {
  const Reader reader = {grain, zone, err};
  const char *dots = strstr(text, "..");
  Piece first = trim(text, dots == NULL ? strlen(text) : (size_t)(dots - text)), last = first;
  if (dots != NULL) last = trim(dots + 2, strlen(dots + 2));
  if (first.n == 0 || last.n == 0) {
    error_set(err, ERR_SPEC,
              dots == NULL ? "the range is empty" : "the range has an open end: nothing runs without both");
    return error_hint(err, "write FROM..TO, both ends included, such as 2013-02-01..2013-02-28");
  }
  DateRange a, b;
  if (!parse_end(&reader, first, &a) || !parse_end(&reader, last, &b)) return false;
  if (b.from < a.from || b.to <= a.from) {
    error_set(err, ERR_SPEC, "the range ends (%.*s) before it starts (%.*s)", (int)last.n, last.text, (int)first.n,
              first.text);
    return error_hint(err, "write the earlier date first");
  }
  DateRange range = {a.from, b.to};
  if (!on_borders(&reader, &range)) return false;
  *ret_range = range;
  return true;
}

/* "28 Feb 2013", cut after the day or the month where the rest is said by the other end. */
static void put_day(const Civil *civil, bool month, bool year, char text[24]) {
  int used = snprintf(text, 24, "%u", (unsigned)civil->day % 100u);
  if (month) used += snprintf(text + used, 24 - (size_t)used, " %s", months[civil->month - 1]);
  if (year) snprintf(text + used, 24 - (size_t)used, " %d", civil->year);
}

void date_range_label(const DateRange *range, Grain grain, const Zone *zone, char text[96]) {
  if (range->to <= range->from) {
    snprintf(text, 96, "no date");
    return;
  }
  char first[32], last[32];
  Instant last_start = grain_floor(grain, zone, range->to - 1);
  bool one = last_start <= range->from;
  if (grain != GRAIN_DAY) {
    grain_label(grain, zone, range->from, first);
    grain_label(grain, zone, last_start, last);
    snprintf(text, 96, one ? "%s" : "%s – %s", first, last);
    return;
  }
  Civil a = zone_civil(zone, range->from), b = zone_civil(zone, last_start);
  bool year = a.year != b.year, month = year || a.month != b.month;
  put_day(&a, month, year, first);
  put_day(&b, true, true, last);
  if (one)
    snprintf(text, 96, "%s", last);
  else
    snprintf(text, 96, month ? "%s – %s" : "%s–%s", first, last);
}
