#include "time/window.h"

#include <math.h>
#include <string.h>

enum { DAY_MINUTES = 24 * 60, DAY = 86400 };

static bool bad_hours(const char *text, const char *why, Error *err) {
  error_set(err, ERR_SPEC, "'%.60s' are not idle hours: %s", text, why);
  return error_hint(err, "write them as 22:00-06:00, in the wall clock of the zone");
}

static const char *skip_blanks(const char *at) {
  while (*at == ' ' || *at == '\t') at++;
  return at;
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

bool idle_hours_parse(const char *text, const Zone *zone, IdleHours *ret, Error *err) {
  static const char *const separators[] = {"..", "-", "–"};
  int from, to;
  const char *at = take_time(skip_blanks(text), &from);
  if (at == NULL || from == DAY_MINUTES) return bad_hours(text, "they must begin with a time from 00:00 to 23:59", err);
  at = skip_blanks(at);
  size_t n = 0;
  for (size_t i = 0; i < sizeof separators / sizeof *separators && n == 0; i++)
    if (strncmp(at, separators[i], strlen(separators[i])) == 0) n = strlen(separators[i]);
  if (n == 0) return bad_hours(text, "the end is missing", err);
  at = take_time(skip_blanks(at + n), &to);
  if (at == NULL) return bad_hours(text, "they must end with a time from 00:00 to 24:00", err);
  if (*skip_blanks(at) != '\0') return bad_hours(text, "something follows them", err);
  *ret = (IdleHours){zone, from, to % DAY_MINUTES};
  return true;
}

/* Are the hours open at the instant, and until when can that not change? */
static bool idle_at(const IdleHours *idle, Instant at, Instant *ret_until) {
  Instant begin, until;
  if (idle == NULL || idle->from == idle->to) {
    *ret_until = INT64_MAX;
    return true;
  }
  int offset = zone_offset_span(idle->zone, at, &begin, &until);
  int second = (int)(((at + offset) % DAY + DAY) % DAY), from = idle->from * 60, to = idle->to * 60;
  bool open = from < to ? second >= from && second < to : second >= from || second < to;
  Instant change = at + ((open ? to : from) - second + DAY) % DAY;
  *ret_until = change < until ? change : until;
  return open;
}

/* The first instant in [from, until) at which the hours are open (or closed); `until` if there is none. */
static Instant idle_first(const IdleHours *idle, bool open, Instant from, Instant until) {
  while (from < until) {
    Instant change;
    if (idle_at(idle, from, &change) == open) return from;
    from = change;
  }
  return until;
}

/* What a rule closes around each fire, in seconds before and after it. Beyond 300 years nothing is told apart. */
typedef struct Busy {
  double before, after;
} Busy;

static double closing(double seconds) {
  const double for_ever = 1e10;
  if (!(seconds < for_ever)) return for_ever;
  return seconds > 0 ? seconds : 0;
}

/* A run takes a second at least, so that one is never overlooked for want of figures. */
static Busy busy_of(const BusyRule *rule) {
  double guard = closing(rule->guard);
  return (Busy){guard, fmax(1, closing(closing(rule->jitter) + closing(rule->p95) + guard))};
}

/* The first fire whose busy time ends after the instant. */
static bool first_busy(const BusyRule *rule, const Busy *busy, Instant at, Instant *ret_fire) {
  if (rule->schedule == NULL) return false;
  /* fire + after > at, for whole seconds of fire. */
  return schedule_next_any(rule->schedule, (Instant)floor((double)at - busy->after), ret_fire);
}

bool window_free(const BusyRule *rules, size_t n, const IdleHours *idle, Instant start, Instant end,
                 WindowCloser *ret_closer, Instant *ret_at) {
  bool found = false;
  double found_from = 0;
  start = instant_clamp(start);
  end = instant_clamp(end);
  for (size_t i = 0; i < n; i++) {
    Busy busy = busy_of(&rules[i]);
    Instant fire;
    if (!first_busy(&rules[i], &busy, start, &fire)) continue;
    double from = (double)fire - busy.before;
    bool meets = start < end ? from < (double)end : from <= (double)start;
    if (!meets || (found && from >= found_from)) continue;
    found = true;
    found_from = from;
    *ret_closer = CLOSED_BY_RUN;
    *ret_at = fire;
  }
  if (found) return false;
  Instant until = start < end ? end : start + 1;
  Instant closed = idle_first(idle, false, start, until);
  *ret_closer = closed < until ? CLOSED_BY_IDLE_HOURS : CLOSED_BY_NOTHING;
  if (closed < until) *ret_at = closed;
  return closed >= until;
}

/*
 * Where the rule's busy time leaves off that covers the instant, over as many runs as follow one another without a
 * second between; `at` itself when it is free. *ret_next is when the rule is busy next, INSTANT_MAX when never.
 */
static Instant busy_end(const BusyRule *rule, Instant at, Instant limit, Instant *ret_next) {
  Busy busy = busy_of(rule);
  Instant fire;
  *ret_next = INSTANT_MAX;
  for (bool more = first_busy(rule, &busy, at, &fire); more; more = schedule_next_any(rule->schedule, fire, &fire)) {
    *ret_next = (Instant)floor((double)fire - busy.before);
    if (*ret_next > at || at >= limit) break;
    at = (Instant)ceil((double)fire + busy.after);
    *ret_next = INSTANT_MAX;
  }
  return at;
}

/* The first instant at or after `at` that neither a rule nor the idle hours close, and until when that lasts. */
static Instant next_open(const BusyRule *rules, size_t n, const IdleHours *idle, Instant at, Instant limit,
                         Instant *ret_until) {
  Instant before;
  do {
    before = at;
    at = idle_first(idle, true, at, limit);
    *ret_until = limit;
    for (size_t i = 0; i < n && at < limit; i++) {
      Instant next;
      at = busy_end(&rules[i], at, limit, &next);
      if (next < *ret_until) *ret_until = next;
    }
  } while (at != before && at < limit);
  *ret_until = idle_first(idle, false, at, *ret_until);
  return at;
}

bool window_next(const BusyRule *rules, size_t n, const IdleHours *idle, Instant after, double least, double horizon,
                 Window *ret) {
  after = instant_clamp(after);
  if (!(horizon > 0)) return false;
  Instant limit = horizon < (double)(INSTANT_MAX - after) ? after + (Instant)horizon : INSTANT_MAX;
  for (Instant at = after; at < limit;) {
    Instant until;
    Instant from = next_open(rules, n, idle, at, limit, &until);
    if (from >= limit) return false;
    if (from < until && (double)(until - from) >= least) {
      *ret = (Window){from, until};
      return true;
    }
    at = until > from ? until : from + 1;
  }
  return false;
}
