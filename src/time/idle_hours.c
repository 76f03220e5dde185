#include "time/idle_hours.h"

#include <string.h>
#include <strings.h>

enum { DAY_MINUTES = 24 * 60, DAY = 86400, WEEK = 7 };

static const char *const weekdays[WEEK] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                           "Thursday", "Friday", "Saturday"};

const char *weekday_name(int weekday) {
  static const char *const names[WEEK] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  return names[weekday];
}

static bool bad_hours(const char *text, const char *why, Error *err) {
  error_set(err, ERR_SPEC, "'%.120s' are not idle hours: %s", text, why);
  return error_hint(err,
                    "write them as 22:00-06:00, or by weekday as Mon-Fri 22:00-06:00, Sat,Sun 00:00-24:00, in the "
                    "wall clock of the zone");
}

static const char *skip_blanks(const char *at) {
  while (*at == ' ' || *at == '\t') at++;
  return at;
}

/* Behind "-", ".." or an en dash, blanks around it; NULL if there is none. */
static const char *take_dash(const char *at) {
  static const char *const separators[] = {"..", "-", "–"};
  at = skip_blanks(at);
  for (size_t i = 0; i < sizeof separators / sizeof *separators; i++)
    if (strncmp(at, separators[i], strlen(separators[i])) == 0) return skip_blanks(at + strlen(separators[i]));
  return NULL;
}

/* "6:00" or "06:00" in minutes of the day; "24:00" too. NULL if there is none. */
static const char *take_time(const char *at, int *ret_minutes) {
  int part[2] = {0, 0};
  for (int i = 0; i < 2; i++) {
    int digits = 0;
    for (; *at >= '0' && *at <= '9' && digits < 2; at++, digits++) part[i] = part[i] * 10 + (*at - '0');
    if (digits < 1 + i) return NULL;
    if (i == 0 && *at++ != ':') return NULL;
  }
  *ret_minutes = part[0] * 60 + part[1];
  return part[1] < 60 && *ret_minutes <= DAY_MINUTES ? at : NULL;
}

/* "Mon" or "Monday", in any case. NULL if there is none. */
static const char *take_weekday(const char *at, int *ret_day) {
  size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
  for (int i = 0; i < WEEK; i++)
    if ((n == 3 || n == strlen(weekdays[i])) && strncasecmp(at, weekdays[i], n) == 0) {
      *ret_day = i;
      return at + n;
    }
  return NULL;
}

/* "Mon-Fri" or "Sat,Sun" or nothing, which is every day. NULL when it is not well formed. */
static const char *take_days(const char *at, unsigned *ret_days) {
  int from, to;
  *ret_days = 0;
  for (const char *next = take_weekday(at, &from); next != NULL; next = take_weekday(at, &from)) {
    const char *dash = take_dash(next);
    to = from;
    if (dash != NULL && (next = take_weekday(dash, &to)) == NULL) return NULL;
    for (int day = from; *ret_days |= 1u << day, day != to; day = (day + 1) % WEEK) {
    }
    at = skip_blanks(next);
    if (*at != ',') return at;
    at = skip_blanks(at + 1);
  }
  if (*ret_days != 0) return NULL; /* a comma, and no day after it */
  *ret_days = IDLE_EVERY_DAY;
  return at;
}

static const char *take_stretch(const char *text, const char *at, IdleStretch *ret, Error *err) {
  at = take_days(skip_blanks(at), &ret->days);
  if (at == NULL) {
    bad_hours(text, "the days before a time must be names of weekdays, such as Mon-Fri or Sat,Sun", err);
    return NULL;
  }
  at = take_time(at, &ret->from);
  if (at == NULL || ret->from == DAY_MINUTES) {
    bad_hours(text, "they must begin with a time from 00:00 to 23:59", err);
    return NULL;
  }
  at = take_dash(at);
  if (at == NULL) {
    bad_hours(text, "the end is missing", err);
    return NULL;
  }
  at = take_time(at, &ret->to);
  if (at == NULL) {
    bad_hours(text, "they must end with a time from 00:00 to 24:00", err);
    return NULL;
  }
  ret->to %= DAY_MINUTES;
  return skip_blanks(at);
}

bool idle_hours_parse(Arena *arena, const char *text, const Zone *zone, IdleHours *ret, Error *err) {
  IdleStretch *items = NULL;
  size_t n = 0;
  bool always = false;
  for (const char *at = text;; at++) {
    IdleStretch stretch;
    at = take_stretch(text, at, &stretch, err);
    if (at == NULL) return false;
    items = arena_grow(arena, items, n, sizeof *items);
    items[n++] = stretch;
    always = always || (stretch.from == stretch.to && stretch.days == IDLE_EVERY_DAY);
    if (*at == '\0') break;
    if (*at != ',') return bad_hours(text, "something follows them", err);
  }
  *ret = (IdleHours){zone, items, always ? 0 : n};
  return true;
}

/* Is the stretch open at a second of a day, and when in that day does this change next? */
static bool open_at(const IdleStretch *stretch, int weekday, int second, int *ret_change) {
  int from = stretch->from * 60, to = stretch->to * 60;
  bool today = stretch->days >> weekday & 1, yesterday = stretch->days >> (weekday + WEEK - 1) % WEEK & 1;
  const int changes[] = {from, to};
  for (size_t i = 0; i < 2; i++)
    if (changes[i] > second && changes[i] < *ret_change) *ret_change = changes[i];
  if (from < to) return today && second >= from && second < to;
  return (today && second >= from) || (yesterday && second < to);
}

bool idle_hours_at(const IdleHours *idle, Instant at, Instant *ret_until) {
  Instant begin, until;
  *ret_until = INT64_MAX;
  if (idle->n == 0) return true;
  int offset = zone_offset_span(idle->zone, at, &begin, &until);
  int second = (int)(((at + offset) % DAY + DAY) % DAY), change = DAY;
  int weekday = civil_weekday((at + offset - second) / DAY);
  bool open = false;
  for (size_t i = 0; i < idle->n; i++) open |= open_at(&idle->items[i], weekday, second, &change);
  *ret_until = at + (change - second) < until ? at + (change - second) : until;
  return open;
}
