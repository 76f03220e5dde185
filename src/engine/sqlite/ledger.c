#include <string.h>

#include "engine/sqlite/ledger_int.h"
#include "engine/sqlite/sqlite_sql.h"

/* The ledger's tables: creating them, the backfill's state, its lease. Reading is in ledger_read.c, what batches write
 * in ledger_write.c. */

enum { LEDGER_VERSION = 1 };

/* Milliseconds that a heartbeat waits for the write lock: a tool that writes production in place may hold it. */
enum { BEAT_WAIT = 100 };

/* Seconds that a transaction of the ledger alone may last; the longest writes the dates of a plan. */
static const double LONGEST_WRITE = 5;

bool ledger_begin(SqliteEngine *engine, bool *ret_own, const char *doing, Error *err) {
  *ret_own = sqlite3_get_autocommit(engine->db) != 0;
  if (!*ret_own) return true;
  if (!watchdog_arm(engine, LONGEST_WRITE, err)) return false;
  if (sql_run(engine, sql_session_begin_write, doing, err)) return true;
  watchdog_disarm(engine);
  return false;
}

bool ledger_end(SqliteEngine *engine, bool own, bool ok, const char *doing, Error *err) {
  if (!own) return ok;
  ok = ok && sql_run(engine, sql_session_commit, doing, err);
  if (sqlite3_get_autocommit(engine->db) == 0) sqlite3_exec(engine->db, sql_session_rollback, NULL, NULL, NULL);
  watchdog_disarm(engine);
  return ok;
}

bool sqlite_ledger_together(Engine *base, bool (*write)(void *, Error *), void *context, Error *err) {
  static const char doing[] = "writing to the ledger";
  SqliteEngine *engine = sqlite_engine(base);
  bool own;
  return ledger_begin(engine, &own, doing, err) && ledger_end(engine, own, write(context, err), doing, err);
}

bool ledger_step(SqliteEngine *engine, Stmt *stmt, const char *doing, Error *err) {
  bool row;
  if (!sql_step(engine, stmt, &row, doing, err)) return false;
  sqlite3_reset(stmt->handle);
  return true;
}

bool ledger_state(SqliteEngine *engine, Arena *arena, const char *id, const char **ret_state, Error *err) {
  static const char doing[] = "looking for the backfill";
  STMT_SCOPED stmt = {0};
  bool row;
  if (!sql_prepare(engine, sql_ledger_state, &stmt, doing, err)) return false;
  sql_bind_text(&stmt, ":id", id);
  if (!sql_step(engine, &stmt, &row, doing, err)) return false;
  if (!row) return error_set(err, ERR_NOT_FOUND, "there is no backfill '%s' in %s", id, engine->path);
  *ret_state = sql_text(arena, &stmt, 0);
  return true;
}

bool ledger_note(SqliteEngine *engine, const char *id, const char *who, const char *what, const char *detail,
                 Error *err) {
  static const char doing[] = "writing down an event";
  STMT_SCOPED stmt = {0};
  if (!sql_prepare(engine, sql_ledger_event, &stmt, doing, err)) return false;
  sql_bind_text(&stmt, ":id", id);
  sql_bind_text(&stmt, ":who", who);
  sql_bind_text(&stmt, ":what", what);
  sql_bind_text(&stmt, ":detail", detail);
  if (!ledger_step(engine, &stmt, doing, err)) return false;
  if (sqlite3_changes(engine->db) == 1) return true;
  return error_set(err, ERR_NOT_FOUND, "there is no backfill '%s' in %s", id, engine->path);
}

/* ---- the tables -------------------------------------------------------------------------------------------------- */

