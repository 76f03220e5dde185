#include "engine/postgres/catalog_int.h"
#include "engine/postgres/postgres_sql.h"

bool pg_dependents(Engine *base, Arena *arena, const char *table, const char **ret_schema, const DependentFacts **ret,
                   size_t *ret_n, Error *err) {
  PgEngine *engine = pg_engine(base);
  PG_SCOPED result = NULL;
  const char *oid;
  if (!catalog_must_find(engine, arena, table, &oid, err) ||
      !catalog_query(engine, sql_facts_dependents, oid, engine->schema, &result, err))
    return false;
  if (PQntuples(result) == 0) return error_set(err, ERR_NOT_FOUND, "'%s' was dropped just now", table);
  size_t n = (size_t)PQntuples(result) - 1; /* the last is the table itself */
  DependentFacts *found = arena_array(arena, n, sizeof *found);
  for (size_t i = 0; i < n; i++)
    found[i] = (DependentFacts){.name = pg_text(arena, result, (int)i, 0),
                                .kind = pg_text(arena, result, (int)i, 1),
                                .via = pg_text(arena, result, (int)i, 2),
                                .needs = pg_text(arena, result, (int)i, 3),
                                .through = pg_bool(result, (int)i, 4),
                                .schema = pg_text(arena, result, (int)i, 5)};
  *ret_schema = pg_text(arena, result, (int)n, 5);
  *ret = found;
  *ret_n = n;
  return true;
}

bool pg_view_reads(Engine *base, Arena *arena, const ReadFacts **ret, size_t *ret_n, Error *err) {
  PgEngine *engine = pg_engine(base);
  PG_SCOPED result = NULL;
  if (!pg_query(engine, sql_facts_view_reads, (const char *[]){engine->schema}, 1, &result,
                "looking up what the views read", err))
    return false;
  size_t n = (size_t)PQntuples(result);
  ReadFacts *found = arena_array(arena, n, sizeof *found);
  for (size_t i = 0; i < n; i++) {
    const char *columns = pg_peek(result, (int)i, 3);
    found[i] = (ReadFacts){.reader = pg_text(arena, result, (int)i, 0),
                           .kind = pg_text(arena, result, (int)i, 1),
                           .source = pg_text(arena, result, (int)i, 2),
                           .reader_schema = pg_text(arena, result, (int)i, 4),
                           .source_schema = pg_text(arena, result, (int)i, 5)};
    if (columns != NULL) found[i].columns = pg_array(arena, columns, &found[i].n);
  }
  *ret = found;
  *ret_n = n;
  return true;
}
