#include <inttypes.h>
#include <string.h>

#include "engine/sqlite/publish.h"
#include "engine/sqlite/work.h"

/*
 * Taking a swap back by its kept rows. First every row of the change set is held against production as it is now; what
 * is no longer as the swap left it is a conflict, put down in temp.tidegate_conflict (change = rowid in the change
 * set).
 */
#define CONFLICTS "temp.tidegate_conflict"

typedef struct Revert {
  SqliteEngine *engine;
  Arena *arena;
  ShapeSql sql;
  const char *changes;
  size_t max_examples;
  Conflicts found;
  Stmt insert;
} Revert;

static bool revert_init(Revert *revert, const Shape *shape, const char *id, Error *err) {
  char name[SQLITE_OBJECT_NAME];
  sqlite_object_name(name, id, "changes");
  revert->changes = arena_printf(revert->arena, "main.\"%s\"", name);
  sqlite_use_codec(revert->engine, &shape->codec);
  return shape_sql(revert->engine, revert->arena, shape, &revert->sql, err) &&
         sql_run(revert->engine, "DROP TABLE IF EXISTS " CONFLICTS, "looking for later writes", err) &&
         sql_run(revert->engine, "CREATE TEMP TABLE tidegate_conflict (change INTEGER PRIMARY KEY)",
                 "looking for later writes", err) &&
         sql_prepare(revert->engine, "INSERT OR IGNORE INTO " CONFLICTS " SELECT ?1", &revert->insert,
                     "looking for later writes", err);
}

static bool conflict(Revert *revert, Stmt *stmt, const char *what, Error *err) {
  bool row;
  sqlite3_bind_int64(revert->insert.handle, 1, sqlite3_column_int64(stmt->handle, 0));
  bool ok = sql_step(revert->engine, &revert->insert, &row, "looking for later writes", err);
  sqlite3_reset(revert->insert.handle);
  if (revert->found.count++ >= (int64_t)revert->max_examples) return ok;
  const Shape *shape = revert->sql.shape;
  BUF_SCOPED key = {0};
  char label[32];
  grain_label(shape->codec.grain, shape->codec.zone, sqlite3_column_int64(stmt->handle, 2), label);
  for (size_t i = 0; i < revert->sql.n_key; i++) {
    const char *text = sql_text(revert->arena, stmt, (int)(4 + i));
    buf_printf(&key, "%s%s", i == 0 ? "" : ", ", text == NULL ? "NULL" : text);
  }
  revert->found.rows = arena_grow(revert->arena, (void *)revert->found.rows, revert->found.n, sizeof(Conflict));
  ((Conflict *)revert->found.rows)[revert->found.n++] = (Conflict){
      what, arena_strdup(revert->arena, label), shape->keyed ? arena_strdup(revert->arena, buf_text(&key)) : NULL};
  return ok;
}

/* Is production's row (columns from `at`) still the new side (columns behind it)? */
static bool as_left(const Revert *revert, Stmt *stmt, size_t at) {
  size_t n = revert->sql.n_given;
  bool same = true;
  for (size_t i = 0; i < n && same; i++) {
    Value now, then;
    Affinity affinity = revert->sql.affinity[revert->sql.given[i]];
    value_read(stmt->handle, (int)(at + i), affinity, &now);
    value_read(stmt->handle, (int)(at + n + i), affinity, &then);
    same = value_equal(&now, &then, 0);
    values_release(&now, 1);
    values_release(&then, 1);
  }
  return same;
}

static bool judge(Revert *revert, Stmt *stmt, Error *err) {
  char op = (char)sqlite3_column_text(stmt->handle, 1)[0];
  bool present = sqlite3_column_type(stmt->handle, 3) != SQLITE_NULL;
  if (op == 'D') return !present || conflict(revert, stmt, "arrived since", err);
  if (!present) return conflict(revert, stmt, "vanished since", err);
  return as_left(revert, stmt, 4 + revert->sql.n_key) || conflict(revert, stmt, "changed since", err);
}