static bool check_version(SqliteEngine *engine, Error *err) {
  static const char doing[] = "reading the ledger's version";
  STMT_SCOPED stmt = {0};
  bool row;
  if (!sql_prepare(engine, sql_ledger_version, &stmt, doing, err) || !sql_step(engine, &stmt, &row, doing, err))
    return false;
  if (!row) {
    error_set(err, ERR_STATE, "the table tidegate_meta of %s does not say which version of the ledger it is of",
              engine->path);
    return error_hint(err, "a table of that name that Tidegate did not make must be renamed first");
  }
  long long version = sqlite3_column_int64(stmt.handle, 0);
  if (version == LEDGER_VERSION) return true;
  error_set(err, ERR_STATE, "the ledger in %s is of version %lld and this tidegate knows version %d", engine->path,
            version, LEDGER_VERSION);
  return error_hint(err, "use the tidegate that made it, or a newer one");
}

bool sqlite_ledger_exists(Engine *base, bool *ret, Error *err) {
  static const char doing[] = "looking for the ledger";
  SqliteEngine *engine = sqlite_engine(base);
  STMT_SCOPED stmt = {0};
  bool row;
  if (!sql_prepare(engine, sql_ledger_exists, &stmt, doing, err) || !sql_step(engine, &stmt, &row, doing, err))
    return false;
  bool exists = sqlite3_column_int(stmt.handle, 0) > 0;
  if (exists && !check_version(engine, err)) return false;
  *ret = exists;
  return true;
}

static bool create_tables(SqliteEngine *engine, Error *err) {
  static const char *const statements[] = {
      sql_ledger_create_meta,   sql_ledger_fill_meta,         sql_ledger_create_backfill,
      sql_ledger_create_date,   sql_ledger_create_batch,      sql_ledger_create_column,
      sql_ledger_create_object, sql_ledger_create_finding,    sql_ledger_create_finding_index,
      sql_ledger_create_event,  sql_ledger_create_event_index};
  for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
    if (!sql_run(engine, statements[i], "making the ledger's tables", err)) return false;
  return true;
}

bool sqlite_ledger_create(Engine *base, Error *err) {
  static const char doing[] = "making the ledger's tables";
  SqliteEngine *engine = sqlite_engine(base);
  bool exists, own;
  if (!sqlite_ledger_exists(base, &exists, err)) return false;
  if (exists) return true;
  if (!ledger_begin(engine, &own, doing, err)) return false;
  bool ok = sqlite_ledger_exists(base, &exists, err) && (exists || create_tables(engine, err));
  return ledger_end(engine, own, ok, doing, err);
}

/* ---- the backfill and its state ---------------------------------------------------------------------------------- */

static void bind_backfill(Stmt *stmt, const BackfillRecord *record) {
  const char *const texts[][2] = {
      {":id", record->id},
      {":target", record->target},
      {":state", record->state},
      {":way", record->way},
      {":reason", record->reason},
      {":digest", record->digest},
      {":database_id", record->database_id},
      {":spec_path", record->spec_path},
      {":spec_text", record->spec_text},
      {":pipeline_path", record->pipeline_path},
      {":pipeline_text", record->pipeline_text},
      {":plan", record->plan},
      {":seal", record->seal},
      {":swap", record->swap},
      {":owner", record->owner},
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) sql_bind_text(stmt, texts[i][0], texts[i][1]);
  sql_bind_int(stmt, ":created_at", record->created_at);
}

void ledger_bind_date(Stmt *stmt, const LedgerDate *date) {
  char text[FINGERPRINT_TEXT];
  sql_bind_int(stmt, ":date", date->date);
  sql_bind_int(stmt, ":batch", date->batch);
  fingerprint_text(date->production, text);
  sql_bind_text(stmt, ":production", text);
  fingerprint_text(date->recomputed, text);
  sql_bind_text(stmt, ":recomputed", text);
  fingerprint_text(date->stable, text);
  sql_bind_text(stmt, ":stable", text);
  sql_bind_int(stmt, ":inserts", date->inserts);
  sql_bind_int(stmt, ":updates", date->updates);
  sql_bind_int(stmt, ":deletes", date->deletes);
  sql_bind_int(stmt, ":moves_in", date->moves_in);
  sql_bind_int(stmt, ":moves_out", date->moves_out);
}

