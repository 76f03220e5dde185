#include <string.h>

#include "view/window.h"
#include "view/words.h"

/* A week of windows as strips of signs. */

static const struct {
  const char *sign, *word, *legend;
  Style style;
} states[WEEK_STATES_] = {[WEEK_OPEN] = {".", "open", "open", STYLE_DIM},
                          [WEEK_CLOSED] = {"-", "closed", "outside the idle hours", STYLE_DIM},
                          [WEEK_CHOSEN] = {"=", "chosen", "this backfill, begun now", STYLE_GOOD},
                          [WEEK_FROZEN] = {"x", "frozen", "frozen", STYLE_WARN},
                          [WEEK_BUSY] = {"#", "busy", "a run with its guard", STYLE_BAD}};

const char *week_word(WeekState state) { return states[state].word; }

const char *week_legend(WeekState state) { return states[state].legend; }

/* ---- making it --------------------------------------------------------------------------------------------------- */

static void put_stretch(Arena *arena, Week *week, WeekStretch stretch) {
  WeekStretch *items = arena_grow(arena, (void *)week->items, week->n, sizeof *items);
  items[week->n++] = stretch;
  week->items = items;
}

/* An open stretch, cut where the backfill would work. */
static void put_open(Arena *arena, Week *week, const Forecast *forecast, Instant from, Instant to) {
  for (size_t i = 0; i < forecast->n_chosen && from < to; i++) {
    Window chosen = forecast->chosen[i];
    if (chosen.to <= from || chosen.from >= to) continue;
    if (chosen.from > from) put_stretch(arena, week, (WeekStretch){from, chosen.from, WEEK_OPEN, NULL});
    if (chosen.from > from) from = chosen.from;
    Instant end = chosen.to < to ? chosen.to : to;
    put_stretch(arena, week, (WeekStretch){from, end, WEEK_CHOSEN, NULL});
    from = end;
  }
  if (from < to) put_stretch(arena, week, (WeekStretch){from, to, WEEK_OPEN, NULL});
}

Week week_make(Arena *arena, const Plan *plan, const Forecast *forecast, bool known) {
  Week week = {.zone = words_zone(plan)};
  WindowRules rules = plan_window(plan);
  const WindowStretch *stretches;
  Civil today = zone_civil(week.zone, forecast->from);
  int64_t first = civil_to_days(today.year, today.month, today.day);
  for (int i = 0; i <= WEEK_DAYS; i++) {
    Civil midnight = civil_from_days(first + i);
    week.days[i] = zone_first(week.zone, &midnight);
  }
  size_t n = window_stretches(arena, &rules, week.days[0], week.days[WEEK_DAYS], &stretches);
  for (size_t i = 0; i < n; i++) {
    const WindowStretch *at = &stretches[i];
    if (at->closer == CLOSED_BY_NOTHING && known)
      put_open(arena, &week, forecast, at->from, at->to);
    else if (at->closer == CLOSED_BY_RUN)
      put_stretch(arena, &week, (WeekStretch){at->from, at->to, WEEK_BUSY, plan->clock.jobs[at->index].name});
    else if (at->closer == CLOSED_BY_FREEZE)
      put_stretch(arena, &week,
                  (WeekStretch){at->from, at->to, WEEK_FROZEN, plan->clock.freezes.items[at->index].text});
    else
      put_stretch(arena, &week, (WeekStretch){at->from, at->to, WEEK_CLOSED, NULL});
  }
  return week;
}

/* ---- showing it -------------------------------------------------------------------------------------------------- */

enum { CELLS = 48, CELL = 1800, NOTHING = -1, DAY_LABEL = 11 };

/* Marks the cells of the wall clock that [from, to) meets. */
static void mark(const Zone *zone, Instant from, Instant to, WeekState state, int cells[CELLS]) {
  while (from < to) {
    Instant begin, until;
    int offset = zone_offset_span(zone, from, &begin, &until);
    int64_t local = from + offset, second = (local % 86400 + 86400) % 86400;
    int *cell = &cells[second / CELL];
    if ((int)state > *cell) *cell = (int)state;
    Instant next = from + CELL - second % CELL;
    from = next < until ? next : until;
  }
}

static void put_strip(Paint *paint, const int cells[CELLS]) {
  for (int i = 0; i < CELLS;) {
    char signs[CELLS + 1];
    int n = 0, state = cells[i];
    for (; i < CELLS && cells[i] == state; i++) signs[n++] = state == NOTHING ? ' ' : states[state].sign[0];
    signs[n] = '\0';
    paint_styled(paint, state == NOTHING ? STYLE_PLAIN : states[state].style, signs);
  }
  buf_putc(paint->out, '\n');
}

void view_week(Paint *paint, Arena *arena, const Week *week) {
  static const char *const names[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  bool used[WEEK_STATES_] = {0};
  buf_printf(paint->out, "%*s00    03    06    09    12    15    18    21    24 ", DAY_LABEL, "");
  paint_text(paint, words_city(arena, week->zone));
  buf_putc(paint->out, '\n');
  for (int day = 0; day < WEEK_DAYS; day++) {
    int cells[CELLS];
    Civil civil = zone_civil(week->zone, week->days[day]);
    for (int i = 0; i < CELLS; i++) cells[i] = NOTHING;
    for (size_t i = 0; i < week->n; i++) {
      const WeekStretch *at = &week->items[i];
      Instant from = at->from > week->days[day] ? at->from : week->days[day];
      Instant to = at->to < week->days[day + 1] ? at->to : week->days[day + 1];
      mark(week->zone, from, to, at->state, cells);
      if (from < to) used[at->state] = true;
    }
    const char *weekday = weekday_name(civil_weekday(civil_to_days(civil.year, civil.month, civil.day)));
    buf_printf(paint->out, "%s %2d %s ", weekday, civil.day, names[civil.month - 1]);
    put_strip(paint, cells);
  }
  const char *legend = "";
  for (int i = 0; i < WEEK_STATES_; i++)
    if (used[i])
      legend =
          arena_printf(arena, "%s%s%s %s", legend, legend[0] == '\0' ? "" : "   ", states[i].sign, states[i].legend);
  paint_line(paint, "", "%s", legend);
}
