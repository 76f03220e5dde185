#include "engine/postgres/postgres_sql.h"
#include "engine/postgres/query_int.h"

/* Conditions over a row of a table, and totals over many, as they stand in a spec. */

static bool accepted(PgEngine *engine, Arena *arena, const PgWritten *written, int *ret_offset, Error *err) {
  PG_SCOPED described = NULL;
  return pg_written_describe(engine, arena, written, NULL, &described, ret_offset, err);
}

/* In WHERE, the server itself refuses aggregates and window functions. */
static PgWritten over_a_row(Arena *arena, const char *rows, const char *sql, bool parameters) {
  return (PgWritten){.what = "the condition",
                     .sql = sql,
                     .before = sql_fill(arena, sql_query_row_before, "rows", rows, NULL),
                     .after = sql_query_row_after,
                     .parameters = parameters};
}

static PgWritten over_many(Arena *arena, const char *rows, const char *sql) {
  return (PgWritten){.what = "the total",
                     .sql = sql,
                     .before = sql_query_total_before,
                     .after = sql_fill(arena, sql_query_total_after, "rows", rows, NULL),
                     .parameters = true};
}

/* A total that names columns but aggregates nothing would be asked of a single row. */
static bool check_total(PgEngine *engine, Arena *arena, const char *rows, const char *sql, int *ret_offset,
                        Error *err) {
  Error ignored;
  int nowhere;
  PgWritten total = over_many(arena, rows, sql), row = over_a_row(arena, rows, sql, true), alone = total;
  alone.after = sql_query_total_alone;
  if (!accepted(engine, arena, &total, ret_offset, err)) return false;
  if (!accepted(engine, arena, &row, &nowhere, &ignored) || accepted(engine, arena, &alone, &nowhere, &ignored))
    return true;
  *ret_offset = 0;
  error_set(err, ERR_SPEC, "the total has no aggregate, so it would look at one row alone");
  return error_hint(err, "write it under `rows`, or with sum(), count(), min(), max() or avg()");
}

/* The table's name as SQL spells it. */
static bool table_name(PgEngine *engine, Arena *arena, const char *table, const char **ret, Error *err) {
  PG_SCOPED rows = NULL;
  if (!pg_query(engine, sql_query_table_name, &table, 1, &rows, "looking up the table", err)) return false;
  if (PQntuples(rows) == 0) return error_set(err, ERR_NOT_FOUND, "there is no table '%s'", table);
  *ret = pg_text(arena, rows, 0, 0);
  return true;
}

bool pg_describe_condition(Engine *base, Arena *arena, const char *table, const char *recompute, const char *sql,
                           bool aggregate, int *ret_offset, Error *err) {
  PgEngine *engine = pg_engine(base);
  const char *rows = NULL;
  *ret_offset = -1;
  if (recompute != NULL) {
    PgReplaced replaced;
    PG_SCOPED described = NULL;
    PgWritten query = {.what = "the query",
                       .sql = recompute,
                       .before = sql_query_before,
                       .after = sql_query_after,
                       .parameters = true};
    int of_recompute;
    if (!pg_written_describe(engine, arena, &query, &replaced, &described, &of_recompute, err)) return false;
    rows = arena_printf(arena, "(\n%s)", replaced.sql);
  } else if (!table_name(engine, arena, table, &rows, err)) {
    return false;
  }
  if (aggregate) return check_total(engine, arena, rows, sql, ret_offset, err);
  PgWritten row = over_a_row(arena, rows, sql, recompute != NULL);
  return accepted(engine, arena, &row, ret_offset, err);
}
