#include "engine/sqlite/publish.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "engine/sqlite/work.h"

void publish_triggers(SqliteEngine *engine, bool on) {
  sqlite3_db_config(engine->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, on ? 1 : 0, NULL);
}

/* Measured on 900,000 rows (docs/decisions): up to here row by row holds the lock for less time. */
enum { ROW_BY_ROW_MAX = 100000 };

static bool publish_miscount(const char *doing, int64_t changed, int64_t expected, Error *err) {
  return error_set(err, ERR_DRIFT, "%s: %" PRId64 " rows instead of %" PRId64 " were there to change", doing, changed,
                   expected);
}

bool publish_step(SqliteEngine *engine, const char *sql, int64_t expected, const char *doing, Error *err) {
  if (!sql_run(engine, sql, doing, err)) return false;
  int64_t changed = sqlite3_changes64(engine->db);
  return changed == expected || publish_miscount(doing, changed, expected, err);
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

/* "c1 = <before>c1, …" over the columns that change; the names behind `before` have the prefix. */
static const char *set_list(Arena *arena, const ShapeSql *sql, const bool *columns, const char *before) {
  BUF_SCOPED set = {0};
  int parameter = 0;
  for (size_t i = 0; i < sql->n_given; i++) {
    const char *name = sql->shape->columns[sql->given[i]].name;
    if (!columns[sql->given[i]]) continue;
    buf_printf(&set, "%s%s = ", set.len == 0 ? "" : ", ", sql_ident(arena, name));
    if (before == NULL)
      buf_printf(&set, "?%d", ++parameter);
    else
      buf_printf(&set, "%s%s", before, sql_ident(arena, arena_printf(arena, "new_%s", name)));
  }
  return arena_strdup(arena, buf_text(&set));
}

/* All at once: quicker when most pages of the range are touched more than once. */
static bool update_all(SqliteEngine *engine, Arena *arena, const ShapeSql *sql, const char *changes,
                       const bool *columns, int64_t expected, Error *err) {
  /* The unary plus keeps SQLite from indexing the change set and scanning production instead. */
  BUF_SCOPED match = {0};
  for (size_t i = 0; i < sql->n_key; i++) {
    const ShapeColumn *column = &sql->shape->columns[sql->key[i]];
    buf_printf(&match, "%sp.%s %s +n.%s", i == 0 ? "" : " AND ", sql_ident(arena, column->name),
               column->not_null ? "=" : "IS", sql_ident(arena, arena_printf(arena, "old_%s", column->name)));
  }
  return publish_step(engine,
                      arena_printf(arena, "UPDATE %s AS p SET %s FROM %s AS n WHERE n.op IN ('U', 'M') AND %s",
                                   sql->table, set_list(arena, sql, columns, "n."), changes, buf_text(&match)),
                      expected, "updating the rows that change", err);
}

/* Row by row: UPDATE FROM visits every page twice, which is dear while each page holds one change or two. */
static bool update_each(SqliteEngine *engine, Arena *arena, const ShapeSql *sql, const char *changes,
                        const bool *columns, int64_t expected, Error *err) {
  static const char doing[] = "updating the rows that change";
  STMT_SCOPED select = {0}, update = {0};
  BUF_SCOPED values = {0}, match = {0};
  int n = 0;
  for (size_t i = 0; i < sql->n_given; i++)
    if (columns[sql->given[i]])
      buf_printf(&values, "%s%s", n++ == 0 ? "" : ", ",
                 sql_ident(arena, arena_printf(arena, "new_%s", sql->shape->columns[sql->given[i]].name)));
  for (size_t i = 0; i < sql->n_key; i++) {
    const ShapeColumn *column = &sql->shape->columns[sql->key[i]];
    buf_printf(&values, ", %s", sql_ident(arena, arena_printf(arena, "old_%s", column->name)));
    buf_printf(&match, "%s%s %s ?%d", i == 0 ? "" : " AND ", sql_ident(arena, column->name),
               column->not_null ? "=" : "IS", ++n);
  }
  const char *read = arena_printf(arena, "SELECT %s FROM %s WHERE op IN ('U', 'M')", buf_text(&values), changes);
  const char *write = arena_printf(arena, "UPDATE %s SET %s WHERE %s", sql->table, set_list(arena, sql, columns, NULL),
                                   buf_text(&match));
  if (!sql_prepare(engine, read, &select, doing, err) || !sql_prepare(engine, write, &update, doing, err)) return false;
  int64_t changed = 0;
  for (bool row, written;; changed += sqlite3_changes64(engine->db)) {
    if (!sql_step(engine, &select, &row, doing, err)) return false;
    if (!row) break;
    for (int i = 0; i < n; i++) sqlite3_bind_value(update.handle, i + 1, sqlite3_column_value(select.handle, i));
    if (!sql_step(engine, &update, &written, doing, err)) return false;
    sqlite3_reset(update.handle);
  }
  return changed == expected || publish_miscount(doing, changed, expected, err);
}

static bool apply_updates(SqliteEngine *engine, Arena *arena, const ShapeSql *sql, const char *changes,
                          const bool *columns, int64_t expected, Error *err) {
  bool few = expected <= ROW_BY_ROW_MAX;
  return (few ? update_each : update_all)(engine, arena, sql, changes, columns, expected, err);
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
