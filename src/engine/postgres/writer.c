#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/postgres/postgres_sql.h"
#include "engine/postgres/way.h"

/* ---- transactions
 * ---------------------------------------------------------------------------------------------------- */

/* An open transaction may wait for its client this long: a frozen one lets go of its locks then (law 9). */
static const double IDLE_IN_TRANSACTION = 5;

bool pg_writer_open(Engine *base, const GatePass *pass, const char *id, int64_t epoch, EngineWriter **ret, Error *err) {
  if (pass == NULL) return error_set(err, ERR_DENIED, "nothing is written without the gate's pass");
  EngineWriter *writer = calloc(1, sizeof *writer);
  if (writer == NULL) error_out_of_memory();
  writer->engine = pg_engine(base);
  writer->epoch = epoch;
  snprintf(writer->id, sizeof writer->id, "%s", id);
  *ret = writer;
  return true;
}

void pg_writer_close(EngineWriter *writer) {
  if (writer == NULL) return;
  pg_op_abort(writer);
  free(writer);
}

static bool set_limits(PgEngine *engine, TxnLimits limits, Error *err) {
  char lock[24], statement[24], idle[24];
  snprintf(lock, sizeof lock, "%.0f", limits.lock_wait * 1000);
  snprintf(statement, sizeof statement, "%.0f", limits.hold * 1000);
  snprintf(idle, sizeof idle, "%.0f", IDLE_IN_TRANSACTION * 1000);
  return pg_run(engine, sql_objects_limits, (const char *const[]){lock, statement, idle}, 3, NULL,
                "setting the limits of a transaction", err);
}

bool pg_op_begin(EngineWriter *writer, TxnLimits limits, Error *err) {
  PgEngine *engine = writer->engine;
  bool waits = false;
  if (!pg_begin(engine, limits.snapshot, &writer->open, "beginning", err)) return false;
  bool (*guard)(PgEngine *, const char *, int64_t, Error *) = limits.shared ? pg_ledger_guard_shared : pg_ledger_guard;
  if (set_limits(engine, limits, err) && guard(engine, writer->id, writer->epoch, err)) {
    if (limits.fence == NULL || pg_fence(engine, limits.fence, limits.insist, err)) {
      engine->writer_open = true;
      writer->insist = limits.insist;
      return true;
    }
    waits = err->code == ERR_LOCKED && strcmp(pg_sqlstate(engine), "55P03") == 0;
  }
  pg_op_abort(writer);
  if (waits) pg_fence_name_blockers(engine, limits.fence, err);
  return false;
}

bool pg_op_commit(EngineWriter *writer, Error *err) {
  bool own = writer->open;
  writer->open = writer->engine->writer_open = false;
  return pg_end(writer->engine, own, true, "committing", err);
}

void pg_op_abort(EngineWriter *writer) {
  bool own = writer->open;
  writer->open = writer->engine->writer_open = false;
  pg_undo(writer->engine, own);
}

/* ---- objects
 * ------------------------------------------------------------------------------------------------------------ */

static const char making[] = "making the backfill's table";

static const char *storage(const PgEngine *engine, Arena *arena, const char *options) {
  return arena_printf(arena, "%s%s%s", options, engine->tablespace == NULL ? "" : " TABLESPACE ",
                      engine->tablespace == NULL ? "" : sql_ident(arena, engine->tablespace));
}

const char *changes_create_sql(const PgEngine *engine, Arena *arena, const ShapeSql *sql, const char *kind,
                               const char *table) {
  BUF_SCOPED columns = {0};
  for (size_t i = 0; i < sql->n_stored + sql->n_given; i++) {
    bool is_old = i < sql->n_stored;
    size_t column = is_old ? sql->stored[i] : sql->given[i - sql->n_stored];
    buf_printf(&columns, ", %s %s%s", shape_column(arena, sql->shape, column, "", is_old ? "old_" : "new_"),
               sql->columns[column].type, sql->columns[column].collate);
  }
  const char *place =
      strcmp(kind, "TEMP") == 0 ? " ON COMMIT DROP" : storage(engine, arena, " WITH (autovacuum_enabled = off)");
  return sql_fill(arena, sql_objects_changes, "kind", kind, "table", table, "columns", buf_text(&columns), "storage",
                  place, NULL);
}

/* A table like production's: names, types, collations and NOT NULL of all its columns but the generated ones. */
static const char *copy_create_sql(const PgEngine *engine, Arena *arena, const ShapeSql *sql, const char *kind,
                                   const char *table) {
  BUF_SCOPED columns = {0};
  for (size_t i = 0; i < sql->n_stored; i++) {
    const ShapeColumn *column = &sql->shape->columns[sql->stored[i]];
    const PgColumn *facts = &sql->columns[sql->stored[i]];
    buf_printf(&columns, "%s%s %s%s%s", i == 0 ? "" : ", ", facts->name, facts->type, facts->collate,
               column->not_null && column->given ? " NOT NULL" : "");
  }
  return sql_fill(arena, sql_objects_copy, "kind", kind, "table", table, "columns", buf_text(&columns), "storage",
                  storage(engine, arena, ""), NULL);
}

