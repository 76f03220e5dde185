#ifndef TIDEGATE_ENGINE_SQLITE_SQLITE_INT_H
#define TIDEGATE_ENGINE_SQLITE_SQLITE_INT_H

#include <sqlite3.h>

#include "base/buf.h"
#include "engine/engine.h"
#include "engine/sql_text.h"

/* The private header of the SQLite driver: what its files share. */

typedef struct SqliteEngine {
  Engine base;
  sqlite3 *db;
  char *path;
  uint64_t nonce;             /* of this connection: makes its change tokens its own */
  DateCodec codec;            /* what tidegate_date() reads with; set by sqlite_use_codec */
  const Interrupt *interrupt; /* looked at by the progress handler; NULL: never stops */
  double deadline;            /* monotonic seconds after which a running statement is interrupted; 0: none */
  int watchdog;               /* pipe to the watchdog process, started once while this one is small; −1: none yet */
} SqliteEngine;

/* Milliseconds that a statement waits for a lock, where nothing else is asked for. */
enum { SQLITE_LOCK_WAIT = 1500 };

/* Room for "tidegate_" id "_changes" and the like. */
enum { SQLITE_OBJECT_NAME = 80 };

/* ---- statements (sql.c) ------------------------------------------------------------------------------------------ */

typedef struct Stmt {
  sqlite3_stmt *handle;
} Stmt;
void stmt_finalize(Stmt *stmt);
#define STMT_SCOPED __attribute__((cleanup(stmt_finalize))) Stmt

/* Prepares one statement. On failure err says `doing` and the database's words. */
bool sql_prepare(SqliteEngine *engine, const char *sql, Stmt *ret, const char *doing, Error *err);
/* Steps: *ret_row false at the end. */
bool sql_step(SqliteEngine *engine, Stmt *stmt, bool *ret_row, const char *doing, Error *err);
/* Prepares, steps to the end, finalises. */
bool sql_run(SqliteEngine *engine, const char *sql, const char *doing, Error *err);
/* Binds by name when the parameter occurs; absent names are fine. */
void sql_bind_text(Stmt *stmt, const char *name, const char *text); /* NULL binds NULL */
void sql_bind_int(Stmt *stmt, const char *name, int64_t value);
void sql_bind_real(Stmt *stmt, const char *name, double value);
/* Binds :from and :to in the column's own form, :from_date and :to_date as civil text, :from_unix and :to_unix as
 * seconds. */
void sql_bind_range(Stmt *stmt, const DateCodec *codec, DateRange range);
/* Column i as text that lives until the next step; NULL for SQL NULL alone. */
const char *sql_peek(Stmt *stmt, int i);
/* Column i as text in the arena; NULL for SQL NULL. */
const char *sql_text(Arena *arena, Stmt *stmt, int i);

/* Fills err from the connection's last error: busy → ERR_LOCKED, full → ERR_FULL, interrupted → ERR_PAUSED, constraint
 * → ERR_HELD, … */
bool sql_fail(SqliteEngine *engine, const char *doing, Error *err);

/* The name of the backfill's object: role "changes", "shadow", "snapshot". */
void sqlite_object_name(char name[SQLITE_OBJECT_NAME], const char *id, const char *role);

/* Makes tidegate_date(value) read with this codec. */
void sqlite_use_codec(SqliteEngine *engine, const DateCodec *codec);

static inline SqliteEngine *sqlite_engine(Engine *engine) { return (SqliteEngine *)engine; }

/* ---- the watchdog (watchdog.c) ----------------------------------------------------------------------------------- */

/* From now on a process of its own kills this one when it is not disarmed within the seconds (and two more). Started
 * with the first call. */
bool watchdog_arm(SqliteEngine *engine, double seconds, Error *err);
void watchdog_disarm(const SqliteEngine *engine);

/* ---- pieces of EngineOps, by file -------------------------------------------------------------------------------- */

