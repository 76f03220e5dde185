#ifndef TIDEGATE_SWAP_SWAP_H
#define TIDEGATE_SWAP_SWAP_H

#include <signal.h>

#include "gate/gate.h"
#include "plan/backfill.h"

/* Publish, take back, and clear away. Production rows change here and nowhere else (law 1). */

/* Rests between two tries at a lock, outside any transaction; false: the caller was asked to stop. */
typedef bool LockRest(void *context, double seconds);

/* Begins a transaction, trying its locks until they were refused `most` times; *refused says how often they were
 * before, and counts on. ERR_LOCKED when they were never to be had, ERR_PAUSED when a rest said stop; else as
 * EngineOps.begin. `limits.insist` is set for the last tries. */
bool swap_begin(Engine *engine, EngineWriter *writer, TxnLimits limits, int most, LockRest *rest, void *context,
                int *refused, Error *err);
/* Seconds that all tries at a lock may take: they too must fit before the window closes (law 4). */
double swap_longest_wait(const SpecBudget *budget);

typedef struct SwapFacts {
  ChangeCounts counts;
  double lock_seconds; /* under the lock that stops writers */
  int tries;           /* at the lock */
  bool verified;       /* production's fingerprint afterwards is the recompute's */
  Instant at;
} SwapFacts;

/*
 * Publishes the sealed change set in one transaction: recheck without the lock, lock, recheck under it, apply with
 * exact counts, mark, commit. From the states ready and rolled_back (which is reopened first). Errors: ERR_DRIFT (those
 * dates go back to building: run again), ERR_LOCKED after the bounded tries, ERR_DENIED, ERR_HELD (production refused a
 * row), ERR_LEASED, ERR_DATABASE. Whatever the error, production is untouched.
 */
bool swap_publish(Backfill on, const volatile sig_atomic_t *stop, SwapFacts *ret, Error *err);

typedef struct RollbackFacts {
  int64_t restored, left; /* rows put back; later rows left alone */
  int64_t arrived;        /* rows in the range that came after the swap; they stay */
  Conflicts conflicts;    /* what was found before */
  double lock_seconds;
} RollbackFacts;

typedef struct RefreshFacts {
  bool readers_went_on; /* nobody who read the view had to wait */
  double seconds;       /* of the transaction */
} RefreshFacts;

/*
 * Makes a materialized view anew that is downstream of the backfill's target, in one transaction that also writes the
 * event `what` with `detail` into the backfill's record. Judged like a swap, and kept within `budget: statement`.
 * Errors: ERR_DENIED, ERR_LOCKED, ERR_LEASED, ERR_NOT_FOUND, ERR_PAUSED, ERR_DATABASE; then the view is as it was.
 */
bool swap_refresh(Backfill on, const char *view, const char *what, const char *detail,
                  const volatile sig_atomic_t *stop, RefreshFacts *ret, Error *err);

/* Puts the kept rows back in one transaction. Later rows are shown in *ret (filled on ERR_CONFLICT too) and never
 * dropped silently. */
bool swap_rollback(Backfill on, LaterRows later, const volatile sig_atomic_t *stop, RollbackFacts *ret, Error *err);

/* Drops what was kept, after the checks passed on production and the retention has passed (ERR_DENIED before; `early`
 * gives the retention up, never the checks). */
bool swap_finish(Backfill on, bool early, Error *err);

/* Drops the shadow and everything else that the ledger lists for this backfill. on.plan may be NULL when it no longer
 * resolves. */
bool swap_discard(Backfill on, Error *err);

typedef struct SnapshotFacts {
  int64_t rows;           /* copied */
  int64_t changed;        /* rows in which production differs from the snapshot now */
  bool outside_unchanged; /* rows outside the range are as they were */
} SnapshotFacts;

/* The snapshot way: copies the range and proves the copy. State planned → snapshotted. */
bool swap_snapshot(Backfill on, SnapshotFacts *ret, Error *err);

/* Checks production against the evidence after somebody wrote in place. snapshotted or opened → checked. ERR_STATE
 * while the tool of run_in_place still runs, or when it did not write every date. */
bool swap_check(Backfill on, SnapshotFacts *ret, Error *err);

/* Makes the range what the snapshot holds; what is left of the tool on this machine is killed first. opened, checked or
 * snapshotted → restored (or unchanged state when nothing had changed). */
bool swap_restore(Backfill on, SnapshotFacts *ret, Error *err);

#endif
