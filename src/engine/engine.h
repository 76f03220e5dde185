#ifndef TIDEGATE_ENGINE_ENGINE_H
#define TIDEGATE_ENGINE_ENGINE_H

#include "base/arena.h"
#include "base/error.h"
#include "engine/batch.h"
#include "engine/facts.h"
#include "engine/records.h"

/*
 * The contract of a database engine: named facts to read and named pieces of work, never a general query function.
 * One folder a driver; a driver fills one EngineOps. Required functions are never NULL; optional ones are NULL where
 * the capability flag is off.
 *
 * Reading needs an Engine. Changing anything but the ledger's own tables needs an EngineWriter, and an
 * EngineWriter cannot be had without a GatePass, which only src/gate can make (law 8).
 *
 * With the flag `transactions` everything between begin and commit, ledger included, happens together or not at all.
 * Without it a driver keeps the ledger in another database and publishes by one statement (`branch_publish` or
 * `range_replace`): begin writes the intent there, commit the done mark, and what happened between the two is read from
 * the database itself, never remembered. How that maps is in ARCHITECTURE.md. It needs one operation more, "did the
 * intent of this epoch happen?", which comes with the first such driver; no driver of this build is without the flag.
 */
typedef struct Engine Engine;
typedef struct EngineWriter EngineWriter;
typedef struct GatePass GatePass;

typedef struct EngineCaps {
  bool transactions;      /* several statements commit together */
  bool readers_unblocked; /* a writer never makes a reader wait, nor a reader a writer */
  bool writes_apart;      /* a transaction that writes the backfill's own tables keeps no other writer waiting */
  bool range_replace;     /* one statement replaces a date range */
  bool row_change;        /* rows can be updated and deleted by key */
  bool branch_publish;    /* a branch is written aside and published by one statement */
  bool cancel;            /* a running statement can be cancelled and is known to be gone */
} EngineCaps;

/* Where the backfill's objects go, for engines that have such places. NULL and false: the engine's own way. */
typedef struct EngineOptions {
  const char *schema, *tablespace;
  bool unlogged;       /* the full shadow need not survive a crash of the server: it is filled again then */
  int connect_seconds; /* for a server that does not answer; 0: the engine's own */
} EngineOptions;

typedef struct TxnLimits {
  double lock_wait;  /* seconds to wait for the lock, once */
  const char *fence; /* a table that nobody else writes from here to the end; NULL: none */
  bool insist;   /* with a fence: a transaction that has read the table and may still write it is not waited for here;
                    apply, revert and restore_range shut it out at their end, and readers with it, for half a second at
                    most */
  bool snapshot; /* every statement sees the database as the first one did; else each sees what is committed */
  double hold;   /* seconds after which the transaction is rolled back, by a process of its own if this one is frozen */
  bool shared; /* with `writes_apart`: others may be in such a transaction under the same lease at the same time. Until
                  it ends nobody takes the lease over; its heartbeat is left to whoever is alone with it */
} TxnLimits;

/* Called during long work; returning false stops it with ERR_PAUSED. */
typedef struct Interrupt {
  bool (*go_on)(void *context);
  void *context;
} Interrupt;

/* ---- the operations ---------------------------------------------------------------------------------------------- */

