#include <string.h>

#include "engine/postgres/postgres_sql.h"
#include "engine/postgres/publish.h"

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

bool pg_copy_range(EngineWriter *writer, const Shape *shape, DateRange range, Error *err) {
  static const char doing[] = "copying the range";
  ARENA_SCOPED arena = {0};
  PgEngine *engine = writer->engine;
  PG_SCOPED equals = NULL;
  ShapeSql sql;
  if (!pg_shape_sql(engine, &arena, shape, &sql, err)) return false;
  const char *snapshot = pg_object(engine, &arena, writer->id, "snapshot");
  const char *columns = pg_shape_list(&arena, shape, sql.stored, sql.n_stored, "", "");
  const char *copy = sql_fill(&arena, sql_snapshot_copy, "snapshot", snapshot, "columns", columns, "target", sql.table,
                              "range", shape_in_range(&arena, &sql, "", range), NULL);
  const char *compare =
      sql_fill(&arena, sql_snapshot_equals, "hash", shape_hash(&arena, &sql, sql.stored, sql.n_stored, "p.", ""),
               "target", sql.table, "range", shape_in_range(&arena, &sql, "p.", range), "snapshot", snapshot, NULL);
  if (!pg_run(engine, copy, NULL, 0, NULL, doing, err) || !pg_query(engine, compare, NULL, 0, &equals, doing, err))
    return false;
  return pg_bool(equals, 0, 0) ||
         error_set(err, ERR_DATABASE, "the snapshot does not equal the range that it was copied from");
}

static const char comparing[] = "comparing with the snapshot";

/* ---- putting it back ------------------------------------------------------------------------------------------------
 */

static bool count_changes(const Publish *publish, ChangeCounts *ret, Error *err) {
  PG_SCOPED counts = NULL;
  const char *text = sql_fill(publish->arena, sql_snapshot_counts, "changes", publish->changes, NULL);
  if (!pg_query(publish->engine, text, NULL, 0, &counts, comparing, err)) return false;
  *ret = (ChangeCounts){.inserts = pg_int(counts, 0, 0),
                        .updates = pg_int(counts, 0, 1),
                        .deletes = pg_int(counts, 0, 2),
                        .moves = pg_int(counts, 0, 3)};
  return true;
}

/* How production differs from the snapshot, in a temporary table of the change set's form. */
static bool differences(const Publish *publish, const Job *job, bool *columns, ChangeCounts *ret, Error *err) {
  BatchFacts facts;
  Arena *arena = publish->arena;
  const char *create = changes_create_sql(publish->engine, arena, publish->sql, "TEMP", publish->changes);
  const char *analyze = sql_fill(arena, sql_batch_analyze, "changes", publish->changes, NULL);
  if (!pg_run(publish->engine, create, NULL, 0, NULL, comparing, err) ||
      !compare_into(publish->engine, arena, publish->sql, job, publish->changes, &facts, err) ||
      !pg_run(publish->engine, analyze, NULL, 0, NULL, comparing, err))
    return false;
  for (size_t i = 0; i < job->shape->n; i++) columns[i] = facts.column_changes[i] > 0;
  return count_changes(publish, ret, err);
}

/* A tool that deleted a row and put it in again made a new identity for it. */
static bool split_anew(const Publish *publish, bool *columns, ChangeCounts *counts, Error *err) {
  const ShapeSql *sql = publish->sql;
  Arena *arena = publish->arena;
  const bool *fixed;
  BUF_SCOPED anew = {0};
  if (!pg_publish_fixed(publish, &fixed, err)) return false;
  for (size_t i = 0; i < sql->shape->n; i++) {
    if (!fixed[i] || !columns[i]) continue;
    buf_printf(&anew, "%sn.%s IS DISTINCT FROM n.%s", anew.len == 0 ? "" : " OR ",
               shape_column(arena, sql->shape, i, "", "old_"), shape_column(arena, sql->shape, i, "", "new_"));
    columns[i] = false;
  }
  if (anew.len == 0) return true;
  const char *go = sql_fill(arena, sql_snapshot_split_delete, "changes", publish->changes, "old",
                            pg_shape_list(arena, sql->shape, sql->stored, sql->n_stored, "", "old_"), "values",
                            pg_shape_list(arena, sql->shape, sql->stored, sql->n_stored, "n.", "old_"), "anew",
                            buf_text(&anew), NULL);
  const char *come =
      sql_fill(arena, sql_snapshot_split_insert, "changes", publish->changes, "anew", buf_text(&anew), NULL);
  return pg_run(publish->engine, go, NULL, 0, NULL, comparing, err) &&
         pg_run(publish->engine, come, NULL, 0, NULL, comparing, err) && count_changes(publish, counts, err);
}

