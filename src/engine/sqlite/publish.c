#include "engine/sqlite/publish.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "engine/sqlite/work.h"

void publish_triggers(SqliteEngine *engine, bool on) {
  sqlite3_db_config(engine->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, on ? 1 : 0, NULL);
}

bool publish_step(SqliteEngine *engine, const char *sql, int64_t expected, const char *doing, Error *err) {
  if (!sql_run(engine, sql, doing, err)) return false;
  int64_t changed = sqlite3_changes64(engine->db);
  if (changed == expected) return true;
  return error_set(err, ERR_DRIFT, "%s: %" PRId64 " rows instead of %" PRId64 " were there to change", doing, changed,
                   expected);
}

/* A rowid table is reached by rowid, so that a key with NULLs is found too; WITHOUT ROWID by its key. */
const char *publish_delete_sql(Arena *arena, const ShapeSql *sql, const char *from, const char *where,
                               const char *prefix) {
  const char *match = shape_key_match(arena, sql, "p", "", "n", prefix);
  const char *rowid = sql->present + 2; /* behind "p." */
  if (rowid[0] != '"')
    return arena_printf(arena, "DELETE FROM %s WHERE %s IN (SELECT %s FROM %s AS n CROSS JOIN %s AS p ON %s WHERE %s)",
                        sql->table, rowid, sql->present, from, sql->table, match, where);
  return arena_printf(arena, "DELETE FROM %s WHERE (%s) IN (SELECT %s FROM %s AS n WHERE %s)", sql->table,
                      shape_list(arena, sql->shape, sql->key, sql->n_key, "", ""),
                      shape_list(arena, sql->shape, sql->key, sql->n_key, "n.", prefix), from, where);
}

static bool apply_deletes(SqliteEngine *engine, Arena *arena, const ShapeSql *sql, const char *changes,
                          int64_t expected, Error *err) {
  const char *text =
      sql->shape->keyed
          ? publish_delete_sql(arena, sql, changes, "n.op = 'D'", "old_")
          : arena_printf(arena, "DELETE FROM %s WHERE tidegate_date(%s) IN (SELECT DISTINCT date FROM %s)", sql->table,
                         sql->date, changes);
  return publish_step(engine, text, expected, "deleting the rows that go", err);
}

static bool apply_updates(SqliteEngine *engine, Arena *arena, const ShapeSql *sql, const char *changes,
                          const bool *columns, int64_t expected, Error *err) {
  BUF_SCOPED set = {0};
  for (size_t i = 0; i < sql->n_given; i++) {
    const char *name = sql->shape->columns[sql->given[i]].name;
    if (columns[sql->given[i]])
      buf_printf(&set, "%s%s = n.%s", set.len == 0 ? "" : ", ", sql_ident(arena, name),
                 sql_ident(arena, arena_printf(arena, "new_%s", name)));
  }
  /* The unary plus keeps SQLite from indexing the change set and scanning production instead. */
  BUF_SCOPED match = {0};
  for (size_t i = 0; i < sql->n_key; i++) {
    const ShapeColumn *column = &sql->shape->columns[sql->key[i]];
    buf_printf(&match, "%sp.%s %s +n.%s", i == 0 ? "" : " AND ", sql_ident(arena, column->name),
               column->not_null ? "=" : "IS", sql_ident(arena, arena_printf(arena, "old_%s", column->name)));
  }
  return publish_step(engine,
                      arena_printf(arena, "UPDATE %s AS p SET %s FROM %s AS n WHERE n.op IN ('U', 'M') AND %s",
                                   sql->table, buf_text(&set), changes, buf_text(&match)),
                      expected, "updating the rows that change", err);
}

static bool apply_inserts(SqliteEngine *engine, Arena *arena, const ShapeSql *sql, const char *changes,
                          int64_t expected, Error *err) {
  return publish_step(engine,
                      arena_printf(arena, "INSERT INTO %s (%s) SELECT %s FROM %s WHERE op = 'I'", sql->table,
                                   shape_list(arena, sql->shape, sql->given, sql->n_given, "", ""),
                                   shape_list(arena, sql->shape, sql->given, sql->n_given, "", "new_"), changes),
                      expected, "inserting the new rows", err);
}

