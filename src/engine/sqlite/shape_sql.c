#include "engine/sqlite/shape_sql.h"

#include <inttypes.h>
#include <strings.h>

#include "engine/sqlite/sqlite_sql.h"

static bool column_named(const Shape *shape, const char *name) {
  for (size_t i = 0; i < shape->n; i++)
    if (strcasecmp(shape->columns[i].name, name) == 0) return true;
  return false;
}

/* A row identity that no left join leaves NULL for a row that exists: the rowid under a name that no column took, or a
 * key column. */
static const char *present_expression(Arena *arena, const Shape *shape, bool rowid) {
  static const char *const names[] = {"_rowid_", "rowid", "oid"};
  for (size_t i = 0; rowid && i < 3; i++)
    if (!column_named(shape, names[i])) return arena_printf(arena, "p.%s", names[i]);
  for (size_t i = 0; i < shape->n; i++)
    if (shape->columns[i].key && shape->columns[i].not_null)
      return arena_printf(arena, "p.%s", sql_ident(arena, shape->columns[i].name));
  return NULL;
}

static bool table_kind(SqliteEngine *engine, const char *table, bool *ret_rowid, bool *ret_strict, Error *err) {
  STMT_SCOPED stmt = {0};
  bool row;
  if (!sql_prepare(engine, sql_shape_kind, &stmt, "looking at the target", err)) return false;
  sql_bind_text(&stmt, ":name", table);
  if (!sql_step(engine, &stmt, &row, "looking at the target", err)) return false;
  if (!row) return error_set(err, ERR_NOT_FOUND, "there is no table %s in the database", table);
  *ret_rowid = sqlite3_column_int(stmt.handle, 0);
  *ret_strict = sqlite3_column_int(stmt.handle, 1);
  return true;
}

bool shape_sql(SqliteEngine *engine, Arena *arena, const Shape *shape, ShapeSql *ret, Error *err) {
  bool rowid = true, strict = false;
  if (!table_kind(engine, shape->table, &rowid, &strict, err)) return false;
  Affinity *affinity = arena_array(arena, shape->n, sizeof *affinity);
  size_t *given = arena_array(arena, shape->n, sizeof *given), *stored = arena_array(arena, shape->n, sizeof *stored),
         *key = arena_array(arena, shape->n, sizeof *key), *rest = arena_array(arena, shape->n, sizeof *rest);
  ShapeSql sql = {.shape = shape, .affinity = affinity, .given = given, .stored = stored, .key = key, .rest = rest};
  for (size_t i = 0; i < shape->n; i++) {
    const ShapeColumn *column = &shape->columns[i];
    affinity[i] = affinity_of_type(column->type, strict);
    if (column->generated) continue;
    stored[sql.n_stored++] = i;
    if (column->given)
      given[sql.n_given++] = i;
    else
      rest[sql.n_rest++] = i;
    if (column->key) key[sql.n_key++] = i;
  }
  sql.table = arena_printf(arena, "main.%s", sql_ident(arena, shape->table));
  sql.date = sql_ident(arena, shape->columns[shape->date].name);
  sql.present = present_expression(arena, shape, rowid);
  if (shape->keyed && sql.present == NULL)
    return error_set(err, ERR_SPEC, "every name of the rowid of %s is taken by a column and no key column is NOT NULL",
                     shape->table);
  *ret = sql;
  return true;
}

const char *shape_list(Arena *arena, const Shape *shape, const size_t *columns, size_t n, const char *before,
                       const char *prefix) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < n; i++)
    buf_printf(&out, "%s%s%s", i == 0 ? "" : ", ", before,
               sql_ident(arena, arena_printf(arena, "%s%s", prefix, shape->columns[columns[i]].name)));
  return arena_strdup(arena, buf_text(&out));
}

const char *shape_parameters(Arena *arena, size_t n) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < n; i++) buf_puts(&out, i == 0 ? "?" : ", ?");
  return arena_strdup(arena, buf_text(&out));
}

const char *shape_set(Arena *arena, const ShapeSql *sql, const bool *columns, const char *before, const char *prefix) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < sql->n_given; i++) {
    const char *name = sql->shape->columns[sql->given[i]].name;
    if (columns[sql->given[i]])
      buf_printf(&out, "%s%s = %s%s", out.len == 0 ? "" : ", ", sql_ident(arena, name), before,
                 sql_ident(arena, arena_printf(arena, "%s%s", prefix, name)));
  }
  return arena_strdup(arena, buf_text(&out));
}

const char *shape_key_match(Arena *arena, const ShapeSql *sql, const char *left, const char *left_prefix,
                            const char *right, const char *right_prefix) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < sql->n_key; i++) {
    const ShapeColumn *column = &sql->shape->columns[sql->key[i]];
    buf_printf(&out, "%s%s%s %s %s%s", i == 0 ? "" : " AND ", left,
               sql_ident(arena, arena_printf(arena, "%s%s", left_prefix, column->name)), column->not_null ? "=" : "IS",
               right, sql_ident(arena, arena_printf(arena, "%s%s", right_prefix, column->name)));
  }
  return arena_strdup(arena, buf_text(&out));
}

/* The new side of a change row over all stored columns: what is not given stays as it was. */
static const char *new_side(Arena *arena, const ShapeSql *sql) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < sql->n_stored; i++) {
    const ShapeColumn *column = &sql->shape->columns[sql->stored[i]];
    buf_printf(&out, "%sc.%s", i == 0 ? "" : ", ",
               sql_ident(arena, arena_printf(arena, "%s%s", column->given ? "new_" : "old_", column->name)));
  }
  return arena_strdup(arena, buf_text(&out));
}

const char *shape_object(Arena *arena, const char *id, const char *role) {
  char name[SQLITE_OBJECT_NAME];
  sqlite_object_name(name, id, role);
  return arena_printf(arena, "main.%s", sql_ident(arena, name));
}

const char *shape_range(Arena *arena, const ShapeSql *sql, const char *table) {
  return sql_fill(arena, sql_shape_range, "table", table, "date", sql->date, NULL);
}

const char *shape_overlay(Arena *arena, const ShapeSql *sql, const char *id, Instant before) {
  const char *until = arena_printf(arena, "%" PRId64, before);
  const char *changes = shape_object(arena, id, "changes");
  const char *untouched =
      sql->shape->keyed
          ? sql_fill(arena, sql_shape_untouched_by_key, "changes", changes, "match",
                     shape_key_match(arena, sql, "o.", "old_", "p.", ""), "before", until, NULL)
          : sql_fill(arena, sql_shape_untouched_by_date, "changes", changes, "date", sql->date, "before", until, NULL);
  return sql_fill(arena, sql_shape_overlay, "columns",
                  shape_list(arena, sql->shape, sql->stored, sql->n_stored, "p.", ""), "target", sql->table,
                  "untouched", untouched, "new", new_side(arena, sql), "changes", changes, "before", until, NULL);
}
