#include "time/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "time/text.h"
#include "time/zone.h"

/* Digits beyond these change no double. */
enum { NUMBER_DIGITS_MAX = 18, SHOWN_MAX = 60 };
static const double duration_max = 36525.0 * 86400; /* a hundred years: longer is a slip of the pen */

typedef struct Unit {
  const char *name;
  double size;
} Unit;

/* Largest first: in one duration the units must come in this order. */
static const Unit duration_units[] = {{"days", 86400}, {"day", 86400}, {"d", 86400}, {"h", 3600},
                                      {"min", 60},     {"m", 60},      {"s", 1},     {"ms", 0.001}};

static const Unit size_units[] = {{"B", 1},
                                  {"kB", 1e3},
                                  {"MB", 1e6},
                                  {"GB", 1e9},
                                  {"TB", 1e12},
                                  {"PB", 1e15},
                                  {"KiB", 1024},
                                  {"MiB", 1048576},
                                  {"GiB", 1073741824},
                                  {"TiB", 1099511627776},
                                  {"PiB", 1125899906842624}};

static const char *skip_blanks(const char *at) {
  while (*at == ' ' || *at == '\t') at++;
  return at;
}

/* "12" or "1.5"; no sign, no exponent, and no decimal comma whatever the locale. NULL if there is none. */
static const char *take_number(const char *at, double *ret) {
  double value = 0, scale = 1;
  int digits = 0;
  for (; *at >= '0' && *at <= '9'; at++, digits++) value = value * 10 + (*at - '0');
  if (digits == 0) return NULL;
  if (*at == '.') {
    const char *fraction = ++at;
    double part = 0;
    for (; *at >= '0' && *at <= '9'; at++, digits++) {
      part = part * 10 + (*at - '0');
      scale *= 10;
    }
    if (at == fraction) return NULL;
    value += part / scale;
  }
  if (digits > NUMBER_DIGITS_MAX) return NULL;
  *ret = value;
  return at;
}

/* The length of the word at the cursor. */
static size_t word_length(const char *at) {
  size_t n = 0;
  while ((at[n] >= 'a' && at[n] <= 'z') || (at[n] >= 'A' && at[n] <= 'Z')) n++;
  return n;
}

static const Unit *find_unit(const Unit *units, size_t n_units, const char *word, size_t n, bool any_case) {
  for (size_t i = 0; i < n_units; i++) {
    if (strlen(units[i].name) != n) continue;
    if ((any_case ? strncasecmp : strncmp)(units[i].name, word, n) == 0) return &units[i];
  }
  return NULL;
}

static bool bad_duration(const char *text, const char *why, Error *err) {
  error_set(err, ERR_SPEC, "'%.*s' is not a duration: %s", SHOWN_MAX, text, why);
  return error_hint(err, "write it with units: 500ms, 90s, 15m, 2h, 7d, 1h30m");
}

bool duration_parse(const char *text, double *ret_seconds, Error *err) {
  double total = 0;
  double smallest = INFINITY;
  const char *at = skip_blanks(text);
  if (*at == '\0') return bad_duration(text, "it is empty", err);
  if (*at == '-') return bad_duration(text, "it is negative", err);
  while (*at != '\0') {
    double value;
    at = take_number(at, &value);
    if (at == NULL) return bad_duration(text, "a number is missing or too long", err);
    at = skip_blanks(at);
    size_t n = word_length(at);
    if (n == 0) return bad_duration(text, "the unit is missing, and a bare number could be seconds or minutes", err);
    const Unit *unit = find_unit(duration_units, sizeof duration_units / sizeof *duration_units, at, n, false);
    if (unit == NULL) return bad_duration(text, "its unit is none of ms, s, m, h, d", err);
    if (unit->size >= smallest) return bad_duration(text, "its units must go from large to small, each once", err);
    smallest = unit->size;
    /* Divided, because 0.001 is no binary fraction: 500 ms are exactly 0.5 s. */
    total += unit->size < 1 ? value / 1000 : value * unit->size;
    at = skip_blanks(at + n);
  }
  if (total > duration_max) return bad_duration(text, "it is longer than a hundred years", err);
  *ret_seconds = total;
  return true;
}

static bool bad_size(const char *text, const char *why, Error *err) {
  error_set(err, ERR_SPEC, "'%.*s' is not a size: %s", SHOWN_MAX, text, why);
  return error_hint(err, "write bytes, or a number with a unit: 500MB, 1.5 GB, 64 KiB");
}

bool size_parse(const char *text, int64_t *ret_bytes, Error *err) {
  double value;
  const char *at = skip_blanks(text);
  if (*at == '-') return bad_size(text, "it is negative", err);
  at = take_number(at, &value);
  if (at == NULL) return bad_size(text, "it does not begin with a number, or with one too long", err);
  at = skip_blanks(at);
  size_t n = word_length(at);
  if (n > 0) {
    const Unit *unit = find_unit(size_units, sizeof size_units / sizeof *size_units, at, n, true);
    if (unit == NULL) return bad_size(text, "its unit is none of B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB, PiB", err);
    value *= unit->size;
    at = skip_blanks(at + n);
  }
  if (*at != '\0') return bad_size(text, "something follows it", err);
  if (n == 0 && value != floor(value)) return bad_size(text, "a part of a byte", err);
  if (value >= 9007199254740992.0) return bad_size(text, "it is 8 PiB or more", err);
  *ret_bytes = (int64_t)llround(value);
  return true;
}

