#include "view/words.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
static const char *const weekdays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

const char *words_count(Arena *arena, int64_t n, const char *one, const char *many) {
  return arena_printf(arena, "%" PRId64 " %s", n, n == 1 ? one : many);
}

const char *words_city(Arena *arena, const Zone *zone) {
  const char *name = zone_name(zone), *slash = strrchr(name, '/');
  char *city = arena_strdup(arena, slash == NULL ? name : slash + 1);
  for (char *c = city; *c != '\0'; c++)
    if (*c == '_') *c = ' ';
  return city;
}

const char *words_clock(Arena *arena, const Zone *zone, Instant now, Instant at) {
  Civil then = zone_civil(zone, at), here = zone_civil(zone, now);
  int64_t day = civil_to_days(then.year, then.month, then.day);
  if (day == civil_to_days(here.year, here.month, here.day))
    return arena_printf(arena, "%02d:%02d", then.hour, then.minute);
  const char *year = then.year == here.year ? "" : arena_printf(arena, "%d ", then.year);
  return arena_printf(arena, "%s %d %s %s%02d:%02d", weekdays[civil_weekday(day)], then.day, months[then.month - 1],
                      year, then.hour, then.minute);
}

const char *words_instant(Arena *arena, const Zone *zone, Instant at) {
  Civil civil = zone_civil(zone, at);
  return arena_printf(arena, "%04d-%02d-%02d %02d:%02d %s", civil.year, civil.month, civil.day, civil.hour,
                      civil.minute, words_city(arena, zone));
}

/* Four digits in a row. */
static bool has_year(const char *text) {
  int run = 0;
  for (; *text != '\0' && run < 4; text++) run = isdigit((unsigned char)*text) ? run + 1 : 0;
  return run == 4;
}

const char *words_range(Arena *arena, const Plan *plan, DateRange range) {
  const DateCodec *codec = &plan->shape.codec;
  char label[96];
  date_range_label(&range, codec->grain, codec->zone, label);
  Civil end = zone_civil(codec->zone, plan->range.to - 1);
  size_t length = strlen(label);
  const char *year = arena_printf(arena, " %d", end.year);
  size_t tail = strlen(year);
  /* A label with one year only: "25–31 Jan 2013", not "28 Dec 2012 – 2 Jan 2013". */
  if (length > tail && strcmp(label + length - tail, year) == 0) {
    label[length - tail] = '\0';
    if (strpbrk(label, " ") == NULL || has_year(label)) label[length - tail] = ' ';
  }
  return arena_strdup(arena, label);
}

const char *words_date(Arena *arena, const Plan *plan, Instant date) {
  const DateCodec *codec = &plan->shape.codec;
  return words_range(arena, plan, (DateRange){date, grain_next(codec->grain, codec->zone, date)});
}

const Zone *words_zone(const Plan *plan) {
  for (size_t i = 0; i < plan->clock.n; i++)
    if (plan->clock.rules[i].schedule != NULL) return schedule_zone(plan->clock.rules[i].schedule);
  if (plan->clock.has_idle) return plan->clock.idle.zone;
  return plan->shape.codec.zone;
}

int64_t words_change_total(const ChangeCounts *counts) {
  return counts->inserts + counts->updates + counts->deletes + counts->moves;
}

const char *words_changes(Arena *arena, const ChangeCounts *counts) {
  const struct {
    int64_t n;
    const char *one, *many;
  } kinds[] = {{counts->inserts, "insert", "inserts"},
               {counts->updates, "update", "updates"},
               {counts->deletes, "delete", "deletes"},
               {counts->moves, "move to another date", "moves to another date"}};
  int64_t total = words_change_total(counts);
  const char *text = words_count(arena, total, "change", "changes");
  const char *separator = ": ";
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (kinds[i].n == 0) continue;
    text = arena_printf(arena, "%s%s%s", text, separator, words_count(arena, kinds[i].n, kinds[i].one, kinds[i].many));
    separator = ", ";
  }
  return text;
}

const char *words_duration(Arena *arena, double seconds) {
  char text[32];
  duration_label(seconds, text);
  return arena_strdup(arena, text);
}

const char *words_size(Arena *arena, int64_t bytes) {
  char text[32];
  size_label(bytes, text);
  return arena_strdup(arena, text);
}
