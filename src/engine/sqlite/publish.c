#include "engine/sqlite/publish.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "engine/sqlite/sqlite_sql.h"
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
const char *publish_delete_sql(Arena *arena, const ShapeSql *sql, const char *changes, const char *of,
                               const char *prefix) {
  const char *rowid = sql->present + 2; /* behind "p." */
  if (rowid[0] != '"')
    return sql_fill(arena, sql_publish_delete_by_rowid, "target", sql->table, "rowid", rowid, "present", sql->present,
                    "changes", changes, "match", shape_key_match(arena, sql, "p.", "", "n.", prefix), "of", of, NULL);
  return sql_fill(arena, sql_publish_delete_by_key, "target", sql->table, "key",
                  shape_list(arena, sql->shape, sql->key, sql->n_key, "", ""), "changed_key",
                  shape_list(arena, sql->shape, sql->key, sql->n_key, "n.", prefix), "changes", changes, "of", of,
                  NULL);
}

static bool apply_deletes(SqliteEngine *engine, Arena *arena, const ShapeSql *sql, const char *changes,
                          int64_t expected, Error *err) {
  const char *text = sql->shape->keyed ? publish_delete_sql(arena, sql, changes, sql_publish_deletes, "old_")
                                       : sql_fill(arena, sql_publish_delete_dates, "target", sql->table, "date",
                                                  sql->date, "changes", changes, NULL);
  return publish_step(engine, text, expected, "deleting the rows that go", err);
}

/* All at once: quicker when most pages of the range are touched more than once. */
static bool update_all(SqliteEngine *engine, Arena *arena, const ShapeSql *sql, const char *changes,
                       const bool *columns, int64_t expected, Error *err) {
  const char *text =
      sql_fill(arena, sql_publish_update_all, "target", sql->table, "set", shape_set(arena, sql, columns, "n.", "new_"),
               "changes", changes, "match", shape_key_match(arena, sql, "p.", "", SHAPE_NO_INDEX "n.", "old_"), NULL);
  return publish_step(engine, text, expected, "updating the rows that change", err);
}

