#include <string.h>

#include "lineage/readers.h"

/*
 * What each node needs. A person's word on it wins; then its kind and materialization decide. Its own dates come from
 * those of its parents, in this order: a window lets a date of a parent show in later dates, what accumulates shows it
 * in all up to today, and the child's grain widens both ends to its borders.
 */

typedef struct NeedsRule {
  const char *kind;            /* NULL: any */
  const char *materialization; /* NULL: any */
  const char *strategy;        /* NULL: any */
  Needs needs;
  const char *why;
} NeedsRule;

/* The first that fits. Materializations before kinds: a dbt model says by that what it is. */
static const NeedsRule rules[] = {
    {"test", NULL, NULL, NEEDS_FOLLOWS, "it is asked anew whenever it runs"},
    {"exposure", NULL, NULL, NEEDS_PERSON, "whoever looks at it has to be told, and what was sent out stays as it was"},
    {"dashboard", NULL, NULL, NEEDS_PERSON, "what it keeps and what people took from it is not known"},
    {"export", NULL, NULL, NEEDS_PERSON, "what was sent out stays as it was"},
    {"ml feature", NULL, NULL, NEEDS_PERSON, "a model was trained on the old rows"},
    {"metric", NULL, NULL, NEEDS_FOLLOWS, "it is computed when it is asked for"},
    {"semantic model", NULL, NULL, NEEDS_FOLLOWS, "it is computed when it is asked for"},
    {"saved query", "export", NULL, NEEDS_REBUILD, "it writes tables: its exports"},
    {"saved query", NULL, NULL, NEEDS_FOLLOWS, "it is computed when it is asked for"},
    {"snapshot", NULL, NULL, NEEDS_PERSON, "it keeps history: the wrong rows stay in it as what was true then"},
    {NULL, "snapshot", NULL, NEEDS_PERSON, "it keeps history: the wrong rows stay in it as what was true then"},
    {NULL, "ephemeral", NULL, NEEDS_FOLLOWS, "it is a part of the SQL of what reads it"},
    {NULL, "view", NULL, NEEDS_FOLLOWS, NULL},
    {NULL, "materialized_view", NULL, NEEDS_REFRESH, NULL},
    {NULL, "incremental", "append", NEEDS_CASCADE, "append only: to run its job again would double the rows"},
    {NULL, "incremental", "merge", NEEDS_CASCADE,
     "upsert only: to run its job again leaves rows whose key is gone from the parents"},
    {NULL, "incremental", "microbatch", NEEDS_CASCADE, NULL},
    {NULL, "incremental", "insert_overwrite", NEEDS_CASCADE, NULL},
    {NULL, "incremental", "delete+insert", NEEDS_CASCADE,
     "to run its job again leaves rows whose key is gone from the parents"},
    {NULL, "incremental", NULL, NEEDS_CASCADE, NULL},
    {NULL, "table", NULL, NEEDS_REBUILD, NULL},
    {"view", NULL, NULL, NEEDS_FOLLOWS, NULL},
    {"materialized view", NULL, NULL, NEEDS_REFRESH, NULL},
};

static bool fits(const char *wanted, const char *is) {
  return wanted == NULL || (is != NULL && strcmp(wanted, is) == 0);
}

static const NeedsRule *rule_of(const GraphNode *node) {
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (fits(rules[i].kind, node->kind) && fits(rules[i].materialization, node->materialization) &&
        fits(rules[i].strategy, node->strategy))
      return &rules[i];
  return NULL;
}

static void judge_need(const NeedsCase *given, LineageNode *ret) {
  const GraphNode *node = given->node;
  const NeedsRule *rule = rule_of(node);
  ret->needs = rule != NULL ? rule->needs : NEEDS_UNKNOWN;
  ret->why = rule != NULL ? rule->why : NULL;
  if (node->disabled) {
    ret->needs = NEEDS_NOTHING;
    ret->why = "it is disabled";
  } else if (node->needs != NULL) {
    if (needs_of(node->needs) != ret->needs) ret->why = NULL;
    ret->needs = needs_of(node->needs);
  } else if (rule == NULL && node->range_from != NULL) {
    ret->needs = NEEDS_CASCADE; /* how its dates come about is known, so they can be recomputed */
  }
  if (node->needs == NULL && ret->needs == NEEDS_CASCADE && node->whole != NULL) {
    ret->needs = NEEDS_REBUILD;
    ret->why = arena_printf(given->arena, "no range of it will do: %s", node->whole);
  }
}

