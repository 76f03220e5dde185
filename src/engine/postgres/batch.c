#include <inttypes.h>
#include <string.h>

#include "engine/postgres/exchange.h"
#include "engine/postgres/postgres_sql.h"
#include "engine/postgres/way.h"

/* ---- taking earlier attempts away
 * -------------------------------------------------------------------------------------------- */

/* A key that moved away from a date outside these goes back to being a delete there: its move is forgotten with the
 * date that it moved to. Not so where the date is none of the backfill's (FINDING_KEY_OUTSIDE): nothing is deleted
 * there. */
static bool moves_back(EngineWriter *writer, Arena *arena, const ShapeSql *sql, DateRange range, const char *doing,
                       Error *err) {
  PgEngine *engine = writer->engine;
  const Shape *shape = sql->shape;
  DateRange whole;
  const char *old_date = shape_column(arena, shape, shape->date, "", "old_");
  if (!exchange_range(engine, shape, writer->id, &whole, err)) return false;
  const char *elsewhere = arena_printf(arena, "%s AND NOT (%s)", shape_within(arena, sql, old_date, whole),
                                       shape_within(arena, sql, old_date, range));
  const char *text = sql_fill(arena, sql_batch_moves_back, "changes", pg_object(engine, arena, writer->id, "changes"),
                              "old", pg_shape_list(arena, shape, sql->stored, sql->n_stored, "", "old_"), "old_instant",
                              shape_instant(arena, sql, old_date), "first", shape_number(arena, range.from), "last",
                              shape_number(arena, range.to), "elsewhere", elsewhere, NULL);
  return pg_run(engine, text, NULL, 0, NULL, doing, err);
}

bool changes_forget(EngineWriter *writer, Arena *arena, const ShapeSql *sql, DateRange range, Error *err) {
  static const char doing[] = "taking an earlier attempt away";
  PgEngine *engine = writer->engine;
  const char *forget = sql_fill(arena, sql_batch_forget, "changes", pg_object(engine, arena, writer->id, "changes"),
                                "first", shape_number(arena, range.from), "last", shape_number(arena, range.to), NULL);
  return (!sql->shape->keyed || moves_back(writer, arena, sql, range, doing, err)) &&
         pg_run(engine, forget, NULL, 0, NULL, doing, err);
}

/* Takes away what an earlier attempt stored for the job's dates. */
static bool forget_earlier(EngineWriter *writer, const ShapeSql *sql, const Job *job, Error *err) {
  ARENA_SCOPED arena = {0};
  PgEngine *engine = writer->engine;
  DateRange range = {job->dates[0], job->dates[job->n]};
  int64_t before;
  const char *values[] = {writer->id, shape_number(&arena, range.from), shape_number(&arena, range.to)};
  const char *text = sql_fill(&arena, sql_batch_stored_before, "ledger", pg_schema(engine, &arena), NULL);
  if (!pg_number(engine, text, values, 3, &before, "looking for an earlier attempt", err)) return false;
  return before == 0 || pg_way(job->shape)->forget(writer, &arena, sql, range, err);
}

bool pg_forget(EngineWriter *writer, const Shape *shape, DateRange range, Error *err) {
  ARENA_SCOPED arena = {0};
  ShapeSql sql;
  return pg_shape_sql(writer->engine, &arena, shape, &sql, err) &&
         pg_way(shape)->forget(writer, &arena, &sql, range, err) &&
         pg_ledger_forget(writer->engine, writer->id, range, err);
}

/* A function that the recompute calls could write production itself (law 1); then nothing of the transaction stays. */
static bool spared_production(PgEngine *engine, const Shape *shape, Error *err) {
  int64_t written;
  if (!pg_number(engine, sql_batch_wrote_production, &shape->table, 1, &written, "looking at production", err))
    return false;
  if (written == 0) return true;
  error_set(err, ERR_HELD, "a function that the recompute calls wrote %" PRId64 " rows of %s: that was taken back",
            written, shape->table);
  return error_hint(err, "production is untouched. Let the recompute only read, and run again");
}

