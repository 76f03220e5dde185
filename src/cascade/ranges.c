#include <stdio.h>
#include <string.h>

#include "cascade/cascade.h"

/* Which dates of a child are recomputed, and which must be reproduced. */

/* How many dates beside the range are held against their recompute: enough that a date forgotten behind it is seen. */
static int control_dates(Grain grain) {
  static const int dates[] = {
      [GRAIN_HOUR] = 24, [GRAIN_DAY] = 7, [GRAIN_WEEK] = 4, [GRAIN_MONTH] = 2, [GRAIN_YEAR] = 1};
  return dates[grain];
}

static Instant ceiling(const DateCodec *codec, Instant at) {
  Instant floor = grain_floor(codec->grain, codec->zone, at);
  return floor == at ? at : grain_next(codec->grain, codec->zone, floor);
}

static Instant today(const DateCodec *codec, Instant now) {
  /* A civil day is over when it is over everywhere that counts: the gate judges that; here it only must not be begun.
   */
  return grain_floor(codec->grain, codec->zone, now);
}

/* The dates of [range) that have rows: the first and the end of the last; from == to: none. */
static bool find_rows(Arena *arena, Engine *engine, const Shape *shape, DateRange range, DateRange *ret, Error *err) {
  DateRecord *dates = NULL;
  size_t n = 0;
  int64_t nulls;
  *ret = (DateRange){range.from, range.from};
  if (range.from >= range.to) return true;
  if (!engine->ops->count_dates(engine, arena, shape, range, NULL, &dates, &n, &nulls, err)) return false;
  if (n == 0) return true;
  *ret = (DateRange){dates[0].date, dates[0].date};
  for (size_t i = 0; i < n; i++) {
    if (dates[i].date < ret->from) ret->from = dates[i].date;
    Instant end = grain_next(shape->codec.grain, shape->codec.zone, dates[i].date);
    if (end > ret->to) ret->to = end;
  }
  return true;
}

static bool never_null(const TableFacts *table, const char *column) {
  for (size_t i = 0; i < table->n_columns; i++)
    if (strcmp(table->columns[i].name, column) == 0) return table->columns[i].not_null;
  return false;
}

bool cascade_keyed(const TableFacts *table) {
  for (size_t i = 0; i < table->n_columns; i++)
    if (table->columns[i].primary > 0) return true;
  for (size_t i = 0; i < table->n_indexes; i++) {
    const IndexFacts *index = &table->indexes[i];
    bool fits = index->unique && !index->partial && !index->expression && index->n > 0;
    for (size_t k = 0; k < index->n && fits; k++) fits = never_null(table, index->columns[k]);
    if (fits) return true;
  }
  return false;
}

/* Its job makes no dates before `begin`, unless somebody told it others: then they are there. */
static bool from_begin(Arena *arena, Engine *engine, const CascadeStep *step, const CascadeChild *child,
                       DateRange *range, Error *err) {
  const DateCodec *codec = &child->shape->codec;
  Civil civil = {0};
  DateRange rows;
  if (child->begin == NULL || sscanf(child->begin, "%4d-%2d-%2d", &civil.year, &civil.month, &civil.day) != 3)
    return true;
  Instant begin = grain_floor(codec->grain, codec->zone, zone_first(codec->zone, &civil));
  if (range->from >= begin) return true;
  DateRange before = {range->from, range->to < begin ? range->to : begin};
  if (!find_rows(arena, engine, child->shape, before, &rows, err)) return false;
  if (rows.to > rows.from) return true;
  range->from = before.to;
  if (range->from < range->to) return true;
  error_set(err, ERR_SPEC, "%s has no date in the range: its job makes those from %s on", step->node->name,
            child->begin);
  return error_hint(err, "nothing of it is wrong: tidegate cascade --done %s PLAN", step->node->name);
}

bool cascade_range(Arena *arena, Engine *engine, const CascadeStep *step, const CascadeChild *child, DateRange *ret,
                   Error *err) {
  const LineageNode *node = step->node;
  const DateCodec *codec = &child->shape->codec;
  Instant now;
  DateRange range = node->range;
  if (!node->ranged) {
    error_set(err, ERR_SPEC, "which dates of %s are wrong is not known%s%s", node->name, node->why == NULL ? "" : ": ",
              node->why == NULL ? "" : node->why);
    return error_hint(err, "say it in tidegate.yaml: lineage: {overrides: {%s: {grain: …, window: …}}}", node->name);
  }
  if (!engine->ops->now(engine, &now, err)) return false;
  range.from = grain_floor(codec->grain, codec->zone, range.from);
  range.to = ceiling(codec, range.to);
  if (range.to >= today(codec, now)) {
    /* What is wrong up to today ends with the last date that there is; the rest its own job has yet to make. */
    DateRange rows;
    range.to = today(codec, now);
    if (!find_rows(arena, engine, child->shape, range, &rows, err)) return false;
    if (rows.to > rows.from) range.to = rows.to;
  }
  if (range.to <= range.from)
    return error_set(err, ERR_SPEC, "no date of %s in the range is over yet: its own job makes them", node->name);
  if (!from_begin(arena, engine, step, child, &range, err)) return false;
  *ret = range;
  return true;
}

bool cascade_control(Arena *arena, Engine *engine, const CascadeChild *child, DateRange range, DateRange *ret,
                     Error *err) {
  const DateCodec *codec = &child->shape->codec;
  int n = control_dates(codec->grain);
  Instant now, before = range.from;
  DateRange rows;
  if (!engine->ops->now(engine, &now, err)) return false;
  DateRange behind = {range.to, range.to};
  for (int i = 0; i < n; i++) behind.to = grain_next(codec->grain, codec->zone, behind.to);
  if (behind.to > today(codec, now)) behind.to = today(codec, now);
  if (!find_rows(arena, engine, child->shape, behind, &rows, err)) return false;
  if (rows.from < rows.to) {
    *ret = (DateRange){range.to, rows.to};
    return true;
  }
  for (int i = 0; i < n; i++) before = grain_floor(codec->grain, codec->zone, before - 1);
  if (!find_rows(arena, engine, child->shape, (DateRange){before, range.from}, &rows, err)) return false;
  *ret = (DateRange){rows.from, rows.from < rows.to ? range.from : rows.from};
  return true;
}
