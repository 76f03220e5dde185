#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "plan/plan_int.h"

static bool type_says_date(const char *type) {
  return type != NULL && (strcasestr(type, "date") != NULL || strcasestr(type, "timestamp") != NULL);
}

static bool ends_with(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n >= m && strcasecmp(text + n - m, end) == 0;
}

/* …_at, …_ts, …date… (but not …update…), …timestamp…; ts, day, month, dt alone or behind a "_". */
static bool name_says_date(const char *name) {
  static const char *const ends[] = {"_at", "_ts", "_day", "_month", "_dt"}, *const alone[] = {"ts", "day", "month",
                                                                                               "dt"};
  const char *date = strcasestr(name, "date");
  bool update = date != NULL && date - name >= 2 && strncasecmp(date - 2, "up", 2) == 0;
  bool says = (date != NULL && !update) || strcasestr(name, "timestamp") != NULL;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) says |= ends_with(name, ends[i]);
  for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) says |= strcasecmp(name, alone[i]) == 0;
  return says;
}

/* A type that numbers are kept in: dates written in words do not stand there. */
static bool type_is_number(const char *type) {
  static const char *const words[] = {"int", "real", "floa", "doub", "num", "dec", "bool", "blob"};
  for (size_t i = 0; type != NULL && i < sizeof words / sizeof *words; i++)
    if (strcasestr(type, words[i]) != NULL) return true;
  return false;
}

/* The kind that all texts share; one time stamp among dates makes time stamps of them all. */
static void look_at_texts(const DateProfile *profile, DateLook *look) {
  size_t fit = 0;
  for (size_t i = 0; i < profile->n_samples; i++) {
    DateKind kind;
    char separator;
    if (!datecodec_guess_text(profile->samples[i], strlen(profile->samples[i]), &kind, &separator)) continue;
    bool stamp = kind == TIMESTAMP_TEXT && look->kind == DATE_TEXT;
    if (fit > 0 && kind != look->kind && !stamp && !(kind == DATE_TEXT && look->kind == TIMESTAMP_TEXT)) continue;
    if (fit++ == 0 || stamp) {
      look->kind = kind;
      look->separator = separator;
    }
  }
  look->known = fit > 0;
  look->looks = fit > 0 && fit == profile->n_samples;
}

/* Are most samples days, or months, of the years 1900–2199, written as digits? Then the others are no dates. */
static bool are_digits_of(DateKind kind, const DateProfile *profile) {
  const DateCodec codec = {.kind = kind, .grain = date_kind_usual_grain(kind), .zone = zone_utc()};
  double year = kind == DAY_NUMBER ? 1e4 : 1e2;
  size_t n = 0;
  Instant date;
  for (size_t i = 0; i < profile->n_samples; i++) {
    double value = strtod(profile->samples[i], NULL);
    n += value >= 1900 * year && value < 2200 * year && datecodec_from_real(&codec, value, &date);
  }
  return 2 * n > profile->n_samples;
}

/* The kind of one number by its size; DATE_TEXT: none. */
static DateKind kind_by_size(double value) {
  if (value >= 1721425 && value < 5373485) return JULIAN_DAY;
  if (value >= 1e7 && value < 1e11) return UNIX_SECONDS;
  return value >= 1e11 && value < 1e14 ? UNIX_MILLIS : DATE_TEXT;
}

/*
 * The kind that all numbers share. 20130208 would be seconds of August 1970 as well, where nobody's data are. By size:
 * Julian days of the years 0001–9999 are from 1,721,425 to 5,373,485; from 10^7 to 10^11 are seconds of the years
 * 1970–5138, from there to 10^14 milliseconds of the same years. What is none of these, or not all of one kind, stays
 * unknown.
 */
static void look_at_numbers(const DateProfile *profile, DateLook *look) {
  bool days = are_digits_of(DAY_NUMBER, profile), months = are_digits_of(MONTH_NUMBER, profile);
  look->kind = days ? DAY_NUMBER : months ? MONTH_NUMBER : DATE_TEXT;
  for (size_t i = 0; i < profile->n_samples && !days && !months; i++) {
    DateKind kind = kind_by_size(strtod(profile->samples[i], NULL));
    if (kind == DATE_TEXT || (i > 0 && kind != look->kind)) return;
    look->kind = kind;
  }
  look->known = look->looks = profile->n_samples > 0;
}

static void look_at_type(const char *type, DateLook *look) {
  bool stamp = strcasestr(type, "time") != NULL;
  look->looks = look->known = true;
  look->kind = stamp ? TIMESTAMP_TEXT : DATE_TEXT;
  look->separator = stamp ? ' ' : '\0';
  look->from = "declared type";
}

/* The one kind that the column's type holds. */
static void look_at_native(DateLook *look) {
  look->looks = look->known = true;
  look->kind = look->profile.kinds == 1u << DATE_TEXT ? DATE_TEXT : TIMESTAMP_TEXT;
  look->separator = ' ';
  look->from = "its type";
}

bool plan_date_look(Arena *arena, Engine *engine, const char *table, const ColumnFacts *column, bool declared,
                    DateLook *ret, Error *err) {
  DateLook look = {.profile = {.rows = -1}};
  bool typed = type_says_date(column->type), says = typed || name_says_date(column->name);
  *ret = look;
  if (!declared && !says && type_is_number(column->type)) return true;
  if (!engine->ops->date_profile(engine, arena, table, column->name, &look.profile, err)) return false;
  const DateProfile *profile = &look.profile;
  typed = typed && profile->kinds != 0;
  look.from = arena_printf(arena, "sampled %zu values", profile->n_samples);
  if (profile->native) {
    look_at_native(&look);
  } else if (profile->n_samples == 0) {
    if (typed) look_at_type(column->type, &look);
  } else if (profile->others == 0 && profile->integers + profile->reals == 0) {
    look_at_texts(profile, &look);
  } else if (profile->others == 0 && profile->texts == 0 && says) {
    look_at_numbers(profile, &look);
    look.from = arena_printf(arena, "its %s, and sampled %zu values", typed ? "type" : "name", profile->n_samples);
  }
  if (typed && look.known) look.looks = true;
  bool usable = look.known && (profile->kinds >> look.kind & 1) != 0;
  look.refused =
      (look.known && !usable && (look.looks || says || declared)) || (profile->kinds == 0 && (says || declared));
  look.known = look.known && usable;
  look.looks = look.looks && usable;
  *ret = look;
  return true;
}

static int place_of(DateKind kind) {
  if (date_kind_grain(kind) == GRAIN_MONTH) return 2;
  return kind == DAY_NUMBER || kind == BASIC_TEXT ? 1 : 0;
}

bool plan_date_joins(DateKind held, size_t *n, DateKind found) {
  if (*n > 0 && place_of(found) > place_of(held)) return false;
  if (*n > 0 && place_of(found) < place_of(held)) *n = 0;
  return true;
}

const char *plan_bad_sample(const DateCodec *codec, const DateProfile *profile) {
  Instant date;
  for (size_t i = 0; i < profile->n_samples; i++)
    if (!datecodec_from_written(codec, profile->samples[i], &date)) return profile->samples[i];
  return NULL;
}
