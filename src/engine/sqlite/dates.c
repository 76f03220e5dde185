#include "engine/sqlite/date_sql.h"
#include "engine/sqlite/sqlite_sql.h"
#include "engine/sqlite/values.h"

/* Production's rows by date: how many, and whether their keys are keys. */

static const char doing[] = "counting rows by date";

/* ---- tidegate_date(value) ---------------------------------------------------------------------------------------- */

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

/* ---- an index on the date column --------------------------------------------------------------------------------- */

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

/* ---- the rows of a range ----------------------------------------------------------------------------------------- */

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
                                in_range, "bounds", bounds, "where", where, "key", key, NULL);
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

/* One record for each date of the range, ascending. */
static DateRecord *empty_dates(Arena *arena, const Shape *shape, DateRange range, size_t *ret_n) {
  DateRecord *dates = NULL;
  size_t n = 0;
  for (Instant at = range.from; at < range.to; at = grain_next(shape->codec.grain, shape->codec.zone, at)) {
    dates = arena_grow(arena, dates, n, sizeof *dates);
    dates[n++] = (DateRecord){.date = at};
  }
  *ret_n = n;
  return dates;
}

/* The record of a date; `last` is looked at first, because rows of one date mostly come together. */
static DateRecord *find_date(DateRecord *dates, size_t n, Instant date, DateRecord *last) {
  if (last != NULL && last->date == date) return last;
  for (size_t low = 0, high = n; low < high;) {
    size_t middle = low + (high - low) / 2;
    if (dates[middle].date == date) return &dates[middle];
    if (dates[middle].date < date)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

static bool count_rows(SqliteEngine *engine, const Shape *shape, Stmt *stmt, DateRecord *dates, size_t n, Error *err) {
  DateRecord *last = NULL;
  for (bool row;;) {
    Value value;
    Instant date;
    if (!sql_step(engine, stmt, &row, doing, err)) return false;
    if (!row) return true;
    value_read(stmt->handle, 0, AFFINITY_NONE, &value);
    DateRecord *found = value_date(&shape->codec, &value, &date) ? find_date(dates, n, date, last) : NULL;
    if (found == NULL) continue;
    last = found;
    found->expected++;
    found->suspect += sqlite3_column_int(stmt->handle, 1) != 0;
  }
}

bool sqlite_count_dates(Engine *base, Arena *arena, const Shape *shape, DateRange range, const char *where,
                        DateRecord **ret, size_t *ret_n, int64_t *ret_nulls, Error *err) {
  SqliteEngine *engine = sqlite_engine(base);
  STMT_SCOPED stmt = {0};
  size_t n, kept = 0;
  DateRecord *dates = empty_dates(arena, shape, range, &n);
  if (!prepare_in_range(engine, arena, shape, range, sql_dates_count, where == NULL ? "1" : where, "", &stmt, err) ||
      !count_rows(engine, shape, &stmt, dates, n, err) || !count_nulls(engine, arena, shape, ret_nulls, err))
    return false;
  for (size_t i = 0; i < n; i++)
    if (dates[i].expected > 0) dates[kept++] = dates[i];
  *ret = dates;
  *ret_n = kept;
  return true;
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

/* The key's columns, each written as `before` name `after`, with `between` between them. */
static const char *key_list(Arena *arena, const Shape *shape, const char *after, const char *between) {
  BUF_SCOPED list = {0};
  for (size_t i = 0; i < shape->n; i++)
    if (shape->columns[i].key)
      buf_printf(&list, "%s%s%s", list.len == 0 ? "" : between, column_sql(arena, shape, i), after);
  return arena_strdup(arena, buf_text(&list));
}

static bool is_key(const Shape *shape, const char *column) {
  for (size_t i = 0; i < shape->n; i++)
    if (sqlite3_stricmp(shape->columns[i].name, column) == 0) return shape->columns[i].key;
  return false;
}

/* Does a primary key or a unique index over no other columns than the key's already forbid duplicates? */
static bool enforced(const Shape *shape, const TableFacts *facts) {
  size_t primary = 0, of_key = 0;
  for (size_t i = 0; i < facts->n_columns; i++) {
    if (facts->columns[i].primary == 0) continue;
    primary++;
    of_key += is_key(shape, facts->columns[i].name);
  }
  if (primary > 0 && primary == of_key) return true;
  for (size_t i = 0; i < facts->n_indexes; i++) {
    const IndexFacts *index = &facts->indexes[i];
    bool inside = index->unique && !index->partial && !index->expression;
    for (size_t k = 0; k < index->n && inside; k++) inside = is_key(shape, index->columns[k]);
    if (inside) return true;
  }
  return false;
}

static bool count_faults(SqliteEngine *engine, Arena *arena, const Shape *shape, DateRange range, const char *sql,
                         const char *where, int64_t *ret, Error *err) {
  STMT_SCOPED stmt = {0};
  bool row;
  if (!prepare_in_range(engine, arena, shape, range, sql, where, key_list(arena, shape, "", ", "), &stmt, err) ||
      !sql_step(engine, &stmt, &row, doing, err))
    return false;
  *ret = sqlite3_column_int64(stmt.handle, 0);
  return true;
}

bool sqlite_key_faults(Engine *base, Arena *arena, const Shape *shape, DateRange range, int64_t *ret_duplicates,
                       int64_t *ret_nulls, Error *err) {
  SqliteEngine *engine = sqlite_engine(base);
  TableFacts facts;
  bool nullable = false;
  int64_t duplicates = 0, nulls = 0;
  for (size_t i = 0; i < shape->n; i++) nullable |= shape->columns[i].key && !shape->columns[i].not_null;
  if (!sqlite_describe_table(base, arena, shape->table, &facts, err)) return false;
  bool has_key = key_list(arena, shape, "", ", ")[0] != '\0';
  if (has_key && !enforced(shape, &facts) &&
      !count_faults(engine, arena, shape, range, sql_dates_duplicate_keys,
                    key_list(arena, shape, " IS NOT NULL", " AND "), &duplicates, err))
    return false;
  if (nullable && !count_faults(engine, arena, shape, range, sql_dates_null_keys,
                                key_list(arena, shape, " IS NULL", " OR "), &nulls, err))
    return false;
  *ret_duplicates = duplicates;
  *ret_nulls = nulls;
  return true;
}