static bool add_dates(SqliteEngine *engine, const char *id, const DateRecord *dates, size_t n, Error *err) {
  static const char doing[] = "writing down the dates";
  STMT_SCOPED stmt = {0};
  if (!sql_prepare(engine, sql_ledger_add_date, &stmt, doing, err)) return false;
  sql_bind_text(&stmt, ":id", id);
  for (size_t i = 0; i < n; i++) {
    const DateRecord *date = &dates[i];
    ledger_bind_date(&stmt,
                     &(LedgerDate){date->date, date->batch, &date->production, &date->recomputed, &date->stable,
                                   date->inserts, date->updates, date->deletes, date->moves_in, date->moves_out});
    sql_bind_int(&stmt, ":expected", date->expected);
    sql_bind_int(&stmt, ":suspect", date->suspect);
    if (!ledger_step(engine, &stmt, doing, err)) return false;
  }
  return true;
}

static bool add_backfill(SqliteEngine *engine, const BackfillRecord *record, Error *err) {
  static const char doing[] = "writing down the backfill";
  STMT_SCOPED stmt = {0}, there = {0};
  bool row;
  if (!sql_prepare(engine, sql_ledger_state, &there, doing, err)) return false;
  sql_bind_text(&there, ":id", record->id);
  if (!sql_step(engine, &there, &row, doing, err)) return false;
  if (row) return error_set(err, ERR_STATE, "there is a backfill '%s' already, %s", record->id, sql_peek(&there, 0));
  if (!sql_prepare(engine, sql_ledger_add, &stmt, doing, err)) return false;
  bind_backfill(&stmt, record);
  return ledger_step(engine, &stmt, doing, err) &&
         ledger_note(engine, record->id, record->owner, record->state, record->target, err);
}

bool sqlite_ledger_add(Engine *base, const BackfillRecord *record, const DateRecord *dates, size_t n, Error *err) {
  static const char doing[] = "writing down the backfill";
  SqliteEngine *engine = sqlite_engine(base);
  bool own;
  if (!ledger_begin(engine, &own, doing, err)) return false;
  bool ok = add_backfill(engine, record, err) && add_dates(engine, record->id, dates, n, err);
  return ledger_end(engine, own, ok, doing, err);
}

/* ", plan = :json" for one of the documents; "" for NULL. */
static bool doc_setter(const char *doc, const char **ret, Error *err) {
  static const char *const setters[][2] = {
      {"plan", ", plan = :json"}, {"seal", ", seal = :json"}, {"swap", ", swap = :json"}};
  *ret = "";
  if (doc == NULL) return true;
  for (size_t i = 0; i < sizeof setters / sizeof *setters; i++)
    if (strcmp(doc, setters[i][0]) == 0) {
      *ret = setters[i][1];
      return true;
    }
  return error_set(err, ERR_INTERNAL, "the ledger keeps no document '%s'", doc);
}

static bool move(SqliteEngine *engine, Arena *arena, const char *sql, const char *const values[5], Error *err) {
  static const char doing[] = "moving the backfill to its next state";
  static const char *const names[5] = {":id", ":from", ":to", ":reason", ":json"};
  STMT_SCOPED stmt = {0};
  const char *state = "";
  if (!ledger_state(engine, arena, values[0], &state, err)) return false;
  if (strcmp(state, values[1]) != 0)
    return error_set(err, ERR_STATE, "backfill '%s' is %s, not %s: it cannot become %s", values[0], state, values[1],
                     values[2]);
  if (!sql_prepare(engine, sql, &stmt, doing, err)) return false;
  for (size_t i = 0; i < 5; i++) sql_bind_text(&stmt, names[i], values[i]);
  return ledger_step(engine, &stmt, doing, err);
}

