#include "engine/postgres/catalog_int.h"
#include "engine/postgres/postgres_sql.h"

/* The statement for those kinds of which there may be any; NULL: of none. */
static const char *statement(Arena *arena, const PGresult *kinds) {
  static const struct {
    const char *kind, *sql;
  } parts[] = {
      {"readers", sql_facts_dependents_readers},           {"readers", sql_facts_dependents_rules},
      {"triggers", sql_facts_dependents_triggers},         {"routines", sql_facts_dependents_routines},
      {"children", sql_facts_dependents_children},         {"policies", sql_facts_dependents_policies},
      {"publications", sql_facts_dependents_publications}, {"foreign_tables", sql_facts_dependents_foreign_tables}};
  BUF_SCOPED text = {0};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (pg_bool(kinds, 0, PQfnumber(kinds, parts[i].kind)))
      buf_printf(&text, "%s%s", text.len == 0 ? "" : "\nUNION ALL\n", parts[i].sql);
  return text.len == 0 ? NULL : sql_fill(arena, sql_facts_dependents, "kinds", buf_text(&text), NULL);
}

bool pg_dependents(Engine *base, Arena *arena, const char *table, const char **ret_schema, const DependentFacts **ret,
                   size_t *ret_n, Error *err) {
  PgEngine *engine = pg_engine(base);
  PG_SCOPED kinds = NULL;
  PG_SCOPED result = NULL;
  const char *oid;
  if (!catalog_must_find(engine, arena, table, &oid, err) ||
      !catalog_query(engine, sql_facts_dependent_kinds, oid, NULL, &kinds, err))
    return false;
  if (PQntuples(kinds) == 0) return error_set(err, ERR_NOT_FOUND, "'%s' was dropped just now", table);
  const char *sql = statement(arena, kinds);
  *ret_schema = pg_text(arena, kinds, 0, PQfnumber(kinds, "schema"));
  *ret = NULL;
  *ret_n = 0;
  if (sql == NULL) return true;
  if (!catalog_query(engine, sql, oid, engine->schema, &result, err)) return false;
  size_t n = (size_t)PQntuples(result);
  DependentFacts *found = arena_array(arena, n, sizeof *found);
  for (size_t i = 0; i < n; i++)
    found[i] = (DependentFacts){.name = pg_text(arena, result, (int)i, 0),
                                .kind = pg_text(arena, result, (int)i, 1),
                                .via = pg_text(arena, result, (int)i, 2),
                                .needs = pg_text(arena, result, (int)i, 3),
                                .through = pg_bool(result, (int)i, 4),
                                .schema = pg_text(arena, result, (int)i, 5)};
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
