#include "engine/sqlite/ledger_int.h"
#include "engine/sqlite/sqlite_sql.h"

/* Reading the ledger: each list is one SELECT, so it is of one snapshot. */

/* Fills one element from the row that the statement stands on. */
typedef bool (*RowReader)(Arena *arena, Stmt *stmt, void *ret, Error *err);

static bool read_rows(Engine *base, Arena *arena, const char *sql, const char *id, size_t size, RowReader reader,
                      void **ret, size_t *ret_n, Error *err) {
  static const char doing[] = "reading the ledger";
  SqliteEngine *engine = sqlite_engine(base);
  STMT_SCOPED stmt = {0};
  char *rows = NULL;
  size_t n = 0;
  if (!sql_prepare(engine, sql, &stmt, doing, err)) return false;
  sql_bind_text(&stmt, ":id", id);
  for (bool row = true;;) {
    if (!sql_step(engine, &stmt, &row, doing, err)) return false;
    if (!row) break;
    rows = arena_grow(arena, rows, n, size);
    if (!reader(arena, &stmt, rows + n * size, err)) return false;
    n++;
  }
  *ret = rows;
  *ret_n = n;
  return true;
}

/* Calls read_rows for an array of `type` and hands it over. */
#define READ_ROWS(type, sql, reader)                                                                  \
  do {                                                                                                \
    void *rows_;                                                                                      \
    if (!read_rows(base, arena, (sql), id, sizeof(type), (reader), &rows_, ret_n, err)) return false; \
    *ret = rows_;                                                                                     \
    return true;                                                                                      \
  } while (0)

static bool read_fingerprint(Stmt *stmt, int i, Fingerprint *ret, Error *err) {
  const char *text = sql_peek(stmt, i);
  if (text != NULL && fingerprint_parse(text, ret)) return true;
  error_set(err, ERR_DATABASE, "the ledger holds '%s' where a fingerprint should be", text == NULL ? "NULL" : text);
  return error_hint(err, "the table tidegate_date was changed by hand: plan the backfill again");
}

static bool backfill_row(Arena *arena, Stmt *stmt, void *ret, Error *err) {
  BackfillRecord *record = ret;
  const char **const texts[] = {&record->id,        &record->target,        &record->state,         &record->way,
                                &record->reason,    &record->digest,        &record->database_id,   &record->spec_path,
                                &record->spec_text, &record->pipeline_path, &record->pipeline_text, &record->plan,
                                &record->seal,      &record->swap,          &record->owner};
  enum { TEXTS = sizeof texts / sizeof *texts };
  for (int i = 0; i < TEXTS; i++) *texts[i] = sql_text(arena, stmt, i);
  record->created_at = sqlite3_column_int64(stmt->handle, TEXTS);
  record->changed_at = sqlite3_column_int64(stmt->handle, TEXTS + 1);
  record->swapped_at = sqlite3_column_int64(stmt->handle, TEXTS + 2);
  record->lease_owner = sql_text(arena, stmt, TEXTS + 3);
  record->lease_epoch = sqlite3_column_int64(stmt->handle, TEXTS + 4);
  record->lease_heartbeat = sqlite3_column_int64(stmt->handle, TEXTS + 5);
  return true;
}

/* A database without a ledger has no backfills. */
bool sqlite_ledger_list(Engine *base, Arena *arena, const BackfillRecord **ret, size_t *ret_n, Error *err) {
  const char *id = NULL;
  bool exists;
  if (!sqlite_ledger_exists(base, &exists, err)) return false;
  if (!exists) {
    *ret = NULL;
    *ret_n = 0;
    return true;
  }
  READ_ROWS(BackfillRecord, sql_ledger_list, backfill_row);
}

static bool date_row(Arena *arena, Stmt *stmt, void *ret, Error *err) {
  DateRecord *record = ret;
  int64_t *const numbers[] = {&record->date,    &record->expected, &record->suspect,
                              &record->batch,   &record->inserts,  &record->updates,
                              &record->deletes, &record->moves_in, &record->moves_out};
  enum { NUMBERS = sizeof numbers / sizeof *numbers };
  for (int i = 0; i < NUMBERS; i++) *numbers[i] = sqlite3_column_int64(stmt->handle, i);
  return read_fingerprint(stmt, NUMBERS, &record->production, err) &&
         read_fingerprint(stmt, NUMBERS + 1, &record->recomputed, err) &&
         read_fingerprint(stmt, NUMBERS + 2, &record->stable, err);
}

