#include "engine/postgres/ledger_int.h"

#include <inttypes.h>
#include <string.h>

#include "engine/postgres/postgres_sql.h"

/* The ledger's tables: creating them, the backfill's state, its lease. Reading is in ledger_read.c, what batches write
 * in ledger_write.c. */

enum { LEDGER_VERSION = 1 };

const char *pg_ledger_sql(const PgEngine *engine, Arena *arena, const char *sql, const char *doc) {
  return sql_fill(arena, sql, "ledger", pg_schema(engine, arena), "now", sql_ledger_now, "doc", doc, NULL);
}

bool pg_ledger_run(PgEngine *engine, const char *sql, const char *const *values, int n, int64_t *ret_affected,
                   const char *doing, Error *err) {
  ARENA_SCOPED arena = {0};
  return pg_run(engine, pg_ledger_sql(engine, &arena, sql, ""), values, n, ret_affected, doing, err);
}

const char *pg_ledger_int(Arena *arena, int64_t value) { return arena_printf(arena, "%" PRId64, value); }

bool pg_ledger_no_backfill(const PgEngine *engine, const char *id, Error *err) {
  return error_set(err, ERR_NOT_FOUND, "there is no backfill '%s' in the ledger of database %s (schema %s)", id,
                   PQdb(engine->conn), engine->schema);
}

bool pg_ledger_state(PgEngine *engine, Arena *arena, const char *id, const char **ret_state, Error *err) {
  PG_SCOPED result = NULL;
  if (!pg_query(engine, pg_ledger_sql(engine, arena, sql_ledger_state, ""), &id, 1, &result, "looking for the backfill",
                err))
    return false;
  if (PQntuples(result) == 0) return pg_ledger_no_backfill(engine, id, err);
  *ret_state = pg_text(arena, result, 0, 0);
  return true;
}

bool pg_ledger_note(PgEngine *engine, const char *id, const char *who, const char *what, const char *detail,
                    Error *err) {
  int64_t affected = 0;
  if (!pg_ledger_run(engine, sql_ledger_event, (const char *const[]){id, who, what, detail}, 4, &affected,
                     "writing down an event", err))
    return false;
  return affected == 1 || pg_ledger_no_backfill(engine, id, err);
}

/* ---- the tables ------------------------------------------------------------------------------------------------- */

/* After a statement failed: what to ask for where it is a right that is missing. Always false. */
static bool hint_at_rights(const PgEngine *engine, Error *err) {
  const char *state = pg_sqlstate(engine);
  if (strcmp(state, "42501") == 0)
    error_hint(err, "ask the database's administrator to run what this prints: tidegate doctor --grant %s",
               PQuser(engine->conn));
  if (strcmp(state, "25006") == 0)
    error_hint(err, "this server, or this role, may only be read (a standby?): connect to the primary");
  return false;
}

static bool check_version(PgEngine *engine, Error *err) {
  static const char doing[] = "reading the ledger's version";
  ARENA_SCOPED arena = {0};
  PG_SCOPED result = NULL;
  if (!pg_query(engine, pg_ledger_sql(engine, &arena, sql_ledger_version, ""), NULL, 0, &result, doing, err)) {
    if (strcmp(pg_sqlstate(engine), "42703") != 0) return hint_at_rights(engine, err);
  }
  if (PQntuples(result) != 1) { /* no result, where meta has no such column, holds no row */
    error_set(err, ERR_STATE, "the table meta in schema %s does not say which version of the ledger it is of",
              engine->schema);
    return error_hint(err, "a table of that name that Tidegate did not make must be renamed first");
  }
  int64_t version = pg_int(result, 0, 0);
  if (version == LEDGER_VERSION) return true;
  error_set(err, ERR_STATE, "the ledger in schema %s is of version %" PRId64 " and this tidegate knows version %d",
            engine->schema, version, LEDGER_VERSION);
  return error_hint(err, "use the tidegate that made it, or a newer one");
}

