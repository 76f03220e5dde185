#include <string.h>

#include "engine/postgres/postgres_sql.h"
#include "engine/postgres/work.h"

bool pg_refresh(EngineWriter *writer, const char *view, bool *ret_readers_go_on, Error *err) {
  ARENA_SCOPED arena = {0};
  PgEngine *engine = writer->engine;
  PG_SCOPED facts = NULL;
  const char *name[] = {view};
  if (!pg_query(engine, sql_refresh_facts, name, 1, &facts, "looking at the materialized view", err)) return false;
  if (PQntuples(facts) == 0) return error_set(err, ERR_NOT_FOUND, "there is no materialized view %s", view);
  if (!pg_bool(facts, 0, 0)) return error_set(err, ERR_NOT_FOUND, "%s is not a materialized view", view);
  bool go_on = pg_bool(facts, 0, 2);
  const char *refresh = sql_fill(&arena, sql_refresh_refresh, "concurrently", go_on ? "CONCURRENTLY " : "", "view",
                                 pg_text(&arena, facts, 0, 1), NULL);
  if (!pg_run(engine, refresh, NULL, 0, NULL, arena_printf(&arena, "refreshing %s", view), err)) {
    const char *grant = pg_peek(facts, 0, 3);
    if (grant != NULL && strcmp(pg_sqlstate(engine), "42501") == 0) error_hint(err, "have a DBA run %s", grant);
    return false;
  }
  *ret_readers_go_on = go_on;
  return true;
}