typedef struct EngineOps {
  const char *name; /* "sqlite" */

  /* -- facts: all read-only -- */
  void (*close)(Engine *);
  /* One more connection to the very same database, with the same settings, for questions while this one is busy, and
   * where `writes_apart` is on for another thread. ERR_DATABASE when there is none to be had, or when the URL leads
   * elsewhere by now. */
  bool (*connect_again)(Engine *, Engine **ret, Error *);
  EngineCaps (*caps)(Engine *);
  /* Identity of this very database: a copy of it is another one. Makes nothing; "" when the ledger does not exist yet.
   */
  bool (*identity)(Engine *, Arena *, const char **ret, Error *);
  bool (*now)(Engine *, Instant *ret, Error *);
  bool (*space)(Engine *, SpaceFacts *ret, Error *);
  /* Session settings that change what SQL means, as one text for the digest. */
  bool (*settings)(Engine *, Arena *, const char **ret, Error *);
  /* What doctor looks at: the server, the session, and what it may do with the ledger and these targets. NULL where
   * there is no server. */
  bool (*health)(Engine *, Arena *, const char *const *targets, size_t n, const HealthFact **ret, size_t *ret_n,
                 Error *);
  /* The jobs of the database's own scheduler that whoever asks may see, and up to a thousand runs of each that started
   * at `since` or later. NULL where there is no such thing. */
  bool (*cron_jobs)(Engine *, Arena *, Instant since, CronFacts *ret, Error *);
  bool (*list_tables)(Engine *, Arena *, const char *const **ret, size_t *ret_n, Error *);
  /* What a person means by the name: how the engine spells it, and its kind, as describe_table says them, without the
   * rest of it. ERR_NOT_FOUND when there is no such table or view. */
  bool (*find_table)(Engine *, Arena *, const char *name, const char **ret_name, TableKind *ret_kind, Error *);
  /* ERR_NOT_FOUND when there is no such table or view. */
  bool (*describe_table)(Engine *, Arena *, const char *name, TableFacts *ret, Error *);
  /* Parses and resolves; runs nothing. ERR_SPEC with *ret_offset = byte of the fault (−1: unknown) for SQL that is
   * wrong, that is several statements, or that writes. */
  bool (*describe_query)(Engine *, Arena *, const char *sql, QueryFacts *ret, int *ret_offset, Error *);
  /* A condition over one row of the table (recompute given: over one row of its output), or (aggregate) an expression
   * over many rows of the table: is it well-formed? As describe_query. */
  bool (*describe_condition)(Engine *, Arena *, const char *table, const char *recompute, const char *sql,
                             bool aggregate, int *ret_offset, Error *);
  /* *ret_schema: where the table itself stands; NULL where the engine has no schemas. */
  bool (*dependents)(Engine *, Arena *, const char *table, const char **ret_schema, const DependentFacts **ret,
                     size_t *ret_n, Error *);
  /* What all views of the database read, each its own sources. A view that is broken is left out. */
  bool (*view_reads)(Engine *, Arena *, const ReadFacts **ret, size_t *ret_n, Error *);
  /* What the statements of n texts together would read and write if they were run in that order, or in any other that
   * makes tables before they are read. Runs nothing in this database. ret_scripts: n of them. NULL where the dialect is
   * read without the engine. */
  bool (*describe_scripts)(Engine *, Arena *, const char *const *texts, size_t n, ScriptFacts *ret_scripts, Error *);
  /* Samples; counts nulls only where an index makes it cheap or the table is small (rows −1 otherwise). */
  bool (*date_profile)(Engine *, Arena *, const char *table, const char *column, DateProfile *ret, Error *);
  /* Rows per date of [range): where → also how many satisfy it (NULL: all). Dates without rows are absent. *ret_nulls:
   * rows with a NULL date in the whole table. Reads the range through an index on the date column, else the whole
   * table. */
  bool (*count_dates)(Engine *, Arena *, const Shape *, DateRange range, const char *where, DateRecord **ret,
                      size_t *ret_n, int64_t *ret_nulls, Error *);
  /* The number that a query of one row and one column gives (live.running), within so many seconds. */
  bool (*number)(Engine *, const char *sql, double timeout, double *ret, Error *);
  /* How many seconds the time that a query of one column gives is behind the database's clock; INFINITY for NULL and
   * for no row: there was no sign of life. Within so many seconds. */
  bool (*age)(Engine *, const char *sql, double timeout, double *ret, Error *);
  /* Whose sessions are there, and who holds a lock, apart from Tidegate's own? Within so many seconds. NULL where there
   * are no sessions. */
  bool (*sessions)(Engine *, Arena *, const SessionQuestion *, double timeout, SessionFacts *ret, Error *);
  /* Ends the sessions of this database that have this application name and the role of whoever asks, with what they do.
   * NULL where there are no sessions. */
  bool (*end_sessions)(Engine *, const char *application, Error *);
  /* Equal tokens prove that nobody else committed anything between; unequal tokens prove nothing. Lives in the arena.
   */
  bool (*change_token)(Engine *, Arena *, const char **ret, Error *);
  /* How much production feels: of this backfill or of anything else, since both are reasons to wait. Writes nothing.
   * Optional. */
  bool (*pressure)(Engine *, Arena *, const Shape *, const PressureLimits *, Pressure *ret, Error *);
  /* Did nobody else change what the batch of `job` rests on since the snapshot of `token`, in which production had
   * `rows` rows of its dates? Cheaper than a fingerprint: at most counts production's rows of the dates. */
  bool (*unchanged)(Engine *, const Job *, const char *token, int64_t rows, Unchanged *ret, Error *);
  /* Duplicate and NULL keys among production's rows of the range: is the declared key one? */
  bool (*key_faults)(Engine *, Arena *, const Shape *, DateRange range, int64_t *ret_duplicates, int64_t *ret_nulls,
                     Error *);

  /* Reads and compares; writes nothing. The facts live in the arena. */
  bool (*compare)(Engine *, Arena *, const Job *, const Interrupt *, BatchFacts *ret, Error *);
  /* What the planner expects of the recompute that compare would read for the job's dates. Runs nothing of it. NULL
   * where there is no planner to ask. */
  bool (*estimate)(Engine *, Arena *, const Job *, EstimateFacts *ret, Error *);
  /* Production's rows alone: per date, or (from == to) one entry for the whole table. */
  bool (*fingerprint)(Engine *, Arena *, const Shape *, DateRange range, const DateFacts **ret, size_t *ret_n, Error *);
  /* A total over the overlay's rows of [from, to). *ret_true is false for SQL false and NULL. */
  bool (*check_total)(Engine *, const Job *, const char *expression, DateRange range, bool *ret_true, Error *);
  bool (*change_counts)(Engine *, const Shape *, const char *id, ChangeCounts *ret, Error *);
  /* Rows of the change set, by date and key; date 0: all dates. */
  bool (*change_rows)(Engine *, Arena *, const Shape *, const char *id, Instant date, size_t limit,
                      const ChangeRow **ret, size_t *ret_n, Error *);
  /* Keys that stand in the change set more than once: a key that would be published twice. */
  bool (*change_duplicates)(Engine *, const Shape *, const char *id, int64_t *ret, Error *);
  /* Rows that the settled change set deletes although `changes` does not let them vanish: one finding, count 0 when
   * there are none. While a batch is computed they are found only where the key cannot have moved to another batch. */
  bool (*vanished)(Engine *, Arena *, const Job *, Finding *ret, Error *);
  /* Child rows that a delete of the change set would cascade to or orphan: child table and count; NULL child: none. */
  bool (*orphans)(Engine *, Arena *, const Shape *, const char *id, const char **ret_child, int64_t *ret, Error *);
  /* NULL where the engine has no partitions. skip_triggers: triggers that do not fire are wanted. */
  bool (*exchange_facts)(Engine *, Arena *, const Shape *, DateRange range, bool skip_triggers, ExchangeFacts *ret,
                         Error *);
  /* *ret_why_not: why the range's rows cannot all be deleted and inserted anew without a difference to others, as the
   * end of "NAME cannot be replaced: …"; NULL: they can. NULL where the engine never does. */
  bool (*replace_facts)(Engine *, Arena *, const Shape *, bool skip_triggers, const char **ret_why_not, Error *);
  /* Would every new row of the change set be accepted? NULL, or the database's words for the first that is not. */
  bool (*probe_constraints)(Engine *, Arena *, const Shape *, const char *id, const char **ret_refusal, Error *);
  /* Oracle: for a seeded sample of n changed rows, does the query with :key parameters give the same values? Rows of
   * the change set; in_place: of production in this range that are not in the snapshot as they are. */
  bool (*ask_oracle)(Engine *, Arena *, const Shape *, const char *id, const DateRange *in_place, const char *sql,
                     size_t n, int64_t *ret_asked, Finding *ret, Error *);
  bool (*conflicts)(Engine *, Arena *, const Shape *, const char *id, size_t max_examples, Conflicts *ret, Error *);
  bool (*object_identity)(Engine *, Arena *, const char *name, const char **ret, Error *); /* NULL: does not exist */
  /* The full name of the backfill's object of a role, as SQL spells it. */
  const char *(*object_name)(Engine *, Arena *, const char *id, const char *role);
  /* The statements by which an owner of the database lets `role` plan, run and seal, and with `publish` also swap; NULL
   * where the engine has no roles. */
  bool (*grants)(Engine *, Arena *, const char *role, const char *target, bool publish, const char **ret, Error *);

  /* The snapshot as the old side against production as the new: differences, scope and row checks as in compare. */
  bool (*compare_snapshot)(Engine *, Arena *, const Job *, BatchFacts *ret, Error *);

  /* -- the ledger's tables: the only writes without a pass; each call is its own transaction unless one is open -- */
  /* All that `write` writes in one transaction, or nothing when it fails. */
  bool (*ledger_together)(Engine *, bool (*write)(void *context, Error *), void *context, Error *);
  bool (*ledger_exists)(Engine *, bool *ret, Error *);
  bool (*ledger_create)(Engine *, Error *); /* idempotent; refuses a newer version than it knows */
  bool (*ledger_add)(Engine *, const BackfillRecord *, const DateRecord *, size_t n, Error *);
  bool (*ledger_list)(Engine *, Arena *, const BackfillRecord **ret, size_t *ret_n, Error *); /* newest first */
  /* Compare and set: ERR_STATE when the record is not in `from`. doc: "plan", "seal" or "swap" and its JSON, or NULL.
   */
  bool (*ledger_move)(Engine *, const char *id, const char *from, const char *to, const char *reason, const char *doc,
                      const char *json, const char *who, Error *);
  bool (*ledger_doc)(Engine *, const char *id, const char *doc, const char *json, Error *);
  /* Takes the lease if it is free, dead or already `owner`'s: *ret_epoch is one higher than before. ERR_LEASED with who
   * holds it. `dead` judges a holder that still has a fresh heartbeat. */
  bool (*lease_take)(Engine *, const char *id, const char *owner, double ttl, bool (*dead)(const char *holder),
                     int64_t *ret_epoch, Error *);
  bool (*lease_drop)(Engine *, const char *id, int64_t epoch, Error *);
  /* Shows that whoever holds the lease under this epoch is alive: ERR_LEASED when it is another's by now; ERR_LOCKED
   * when the lock was not to be had, for which it waits a moment only. */
  bool (*lease_beat)(Engine *, const char *id, int64_t epoch, Error *);
  bool (*ledger_dates)(Engine *, Arena *, const char *id, const DateRecord **ret, size_t *ret_n, Error *);
  bool (*ledger_batches)(Engine *, Arena *, const char *id, const BatchRecord **ret, size_t *ret_n, Error *);
  bool (*ledger_columns)(Engine *, Arena *, const char *id, const ColumnChange **ret, size_t *ret_n, Error *);
  bool (*ledger_findings)(Engine *, Arena *, const char *id, const FindingRecord **ret, size_t *ret_n, Error *);
  bool (*ledger_add_findings)(Engine *, const char *id, const FindingRecord *, size_t n, Error *);
  bool (*ledger_objects)(Engine *, Arena *, const char *id, const ObjectRecord **ret, size_t *ret_n, Error *);
  bool (*ledger_events)(Engine *, Arena *, const char *id, const EventRecord **ret, size_t *ret_n, Error *);
  bool (*ledger_event)(Engine *, const char *id, const char *who, const char *what, const char *detail, Error *);

  /* Verdicts on other tools' commands; the ledger is made where there is none. `number` and `at` are given. */
  bool (*audit_add)(Engine *, const AuditRecord *, int64_t *ret_number, Error *);
  /* Newest first, `most` at most; of one digest (NULL: of all). None where there is no ledger. */
  bool (*audit_list)(Engine *, Arena *, const char *digest, size_t most, const AuditRecord **ret, size_t *ret_n,
                     Error *);
  /* Signs, or uses up, once: ERR_STATE when there is no such record or it was done before. */
  bool (*audit_sign)(Engine *, int64_t number, const char *who, Error *);
  bool (*audit_use)(Engine *, int64_t number, Error *);
  /* Could the role write the table, by any right that it has or can take? *ret_how: by which; NULL: it could not. NULL
   * where the engine has no roles. ERR_NOT_FOUND when there is no such role or table. */
  bool (*role_writes)(Engine *, Arena *, const char *role, const char *table, const char **ret_how, Error *);
  /* Is whoever is connected a member of the role? NULL where the engine has no roles. */
  bool (*has_role)(Engine *, const char *role, bool *ret, Error *);

  /* -- work: needs a writer -- */
  /* The writer acts for one backfill under one lease epoch. writer_close aborts what is open; NULL-safe. */
  bool (*writer_open)(Engine *, const GatePass *, const char *id, int64_t epoch, EngineWriter **ret, Error *);
  void (*writer_close)(EngineWriter *);
  /* Locks, then checks the lease epoch (law 10) and beats the heartbeat: ERR_LEASED when another took over, ERR_LOCKED
   * when the lock was not to be had in time. */
  bool (*begin)(EngineWriter *, TxnLimits, Error *);
  /* The transaction is over, whatever the answer: after false there is nothing to abort, and nothing of it holds. Only
   * where the connection was lost and the server cannot be asked does the message say that this is not known; then the
   * ledger tells. */
  bool (*commit)(EngineWriter *, Error *);
  void (*abort)(EngineWriter *); /* rolls back; nothing to roll back is fine */
  /* Makes an object of the backfill and records it in the ledger, with the open transaction. role: "changes", "shadow"
   * or "snapshot". */
  bool (*create)(EngineWriter *, const Shape *, const char *role, Error *);
  /* Computes a batch, ready to be stored; replaces an earlier computation. Outside a transaction it is computed aside,
   * without a lock on the main database where the engine can; inside begin … commit straight into the change set, which
   * is quicker when most rows change and keeps other writers waiting for as long (with `writes_apart` nobody waits, and
   * it is the only way). */
  bool (*compute)(EngineWriter *, Arena *, const Job *, const Interrupt *, BatchFacts *ret, Error *);
  /* Inside begin … commit: takes what earlier attempts stored for these dates away, stores the computed batch, and
   * marks batch and dates done. */
  bool (*store)(EngineWriter *, const Job *, const BatchFacts *, const BatchRecord *, Error *);
  /* Fills the full shadow for the job's dates from the recompute (also clears it for an external command when recompute
   * is NULL). */
  bool (*fill_shadow)(EngineWriter *, const Job *, const Interrupt *, Error *);
  /* Inside begin … commit: a key that moves inside the range stands as a move and as a delete: drops the delete. */
  bool (*settle_moves)(EngineWriter *, const Shape *, Error *);
  /* Parts of what is written that can be made ready for the seal by themselves, as soon as every date of theirs is
   * written; settle_moves leaves out what is ready. *ret_n 0: there are none. NULL where there never are. */
  bool (*seal_parts)(Engine *, Arena *, const Shape *, const char *id, const DateRange **ret, size_t *ret_n, Error *);
  /* Inside begin … commit: makes one of them ready. */
  bool (*seal_part)(EngineWriter *, const Shape *, DateRange part, const Interrupt *, Error *);
  /* Forgets these dates: not written, no change rows. */
  bool (*forget)(EngineWriter *, const Shape *, DateRange range, Error *);
  /* Inside begin … commit: publishes the change set; every count must be exactly as expected, else ERR_DRIFT. columns:
   * which columns of the shape change in any update. skip_triggers: production's triggers do not fire. */
  bool (*apply)(EngineWriter *, const Shape *, const bool *columns, ChangeCounts expected, bool skip_triggers, Error *);
  /* Inside begin … commit: the reverse, from the kept rows. later: what to do where a row is no longer as the swap left
   * it. ERR_CONFLICT under LATER_REFUSE. *ret_left: rows left alone under LATER_KEEP. */
  bool (*revert)(EngineWriter *, const Shape *, const bool *columns, LaterRows later, bool skip_triggers,
                 int64_t *ret_left, Error *);
  /* Copies the range's rows, all columns, into the snapshot table and proves the copy by fingerprint. */
  bool (*copy_range)(EngineWriter *, const Shape *, DateRange range, Error *);
  /* Inside begin … commit: makes the range what the snapshot holds, row by row. *ret_changed: rows put back. */
  bool (*restore_range)(EngineWriter *, const Shape *, DateRange range, bool skip_triggers, int64_t *ret_changed,
                        Error *);
  /* Inside begin … commit: makes a materialized view anew. *ret_readers_go_on: whoever read it did not have to wait.
   * ERR_NOT_FOUND when it is none. NULL where the engine has no such views. */
  bool (*refresh)(EngineWriter *, const char *view, bool *ret_readers_go_on, Error *);
  /* Drops an object that the ledger of this backfill lists, if name, role and identity still agree (law 7); records it.
   */
  bool (*drop)(EngineWriter *, const char *role, Error *);
} EngineOps;

struct Engine {
  const EngineOps *ops;
};

/*
 * Opens the database of a path or URL read-write without creating it. options may be NULL; its texts are copied.
 * Errors: ERR_DATABASE; ERR_USAGE for a URL that holds a password, which would end up in process lists and logs.
 */
bool engine_open(const char *url, const EngineOptions *options, Engine **ret_engine, Error *err);

/* Closes; NULL is fine. For `ENGINE_SCOPED engine = NULL;`. */
void engine_close(Engine **engine);
#define ENGINE_SCOPED __attribute__((cleanup(engine_close))) Engine *

/* Ends the writer's transaction: commits it when all went well in it (`ok`), else aborts it. True: it is committed. */
bool engine_end(const Engine *engine, EngineWriter *writer, bool ok, Error *err);

#endif
