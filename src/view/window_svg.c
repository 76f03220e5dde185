#include <string.h>

#include "view/window.h"
#include "view/words.h"

/*
 * The week as a picture: a row a day, the wall clock from left to right. Each state has a brightness and a pattern of
 * its own, so that it is told without colours too; a reader of screens gets title, description and every stretch.
 */

enum {
  LEFT = 128, /* where midnight is */
  HOUR = 30,
  TOP = 76,
  ROW = 30,
  BAR = 22,
  RIGHT = 24,
  WIDTH = LEFT + 24 * HOUR + RIGHT,
  LEGEND = TOP + WEEK_DAYS * ROW + 34,
  HEIGHT = LEGEND + 34
};

/* Text in an element or an attribute; what a terminal would act on is escaped first, and no XML either. */
static void put_xml(Buf *out, const char *text) {
  BUF_SCOPED plain = {0};
  paint_escape(&plain, text);
  for (const char *at = buf_text(&plain); *at != '\0'; at++) {
    switch (*at) {
      case '&':
        buf_puts(out, "&amp;");
        break;
      case '<':
        buf_puts(out, "&lt;");
        break;
      case '>':
        buf_puts(out, "&gt;");
        break;
      case '"':
        buf_puts(out, "&quot;");
        break;
      default:
        buf_putc(out, *at);
    }
  }
}

static void put_element(Buf *out, const char *name, const char *id, const char *text) {
  buf_printf(out, id == NULL ? "<%s%s>" : "<%s id=\"%s\">", name, id == NULL ? "" : id);
  put_xml(out, text);
  buf_printf(out, "</%s>", name);
}

static const char *title_text(Arena *arena, const WindowReport *report) {
  return arena_printf(arena, "When %s can be backfilled, from %s", report->plan->shape.table,
                      words_instant(arena, report->week.zone, report->forecast.from));
}

static const char *description(Arena *arena, const WindowReport *report) {
  const Forecast *forecast = &report->forecast;
  const Zone *zone = report->week.zone;
  if (report->unknown != NULL) return arena_printf(arena, "No window can be told: %s.", report->unknown->text);
  const char *text = "Windows:";
  for (size_t i = 0; i < forecast->n; i++)
    text = arena_printf(arena, "%s%s %s until %s", text, i == 0 ? "" : ",",
                        words_clock(arena, zone, forecast->from, forecast->slots[i].window.from),
                        words_clock(arena, zone, forecast->from, forecast->slots[i].window.to));
  if (forecast->n == 0) text = "There is no window.";
  if (forecast->ends == 0) return arena_printf(arena, "%s. When the backfill would end is not known.", text);
  return arena_printf(arena, "%s. Begun then, the backfill would end about %s.", text,
                      words_instant(arena, zone, forecast->ends));
}

static void put_head(Buf *out, Arena *arena, const WindowReport *report) {
  buf_printf(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" "
             "aria-labelledby=\"title desc\">\n",
             WIDTH, HEIGHT, WIDTH, HEIGHT);
  put_element(out, "title", "title", title_text(arena, report));
  buf_putc(out, '\n');
  put_element(out, "desc", "desc", description(arena, report));
  buf_puts(out,
           "\n<style>\n"
           "text { font: 13px system-ui, sans-serif; fill: #1a1a1a }\n"
           ".head { font-weight: 600; font-size: 15px }\n"
           ".hour { font-size: 11px; fill: #555; text-anchor: middle }\n"
           ".open { fill: #fff; stroke: #b8b8b8 }\n"
           ".closed { fill: #e4e4e4 }\n"
           ".chosen { fill: url(#ticks); stroke: #0b5d2a }\n"
           ".frozen { fill: url(#hatch); stroke: #8a6d00 }\n"
           ".busy { fill: #7a1022 }\n"
           ".tick { stroke: #d0d0d0 }\n"
           "</style>\n"
           "<defs>\n"
           "<pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
           "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"#fff3c4\"/>"
           "<rect width=\"2\" height=\"6\" fill=\"#8a6d00\"/></pattern>\n"
           "<pattern id=\"ticks\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">"
           "<rect width=\"8\" height=\"8\" fill=\"#5fbf7f\"/><rect y=\"3\" width=\"8\" height=\"2\" fill=\"#0b5d2a\"/>"
           "</pattern>\n"
           "</defs>\n");
  buf_printf(out, "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n<text class=\"head\" x=\"16\" y=\"28\">", WIDTH,
             HEIGHT);
  put_xml(out, title_text(arena, report));
  buf_puts(out, "</text>\n");
}

