#include "time/window.h"

#include <math.h>

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* What a rule closes around each fire, in seconds before and after it. Beyond 300 years nothing is told apart. */
static double closing(double seconds) {
  const double for_ever = 1e10;
  if (!(seconds < for_ever)) return for_ever;
  return seconds > 0 ? seconds : 0;
}

/* A rule's run of which the busy time [from, to) ends after the instant that was asked for. */
typedef struct Lane {
  const BusyRule *rule;
  double before, after; /* closed around a fire, in seconds */
  Instant fire, from, to;
} Lane;

static void take_fire(Lane *lane, Instant after) {
  lane->from = lane->to = INT64_MAX;
  if (lane->rule->schedule == NULL || !schedule_next_any(lane->rule->schedule, after, &lane->fire)) return;
  lane->from = (Instant)floor((double)lane->fire - lane->before);
  lane->to = (Instant)ceil((double)lane->fire + lane->after);
}

/* A run takes a second at least, so that one is never overlooked for want of figures. */
static Lane lane_at(const BusyRule *rule, Instant at) {
  double guard = closing(rule->guard);
  Lane lane = {.rule = rule, .before = guard};
  lane.after = fmax(1, closing(closing(rule->jitter) + closing(rule->p95) + guard));
  take_fire(&lane, (Instant)floor((double)at - lane.after)); /* fire + after > at, for whole seconds of fire */
  return lane;
}

/* To a run that is over after an instant that is not before the one last asked for. Where runs follow one another
 * without a second between, to a late one of those that have begun by then: a schedule may fire at every second. */
static void lane_move(Lane *lane, Instant at) {
  if (lane->to > at) return;
  take_fire(lane, (Instant)floor((double)at - lane->after));
  if (lane->from > at) return;
  Lane last = *lane;
  take_fire(&last, at + (Instant)lane->before - (Instant)((lane->before + lane->after) / 2) - 1);
  if (last.from <= at) *lane = last;
}

/* ---- days and hours ---------------------------------------------------------------------------------------------- */

static bool frozen(const WindowRules *rules, Instant at, Instant *ret_until, size_t *ret_index) {
  *ret_until = INT64_MAX;
  return rules->freezes != NULL && freeze_at(rules->freezes, at, ret_until, ret_index);
}

static bool idle(const WindowRules *rules, Instant at, Instant *ret_until) {
  *ret_until = INT64_MAX;
  return rules->idle == NULL || idle_hours_at(rules->idle, at, ret_until);
}

/* Is the instant closed by a freeze or by the idle hours, and until when at least does neither change? */
static WindowClosed calendar_at(const WindowRules *rules, Instant at, Instant *ret_until) {
  WindowClosed closed = {CLOSED_BY_NOTHING, at, 0};
  Instant until;
  if (!idle(rules, at, ret_until)) closed.by = CLOSED_BY_IDLE_HOURS;
  if (frozen(rules, at, &until, &closed.index)) closed.by = CLOSED_BY_FREEZE;
  if (until < *ret_until) *ret_until = until;
  return closed;
}

bool window_free(const WindowRules *rules, Instant start, Instant end, WindowClosed *ret) {
  WindowClosed closed = {0};
  Instant first = INT64_MAX, until;
  start = instant_clamp(start);
  end = instant_clamp(end);
  if (end <= start) end = start + 1;
  for (size_t i = 0; i < rules->n; i++) {
    Lane lane = lane_at(&rules->busy[i], start);
    if (lane.from >= end || lane.from >= first) continue;
    first = lane.from;
    closed = (WindowClosed){CLOSED_BY_RUN, lane.fire, i};
  }
  for (Instant at = start; closed.by != CLOSED_BY_RUN && at < end; at = until) {
    WindowClosed here = calendar_at(rules, at, &until);
    if (here.by != CLOSED_BY_NOTHING && (closed.by == CLOSED_BY_NOTHING || here.by < closed.by)) closed = here;
    if (closed.by == CLOSED_BY_FREEZE) break;
  }
  *ret = closed;
  return closed.by == CLOSED_BY_NOTHING;
}

