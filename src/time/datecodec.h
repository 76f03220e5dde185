#ifndef TIDEGATE_TIME_DATECODEC_H
#define TIDEGATE_TIME_DATECODEC_H

#include "time/grain.h"

/* How a date column holds its dates. */
typedef enum DateKind {
  DATE_TEXT,      /* 'YYYY-MM-DD' */
  TIMESTAMP_TEXT, /* 'YYYY-MM-DD HH:MM[:SS[.fff]]', 'T' for the space, optional 'Z' or '±HH:MM' */
  UNIX_SECONDS,   /* integer or real seconds */
  UNIX_MILLIS,    /* integer milliseconds */
  JULIAN_DAY,     /* real Julian day number (2440587.5 = 1970-01-01T00:00Z) */
  MONTH_TEXT,     /* 'YYYY-MM' */
  BASIC_TEXT,     /* 'YYYYMMDD', ISO 8601's basic format */
  DAY_NUMBER,     /* integer YYYYMMDD: 20130208 */
  MONTH_NUMBER    /* integer YYYYMM: 201302 */
} DateKind;
enum { DATE_KINDS = MONTH_NUMBER + 1 };
/* All kinds, 1 << kind each. */
#define DATE_KINDS_ALL ((1u << DATE_KINDS) - 1)

/* "date", "timestamp", "unix_seconds", "unix_millis", "julian_day", "month", "basic_date", "yyyymmdd",
 * "yyyymm": the words of the spec's `date_kind`. */
const char *date_kind_name(DateKind kind);
bool date_kind_parse(const char *text, DateKind *ret_kind);

/* Does the value name a day or a month of the calendar, whatever the zone? All others are instants. */
bool date_kind_is_civil(DateKind kind);
bool date_kind_is_text(DateKind kind);
/* Is its text, or are its digits, written with dashes? */
bool date_kind_has_dashes(DateKind kind);
/* The finest grain that it can tell: an hour of an instant, a day, or a month. */
Grain date_kind_grain(DateKind kind);
/* The grain where nobody says another: a day, or what is coarser. */
Grain date_kind_usual_grain(DateKind kind);

/*
 * Everything needed to go between a column's value and a date. A civil kind names the day already, so the zone only
 * matters for what a day's instants are; for the other kinds the value is an instant (text without an offset is UTC)
 * and the zone says where its midnight falls. The grain is not finer than the kind's.
 */
typedef struct DateCodec {
  DateKind kind;
  Grain grain;
  const Zone *zone;
  char separator; /* TIMESTAMP_TEXT: 'T' or ' ', as the column has it */
} DateCodec;

/*
 * The date (start of its grain) of a text value, `n` bytes, not NUL-terminated. False when the text is not of the
 * codec's kind: the row has no date and the caller reports it. Accepts exactly the kind's forms; 2013-02-30 is refused,
 * and so are a day that the zone went over (Pacific/Apia, 2011-12-30) and, unless the codec's separator is '\0', the
 * other separator, because text of both kinds does not sort by time. An offset is understood, but a column whose
 * offsets differ does not sort by time either: the caller must not filter it by bounds.
 */
bool datecodec_from_text(const DateCodec *codec, const char *text, size_t n, Instant *ret_date);
/* The same for integers and reals. Non-finite, out of 0001–9999, a day that does not exist (20130230): false. */
bool datecodec_from_int(const DateCodec *codec, int64_t value, Instant *ret_date);
bool datecodec_from_real(const DateCodec *codec, double value, Instant *ret_date);
/* The same for any kind's value as a database writes it out, NUL-terminated. */
bool datecodec_from_written(const DateCodec *codec, const char *text, Instant *ret_date);

/* A date as a bound in the column's own form, for :from and :to. Text kinds fill `text` and return true in is_text. */
typedef struct DateBound {
  enum { BOUND_TEXT, BOUND_INT, BOUND_REAL } type;
  char text[40];
  int64_t integer;
  double real;
} DateBound;

/*
 * A bound such that `column >= from AND column < to` holds exactly for the rows of [from, to). TIMESTAMP_TEXT at a
 * midnight UTC gives 'YYYY-MM-DD' alone (it sorts before both ' ' and 'T' forms); otherwise with the separator, hour
 * and minute, and with seconds only when they are not 0 ('05:00' sorts before '05:00:00', which is the same instant).
 * JULIAN_DAY gives the smallest real that datecodec_from_real reads as the date, which may be half a millisecond before
 * it. After the year 9999 comes what sorts after every date: '9999-12-32', '9999-13', '99991232', 99991232, 999913.
 */
DateBound datecodec_bound(const DateCodec *codec, Instant date);

/* Which kind a text sample is, for inference: DATE_TEXT, MONTH_TEXT, BASIC_TEXT of the years 1900–2199, or
 * TIMESTAMP_TEXT (with its separator); or false. */
bool datecodec_guess_text(const char *text, size_t n, DateKind *ret_kind, char *ret_separator);

#endif
