#include "engine/sqlite/date_sql.h"
#include "engine/sqlite/sqlite_sql.h"

/* Production's rows by date: how many, and whether their keys are keys. */

static const char doing[] = "counting rows by date";

/* ---- tidegate_date(value) --------------------------------------------------------------------------------------- */

static bool date_of(const DateCodec *codec, sqlite3_value *value, Instant *ret) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_TEXT: {
      const char *text = (const char *)sqlite3_value_text(value);
      return datecodec_from_text(codec, text, (size_t)sqlite3_value_bytes(value), ret);
    }
    case SQLITE_INTEGER:
      return datecodec_from_int(codec, sqlite3_value_int64(value), ret);
    case SQLITE_FLOAT:
      return datecodec_from_real(codec, sqlite3_value_double(value), ret);
    default:
      return false;
  }
}

static void tidegate_date(sqlite3_context *context, int n, sqlite3_value **values) {
  const SqliteEngine *engine = sqlite3_user_data(context);
  Instant date;
  if (engine->codec.zone == NULL)
    sqlite3_result_error(context, "tidegate_date() was called before its codec was set", -1);
  else if (date_of(&engine->codec, values[0], &date))
    sqlite3_result_int64(context, date);
}

bool sqlite_register_functions(SqliteEngine *engine, Error *err) {
  int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  int code = sqlite3_create_function_v2(engine->db, "tidegate_date", 1, flags, engine, tidegate_date, NULL, NULL, NULL);
  return code == SQLITE_OK || sql_fail(engine, "registering tidegate_date()", err);
}

void sqlite_use_codec(SqliteEngine *engine, const DateCodec *codec) { engine->codec = *codec; }

/* ---- an index on the date column -------------------------------------------------------------------------------- */

bool date_indexed(SqliteEngine *engine, const char *table, const char *column, bool *ret, Error *err) {
  STMT_SCOPED stmt = {0};
  bool row;
  if (!sql_prepare(engine, sql_dates_indexed, &stmt, doing, err)) return false;
  sql_bind_text(&stmt, ":table", table);
  sql_bind_text(&stmt, ":column", column);
  if (!sql_step(engine, &stmt, &row, doing, err)) return false;
  *ret = sqlite3_column_int(stmt.handle, 0) != 0;
  return true;
}

/* ---- the rows of a range ---------------------------------------------------------------------------------------- */

/* Timestamps as text may carry an offset of up to 14 hours or another separator, which their order as text ignores: the
 * index is asked for a day more on both sides. What is of the range, tidegate_date() decides. */
static DateRange index_range(const Shape *shape, DateRange range) {
  enum { DAY = 24 * 60 * 60 };
  if (shape->codec.kind != TIMESTAMP_TEXT) return range;
  return (DateRange){range.from - DAY, range.to + DAY};
}

static const char *column_sql(Arena *arena, const Shape *shape, size_t i) {
  return sql_ident(arena, shape->columns[i].name);
}

/* Fills {table}, {column} and {in_range} of a template, and {where}, prepares it and binds the range. */
static bool prepare_in_range(SqliteEngine *engine, Arena *arena, const Shape *shape, DateRange range, const char *sql,
                             const char *where, const char *key, Stmt *ret, Error *err) {
  bool indexed;
  const char *column = column_sql(arena, shape, shape->date);
  if (!date_indexed(engine, shape->table, shape->columns[shape->date].name, &indexed, err)) return false;
  const char *bounds = indexed ? sql_fill(arena, sql_dates_bounds, "column", column, NULL) : "";
  const char *in_range = sql_fill(arena, sql_dates_in_range, "column", column, "bounds", bounds, NULL);
  const char *filled = sql_fill(arena, sql, "table", sql_ident(arena, shape->table), "column", column, "in_range",
                                in_range, "where", where, "key", key, NULL);
  sqlite_use_codec(engine, &shape->codec);
  if (!sql_prepare(engine, filled, ret, doing, err)) return false;
  sql_bind_range(ret, &shape->codec, index_range(shape, range));
  sql_bind_int(ret, ":range_from", range.from);
  sql_bind_int(ret, ":range_to", range.to);
  return true;
}

static bool count_nulls(SqliteEngine *engine, Arena *arena, const Shape *shape, int64_t *ret, Error *err) {
  const char *sql = sql_fill(arena, sql_dates_count_null, "table", sql_ident(arena, shape->table), "column",
                             column_sql(arena, shape, shape->date), NULL);
  STMT_SCOPED stmt = {0};
  bool row;
  if (!sql_prepare(engine, sql, &stmt, doing, err) || !sql_step(engine, &stmt, &row, doing, err)) return false;
  *ret = sqlite3_column_int64(stmt.handle, 0);
  return true;
}

bool sqlite_count_dates(Engine *base, Arena *arena, const Shape *shape, DateRange range, const char *where,
                        DateRecord **ret, size_t *ret_n, int64_t *ret_nulls, Error *err) {
  SqliteEngine *engine = sqlite_engine(base);
  STMT_SCOPED stmt = {0};
  DateRecord *dates = NULL;
  size_t n = 0;
  if (!prepare_in_range(engine, arena, shape, range, sql_dates_count, where == NULL ? "1" : where, "", &stmt, err))
    return false;
  for (bool row;;) {
    if (!sql_step(engine, &stmt, &row, doing, err)) return false;
    if (!row) break;
    dates = arena_grow(arena, dates, n, sizeof *dates);
    dates[n++] = (DateRecord){.date = sqlite3_column_int64(stmt.handle, 0),
                              .expected = sqlite3_column_int64(stmt.handle, 1),
                              .suspect = sqlite3_column_int64(stmt.handle, 2)};
  }
  if (!count_nulls(engine, arena, shape, ret_nulls, err)) return false;
  *ret = dates;
  *ret_n = n;
  return true;
}

/* ---- keys ------------------------------------------------------------------------------------------------------- */

/* The key's columns, each written as `before` name `after`, with `between` between them. */
static const char *key_list(Arena *arena, const Shape *shape, const char *after, const char *between) {
  BUF_SCOPED list = {0};
  for (size_t i = 0; i < shape->n; i++)
    if (shape->columns[i].key)
      buf_printf(&list, "%s%s%s", list.len == 0 ? "" : between, column_sql(arena, shape, i), after);
  return arena_strdup(arena, buf_text(&list));
}

bool sqlite_key_faults(Engine *base, Arena *arena, const Shape *shape, DateRange range, int64_t *ret_duplicates,
                       int64_t *ret_nulls, Error *err) {
  SqliteEngine *engine = sqlite_engine(base);
  const char *key = key_list(arena, shape, "", ", ");
  int64_t counts[2] = {0};
  const char *const statements[2] = {sql_dates_duplicate_keys, sql_dates_null_keys};
  const char *const conditions[2] = {key_list(arena, shape, " IS NOT NULL", " AND "),
                                     key_list(arena, shape, " IS NULL", " OR ")};
  for (int i = 0; i < 2 && key[0] != '\0'; i++) {
    STMT_SCOPED stmt = {0};
    bool row;
    if (!prepare_in_range(engine, arena, shape, range, statements[i], conditions[i], key, &stmt, err) ||
        !sql_step(engine, &stmt, &row, doing, err))
      return false;
    counts[i] = sqlite3_column_int64(stmt.handle, 0);
  }
  *ret_duplicates = counts[0];
  *ret_nulls = counts[1];
  return true;
}