/* ---- forward through time ---------------------------------------------------------------------------------------- */

/* Everything that closes windows, as it is at an instant that only moves forward. */
typedef struct Sweep {
  const WindowRules *rules;
  Lane *lanes;
} Sweep;

static Sweep sweep_begin(Arena *arena, const WindowRules *rules, Instant at) {
  Sweep sweep = {rules, arena_array(arena, rules->n, sizeof *sweep.lanes)};
  for (size_t i = 0; i < rules->n; i++) sweep.lanes[i] = lane_at(&rules->busy[i], at);
  return sweep;
}

/* What holds at the instant and, at least, until *ret_until. */
static WindowClosed sweep_at(Sweep *sweep, Instant at, Instant *ret_until) {
  *ret_until = INT64_MAX;
  for (size_t i = 0; i < sweep->rules->n; i++) {
    Lane *lane = &sweep->lanes[i];
    lane_move(lane, at);
    if (lane->from <= at) {
      if (lane->to < *ret_until) *ret_until = lane->to;
      return (WindowClosed){CLOSED_BY_RUN, lane->fire, i};
    }
    if (lane->from < *ret_until) *ret_until = lane->from;
  }
  Instant until;
  WindowClosed closed = calendar_at(sweep->rules, at, &until);
  if (until < *ret_until) *ret_until = until;
  return closed;
}

/* The first open stretch at or after `at`; false when there is none before the limit. */
static bool sweep_open(Sweep *sweep, Instant at, Instant limit, Window *ret) {
  Instant until;
  while (at < limit && sweep_at(sweep, at, &until).by != CLOSED_BY_NOTHING) at = until;
  if (at >= limit) return false;
  ret->from = at;
  while (at < limit && sweep_at(sweep, at, &until).by == CLOSED_BY_NOTHING) at = until;
  ret->to = at < limit ? at : limit;
  return true;
}

size_t window_list(Arena *arena, const WindowRules *rules, Instant after, double least, double horizon, size_t most,
                   const Window **ret) {
  Window *windows = NULL, window;
  size_t n = 0;
  after = instant_clamp(after);
  *ret = NULL;
  if (!(horizon > 0)) return 0;
  Instant limit = horizon < (double)(INSTANT_MAX - after) ? after + (Instant)horizon : INSTANT_MAX;
  Sweep sweep = sweep_begin(arena, rules, after);
  for (Instant at = after; n < most && sweep_open(&sweep, at, limit, &window); at = window.to) {
    if (!((double)(window.to - window.from) >= least)) continue;
    windows = arena_grow(arena, windows, n, sizeof *windows);
    windows[n++] = window;
  }
  *ret = windows;
  return n;
}

bool window_next(const WindowRules *rules, Instant after, double least, double horizon, Window *ret) {
  ARENA_SCOPED arena = {0};
  const Window *windows;
  if (window_list(&arena, rules, after, least, horizon, 1, &windows) == 0) return false;
  *ret = windows[0];
  return true;
}

size_t window_stretches(Arena *arena, const WindowRules *rules, Instant from, Instant to, const WindowStretch **ret) {
  WindowStretch *stretches = NULL;
  size_t n = 0;
  Instant until;
  from = instant_clamp(from);
  to = instant_clamp(to);
  Sweep sweep = sweep_begin(arena, rules, from);
  for (Instant at = from; at < to; at = until) {
    WindowClosed closed = sweep_at(&sweep, at, &until);
    if (until > to) until = to;
    if (n > 0 && stretches[n - 1].closer == closed.by && stretches[n - 1].index == closed.index) {
      stretches[n - 1].to = until;
      continue;
    }
    stretches = arena_grow(arena, stretches, n, sizeof *stretches);
    stretches[n++] = (WindowStretch){at, until, closed.by, closed.index};
  }
  *ret = stretches;
  return n;
}
