#include "engine/sqlite/ledger_int.h"
#include "engine/sqlite/sqlite_sql.h"

/* What batches write to the ledger: findings, objects, done marks. */

static bool add_findings(SqliteEngine *engine, const char *id, const FindingRecord *findings, size_t n, Error *err) {
  static const char doing[] = "writing down what was found";
  STMT_SCOPED stmt = {0};
  if (!sql_prepare(engine, sql_ledger_add_finding, &stmt, doing, err)) return false;
  sql_bind_text(&stmt, ":id", id);
  for (size_t i = 0; i < n; i++) {
    sql_bind_int(&stmt, ":batch", findings[i].batch);
    sql_bind_text(&stmt, ":kind", findings[i].kind);
    sql_bind_text(&stmt, ":subject", findings[i].subject);
    sql_bind_text(&stmt, ":message", findings[i].message);
    sql_bind_int(&stmt, ":count", findings[i].count);
    sql_bind_text(&stmt, ":examples", findings[i].examples);
    if (!ledger_step(engine, &stmt, doing, err)) return false;
  }
  return true;
}

bool sqlite_ledger_add_findings(Engine *base, const char *id, const FindingRecord *findings, size_t n, Error *err) {
  static const char doing[] = "writing down what was found";
  SqliteEngine *engine = sqlite_engine(base);
  ARENA_SCOPED arena = {0};
  const char *state;
  bool own;
  if (!ledger_begin(engine, &own, doing, err)) return false;
  bool ok = ledger_state(engine, &arena, id, &state, err) && add_findings(engine, id, findings, n, err);
  return ledger_end(engine, own, ok, doing, err);
}

bool sqlite_ledger_object_add(SqliteEngine *engine, const char *id, const ObjectRecord *object, Error *err) {
  static const char doing[] = "writing down an object";
  STMT_SCOPED stmt = {0};
  if (!sql_prepare(engine, sql_ledger_object_add, &stmt, doing, err)) return false;
  sql_bind_text(&stmt, ":id", id);
  sql_bind_text(&stmt, ":name", object->name);
  sql_bind_text(&stmt, ":role", object->role);
  sql_bind_text(&stmt, ":identity", object->identity);
  return ledger_step(engine, &stmt, doing, err) && ledger_note(engine, id, NULL, "object made", object->name, err);
}

bool sqlite_ledger_object_dropped(SqliteEngine *engine, const char *id, const char *name, Error *err) {
  static const char doing[] = "writing down that an object was dropped";
  STMT_SCOPED stmt = {0};
  if (!sql_prepare(engine, sql_ledger_object_dropped, &stmt, doing, err)) return false;
  sql_bind_text(&stmt, ":id", id);
  sql_bind_text(&stmt, ":name", name);
  if (!ledger_step(engine, &stmt, doing, err)) return false;
  if (sqlite3_changes(engine->db) == 1) return ledger_note(engine, id, NULL, "object dropped", name, err);
  return error_set(err, ERR_NOT_FOUND, "the ledger lists no object '%s' of backfill '%s' that still exists", name, id);
}

/* Column counts are kept by batch, not by date: those of a batch stay while one of its dates does, so a column that
 * changes is never missed; its count may be too high until then. Findings of batch `keep` stay. */
static bool forget(SqliteEngine *engine, const char *id, DateRange range, int64_t keep, Error *err) {
  static const char doing[] = "marking dates as not written";
  static const char *const statements[] = {sql_ledger_forget_dates, sql_ledger_forget_columns,
                                           sql_ledger_forget_findings, sql_ledger_forget_batches};
  char nothing[FINGERPRINT_TEXT];
  fingerprint_text(&(Fingerprint){0}, nothing);
  for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
    STMT_SCOPED stmt = {0};
    if (!sql_prepare(engine, statements[i], &stmt, doing, err)) return false;
    sql_bind_text(&stmt, ":id", id);
    sql_bind_int(&stmt, ":range_from", range.from);
    sql_bind_int(&stmt, ":range_to", range.to);
    sql_bind_text(&stmt, ":nothing", nothing);
    sql_bind_int(&stmt, ":keep", keep);
    if (!ledger_step(engine, &stmt, doing, err)) return false;
  }
  return true;
}

bool sqlite_ledger_forget(SqliteEngine *engine, const char *id, DateRange range, Error *err) {
  return forget(engine, id, range, 0, err);
}

static bool add_batch(SqliteEngine *engine, const char *id, const BatchRecord *batch, Error *err) {
  static const char doing[] = "writing down the batch";
  STMT_SCOPED stmt = {0};
  if (!sql_prepare(engine, sql_ledger_batch_add, &stmt, doing, err)) return false;
  sql_bind_text(&stmt, ":id", id);
  sql_bind_int(&stmt, ":number", batch->number);
  sql_bind_int(&stmt, ":range_from", batch->from);
  sql_bind_int(&stmt, ":range_to", batch->to);
  sql_bind_int(&stmt, ":attempt", batch->attempt);
  sql_bind_int(&stmt, ":dates", batch->dates);
  sql_bind_int(&stmt, ":rows", batch->rows);
  sql_bind_int(&stmt, ":changes", batch->changes);
  sql_bind_real(&stmt, ":seconds", batch->seconds);
  sql_bind_text(&stmt, ":token", batch->token);
  sql_bind_text(&stmt, ":log", batch->log);
  return ledger_step(engine, &stmt, doing, err);
}

static bool dates_done(SqliteEngine *engine, const char *id, int64_t batch, const BatchFacts *facts, Error *err) {
  static const char doing[] = "marking dates as written";
  STMT_SCOPED stmt = {0};
  if (!sql_prepare(engine, sql_ledger_date_done, &stmt, doing, err)) return false;
  sql_bind_text(&stmt, ":id", id);
  for (size_t i = 0; i < facts->n; i++) {
    const DateFacts *date = &facts->dates[i];
    ledger_bind_date(
        &stmt, &(LedgerDate){date->date, batch, &date->production, &date->recomputed, &date->stable, date->inserts,
                             date->updates, date->deletes, date->moves_in, date->moves_out});
    if (!ledger_step(engine, &stmt, doing, err)) return false;
    if (sqlite3_changes(engine->db) != 1)
      return error_set(err, ERR_STATE, "batch %lld wrote a date (%lld) that is not one of backfill '%s'",
                       (long long)batch, (long long)date->date, id);
  }
  return true;
}

static bool add_columns(SqliteEngine *engine, const char *id, int64_t batch, const int64_t *changes, const Shape *shape,
                        Error *err) {
  static const char doing[] = "writing down the columns that change";
  STMT_SCOPED stmt = {0};
  if (!sql_prepare(engine, sql_ledger_column_add, &stmt, doing, err)) return false;
  sql_bind_text(&stmt, ":id", id);
  sql_bind_int(&stmt, ":batch", batch);
  for (size_t i = 0; i < shape->n; i++) {
    if (changes[i] == 0) continue;
    sql_bind_text(&stmt, ":column", shape->columns[i].name);
    sql_bind_int(&stmt, ":rows", changes[i]);
    if (!ledger_step(engine, &stmt, doing, err)) return false;
  }
  return true;
}

bool sqlite_ledger_batch_done(SqliteEngine *engine, const char *id, const BatchRecord *batch, const BatchFacts *facts,
                              const Shape *shape, Error *err) {
  return forget(engine, id, (DateRange){batch->from, batch->to}, batch->number, err) &&
         add_batch(engine, id, batch, err) && dates_done(engine, id, batch->number, facts, err) &&
         (facts->column_changes == NULL || add_columns(engine, id, batch->number, facts->column_changes, shape, err));
}
