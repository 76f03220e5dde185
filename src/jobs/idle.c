#include "jobs/idle.h"

#include <stdlib.h>

#include "base/buf.h"
#include "time/idle_hours.h"
#include "time/window.h"

enum { HOUR = 3600, DAY = 86400, WEEK_HOURS = IDLE_DAYS * IDLE_DAY_HOURS };

static const double LEAST_WEEKS = 2;

/* ---- counting ---------------------------------------------------------------------------------------------------- */

/* Hours of the week, and the Sunday before which each was met last: several runs of one week count once. */
typedef struct Counts {
  IdleEvidence *evidence;
  int64_t last[WEEK_HOURS];
} Counts;

/* Marks every hour of the wall clock that [from, to) meets. */
static void mark(Counts *counts, const Zone *zone, Instant from, Instant to) {
  while (from < to) {
    Instant begin, until;
    int64_t local = from + zone_offset_span(zone, from, &begin, &until), second = (local % DAY + DAY) % DAY;
    int64_t day = (local - second) / DAY;
    int weekday = civil_weekday(day), hour = (int)(second / HOUR);
    int64_t sunday = day - weekday, *last = &counts->last[weekday * IDLE_DAY_HOURS + hour];
    if (sunday > *last) {
      counts->evidence->busy[weekday][hour]++;
      *last = sunday;
    }
    Instant next = from + HOUR - second % HOUR;
    from = next < until ? next : until;
  }
}

/* From its scheduled fire on, unless it was caught up later; for a second at least. */
static Window time_of(const JobRun *run) {
  Instant from = run->late || run->scheduled > run->started ? run->started : run->scheduled;
  return (Window){from, run->ended > from ? run->ended : from + 1};
}

static int by_start(const void *left, const void *right) {
  const Window *a = left, *b = right;
  return a->from < b->from ? -1 : a->from > b->from;
}

static void count(Arena *arena, const JobRun *runs, size_t n, const Zone *zone, IdleEvidence *ret) {
  Counts counts = {.evidence = ret};
  Window *times = arena_array(arena, n, sizeof *times);
  for (size_t i = 0; i < WEEK_HOURS; i++) counts.last[i] = INT64_MIN;
  for (size_t i = 0; i < n; i++) times[i] = time_of(&runs[i]);
  qsort(times, n, sizeof *times, by_start);
  ret->from = times[0].from;
  for (size_t i = 0; i < n; i++) {
    if (times[i].to > ret->to) ret->to = times[i].to;
    mark(&counts, zone, times[i].from, times[i].to);
  }
  ret->runs = n;
  ret->weeks = (double)(ret->to - ret->from) / (IDLE_DAYS * DAY);
  for (int day = 0; day < IDLE_DAYS; day++)
    for (int hour = 0; hour < IDLE_DAY_HOURS; hour++) ret->idle += ret->busy[day][hour] == 0;
}

/* ---- as text ----------------------------------------------------------------------------------------------------- */

/* A stretch of idle hours and the weekdays that have it. */
typedef struct Stretch {
  int from, to; /* hours; to 24, or past midnight when it is not after from */
  unsigned days;
} Stretch;

typedef struct Stretches {
  Stretch items[WEEK_HOURS];
  size_t n;
} Stretches;

static void add(Stretches *stretches, int day, int from, int to) {
  for (size_t i = 0; i < stretches->n; i++)
    if (stretches->items[i].from == from && stretches->items[i].to == to) {
      stretches->items[i].days |= 1u << day;
      return;
    }
  stretches->items[stretches->n++] = (Stretch){from, to, 1u << day};
}

/* The first hour from `hour` on that is busy (or idle); 24 when there is none. */
static int next_hour(const int busy[IDLE_DAY_HOURS], int hour, bool idle) {
  while (hour < IDLE_DAY_HOURS && (busy[hour] == 0) != idle) hour++;
  return hour;
}

/* Does the day begin with hours that are written as the end of the night before? Not when a whole day is idle, nor when
 * that night would be longer than a day, which cannot be written as one stretch. */
static bool has_night(const IdleEvidence *evidence, int day) {
  const int *before = evidence->busy[(day + IDLE_DAYS - 1) % IDLE_DAYS];
  int ends = next_hour(evidence->busy[day], 0, false), begins = IDLE_DAY_HOURS;
  while (begins > 0 && before[begins - 1] == 0) begins--;
  return ends > 0 && begins > 0 && begins < IDLE_DAY_HOURS && ends <= begins;
}

