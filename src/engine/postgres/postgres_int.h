#ifndef TIDEGATE_ENGINE_POSTGRES_POSTGRES_INT_H
#define TIDEGATE_ENGINE_POSTGRES_POSTGRES_INT_H

#include "base/buf.h"
#include "engine/engine.h"
#include "engine/postgres/libpq.h"
#include "engine/sql_text.h"

/*
 * The private header of the PostgreSQL driver: what its files share.
 *
 * Every statement goes through pg_query or pg_run, one statement a call, parameters $1, $2 … as texts. Statements live
 * in .sql files. Names of tables are spliced as SQL spells them already (regclass output: quoted and schema-qualified
 * where need be); names of columns through sql_ident.
 */
typedef struct PgEngine {
  Engine base;
  PGconn *conn;
  char *url;
  char *schema;     /* of the ledger and the backfills' objects, not quoted: "tidegate" */
  char *tablespace; /* of the backfills' objects; NULL: the database's own */
  bool unlogged;
  const Interrupt *interrupt; /* asked while a statement runs; NULL: never stops */
  double deadline;            /* monotonic seconds after which a running statement is cancelled; 0: none */
  bool writer_open;           /* a writer's transaction is open: its loss is not mended by reconnecting */
  bool transaction;           /* one is open, or was when the connection was lost (exec.c keeps it) */
  bool ledger, verdicts;      /* their tables were seen on this connection, by something that no rollback undoes */
  bool dismissed;             /* the server said that it ends the connection */
  char sqlstate[6];           /* of the last failed statement */
  char recovered[32];         /* when the server last came out of a crash, as it was when the connection was made */
  int connect_seconds;        /* for a server that does not answer; 0: ten */
} PgEngine;

static inline PgEngine *pg_engine(Engine *engine) { return (PgEngine *)engine; }

/* ---- statements (exec.c) --------------------------------------------------------------------------------------- */

static inline void pg_clear(PGresult **result) {
  PQclear(*result);
  *result = NULL;
}
/* `PG_SCOPED result = NULL;` */
#define PG_SCOPED __attribute__((cleanup(pg_clear))) PGresult *

/*
 * Runs one statement with n parameters (texts; NULL: SQL NULL; types are the server's inference) to its end and gives
 * its rows as texts. While it runs the engine's interrupt and deadline are looked at some ten times a second; then it
 * is cancelled on the server and known to be gone before this returns ERR_PAUSED. Outside a transaction a lost
 * connection is made again, a bounded number of times, before the statement is sent; a statement whose fate is unknown
 * is never sent twice. Errors by SQLSTATE (exec.c): 55P03, 40001, 40P01 → ERR_LOCKED; 57014 → ERR_PAUSED; classes 22
 * and 23 → ERR_HELD; 53100 → ERR_FULL; 42P01, 42704 → ERR_NOT_FOUND; others ERR_DATABASE. The message is "`doing`: the
 * server's words", with its DETAIL; never a parameter's value of ours.
 */
bool pg_query(PgEngine *engine, const char *sql, const char *const *values, int n, PGresult **ret, const char *doing,
              Error *err);
/* The same where no rows are wanted. ret_affected may be NULL. */
bool pg_run(PgEngine *engine, const char *sql, const char *const *values, int n, int64_t *ret_affected,
            const char *doing, Error *err);
/* One number: first row, first column; 0 when NULL or no row. */
bool pg_number(PgEngine *engine, const char *sql, const char *const *values, int n, int64_t *ret, const char *doing,
               Error *err);
/* Parses and resolves one statement without running it (a server-side prepare, forgotten at once). On failure ERR_SPEC
 * where the text is at fault, *ret_offset = byte of the fault in `sql` or −1; *ret_result, where wanted, describes the
 * output columns. */
bool pg_describe(PgEngine *engine, const char *sql, PGresult **ret_result, int *ret_offset, const char *doing,
                 Error *err);
/* Fills err for a failed result, or for a lost connection (NULL), as pg_query does. */
bool pg_fail(PgEngine *engine, const PGresult *result, const char *doing, Error *err);
/* The five-letter SQLSTATE of the last failed statement; "" when the connection was lost. */
const char *pg_sqlstate(const PgEngine *engine);