bool sqlite_ledger_move(Engine *base, const char *id, const char *from, const char *to, const char *reason,
                        const char *doc, const char *json, const char *who, Error *err) {
  static const char doing[] = "moving the backfill to its next state";
  SqliteEngine *engine = sqlite_engine(base);
  ARENA_SCOPED arena = {0};
  const char *setter;
  bool own;
  if (!doc_setter(doc, &setter, err) || !ledger_begin(engine, &own, doing, err)) return false;
  const char *sql = sql_fill(&arena, sql_ledger_move, "doc", setter, NULL);
  const char *detail =
      reason != NULL ? arena_printf(&arena, "from %s: %s", from, reason) : arena_printf(&arena, "from %s", from);
  bool ok = move(engine, &arena, sql, (const char *const[5]){id, from, to, reason, json}, err) &&
            ledger_note(engine, id, who, to, detail, err);
  return ledger_end(engine, own, ok, doing, err);
}

bool sqlite_ledger_doc(Engine *base, const char *id, const char *doc, const char *json, Error *err) {
  static const char doing[] = "writing down a document";
  SqliteEngine *engine = sqlite_engine(base);
  ARENA_SCOPED arena = {0};
  STMT_SCOPED stmt = {0};
  const char *setter;
  if (!doc_setter(doc, &setter, err) ||
      !sql_prepare(engine, sql_fill(&arena, sql_ledger_doc, "doc", setter, NULL), &stmt, doing, err))
    return false;
  sql_bind_text(&stmt, ":id", id);
  sql_bind_text(&stmt, ":json", json);
  if (!ledger_step(engine, &stmt, doing, err)) return false;
  if (sqlite3_changes(engine->db) == 1) return true;
  return error_set(err, ERR_NOT_FOUND, "there is no backfill '%s' in %s", id, engine->path);
}

bool sqlite_ledger_event(Engine *base, const char *id, const char *who, const char *what, const char *detail,
                         Error *err) {
  return ledger_note(sqlite_engine(base), id, who, what, detail, err);
}

/* ---- the lease --------------------------------------------------------------------------------------------------- */

/* Holder (NULL: none), epoch and age in seconds of the lease. */
typedef struct Lease {
  const char *holder;
  int64_t epoch, age;
} Lease;

static bool read_lease(SqliteEngine *engine, Arena *arena, const char *id, Lease *ret, Error *err) {
  static const char doing[] = "reading the lease";
  STMT_SCOPED stmt = {0};
  bool row;
  if (!sql_prepare(engine, sql_ledger_lease, &stmt, doing, err)) return false;
  sql_bind_text(&stmt, ":id", id);
  if (!sql_step(engine, &stmt, &row, doing, err)) return false;
  if (!row) return error_set(err, ERR_NOT_FOUND, "there is no backfill '%s' in %s", id, engine->path);
  *ret = (Lease){sql_text(arena, &stmt, 0), sqlite3_column_int64(stmt.handle, 1), sqlite3_column_int64(stmt.handle, 2)};
  return true;
}

static bool take_lease(SqliteEngine *engine, const char *id, const char *owner, double ttl,
                       bool (*dead)(const char *holder), int64_t *ret_epoch, Error *err) {
  static const char doing[] = "taking the lease";
  ARENA_SCOPED arena = {0};
  STMT_SCOPED stmt = {0};
  Lease lease = {0};
  bool row;
  if (!read_lease(engine, &arena, id, &lease, err)) return false;
  bool fresh = lease.holder != NULL && strcmp(lease.holder, owner) != 0 && (double)lease.age <= ttl;
  if (fresh && !(dead != NULL && dead(lease.holder)))
    return error_set(err, ERR_LEASED, "backfill '%s' is driven by %s, heard of %lld s ago", id, lease.holder,
                     (long long)lease.age);
  if (!sql_prepare(engine, sql_ledger_lease_take, &stmt, doing, err)) return false;
  sql_bind_text(&stmt, ":id", id);
  sql_bind_text(&stmt, ":owner", owner);
  if (!sql_step(engine, &stmt, &row, doing, err)) return false;
  *ret_epoch = lease.epoch + 1;
  const char *detail = lease.holder == NULL || strcmp(lease.holder, owner) == 0
                           ? arena_printf(&arena, "epoch %lld", (long long)*ret_epoch)
                           : arena_printf(&arena, "epoch %lld, over from %s, heard of %lld s ago",
                                          (long long)*ret_epoch, lease.holder, (long long)lease.age);
  sqlite3_reset(stmt.handle);
  return ledger_note(engine, id, owner, "lease taken", detail, err);
}

