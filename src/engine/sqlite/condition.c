#include "engine/sqlite/catalog_int.h"
#include "engine/sqlite/query_int.h"
#include "engine/sqlite/sqlite_sql.h"

/* Conditions over a row of a table, and totals over many, as they stand in a spec. */

/* SQLite takes "nmae" for the text 'nmae' where no column is called so; a mistyped column must not become a constant.
 */
static int set_text_in_double_quotes(SqliteEngine *engine, int on) {
  int before = 0;
  sqlite3_db_config(engine->db, SQLITE_DBCONFIG_DQS_DML, -1, &before);
  sqlite3_db_config(engine->db, SQLITE_DBCONFIG_DQS_DML, on, NULL);
  return before;
}

static bool accepted(SqliteEngine *engine, Arena *arena, const Written *written, int *ret_offset, Error *err) {
  STMT_SCOPED stmt = {0};
  AccessLog log;
  return written_prepare(engine, arena, written, &stmt, &log, ret_offset, err);
}

/* In WHERE, SQLite itself refuses aggregates and window functions. */
static Written over_a_row(Arena *arena, const char *rows, const char *sql, bool parameters) {
  return (Written){.what = "the condition",
                   .sql = sql,
                   .before = sql_fill(arena, sql_facts_row_before, "rows", rows, NULL),
                   .after = "\n)",
                   .parameters = parameters};
}

static Written over_many(Arena *arena, const char *rows, const char *sql) {
  return (Written){.what = "the total",
                   .sql = sql,
                   .before = sql_facts_total_before,
                   .after = sql_fill(arena, sql_facts_total_after, "rows", rows, NULL),
                   .parameters = true};
}

/* A total that names columns but aggregates nothing would be asked of a single row. */
static bool check_total(SqliteEngine *engine, Arena *arena, const char *rows, const char *sql, int *ret_offset,
                        Error *err) {
  Error ignored;
  int nowhere;
  Written total = over_many(arena, rows, sql), row = over_a_row(arena, rows, sql, true), alone = total;
  alone.after = "\n)";
  if (!accepted(engine, arena, &total, ret_offset, err)) return false;
  if (!accepted(engine, arena, &row, &nowhere, &ignored) || accepted(engine, arena, &alone, &nowhere, &ignored))
    return true;
  *ret_offset = 0;
  error_set(err, ERR_SPEC, "the total has no aggregate, so it would look at one row alone");
  return error_hint(err, "write it under `rows`, or with sum(), count(), min(), max() or avg()");
}

bool sqlite_describe_condition(Engine *base, Arena *arena, const char *table, const char *recompute, const char *sql,
                               bool aggregate, int *ret_offset, Error *err) {
  SqliteEngine *engine = sqlite_engine(base);
  const char *name;
  *ret_offset = -1;
  if (!catalog_spelling(engine, arena, table, &name, err)) return false;
  const char *rows = recompute != NULL ? arena_printf(arena, "(%s\n)", recompute)
                                       : arena_printf(arena, "main.%s", sql_ident(arena, name));
  int before = set_text_in_double_quotes(engine, 0);
  Written row = over_a_row(arena, rows, sql, recompute != NULL);
  bool ok = aggregate ? check_total(engine, arena, rows, sql, ret_offset, err)
                      : accepted(engine, arena, &row, ret_offset, err);
  set_text_in_double_quotes(engine, before);
  return ok;
}
