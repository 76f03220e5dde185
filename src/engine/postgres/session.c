#include <stdlib.h>
#include <string.h>

#include "engine/postgres/postgres_sql.h"
#include "engine/postgres/shape_sql.h"

/* What the database says about itself, and whether others have changed it. */

EngineCaps pg_caps(Engine *base) {
  return (EngineCaps){
      .transactions = true, .readers_unblocked = true, .writes_apart = true, .row_change = true, .cancel = true};
}

/* The first value of a statement without parameters, in the arena; "" for NULL and for no row. */
static bool one_text(PgEngine *engine, Arena *arena, const char *sql, const char **ret, const char *doing, Error *err) {
  PG_SCOPED result = NULL;
  if (!pg_query(engine, sql, NULL, 0, &result, doing, err)) return false;
  const char *text = PQntuples(result) > 0 ? pg_text(arena, result, 0, 0) : NULL;
  *ret = text == NULL ? "" : text;
  return true;
}

/* Server, database and timeline. */
static bool place(PgEngine *engine, Arena *arena, const char **ret, Error *err) {
  static const char doing[] = "asking which database this is";
  int64_t may;
  return pg_number(engine, sql_session_may_read_control, NULL, 0, &may, doing, err) &&
         one_text(engine, arena, may != 0 ? sql_session_place : sql_session_place_unnamed, ret, doing, err);
}

bool pg_identity(Engine *base, Arena *arena, const char **ret, Error *err) {
  PgEngine *engine = pg_engine(base);
  const char *where, *uuid;
  bool exists;
  if (!pg_ledger_exists(base, &exists, err)) return false;
  *ret = "";
  if (!exists) return true;
  if (!place(engine, arena, &where, err) ||
      !one_text(engine, arena, sql_fill(arena, sql_session_uuid, "ledger", pg_schema(engine, arena), NULL), &uuid,
                "reading the identity", err))
    return false;
  if (uuid[0] == '\0') return error_set(err, ERR_DATABASE, "the ledger in schema %s has no identity", engine->schema);
  *ret = arena_printf(arena, "%s/%s", where, uuid);
  return true;
}

bool pg_now(Engine *base, Instant *ret, Error *err) {
  return pg_number(pg_engine(base), sql_session_now, NULL, 0, ret, "asking for the time", err);
}

bool pg_space(Engine *base, SpaceFacts *ret, Error *err) {
  int64_t bytes;
  if (!pg_number(pg_engine(base), sql_session_size, NULL, 0, &bytes, "asking for the database's size", err))
    return false;
  *ret = (SpaceFacts){bytes, -1};
  return true;
}

bool pg_settings(Engine *base, Arena *arena, const char **ret, Error *err) {
  return one_text(pg_engine(base), arena, sql_session_settings, ret, "reading the settings", err);
}

/* ---- has anything changed? -------------------------------------------------------------------------------------- */

bool pg_change_token(Engine *base, Arena *arena, const char **ret, Error *err) {
  PgEngine *engine = pg_engine(base);
  const char *where, *snapshot;
  if (!place(engine, arena, &where, err) ||
      !one_text(engine, arena, sql_session_snapshot, &snapshot, "reading the change token", err))
    return false;
  *ret = arena_printf(arena, "%s %s", where, snapshot);
  return true;
}

/* The snapshot that a token of this very database holds; NULL for a token of another one. */
static const char *snapshot_of(const char *token, const char *where) {
  size_t n = strlen(where);
  return strncmp(token, where, n) == 0 && token[n] == ' ' ? token + n + 1 : NULL;
}

/* Ids go round after 2^31: up to half of that their order is beyond doubt. */
static const int64_t comparable_ids = 1000000000;
static const int64_t countable_ids = 10000;

/* Production's rows of the job's dates are those of the snapshot when none is younger and none is missing. */
static bool production_unchanged(PgEngine *engine, Arena *arena, const Job *job, const char *snapshot, int64_t rows,
                                 bool *ret, Error *err) {
  ShapeSql sql;
  PG_SCOPED result = NULL;
  if (!pg_shape_sql(engine, arena, job->shape, &sql, err)) return false;
  DateRange range = {job->dates[0], job->dates[job->n]};
  const char *text = sql_fill(arena, sql_session_production_since, "target", sql.table, "in_range",
                              shape_in_range(arena, &sql, "p.", range), NULL);
  const char *const oldest[] = {arena_strndup(arena, snapshot, strcspn(snapshot, ":"))};
  if (!pg_query(engine, text, oldest, 1, &result, "looking for later writes", err)) return false;
  *ret = pg_int(result, 0, 0) == rows && pg_int(result, 0, 1) == 0;
  return true;
}

bool pg_unchanged(Engine *base, const Job *job, const char *token, int64_t rows, Unchanged *ret, Error *err) {
  PgEngine *engine = pg_engine(base);
  ARENA_SCOPED arena = {0};
  PG_SCOPED result = NULL;
  Unchanged proven = {false, false};
  const char *where;
  bool exists;
  if (!pg_ledger_exists(base, &exists, err) || !place(engine, &arena, &where, err)) return false;
  const char *snapshot = snapshot_of(token, where);
  if (exists && snapshot != NULL) {
    const char *text = sql_fill(&arena, sql_session_since, "ledger", pg_schema(engine, &arena), NULL);
    const char *const values[] = {snapshot, engine->schema};
    if (!pg_query(engine, text, values, 2, &result, "looking for later commits", err)) return false;
    int64_t ids = pg_int(result, 0, 0);
    bool nobody = ids <= countable_ids && pg_int(result, 0, 1) == 0 && !pg_bool(result, 0, 2);
    proven = (Unchanged){nobody, nobody && !pg_bool(result, 0, 3)};
    if (!nobody && ids <= comparable_ids &&
        !production_unchanged(engine, &arena, job, snapshot, rows, &proven.production, err))
      return false;
  }
  *ret = proven;
  return true;
}
