#include <string.h>

#include "engine/postgres/postgres_sql.h"
#include "engine/postgres/work.h"

bool pg_triggers_off(PgEngine *engine, Arena *arena, const char *table, const char **ret_back, Error *err) {
  static const char doing[] = "turning the triggers off";
  PG_SCOPED rows = NULL;
  BUF_SCOPED back = {0};
  if (!pg_query(engine, sql_publish_triggers, &table, 1, &rows, doing, err)) return false;
  for (int i = 0; i < PQntuples(rows); i++) {
    if (!pg_run(engine, pg_peek(rows, i, 0), NULL, 0, NULL, doing, err)) return false;
    buf_append(&back, pg_peek(rows, i, 1), strlen(pg_peek(rows, i, 1)) + 1);
  }
  buf_putc(&back, '\0');
  *ret_back = memcpy(arena_alloc(arena, back.len), back.data, back.len);
  return true;
}

bool pg_triggers_back(PgEngine *engine, const char *back, Error *err) {
  for (; *back != '\0'; back += strlen(back) + 1)
    if (!pg_run(engine, back, NULL, 0, NULL, "turning the triggers on again", err)) return false;
  return true;
}
