#include "engine/sqlite/sqlite_sql.h"
#include "engine/sqlite/stage.h"
#include "engine/sqlite/work.h"

static const char *column_definitions(Arena *arena, const ShapeSql *sql, const size_t *columns, size_t n,
                                      const char *prefix) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < n; i++)
    buf_printf(&out, ", %s %s",
               sql_ident(arena, arena_printf(arena, "%s%s", prefix, sql->shape->columns[columns[i]].name)),
               affinity_word(sql->affinity[columns[i]]));
  return arena_strdup(arena, buf_text(&out));
}

const char *stage_create_sql(Arena *arena, const ShapeSql *sql, const char *table) {
  return sql_fill(arena, sql_batch_create, "table", table, "old",
                  column_definitions(arena, sql, sql->stored, sql->n_stored, "old_"), "new",
                  column_definitions(arena, sql, sql->given, sql->n_given, "new_"), NULL);
}

typedef struct Stage {
  SqliteEngine *engine;
  const ShapeSql *sql;
  Stmt insert;
} Stage;

static bool stage_put(void *context, char op, Instant date, const Value *old_row, const Value *new_row, Error *err) {
  Stage *stage = context;
  sqlite3_stmt *stmt = stage->insert.handle;
  int at = 1;
  bool row;
  sqlite3_bind_text(stmt, at++, &op, 1, SQLITE_STATIC);
  sqlite3_bind_int64(stmt, at++, date);
  static const Value null = {.type = SQLITE_NULL};
  for (size_t i = 0; i < stage->sql->n_stored; i++) value_bind(stmt, at++, old_row == NULL ? &null : &old_row[i]);
  for (size_t i = 0; i < stage->sql->n_given; i++) value_bind(stmt, at++, new_row == NULL ? &null : &new_row[i]);
  bool ok = sql_step(stage->engine, &stage->insert, &row, "staging a change", err);
  sqlite3_reset(stmt);
  return ok;
}

static bool stage_insert(Stage *stage, Arena *arena, const char *table, Error *err) {
  size_t n = 2 + stage->sql->n_stored + stage->sql->n_given; /* op, date, old and new values */
  const char *text = sql_fill(arena, sql_batch_add, "table", table, "parameters", shape_parameters(arena, n), NULL);
  return sql_prepare(stage->engine, text, &stage->insert, "staging", err);
}

static bool compare_into(Stage *stage, Arena *arena, const Job *job, const char *table, BatchFacts *ret, Error *err) {
  CompareSink sink = {stage_put, stage};
  bool ok = stage_insert(stage, arena, table, err) && compare_run(stage->engine, arena, job, &sink, ret, err);
  stmt_finalize(&stage->insert);
  return ok;
}

bool stage_compare(SqliteEngine *engine, Arena *arena, const Job *job, BatchFacts *ret, Error *err) {
  ShapeSql sql;
  if (!shape_sql(engine, arena, job->shape, &sql, err)) return false;
  Stage stage = {.engine = engine, .sql = &sql};
  return sql_run(engine, sql_batch_stage_forget, "staging", err) &&
         sql_run(engine, stage_create_sql(arena, &sql, STAGE_TABLE), "staging", err) &&
         compare_into(&stage, arena, job, STAGE_TABLE, ret, err);
}

/* A key that moved away from a date outside these goes back to being a delete there: its move is forgotten with the
 * date that it moved to. */
static const char *moves_back_sql(Arena *arena, const ShapeSql *sql, const char *changes) {
  const char *old_columns = shape_list(arena, sql->shape, sql->stored, sql->n_stored, "", "old_");
  const char *old_date = sql_ident(arena, arena_printf(arena, "old_%s", sql->shape->columns[sql->shape->date].name));
  return sql_fill(arena, sql_batch_moves_back, "changes", changes, "old", old_columns, "old_date", old_date, NULL);
}

static bool forget_changes(SqliteEngine *engine, const Shape *shape, const char *id, DateRange range, Error *err) {
  ARENA_SCOPED arena = {0};
  ShapeSql sql;
  if (!shape_sql(engine, &arena, shape, &sql, err)) return false;
  sqlite_use_codec(engine, &shape->codec);
  const char *changes = shape_object(&arena, id, "changes");
  const char *statements[] = {
      moves_back_sql(&arena, &sql, changes),
      sql_fill(&arena, sql_batch_forget, "changes", changes, NULL),
  };
  for (size_t i = 0; i < 2; i++) {
    STMT_SCOPED stmt = {0};
    bool row;
    if (!sql_prepare(engine, statements[i], &stmt, "taking an earlier attempt away", err)) return false;
    sql_bind_int(&stmt, ":first", range.from);
    sql_bind_int(&stmt, ":last", range.to);
    if (!sql_step(engine, &stmt, &row, "taking an earlier attempt away", err)) return false;
  }
  return true;
}