/* A value as text: NULL for SQL NULL alone. pg_peek lives as long as the result. */
static inline const char *pg_peek(const PGresult *result, int row, int column) {
  return PQgetisnull(result, row, column) ? NULL : PQgetvalue(result, row, column);
}
const char *pg_text(Arena *arena, const PGresult *result, int row, int column);
int64_t pg_int(const PGresult *result, int row, int column); /* 0 for NULL */
double pg_real(const PGresult *result, int row, int column); /* 0 for NULL */
bool pg_bool(const PGresult *result, int row, int column);   /* false for NULL */
/* '{…}' of text[], int8[] or oid[] whose elements hold no NULL: its elements in the arena. */
const char *const *pg_array(Arena *arena, const char *text, size_t *ret_n);

/* Is a transaction open on the connection? */
bool pg_in_transaction(const PgEngine *engine);
/*
 * Begins a transaction, or joins the one that is open (then a failure leaves it to whoever began it to roll back).
 * `snapshot`: REPEATABLE READ. End with `return pg_end(engine, own, ok, doing, err)`: commits when ok, else rolls back,
 * if the transaction is its own; a COMMIT whose reply was lost is looked up by its transaction id on a new connection
 * and reported as it really went. pg_undo always rolls back an own one.
 */
bool pg_begin(PgEngine *engine, bool snapshot, bool *ret_own, const char *doing, Error *err);
bool pg_end(PgEngine *engine, bool own, bool ok, const char *doing, Error *err);
void pg_undo(PgEngine *engine, bool own);

/* ---- the connection (connect.c) -------------------------------------------------------------------------------- */

bool pg_connect(PgEngine *engine, Error *err);
/* After the connection was lost: makes it again, at most five tries in ten seconds, and pins the session as before. */
bool pg_reconnect(PgEngine *engine, Error *err);

/* ---- names ----------------------------------------------------------------------------------------------------- */

/* "schema"."tidegate_<id>_<role>"; role "changes", "shadow", "snapshot". */
const char *pg_object(const PgEngine *engine, Arena *arena, const char *id, const char *role);
/* The ledger's schema, quoted: for {ledger} in templates. */
const char *pg_schema(const PgEngine *engine, Arena *arena);

/* ---- pieces of EngineOps, by file ------------------------------------------------------------------------------- */

/* session.c */
EngineCaps pg_caps(Engine *);
bool pg_identity(Engine *, Arena *, const char **, Error *);
bool pg_now(Engine *, Instant *, Error *);
bool pg_space(Engine *, SpaceFacts *, Error *);
bool pg_settings(Engine *, Arena *, const char **, Error *);
bool pg_change_token(Engine *, Arena *, const char **, Error *);
bool pg_unchanged(Engine *, const Job *, const char *, int64_t, Unchanged *, Error *);
/* jobs.c */
bool pg_job_number(Engine *, const char *, double, double *, Error *);
bool pg_age(Engine *, const char *, double, double *, Error *);
bool pg_end_sessions(Engine *, const char *, Error *);
bool pg_sessions(Engine *, Arena *, const SessionQuestion *, double, SessionFacts *, Error *);
/* pressure.c */
bool pg_pressure(Engine *, Arena *, const Shape *, const PressureLimits *, Pressure *, Error *);
/* health.c */
bool pg_health(Engine *, Arena *, const char *const *, size_t, const HealthFact **, size_t *, Error *);
/* history.c */
bool pg_cron_jobs(Engine *, Arena *, Instant, CronFacts *, Error *);
/* catalog.c, dependents.c, grants.c */
bool pg_list_tables(Engine *, Arena *, const char *const **, size_t *, Error *);
bool pg_find_table(Engine *, Arena *, const char *, const char **, TableKind *, Error *);
bool pg_describe_table(Engine *, Arena *, const char *, TableFacts *, Error *);
bool pg_dependents(Engine *, Arena *, const char *, const char **, const DependentFacts **, size_t *, Error *);
bool pg_view_reads(Engine *, Arena *, const ReadFacts **, size_t *, Error *);
bool pg_object_identity(Engine *, Arena *, const char *, const char **, Error *);
bool pg_grants(Engine *, Arena *, const char *, const char *, bool, const char **, Error *);
/* query.c, condition.c */
bool pg_describe_query(Engine *, Arena *, const char *, QueryFacts *, int *, Error *);
bool pg_describe_condition(Engine *, Arena *, const char *, const char *, const char *, bool, int *, Error *);
/* parameters.c: the statement with :from, :to, :from_date, :to_date, :from_unix and :to_unix (outside texts, names and
 * comments; not `::`) replaced by typed literals of the range in the date column's own form, e.g. ('2024-07-01'::date);
 * a line's end is put behind it. `names` alone are other parameters to replace, pairs (name, literal, …), NULL: none.
 */