const char *writer_mark(Arena *arena, const EngineWriter *writer, const ShapeSql *sql, const char *name) {
  char mark[33];
  const char *text = arena_printf(arena, "%s %s %s", writer->id, name, sql->table);
  hash_hex(text, strlen(text), mark);
  return sql_literal(
      arena, arena_printf(arena, "Tidegate: made for backfill %s of %s, mark %s", writer->id, sql->shape->table, mark));
}

bool writer_note_object(EngineWriter *writer, Arena *arena, const ShapeSql *sql, const char *name, const char *role,
                        bool view, Error *err) {
  PgEngine *engine = writer->engine;
  ObjectRecord object = {.name = name, .role = role};
  const char *mark = sql_fill(arena, sql_objects_mark, "kind", view ? "VIEW" : "TABLE", "table", name, "text",
                              writer_mark(arena, writer, sql, name), NULL);
  return pg_run(engine, mark, NULL, 0, NULL, "marking the backfill's table", err) &&
         pg_object_identity(&engine->base, arena, name, &object.identity, err) &&
         pg_ledger_object_add(engine, writer->id, &object, err);
}

bool writer_copy(EngineWriter *writer, Arena *arena, const ShapeSql *sql, const char *kind, const char *table,
                 const char *role, Error *err) {
  return pg_run(writer->engine, copy_create_sql(writer->engine, arena, sql, kind, table), NULL, 0, NULL, making, err) &&
         writer_note_object(writer, arena, sql, table, role, false, err);
}

bool changes_create(EngineWriter *writer, Arena *arena, const ShapeSql *sql, Error *err) {
  const char *table = pg_object(writer->engine, arena, writer->id, "changes");
  return pg_run(writer->engine, changes_create_sql(writer->engine, arena, sql, "", table), NULL, 0, NULL, making,
                err) &&
         writer_note_object(writer, arena, sql, table, "changes", false, err);
}

bool pg_create(EngineWriter *writer, const Shape *shape, const char *role, Error *err) {
  ARENA_SCOPED arena = {0};
  PgEngine *engine = writer->engine;
  ShapeSql sql;
  if (!pg_shape_sql(engine, &arena, shape, &sql, err)) return false;
  if (strcmp(role, "changes") == 0) return pg_way(shape)->create(writer, &arena, &sql, err);
  bool unlogged = engine->unlogged && strcmp(role, "shadow") == 0;
  const char *table = pg_object(engine, &arena, writer->id, role);
  const char *index = sql_fill(&arena, sql_objects_index_date, "table", table, "date", sql.date, NULL);
  return writer_copy(writer, &arena, &sql, unlogged ? "UNLOGGED" : "", table, role, err) &&
         pg_run(engine, index, NULL, 0, NULL, making, err);
}

/* Views stand on the tables that come after them. */
static bool drop_object(PgEngine *engine, Arena *arena, const char *name, Error *err) {
  static const char doing[] = "dropping the backfill's table";
  int64_t views;
  return pg_number(engine, sql_objects_is_view, &name, 1, &views, doing, err) &&
         pg_run(engine, sql_fill(arena, sql_objects_drop, "kind", views > 0 ? "VIEW" : "TABLE", "table", name, NULL),
                NULL, 0, NULL, doing, err);
}

bool pg_drop(EngineWriter *writer, const char *role, Error *err) {
  ARENA_SCOPED arena = {0};
  PgEngine *engine = writer->engine;
  const ObjectRecord *objects;
  size_t n;
  if (!pg_ledger_objects(&engine->base, &arena, writer->id, &objects, &n, err)) return false;
  for (size_t i = 0; i < n; i++) {
    if (strcmp(objects[i].role, role) != 0 || objects[i].dropped_at != 0) continue;
    const char *identity;
    if (!pg_object_identity(&engine->base, &arena, objects[i].name, &identity, err)) return false;
    if (identity != NULL && (objects[i].identity == NULL || strcmp(identity, objects[i].identity) != 0)) {
      error_set(err, ERR_STATE, "%s is not the table that this backfill made: it was altered or made anew",
                objects[i].name);
      return error_hint(err, "look at it, and drop it by hand if it is not needed");
    }
    if (identity != NULL && !drop_object(engine, &arena, objects[i].name, err)) return false;
    if (!pg_ledger_object_dropped(engine, writer->id, objects[i].name, err)) return false;
  }
  return true;
}
