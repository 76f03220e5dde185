#include "time/posix_tz.h"

#include <string.h>

typedef struct Cursor {
  const char *at, *end;
} Cursor;

static bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool take(Cursor *cursor, char c) {
  if (cursor->at == cursor->end || *cursor->at != c) return false;
  cursor->at++;
  return true;
}

static bool take_number(Cursor *cursor, int min, int max, int *ret) {
  int value = 0;
  const char *begin = cursor->at;
  while (cursor->at < cursor->end && is_digit(*cursor->at) && value <= max) value = value * 10 + (*cursor->at++ - '0');
  if (cursor->at == begin || value < min || value > max) return false;
  *ret = value;
  return true;
}

/* An abbreviation: three letters or more, or anything but '>' between angle brackets. */
static bool take_name(Cursor *cursor) {
  if (take(cursor, '<')) {
    while (cursor->at < cursor->end && *cursor->at != '>') cursor->at++;
    return take(cursor, '>');
  }
  const char *begin = cursor->at;
  while (cursor->at < cursor->end && is_letter(*cursor->at)) cursor->at++;
  return cursor->at - begin >= 3;
}

/* [+-]hh[:mm[:ss]] in seconds. */
static bool take_time(Cursor *cursor, int max_hours, int *ret) {
  bool negative = take(cursor, '-');
  if (!negative) (void)take(cursor, '+');
  int hours, minutes = 0, seconds = 0;
  if (!take_number(cursor, 0, max_hours, &hours)) return false;
  if (take(cursor, ':')) {
    if (!take_number(cursor, 0, 59, &minutes)) return false;
    if (take(cursor, ':') && !take_number(cursor, 0, 59, &seconds)) return false;
  }
  int total = hours * 3600 + minutes * 60 + seconds;
  *ret = negative ? -total : total;
  return true;
}

static bool take_rule(Cursor *cursor, PosixRule *rule) {
  bool ok;
  if (take(cursor, 'M')) {
    rule->kind = RULE_WEEKDAY;
    ok = take_number(cursor, 1, 12, &rule->month) && take(cursor, '.') && take_number(cursor, 1, 5, &rule->week) &&
         take(cursor, '.') && take_number(cursor, 0, 6, &rule->day);
  } else if (take(cursor, 'J')) {
    rule->kind = RULE_JULIAN;
    ok = take_number(cursor, 1, 365, &rule->day);
  } else {
    rule->kind = RULE_ZERO_JULIAN;
    ok = take_number(cursor, 0, 365, &rule->day);
  }
  rule->time = 2 * 3600;
  return ok && (!take(cursor, '/') || take_time(cursor, 167, &rule->time));
}

bool posix_tz_parse(const char *text, size_t n, PosixTz *ret) {
  Cursor cursor = {text, text + n};
  PosixTz tz = {0};
  int west;
  if (!take_name(&cursor) || !take_time(&cursor, 24, &west)) return false;
  tz.offset = -west;
  if (cursor.at < cursor.end) {
    tz.has_summer = true;
    tz.summer_offset = tz.offset + 3600;
    if (!take_name(&cursor)) return false;
    if (cursor.at < cursor.end && *cursor.at != ',') {
      if (!take_time(&cursor, 24, &west)) return false;
      tz.summer_offset = -west;
    }
    if (!take(&cursor, ',') || !take_rule(&cursor, &tz.start)) return false;
    if (!take(&cursor, ',') || !take_rule(&cursor, &tz.end)) return false;
  }
  if (cursor.at != cursor.end) return false;
  *ret = tz;
  return true;
}

static int64_t rule_days(const PosixRule *rule, int year) {
  int64_t new_year = civil_to_days(year, 1, 1);
  if (rule->kind == RULE_ZERO_JULIAN) return new_year + rule->day;
  if (rule->kind == RULE_JULIAN) return new_year + rule->day - 1 + (rule->day >= 60 && civil_month_days(year, 2) == 29);
  int64_t first = civil_to_days(year, rule->month, 1);
  int day = (rule->day - civil_weekday(first) + 7) % 7 + (rule->week - 1) * 7;
  return first + (day < civil_month_days(year, rule->month) ? day : day - 7);
}

static Instant rule_instant(const PosixRule *rule, int year, int offset) {
  return rule_days(rule, year) * 86400 + rule->time - offset;
}

Instant posix_tz_start(const PosixTz *tz, int year) { return rule_instant(&tz->start, year, tz->offset); }
Instant posix_tz_end(const PosixTz *tz, int year) { return rule_instant(&tz->end, year, tz->summer_offset); }