/* `n` dates of the grain after the border `at`. */
static Instant dates_later(Grain grain, const Zone *zone, Instant at, int n) {
  for (int i = 0; i < n; i++) at = grain_next(grain, zone, at);
  return at;
}

/* `n` days before the day that holds `at`. */
static Instant days_earlier(const Zone *zone, Instant at, int n) {
  at = grain_floor(GRAIN_DAY, zone, at);
  for (int i = 0; i < n; i++) at = grain_floor(GRAIN_DAY, zone, at - 1);
  return at;
}

static Instant ceiling(Grain grain, const Zone *zone, Instant at) {
  Instant floor = grain_floor(grain, zone, at);
  return floor == at ? at : grain_next(grain, zone, floor);
}

static void judge_range(const NeedsCase *given, LineageNode *ret) {
  const GraphNode *node = given->node;
  const LineageAsk *ask = given->ask;
  ret->assumed = given->assumed || node->range_from == NULL;
  if (!given->ranged || given->range.from >= given->range.to) return;
  if (node->whole != NULL) return; /* any date of it may be wrong */
  ret->ranged = true;
  ret->grain = node->has_grain ? node->grain : given->grain;
  Instant to = given->range.to;
  if (node->window_days > 0)
    to = dates_later(GRAIN_DAY, ask->zone, ceiling(GRAIN_DAY, ask->zone, to), node->window_days);
  Instant from = given->range.from;
  if (node->earlier_days > 0) from = days_earlier(ask->zone, from, node->earlier_days);
  ret->range.from = grain_floor(ret->grain, ask->zone, from);
  ret->range.to = ceiling(ret->grain, ask->zone, to);
  int later = node->window > node->lookback ? node->window : node->lookback;
  ret->range.to = dates_later(ret->grain, ask->zone, ret->range.to, later);
  if (!node->cumulative && !node->reads_itself) return;
  if (ask->now == 0) {
    ret->ranged = false;
    return;
  }
  /* The date that is not over is its own job's. */
  Instant today = grain_floor(ret->grain, ask->zone, ask->now);
  if (today > ret->range.to) ret->range.to = today;
}

/* known false: nobody asked for a range, so what its dates are is not known. */
static const char *counted(Arena *arena, int n, Grain grain, bool known) {
  return arena_printf(arena, "%d %s%s", n, known ? grain_name(grain) : "date", n == 1 ? "" : "s");
}

/* Why its range is not its parents'. */
static void explain_range(const NeedsCase *given, LineageNode *ret) {
  const GraphNode *node = given->node;
  Grain grain = node->has_grain ? node->grain : given->grain;
  bool known = node->has_grain || given->ask->ranged;
  const char *more = NULL;
  if (node->whole != NULL && ret->needs != NEEDS_REBUILD)
    more = "any date of it may change";
  else if (node->cumulative)
    more = "it accumulates: everything up to today";
  else if (node->reads_itself)
    more = "it reads its own rows before: everything up to today";
  else if (node->window > 0)
    more = arena_printf(given->arena, "a row reads %s before it as well",
                        counted(given->arena, node->window, grain, known));
  else if (node->window_days > 0)
    more = arena_printf(given->arena, "a row reads %s before it as well",
                        counted(given->arena, node->window_days, GRAIN_DAY, true));
  else if (node->lookback > 0)
    more = arena_printf(given->arena, "it looks back %s", counted(given->arena, node->lookback, grain, known));
  if (node->earlier_days > 0 && node->whole == NULL) {
    const char *behind = arena_printf(given->arena, "a row may read %s behind it",
                                      counted(given->arena, node->earlier_days, GRAIN_DAY, true));
    more = more == NULL ? behind : arena_printf(given->arena, "%s; %s", more, behind);
  }
  if (more == NULL) return;
  if (node->range_from != NULL) more = arena_printf(given->arena, "%s (by %s)", more, node->range_from);
  ret->why = ret->why == NULL ? more : arena_printf(given->arena, "%s; %s", ret->why, more);
}

void needs_judge(const NeedsCase *given, LineageNode *ret) {
  judge_need(given, ret);
  if (ret->needs == NEEDS_NOTHING) return;
  judge_range(given, ret);
  explain_range(given, ret);
}
