#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "plan/plan_int.h"

/* The tables that the recompute reads, and whether they still have rows for every date of the range. */

/* ---- resolving: which tables ------------------------------------------------------------------------------------- */

/* The declared sources' names as the engine spells them; what it does not know stays as it is written. */
static bool spell_declared(Arena *arena, Engine *engine, const Spec *spec, const char ***ret, Error *err) {
  const char **names = arena_array(arena, spec->n_sources, sizeof *names);
  for (size_t i = 0; i < spec->n_sources; i++) {
    TableKind kind;
    Error missing;
    names[i] = spec->sources[i].table.text;
    if (!engine->ops->find_table(engine, arena, names[i], &names[i], &kind, &missing) &&
        missing.code != ERR_NOT_FOUND) {
      *err = missing;
      return false;
    }
  }
  *ret = names;
  return true;
}

static const SpecSource *declared_source(const Spec *spec, const char *const *names, const char *table) {
  for (size_t i = 0; i < spec->n_sources; i++)
    if (plan_same_table(names[i], table)) return &spec->sources[i];
  return NULL;
}

static void add_source(Resolver *resolver, const char *table, const SpecSource *declared) {
  Plan *plan = resolver->plan;
  SourceFacts *grown = arena_grow(resolver->arena, (void *)plan->sources, plan->n_sources, sizeof *grown);
  grown[plan->n_sources++] = (SourceFacts){.table = table,
                                           .date_column = declared == NULL ? NULL : declared->column.text,
                                           .from = declared == NULL ? NULL : "spec",
                                           .dates_present = -1};
  plan->sources = grown;
}

/* A view's dates are counted only when a person names its date column; the tables that it reads stand in the list too.
 */
static bool is_countable(Resolver *resolver, const char *table, bool declared, bool *ret, Error *err) {
  const char *name;
  TableKind kind;
  Error missing;
  *ret = false;
  if (!resolver->engine->ops->find_table(resolver->engine, resolver->arena, table, &name, &kind, &missing)) {
    if (missing.code == ERR_NOT_FOUND) return true; /* a table-valued function */
    *err = missing;
    return false;
  }
  *ret = declared || kind == TABLE_ORDINARY || kind == TABLE_VIRTUAL;
  return true;
}

static bool read_sources(Resolver *resolver, const char *const *names, Error *err) {
  const QueryFacts *query = &resolver->query;
  Plan *plan = resolver->plan;
  const char **reads = arena_array(resolver->arena, query->n_reads, sizeof *reads);
  for (size_t i = 0; i < query->n_reads; i++) {
    const char *table = query->reads[i].table;
    reads[plan->n_reads++] = table;
    if (plan_same_table(table, plan->shape.table)) continue;
    const SpecSource *declared = declared_source(resolver->spec, names, table);
    bool countable;
    if (!is_countable(resolver, table, declared != NULL, &countable, err)) return false;
    if (countable) add_source(resolver, table, declared);
  }
  plan->reads = reads;
  return true;
}

/* A declared source that the recompute does not read is a slip of the pen. */
static bool check_declared(Resolver *resolver, const char *const *names, Error *err) {
  const Plan *plan = resolver->plan;
  for (size_t i = 0; i < resolver->spec->n_sources; i++) {
    const SpecText *table = &resolver->spec->sources[i].table;
    bool read = false;
    for (size_t j = 0; j < plan->n_reads; j++) read = read || plan_same_table(plan->reads[j], names[i]);
    if (read) continue;
    const char *nearest = spec_nearest(table->text, plan->reads, plan->n_reads);
    spec_error(err, &table->place, "the recompute does not read “%s”", table->text);
    if (nearest != NULL) return error_hint(err, "did you mean “%s”?", nearest);
    return error_hint(err, "it reads: %s", plan_join(resolver->arena, plan->reads, plan->n_reads));
  }
  return true;
}

bool plan_resolve_sources(Resolver *resolver, Error *err) {
  const Spec *spec = resolver->spec;
  const char **names;
  if (!spell_declared(resolver->arena, resolver->engine, spec, &names, err)) return false;
  if (resolver->plan->recompute != NULL)
    return read_sources(resolver, names, err) && check_declared(resolver, names, err);
  for (size_t i = 0; i < spec->n_sources; i++) add_source(resolver, names[i], &spec->sources[i]);
  return true;
}