/* Columns: rowid, op, date, present, key …, production's given …, new given … */
static bool judge_ops(Revert *revert, const char *ops, const char *prefix, Error *err) {
  STMT_SCOPED stmt = {0};
  const ShapeSql *sql = &revert->sql;
  Arena *arena = revert->arena;
  const char *text = arena_printf(
      arena, "SELECT n.rowid, n.op, n.date, %s, %s, %s, %s FROM %s AS n LEFT JOIN %s AS p ON %s WHERE n.op IN (%s)",
      sql->present, shape_list(arena, sql->shape, sql->key, sql->n_key, "n.", prefix),
      shape_list(arena, sql->shape, sql->given, sql->n_given, "p.", ""),
      shape_list(arena, sql->shape, sql->given, sql->n_given, "n.", "new_"), revert->changes, sql->table,
      shape_key_match(arena, sql, "p", "", "n", prefix), ops);
  if (!sql_prepare(revert->engine, text, &stmt, "looking for later writes", err)) return false;
  for (bool row;;) {
    if (!sql_step(revert->engine, &stmt, &row, "looking for later writes", err)) return false;
    if (!row) return true;
    if (!judge(revert, &stmt, err)) return false;
  }
}

/* Without a key a whole date is as the swap left it, or it is a conflict. */
static bool judge_dates(Revert *revert, Error *err) {
  STMT_SCOPED stmt = {0};
  const ShapeSql *sql = &revert->sql;
  const char *now = shape_list(revert->arena, sql->shape, sql->given, sql->n_given, "p.", "");
  const char *then = shape_list(revert->arena, sql->shape, sql->given, sql->n_given, "n.", "new_");
  const char *text = arena_printf(
      revert->arena,
      "SELECT n.rowid, n.op, n.date FROM %s AS n WHERE n.date IN (SELECT at FROM (SELECT 1 AS side, "
      "tidegate_date(p.%s) AS at, %s FROM "
      "%s AS p WHERE tidegate_date(p.%s) IN (SELECT date FROM %s) UNION ALL SELECT -1, n.date, %s FROM %s AS n WHERE "
      "n.op = 'I') "
      "GROUP BY at%s HAVING sum(side) <> 0)",
      revert->changes, sql->date, now, sql->table, sql->date, revert->changes, then, revert->changes,
      arena_printf(revert->arena, ", %s", shape_list(revert->arena, sql->shape, sql->given, sql->n_given, "", "")));
  if (!sql_prepare(revert->engine, text, &stmt, "looking for later writes", err)) return false;
  for (bool row;;) {
    if (!sql_step(revert->engine, &stmt, &row, "looking for later writes", err)) return false;
    if (!row) return true;
    if (!conflict(revert, &stmt, "changed since", err)) return false;
  }
}

static bool find_conflicts(Revert *revert, Error *err) {
  if (!revert->sql.shape->keyed) return judge_dates(revert, err);
  return judge_ops(revert, "'U', 'M', 'D'", "old_", err) && judge_ops(revert, "'I'", "new_", err);
}

bool sqlite_conflicts(Engine *base, Arena *arena, const Shape *shape, const char *id, size_t max_examples,
                      Conflicts *ret, Error *err) {
  Revert revert = {.engine = sqlite_engine(base), .arena = arena, .max_examples = max_examples};
  bool ok = revert_init(&revert, shape, id, err) && find_conflicts(&revert, err);
  stmt_finalize(&revert.insert);
  if (ok) *ret = revert.found;
  return ok;
}

/* ---- putting the old rows back
 * ------------------------------------------------------------------------------------------- */

static bool count_ops(Revert *revert, const char *ops, const char *where, int64_t *ret, Error *err) {
  double n;
  if (!sqlite_number(&revert->engine->base,
                     arena_printf(revert->arena, "SELECT count(*) FROM %s AS n WHERE n.op IN (%s) AND %s",
                                  revert->changes, ops, where),
                     &n, err))
    return false;
  *ret = (int64_t)n;
  return true;
}

static bool delete_inserted(Revert *revert, const char *where, Error *err) {
  int64_t n;
  if (!count_ops(revert, "'I'", where, &n, err)) return false;
  if (n == 0) return true;
  const char *condition = arena_printf(revert->arena, "n.op = 'I' AND %s", where);
  return publish_no_orphans(revert->engine, &revert->sql, revert->changes, 'I', "new_", err) &&
         publish_step(revert->engine,
                      publish_delete_sql(revert->arena, &revert->sql, revert->changes, condition, "new_"), n,
                      "taking the new rows away", err);
}

