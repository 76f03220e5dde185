#include "engine/sqlite/ledger_int.h"
#include "engine/sqlite/sqlite_sql.h"

/* Verdicts on other tools' commands. */

static const char doing[] = "writing down a verdict";

static bool is_there(SqliteEngine *engine, bool *ret, Error *err) {
  STMT_SCOPED stmt = {0};
  bool row;
  if (!sql_prepare(engine, sql_audit_there, &stmt, doing, err) || !sql_step(engine, &stmt, &row, doing, err))
    return false;
  *ret = sqlite3_column_int(stmt.handle, 0) > 0;
  return true;
}

static bool make_table(SqliteEngine *engine, Error *err) {
  bool there;
  if (!is_there(engine, &there, err)) return false;
  return there || (sqlite_ledger_create(&engine->base, err) && sql_run(engine, sql_audit_create, doing, err) &&
                   sql_run(engine, sql_audit_create_index, doing, err));
}

static bool insert(SqliteEngine *engine, const AuditRecord *record, Error *err) {
  const char *const texts[][2] = {
      {":who", record->who},       {":place", record->place},       {":command", record->command},
      {":digest", record->digest}, {":verdict", record->verdict},   {":reasons", record->reasons},
      {":target", record->target}, {":backfill", record->backfill}, {":because", record->because}};
  STMT_SCOPED stmt = {0};
  if (!sql_prepare(engine, sql_audit_add, &stmt, doing, err)) return false;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) sql_bind_text(&stmt, texts[i][0], texts[i][1]);
  sql_bind_int(&stmt, ":until", record->until);
  return ledger_step(engine, &stmt, doing, err);
}

bool sqlite_audit_add(Engine *base, const AuditRecord *record, int64_t *ret_number, Error *err) {
  SqliteEngine *engine = sqlite_engine(base);
  bool own;
  if (!ledger_begin(engine, &own, doing, err)) return false;
  bool ok = make_table(engine, err) && insert(engine, record, err);
  int64_t number = sqlite3_last_insert_rowid(engine->db);
  if (!ledger_end(engine, own, ok, doing, err)) return false;
  *ret_number = number;
  return true;
}

static void read_row(Arena *arena, Stmt *stmt, AuditRecord *ret) {
  const char **const texts[] = {&ret->who,     &ret->place,  &ret->command,  &ret->digest,  &ret->verdict,
                                &ret->reasons, &ret->target, &ret->backfill, &ret->because, &ret->signed_by};
  int64_t *const numbers[] = {&ret->number, &ret->at, &ret->until, &ret->signed_at, &ret->used_at};
  enum { NUMBERS = sizeof numbers / sizeof *numbers, TEXTS = sizeof texts / sizeof *texts };
  for (int i = 0; i < NUMBERS; i++) *numbers[i] = sqlite3_column_int64(stmt->handle, i);
  for (int i = 0; i < TEXTS; i++) *texts[i] = sql_text(arena, stmt, NUMBERS + i);
}

bool sqlite_audit_list(Engine *base, Arena *arena, const char *digest, size_t most, const AuditRecord **ret,
                       size_t *ret_n, Error *err) {
  static const char reading[] = "reading the verdicts";
  SqliteEngine *engine = sqlite_engine(base);
  STMT_SCOPED stmt = {0};
  AuditRecord *records = NULL;
  size_t n = 0;
  bool there, row = true;
  *ret = NULL;
  *ret_n = 0;
  if (!is_there(engine, &there, err)) return false;
  if (!there) return true;
  if (!sql_prepare(engine, sql_audit_list, &stmt, reading, err)) return false;
  sql_bind_text(&stmt, ":digest", digest);
  sql_bind_int(&stmt, ":most", (int64_t)most);
  for (;;) {
    if (!sql_step(engine, &stmt, &row, reading, err)) return false;
    if (!row) break;
    records = arena_grow(arena, records, n, sizeof *records);
    read_row(arena, &stmt, &records[n++]);
  }
  *ret = records;
  *ret_n = n;
  return true;
}

/* One record is changed, or none: then it was done before. */
static bool mark(SqliteEngine *engine, const char *sql, int64_t number, const char *who, Error *err) {
  STMT_SCOPED stmt = {0};
  if (!sql_prepare(engine, sql, &stmt, doing, err)) return false;
  sql_bind_int(&stmt, ":number", number);
  sql_bind_text(&stmt, ":who", who);
  return ledger_step(engine, &stmt, doing, err) &&
         (sqlite3_changes(engine->db) == 1 ||
          error_set(err, ERR_STATE, "verdict %lld is not there, or this was done with it before", (long long)number));
}

static bool mark_once(Engine *base, const char *sql, int64_t number, const char *who, Error *err) {
  SqliteEngine *engine = sqlite_engine(base);
  bool own;
  if (!ledger_begin(engine, &own, doing, err)) return false;
  return ledger_end(engine, own, mark(engine, sql, number, who, err), doing, err);
}

bool sqlite_audit_sign(Engine *base, int64_t number, const char *who, Error *err) {
  return mark_once(base, sql_audit_sign, number, who, err);
}

bool sqlite_audit_use(Engine *base, int64_t number, Error *err) {
  return mark_once(base, sql_audit_use, number, NULL, err);
}
