#ifndef TIDEGATE_TIME_FREEZE_H
#define TIDEGATE_TIME_FREEZE_H

#include "time/zone.h"

/* Whole days on which nothing may be changed, by the calendar of a zone. */

typedef enum FreezeKind { FREEZE_DATES, FREEZE_YEARLY, FREEZE_MONTH_END } FreezeKind;

typedef struct Freeze {
  FreezeKind kind;
  const char *text; /* as a person wrote it, with its file and line when it comes from one */
  int64_t from, to; /* FREEZE_DATES: days since 1970-01-01; FREEZE_YEARLY: 100 × month + day; both ends included */
  int days;         /* FREEZE_MONTH_END: the last so many of every month */
} Freeze;

typedef struct Freezes {
  const Zone *zone;
  const Freeze *items;
  size_t n;
} Freezes;

/*
 * "2026-12-24", "2026-12-24..2026-12-26"; of every year "24 December", "24 December..26 December", "12-24..12-26", also
 * over the turn of the year; "month end" and, the last two days, "month end 2". Keeps a copy of the text. Errors:
 * ERR_SPEC.
 */
bool freeze_parse(Arena *arena, const char *text, Freeze *ret, Error *err);

/* The same from a file of one freeze a line, with comments after "#". Adds to items of *n. Errors: ERR_SPEC at
 * name:line. */
bool freeze_parse_lines(Arena *arena, const char *name, const char *text, Freeze **items, size_t *n, Error *err);

/*
 * Is the instant on a frozen day, and until when at least does that not change (INT64_MAX: it never does)? *ret_index
 * is the first freeze that holds, untouched when none does.
 */
bool freeze_at(const Freezes *freezes, Instant at, Instant *ret_until, size_t *ret_index);

#endif