/* catalog.c */
bool sqlite_list_tables(Engine *, Arena *, const char *const **, size_t *, Error *);
bool sqlite_find_table(Engine *, Arena *, const char *, const char **, TableKind *, Error *);
bool sqlite_describe_table(Engine *, Arena *, const char *, TableFacts *, Error *);
bool sqlite_dependents(Engine *, Arena *, const char *, const char **, const DependentFacts **, size_t *, Error *);
bool sqlite_view_reads(Engine *, Arena *, const ReadFacts **, size_t *, Error *);
/* script.c */
bool sqlite_describe_scripts(Engine *, Arena *, const char *const *, size_t, ScriptFacts *, Error *);
bool sqlite_object_identity(Engine *, Arena *, const char *, const char **, Error *);
/* query.c */
bool sqlite_describe_query(Engine *, Arena *, const char *, QueryFacts *, int *, Error *);
bool sqlite_describe_condition(Engine *, Arena *, const char *, const char *, const char *, bool, int *, Error *);
bool sqlite_number(Engine *, const char *, double *, Error *);
/* jobs.c */
bool sqlite_job_number(Engine *, const char *, double, double *, Error *);
bool sqlite_age(Engine *, const char *, double, double *, Error *);
/* dates.c */
bool sqlite_date_profile(Engine *, Arena *, const char *, const char *, DateProfile *, Error *);
bool sqlite_count_dates(Engine *, Arena *, const Shape *, DateRange, const char *, DateRecord **, size_t *, int64_t *,
                        Error *);
bool sqlite_key_faults(Engine *, Arena *, const Shape *, DateRange, int64_t *, int64_t *, Error *);
bool sqlite_register_functions(SqliteEngine *,
                               Error *); /* tidegate_date(value): the date's start, NULL when it has none */
/* ledger.c: every ledger_* and lease_* operation */
bool sqlite_ledger_together(Engine *, bool (*write)(void *, Error *), void *, Error *);
bool sqlite_ledger_exists(Engine *, bool *, Error *);
bool sqlite_ledger_create(Engine *, Error *);
bool sqlite_ledger_add(Engine *, const BackfillRecord *, const DateRecord *, size_t, Error *);
bool sqlite_ledger_list(Engine *, Arena *, const BackfillRecord **, size_t *, Error *);
bool sqlite_ledger_move(Engine *, const char *, const char *, const char *, const char *, const char *, const char *,
                        const char *, Error *);
bool sqlite_ledger_doc(Engine *, const char *, const char *, const char *, Error *);
bool sqlite_lease_take(Engine *, const char *, const char *, double, bool (*)(const char *), int64_t *, Error *);
bool sqlite_lease_drop(Engine *, const char *, int64_t, Error *);
bool sqlite_lease_beat(Engine *, const char *, int64_t, Error *);
bool sqlite_ledger_dates(Engine *, Arena *, const char *, const DateRecord **, size_t *, Error *);
bool sqlite_ledger_batches(Engine *, Arena *, const char *, const BatchRecord **, size_t *, Error *);
bool sqlite_ledger_columns(Engine *, Arena *, const char *, const ColumnChange **, size_t *, Error *);
bool sqlite_ledger_findings(Engine *, Arena *, const char *, const FindingRecord **, size_t *, Error *);
bool sqlite_ledger_add_findings(Engine *, const char *, const FindingRecord *, size_t, Error *);
bool sqlite_ledger_objects(Engine *, Arena *, const char *, const ObjectRecord **, size_t *, Error *);
bool sqlite_ledger_events(Engine *, Arena *, const char *, const EventRecord **, size_t *, Error *);
bool sqlite_ledger_event(Engine *, const char *, const char *, const char *, const char *, Error *);
/* audit.c */
bool sqlite_audit_add(Engine *, const AuditRecord *, int64_t *, Error *);
bool sqlite_audit_list(Engine *, Arena *, const char *, size_t, const AuditRecord **, size_t *, Error *);
bool sqlite_audit_sign(Engine *, int64_t, const char *, Error *);
bool sqlite_audit_use(Engine *, int64_t, Error *);
/* ledger.c, for the driver's own writing files; each inside the transaction that is open. */
/* Locks nothing more; ERR_LEASED unless the backfill's lease epoch is `epoch`; also beats the heartbeat in database
 * time. */
bool sqlite_ledger_guard(SqliteEngine *, const char *id, int64_t epoch, Error *);
bool sqlite_ledger_object_add(SqliteEngine *, const char *id, const ObjectRecord *, Error *);
bool sqlite_ledger_object_dropped(SqliteEngine *, const char *id, const char *name, Error *);
/* Saves the batch, its dates (with the facts and the batch's number) and adds its column changes. */
bool sqlite_ledger_batch_done(SqliteEngine *, const char *id, const BatchRecord *, const BatchFacts *, const Shape *,
                              Error *);
/* Marks the dates of [range) as not written, takes their batch's part away. */
bool sqlite_ledger_forget(SqliteEngine *, const char *id, DateRange range, Error *);

#endif
