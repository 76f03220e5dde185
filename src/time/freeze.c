#include "time/freeze.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/doc.h"
#include "time/grain.h"

enum { DAY = 86400, LONGEST_MONTH_END = 28 };

static const char blanks[] = " \t\r";

static bool bad_freeze(const char *text, const char *why, Error *err) {
  error_set(err, ERR_SPEC, "'%.120s' is not a freeze: %s", text, why);
  return error_hint(err,
                    "write a date or a range (2026-12-24..2026-12-26), days of every year (24 December..26 December "
                    "or 12-24..12-26), or month end");
}

/* The month of a name, "Dec" or "December" in any case; 0: none. */
static int month_of(const char *name, size_t n) {
  static const char *const months[] = {"January", "February", "March",     "April",   "May",      "June",
                                       "July",    "August",   "September", "October", "November", "December"};
  for (int i = 0; i < 12; i++)
    if ((n == 3 || n == strlen(months[i])) && strncasecmp(name, months[i], n) == 0) return i + 1;
  return 0;
}

/* One or two digits; NULL if there are none. */
static const char *take_number(const char *at, int *ret) {
  int digits = 0;
  *ret = 0;
  for (; *at >= '0' && *at <= '9' && digits < 3; at++, digits++) *ret = *ret * 10 + (*at - '0');
  return digits == 1 || digits == 2 ? at : NULL;
}

/* "24 December" or "12-24" as 100 × month + day. NULL if it is neither, or no such day is in any year. */
static const char *take_yearly(const char *at, int64_t *ret) {
  int first, second, month, day;
  at = take_number(at, &first);
  if (at == NULL) return NULL;
  if (*at == '-') {
    at = take_number(at + 1, &second);
    month = first;
    day = second;
  } else {
    at += strspn(at, blanks);
    size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    month = month_of(at, n);
    day = first;
    at += n;
  }
  const int leap_year = 2000;
  if (at == NULL || month < 1 || month > 12 || day < 1 || day > civil_month_days(leap_year, month)) return NULL;
  *ret = 100 * month + day;
  return at;
}

static bool parse_yearly(const char *text, Freeze *ret, Error *err) {
  const char *at = take_yearly(text, &ret->from);
  if (at == NULL) return bad_freeze(text, "there is no such day", err);
  ret->to = ret->from;
  at += strspn(at, blanks);
  if (*at == '\0') return true;
  if (strncmp(at, "..", 2) != 0) return bad_freeze(text, "something follows the day", err);
  at = take_yearly(at + 2 + strspn(at + 2, blanks), &ret->to);
  if (at == NULL) return bad_freeze(text, "the end is no such day", err);
  return at[strspn(at, blanks)] == '\0' || bad_freeze(text, "something follows the end", err);
}

static bool parse_month_end(const char *text, const char *rest, Freeze *ret, Error *err) {
  rest += strspn(rest, blanks);
  ret->days = 1;
  if (*rest == '\0') return true;
  rest = take_number(rest, &ret->days);
  if (rest != NULL && *rest == '\0' && ret->days >= 1 && ret->days <= LONGEST_MONTH_END) return true;
  return bad_freeze(text, "after “month end” stands how many of the last days, from 1 to 28", err);
}

/* Four digits and a dash begin a year. */
static bool begins_with_year(const char *text) { return strspn(text, "0123456789") == 4 && text[4] == '-'; }

static bool parse_dates(const char *text, Freeze *ret, Error *err) {
  DateRange range;
  if (!date_range_parse(text, GRAIN_DAY, zone_utc(), &range, err)) return false;
  ret->from = range.from / DAY;
  ret->to = range.to / DAY - 1;
  return true;
}

bool freeze_parse(Arena *arena, const char *text, Freeze *ret, Error *err) {
  static const char month_end[] = "month end";
  text += strspn(text, blanks);
  size_t n = strlen(text);
  while (n > 0 && strchr(" \t\r\n", text[n - 1]) != NULL) n--;
  Freeze freeze = {.text = arena_strndup(arena, text, n)};
  text = freeze.text;
  bool ok;
  if (strncasecmp(text, month_end, sizeof month_end - 1) == 0) {
    freeze.kind = FREEZE_MONTH_END;
    ok = parse_month_end(text, text + sizeof month_end - 1, &freeze, err);
  } else if (begins_with_year(text)) {
    freeze.kind = FREEZE_DATES;
    ok = parse_dates(text, &freeze, err);
  } else {
    freeze.kind = FREEZE_YEARLY;
    ok = parse_yearly(text, &freeze, err);
  }
  if (ok) *ret = freeze;
  return ok;
}

bool freeze_parse_lines(Arena *arena, const char *name, const char *text, Freeze **items, size_t *n, Error *err) {
  int number = 1;
  for (const char *line = text; *line != '\0'; number++) {
    size_t length = strcspn(line, "\n"), used = strcspn(line, "#\n");
    const char *begin = line + strspn(line, blanks);
    if (begin < line + used) {
      Freeze freeze;
      if (!freeze_parse(arena, arena_strndup(arena, begin, (size_t)(line + used - begin)), &freeze, err)) {
        Error old = *err;
        doc_error(err, name, text, number, (int)(begin - line) + 1, "%s", old.message);
        return error_hint(err, "%s", old.hint);
      }
      freeze.text = arena_printf(arena, "%s (%s:%d)", freeze.text, name, number);
      *items = arena_grow(arena, *items, *n, sizeof **items);
      (*items)[(*n)++] = freeze;
    }
    line += length;
    if (*line == '\n') line++;
  }
  return true;
}

static bool is_frozen(const Freeze *freeze, int64_t day, const Civil *civil) {
  int64_t yearly = 100 * civil->month + civil->day;
  switch (freeze->kind) {
    case FREEZE_DATES:
      return day >= freeze->from && day <= freeze->to;
    case FREEZE_YEARLY:
      if (freeze->from <= freeze->to) return yearly >= freeze->from && yearly <= freeze->to;
      return yearly >= freeze->from || yearly <= freeze->to;
    case FREEZE_MONTH_END:
      break;
  }
  return civil->day > civil_month_days(civil->year, civil->month) - freeze->days;
}

bool freeze_at(const Freezes *freezes, Instant at, Instant *ret_until, size_t *ret_index) {
  Instant begin, until;
  *ret_until = INT64_MAX;
  if (freezes->n == 0) return false;
  int offset = zone_offset_span(freezes->zone, at, &begin, &until);
  int64_t local = at + offset, second = (local % DAY + DAY) % DAY, day = (local - second) / DAY;
  Civil civil = civil_from_days(day);
  *ret_until = at + DAY - second < until ? at + DAY - second : until;
  for (size_t i = 0; i < freezes->n; i++)
    if (is_frozen(&freezes->items[i], day, &civil)) {
      *ret_index = i;
      return true;
    }
  return false;
}
