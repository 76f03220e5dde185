#include <string.h>

#include "engine/postgres/exchange.h"
#include "engine/postgres/postgres_sql.h"

/* The old partitions stand beside production since the swap, so that what the table got since then passed them by. */

static const char leveling[] = "giving the kept partitions the columns that came since";

static bool refuse(const ShapeSql *sql, const char *column, const char *why, Error *err) {
  error_set(err, ERR_STATE,
            "%s has the column %s since the swap, the kept partitions lack it, and since it %s it cannot be added to "
            "them: nothing was rolled back",
            sql->shape->table, column, why);
  return error_hint(err, "drop the column, roll back, and add it again");
}

static bool add_columns(PgEngine *engine, Arena *arena, const ShapeSql *sql, const ExchangePart *part,
                        const PGresult *columns, Error *err) {
  for (int i = 0; i < PQntuples(columns); i++) {
    const char *name = sql_ident(arena, pg_peek(columns, i, 0)), *why = pg_peek(columns, i, 4);
    if (why != NULL) return refuse(sql, name, why, err);
    const char *add =
        sql_fill(arena, sql_exchange_add_column, "kept", part->replacement, "column", pg_peek(columns, i, 1), NULL);
    const char *settle = sql_fill(arena, sql_exchange_settle_column, "kept", part->replacement, "name", name, "default",
                                  pg_peek(columns, i, 2), "null", pg_peek(columns, i, 3), NULL);
    if (!pg_run(engine, add, NULL, 0, NULL, leveling, err) || !pg_run(engine, settle, NULL, 0, NULL, leveling, err))
      return false;
  }
  return true;
}

/* The columns are production's own and not the recompute's: they are preserved. */
static void preserve(const PGresult *found, const Shape *shape, ShapeColumn *columns) {
  for (int i = 0; i < PQntuples(found); i++)
    for (size_t k = 0; k < shape->n; k++)
      if (strcmp(shape->columns[k].name, pg_peek(found, i, 0)) == 0) columns[k].generated = false;
}

bool exchange_level(PgEngine *engine, Arena *arena, const ShapeSql *sql, const ExchangePart *parts, size_t n,
                    const ShapeSql **ret, Error *err) {
  const Shape *shape = sql->shape;
  ShapeColumn *columns = arena_array(arena, shape->n, sizeof *columns);
  bool any = false;
  memcpy(columns, shape->columns, shape->n * sizeof *columns);
  for (size_t i = 0; i < n; i++) {
    PG_SCOPED found = NULL;
    const char *tables[] = {parts[i].partition, parts[i].replacement};
    if (!pg_query(engine, sql_exchange_later_columns, tables, 2, &found, leveling, err) ||
        !add_columns(engine, arena, sql, &parts[i], found, err))
      return false;
    preserve(found, shape, columns);
    any |= PQntuples(found) > 0;
  }
  *ret = sql;
  if (!any) return true;
  Shape *whole = arena_alloc(arena, sizeof *whole);
  ShapeSql *whole_sql = arena_alloc(arena, sizeof *whole_sql);
  *whole = *shape;
  whole->columns = columns;
  *ret = whole_sql;
  return pg_shape_sql(engine, arena, whole, whole_sql, err);
}
