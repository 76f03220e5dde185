#ifndef TIDEGATE_VIEW_CALENDAR_H
#define TIDEGATE_VIEW_CALENDAR_H

#include "base/json.h"
#include "engine/engine.h"
#include "view/paint.h"

/* How a date looks beside the others. */
typedef enum DayMark {
  DAY_PRESENT,
  DAY_MISSING, /* no row at all */
  DAY_LOW,     /* fewer than half the rows of the median of its weekday: late, or cut short */
  DAY_HIGH,    /* 1.5 times the rows or more: doubled? */
  DAY_OUTSIDE
} DayMark;

typedef struct CalendarDay {
  Instant date;
  int64_t rows, usual; /* usual: the median of the same weekday (of all dates, for another grain) */
  DayMark mark;
} CalendarDay;

typedef struct Calendar {
  const char *target, *column;
  Grain grain;
  const Zone *zone;
  DateRange range;
  const CalendarDay *days; /* one for every date of the range */
  size_t n;
  int64_t null_dates; /* rows of the whole table without a date; below 0: not counted */
} Calendar;

/* Marks the dates of a range from the counts of the dates that have rows (ascending). */
Calendar calendar_mark(Arena *arena, const Shape *shape, DateRange range, const DateRecord *counts, size_t n);

/* Months as grids of days, a legend in words, and a list of the dates that stand out. */
void view_calendar(Paint *paint, Arena *arena, const Calendar *calendar);
void view_calendar_json(Json *json, const Calendar *calendar);

#endif
