#include "time/schedule.h"

#include <string.h>

#include "base/buf.h"
#include "time/dialect.h"

struct Schedule {
  DialectRule rule;
  const char *expression;
  const Zone *zone;
};

/* The table of dialects: the name of its constant, and its name for people. */
#define DIALECTS(entry)                                                                                          \
  entry(vixie, "vixie") entry(vixie, "cronie") entry(cronie_daemon, "cronie-daemon") entry(croniter, "croniter") \
      entry(airflow, "airflow") entry(dagster, "dagster") entry(cron_parser, "cron-parser")                      \
          entry(node_cron, "node-cron") entry(jenkins, "jenkins") entry(github_actions, "github-actions")        \
              entry(robfig, "robfig") entry(kubernetes, "kubernetes") entry(quartz, "quartz") entry(aws, "aws")  \
                  entry(systemd, "systemd") entry(dbt, "dbt") entry(interval, "interval") entry(times, "times")

#define DIALECT_ADDRESS(symbol, name) &dialect_##symbol,
#define DIALECT_NAME(symbol, name) name,
static const Dialect *const dialects[] = {DIALECTS(DIALECT_ADDRESS)};

/* How schedulers read a wall-clock time that does not exist or exists twice: bits, so that readings can be united. */
enum { READ_GAP_END = 1, READ_SHIFTED = 2, READ_FIRST = 4, READ_SECOND = 8, READ_CARRIED = 16, READ_SPILLED = 32 };

/* No two offsets of a zone are further apart. */
enum { REACH = 52 * 3600 };

const char *const *schedule_dialects(void) {
  static const char *const names[] = {DIALECTS(DIALECT_NAME) NULL};
  return names;
}

static const Dialect *find_dialect(const char *name) {
  for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++)
    if (strcmp(schedule_dialects()[i], name) == 0) return dialects[i];
  return NULL;
}

static bool parse(Arena *arena, const char *name, const char *expression, const Zone *zone, bool and_days,
                  const Schedule **ret, Error *err) {
  const Dialect *dialect = find_dialect(name);
  if (dialect == NULL) {
    error_set(err, ERR_SPEC, "the schedule dialect '%.40s' is not known, so its fires cannot be predicted", name);
    BUF_SCOPED known = {0};
    for (const char *const *at = schedule_dialects(); *at != NULL; at++)
      buf_printf(&known, "%s%s", known.len == 0 ? "" : ", ", *at);
    return error_hint(err,
                      "known are %s; else write it as a vixie line that fires at least as often, or pause that job",
                      buf_text(&known));
  }
  if (and_days && !dialect->knows_and_days) {
    error_set(err, ERR_SPEC, "the %s dialect cannot be told to have both day fields match", name);
    return error_hint(err, "leave that wish out: what its two day fields mean is fixed");
  }
  DialectRule rule = {.gap = dialect->gap, .overlap = dialect->overlap, .and_days = and_days};
  if (!dialect->parse(arena, expression, &rule, err)) return false;
  if (rule.zone != NULL && !zone_open(arena, rule.zone, &zone, err))
    return error_wrap(err, "the zone that the schedule names");
  Schedule *schedule = arena_alloc(arena, sizeof *schedule);
  *schedule = (Schedule){rule, arena_strdup(arena, expression), zone};
  *ret = schedule;
  return true;
}

bool schedule_parse(Arena *arena, const char *dialect, const char *expression, const Zone *zone, const Schedule **ret,
                    Error *err) {
  return parse(arena, dialect, expression, zone, false, ret, err);
}

bool schedule_parse_and_days(Arena *arena, const char *dialect, const char *expression, const Zone *zone,
                             const Schedule **ret, Error *err) {
  return parse(arena, dialect, expression, zone, true, ret, err);
}

/* A stretch of time with one offset. */
typedef struct Span {
  Instant from, until;
  int offset;
} Span;

static Span span_at(const Zone *zone, Instant at) {
  Span span;
  span.offset = zone_offset_span(zone, at, &span.from, &span.until);
  return span;
}

/* A search, and what it found last: no wall-clock time matches from `from` on before `wall`, so that over a long time
 * without a fire the calendar is searched once and not for every change of the clock. */
typedef struct Search {
  const Schedule *schedule;
  int readings;
  int64_t from, wall;
} Search;