bool pg_ledger_exists(Engine *base, bool *ret, Error *err) {
  PgEngine *engine = pg_engine(base);
  int64_t tables = 0;
  if (engine->ledger) return *ret = true;
  if (!pg_number(engine, sql_ledger_exists, (const char *const[]){engine->schema}, 1, &tables, "looking for the ledger",
                 err))
    return false;
  if (tables > 0 && !check_version(engine, err)) return false;
  *ret = tables > 0;
  engine->ledger = *ret && !engine->transaction;
  return true;
}

static bool create_tables(PgEngine *engine, Error *err) {
  static const char doing[] = "making the ledger's tables";
  static const char *const statements[] = {
      sql_ledger_create_meta,    sql_ledger_fill_meta,          sql_ledger_create_backfill,
      sql_ledger_create_date,    sql_ledger_create_batch,       sql_ledger_create_col,
      sql_ledger_create_object,  sql_ledger_create_finding,     sql_ledger_create_finding_index,
      sql_ledger_create_event,   sql_ledger_create_event_index, sql_ledger_create_xact,
      sql_ledger_create_exchange};
  int64_t schemas = 0;
  /* IF NOT EXISTS would demand the right to make schemas also where the schema stands ready. */
  if (!pg_number(engine, sql_ledger_schema_exists, (const char *const[]){engine->schema}, 1, &schemas, doing, err))
    return false;
  if (schemas == 0 &&
      !pg_ledger_run(engine, sql_ledger_create_schema, NULL, 0, NULL, "making the ledger's schema", err))
    return hint_at_rights(engine, err);
  for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
    if (!pg_ledger_run(engine, statements[i], NULL, 0, NULL, doing, err)) return hint_at_rights(engine, err);
  return true;
}

bool pg_ledger_create(Engine *base, Error *err) {
  static const char doing[] = "making the ledger's tables";
  PgEngine *engine = pg_engine(base);
  bool exists, own;
  if (!pg_ledger_exists(base, &exists, err)) return false;
  if (exists) return true;
  if (!pg_begin(engine, false, &own, doing, err)) return false;
  bool ok = pg_run(engine, sql_ledger_lock, (const char *const[]){engine->schema}, 1, NULL, doing, err) &&
            pg_ledger_exists(base, &exists, err) && (exists || create_tables(engine, err));
  return pg_end(engine, own, ok, doing, err);
}

bool pg_ledger_together(Engine *base, bool (*write)(void *, Error *), void *context, Error *err) {
  static const char doing[] = "writing to the ledger";
  PgEngine *engine = pg_engine(base);
  bool own;
  return pg_begin(engine, false, &own, doing, err) && pg_end(engine, own, write(context, err), doing, err);
}

bool pg_ledger_own_xact(PgEngine *engine, Error *err) {
  static const char doing[] = "noting that the transaction is Tidegate's own";
  int64_t wanted = 0;
  if (!pg_number(engine, sql_ledger_own_xact_wanted, (const char *const[]){engine->schema}, 1, &wanted, doing, err))
    return false;
  return wanted == 0 || pg_ledger_run(engine, sql_ledger_own_xact, NULL, 0, NULL, doing, err);
}

/* ---- the backfill and its state --------------------------------------------------------------------------------- */

static bool add_backfill(PgEngine *engine, const BackfillRecord *record, Error *err) {
  ARENA_SCOPED arena = {0};
  const char *const values[] = {
      record->id,        record->target,        record->state,         record->way,
      record->reason,    record->digest,        record->database_id,   record->spec_path,
      record->spec_text, record->pipeline_path, record->pipeline_text, record->plan,
      record->seal,      record->swap,          record->owner,         pg_ledger_int(&arena, record->created_at)};
  int64_t affected = 0;
  const char *state = "";
  if (!pg_ledger_run(engine, sql_ledger_add, values, sizeof values / sizeof *values, &affected,
                     "writing down the backfill", err))
    return false;
  if (affected == 1) return pg_ledger_note(engine, record->id, record->owner, record->state, record->target, err);
  return pg_ledger_state(engine, &arena, record->id, &state, err) &&
         error_set(err, ERR_STATE, "there is a backfill '%s' already, %s", record->id, state);
}

