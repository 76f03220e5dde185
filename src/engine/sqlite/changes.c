#include "engine/sqlite/sqlite_sql.h"
#include "engine/sqlite/work.h"

/* ---- production's fingerprint ------------------------------------------------------------------------------------ */

static bool date_entry(Arena *arena, const Shape *shape, const Value *value, DateFacts **dates, size_t *n, size_t *ret,
                       bool whole) {
  Instant date = 0;
  if (!whole && !value_date(&shape->codec, value, &date)) return false;
  if (*n > 0 && (*dates)[*n - 1].date == date) return *ret = *n - 1, true;
  for (size_t i = 0; i < *n; i++)
    if ((*dates)[i].date == date) return *ret = i, true;
  *dates = arena_grow(arena, *dates, *n, sizeof **dates);
  (*dates)[*n] = (DateFacts){.date = date};
  return *ret = (*n)++, true;
}

bool sqlite_fingerprint(Engine *base, Arena *arena, const Shape *shape, DateRange range, const DateFacts **ret,
                        size_t *ret_n, Error *err) {
  SqliteEngine *engine = sqlite_engine(base);
  ARENA_SCOPED scratch = {0};
  BUF_SCOPED bytes = {0};
  STMT_SCOPED stmt = {0};
  ShapeSql sql;
  bool whole = range.from == range.to;
  if (!shape_sql(engine, &scratch, shape, &sql, err)) return false;
  const char *text =
      sql_fill(&scratch, whole ? sql_changes_fingerprint_all : sql_changes_fingerprint_range, "date", sql.date, "given",
               shape_list(&scratch, shape, sql.given, sql.n_given, "p.", ""), "target", sql.table, NULL);
  if (!sql_prepare(engine, text, &stmt, "fingerprinting production", err)) return false;
  if (!whole) sql_bind_range(&stmt, &shape->codec, range);
  DateFacts *dates = NULL;
  size_t n = 0, at;
  for (bool row;;) {
    if (!sql_step(engine, &stmt, &row, "fingerprinting production", err)) return false;
    if (!row) break;
    Value value;
    buf_clear(&bytes);
    value_read(stmt.handle, 0, sql.affinity[shape->date], &value);
    bool has_date = date_entry(arena, shape, &value, &dates, &n, &at, whole);
    values_release(&value, 1);
    for (size_t i = 0; i < sql.n_given && has_date; i++) {
      value_read(stmt.handle, (int)i + 1, sql.affinity[sql.given[i]], &value);
      value_encode(&value, &bytes);
      values_release(&value, 1);
    }
    if (has_date) fingerprint_add(&dates[at].production, hash_bytes(buf_text(&bytes), bytes.len));
  }
  if (whole && n == 0) {
    dates = arena_alloc(arena, sizeof *dates);
    n = 1;
  }
  *ret = dates;
  *ret_n = n;
  return true;
}

/* ---- the change set ---------------------------------------------------------------------------------------------- */

bool sqlite_check_total(Engine *base, const Job *job, const char *expression, DateRange range, bool *ret_true,
                        Error *err) {
  SqliteEngine *engine = sqlite_engine(base);
  ARENA_SCOPED arena = {0};
  STMT_SCOPED stmt = {0};
  ShapeSql sql;
  bool row;
  if (!shape_sql(engine, &arena, job->shape, &sql, err)) return false;
  sqlite_use_codec(engine, &job->shape->codec);
  const char *rows = job->id == NULL ? sql_fill(&arena, sql_shape_all, "table", sql.table, NULL)
                                     : shape_overlay(&arena, &sql, job->id, INSTANT_MAX);
  const char *text =
      sql_fill(&arena, sql_changes_total, "expression", expression, "rows", rows, "date", sql.date, NULL);
  if (!sql_prepare(engine, text, &stmt, "checking a total", err)) return false;
  sql_bind_range(&stmt, &job->shape->codec, range);
  if (!sql_step(engine, &stmt, &row, "checking a total", err)) return false;
  *ret_true = row && sqlite3_column_double(stmt.handle, 0) != 0;
  return true;
}