/* The first matching wall-clock time in [from, until), in seconds of the wall clock. */
static bool next_wall(Search *search, int64_t from, int64_t until, int64_t *ret_wall) {
  if (from < search->from || from > search->wall) {
    const DialectRule *rule = &search->schedule->rule;
    Civil civil = civil_from_seconds(from), fire;
    search->from = from;
    search->wall = rule->next(rule->rule, &civil, &fire) ? civil_to_seconds(&fire) : INT64_MAX;
  }
  *ret_wall = search->wall;
  return search->wall < until;
}

/* Do the readings wanted take this pass of the wall-clock time that the zone shows at the instant? */
static bool takes_pass(const Zone *zone, Instant at, int readings) {
  if ((readings & READ_FIRST) && (readings & READ_SECOND)) return true;
  Civil civil = zone_civil(zone, at);
  ZoneReadings passes = zone_read(zone, &civil);
  return passes.n < 2 || passes.at[readings & READ_FIRST ? 0 : 1] == at;
}

/* The first fire after `after` at a wall-clock time that the span shows. */
static bool next_shown(Search *search, const Span *span, Instant after, Instant *ret_at) {
  int64_t from = (span->from > after ? span->from : after + 1) + span->offset;
  int64_t until = span->until == INT64_MAX ? INT64_MAX : span->until + span->offset;
  for (int64_t wall; next_wall(search, from, until, &wall); from = wall + 1) {
    if (!takes_pass(search->schedule->zone, wall - span->offset, search->readings)) continue;
    *ret_at = wall - span->offset;
    return true;
  }
  return false;
}

/* The first fire after `after` that stands for a wall-clock time which the gap at the span's beginning leaves out. */
static bool next_in_gap(Search *search, const Span *span, Instant after, Instant *ret_at) {
  int readings = search->readings;
  if (span->from == INT64_MIN || !(readings & (READ_GAP_END | READ_SHIFTED))) return false;
  int before = zone_offset(search->schedule->zone, span->from - 1);
  int64_t gap_from = span->from + before, gap_until = span->from + span->offset, wall;
  if (gap_from >= gap_until) return false;
  if ((readings & READ_GAP_END) && span->from > after && next_wall(search, gap_from, gap_until, &wall)) {
    *ret_at = span->from;
    return true;
  }
  if (!(readings & READ_SHIFTED)) return false;
  int64_t from = after + 1 + before > gap_from ? after + 1 + before : gap_from;
  if (!next_wall(search, from, gap_until, &wall)) return false;
  *ret_at = wall - before;
  return true;
}

/* The fire after `after` that stands for the first wall-clock time since the span's beginning, reckoned by the offset
 * before it. */
static bool next_carried(Search *search, const Span *span, Instant after, Instant *ret_at) {
  if (span->from == INT64_MIN || !(search->readings & READ_CARRIED)) return false;
  int before = zone_offset(search->schedule->zone, span->from - 1);
  int64_t wall;
  if (!next_wall(search, span->from + before, INT64_MAX, &wall) || wall - before <= after) return false;
  *ret_at = wall - before;
  return true;
}

/* The midnight that the gap at the span's beginning leaves out, in seconds of the wall clock; false if it leaves none
 * out. */
static bool missing_midnight(const Search *search, const Span *span, int64_t *ret_wall) {
  const int64_t day = 86400;
  if (span->from == INT64_MIN) return false;
  int64_t gap_from = span->from + zone_offset(search->schedule->zone, span->from - 1);
  int64_t gap_until = span->from + span->offset, midnight = gap_until - ((gap_until % day) + day) % day;
  *ret_wall = midnight;
  return gap_from <= midnight && midnight != gap_until;
}

/* The fire after `after` that a time of the day before stands for, where there is no midnight between: on the new day,
 * at the time that it would have had. */
static bool next_spilled(Search *search, const Span *span, Instant after, Instant *ret_at) {
  const int64_t day = 86400;
  int64_t midnight, wall;
  if (!(search->readings & READ_SPILLED) || !missing_midnight(search, span, &midnight)) return false;
  int64_t from = (span->from > after ? span->from : after + 1) + span->offset;
  if (!next_wall(search, from - day, midnight, &wall)) return false;
  *ret_at = wall + day - span->offset;
  return true;
}

/* The fire after `after` that comes of not looking at the month where the 1st has no midnight: the first one of the
 * days after it. */