static void collect(const IdleEvidence *evidence, Stretches *ret) {
  for (int i = 0; i < IDLE_DAYS; i++) {
    int day = (i + 1) % IDLE_DAYS, after = (day + 1) % IDLE_DAYS; /* from Monday on */
    const int *busy = evidence->busy[day];
    int hour = has_night(evidence, day) ? next_hour(busy, 0, false) : 0;
    while ((hour = next_hour(busy, hour, true)) < IDLE_DAY_HOURS) {
      int end = next_hour(busy, hour, false);
      bool over = end == IDLE_DAY_HOURS && has_night(evidence, after);
      int morning = over ? next_hour(evidence->busy[after], 0, false) : 0;
      add(ret, day, hour, over ? morning : end);
      hour = end;
    }
  }
}

/* "Mon-Fri", "Sat,Sun", "Mon,Wed"; weeks begin on Monday. Nothing for every day. */
static void put_days(Buf *out, unsigned days) {
  const char *comma = "";
  if (days == IDLE_EVERY_DAY) return;
  for (int i = 0; i < IDLE_DAYS; i++) {
    int n = 0;
    while (i + n < IDLE_DAYS && (days >> (i + n + 1) % IDLE_DAYS & 1)) n++;
    if (n == 0) continue;
    buf_printf(out, "%s%s", comma, weekday_name((i + 1) % IDLE_DAYS));
    if (n == 2) buf_printf(out, ",%s", weekday_name((i + 2) % IDLE_DAYS));
    if (n > 2) buf_printf(out, "-%s", weekday_name((i + n) % IDLE_DAYS));
    comma = ",";
    i += n;
  }
  buf_putc(out, ' ');
}

static const char *as_text(Arena *arena, const IdleEvidence *evidence) {
  Stretches stretches = {0};
  BUF_SCOPED out = {0};
  collect(evidence, &stretches);
  for (size_t i = 0; i < stretches.n; i++) {
    const Stretch *at = &stretches.items[i];
    if (i > 0) buf_puts(&out, ", ");
    put_days(&out, at->days);
    buf_printf(&out, "%02d:00-%02d:00", at->from, at->to);
  }
  return arena_strdup(arena, buf_text(&out));
}

const char *jobs_idle_hours(Arena *arena, const JobRun *runs, size_t n, const Zone *zone, IdleEvidence *ret,
                            const char **ret_why) {
  *ret = (IdleEvidence){0};
  if (n > 0) count(arena, runs, n, zone, ret);
  if (n == 0)
    *ret_why = "there are no runs";
  else if (ret->weeks < LEAST_WEEKS)
    *ret_why = arena_printf(arena, "%zu runs within %.1f days show no week: at least 14 days are needed", n,
                            ret->weeks * IDLE_DAYS);
  else if (ret->idle == 0)
    *ret_why = "in every hour of the week something ran";
  else
    return as_text(arena, ret);
  return NULL;
}

const char *jobs_idle_evidence(Arena *arena, const IdleEvidence *evidence, const Zone *zone) {
  Civil from = zone_civil(zone, evidence->from), to = zone_civil(zone, evidence->to);
  int day = 0, hour = 0, least = 0;
  for (int i = 0; i < WEEK_HOURS; i++) {
    int here = evidence->busy[i / IDLE_DAY_HOURS][i % IDLE_DAY_HOURS];
    if (here == 0 || (least > 0 && here >= least)) continue;
    least = here;
    day = i / IDLE_DAY_HOURS;
    hour = i % IDLE_DAY_HOURS;
  }
  const char *rest = least == 0 ? ""
                                : arena_printf(arena, "; least busy of the others: %s %02d:00, in %d %s",
                                               weekday_name(day), hour, least, least == 1 ? "week" : "weeks");
  return arena_printf(
      arena,
      "in %.1f weeks, %zu runs from %04d-%02d-%02d to %04d-%02d-%02d, no run met %d of the 168 hours of "
      "the week%s",
      evidence->weeks, evidence->runs, from.year, from.month, from.day, to.year, to.month, to.day, evidence->idle,
      rest);
}