static bool add_dates(PgEngine *engine, const char *id, const DateRecord *dates, size_t n, Error *err) {
  if (n == 0) return true;
  ARENA_SCOPED arena = {0};
  enum { STRIDE = sizeof *dates };
  const char *const values[] = {id,
                                pg_ledger_ints(&arena, &dates->date, n, STRIDE),
                                pg_ledger_ints(&arena, &dates->expected, n, STRIDE),
                                pg_ledger_ints(&arena, &dates->suspect, n, STRIDE),
                                pg_ledger_ints(&arena, &dates->batch, n, STRIDE),
                                pg_ledger_fingerprints(&arena, &dates->production, n, STRIDE),
                                pg_ledger_fingerprints(&arena, &dates->recomputed, n, STRIDE),
                                pg_ledger_fingerprints(&arena, &dates->stable, n, STRIDE),
                                pg_ledger_ints(&arena, &dates->inserts, n, STRIDE),
                                pg_ledger_ints(&arena, &dates->updates, n, STRIDE),
                                pg_ledger_ints(&arena, &dates->deletes, n, STRIDE),
                                pg_ledger_ints(&arena, &dates->moves_in, n, STRIDE),
                                pg_ledger_ints(&arena, &dates->moves_out, n, STRIDE)};
  return pg_ledger_run(engine, sql_ledger_add_dates, values, sizeof values / sizeof *values, NULL,
                       "writing down the dates", err);
}

bool pg_ledger_add(Engine *base, const BackfillRecord *record, const DateRecord *dates, size_t n, Error *err) {
  static const char doing[] = "writing down the backfill";
  PgEngine *engine = pg_engine(base);
  bool own;
  if (!pg_begin(engine, false, &own, doing, err)) return false;
  bool ok = add_backfill(engine, record, err) && add_dates(engine, record->id, dates, n, err);
  return pg_end(engine, own, ok, doing, err);
}

/* The column of one of the documents, "" for NULL. */
static bool doc_column(const char *doc, const char **ret, Error *err) {
  static const char *const docs[] = {"plan", "seal", "swap"};
  *ret = "";
  if (doc == NULL) return true;
  for (size_t i = 0; i < sizeof docs / sizeof *docs; i++)
    if (strcmp(doc, docs[i]) == 0) {
      *ret = docs[i];
      return true;
    }
  return error_set(err, ERR_INTERNAL, "the ledger keeps no document '%s'", doc);
}

/* values: id, from, to, reason and, where a document is set, its JSON. */
static bool move(PgEngine *engine, const char *sql, const char *const values[5], int n, Error *err) {
  ARENA_SCOPED arena = {0};
  int64_t affected = 0;
  const char *state = "";
  if (!pg_run(engine, sql, values, n, &affected, "moving the backfill to its next state", err)) return false;
  if (affected == 1) return true;
  return pg_ledger_state(engine, &arena, values[0], &state, err) &&
         error_set(err, ERR_STATE, "backfill '%s' is %s, not %s: it cannot become %s", values[0], state, values[1],
                   values[2]);
}

bool pg_ledger_move(Engine *base, const char *id, const char *from, const char *to, const char *reason, const char *doc,
                    const char *json, const char *who, Error *err) {
  static const char doing[] = "moving the backfill to its next state";
  PgEngine *engine = pg_engine(base);
  ARENA_SCOPED arena = {0};
  const char *column;
  bool own;
  if (!doc_column(doc, &column, err) || !pg_begin(engine, false, &own, doing, err)) return false;
  const char *setter = doc == NULL ? "" : arena_printf(&arena, ", %s = $5", column);
  const char *sql = pg_ledger_sql(engine, &arena, sql_ledger_move, setter);
  const char *detail =
      reason != NULL ? arena_printf(&arena, "from %s: %s", from, reason) : arena_printf(&arena, "from %s", from);
  bool ok = move(engine, sql, (const char *const[5]){id, from, to, reason, json}, doc == NULL ? 4 : 5, err) &&
            pg_ledger_note(engine, id, who, to, detail, err);
  return pg_end(engine, own, ok, doing, err);
}

