#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "engine/sqlite/publish.h"
#include "engine/sqlite/sqlite_sql.h"
#include "engine/sqlite/work.h"

/*
 * Taking a swap back by its kept rows. First every row of the change set is held against production as it is now; what
 * is no longer as the swap left it is a conflict, put down in temp.tidegate_conflict (change = rowid in the change
 * set).
 */

typedef struct Revert {
  SqliteEngine *engine;
  Arena *arena;
  ShapeSql sql;
  const char *changes;
  bool came; /* columns came after the change set was made */
  size_t max_examples;
  Conflicts found;
  Stmt insert;
} Revert;

/* Columns that production got after the change set was made are not the backfill's: they stay as they are. */
static bool leave_new_columns(Revert *revert, const Shape *shape, const char *id, Shape *ret, Error *err) {
  static const char doing[] = "looking at the kept rows";
  STMT_SCOPED stmt = {0};
  char table[SQLITE_OBJECT_NAME];
  ShapeColumn *columns = arena_array(revert->arena, shape->n, sizeof *columns);
  bool *kept = arena_array(revert->arena, shape->n, sizeof *kept);
  sqlite_object_name(table, id, "changes");
  if (!sql_prepare(revert->engine, sql_revert_columns, &stmt, doing, err)) return false;
  sql_bind_text(&stmt, ":name", table);
  for (bool row;;) {
    if (!sql_step(revert->engine, &stmt, &row, doing, err)) return false;
    if (!row) break;
    const char *name = sql_peek(&stmt, 0);
    for (size_t i = 0; i < shape->n && strncmp(name, "old_", 4) == 0; i++)
      kept[i] |= strcasecmp(name + 4, shape->columns[i].name) == 0;
  }
  for (size_t i = 0; i < shape->n; i++) {
    columns[i] = shape->columns[i];
    if (kept[i] || columns[i].generated) continue;
    columns[i].generated = true;
    columns[i].given = false;
    revert->came = true;
  }
  *ret = *shape;
  ret->columns = columns;
  return true;
}