static void put_hours(Buf *out) {
  for (int hour = 0; hour <= 24; hour += 3) {
    int x = LEFT + hour * HOUR;
    buf_printf(out, "<text class=\"hour\" x=\"%d\" y=\"%d\">%02d:00</text>\n", x, TOP - 12, hour);
    buf_printf(out, "<line class=\"tick\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>\n", x, x, TOP - 6,
               TOP + WEEK_DAYS * ROW);
  }
}

/* Where a second of the wall clock stands, in tenths of a pixel. */
static int64_t place(int64_t second) { return 10 * LEFT + second * 10 * HOUR / 3600; }

static void put_bar(Buf *out, Arena *arena, const WeekStretch *stretch, int64_t from, int64_t to, int day,
                    const char *clock) {
  int64_t x = place(from), width = place(to) - x;
  int64_t least = stretch->state == WEEK_CHOSEN ? 40 : 5; /* so that it can be seen */
  if (width < least) width = least;
  buf_printf(out, "<rect class=\"%s\" x=\"%lld.%lld\" y=\"%d\" width=\"%lld.%lld\" height=\"%d\">",
             week_word(stretch->state), (long long)(x / 10), (long long)(x % 10), TOP + day * ROW,
             (long long)(width / 10), (long long)(width % 10), BAR);
  put_element(out, "title", NULL,
              arena_printf(arena, "%s: %s%s%s", clock, week_legend(stretch->state), stretch->why == NULL ? "" : ", ",
                           stretch->why == NULL ? "" : stretch->why));
  buf_puts(out, "</rect>\n");
}

/* A stretch of one day, cut where the clock is put forward or back. */
static void put_stretch(Buf *out, Arena *arena, const Week *week, const WeekStretch *stretch, int day) {
  enum { DAY = 86400 };
  Instant from = stretch->from > week->days[day] ? stretch->from : week->days[day];
  Instant end = stretch->to < week->days[day + 1] ? stretch->to : week->days[day + 1];
  const char *clock = arena_printf(arena, "%s until %s", words_clock(arena, week->zone, 0, stretch->from),
                                   words_clock(arena, week->zone, stretch->from, stretch->to));
  while (from < end) {
    Instant begin, until;
    int offset = zone_offset_span(week->zone, from, &begin, &until);
    int64_t second = ((from + offset) % DAY + DAY) % DAY;
    Instant to = until < end ? until : end;
    put_bar(out, arena, stretch, second, second + (to - from), day, clock);
    from = to;
  }
}

static void put_legend(Buf *out, const Week *week) {
  static const int wide[WEEK_STATES_] = {90, 190, 210, 100, 180};
  int x = 16;
  for (int state = 0; state < WEEK_STATES_; state++) {
    bool used = false;
    for (size_t i = 0; i < week->n; i++) used = used || week->items[i].state == (WeekState)state;
    if (!used) continue;
    buf_printf(out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"22\" height=\"14\"/><text x=\"%d\" y=\"%d\">",
               week_word((WeekState)state), x, LEGEND - 11, x + 30, LEGEND);
    put_xml(out, week_legend((WeekState)state));
    buf_puts(out, "</text>\n");
    x += wide[state];
  }
}

void view_week_svg(Buf *out, Arena *arena, const WindowReport *report) {
  const Week *week = &report->week;
  put_head(out, arena, report);
  put_hours(out);
  for (int day = 0; day < WEEK_DAYS; day++) {
    Civil civil = zone_civil(week->zone, week->days[day]);
    const char *weekday = weekday_name(civil_weekday(civil_to_days(civil.year, civil.month, civil.day)));
    buf_printf(out, "<text x=\"16\" y=\"%d\">%s %d-%02d-%02d</text>\n", TOP + day * ROW + 16, weekday, civil.year,
               civil.month, civil.day);
    for (size_t i = 0; i < week->n; i++)
      if (week->items[i].state != WEEK_CHOSEN) put_stretch(out, arena, week, &week->items[i], day);
    for (size_t i = 0; i < week->n; i++) /* above what is beside it */
      if (week->items[i].state == WEEK_CHOSEN) put_stretch(out, arena, week, &week->items[i], day);
  }
  put_legend(out, week);
  buf_puts(out, "</svg>\n");
}
