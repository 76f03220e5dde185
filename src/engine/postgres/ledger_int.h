#ifndef TIDEGATE_ENGINE_POSTGRES_LEDGER_INT_H
#define TIDEGATE_ENGINE_POSTGRES_LEDGER_INT_H

#include "engine/postgres/postgres_int.h"

/* What the files of the ledger share. */

/* A statement of ledger.sql with {ledger} and {now} filled in; {doc} by `doc`. */
const char *pg_ledger_sql(const PgEngine *engine, Arena *arena, const char *sql, const char *doc);

/* Runs a statement of ledger.sql without rows inside the open transaction. ret_affected may be NULL. */
bool pg_ledger_run(PgEngine *engine, const char *sql, const char *const *values, int n, int64_t *ret_affected,
                   const char *doing, Error *err);

/* The state of the backfill, ERR_NOT_FOUND when there is none. Lives in the arena. */
bool pg_ledger_state(PgEngine *engine, Arena *arena, const char *id, const char **ret_state, Error *err);

/* Always false: there is no such backfill. */
bool pg_ledger_no_backfill(const PgEngine *engine, const char *id, Error *err);

/* Adds an event inside the open transaction; `who` NULL: the holder of the lease. */
bool pg_ledger_note(PgEngine *engine, const char *id, const char *who, const char *what, const char *detail,
                    Error *err);

/* A number as a parameter. */
const char *pg_ledger_int(Arena *arena, int64_t value);

/*
 * Array parameters from one field of n records: `first` is the field of the first, `stride` the size of a record. All n
 * travel with one statement, however many there are.
 */
const char *pg_ledger_ints(Arena *arena, const int64_t *first, size_t n, size_t stride);
const char *pg_ledger_texts(Arena *arena, const char *const *first, size_t n, size_t stride);
const char *pg_ledger_fingerprints(Arena *arena, const Fingerprint *first, size_t n, size_t stride);

#endif
