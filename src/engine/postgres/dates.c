#include <string.h>

#include "engine/postgres/postgres_sql.h"
#include "engine/postgres/shape_sql.h"

/* Production's rows by date: how many, and whether their keys are keys. */

static const char doing[] = "counting rows by date";

/* ---- the dates of a range --------------------------------------------------------------------------------------- */

/* The index of a date among the starts; n when it is none of them. */
static size_t place_of(const Instant *starts, size_t n, Instant date) {
  size_t low = 0, high = n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (starts[middle] < date)
      low = middle + 1;
    else
      high = middle;
  }
  return low < n && starts[low] == date ? low : n;
}

/* ---- counting --------------------------------------------------------------------------------------------------- */

/* Civil days are few and are read here, which also tells values that are no date; instants are put among the dates by
 * the server. */
static size_t row_place(const Shape *shape, const PGresult *rows, int row, const Instant *starts, size_t n) {
  if (!date_kind_is_civil(shape->codec.kind)) {
    int64_t place = pg_int(rows, row, 0);
    return place >= 1 && place <= (int64_t)n ? (size_t)place - 1 : n;
  }
  Instant date;
  return datecodec_from_written(&shape->codec, pg_peek(rows, row, 0), &date) ? place_of(starts, n, date) : n;
}

static bool count_rows(PgEngine *engine, Arena *arena, const ShapeSql *sql, const Instant *starts, size_t n,
                       const char *where, DateRecord *dates, Error *err) {
  const Shape *shape = sql->shape;
  PG_SCOPED rows = NULL;
  bool days = date_kind_is_civil(shape->codec.kind);
  const char *text = sql_fill(arena, days ? sql_dates_by_value : sql_dates_by_place, "column", sql->date, "place",
                              days ? "" : shape_date_place(arena, sql, sql->date, starts, n), "table", sql->table,
                              "where", where == NULL ? "true" : where, "in_range",
                              shape_in_range(arena, sql, "", (DateRange){starts[0], starts[n]}), NULL);
  if (!pg_query(engine, text, NULL, 0, &rows, doing, err)) return false;
  for (int i = 0; i < PQntuples(rows); i++) {
    size_t place = row_place(shape, rows, i, starts, n);
    if (place == n) continue;
    dates[place].expected += pg_int(rows, i, 1);
    dates[place].suspect += pg_int(rows, i, 2);
  }
  return true;
}

static bool count_nulls(PgEngine *engine, Arena *arena, const ShapeSql *sql, int64_t *ret, Error *err) {
  *ret = 0;
  if (sql->shape->columns[sql->shape->date].not_null) return true;
  const char *text = sql_fill(arena, sql_dates_count_null, "table", sql->table, "column", sql->date, NULL);
  return pg_number(engine, text, NULL, 0, ret, "counting rows without a date", err);
}

bool pg_count_dates(Engine *base, Arena *arena, const Shape *shape, DateRange range, const char *where,
                    DateRecord **ret, size_t *ret_n, int64_t *ret_nulls, Error *err) {
  PgEngine *engine = pg_engine(base);
  ShapeSql sql;
  size_t n, kept = 0;
  int64_t nulls;
  if (!pg_shape_sql(engine, arena, shape, &sql, err)) return false;
  const Instant *starts = shape_dates(arena, &shape->codec, range, &n);
  DateRecord *dates = arena_array(arena, n, sizeof *dates);
  if (n > 0 && !count_rows(engine, arena, &sql, starts, n, where, dates, err)) return false;
  if (!count_nulls(engine, arena, &sql, &nulls, err)) return false;
  for (size_t i = 0; i < n; i++) {
    if (dates[i].expected == 0) continue;
    dates[kept] = dates[i];
    dates[kept++].date = starts[i];
  }
  *ret = dates;
  *ret_n = kept;
  *ret_nulls = nulls;
  return true;
}

/* ---- keys ------------------------------------------------------------------------------------------------------- */

/* The key's columns, each with `after` behind it, with `between` between them. */
static const char *key_list(Arena *arena, const ShapeSql *sql, const char *after, const char *between) {
  BUF_SCOPED list = {0};
  for (size_t i = 0; i < sql->n_key; i++)
    buf_printf(&list, "%s%s%s", i == 0 ? "" : between, sql->columns[sql->key[i]].name, after);
  return arena_strdup(arena, buf_text(&list));
}

/* To group by: a type that knows no equality is told apart by its text. */
static const char *group_list(Arena *arena, const ShapeSql *sql) {
  BUF_SCOPED list = {0};
  for (size_t i = 0; i < sql->n_key; i++) {
    const PgColumn *column = &sql->columns[sql->key[i]];
    buf_printf(&list, "%s(%s)%s", i == 0 ? "" : ", ", column->name, column->as_text ? "::text" : "");
  }
  return arena_strdup(arena, buf_text(&list));
}

/* Is the declared key, or a part of it, one that the table itself keeps? */
static bool is_enforced(PgEngine *engine, Arena *arena, const ShapeSql *sql, bool *ret, Error *err) {
  PG_SCOPED rows = NULL;
  BUF_SCOPED names = {0};
  for (size_t i = 0; i < sql->n_key; i++) {
    buf_puts(&names, i == 0 ? "{\"" : ",\"");
    for (const char *s = sql->shape->columns[sql->key[i]].name; *s != '\0'; s++) {
      if (*s == '"' || *s == '\\') buf_putc(&names, '\\');
      buf_putc(&names, *s);
    }
    buf_putc(&names, '"');
  }
  buf_putc(&names, '}');
  const char *const values[] = {sql->table, buf_text(&names)};
  if (!pg_query(engine, sql_dates_enforced, values, 2, &rows, doing, err)) return false;
  *ret = pg_bool(rows, 0, 0);
  return true;
}

static bool count_faults(PgEngine *engine, Arena *arena, const ShapeSql *sql, DateRange range, const char *statement,
                         const char *where, int64_t *ret, Error *err) {
  const char *text = sql_fill(arena, statement, "table", sql->table, "in_range", shape_in_range(arena, sql, "", range),
                              "where", where, "key", group_list(arena, sql), NULL);
  return pg_number(engine, text, NULL, 0, ret, "looking for faulty keys", err);
}

bool pg_key_faults(Engine *base, Arena *arena, const Shape *shape, DateRange range, int64_t *ret_duplicates,
                   int64_t *ret_nulls, Error *err) {
  PgEngine *engine = pg_engine(base);
  ShapeSql sql;
  bool nullable = false, enforced = true;
  int64_t duplicates = 0, nulls = 0;
  if (!pg_shape_sql(engine, arena, shape, &sql, err)) return false;
  for (size_t i = 0; i < sql.n_key; i++) nullable |= !shape->columns[sql.key[i]].not_null;
  if (sql.n_key > 0 && !is_enforced(engine, arena, &sql, &enforced, err)) return false;
  if (!enforced && !count_faults(engine, arena, &sql, range, sql_dates_duplicate_keys,
                                 key_list(arena, &sql, " IS NOT NULL", " AND "), &duplicates, err))
    return false;
  if (nullable && !count_faults(engine, arena, &sql, range, sql_dates_null_keys,
                                key_list(arena, &sql, " IS NULL", " OR "), &nulls, err))
    return false;
  *ret_duplicates = duplicates;
  *ret_nulls = nulls;
  return true;
}
