#include <inttypes.h>
#include <string.h>

#include "engine/sqlite/publish.h"
#include "engine/sqlite/sqlite_sql.h"
#include "engine/sqlite/stage.h"
#include "engine/sqlite/work.h"

/* The target with every stored column given: a snapshot keeps all of a row. */
static Shape whole_shape(Arena *arena, const Shape *shape) {
  Shape whole = *shape;
  ShapeColumn *columns = arena_array(arena, shape->n, sizeof *columns);
  for (size_t i = 0; i < shape->n; i++) {
    columns[i] = shape->columns[i];
    columns[i].given = !columns[i].generated;
    columns[i].tolerance = 0;
  }
  whole.columns = columns;
  return whole;
}

static bool fingerprints_agree(Engine *base, Arena *arena, const Shape *production, const Shape *copy, DateRange range,
                               bool *ret, Error *err) {
  const DateFacts *a, *b;
  size_t n_a, n_b;
  if (!sqlite_fingerprint(base, arena, production, range, &a, &n_a, err) ||
      !sqlite_fingerprint(base, arena, copy, range, &b, &n_b, err))
    return false;
  *ret = n_a == n_b;
  for (size_t i = 0; i < n_a && *ret; i++)
    *ret = a[i].date == b[i].date && fingerprint_equal(&a[i].production, &b[i].production);
  return true;
}

bool sqlite_copy_range(EngineWriter *writer, const Shape *shape, DateRange range, Error *err) {
  ARENA_SCOPED arena = {0};
  SqliteEngine *engine = writer->engine;
  Shape whole = whole_shape(&arena, shape), copy = whole;
  ShapeSql sql;
  char name[SQLITE_OBJECT_NAME];
  if (!shape_sql(engine, &arena, &whole, &sql, err)) return false;
  sqlite_object_name(name, writer->id, "snapshot");
  copy.table = name;
  const char *columns = shape_list(&arena, shape, sql.stored, sql.n_stored, "", "");
  {
    STMT_SCOPED stmt = {0};
    bool row;
    const char *text = sql_fill(&arena, sql_snapshot_copy, "snapshot", shape_object(&arena, writer->id, "snapshot"),
                                "columns", columns, "target", sql.table, "date", sql.date, NULL);
    if (!sql_prepare(engine, text, &stmt, "copying the range", err)) return false;
    sql_bind_range(&stmt, &shape->codec, range);
    if (!sql_step(engine, &stmt, &row, "copying the range", err)) return false;
  }
  bool agree;
  if (!fingerprints_agree(&engine->base, &arena, &whole, &copy, range, &agree, err)) return false;
  if (!agree) return error_set(err, ERR_DATABASE, "the snapshot does not equal the range that it was copied from");
  return true;
}

bool sqlite_restore_range(EngineWriter *writer, const Shape *shape, DateRange range, bool skip_triggers,
                          int64_t *ret_changed, Error *err) {
  ARENA_SCOPED arena = {0};
  SqliteEngine *engine = writer->engine;
  Shape whole = whole_shape(&arena, shape);
  ShapeSql sql;
  if (!shape_sql(engine, &arena, &whole, &sql, err)) return false;
  Instant *dates = NULL;
  size_t n = 0;
  for (Instant at = range.from; at < range.to; at = grain_next(shape->codec.grain, shape->codec.zone, at)) {
    dates = arena_grow(&arena, dates, n, sizeof *dates);
    dates[n++] = at;
  }
  dates = arena_grow(&arena, dates, n, sizeof *dates);
  dates[n] = range.to;
  Job job = {.shape = &whole, .id = writer->id, .range = range, .dates = dates, .n = n};
  job.recompute = shape_range(&arena, &sql, shape_object(&arena, writer->id, "snapshot"));
  BatchFacts facts;
  if (!stage_compare(engine, &arena, &job, &facts, err)) return false;
  ChangeCounts counts = {0};
  bool *columns = arena_array(&arena, shape->n, sizeof *columns);
  for (size_t i = 0; i < facts.n; i++) {
    counts.inserts += facts.dates[i].inserts;
    counts.updates += facts.dates[i].updates;
    counts.deletes += facts.dates[i].deletes;
    counts.moves += facts.dates[i].moves_in;
  }
  for (size_t i = 0; i < shape->n; i++) columns[i] = facts.column_changes[i] > 0;
  if (skip_triggers) publish_triggers(engine, false);
  bool ok = publish_changes(engine, &sql, STAGE_TABLE, columns, counts, err);
  if (skip_triggers) publish_triggers(engine, true);
  if (ok) *ret_changed = facts.changes;
  return ok;
}

bool sqlite_compare_snapshot(Engine *base, Arena *arena, const Job *job, BatchFacts *ret, Error *err) {
  ShapeSql sql;
  Job against = *job;
  Shape old = *job->shape;
  char name[SQLITE_OBJECT_NAME];
  if (!shape_sql(sqlite_engine(base), arena, job->shape, &sql, err)) return false;
  sqlite_object_name(name, job->id, "snapshot");
  old.table = name;
  against.shape = &old;
  against.recompute = shape_range(arena, &sql, sql.table);
  against.overlay = false;
  return compare_run(sqlite_engine(base), arena, &against, NULL, ret, err);
}
