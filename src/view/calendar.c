#include "view/calendar.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/words.h"

static const struct {
  const char *sign, *word, *legend;
  Style style;
} marks[] = {[DAY_PRESENT] = {".", "present", "present", STYLE_PLAIN},
             [DAY_MISSING] = {"x", "missing", "missing or empty: no row at all", STYLE_BAD},
             [DAY_LOW] = {"-", "low", "low: less than half the rows of the median of its weekday (late?)", STYLE_WARN},
             [DAY_HIGH] = {"+", "high", "high: 1.5 times that median or more (doubled?)", STYLE_WARN},
             [DAY_OUTSIDE] = {" ", "outside", "", STYLE_PLAIN}};

static int by_size(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Dates are compared with those of the same weekday, or with all of them where the grain is not the day. */
static int class_of(const Calendar *calendar, Instant date) {
  if (calendar->grain != GRAIN_DAY) return 0;
  Civil civil = zone_civil(calendar->zone, date);
  return civil_weekday(civil_to_days(civil.year, civil.month, civil.day));
}

/* The median of each class, of the dates that have rows. */
static void medians(Arena *arena, const Calendar *calendar, const CalendarDay *days, int64_t medians[7]) {
  int64_t *sizes = arena_array(arena, calendar->n, sizeof *sizes);
  for (int class = 0; class < 7; class ++) {
    size_t n = 0;
    for (size_t i = 0; i < calendar->n; i++)
      if (days[i].rows > 0 && class_of(calendar, days[i].date) == class) sizes[n++] = days[i].rows;
    qsort(sizes, n, sizeof *sizes, by_size);
    medians[class] = n == 0 ? 0 : sizes[n / 2];
  }
}

static DayMark mark_of(int64_t rows, int64_t usual) {
  if (rows == 0) return DAY_MISSING;
  if (rows * 2 < usual) return DAY_LOW;
  return rows * 2 >= usual * 3 ? DAY_HIGH : DAY_PRESENT;
}

Calendar calendar_mark(Arena *arena, const Shape *shape, DateRange range, const DateRecord *counts, size_t n) {
  Calendar calendar = {.target = shape->table,
                       .column = shape->columns[shape->date].name,
                       .grain = shape->codec.grain,
                       .zone = shape->codec.zone,
                       .range = range,
                       .null_dates = -1};
  int64_t total = date_range_count(&range, calendar.grain, calendar.zone), usual[7];
  CalendarDay *days = arena_array(arena, (size_t)total, sizeof *days);
  size_t next = 0;
  for (Instant at = range.from; at < range.to && calendar.n < (size_t)total;
       at = grain_next(calendar.grain, calendar.zone, at)) {
    while (next < n && counts[next].date < at) next++;
    bool has = next < n && counts[next].date == at;
    days[calendar.n++] = (CalendarDay){.date = at, .rows = has ? counts[next].expected : 0};
  }
  medians(arena, &calendar, days, usual);
  for (size_t i = 0; i < calendar.n; i++) {
    days[i].usual = usual[class_of(&calendar, days[i].date)];
    days[i].mark = mark_of(days[i].rows, days[i].usual);
  }
  calendar.days = days;
  return calendar;
}

/* One month: weeks as lines, Monday first. */
static size_t put_month(Paint *paint, Arena *arena, const Calendar *calendar, size_t first) {
  static const char *const months[] = {"January", "February", "March",     "April",   "May",      "June",
                                       "July",    "August",   "September", "October", "November", "December"};
  Civil start = zone_civil(calendar->zone, calendar->days[first].date);
  paint_styled(paint, STYLE_BOLD, arena_printf(arena, "%s %d", months[start.month - 1], start.year));
  buf_puts(paint->out, "\n  Mo  Tu  We  Th  Fr  Sa  Su\n");
  int column = (class_of(calendar, calendar->days[first].date) + 6) % 7;
  buf_printf(paint->out, "%*s", column * 4, "");
  size_t i = first;
  for (; i < calendar->n; i++) {
    Civil civil = zone_civil(calendar->zone, calendar->days[i].date);
    if (civil.month != start.month || civil.year != start.year) break;
    DayMark mark = calendar->days[i].mark;
    char cell[16];
    snprintf(cell, sizeof cell, " %2d%s", civil.day, mark == DAY_PRESENT ? " " : marks[mark].sign);
    paint_styled(paint, marks[mark].style, cell);
    column = (column + 1) % 7;
    if (column == 0) buf_putc(paint->out, '\n');
  }
  if (column != 0) buf_putc(paint->out, '\n');
  buf_putc(paint->out, '\n');
  return i;
}

static void put_odd(Paint *paint, Arena *arena, const Calendar *calendar) {
  enum { ODD_SHOWN = 60 };
  static const char *const heads[] = {"date", "what", "rows", "usual"};
  const char **cells = arena_array(arena, calendar->n * 4, sizeof *cells);
  size_t n = 0, odd = 0;
  for (size_t i = 0; i < calendar->n; i++) {
    const CalendarDay *day = &calendar->days[i];
    if (day->mark == DAY_PRESENT || ++odd > ODD_SHOWN) continue;
    char *label = arena_alloc(arena, 32);
    grain_label(calendar->grain, calendar->zone, day->date, label);
    cells[n * 4] = label;
    cells[n * 4 + 1] = marks[day->mark].word;
    cells[n * 4 + 2] = arena_printf(arena, "%" PRId64, day->rows);
    cells[n * 4 + 3] = arena_printf(arena, "%" PRId64, day->usual);
    n++;
  }
  if (n > 0) paint_table(paint, &(Table){.heads = heads, .cells = cells, .columns = 4, .rows = n, .right = 0xC});
  if (odd > n) paint_line(paint, "", "… and %zu more", odd - n);
  if (n == 0) paint_line(paint, "", "No date stands out by its number of rows. Wrong values do not show here.");
}

void view_calendar(Paint *paint, Arena *arena, const Calendar *calendar) {
  char label[96];
  date_range_label(&calendar->range, calendar->grain, calendar->zone, label);
  paint_styled(paint, STYLE_BOLD, calendar->target);
  paint_text(paint, arena_printf(arena, "  %s  by %s", label, calendar->column));
  buf_puts(paint->out, "\n\n");
  if (calendar->grain == GRAIN_DAY) {
    for (size_t i = 0; i < calendar->n;) i = put_month(paint, arena, calendar, i);
    for (size_t m = DAY_MISSING; m < DAY_OUTSIDE; m++) paint_line(paint, marks[m].sign, "%s", marks[m].legend);
    buf_putc(paint->out, '\n');
  }
  put_odd(paint, arena, calendar);
  if (calendar->null_dates > 0)
    paint_verdict(paint, STYLE_WARN, "warning", "%s without a date",
                  words_count(arena, calendar->null_dates, "row", "rows"));
}

void view_calendar_json(Json *json, const Calendar *calendar) {
  json_text(json, "target", calendar->target);
  json_text(json, "date_column", calendar->column);
  json_text(json, "grain", grain_name(calendar->grain));
  if (calendar->null_dates >= 0)
    json_int(json, "null_dates", calendar->null_dates);
  else
    json_null(json, "null_dates");
  json_array(json, "dates");
  for (size_t i = 0; i < calendar->n; i++) {
    char label[32];
    grain_label(calendar->grain, calendar->zone, calendar->days[i].date, label);
    json_object(json, NULL);
    json_text(json, "date", label);
    json_text(json, "mark", marks[calendar->days[i].mark].word);
    json_int(json, "rows", calendar->days[i].rows);
    json_int(json, "usual", calendar->days[i].usual);
    json_object_end(json);
  }
  json_array_end(json);
}