bool sqlite_lease_take(Engine *base, const char *id, const char *owner, double ttl, bool (*dead)(const char *holder),
                       int64_t *ret_epoch, Error *err) {
  static const char doing[] = "taking the lease";
  SqliteEngine *engine = sqlite_engine(base);
  int64_t epoch = 0;
  bool own;
  if (!ledger_begin(engine, &own, doing, err)) return false;
  bool ok = take_lease(engine, id, owner, ttl, dead, &epoch, err);
  if (!ledger_end(engine, own, ok, doing, err)) return false;
  *ret_epoch = epoch;
  return true;
}

/* A lease that another has taken over since is not dropped: nothing is left to do. */
bool sqlite_lease_drop(Engine *base, const char *id, int64_t epoch, Error *err) {
  static const char doing[] = "giving the lease back";
  SqliteEngine *engine = sqlite_engine(base);
  ARENA_SCOPED arena = {0};
  STMT_SCOPED stmt = {0};
  Lease lease = {0};
  bool own;
  if (!ledger_begin(engine, &own, doing, err)) return false;
  bool ok = read_lease(engine, &arena, id, &lease, err);
  if (ok && lease.holder != NULL && lease.epoch == epoch) {
    ok = sql_prepare(engine, sql_ledger_lease_drop, &stmt, doing, err);
    sql_bind_text(&stmt, ":id", id);
    sql_bind_int(&stmt, ":epoch", epoch);
    ok = ok && ledger_step(engine, &stmt, doing, err) &&
         ledger_note(engine, id, lease.holder, "lease given back", NULL, err);
  }
  return ledger_end(engine, own, ok, doing, err);
}

bool sqlite_ledger_guard(SqliteEngine *engine, const char *id, int64_t epoch, Error *err) {
  static const char doing[] = "checking the lease";
  ARENA_SCOPED arena = {0};
  STMT_SCOPED stmt = {0};
  Lease lease = {0};
  if (!sql_prepare(engine, sql_ledger_guard, &stmt, doing, err)) return false;
  sql_bind_text(&stmt, ":id", id);
  sql_bind_int(&stmt, ":epoch", epoch);
  if (!ledger_step(engine, &stmt, doing, err)) return false;
  if (sqlite3_changes(engine->db) == 1) return true;
  if (!read_lease(engine, &arena, id, &lease, err)) return false;
  if (lease.holder == NULL)
    return error_set(err, ERR_LEASED, "the lease of backfill '%s' was given back: nobody may write for it", id);
  return error_set(err, ERR_LEASED, "backfill '%s' is driven by %s now (epoch %lld, not %lld)", id, lease.holder,
                   (long long)lease.epoch, (long long)epoch);
}

bool sqlite_lease_beat(Engine *base, const char *id, int64_t epoch, Error *err) {
  static const char doing[] = "showing that the backfill is at work";
  SqliteEngine *engine = sqlite_engine(base);
  bool own;
  sqlite3_busy_timeout(engine->db, BEAT_WAIT);
  bool ok = ledger_begin(engine, &own, doing, err) &&
            ledger_end(engine, own, sqlite_ledger_guard(engine, id, epoch, err), doing, err);
  sqlite3_busy_timeout(engine->db, SQLITE_LOCK_WAIT);
  return ok;
}