/* Row by row: UPDATE FROM visits every page twice, which is dear while each page holds one change or two. */
static bool update_each(SqliteEngine *engine, Arena *arena, const ShapeSql *sql, const char *changes,
                        const bool *columns, int64_t expected, Error *err) {
  static const char doing[] = "updating the rows that change";
  STMT_SCOPED select = {0}, update = {0};
  BUF_SCOPED values = {0}, set = {0}, match = {0};
  int n = 0;
  for (size_t i = 0; i < sql->n_given; i++) {
    const char *name = sql->shape->columns[sql->given[i]].name;
    if (!columns[sql->given[i]]) continue;
    const char *comma = n++ == 0 ? "" : ", ";
    buf_printf(&values, "%s%s", comma, sql_ident(arena, arena_printf(arena, "new_%s", name)));
    buf_printf(&set, "%s%s = ?%d", comma, sql_ident(arena, name), n);
  }
  for (size_t i = 0; i < sql->n_key; i++) {
    const ShapeColumn *column = &sql->shape->columns[sql->key[i]];
    buf_printf(&values, ", %s", sql_ident(arena, arena_printf(arena, "old_%s", column->name)));
    buf_printf(&match, "%s%s %s ?%d", i == 0 ? "" : " AND ", sql_ident(arena, column->name),
               column->not_null ? "=" : "IS", ++n);
  }
  const char *read = sql_fill(arena, sql_publish_updates, "values", buf_text(&values), "changes", changes, NULL);
  const char *write = sql_fill(arena, sql_publish_update_one, "target", sql->table, "set", buf_text(&set), "match",
                               buf_text(&match), NULL);
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

const char *publish_insert_sql(Arena *arena, const ShapeSql *sql, const char *table, const char *changes) {
  return sql_fill(arena, sql_publish_insert, "table", table, "given",
                  shape_list(arena, sql->shape, sql->given, sql->n_given, "", ""), "new",
                  shape_list(arena, sql->shape, sql->given, sql->n_given, "", "new_"), "changes", changes, NULL);
}

static bool apply_inserts(SqliteEngine *engine, Arena *arena, const ShapeSql *sql, const char *changes,
                          int64_t expected, Error *err) {
  return publish_step(engine, publish_insert_sql(arena, sql, sql->table, changes), expected, "inserting the new rows",
                      err);
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

/* A rollback brings rows back whole, so what was written to their other columns meanwhile must not be missing. Without
 * a key whole rows are drift. */
static bool keep_rest(SqliteEngine *engine, Arena *arena, const ShapeSql *sql, const char *changes, Error *err) {
  BUF_SCOPED rest = {0}, differ = {0};
  if (sql->n_rest == 0 || !sql->shape->keyed) return true;
  for (size_t i = 0; i < sql->n_rest; i++) {
    const char *column = sql->shape->columns[sql->rest[i]].name, *now = sql_ident(arena, column);
    const char *old = sql_ident(arena, arena_printf(arena, "old_%s", column));
    buf_printf(&rest, "%s%s = p.%s", i == 0 ? "" : ", ", old, now);
    buf_printf(&differ, "%sn.%s IS NOT p.%s OR typeof(n.%s) <> typeof(p.%s)", i == 0 ? "" : " OR ", old, now, old, now);
  }
  const char *text =
      sql_fill(arena, sql_publish_keep_rest, "changes", changes, "rest", buf_text(&rest), "target", sql->table, "match",
               shape_key_match(arena, sql, "p.", "", SHAPE_NO_INDEX "n.", "old_"), "differ", buf_text(&differ), NULL);
  return sql_run(engine, text, "keeping what was written to the other columns", err);
}

/* The other columns of a new row are the database's own doing: what it put there belongs to the new side too. */
static bool note_rest(SqliteEngine *engine, Arena *arena, const ShapeSql *sql, const char *changes, Error *err) {
  if (sql->n_rest == 0) return true;
  const char *text = sql_fill(arena, sql_publish_note_rest, "changes", changes, "target", sql->table, "old",
                              shape_list(arena, sql->shape, sql->rest, sql->n_rest, "", "old_"), "rest",
                              shape_list(arena, sql->shape, sql->rest, sql->n_rest, "p.", ""), "match",
                              shape_key_match(arena, sql, "p.", "", "n.", "new_"), NULL);
  return sql_run(engine, text, "noting what the database gave the new rows", err);
}

bool sqlite_apply(EngineWriter *writer, const Shape *shape, const bool *columns, ChangeCounts expected,
                  bool skip_triggers, Error *err) {
  ARENA_SCOPED arena = {0};
  SqliteEngine *engine = writer->engine;
  ShapeSql sql;
  if (!shape_sql(engine, &arena, shape, &sql, err)) return false;
  sqlite_use_codec(engine, &shape->codec);
  const char *changes = shape_object(&arena, writer->id, "changes");
  if (!keep_rest(engine, &arena, &sql, changes, err)) return false;
  if (skip_triggers) publish_triggers(engine, false);
  bool ok = publish_changes(engine, &sql, changes, columns, expected, err) &&
            (expected.inserts == 0 || note_rest(engine, &arena, &sql, changes, err));
  if (skip_triggers) publish_triggers(engine, true);
  return ok;
}

/* ---- children ---------------------------------------------------------------------------------------------------- */

/* Child rows of one foreign key whose parent the change set takes away. */
static bool orphans_of(SqliteEngine *engine, Arena *arena, const ShapeSql *sql, const ForeignKeyFacts *key,
                       const char *changes, char op, const char *prefix, int64_t *ret, Error *err) {
  BUF_SCOPED match = {0};
  for (size_t i = 0; i < key->n; i++)
    buf_printf(&match, "%sk.%s = n.%s", i == 0 ? "" : " AND ", sql_ident(arena, key->child_columns[i]),
               sql_ident(arena, arena_printf(arena, "%s%s", prefix, key->parent_columns[i])));
  const char *text = sql_fill(arena, sql_publish_orphans, "changes", changes, "child", sql_ident(arena, key->child),
                              "match", buf_text(&match), "op", (char[]){op, '\0'}, NULL);
  double n;
  if (!sqlite_number(&engine->base, text, &n, err)) return false;
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