bool sqlite_change_counts(Engine *base, const Shape *shape, const char *id, ChangeCounts *ret, Error *err) {
  SqliteEngine *engine = sqlite_engine(base);
  ARENA_SCOPED arena = {0};
  STMT_SCOPED stmt = {0};
  ChangeCounts counts = {0};
  const char *text = sql_fill(&arena, sql_changes_counts, "changes", shape_object(&arena, id, "changes"), NULL);
  if (!sql_prepare(engine, text, &stmt, "counting the change set", err)) return false;
  for (bool row;;) {
    if (!sql_step(engine, &stmt, &row, "counting the change set", err)) return false;
    if (!row) break;
    int64_t n = sqlite3_column_int64(stmt.handle, 1);
    switch (sql_peek(&stmt, 0)[0]) {
      case 'I':
        counts.inserts = n;
        break;
      case 'U':
        counts.updates = n;
        break;
      case 'D':
        counts.deletes = n;
        break;
      default:
        counts.moves = n;
        break;
    }
  }
  *ret = counts;
  return true;
}

static const char *key_of(Arena *arena, const ShapeSql *sql, const ChangeRow *row) {
  BUF_SCOPED out = {0};
  const char *const *values = row->op == 'I' ? row->new_values : row->old_values;
  for (size_t i = 0; i < sql->n_key; i++)
    buf_printf(&out, "%s%s", i == 0 ? "" : ", ", values[sql->key[i]] == NULL ? "NULL" : values[sql->key[i]]);
  return arena_strdup(arena, buf_text(&out));
}

static ChangeRow read_change(Arena *arena, const ShapeSql *sql, Stmt *stmt) {
  const Shape *shape = sql->shape;
  const char **old_values = arena_array(arena, shape->n, sizeof *old_values),
             **new_values = arena_array(arena, shape->n, sizeof *new_values);
  char label[32];
  grain_label(shape->codec.grain, shape->codec.zone, sqlite3_column_int64(stmt->handle, 1), label);
  ChangeRow row = {.op = sql_peek(stmt, 0)[0],
                   .date = arena_strdup(arena, label),
                   .old_values = old_values,
                   .new_values = new_values};
  for (size_t i = 0; i < sql->n_stored + sql->n_given; i++) {
    bool is_old = i < sql->n_stored;
    size_t column = is_old ? sql->stored[i] : sql->given[i - sql->n_stored];
    Value value;
    value_read(stmt->handle, (int)i + 2, AFFINITY_NONE, &value);
    (is_old ? old_values : new_values)[column] = value_text(arena, &value);
  }
  row.key = key_of(arena, sql, &row);
  return row;
}

bool sqlite_change_rows(Engine *base, Arena *arena, const Shape *shape, const char *id, Instant date, size_t limit,
                        const ChangeRow **ret, size_t *ret_n, Error *err) {
  SqliteEngine *engine = sqlite_engine(base);
  STMT_SCOPED stmt = {0};
  ShapeSql sql;
  ChangeRow *rows = NULL;
  size_t n = 0;
  if (!shape_sql(engine, arena, shape, &sql, err)) return false;
  const char *text = sql_fill(arena, date == 0 ? sql_changes_rows : sql_changes_rows_of_date, "changes",
                              shape_object(arena, id, "changes"), NULL);
  if (!sql_prepare(engine, text, &stmt, "reading the change set", err)) return false;
  sql_bind_int(&stmt, ":date", date);
  sql_bind_int(&stmt, ":limit", (int64_t)limit);
  for (bool row;;) {
    if (!sql_step(engine, &stmt, &row, "reading the change set", err)) return false;
    if (!row) break;
    rows = arena_grow(arena, rows, n, sizeof *rows);
    rows[n++] = read_change(arena, &sql, &stmt);
  }
  *ret = rows;
  *ret_n = n;
  return true;
}

/* An update that stays on its date meets exactly one production row; only new, moved and vanished keys can meet each
 * other across batches. */
bool sqlite_change_duplicates(Engine *base, const Shape *shape, const char *id, int64_t *ret, Error *err) {
  ARENA_SCOPED arena = {0};
  ShapeSql sql;
  double n = 0;
  *ret = 0;
  if (!shape->keyed) return true;
  if (!shape_sql(sqlite_engine(base), &arena, shape, &sql, err)) return false;
  BUF_SCOPED keys = {0};
  for (size_t i = 0; i < sql.n_key; i++) {
    const char *name = shape->columns[sql.key[i]].name;
    buf_printf(&keys, "%scoalesce(%s, %s)", i == 0 ? "" : ", ", sql_ident(&arena, arena_printf(&arena, "new_%s", name)),
               sql_ident(&arena, arena_printf(&arena, "old_%s", name)));
  }
  const char *text = sql_fill(&arena, sql_changes_duplicates, "changes", shape_object(&arena, id, "changes"), "key",
                              buf_text(&keys), NULL);
  if (!sqlite_number(base, text, &n, err)) return false;
  *ret = (int64_t)n;
  return true;
}