bool pg_ledger_doc(Engine *base, const char *id, const char *doc, const char *json, Error *err) {
  static const char doing[] = "writing down a document";
  PgEngine *engine = pg_engine(base);
  ARENA_SCOPED arena = {0};
  const char *column;
  int64_t affected = 0;
  bool own;
  if (doc == NULL) return true;
  if (!doc_column(doc, &column, err) || !pg_begin(engine, false, &own, doing, err)) return false;
  const char *sql = pg_ledger_sql(engine, &arena, sql_ledger_doc, column);
  bool ok = pg_run(engine, sql, (const char *const[]){id, json}, 2, &affected, doing, err) &&
            (affected == 1 || pg_ledger_no_backfill(engine, id, err));
  return pg_end(engine, own, ok, doing, err);
}

bool pg_ledger_event(Engine *base, const char *id, const char *who, const char *what, const char *detail, Error *err) {
  static const char doing[] = "writing down an event";
  PgEngine *engine = pg_engine(base);
  bool own;
  if (!pg_begin(engine, false, &own, doing, err)) return false;
  return pg_end(engine, own, pg_ledger_note(engine, id, who, what, detail, err), doing, err);
}

/* ---- the lease -------------------------------------------------------------------------------------------------- */

/* Holder (NULL: none), epoch and age in seconds of the lease. */
typedef struct Lease {
  const char *holder;
  int64_t epoch, age;
} Lease;

/* sql: sql_ledger_lease, or one that locks the row and waits for whoever holds it. */
static bool read_lease(PgEngine *engine, Arena *arena, const char *sql, const char *id, Lease *ret, Error *err) {
  PG_SCOPED result = NULL;
  if (!pg_query(engine, pg_ledger_sql(engine, arena, sql, ""), &id, 1, &result, "reading the lease", err)) return false;
  if (PQntuples(result) == 0) return pg_ledger_no_backfill(engine, id, err);
  *ret = (Lease){pg_text(arena, result, 0, 0), pg_int(result, 0, 1), pg_int(result, 0, 2)};
  return true;
}

/* The lease, if it is free, dead or `owner`'s own. sql: as in read_lease. */
static bool free_lease(PgEngine *engine, Arena *arena, const char *sql, const char *id, const char *owner, double ttl,
                       bool (*dead)(const char *holder), Lease *ret, Error *err) {
  Lease lease = {0};
  if (!read_lease(engine, arena, sql, id, &lease, err)) return false;
  *ret = lease;
  if (lease.holder == NULL || strcmp(lease.holder, owner) == 0) return true;
  if ((double)lease.age > ttl || (dead != NULL && dead(lease.holder))) return true;
  return error_set(err, ERR_LEASED, "backfill '%s' is driven by %s, heard of %lld s ago", id, lease.holder,
                   (long long)lease.age);
}

/* Looks before it waits for the row: a holder at work in long transactions need not be waited for to be named. */
static bool take_lease(PgEngine *engine, const char *id, const char *owner, double ttl,
                       bool (*dead)(const char *holder), int64_t *ret_epoch, Error *err) {
  static const char doing[] = "taking the lease";
  ARENA_SCOPED arena = {0};
  Lease lease = {0};
  if (!free_lease(engine, &arena, sql_ledger_lease, id, owner, ttl, dead, &lease, err) ||
      !free_lease(engine, &arena, sql_ledger_lease_lock, id, owner, ttl, dead, &lease, err))
    return false;
  bool other = lease.holder != NULL && strcmp(lease.holder, owner) != 0;
  if (!pg_ledger_run(engine, sql_ledger_lease_take, (const char *const[]){id, owner}, 2, NULL, doing, err) ||
      !pg_ledger_run(engine, sql_ledger_prune_xact, NULL, 0, NULL, doing, err))
    return false;
  *ret_epoch = lease.epoch + 1;
  const char *detail = other ? arena_printf(&arena, "epoch %lld, over from %s, heard of %lld s ago",
                                            (long long)*ret_epoch, lease.holder, (long long)lease.age)
                             : arena_printf(&arena, "epoch %lld", (long long)*ret_epoch);
  return pg_ledger_note(engine, id, owner, "lease taken", detail, err);
}

