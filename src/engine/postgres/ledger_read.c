#include "engine/postgres/ledger_int.h"
#include "engine/postgres/postgres_sql.h"

/* Reading the ledger: each list is one SELECT, so it is of one snapshot. */

/* Fills one element from a row of the result. */
typedef bool (*RowReader)(Arena *arena, const PGresult *result, int row, void *ret, Error *err);

static bool read_rows(Engine *base, Arena *arena, const char *sql, const char *id, size_t size, RowReader reader,
                      void **ret, size_t *ret_n, Error *err) {
  PgEngine *engine = pg_engine(base);
  PG_SCOPED result = NULL;
  if (!pg_query(engine, pg_ledger_sql(engine, arena, sql, ""), &id, id == NULL ? 0 : 1, &result, "reading the ledger",
                err))
    return false;
  int n = PQntuples(result);
  char *rows = arena_array(arena, (size_t)n, size);
  for (int i = 0; i < n; i++)
    if (!reader(arena, result, i, rows + (size_t)i * size, err)) return false;
  *ret = rows;
  *ret_n = (size_t)n;
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

static bool read_fingerprint(const PGresult *result, int row, int i, Fingerprint *ret, Error *err) {
  const char *text = pg_peek(result, row, i);
  if (text != NULL && fingerprint_parse(text, ret)) return true;
  error_set(err, ERR_DATABASE, "the ledger holds '%s' where a fingerprint should be", text == NULL ? "NULL" : text);
  return error_hint(err, "the ledger's table date was changed by hand: plan the backfill again");
}

static bool backfill_row(Arena *arena, const PGresult *result, int row, void *ret, Error *err) {
  BackfillRecord *record = ret;
  const char **const texts[] = {&record->id,        &record->target,        &record->state,         &record->way,
                                &record->reason,    &record->digest,        &record->database_id,   &record->spec_path,
                                &record->spec_text, &record->pipeline_path, &record->pipeline_text, &record->plan,
                                &record->seal,      &record->swap,          &record->owner};
  enum { TEXTS = sizeof texts / sizeof *texts };
  for (int i = 0; i < TEXTS; i++) *texts[i] = pg_text(arena, result, row, i);
  record->created_at = pg_int(result, row, TEXTS);
  record->changed_at = pg_int(result, row, TEXTS + 1);
  record->swapped_at = pg_int(result, row, TEXTS + 2);
  record->lease_owner = pg_text(arena, result, row, TEXTS + 3);
  record->lease_epoch = pg_int(result, row, TEXTS + 4);
  record->lease_heartbeat = pg_int(result, row, TEXTS + 5);
  return true;
}

/* A database without a ledger has no backfills. */
bool pg_ledger_list(Engine *base, Arena *arena, const BackfillRecord **ret, size_t *ret_n, Error *err) {
  const char *id = NULL;
  bool exists;
  if (!pg_ledger_exists(base, &exists, err)) return false;
  if (!exists) {
    *ret = NULL;
    *ret_n = 0;
    return true;
  }
  READ_ROWS(BackfillRecord, sql_ledger_list, backfill_row);
}

static bool date_row(Arena *arena, const PGresult *result, int row, void *ret, Error *err) {
  DateRecord *record = ret;
  int64_t *const numbers[] = {&record->date,    &record->expected, &record->suspect,
                              &record->batch,   &record->inserts,  &record->updates,
                              &record->deletes, &record->moves_in, &record->moves_out};
  enum { NUMBERS = sizeof numbers / sizeof *numbers };
  for (int i = 0; i < NUMBERS; i++) *numbers[i] = pg_int(result, row, i);
  return read_fingerprint(result, row, NUMBERS, &record->production, err) &&
         read_fingerprint(result, row, NUMBERS + 1, &record->recomputed, err) &&
         read_fingerprint(result, row, NUMBERS + 2, &record->stable, err);
}

bool pg_ledger_dates(Engine *base, Arena *arena, const char *id, const DateRecord **ret, size_t *ret_n, Error *err) {
  READ_ROWS(DateRecord, sql_ledger_dates, date_row);
}

static bool batch_row(Arena *arena, const PGresult *result, int row, void *ret, Error *err) {
  BatchRecord *record = ret;
  int64_t *const numbers[] = {&record->number, &record->from, &record->to,     &record->attempt,
                              &record->dates,  &record->rows, &record->changes};
  enum { NUMBERS = sizeof numbers / sizeof *numbers };
  for (int i = 0; i < NUMBERS; i++) *numbers[i] = pg_int(result, row, i);
  record->seconds = pg_real(result, row, NUMBERS);
  record->token = pg_text(arena, result, row, NUMBERS + 1);
  record->log = pg_text(arena, result, row, NUMBERS + 2);
  record->done_at = pg_int(result, row, NUMBERS + 3);
  return true;
}

bool pg_ledger_batches(Engine *base, Arena *arena, const char *id, const BatchRecord **ret, size_t *ret_n, Error *err) {
  READ_ROWS(BatchRecord, sql_ledger_batches, batch_row);
}

static bool column_row(Arena *arena, const PGresult *result, int row, void *ret, Error *err) {
  *(ColumnChange *)ret = (ColumnChange){pg_text(arena, result, row, 0), pg_int(result, row, 1)};
  return true;
}

bool pg_ledger_columns(Engine *base, Arena *arena, const char *id, const ColumnChange **ret, size_t *ret_n,
                       Error *err) {
  READ_ROWS(ColumnChange, sql_ledger_columns, column_row);
}

static bool finding_row(Arena *arena, const PGresult *result, int row, void *ret, Error *err) {
  *(FindingRecord *)ret = (FindingRecord){.batch = pg_int(result, row, 0),
                                          .kind = pg_text(arena, result, row, 1),
                                          .subject = pg_text(arena, result, row, 2),
                                          .message = pg_text(arena, result, row, 3),
                                          .count = pg_int(result, row, 4),
                                          .examples = pg_text(arena, result, row, 5)};
  return true;
}

bool pg_ledger_findings(Engine *base, Arena *arena, const char *id, const FindingRecord **ret, size_t *ret_n,
                        Error *err) {
  READ_ROWS(FindingRecord, sql_ledger_findings, finding_row);
}

static bool object_row(Arena *arena, const PGresult *result, int row, void *ret, Error *err) {
  *(ObjectRecord *)ret = (ObjectRecord){.name = pg_text(arena, result, row, 0),
                                        .role = pg_text(arena, result, row, 1),
                                        .identity = pg_text(arena, result, row, 2),
                                        .created_at = pg_int(result, row, 3),
                                        .dropped_at = pg_int(result, row, 4)};
  return true;
}

bool pg_ledger_objects(Engine *base, Arena *arena, const char *id, const ObjectRecord **ret, size_t *ret_n,
                       Error *err) {
  READ_ROWS(ObjectRecord, sql_ledger_objects, object_row);
}

static bool event_row(Arena *arena, const PGresult *result, int row, void *ret, Error *err) {
  *(EventRecord *)ret = (EventRecord){.at = pg_int(result, row, 0),
                                      .who = pg_text(arena, result, row, 1),
                                      .what = pg_text(arena, result, row, 2),
                                      .detail = pg_text(arena, result, row, 3)};
  return true;
}

bool pg_ledger_events(Engine *base, Arena *arena, const char *id, const EventRecord **ret, size_t *ret_n, Error *err) {
  READ_ROWS(EventRecord, sql_ledger_events, event_row);
}