/* ---- measuring: the date column ---------------------------------------------------------------------------------- */

/* One source while it is looked at. */
typedef struct Look {
  Arena *arena;
  Engine *engine;
  Plan *plan;
  TableFacts table;
  const QueryRead *read; /* the columns that the recompute reads of it; NULL for a command */
  size_t column;
  DateCodec codec;
  const char *newest; /* the column's highest value as a text; NULL: not known */
} Look;

static size_t find_column(const TableFacts *table, const char *name) {
  size_t i = 0;
  while (i < table->n_columns && strcmp(table->columns[i].name, name) != 0) i++;
  if (i < table->n_columns) return i;
  for (i = 0; i < table->n_columns && strcasecmp(table->columns[i].name, name) != 0;) i++;
  return i;
}

static bool is_read(const QueryRead *read, const char *column) {
  for (size_t i = 0; read != NULL && i < read->n; i++)
    if (strcasecmp(read->columns[i], column) == 0) return true;
  return false;
}

/* Takes a column if its dates can be told: sets the codec. */
static bool try_column(Look *look, size_t column, bool named, bool *ret, Error *err) {
  const DateCodec *target = &look->plan->shape.codec;
  DateLook seen;
  *ret = false;
  if (!plan_date_look(look->arena, look->engine, look->table.name, &look->table.columns[column], named, &seen, err))
    return false;
  if (!seen.known || (!named && !seen.looks)) return true;
  bool coarser = date_kind_grain(seen.kind) > target->grain;
  bool zoned = !date_kind_is_civil(seen.kind) && look->plan->spec.zone.text != NULL;
  DateCodec codec = {.kind = seen.kind,
                     .grain = target->grain,
                     .zone = zoned ? look->plan->day_zone : zone_utc(),
                     .separator = seen.separator};
  if (coarser || plan_bad_sample(&codec, &seen.profile) != NULL) return true;
  look->codec = codec;
  look->column = column;
  look->newest = seen.profile.highest;
  *ret = true;
  return true;
}

static bool declared_column(Look *look, SourceFacts *source, bool *ret, Error *err) {
  const Spec *spec = &look->plan->spec;
  size_t column = find_column(&look->table, source->date_column);
  if (column < look->table.n_columns) return try_column(look, column, true, ret, err);
  const char **names;
  if (!spell_declared(look->arena, look->engine, spec, &names, err)) return false;
  const SpecSource *declared = declared_source(spec, names, source->table);
  if (declared == NULL)
    return error_set(err, ERR_SPEC, "“%s” is not a column of %s", source->date_column, source->table);
  return spec_error(err, &declared->column.place, "“%s” is not a column of %s", source->date_column, source->table);
}

/* The same name as the target's date column; else the only date-like one among those that the recompute reads. */
static bool inferred_column(Look *look, SourceFacts *source, bool *ret, Error *err) {
  const Shape *shape = &look->plan->shape;
  size_t same = find_column(&look->table, shape->columns[shape->date].name), n = 0;
  if (same < look->table.n_columns && is_read(look->read, look->table.columns[same].name)) {
    source->from = "same name as the target's date column";
    if (!try_column(look, same, true, ret, err) || *ret) return *ret;
  }
  source->from = "the only date-like column that the recompute reads";
  for (size_t i = 0; i < look->table.n_columns; i++) {
    bool fits;
    Look found = *look;
    if (i == same || !is_read(look->read, look->table.columns[i].name)) continue;
    if (!try_column(&found, i, false, &fits, err)) return false;
    if (!fits || !plan_date_joins(look->codec.kind, &n, found.codec.kind)) continue;
    *look = found;
    n++;
  }
  *ret = n == 1;
  return true;
}

/* ---- measuring: the dates ---------------------------------------------------------------------------------------- */

static void read_newest(const Look *look, SourceFacts *source) {
  source->dated = look->newest != NULL && datecodec_from_written(&look->codec, look->newest, &source->newest);
}

