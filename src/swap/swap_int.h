#ifndef TIDEGATE_SWAP_SWAP_INT_H
#define TIDEGATE_SWAP_SWAP_INT_H

#include "base/clock.h"
#include "swap/swap.h"

/* What the files of this room share. */

/* One act on a backfill: under its lease, with a pass, through a writer. */
typedef struct Act {
  Arena *arena;
  Engine *engine;
  BackfillRecord *record;
  const Plan *plan;
  EngineWriter *writer;
  GateWatch *watch; /* of what writes production; NULL: there is nothing to ask */
  int64_t epoch;
  int refused;         /* tries at the lock so far that were for nothing */
  ChangeCounts counts; /* of the seal */
  bool *columns;       /* of the shape: those that change in an update */
} Act;

/* An act that has not begun. */
Act act_on(Backfill on);
/* Takes the lease and the gate's pass, and opens the writer. `verb`: a transition that the state must have; NULL: any
 * state will do, because none is left. */
bool act_begin(Act *act, const char *verb, GateAct gate, double need, Error *err);
/* Closes the writer and gives the lease back. */
void act_end(Act *act);
/* Reads counts and columns from the seal. */
bool act_read_seal(Act *act, Error *err);
/* Begins a transaction under the limits of the budget, tried as often as it says in all. fence: as in TxnLimits, the
 * target wherever its rows are rechecked or written; NULL for the ledger and the backfill's own tables alone. */
bool act_lock(Act *act, const char *fence, const volatile sig_atomic_t *stop, Error *err);
/* The same, held for so many seconds at most. */
bool act_lock_for(Act *act, const char *fence, double hold, const volatile sig_atomic_t *stop, Error *err);
/* After an attempt under the lock failed: when it was for want of another lock, rolls back, rests and is true, as often
 * as the budget says, tries at the first lock included. Else nothing is done. */
bool act_try_again(Act *act, const volatile sig_atomic_t *stop, const Error *err);
/* Under the lock, before production is written: is every job still idle? ERR_DENIED; the caller rolls back. */
bool act_still_idle(Act *act, Error *err);
/* Under the lock, where whole dates are replaced: has the target no column that the plan does not know? Else `code`;
 * the caller rolls back. */
bool act_no_new_column(Act *act, ErrorCode code, Error *err);
/* ledger_commit of the act. */
bool act_commit(Act *act, LedgerMove move, Error *err);
/* After an abort: says so when it was the deadline, which alone interrupts under the lock; always returns false. */
bool act_took_too_long(const Act *act, Error *err);
/* A job over the whole range of the plan. */
Job act_whole_job(const Act *act);

/* recheck.c: what was computed against what is now. */
typedef struct Recheck {
  const char **tokens; /* per batch: the snapshot in which it was last seen unchanged */
  const BatchRecord *batches;
  const DateRecord *dates;
  size_t n_batches, n_dates;
} Recheck;

/* Reads the backfill's batches and dates; each was last seen unchanged when it was computed. */
bool recheck_init(Act *act, Recheck *recheck, Error *err);
/* Is every batch proven to be unchanged since it was last seen so? Compares nothing: made for the time under the lock.
 */
bool recheck_holds(Act *act, const Recheck *recheck, bool *ret, Error *err);
/* Compares every batch that is not proven to be unchanged. *ret_drift: the range of the first batch that drifted;
 * from == to: none. */
bool recheck_look(Act *act, Recheck *recheck, DateRange *ret_drift, const char **ret_what, Error *err);

#endif