static bool bad_share(const char *text, const char *why, Error *err) {
  error_set(err, ERR_SPEC, "'%.*s' is not a share: %s", SHOWN_MAX, text, why);
  return error_hint(err, "write 50 %% or 0.5");
}

bool share_parse(const char *text, double *ret_share, Error *err) {
  double value;
  const char *at = skip_blanks(text);
  if (*at == '-') return bad_share(text, "it is negative", err);
  at = take_number(at, &value);
  if (at == NULL) return bad_share(text, "it does not begin with a number", err);
  at = skip_blanks(at);
  bool percent = *at == '%';
  if (percent) at = skip_blanks(at + 1);
  if (*at != '\0') return bad_share(text, "something follows it", err);
  if (percent) value /= 100;
  if (value > 1)
    return bad_share(text, percent ? "it is more than 100 %" : "without a % sign it goes from 0 to 1", err);
  *ret_share = value;
  return true;
}

/* Two units, the second left out when it is 0. */
static void put_two(char text[32], const char *sign, int64_t first, const char *unit, int64_t second,
                    const char *rest) {
  if (second == 0)
    snprintf(text, 32, "%s%lld%s", sign, (long long)first, unit);
  else
    snprintf(text, 32, "%s%lld%s %lld%s", sign, (long long)first, unit, (long long)second, rest);
}

void duration_label(double seconds, char text[32]) {
  const char *sign = seconds < 0 ? "-" : "";
  double size = fabs(seconds);
  if (!(size < 1e14)) {
    snprintf(text, 32, isnan(seconds) ? "unknown" : "%s%s", sign, "for ever");
    return;
  }
  if (size != 0 && size < 0.0095) {
    snprintf(text, 32, size < 0.00005 ? "%s<0.1 ms" : "%s%.1f ms", sign, size * 1000);
  } else if (size < 0.9995) {
    snprintf(text, 32, "%s%.0f ms", sign, size * 1000);
  } else if (size < 9.95) {
    snprintf(text, 32, "%s%.1f s", sign, size);
  } else if (size < 59.5) {
    snprintf(text, 32, "%s%.0f s", sign, size);
  } else if (size < 3599.5) {
    int64_t whole = llround(size);
    put_two(text, sign, whole / 60, "m", whole % 60, "s");
  } else if (size < 86400 - 30) {
    int64_t minutes = llround(size / 60);
    put_two(text, sign, minutes / 60, "h", minutes % 60, "m");
  } else {
    int64_t hours = llround(size / 3600);
    put_two(text, sign, hours / 24, hours / 24 == 1 ? " day" : " days", hours % 24, "h");
  }
}

void size_label(int64_t bytes, char text[32]) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  const char *sign = bytes < 0 ? "-" : "";
  double value = fabs((double)bytes);
  size_t unit = 0;
  /* 999.5 is shown as the next unit's 1.0. */
  for (; value >= 999.5 && unit + 1 < sizeof units / sizeof *units; unit++) value /= 1000;
  snprintf(text, 32, unit > 0 && value < 9.95 ? "%s%.1f %s" : "%s%.0f %s", sign, value, units[unit]);
}

void instant_rfc3339(Instant at, const struct Zone *zone, char text[40]) {
  if (at < INSTANT_MIN) at = INSTANT_MIN;
  if (at > INSTANT_MAX) at = INSTANT_MAX;
  /* RFC 3339 knows no seconds in an offset: those of old local mean times are cut off, and the instant stays right. */
  int offset = zone_offset(zone, at) / 60 * 60;
  Civil civil = civil_from_seconds(at + offset);
  if (civil.year < CIVIL_YEAR_MIN || civil.year > CIVIL_YEAR_MAX) {
    offset = 0;
    civil = civil_from_seconds(at);
  }
  char date[12], east[12];
  text_put_date(date, &civil);
  text_put_offset(east, offset);
  snprintf(text, 40, "%sT%02u:%02u:%02u%s", date, (unsigned)civil.hour % 100u, (unsigned)civil.minute % 100u,
           (unsigned)civil.second % 100u, east);
}

void instant_json(struct Json *json, const char *key, Instant at) {
  char text[40];
  instant_rfc3339(at, zone_utc(), text);
  json_text(json, key, at == 0 ? NULL : text);
}

bool instant_parse(const char *text, Instant *ret_at, Error *err) {
  TextStamp stamp;
  bool is_stamp =
      text_stamp(text, strlen(text), &stamp) && stamp.has_seconds && (stamp.separator == 'T' || stamp.separator == ' ');
  const char *why = NULL;
  if (!is_stamp)
    why = "it must be YYYY-MM-DDTHH:MM:SS with an offset, and a time that exists";
  else if (!stamp.has_offset)
    why = "the offset is missing, so it could be any of a day's instants";
  Instant at = is_stamp ? civil_to_seconds(&stamp.civil) - stamp.offset : 0;
  if (why == NULL && (at < INSTANT_MIN || at > INSTANT_MAX)) why = "years go from 0001 to 9999";
  if (why != NULL) {
    error_set(err, ERR_USAGE, "'%.*s' is not an instant: %s", SHOWN_MAX, text, why);
    return error_hint(err, "write it as in RFC 3339: 2013-02-01T00:00:00-05:00 or 2013-02-01T05:00:00Z");
  }
  *ret_at = at;
  return true;
}
