#include "engine/postgres/catalog_int.h"
#include "engine/postgres/postgres_sql.h"

bool pg_dependents(Engine *base, Arena *arena, const char *table, const DependentFacts **ret, size_t *ret_n,
                   Error *err) {
  PgEngine *engine = pg_engine(base);
  PG_SCOPED result = NULL;
  const char *oid;
  if (!catalog_must_find(engine, arena, table, &oid, err) ||
      !catalog_query(engine, sql_facts_dependents, oid, engine->schema, &result, err))
    return false;
  size_t n = (size_t)PQntuples(result);
  DependentFacts *found = arena_array(arena, n, sizeof *found);
  for (size_t i = 0; i < n; i++)
    found[i] = (DependentFacts){.name = pg_text(arena, result, (int)i, 0),
                                .kind = pg_text(arena, result, (int)i, 1),
                                .via = pg_text(arena, result, (int)i, 2),
                                .needs = pg_text(arena, result, (int)i, 3)};
  *ret = found;
  *ret_n = n;
  return true;
}
