#include <string.h>

#include "engine/sqlite/catalog_int.h"
#include "engine/sqlite/date_sql.h"
#include "engine/sqlite/sqlite_sql.h"

/* What the values of a date column look like, found without reading a large table through. */

static const char doing[] = "looking at the date column";

/* A table of fewer rows is read whole; of a larger one, so many rows at each end and between; so many distinct values
 * are handed on. */
enum { SMALL_TABLE = 2000, SAMPLE_ROWS = 70, SAMPLE_VALUES = 200 };

/* The column, as the statements name it. */
typedef struct Place {
  const char *table, *column; /* quoted */
  bool small, indexed;
} Place;

static bool prepare(SqliteEngine *engine, Arena *arena, const Place *place, const char *sql, Stmt *ret, Error *err) {
  const char *filled = sql_fill(arena, sql, "table", place->table, "column", place->column, NULL);
  if (!sql_prepare(engine, filled, ret, doing, err)) return false;
  sql_bind_int(ret, ":rows", SAMPLE_ROWS);
  return true;
}

static bool is_small(SqliteEngine *engine, Arena *arena, const Place *place, bool *ret, Error *err) {
  STMT_SCOPED stmt = {0};
  bool row;
  if (!prepare(engine, arena, place, sql_dates_few_rows, &stmt, err)) return false;
  sql_bind_int(&stmt, ":limit", SMALL_TABLE);
  if (!sql_step(engine, &stmt, &row, doing, err)) return false;
  *ret = sqlite3_column_int64(stmt.handle, 0) < SMALL_TABLE;
  return true;
}

/* "a, b" and "a DESC, b DESC" over the primary key; "" when there is none. */
static bool key_order(SqliteEngine *engine, Arena *arena, const char *table, const char **ret, const char **ret_reverse,
                      Error *err) {
  BUF_SCOPED order = {0}, reverse = {0};
  ColumnFacts *columns;
  size_t n;
  if (!catalog_columns(engine, arena, table, &columns, &n, err)) return false;
  for (int place = 1; place <= (int)n; place++)
    for (size_t i = 0; i < n; i++) {
      if (columns[i].primary != place) continue;
      const char *name = sql_ident(arena, columns[i].name);
      buf_printf(&order, "%s%s", place == 1 ? "" : ", ", name);
      buf_printf(&reverse, "%s%s DESC", place == 1 ? "" : ", ", name);
    }
  *ret = arena_strdup(arena, buf_text(&order));
  *ret_reverse = arena_strdup(arena, buf_text(&reverse));
  return true;
}

/* The SELECT of one column v that gives the sample. */
static bool sample_sql(SqliteEngine *engine, Arena *arena, const char *table, const Place *place, const char **ret,
                       Error *err) {
  const char *order = place->column, *reverse = arena_printf(arena, "%s DESC", place->column), *rowid, *condition = "";
  const char *sql = place->small ? sql_dates_sample_all : sql_dates_sample_first;
  if (!catalog_rowid(engine, arena, table, &rowid, err)) return false;
  if (place->indexed) {
    condition = arena_printf(arena, "WHERE %s IS NOT NULL", place->column);
  } else if (rowid != NULL) {
    order = rowid;
    reverse = arena_printf(arena, "%s DESC", rowid);
  } else if (!key_order(engine, arena, table, &order, &reverse, err)) {
    return false;
  }
  if (!place->small && order[0] != '\0') sql = sql_dates_sample_ends;
  *ret = sql_fill(arena, sql, "table", place->table, "column", place->column, "order", order, "reverse", reverse,
                  "condition", condition, NULL);
  if (!place->small && rowid != NULL)
    *ret = sql_fill(arena, sql_dates_sample_spread, "ends", *ret, "table", place->table, "column", place->column,
                    "rowid", rowid, NULL);
  return true;
}

/* Counts of a small table; of a large one only what an index tells at once. */
static bool read_counts(SqliteEngine *engine, Arena *arena, const Place *place, DateProfile *profile, Error *err) {
  STMT_SCOPED counts = {0}, ends = {0};
  bool row;
  profile->rows = profile->nulls = -1;
  if (place->small) {
    if (!prepare(engine, arena, place, sql_dates_count_all, &counts, err) ||
        !sql_step(engine, &counts, &row, doing, err))
      return false;
    profile->rows = sqlite3_column_int64(counts.handle, 0);
    profile->nulls = sqlite3_column_int64(counts.handle, 1);
  }
  if (!place->small && !place->indexed) return true;
  if (!prepare(engine, arena, place, sql_dates_ends, &ends, err) || !sql_step(engine, &ends, &row, doing, err))
    return false;
  profile->lowest = sql_text(arena, &ends, 0);
  profile->highest = sql_text(arena, &ends, 1);
  return true;
}

static void count_type(Stmt *stmt, DateProfile *profile) {
  switch (sqlite3_column_type(stmt->handle, 0)) {
    case SQLITE_TEXT:
      profile->texts++;
      break;
    case SQLITE_INTEGER:
      profile->integers++;
      break;
    case SQLITE_FLOAT:
      profile->reals++;
      break;
    case SQLITE_BLOB:
      profile->others++;
      break;
    default:
      break;
  }
}

static bool is_new(const char *const *samples, size_t n, const char *text) {
  for (size_t i = n; i > 0; i--)
    if (strcmp(samples[i - 1], text) == 0) return false;
  return true;
}

/* `sample` is a whole statement: a column's own name may look like a place to fill. */
static bool read_sample(SqliteEngine *engine, Arena *arena, const char *sample, DateProfile *profile, Error *err) {
  STMT_SCOPED values = {0};
  const char **samples = NULL;
  if (!sql_prepare(engine, sample, &values, doing, err)) return false;
  sql_bind_int(&values, ":rows", SAMPLE_ROWS);
  for (bool row;;) {
    if (!sql_step(engine, &values, &row, doing, err)) return false;
    if (!row) break;
    count_type(&values, profile);
    const char *text = sql_peek(&values, 0);
    if (text == NULL || profile->n_samples == SAMPLE_VALUES || !is_new(samples, profile->n_samples, text)) continue;
    samples = arena_grow(arena, samples, profile->n_samples, sizeof *samples);
    samples[profile->n_samples++] = arena_strdup(arena, text);
  }
  profile->samples = samples;
  return true;
}

static bool has_column(SqliteEngine *engine, Arena *arena, const char *table, const char *column, Error *err) {
  ColumnFacts *columns;
  size_t n;
  if (!catalog_columns(engine, arena, table, &columns, &n, err)) return false;
  for (size_t i = 0; i < n; i++)
    if (sqlite3_stricmp(columns[i].name, column) == 0) return true;
  return error_set(err, ERR_NOT_FOUND, "%s has no column '%s'", table, column);
}

bool sqlite_date_profile(Engine *base, Arena *arena, const char *table, const char *column, DateProfile *ret,
                         Error *err) {
  SqliteEngine *engine = sqlite_engine(base);
  const char *name, *sample;
  DateProfile profile = {.kinds = DATE_KINDS_ALL};
  if (!catalog_spelling(engine, arena, table, &name, err) || !has_column(engine, arena, name, column, err))
    return false;
  Place place = {.table = sql_ident(arena, name), .column = sql_ident(arena, column)};
  if (!is_small(engine, arena, &place, &place.small, err) || !date_indexed(engine, name, column, &place.indexed, err) ||
      !sample_sql(engine, arena, name, &place, &sample, err) || !read_counts(engine, arena, &place, &profile, err) ||
      !read_sample(engine, arena, sample, &profile, err))
    return false;
  *ret = profile;
  return true;
}