static bool update_back(Revert *revert, const bool *columns, const char *where, Error *err) {
  int64_t n;
  if (!count_ops(revert, "'U', 'M'", where, &n, err)) return false;
  if (n == 0) return true;
  const ShapeSql *sql = &revert->sql;
  BUF_SCOPED set = {0}, match = {0};
  for (size_t i = 0; i < sql->n_given; i++) {
    const char *name = sql->shape->columns[sql->given[i]].name;
    if (columns[sql->given[i]])
      buf_printf(&set, "%s%s = n.%s", set.len == 0 ? "" : ", ", sql_ident(revert->arena, name),
                 sql_ident(revert->arena, arena_printf(revert->arena, "old_%s", name)));
  }
  for (size_t i = 0; i < sql->n_key; i++) {
    const ShapeColumn *column = &sql->shape->columns[sql->key[i]];
    buf_printf(&match, "%sp.%s %s +n.%s", i == 0 ? "" : " AND ", sql_ident(revert->arena, column->name),
               column->not_null ? "=" : "IS",
               sql_ident(revert->arena, arena_printf(revert->arena, "old_%s", column->name)));
  }
  return publish_step(
      revert->engine,
      arena_printf(revert->arena, "UPDATE %s AS p SET %s FROM %s AS n WHERE n.op IN ('U', 'M') AND %s AND %s",
                   sql->table, buf_text(&set), revert->changes, buf_text(&match), where),
      n, "putting the old values back", err);
}

static bool insert_back(Revert *revert, const char *ops, const char *where, Error *err) {
  int64_t n;
  if (!count_ops(revert, ops, where, &n, err)) return false;
  if (n == 0) return true;
  const ShapeSql *sql = &revert->sql;
  return publish_step(
      revert->engine,
      arena_printf(revert->arena, "INSERT INTO %s (%s) SELECT %s FROM %s AS n WHERE n.op IN (%s) AND %s", sql->table,
                   shape_list(revert->arena, sql->shape, sql->stored, sql->n_stored, "", ""),
                   shape_list(revert->arena, sql->shape, sql->stored, sql->n_stored, "n.", "old_"), revert->changes,
                   ops, where),
      n, "putting the old rows back", err);
}

/* Where a later write stands in the way and is to give way: whatever has the key now goes, and the kept row comes. */
static bool overwrite_conflicts(Revert *revert, Error *err) {
  static const char where[] = "n.rowid IN (SELECT change FROM " CONFLICTS ")";
  const char *doing = "putting the old rows over later ones";
  const char *by_old = publish_delete_sql(revert->arena, &revert->sql, revert->changes,
                                          arena_printf(revert->arena, "n.op <> 'I' AND %s", where), "old_");
  const char *by_new = publish_delete_sql(revert->arena, &revert->sql, revert->changes,
                                          arena_printf(revert->arena, "n.op = 'I' AND %s", where), "new_");
  return sql_run(revert->engine, by_old, doing, err) && sql_run(revert->engine, by_new, doing, err) &&
         insert_back(revert, "'U', 'M', 'D'", where, err);
}

static bool revert_dates(Revert *revert, const char *where, Error *err) {
  const ShapeSql *sql = &revert->sql;
  const char *clear =
      arena_printf(revert->arena, "DELETE FROM %s WHERE tidegate_date(%s) IN (SELECT n.date FROM %s AS n WHERE %s)",
                   sql->table, sql->date, revert->changes, where);
  return sql_run(revert->engine, clear, "taking the new rows away", err) && insert_back(revert, "'D'", where, err);
}

static bool revert_all(Revert *revert, const bool *columns, LaterRows later, Error *err) {
  static const char clean[] = "n.rowid NOT IN (SELECT change FROM " CONFLICTS ")";
  if (!revert->sql.shape->keyed) return revert_dates(revert, later == LATER_OVERWRITE ? "true" : clean, err);
  return delete_inserted(revert, clean, err) && update_back(revert, columns, clean, err) &&
         insert_back(revert, "'D'", clean, err) && (later != LATER_OVERWRITE || overwrite_conflicts(revert, err));
}

bool sqlite_revert(EngineWriter *writer, const Shape *shape, const bool *columns, LaterRows later, bool skip_triggers,
                   int64_t *ret_left, Error *err) {
  ARENA_SCOPED arena = {0};
  Revert revert = {.engine = writer->engine, .arena = &arena};
  bool ok = revert_init(&revert, shape, writer->id, err) && find_conflicts(&revert, err);
  stmt_finalize(&revert.insert);
  if (!ok) return false;
  if (revert.found.count > 0 && later == LATER_REFUSE) {
    error_set(err, ERR_CONFLICT, "%" PRId64 " rows were written after the swap: nothing was rolled back",
              revert.found.count);
    return error_hint(
        err, "give --keep-later to leave those rows as they are, or --overwrite-later to put the old rows over them");
  }
  if (skip_triggers) publish_triggers(revert.engine, false);
  ok = revert_all(&revert, columns, later, err);
  if (skip_triggers) publish_triggers(revert.engine, true);
  if (ok) *ret_left = later == LATER_KEEP ? revert.found.count : 0;
  return ok;
}
