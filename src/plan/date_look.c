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

/* …_at, …_ts, …date… (but not …update…), ts, timestamp. */
static bool name_says_date(const char *name) {
  const char *date = strcasestr(name, "date");
  bool update = date != NULL && date - name >= 2 && strncasecmp(date - 2, "up", 2) == 0;
  return ends_with(name, "_at") || ends_with(name, "_ts") || (date != NULL && !update) || strcasecmp(name, "ts") == 0 ||
         strcasestr(name, "timestamp") != NULL;
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
  look->kind = DATE_TEXT;
  for (size_t i = 0; i < profile->n_samples; i++) {
    DateKind kind;
    char separator;
    if (!datecodec_guess_text(profile->samples[i], strlen(profile->samples[i]), &kind, &separator)) continue;
    fit++;
    if (kind == TIMESTAMP_TEXT && look->kind == DATE_TEXT) {
      look->kind = kind;
      look->separator = separator;
    }
  }
  look->known = fit > 0;
  look->looks = fit > 0 && fit == profile->n_samples;
}

/*
 * The kind of numbers by their size: Julian days of the years 0001–9999 are from 1,721,425 to 5,373,485; from 10^7 to
 * 10^11 are seconds of the years 1970–5138, from there to 10^14 milliseconds of the same years. What is none of these,
 * or not all of one kind, stays unknown.
 */
static void look_at_numbers(const DateProfile *profile, DateLook *look) {
  for (size_t i = 0; i < profile->n_samples; i++) {
    double value = strtod(profile->samples[i], NULL);
    DateKind kind;
    if (value >= 1721425 && value < 5373485)
      kind = JULIAN_DAY;
    else if (value >= 1e7 && value < 1e11)
      kind = UNIX_SECONDS;
    else if (value >= 1e11 && value < 1e14)
      kind = UNIX_MILLIS;
    else
      return;
    if (i > 0 && kind != look->kind) return;
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

static bool sample_fits(const DateCodec *codec, const char *sample) {
  Instant date;
  char *end;
  if (codec->kind == DATE_TEXT || codec->kind == TIMESTAMP_TEXT)
    return datecodec_from_text(codec, sample, strlen(sample), &date);
  long long integer = strtoll(sample, &end, 10);
  if (end != sample && *end == '\0' && codec->kind != JULIAN_DAY) return datecodec_from_int(codec, integer, &date);
  double real = strtod(sample, &end);
  return end != sample && *end == '\0' && datecodec_from_real(codec, real, &date);
}

const char *plan_bad_sample(const DateCodec *codec, const DateProfile *profile) {
  for (size_t i = 0; i < profile->n_samples; i++)
    if (!sample_fits(codec, profile->samples[i])) return profile->samples[i];
  return NULL;
}