bool sqlite_ledger_dates(Engine *base, Arena *arena, const char *id, const DateRecord **ret, size_t *ret_n,
                         Error *err) {
  READ_ROWS(DateRecord, sql_ledger_dates, date_row);
}

static bool batch_row(Arena *arena, Stmt *stmt, void *ret, Error *err) {
  BatchRecord *record = ret;
  int64_t *const numbers[] = {&record->number, &record->from, &record->to,     &record->attempt,
                              &record->dates,  &record->rows, &record->changes};
  enum { NUMBERS = sizeof numbers / sizeof *numbers };
  for (int i = 0; i < NUMBERS; i++) *numbers[i] = sqlite3_column_int64(stmt->handle, i);
  record->seconds = sqlite3_column_double(stmt->handle, NUMBERS);
  record->token = sql_text(arena, stmt, NUMBERS + 1);
  record->log = sql_text(arena, stmt, NUMBERS + 2);
  record->done_at = sqlite3_column_int64(stmt->handle, NUMBERS + 3);
  return true;
}

bool sqlite_ledger_batches(Engine *base, Arena *arena, const char *id, const BatchRecord **ret, size_t *ret_n,
                           Error *err) {
  READ_ROWS(BatchRecord, sql_ledger_batches, batch_row);
}

static bool column_row(Arena *arena, Stmt *stmt, void *ret, Error *err) {
  *(ColumnChange *)ret = (ColumnChange){sql_text(arena, stmt, 0), sqlite3_column_int64(stmt->handle, 1)};
  return true;
}

bool sqlite_ledger_columns(Engine *base, Arena *arena, const char *id, const ColumnChange **ret, size_t *ret_n,
                           Error *err) {
  READ_ROWS(ColumnChange, sql_ledger_columns, column_row);
}

static bool finding_row(Arena *arena, Stmt *stmt, void *ret, Error *err) {
  *(FindingRecord *)ret = (FindingRecord){.batch = sqlite3_column_int64(stmt->handle, 0),
                                          .kind = sql_text(arena, stmt, 1),
                                          .subject = sql_text(arena, stmt, 2),
                                          .message = sql_text(arena, stmt, 3),
                                          .count = sqlite3_column_int64(stmt->handle, 4),
                                          .examples = sql_text(arena, stmt, 5)};
  return true;
}

bool sqlite_ledger_findings(Engine *base, Arena *arena, const char *id, const FindingRecord **ret, size_t *ret_n,
                            Error *err) {
  READ_ROWS(FindingRecord, sql_ledger_findings, finding_row);
}

static bool object_row(Arena *arena, Stmt *stmt, void *ret, Error *err) {
  *(ObjectRecord *)ret = (ObjectRecord){.name = sql_text(arena, stmt, 0),
                                        .role = sql_text(arena, stmt, 1),
                                        .identity = sql_text(arena, stmt, 2),
                                        .created_at = sqlite3_column_int64(stmt->handle, 3),
                                        .dropped_at = sqlite3_column_int64(stmt->handle, 4)};
  return true;
}

bool sqlite_ledger_objects(Engine *base, Arena *arena, const char *id, const ObjectRecord **ret, size_t *ret_n,
                           Error *err) {
  READ_ROWS(ObjectRecord, sql_ledger_objects, object_row);
}

static bool event_row(Arena *arena, Stmt *stmt, void *ret, Error *err) {
  *(EventRecord *)ret = (EventRecord){.at = sqlite3_column_int64(stmt->handle, 0),
                                      .who = sql_text(arena, stmt, 1),
                                      .what = sql_text(arena, stmt, 2),
                                      .detail = sql_text(arena, stmt, 3)};
  return true;
}

bool sqlite_ledger_events(Engine *base, Arena *arena, const char *id, const EventRecord **ret, size_t *ret_n,
                          Error *err) {
  READ_ROWS(EventRecord, sql_ledger_events, event_row);
}
