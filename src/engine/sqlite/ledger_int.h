#ifndef TIDEGATE_ENGINE_SQLITE_LEDGER_INT_H
#define TIDEGATE_ENGINE_SQLITE_LEDGER_INT_H

#include "engine/sqlite/sqlite_int.h"

/* What the files of the ledger share. */

/*
 * Begins an immediate transaction, or joins the one that is open: then a failure leaves it to whoever began it to roll
 * back. End with `return ledger_end(engine, own, ok, err)`.
 */
bool ledger_begin(SqliteEngine *engine, bool *ret_own, const char *doing, Error *err);
/* Commits when `ok`, else rolls back, if the transaction is its own; returns whether all went well. */
bool ledger_end(SqliteEngine *engine, bool own, bool ok, const char *doing, Error *err);

/* The state of the backfill, ERR_NOT_FOUND when there is none. Lives in the arena. */
bool ledger_state(SqliteEngine *engine, Arena *arena, const char *id, const char **ret_state, Error *err);

/* Adds an event inside the open transaction; `who` NULL: the holder of the lease. */
bool ledger_note(SqliteEngine *engine, const char *id, const char *who, const char *what, const char *detail,
                 Error *err);

/* Binds the parameters that ledger.sql's add_date and date_done share. */
typedef struct LedgerDate {
  Instant date;
  int64_t batch;
  const Fingerprint *production, *recomputed, *stable;
  int64_t inserts, updates, deletes, moves_in, moves_out;
} LedgerDate;
void ledger_bind_date(Stmt *stmt, const LedgerDate *date);

/* Steps a statement that gives no rows to its end and makes it ready for the next values. */
bool ledger_step(SqliteEngine *engine, Stmt *stmt, const char *doing, Error *err);

#endif
