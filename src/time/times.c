#include <stdlib.h>
#include <string.h>

#include "time/dialect.h"
#include "time/quantity.h"
#include "time/text.h"

/* A list of start times: of every day by the wall clock, or instants. One of the two, ascending. */
typedef struct Times {
  int64_t *at; /* seconds of the day, or instants */
  size_t n;
} Times;

static bool times_next(const void *rule, const Civil *from, Civil *ret) {
  const Times *times = rule;
  int64_t second = from->hour * 3600 + from->minute * 60 + from->second;
  size_t i = 0;
  while (i < times->n && times->at[i] < second) i++;
  Civil day = *from;
  day.hour = day.minute = day.second = 0;
  int64_t at = civil_to_seconds(&day) + (i < times->n ? times->at[i] : 86400 + times->at[0]);
  if (at > INSTANT_MAX) return false;
  *ret = civil_from_seconds(at);
  return true;
}

static bool times_next_instant(const void *rule, Instant after, Instant *ret) {
  const Times *times = rule;
  size_t low = 0, high = times->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (times->at[middle] > after) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  if (low == times->n) return false;
  *ret = times->at[low];
  return true;
}

/* "HH:MM" or "HH:MM:SS" to seconds of the day. */
static bool time_of_day(const char *text, size_t n, int64_t *ret) {
  if ((n != 5 && n != 8) || text[2] != ':' || (n == 8 && text[5] != ':')) return false;
  int hour = text_digits(text, 2), minute = text_digits(text + 3, 2), second = n == 8 ? text_digits(text + 6, 2) : 0;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return false;
  *ret = hour * 3600 + minute * 60 + second;
  return true;
}

static int by_time(const void *a, const void *b) {
  int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
  return (left > right) - (left < right);
}

static bool times_parse(Arena *arena, const char *expression, DialectRule *ret, Error *err) {
  static const char hint[] =
      "write times of every day, 02:00, 14:30, or instants with their offset, 2026-03-01T02:00:00Z, and not both";
  char *rest = arena_strdup(arena, expression), *word;
  Times *times = arena_alloc(arena, sizeof *times);
  *times = (Times){0};
  size_t n_instants = 0;
  while ((word = strsep(&rest, " \t\n,")) != NULL) {
    if (*word == '\0') continue;
    int64_t at;
    Error why = {0};
    bool instant = !time_of_day(word, strlen(word), &at);
    if (instant && !instant_parse(word, &at, &why)) {
      error_set(err, ERR_SPEC, "the start time '%.40s' is neither a time of day nor an instant with its offset", word);
      return error_hint(err, "%s", hint);
    }
    n_instants += instant;
    times->at = arena_grow(arena, times->at, times->n, sizeof *times->at);
    times->at[times->n++] = at;
  }
  if (times->n == 0) {
    error_set(err, ERR_SPEC, "the list of start times is empty, so the schedule never fires");
    return error_hint(err, "%s, or leave the schedule out", hint);
  }
  if (n_instants != 0 && n_instants != times->n) {
    error_set(err, ERR_SPEC, "the list of start times has times of every day and instants");
    return error_hint(err, "%s", hint);
  }
  qsort(times->at, times->n, sizeof *times->at, by_time);
  ret->rule = times;
  if (n_instants == 0) {
    ret->next = times_next;
  } else {
    ret->next_instant = times_next_instant;
  }
  return true;
}

const Dialect dialect_times = {.gap = GAP_SKIP, .overlap = OVERLAP_BOTH, .parse = times_parse};
