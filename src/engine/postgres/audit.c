#include "engine/postgres/catalog_int.h"
#include "engine/postgres/ledger_int.h"
#include "engine/postgres/postgres_sql.h"

/* Verdicts on other tools' commands, and which role may write what. */

static const char doing[] = "writing down a verdict";

static bool is_there(PgEngine *engine, bool *ret, Error *err) {
  int64_t tables;
  if (engine->verdicts) return *ret = true;
  if (!pg_number(engine, sql_audit_there, (const char *const[]){engine->schema}, 1, &tables, doing, err)) return false;
  *ret = tables > 0;
  engine->verdicts = *ret && !engine->transaction;
  return true;
}

/* Two who come at the same time would both make it: the second waits, and looks again. */
static bool make_table(PgEngine *engine, Error *err) {
  bool there;
  if (!is_there(engine, &there, err)) return false;
  if (there) return true;
  return pg_ledger_create(&engine->base, err) &&
         pg_run(engine, sql_ledger_lock, (const char *const[]){engine->schema}, 1, NULL, doing, err) &&
         is_there(engine, &there, err) &&
         (there || (pg_ledger_run(engine, sql_audit_create, NULL, 0, NULL, doing, err) &&
                    pg_ledger_run(engine, sql_audit_create_index, NULL, 0, NULL, doing, err)));
}

static bool insert(PgEngine *engine, const AuditRecord *record, int64_t *ret_number, Error *err) {
  ARENA_SCOPED arena = {0};
  const char *const values[] = {
      record->who,     record->place,  record->command,  record->digest,  record->verdict,
      record->reasons, record->target, record->backfill, record->because, pg_ledger_int(&arena, record->until)};
  return pg_number(engine, pg_ledger_sql(engine, &arena, sql_audit_add, ""), values, sizeof values / sizeof *values,
                   ret_number, doing, err);
}

bool pg_audit_add(Engine *base, const AuditRecord *record, int64_t *ret_number, Error *err) {
  PgEngine *engine = pg_engine(base);
  int64_t number = 0;
  bool own;
  if (!pg_begin(engine, false, &own, doing, err)) return false;
  bool ok = make_table(engine, err) && insert(engine, record, &number, err);
  if (!pg_end(engine, own, ok, doing, err)) return false;
  *ret_number = number;
  return true;
}

static void read_row(Arena *arena, const PGresult *result, int row, AuditRecord *ret) {
  const char **const texts[] = {&ret->who,     &ret->place,  &ret->command,  &ret->digest,  &ret->verdict,
                                &ret->reasons, &ret->target, &ret->backfill, &ret->because, &ret->signed_by};
  int64_t *const numbers[] = {&ret->number, &ret->at, &ret->until, &ret->signed_at, &ret->used_at};
  enum { NUMBERS = sizeof numbers / sizeof *numbers, TEXTS = sizeof texts / sizeof *texts };
  for (int i = 0; i < NUMBERS; i++) *numbers[i] = pg_int(result, row, i);
  for (int i = 0; i < TEXTS; i++) *texts[i] = pg_text(arena, result, row, NUMBERS + i);
}

bool pg_audit_list(Engine *base, Arena *arena, const char *digest, size_t most, const AuditRecord **ret, size_t *ret_n,
                   Error *err) {
  PgEngine *engine = pg_engine(base);
  PG_SCOPED result = NULL;
  bool there;
  *ret = NULL;
  *ret_n = 0;
  if (!is_there(engine, &there, err)) return false;
  if (!there) return true;
  const char *const values[] = {digest, pg_ledger_int(arena, (int64_t)most)};
  if (!pg_query(engine, pg_ledger_sql(engine, arena, sql_audit_list, ""), values, 2, &result, "reading the verdicts",
                err))
    return false;
  size_t n = (size_t)PQntuples(result);
  AuditRecord *records = arena_array(arena, n, sizeof *records);
  for (size_t i = 0; i < n; i++) read_row(arena, result, (int)i, &records[i]);
  *ret = records;
  *ret_n = n;
  return true;
}

/* One record is changed, or none: then it was done before. */
static bool mark_once(Engine *base, const char *sql, int64_t number, const char *who, int n, Error *err) {
  PgEngine *engine = pg_engine(base);
  ARENA_SCOPED arena = {0};
  int64_t affected = 0;
  bool own;
  if (!pg_begin(engine, false, &own, doing, err)) return false;
  bool ok =
      pg_ledger_run(engine, sql, (const char *const[]){pg_ledger_int(&arena, number), who}, n, &affected, doing, err) &&
      (affected == 1 ||
       error_set(err, ERR_STATE, "verdict %lld is not there, or this was done with it before", (long long)number));
  return pg_end(engine, own, ok, doing, err);
}

bool pg_audit_sign(Engine *base, int64_t number, const char *who, Error *err) {
  return mark_once(base, sql_audit_sign, number, who, 2, err);
}

bool pg_audit_use(Engine *base, int64_t number, Error *err) {
  return mark_once(base, sql_audit_use, number, NULL, 1, err);
}

/* ---- roles ------------------------------------------------------------------------------------------------------ */

bool pg_role_writes(Engine *base, Arena *arena, const char *role, const char *table, const char **ret_how, Error *err) {
  static const char asking[] = "asking what the role may write";
  PgEngine *engine = pg_engine(base);
  PG_SCOPED result = NULL;
  int64_t roles;
  const char *oid;
  if (!pg_number(engine, sql_audit_role, &role, 1, &roles, asking, err)) return false;
  if (roles == 0) return error_set(err, ERR_NOT_FOUND, "there is no role “%s” on this server", role);
  if (!catalog_must_find(engine, arena, table, &oid, err) ||
      !pg_query(engine, sql_audit_role_writes, (const char *const[]){role, oid}, 2, &result, asking, err))
    return false;
  *ret_how = PQntuples(result) == 0 ? NULL : pg_text(arena, result, 0, 0);
  return true;
}

bool pg_has_role(Engine *base, const char *role, bool *ret, Error *err) {
  PG_SCOPED result = NULL;
  if (!pg_query(pg_engine(base), sql_audit_has_role, &role, 1, &result, "asking whether this role may override", err))
    return false;
  *ret = pg_bool(result, 0, 0);
  return true;
}
