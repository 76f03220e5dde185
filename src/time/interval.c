#include "time/interval.h"

#include <math.h>
#include <string.h>

#include "time/quantity.h"

static bool interval_next(const void *rule, Instant after, Instant *ret) {
  const Interval *interval = rule;
  Instant at = after + interval->step;
  if (interval->anchored && after < interval->from) at = interval->from;
  if (interval->anchored && after >= interval->from) at -= (after - interval->from) % interval->step;
  if (at > INSTANT_MAX) return false;
  *ret = at;
  return true;
}

void interval_rule(Arena *arena, Interval interval, DialectRule *ret) {
  Interval *rule = arena_alloc(arena, sizeof *rule);
  *rule = interval;
  ret->rule = rule;
  ret->next_instant = interval_next;
  ret->anytime = !interval.anchored;
}

static const char form[] = "write the length in one word: every 15m from 2026-01-01T00:00:00Z, every 24h from …";

/* "every 15m from 2026-01-01T00:00:00Z": first then, and again each time that so much has passed. */
static bool interval_parse(Arena *arena, const char *expression, DialectRule *ret, Error *err) {
  char *text = arena_strdup(arena, expression), *words[4], *word;
  int n = 0;
  for (char *rest = text; (word = strsep(&rest, " \t")) != NULL;)
    if (*word != '\0' && n++ < 4) words[n - 1] = word;
  if (n == 2 && strcmp(words[0], "every") == 0) {
    error_set(err, ERR_SPEC, "the interval '%.60s' does not say since when it counts, so no run can be foreseen",
              expression);
    return error_hint(err, "add the start of any run: every %s from 2026-01-01T00:00:00Z", words[1]);
  }
  if (n != 4 || strcmp(words[0], "every") != 0 || strcmp(words[2], "from") != 0) {
    error_set(err, ERR_SPEC, "the interval '%.60s' is not understood", expression);
    return error_hint(err, "%s", form);
  }
  double seconds;
  Interval interval = {.anchored = true};
  if (!duration_parse(words[1], &seconds, err)) return error_wrap(err, "the interval");
  if (!(seconds >= 1) || fmod(seconds, 1) != 0) {
    error_set(err, ERR_SPEC, "the interval '%.60s' is not a number of whole seconds", words[1]);
    return error_hint(err, "%s", form);
  }
  interval.step = (int64_t)seconds;
  Error why = {0};
  if (!instant_parse(words[3], &interval.from, &why)) {
    error_set(err, ERR_SPEC, "the start of the interval: %s", why.message);
    return error_hint(err, "%s", form);
  }
  interval_rule(arena, interval, ret);
  return true;
}

const Dialect dialect_interval = {.gap = GAP_SKIP, .overlap = OVERLAP_BOTH, .parse = interval_parse};