const char *pg_parameters(Arena *arena, const char *sql, const DateCodec *codec, const char *date_type,
                          DateRange range);
const char *pg_replace(Arena *arena, const char *sql, const char *const *pairs, size_t n);
/* dates.c, date_profile.c */
bool pg_date_profile(Engine *, Arena *, const char *, const char *, DateProfile *, Error *);
bool pg_count_dates(Engine *, Arena *, const Shape *, DateRange, const char *, DateRecord **, size_t *, int64_t *,
                    Error *);
bool pg_key_faults(Engine *, Arena *, const Shape *, DateRange, int64_t *, int64_t *, Error *);
/* ledger.c, ledger_read.c, ledger_write.c: every ledger_* and lease_* operation, with the meaning of engine.h */
bool pg_ledger_together(Engine *, bool (*write)(void *, Error *), void *, Error *);
bool pg_ledger_exists(Engine *, bool *, Error *);
bool pg_ledger_create(Engine *, Error *);
bool pg_ledger_add(Engine *, const BackfillRecord *, const DateRecord *, size_t, Error *);
bool pg_ledger_list(Engine *, Arena *, const BackfillRecord **, size_t *, Error *);
bool pg_ledger_move(Engine *, const char *, const char *, const char *, const char *, const char *, const char *,
                    const char *, Error *);
bool pg_ledger_doc(Engine *, const char *, const char *, const char *, Error *);
bool pg_lease_take(Engine *, const char *, const char *, double, bool (*)(const char *), int64_t *, Error *);
bool pg_lease_drop(Engine *, const char *, int64_t, Error *);
bool pg_lease_beat(Engine *, const char *, int64_t, Error *);
bool pg_ledger_dates(Engine *, Arena *, const char *, const DateRecord **, size_t *, Error *);
bool pg_ledger_batches(Engine *, Arena *, const char *, const BatchRecord **, size_t *, Error *);
bool pg_ledger_columns(Engine *, Arena *, const char *, const ColumnChange **, size_t *, Error *);
bool pg_ledger_findings(Engine *, Arena *, const char *, const FindingRecord **, size_t *, Error *);
bool pg_ledger_add_findings(Engine *, const char *, const FindingRecord *, size_t, Error *);
bool pg_ledger_objects(Engine *, Arena *, const char *, const ObjectRecord **, size_t *, Error *);
bool pg_ledger_events(Engine *, Arena *, const char *, const EventRecord **, size_t *, Error *);
bool pg_ledger_event(Engine *, const char *, const char *, const char *, const char *, Error *);
/* audit.c */
bool pg_audit_add(Engine *, const AuditRecord *, int64_t *, Error *);
bool pg_audit_list(Engine *, Arena *, const char *, size_t, const AuditRecord **, size_t *, Error *);
bool pg_audit_sign(Engine *, int64_t, const char *, Error *);
bool pg_audit_use(Engine *, int64_t, Error *);
bool pg_role_writes(Engine *, Arena *, const char *, const char *, const char **, Error *);
bool pg_has_role(Engine *, const char *, bool *, Error *);
/* For the driver's own writing files; each inside the transaction that is open. */
/* Locks the backfill's row, beats its heartbeat in database time; ERR_LEASED unless its lease epoch is `epoch`. */
bool pg_ledger_guard(PgEngine *, const char *id, int64_t epoch, Error *);
/* Locks the row against a takeover alone, so that several sessions can hold it so; as pg_ledger_guard, without the
 * beat. In a snapshot that is older than a takeover: ERR_LOCKED. */
bool pg_ledger_guard_shared(PgEngine *, const char *id, int64_t epoch, Error *);
bool pg_ledger_object_add(PgEngine *, const char *id, const ObjectRecord *, Error *);
bool pg_ledger_object_dropped(PgEngine *, const char *id, const char *name, Error *);
/* Saves the batch, its dates (with the facts and the batch's number) and adds its column changes. */
bool pg_ledger_batch_done(PgEngine *, const char *id, const BatchRecord *, const BatchFacts *, const Shape *, Error *);
/* Marks the dates of [range) as not written, takes their batch's part away. */
bool pg_ledger_forget(PgEngine *, const char *id, DateRange range, Error *);
/* Notes that the open transaction is one of ours (tidegate.xact): pg_unchanged tells foreign commits by it. Called by
 * pg_end before its COMMIT when the transaction has written; does nothing while there is no ledger. */
bool pg_ledger_own_xact(PgEngine *, Error *);

#endif