/* Were any of these dates stored before? */
static bool stored_before(SqliteEngine *engine, const char *id, DateRange range, bool *ret, Error *err) {
  STMT_SCOPED stmt = {0};
  if (!sql_prepare(engine, sql_batch_stored_before, &stmt, "looking for an earlier attempt", err)) return false;
  sql_bind_text(&stmt, ":id", id);
  sql_bind_int(&stmt, ":first", range.from);
  sql_bind_int(&stmt, ":last", range.to);
  return sql_step(engine, &stmt, ret, "looking for an earlier attempt", err);
}

/* Takes away what an earlier attempt stored for the job's dates. */
static bool forget_earlier(EngineWriter *writer, const Job *job, Error *err) {
  DateRange range = {job->dates[0], job->dates[job->n]};
  bool before;
  if (!stored_before(writer->engine, writer->id, range, &before, err)) return false;
  return !before || forget_changes(writer->engine, job->shape, writer->id, range, err);
}

static bool compute_directly(EngineWriter *writer, Arena *arena, const Job *job, BatchFacts *ret, Error *err) {
  ShapeSql sql;
  if (!shape_sql(writer->engine, arena, job->shape, &sql, err) || !forget_earlier(writer, job, err)) return false;
  Stage stage = {.engine = writer->engine, .sql = &sql};
  return compare_into(&stage, arena, job, shape_object(arena, writer->id, "changes"), ret, err);
}

bool sqlite_compute(EngineWriter *writer, Arena *arena, const Job *job, const Interrupt *interrupt, BatchFacts *ret,
                    Error *err) {
  writer->engine->interrupt = interrupt;
  writer->direct = writer->open;
  bool ok = writer->direct ? compute_directly(writer, arena, job, ret, err)
                           : stage_compare(writer->engine, arena, job, ret, err);
  writer->engine->interrupt = NULL;
  return ok;
}

bool sqlite_store(EngineWriter *writer, const Job *job, const BatchFacts *facts, const BatchRecord *record,
                  Error *err) {
  ARENA_SCOPED arena = {0};
  SqliteEngine *engine = writer->engine;
  const char *store = sql_fill(&arena, sql_batch_store, "changes", shape_object(&arena, writer->id, "changes"), "stage",
                               STAGE_TABLE, NULL);
  if (!writer->direct && (!forget_earlier(writer, job, err) || !sql_run(engine, store, "storing the batch", err)))
    return false;
  return sqlite_ledger_batch_done(engine, writer->id, record, facts, job->shape, err);
}

bool sqlite_forget(EngineWriter *writer, const Shape *shape, DateRange range, Error *err) {
  return forget_changes(writer->engine, shape, writer->id, range, err) &&
         sqlite_ledger_forget(writer->engine, writer->id, range, err);
}

bool sqlite_settle_moves(EngineWriter *writer, const Shape *shape, Error *err) {
  ARENA_SCOPED arena = {0};
  ShapeSql sql;
  if (!shape->keyed) return true;
  if (!shape_sql(writer->engine, &arena, shape, &sql, err)) return false;
  return sql_run(writer->engine,
                 sql_fill(&arena, sql_batch_settle_moves, "changes", shape_object(&arena, writer->id, "changes"),
                          "match", shape_key_match(&arena, &sql, "d.", "old_", "m.", "old_"), NULL),
                 "settling the moves", err);
}

bool sqlite_fill_shadow(EngineWriter *writer, const Job *job, const Interrupt *interrupt, Error *err) {
  ARENA_SCOPED arena = {0};
  SqliteEngine *engine = writer->engine;
  ShapeSql sql;
  if (!shape_sql(engine, &arena, job->shape, &sql, err)) return false;
  const char *shadow = shape_object(&arena, writer->id, "shadow");
  const char *columns = shape_list(&arena, sql.shape, sql.given, sql.n_given, "", "");
  const char *clear = sql_fill(&arena, sql_batch_shadow_clear, "shadow", shadow, "date", sql.date, NULL);
  const char *fill = job->recompute == NULL ? NULL
                                            : sql_fill(&arena, sql_batch_shadow_fill, "shadow", shadow, "columns",
                                                       columns, "recompute", job->recompute, NULL);
  if (job->overlay && !compare_overlay_begin(engine, &arena, &sql, job, err)) return false;
  engine->interrupt = interrupt;
  bool ok = true;
  for (int i = 0; i < 2 && ok; i++) {
    STMT_SCOPED stmt = {0};
    bool row;
    if ((i == 0 ? clear : fill) == NULL) continue;
    ok = sql_prepare(engine, i == 0 ? clear : fill, &stmt, "filling the shadow", err);
    if (!ok) break;
    sql_bind_range(&stmt, &job->shape->codec, (DateRange){job->dates[0], job->dates[job->n]});
    ok = sql_step(engine, &stmt, &row, "filling the shadow", err);
  }
  engine->interrupt = NULL;
  if (job->overlay) {
    Error ignored;
    if (!compare_overlay_end(engine, &arena, &sql, ok ? err : &ignored)) ok = false;
  }
  return ok;
}