/* ---- a batch
 * ---------------------------------------------------------------------------------------------------------------- */

bool changes_compute(EngineWriter *writer, Arena *arena, const ShapeSql *sql, const Job *job, BatchFacts *ret,
                     Error *err) {
  return compare_into(writer->engine, arena, sql, job, pg_object(writer->engine, arena, writer->id, "changes"), ret,
                      err);
}

bool pg_compute(EngineWriter *writer, Arena *arena, const Job *job, const Interrupt *interrupt, BatchFacts *ret,
                Error *err) {
  PgEngine *engine = writer->engine;
  ShapeSql sql;
  engine->interrupt = interrupt;
  bool ok = pg_shape_sql(engine, arena, job->shape, &sql, err) && forget_earlier(writer, &sql, job, err) &&
            pg_way(job->shape)->compute(writer, arena, &sql, job, ret, err);
  engine->interrupt = NULL;
  return ok && spared_production(engine, job->shape, err);
}

bool pg_store(EngineWriter *writer, const Job *job, const BatchFacts *facts, const BatchRecord *record, Error *err) {
  return pg_ledger_batch_done(writer->engine, writer->id, record, facts, job->shape, err);
}

/* When the batches are over the planner is told what the change set holds: the swap's plans rest on it. */
bool changes_seal(EngineWriter *writer, Arena *arena, const ShapeSql *sql, Error *err) {
  PgEngine *engine = writer->engine;
  const char *changes = pg_object(engine, arena, writer->id, "changes");
  const char *settle = sql_fill(arena, sql_batch_settle_moves, "changes", changes, "match",
                                pg_shape_key_match(arena, sql, "d.", "old_", "m.", "old_"), NULL);
  return (!sql->shape->keyed || pg_run(engine, settle, NULL, 0, NULL, "settling the moves", err)) &&
         pg_run(engine, sql_fill(arena, sql_batch_analyze, "changes", changes, NULL), NULL, 0, NULL,
                "counting the change set", err);
}

bool pg_settle_moves(EngineWriter *writer, const Shape *shape, Error *err) {
  ARENA_SCOPED arena = {0};
  ShapeSql sql;
  return pg_shape_sql(writer->engine, &arena, shape, &sql, err) && pg_way(shape)->seal(writer, &arena, &sql, err);
}

bool pg_fill_shadow(EngineWriter *writer, const Job *job, const Interrupt *interrupt, Error *err) {
  static const char doing[] = "filling the shadow";
  ARENA_SCOPED arena = {0};
  PgEngine *engine = writer->engine;
  ShapeSql sql;
  if (!pg_shape_sql(engine, &arena, job->shape, &sql, err)) return false;
  const char *shadow = pg_object(engine, &arena, writer->id, "shadow");
  const char *clear = sql_fill(&arena, sql_batch_shadow_clear, "shadow", shadow, "in_range",
                               shape_in_range(&arena, &sql, "", (DateRange){job->dates[0], job->dates[job->n]}), NULL);
  const char *fill = job->recompute == NULL ? NULL
                                            : sql_fill(&arena, sql_batch_shadow_fill, "shadow", shadow, "columns",
                                                       pg_shape_list(&arena, sql.shape, sql.given, sql.n_given, "", ""),
                                                       "recompute", shape_recompute(engine, &arena, &sql, job), NULL);
  engine->interrupt = interrupt;
  bool ok = pg_run(engine, clear, NULL, 0, NULL, doing, err) &&
            (fill == NULL || (compare_overlay(engine, &arena, &sql, job, true, err) &&
                              pg_run(engine, fill, NULL, 0, NULL, doing, err) &&
                              compare_overlay(engine, &arena, &sql, job, false, err)));
  engine->interrupt = NULL;
  return ok && spared_production(engine, job->shape, err);
}