/* Whoever holds the row is at work in a transaction, so that its heartbeat is not to be seen yet: it is named. */
static void name_holder(PgEngine *engine, const char *id, const char *owner, bool (*dead)(const char *holder),
                        Error *err) {
  ARENA_SCOPED arena = {0};
  Lease lease = {0};
  Error ignored;
  if (!read_lease(engine, &arena, sql_ledger_lease, id, &lease, &ignored) || lease.holder == NULL) return;
  if (strcmp(lease.holder, owner) == 0 || (dead != NULL && dead(lease.holder))) return;
  error_set(err, ERR_LEASED, "backfill '%s' is driven by %s, which is writing at this moment", id, lease.holder);
}

bool pg_lease_take(Engine *base, const char *id, const char *owner, double ttl, bool (*dead)(const char *holder),
                   int64_t *ret_epoch, Error *err) {
  static const char doing[] = "taking the lease";
  PgEngine *engine = pg_engine(base);
  int64_t epoch = 0;
  bool own;
  if (!pg_begin(engine, false, &own, doing, err)) return false;
  bool ok = take_lease(engine, id, owner, ttl, dead, &epoch, err);
  if (!pg_end(engine, own, ok, doing, err)) {
    if (own && err->code == ERR_LOCKED) name_holder(engine, id, owner, dead, err);
    return false;
  }
  *ret_epoch = epoch;
  return true;
}

/* A lease that another has taken over since is not dropped: nothing is left to do. */
bool pg_lease_drop(Engine *base, const char *id, int64_t epoch, Error *err) {
  static const char doing[] = "giving the lease back";
  PgEngine *engine = pg_engine(base);
  ARENA_SCOPED arena = {0};
  Lease lease = {0};
  bool own;
  if (!pg_begin(engine, false, &own, doing, err)) return false;
  bool ok = read_lease(engine, &arena, sql_ledger_lease_lock, id, &lease, err);
  if (ok && lease.holder != NULL && lease.epoch == epoch)
    ok = pg_ledger_run(engine, sql_ledger_lease_drop, (const char *const[]){id, pg_ledger_int(&arena, epoch)}, 2, NULL,
                       doing, err) &&
         pg_ledger_note(engine, id, lease.holder, "lease given back", NULL, err);
  return pg_end(engine, own, ok, doing, err);
}

/* Always false: the lease is not held under this epoch. */
static bool not_ours(const Lease *lease, const char *id, int64_t epoch, Error *err) {
  if (lease->holder == NULL)
    return error_set(err, ERR_LEASED, "the lease of backfill '%s' was given back: nobody may write for it", id);
  return error_set(err, ERR_LEASED, "backfill '%s' is driven by %s now (epoch %lld, not %lld)", id, lease->holder,
                   (long long)lease->epoch, (long long)epoch);
}

bool pg_ledger_guard(PgEngine *engine, const char *id, int64_t epoch, Error *err) {
  ARENA_SCOPED arena = {0};
  Lease lease = {0};
  int64_t affected = 0;
  if (!pg_ledger_run(engine, sql_ledger_guard, (const char *const[]){id, pg_ledger_int(&arena, epoch)}, 2, &affected,
                     "checking the lease", err))
    return false;
  return affected == 1 ||
         (read_lease(engine, &arena, sql_ledger_lease, id, &lease, err) && not_ours(&lease, id, epoch, err));
}

bool pg_ledger_guard_shared(PgEngine *engine, const char *id, int64_t epoch, Error *err) {
  ARENA_SCOPED arena = {0};
  Lease lease = {0};
  return read_lease(engine, &arena, sql_ledger_lease_share, id, &lease, err) &&
         ((lease.holder != NULL && lease.epoch == epoch) || not_ours(&lease, id, epoch, err));
}

bool pg_lease_beat(Engine *base, const char *id, int64_t epoch, Error *err) {
  static const char doing[] = "showing that the backfill is at work";
  PgEngine *engine = pg_engine(base);
  bool own;
  return pg_begin(engine, false, &own, doing, err) &&
         pg_end(engine, own, pg_ledger_guard(engine, id, epoch, err), doing, err);
}
