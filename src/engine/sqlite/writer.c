#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/sqlite/sqlite_sql.h"
#include "engine/sqlite/stage.h"
#include "engine/sqlite/work.h"

/* ---- transactions ------------------------------------------------------------------------------------------------ */

bool sqlite_writer_open(Engine *base, const GatePass *pass, const char *id, int64_t epoch, EngineWriter **ret,
                        Error *err) {
  if (pass == NULL) return error_set(err, ERR_DENIED, "nothing is written without the gate's pass");
  SqliteEngine *engine = sqlite_engine(base);
  EngineWriter *writer = calloc(1, sizeof *writer);
  if (writer == NULL) error_out_of_memory();
  writer->engine = engine;
  writer->epoch = epoch;
  snprintf(writer->id, sizeof writer->id, "%s", id);
  *ret = writer;
  return true;
}

void sqlite_writer_close(EngineWriter *writer) {
  if (writer == NULL) return;
  sqlite_abort(writer);
  free(writer);
}

bool sqlite_begin(EngineWriter *writer, TxnLimits limits, Error *err) {
  SqliteEngine *engine = writer->engine;
  if (!watchdog_arm(engine, limits.lock_wait + limits.hold, err)) return false;
  sqlite3_busy_timeout(engine->db, (int)(limits.lock_wait * 1000));
  writer->open = sql_run(engine, sql_session_begin_write, "waiting for the write lock", err);
  sqlite_deadline(engine, limits.hold);
  if (writer->open && sqlite_ledger_guard(engine, writer->id, writer->epoch, err)) return true;
  sqlite_abort(writer);
  return false;
}

static void closed(EngineWriter *writer) {
  writer->open = false;
  sqlite_deadline(writer->engine, 0);
  sqlite3_busy_timeout(writer->engine->db, SQLITE_LOCK_WAIT);
  watchdog_disarm(writer->engine);
}

bool sqlite_commit(EngineWriter *writer, Error *err) {
  if (!sql_run(writer->engine, sql_session_commit, "committing", err)) {
    sqlite_abort(writer);
    return false;
  }
  closed(writer);
  return true;
}

void sqlite_abort(EngineWriter *writer) {
  Error ignored;
  sqlite_deadline(writer->engine, 0);
  if (writer->open && !sqlite3_get_autocommit(writer->engine->db))
    sql_run(writer->engine, sql_session_rollback, "rolling back", &ignored);
  closed(writer);
}

/* ---- objects ----------------------------------------------------------------------------------------------------- */

/* A table like production's: names, affinities and NOT NULL of all its columns but the generated ones. */
static const char *copy_create_sql(Arena *arena, const ShapeSql *sql, const char *table) {
  BUF_SCOPED columns = {0};
  for (size_t i = 0; i < sql->n_stored; i++) {
    const ShapeColumn *column = &sql->shape->columns[sql->stored[i]];
    buf_printf(&columns, "%s%s %s%s", i == 0 ? "" : ", ", sql_ident(arena, column->name),
               affinity_word(sql->affinity[sql->stored[i]]), column->not_null && column->given ? " NOT NULL" : "");
  }
  return sql_fill(arena, sql_objects_create_copy, "table", table, "columns", buf_text(&columns), NULL);
}

bool sqlite_create(EngineWriter *writer, const Shape *shape, const char *role, Error *err) {
  static const char doing[] = "making the backfill's table";
  ARENA_SCOPED arena = {0};
  SqliteEngine *engine = writer->engine;
  ShapeSql sql;
  char name[SQLITE_OBJECT_NAME];
  if (!shape_sql(engine, &arena, shape, &sql, err)) return false;
  sqlite_object_name(name, writer->id, role);
  bool changes = strcmp(role, "changes") == 0;
  const char *table = shape_object(&arena, writer->id, role);
  const char *create = changes ? stage_create_sql(&arena, &sql, table) : copy_create_sql(&arena, &sql, table);
  const char *index = sql_ident(&arena, arena_printf(&arena, "%s_date", name));
  if (!sql_run(engine, create, doing, err)) return false;
  if (!changes && !sql_run(engine,
                           sql_fill(&arena, sql_objects_index_date, "index", index, "table", sql_ident(&arena, name),
                                    "date", sql.date, NULL),
                           doing, err))
    return false;
  ObjectRecord object = {.name = arena_strdup(&arena, name), .role = role};
  return sqlite_object_identity(&engine->base, &arena, name, &object.identity, err) &&
         sqlite_ledger_object_add(engine, writer->id, &object, err);
}

bool sqlite_drop(EngineWriter *writer, const char *role, Error *err) {
  ARENA_SCOPED arena = {0};
  SqliteEngine *engine = writer->engine;
  const ObjectRecord *objects;
  size_t n;
  if (!sqlite_ledger_objects(&engine->base, &arena, writer->id, &objects, &n, err)) return false;
  for (size_t i = 0; i < n; i++) {
    if (strcmp(objects[i].role, role) != 0 || objects[i].dropped_at != 0) continue;
    const char *identity;
    if (!sqlite_object_identity(&engine->base, &arena, objects[i].name, &identity, err)) return false;
    if (identity != NULL && (objects[i].identity == NULL || strcmp(identity, objects[i].identity) != 0)) {
      error_set(err, ERR_STATE, "%s is not the table that this backfill made: it was altered or made anew",
                objects[i].name);
      return error_hint(err, "look at it, and drop it by hand if it is not needed");
    }
    if (identity != NULL &&
        !sql_run(engine, sql_fill(&arena, sql_objects_drop, "table", sql_ident(&arena, objects[i].name), NULL),
                 "dropping the backfill's table", err))
      return false;
    if (!sqlite_ledger_object_dropped(engine, writer->id, objects[i].name, err)) return false;
  }
  return true;
}