bool publish_changes(SqliteEngine *engine, const ShapeSql *sql, const char *changes, const bool *columns,
                     ChangeCounts expected, Error *err) {
  ARENA_SCOPED arena = {0};
  int64_t updates = expected.updates + expected.moves;
  return (expected.deletes == 0 || (publish_no_orphans(engine, sql, changes, 'D', "old_", err) &&
                                    apply_deletes(engine, &arena, sql, changes, expected.deletes, err))) &&
         (updates == 0 || apply_updates(engine, &arena, sql, changes, columns, updates, err)) &&
         (expected.inserts == 0 || apply_inserts(engine, &arena, sql, changes, expected.inserts, err));
}

bool sqlite_apply(EngineWriter *writer, const Shape *shape, const bool *columns, ChangeCounts expected,
                  bool skip_triggers, Error *err) {
  ARENA_SCOPED arena = {0};
  SqliteEngine *engine = writer->engine;
  ShapeSql sql;
  char name[SQLITE_OBJECT_NAME];
  if (!shape_sql(engine, &arena, shape, &sql, err)) return false;
  sqlite_use_codec(engine, &shape->codec);
  sqlite_object_name(name, writer->id, "changes");
  if (skip_triggers) publish_triggers(engine, false);
  bool ok = publish_changes(engine, &sql, arena_printf(&arena, "main.\"%s\"", name), columns, expected, err);
  if (skip_triggers) publish_triggers(engine, true);
  return ok;
}

/* ---- children
 * -------------------------------------------------------------------------------------------------------- */

/* Child rows of one foreign key whose parent the change set takes away. */
static bool orphans_of(SqliteEngine *engine, Arena *arena, const ShapeSql *sql, const ForeignKeyFacts *key,
                       const char *changes, char op, const char *prefix, int64_t *ret, Error *err) {
  BUF_SCOPED match = {0};
  for (size_t i = 0; i < key->n; i++)
    buf_printf(&match, "%sk.%s = n.%s", i == 0 ? "" : " AND ", sql_ident(arena, key->child_columns[i]),
               sql_ident(arena, arena_printf(arena, "%s%s", prefix, key->parent_columns[i])));
  double n;
  if (!sqlite_number(&engine->base,
                     arena_printf(arena, "SELECT count(*) FROM %s AS n JOIN main.%s AS k ON %s WHERE n.op = '%c'",
                                  changes, sql_ident(arena, key->child), buf_text(&match), op),
                     &n, err))
    return false;
  *ret = (int64_t)n;
  return true;
}

bool publish_orphans(SqliteEngine *engine, Arena *arena, const ShapeSql *sql, const char *changes, char op,
                     const char *prefix, const char **ret_child, int64_t *ret, Error *err) {
  TableFacts facts;
  *ret_child = NULL;
  *ret = 0;
  if (!sqlite_describe_table(&engine->base, arena, sql->shape->table, &facts, err)) return false;
  for (size_t i = 0; i < facts.n_incoming; i++) {
    int64_t n;
    if (!orphans_of(engine, arena, sql, &facts.incoming[i], changes, op, prefix, &n, err)) return false;
    if (n == 0) continue;
    *ret_child = facts.incoming[i].child;
    *ret = n;
    return true;
  }
  return true;
}

bool publish_no_orphans(SqliteEngine *engine, const ShapeSql *sql, const char *changes, char op, const char *prefix,
                        Error *err) {
  ARENA_SCOPED arena = {0};
  const char *child;
  int64_t n;
  if (!publish_orphans(engine, &arena, sql, changes, op, prefix, &child, &n, err)) return false;
  if (child == NULL) return true;
  error_set(err, ERR_HELD,
            "%" PRId64 " rows of %s refer to rows that would be deleted: they would go too, or be left alone", n,
            child);
  return error_hint(err, "move or delete those rows of %s first, then try again", child);
}