/* The plan's range by the source's own zone: the same days by name. */
static bool source_range(const Look *look, DateRange *ret, Error *err) {
  const DateCodec *target = &look->plan->shape.codec;
  const DateRange *range = &look->plan->range;
  *ret = *range;
  if (strcmp(zone_name(target->zone), zone_name(look->codec.zone)) == 0) return true;
  char from[32], last[32], text[80];
  Instant start = grain_floor(target->grain, target->zone, range->to - 1);
  grain_label(target->grain, target->zone, range->from, from);
  grain_label(target->grain, target->zone, start, last);
  snprintf(text, sizeof text, "%s..%s", from, last);
  return date_range_parse(text, look->codec.grain, look->codec.zone, ret, err);
}

static void note_missing(Look *look, SourceFacts *source, Instant *missing, size_t index) {
  const DateRecord *date = &look->plan->dates[index];
  if (source->missing++ < PLAN_MISSING_SHOWN) missing[source->n_missing++] = date->date;
  if (date->expected > 0 && !plan_may_empty(look->plan, date->date)) source->at_risk++;
}

static bool count_source(Look *look, SourceFacts *source, Error *err) {
  ShapeColumn *columns = arena_array(look->arena, look->table.n_columns, sizeof *columns);
  for (size_t i = 0; i < look->table.n_columns; i++)
    columns[i] = (ShapeColumn){.name = look->table.columns[i].name, .type = look->table.columns[i].type, .given = true};
  Shape shape = {.table = look->table.name,
                 .columns = columns,
                 .n = look->table.n_columns,
                 .date = look->column,
                 .codec = look->codec};
  DateRange range;
  DateRecord *found;
  size_t n, at = 0;
  int64_t nulls;
  if (!source_range(look, &range, err)) return true; /* a day that does not exist there: not counted */
  if (!look->engine->ops->count_dates(look->engine, look->arena, &shape, range, NULL, &found, &n, &nulls, err))
    return false;
  Instant *missing = arena_array(look->arena, PLAN_MISSING_SHOWN, sizeof *missing), date = range.from;
  source->dates_present = 0;
  for (size_t i = 0; i < (size_t)look->plan->n_dates; i++) {
    while (at < n && found[at].date < date) at++;
    if (at < n && found[at].date == date && found[at].expected > 0)
      source->dates_present++;
    else
      note_missing(look, source, missing, i);
    date = grain_next(look->codec.grain, look->codec.zone, date);
  }
  source->dates_missing = missing;
  return true;
}

static const QueryRead *read_of(const QueryFacts *query, const char *table) {
  for (size_t i = 0; i < query->n_reads; i++)
    if (plan_same_table(query->reads[i].table, table)) return &query->reads[i];
  return NULL;
}

static bool measure_source(Arena *arena, Engine *engine, Plan *plan, const QueryFacts *query, SourceFacts *source,
                           Error *err) {
  Look look = {.arena = arena, .engine = engine, .plan = plan, .read = read_of(query, source->table)};
  bool known = false;
  if (!engine->ops->describe_table(engine, arena, source->table, &look.table, err)) return false;
  if (source->date_column != NULL ? !declared_column(&look, source, &known, err)
                                  : !inferred_column(&look, source, &known, err))
    return false;
  if (!known) {
    source->from = NULL;
    plan_warn(arena, plan, "whether %s still has rows for every date is not known: name its date column under sources",
              source->table);
    return true;
  }
  source->date_column = look.table.columns[look.column].name;
  read_newest(&look, source);
  if (!count_source(&look, source, err)) return false;
  if (source->missing > source->at_risk)
    plan_warn(arena, plan, "%s has no rows for %lld of the dates; production has none there either, or they may go",
              source->table, (long long)(source->missing - source->at_risk));
  return true;
}

bool plan_measure_sources(Arena *arena, Engine *engine, Plan *plan, Error *err) {
  QueryFacts query = {0};
  int offset;
  if (plan->recompute != NULL && !engine->ops->describe_query(engine, arena, plan->recompute, &query, &offset, err))
    return false;
  SourceFacts *sources = arena_array(arena, plan->n_sources, sizeof *sources);
  for (size_t i = 0; i < plan->n_sources; i++) {
    sources[i] = plan->sources[i];
    if (!measure_source(arena, engine, plan, &query, &sources[i], err)) return false;
  }
  plan->sources = sources;
  return true;
}
