#include "time/schedule.h"

#include <string.h>

#include "time/dialect.h"

struct Schedule {
  const Dialect *dialect;
  const void *rule;
  const char *expression;
  const Zone *zone;
};

/* The table of dialects. */
#define DIALECTS(entry) entry(vixie)

#define DIALECT_ADDRESS(name) &dialect_##name,
#define DIALECT_NAME(name) #name,
static const Dialect *const dialects[] = {DIALECTS(DIALECT_ADDRESS)};

/* How schedulers read a wall-clock time that does not exist or exists twice: bits, so that readings can be united. */
enum { READ_GAP_END = 1, READ_SHIFTED = 2, READ_FIRST = 4, READ_SECOND = 8 };

/* No two offsets of a zone are further apart. */
enum { REACH = 52 * 3600 };

const char *const *schedule_dialects(void) {
  static const char *const names[] = {DIALECTS(DIALECT_NAME) NULL};
  return names;
}

static const Dialect *find_dialect(const char *name) {
  for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++)
    if (strcmp(dialects[i]->name, name) == 0) return dialects[i];
  return NULL;
}

bool schedule_parse(Arena *arena, const char *dialect, const char *expression, const Zone *zone, const Schedule **ret,
                    Error *err) {
  const Dialect *found = find_dialect(dialect);
  if (found == NULL) {
    error_set(err, ERR_SPEC, "the schedule dialect '%.40s' is not known, so its fires cannot be predicted", dialect);
    return error_hint(err, "write the schedule as a vixie line that fires at least as often, or pause that job");
  }
  const void *rule;
  if (!found->parse(arena, expression, &rule, err)) return false;
  Schedule *schedule = arena_alloc(arena, sizeof *schedule);
  *schedule = (Schedule){found, rule, arena_strdup(arena, expression), zone};
  *ret = schedule;
  return true;
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

/* The first matching wall-clock time in [from, until), in seconds of the wall clock. */
static bool next_wall(const Schedule *schedule, int64_t from, int64_t until, int64_t *ret_wall) {
  Civil civil = civil_from_seconds(from), fire;
  if (!schedule->dialect->next(schedule->rule, &civil, &fire)) return false;
  int64_t wall = civil_to_seconds(&fire);
  if (wall >= until) return false;
  *ret_wall = wall;
  return true;
}

/* Do the readings wanted take this pass of the wall-clock time that the zone shows at the instant? */
static bool takes_pass(const Zone *zone, Instant at, int readings) {
  if ((readings & READ_FIRST) && (readings & READ_SECOND)) return true;
  Civil civil = zone_civil(zone, at);
  ZoneReadings passes = zone_read(zone, &civil);
  return passes.n < 2 || passes.at[readings & READ_FIRST ? 0 : 1] == at;
}

/* The first fire after `after` at a wall-clock time that the span shows. */
static bool next_shown(const Schedule *schedule, const Span *span, Instant after, int readings, Instant *ret_at) {
  int64_t from = (span->from > after ? span->from : after + 1) + span->offset;
  int64_t until = span->until == INT64_MAX ? INT64_MAX : span->until + span->offset;
  for (int64_t wall; next_wall(schedule, from, until, &wall); from = wall + 1) {
    if (!takes_pass(schedule->zone, wall - span->offset, readings)) continue;
    *ret_at = wall - span->offset;
    return true;
  }
  return false;
}

/* The first fire after `after` that stands for a wall-clock time which the gap at the span's beginning leaves out. */
static bool next_in_gap(const Schedule *schedule, const Span *span, Instant after, int readings, Instant *ret_at) {
  if (span->from == INT64_MIN || !(readings & (READ_GAP_END | READ_SHIFTED))) return false;
  int before = zone_offset(schedule->zone, span->from - 1);
  int64_t gap_from = span->from + before, gap_until = span->from + span->offset, wall;
  if (gap_from >= gap_until) return false;
  if ((readings & READ_GAP_END) && span->from > after && next_wall(schedule, gap_from, gap_until, &wall)) {
    *ret_at = span->from;
    return true;
  }
  if (!(readings & READ_SHIFTED)) return false;
  int64_t from = after + 1 + before > gap_from ? after + 1 + before : gap_from;
  if (!next_wall(schedule, from, gap_until, &wall)) return false;
  *ret_at = wall - before;
  return true;
}

/*
 * Goes over the spans of one offset each, from one early enough for a time shifted out of a gap to be still to come.
 * In each, the search goes over the calendar of the wall clock and never by adding seconds of days.
 */
static bool next_fire(const Schedule *schedule, Instant after, int readings, Instant *ret_at) {
  if (after < INSTANT_MIN) after = INSTANT_MIN - 1;
  if (after >= INSTANT_MAX) return false;
  Instant best = INT64_MAX, at;
  for (Span span = span_at(schedule->zone, after - REACH); span.from < best;
       span = span_at(schedule->zone, span.until)) {
    if (next_in_gap(schedule, &span, after, readings, &at) && at < best) best = at;
    if (span.until > after && next_shown(schedule, &span, after, readings, &at) && at < best) best = at;
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
  return next_fire(schedule, after, gaps[gap] | overlaps[overlap], ret_at);
}

bool schedule_next_any(const Schedule *schedule, Instant after, Instant *ret_at) {
  return next_fire(schedule, after, READ_GAP_END | READ_SHIFTED | READ_FIRST | READ_SECOND, ret_at);
}

const char *schedule_expression(const Schedule *schedule) { return schedule->expression; }

const Zone *schedule_zone(const Schedule *schedule) { return schedule->zone; }