bool pg_restore_range(EngineWriter *writer, const Shape *shape, DateRange range, bool skip_triggers,
                      int64_t *ret_changed, Error *err) {
  ARENA_SCOPED arena = {0};
  PgEngine *engine = writer->engine;
  Shape whole = whole_shape(&arena, shape);
  bool *columns = arena_array(&arena, shape->n, sizeof *columns);
  ChangeCounts counts;
  const char *back;
  ShapeSql sql;
  if (!pg_shape_sql(engine, &arena, &whole, &sql, err)) return false;
  Job job = {.shape = &whole, .id = writer->id, .range = range};
  job.dates = shape_dates(&arena, &shape->codec, range, &job.n);
  job.recompute = sql_fill(
      &arena, sql_snapshot_rows, "columns", pg_shape_list(&arena, shape, sql.stored, sql.n_stored, "", ""), "table",
      pg_object(engine, &arena, writer->id, "snapshot"), "range", shape_in_range(&arena, &sql, "", range), NULL);
  const Publish publish = {engine, &arena, &sql, "pg_temp.tidegate_restore"};
  if (!differences(&publish, &job, columns, &counts, err)) return false;
  int64_t changed = counts.inserts + counts.updates + counts.deletes + counts.moves;
  if (!split_anew(&publish, columns, &counts, err) || !pg_publish_open(&publish, skip_triggers, &back, err) ||
      !pg_publish_changes(&publish, columns, counts, err) || !pg_publish_close(&publish, back, err) ||
      !pg_fence_shut(writer, shape, err))
    return false;
  *ret_changed = changed;
  return true;
}

/* ---- comparing ------------------------------------------------------------------------------------------------------
 */

/* The snapshot holds no generated columns: the target without them, and where each column was. */
static Shape without_generated(Arena *arena, const Shape *shape, size_t *from) {
  Shape stored = *shape;
  ShapeColumn *columns = arena_array(arena, shape->n, sizeof *columns);
  stored.n = 0;
  for (size_t i = 0; i < shape->n; i++) {
    if (shape->columns[i].generated) continue;
    if (i == shape->date) stored.date = stored.n;
    from[stored.n] = i;
    columns[stored.n++] = shape->columns[i];
  }
  stored.columns = columns;
  return stored;
}

static const JobScope *scope_over(Arena *arena, const Job *job, const size_t *from, size_t n) {
  JobScope *scope = arena_array(arena, job->n_scope, sizeof *scope);
  for (size_t i = 0; i < job->n_scope; i++) {
    scope[i] = job->scope[i];
    for (size_t k = 0; k < n && scope[i].kind == JOB_SCOPE_COLUMN; k++)
      if (from[k] == job->scope[i].column) scope[i].column = k;
  }
  return scope;
}

/* Facts that count by columns of `stored`, by those of the target again. */
static void back_to_target(Arena *arena, const Job *job, const size_t *from, size_t n, BatchFacts *facts) {
  int64_t *changes = arena_array(arena, job->shape->n, sizeof *changes);
  for (size_t i = 0; i < n; i++) changes[from[i]] = facts->column_changes[i];
  facts->column_changes = changes;
  Finding *findings = arena_array(arena, facts->n_findings, sizeof *findings);
  for (size_t i = 0; i < facts->n_findings; i++) {
    findings[i] = facts->findings[i];
    if (findings[i].kind == FINDING_OUT_OF_SCOPE || findings[i].kind == FINDING_NOT_NULL)
      findings[i].index = from[findings[i].index];
  }
  facts->findings = findings;
}

bool pg_compare_snapshot(Engine *base, Arena *arena, const Job *job, BatchFacts *ret, Error *err) {
  PgEngine *engine = pg_engine(base);
  size_t *from = arena_array(arena, job->shape->n, sizeof *from);
  Shape old = without_generated(arena, job->shape, from);
  Job against = *job;
  ShapeSql sql;
  BatchFacts facts;
  bool own;
  old.table = pg_object(engine, arena, job->id, "snapshot");
  against.shape = &old;
  against.scope = scope_over(arena, job, from, old.n);
  against.overlay = false;
  if (!pg_begin(engine, true, &own, comparing, err)) return false;
  bool ok = pg_shape_sql(engine, arena, &old, &sql, err);
  if (ok) {
    DateRange range = {job->dates[0], job->dates[job->n]};
    against.recompute = sql_fill(arena, sql_snapshot_rows, "columns", "*", "table", job->shape->table, "range",
                                 shape_in_range(arena, &sql, "", range), NULL);
    ok = compare_aside(engine, arena, &sql, &against, own, &facts, err);
  }
  pg_undo(engine, own);
  if (!ok) return false;
  back_to_target(arena, job, from, old.n, &facts);
  *ret = facts;
  return true;
}