static bool revert_init(Revert *revert, const Shape *shape, const char *id, Error *err) {
  static const char doing[] = "looking for later writes";
  Shape *own = arena_alloc(revert->arena, sizeof *own);
  revert->changes = shape_object(revert->arena, id, "changes");
  sqlite_use_codec(revert->engine, &shape->codec);
  return leave_new_columns(revert, shape, id, own, err) &&
         shape_sql(revert->engine, revert->arena, own, &revert->sql, err) &&
         sql_run(revert->engine, sql_revert_conflicts_forget, doing, err) &&
         sql_run(revert->engine, sql_revert_conflicts_create, doing, err) &&
         sql_prepare(revert->engine, sql_revert_conflict_add, &revert->insert, doing, err);
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

/* Are n columns of production's row (from `at`) still what they were (behind them)? */
static bool as_left(const Revert *revert, Stmt *stmt, size_t at, const size_t *columns, size_t n) {
  bool same = true;
  for (size_t i = 0; i < n && same; i++) {
    Value now, then;
    Affinity affinity = revert->sql.affinity[columns[i]];
    value_read(stmt->handle, (int)(at + i), affinity, &now);
    value_read(stmt->handle, (int)(at + n + i), affinity, &then);
    same = value_equal(&now, &then, 0);
    values_release(&now, 1);
    values_release(&then, 1);
  }
  return same;
}

/* A row that the swap inserted goes whole, so there the columns that the recompute does not give count as well. */
static bool judge(Revert *revert, Stmt *stmt, Error *err) {
  char op = sql_peek(stmt, 1)[0];
  bool present = sqlite3_column_type(stmt->handle, 3) != SQLITE_NULL;
  if (op == 'D') return !present || conflict(revert, stmt, "arrived since", err);
  if (!present) return conflict(revert, stmt, "vanished since", err);
  const ShapeSql *sql = &revert->sql;
  size_t at = 4 + sql->n_key;
  bool same = as_left(revert, stmt, at, sql->given, sql->n_given) &&
              (op != 'I' || as_left(revert, stmt, at + 2 * sql->n_given, sql->rest, sql->n_rest));
  return same || conflict(revert, stmt, "changed since", err);
}

/* Columns: rowid, op, date, present, key …, production's given …, new given …, production's rest …, old rest … */
static bool judge_ops(Revert *revert, const char *of, const char *prefix, Error *err) {
  STMT_SCOPED stmt = {0};
  const ShapeSql *sql = &revert->sql;
  Arena *arena = revert->arena;
  const char *text =
      sql_fill(arena, sql_revert_judge, "present", sql->present, "key",
               shape_list(arena, sql->shape, sql->key, sql->n_key, "n.", prefix), "now",
               shape_list(arena, sql->shape, sql->given, sql->n_given, "p.", ""), "then",
               shape_list(arena, sql->shape, sql->given, sql->n_given, "n.", "new_"), "changes", revert->changes,
               "target", sql->table, "match", shape_key_match(arena, sql, "p.", "", "n.", prefix), "of", of, "rest",
               sql->n_rest == 0
                   ? ""
                   : arena_printf(arena, ", %s, %s", shape_list(arena, sql->shape, sql->rest, sql->n_rest, "p.", ""),
                                  shape_list(arena, sql->shape, sql->rest, sql->n_rest, "n.", "old_")),
               NULL);
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
  const char *given = shape_list(revert->arena, sql->shape, sql->given, sql->n_given, "", "");
  const char *text = sql_fill(revert->arena, sql_revert_judge_dates, "changes", revert->changes, "date", sql->date,
                              "now", now, "target", sql->table, "then", then, "given", given, NULL);
  if (!sql_prepare(revert->engine, text, &stmt, "looking for later writes", err)) return false;
  for (bool row;;) {
    if (!sql_step(revert->engine, &stmt, &row, "looking for later writes", err)) return false;
    if (!row) return true;
    if (!conflict(revert, &stmt, "changed since", err)) return false;
  }
}

static bool find_conflicts(Revert *revert, Error *err) {
  if (!revert->sql.shape->keyed) return judge_dates(revert, err);
  return judge_ops(revert, sql_revert_kept, "old_", err) && judge_ops(revert, sql_revert_inserted, "new_", err);
}

bool sqlite_conflicts(Engine *base, Arena *arena, const Shape *shape, const char *id, size_t max_examples,
                      Conflicts *ret, Error *err) {
  Revert revert = {.engine = sqlite_engine(base), .arena = arena, .max_examples = max_examples};
  bool ok = revert_init(&revert, shape, id, err) && find_conflicts(&revert, err);
  stmt_finalize(&revert.insert);
  if (ok) *ret = revert.found;
  return ok;
}

/* ---- putting the old rows back ----------------------------------------------------------------------------------- */

static bool count_ops(Revert *revert, const char *of, const char *where, int64_t *ret, Error *err) {
  double n;
  const char *text =
      sql_fill(revert->arena, sql_revert_count, "changes", revert->changes, "of", of, "where", where, NULL);
  if (!sqlite_number(&revert->engine->base, text, &n, err)) return false;
  *ret = (int64_t)n;
  return true;
}

static const char *delete_sql(Revert *revert, const char *of, const char *where, const char *prefix) {
  const char *both = sql_fill(revert->arena, sql_revert_both, "of", of, "where", where, NULL);
  return publish_delete_sql(revert->arena, &revert->sql, revert->changes, both, prefix);
}

static bool delete_inserted(Revert *revert, const char *where, Error *err) {
  int64_t n;
  if (!count_ops(revert, sql_revert_inserted, where, &n, err)) return false;
  if (n == 0) return true;
  return publish_no_orphans(revert->engine, &revert->sql, revert->changes, 'I', "new_", err) &&
         publish_step(revert->engine, delete_sql(revert, sql_revert_inserted, where, "new_"), n,
                      "taking the new rows away", err);
}

static bool update_back(Revert *revert, const bool *columns, const char *where, Error *err) {
  int64_t n;
  if (!count_ops(revert, sql_revert_updated, where, &n, err)) return false;
  if (n == 0) return true;
  const ShapeSql *sql = &revert->sql;
  const char *text = sql_fill(
      revert->arena, sql_revert_update, "target", sql->table, "set",
      shape_set(revert->arena, sql, columns, "n.", "old_"), "changes", revert->changes, "of", sql_revert_updated,
      "match", shape_key_match(revert->arena, sql, "p.", "", SHAPE_NO_INDEX "n.", "old_"), "where", where, NULL);
  return publish_step(revert->engine, text, n, "putting the old values back", err);
}

static bool insert_back(Revert *revert, const char *of, const char *where, Error *err) {
  int64_t n;
  if (!count_ops(revert, of, where, &n, err)) return false;
  if (n == 0) return true;
  const ShapeSql *sql = &revert->sql;
  const char *text = sql_fill(revert->arena, sql_revert_insert, "target", sql->table, "columns",
                              shape_list(revert->arena, sql->shape, sql->stored, sql->n_stored, "", ""), "old",
                              shape_list(revert->arena, sql->shape, sql->stored, sql->n_stored, "n.", "old_"),
                              "changes", revert->changes, "of", of, "where", where, NULL);
  return publish_step(revert->engine, text, n, "putting the old rows back", err);
}

/* A row that was replaced whole would lose what stands in the columns that came: it is updated. */
static bool overwrite_in_place(Revert *revert, Error *err) {
  const ShapeSql *sql = &revert->sql;
  BUF_SCOPED set = {0};
  for (size_t i = 0; i < sql->n_stored; i++) {
    const char *name = sql->shape->columns[sql->stored[i]].name;
    buf_printf(&set, "%s%s = n.%s", i == 0 ? "" : ", ", sql_ident(revert->arena, name),
               sql_ident(revert->arena, arena_printf(revert->arena, "old_%s", name)));
  }
  const char *match = shape_key_match(revert->arena, sql, "p.", "", SHAPE_NO_INDEX "n.", "old_");
  const char *update =
      sql_fill(revert->arena, sql_revert_update, "target", sql->table, "set", buf_text(&set), "changes",
               revert->changes, "of", sql_revert_kept, "match", match, "where", sql_revert_in_conflict, NULL);
  const char *there = shape_key_match(revert->arena, sql, "p.", "", "n.", "old_");
  const char *absent = sql_fill(revert->arena, sql_revert_absent, "target", sql->table, "match", there, NULL);
  const char *both = sql_fill(revert->arena, sql_revert_both, "of", sql_revert_in_conflict, "where", absent, NULL);
  return sql_run(revert->engine, update, "putting the old rows over later ones", err) &&
         insert_back(revert, sql_revert_kept, both, err);
}

/* Where a later write stands in the way and is to give way: whatever has the key now goes, and the kept row comes. */
static bool overwrite_conflicts(Revert *revert, Error *err) {
  static const char doing[] = "putting the old rows over later ones";
  const char *by_old = delete_sql(revert, sql_revert_kept, sql_revert_in_conflict, "old_");
  const char *by_new = delete_sql(revert, sql_revert_inserted, sql_revert_in_conflict, "new_");
  if (revert->came) return sql_run(revert->engine, by_new, doing, err) && overwrite_in_place(revert, err);
  return sql_run(revert->engine, by_old, doing, err) && sql_run(revert->engine, by_new, doing, err) &&
         insert_back(revert, sql_revert_kept, sql_revert_in_conflict, err);
}

static bool revert_dates(Revert *revert, const char *where, Error *err) {
  const ShapeSql *sql = &revert->sql;
  const char *clear = sql_fill(revert->arena, sql_revert_clear_dates, "target", sql->table, "date", sql->date,
                               "changes", revert->changes, "where", where, NULL);
  return sql_run(revert->engine, clear, "taking the new rows away", err) &&
         insert_back(revert, sql_revert_deleted, where, err);
}

static bool revert_all(Revert *revert, const bool *columns, LaterRows later, Error *err) {
  const char *clean = sql_revert_clean;
  if (!revert->sql.shape->keyed) return revert_dates(revert, later == LATER_OVERWRITE ? sql_revert_any : clean, err);
  return delete_inserted(revert, clean, err) && update_back(revert, columns, clean, err) &&
         insert_back(revert, sql_revert_deleted, clean, err) &&
         (later != LATER_OVERWRITE || overwrite_conflicts(revert, err));
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