static bool next_unmonthed(Search *search, const Span *span, Instant after, Instant *ret_at) {
  const int64_t day = 86400;
  const DialectRule *rule = &search->schedule->rule;
  int64_t midnight;
  if (!(search->readings & READ_SPILLED) || !missing_midnight(search, span, &midnight)) return false;
  Civil first = civil_from_seconds(midnight), second = civil_from_seconds(midnight + day), fire;
  if (first.day != 1 || !rule->next(rule->spills, &second, &fire) || fire.month != first.month) return false;
  *ret_at = civil_to_seconds(&fire) - span->offset;
  return fire.year == first.year && *ret_at > after;
}

/*
 * Goes over the spans of one offset each, from one early enough for a time shifted out of a gap to be still to come.
 * In each, the search goes over the calendar of the wall clock and never by adding seconds of days.
 */
static bool next_fire(const Schedule *schedule, Instant after, int readings, Instant *ret_at) {
  if (after < INSTANT_MIN) after = INSTANT_MIN - 1;
  if (after >= INSTANT_MAX) return false;
  if (schedule->rule.next_instant != NULL) return schedule->rule.next_instant(schedule->rule.rule, after, ret_at);
  Search search = {.schedule = schedule, .readings = readings, .from = 1, .wall = 0}; /* empty: nothing found yet */
  Instant best = INT64_MAX, at;
  for (Span span = span_at(schedule->zone, after - REACH); span.from < best;
       span = span_at(schedule->zone, span.until)) {
    if (next_in_gap(&search, &span, after, &at) && at < best) best = at;
    if (next_carried(&search, &span, after, &at) && at < best) best = at;
    if (next_spilled(&search, &span, after, &at) && at < best) best = at;
    if (next_unmonthed(&search, &span, after, &at) && at < best) best = at;
    if (span.until > after && next_shown(&search, &span, after, &at) && at < best) best = at;
    if (span.until > INSTANT_MAX) break;
  }
  if (best > INSTANT_MAX) return false;
  *ret_at = best;
  return true;
}

bool schedule_next(const Schedule *schedule, Instant after, GapPolicy gap, OverlapPolicy overlap, Instant *ret_at) {
  static const int gaps[] = {[GAP_SKIP] = 0, [GAP_SHIFT] = READ_SHIFTED, [GAP_END] = READ_GAP_END};
  static const int overlaps[] = {
      [OVERLAP_FIRST] = READ_FIRST, [OVERLAP_SECOND] = READ_SECOND, [OVERLAP_BOTH] = READ_FIRST | READ_SECOND};
  const DialectRule *rule = &schedule->rule;
  gap = rule->rolling ? GAP_SKIP : gap == GAP_OWN ? rule->gap : gap;
  overlap = rule->rolling ? OVERLAP_BOTH : overlap == OVERLAP_OWN ? rule->overlap : overlap;
  return next_fire(schedule, after, gaps[gap] | overlaps[overlap], ret_at);
}

bool schedule_previous(const Schedule *schedule, Instant before, GapPolicy gap, OverlapPolicy overlap,
                       Instant *ret_at) {
  const Instant first = INSTANT_MIN - 1;
  Instant fire;
  for (int64_t reach = 60;; reach *= 2) {
    Instant from = before - reach > first ? before - reach : first;
    bool found = false;
    for (; schedule_next(schedule, from, gap, overlap, &fire) && fire < before; from = fire) {
      found = true;
      *ret_at = fire;
    }
    if (found || from == first) return found;
  }
}

bool schedule_next_any(const Schedule *schedule, Instant after, Instant *ret_at) {
  if (schedule->rule.anytime && after < INSTANT_MAX) {
    *ret_at = after < INSTANT_MIN ? INSTANT_MIN : after + 1;
    return true;
  }
  int own = (schedule->rule.carries ? READ_CARRIED : 0) | (schedule->rule.spills != NULL ? READ_SPILLED : 0);
  return next_fire(schedule, after, READ_GAP_END | READ_SHIFTED | READ_FIRST | READ_SECOND | own, ret_at);
}

const char *schedule_expression(const Schedule *schedule) { return schedule->expression; }

bool schedule_anytime(const Schedule *schedule) { return schedule->rule.anytime; }

const Zone *schedule_zone(const Schedule *schedule) { return schedule->zone; }
