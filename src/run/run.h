#ifndef TIDEGATE_RUN_RUN_H
#define TIDEGATE_RUN_RUN_H

#include <signal.h>

#include "gate/gate.h"
#include "plan/backfill.h"

/*
 * A loop around step(): one batch that can be killed anywhere. Crash-only: recovery is the ordinary start. Batches are
 * written to the shadow, smallest first, each judged by the gate before it and by its evidence after it; when the last
 * is valid the change set is sealed.
 */

typedef struct RunProgress {
  int64_t dates_done, dates, rows_done, rows; /* rows by their weight at plan time */
  int64_t changes;
  double remaining;  /* seconds still to go, sleeping included; below 0: not known yet */
  const char *doing; /* "2–3 Feb 2013", "resting", "production runs until 03:05", "sealing" */
  bool waiting;      /* nothing is being written: resting or outside the window */
} RunProgress;

typedef struct RunOptions {
  void (*progress)(
      void *context,
      const RunProgress *progress); /* may be NULL; called at most ten times a second and at each change of `doing` */
  void *context;
  const volatile sig_atomic_t *stop; /* 1: pause after this batch; 2: stop at once. May be NULL */
  bool wait;                         /* outside the window: wait for it (true) or end with ERR_DENIED (false) */
} RunOptions;

typedef struct RunFacts {
  ChangeCounts counts; /* of the sealed change set */
  int64_t rows;        /* recomputed */
  int64_t batches;     /* written by this call */
  double seconds;      /* of this call */
} RunFacts;

/*
 * Carries a planned, building or held (with retry) backfill on until it is sealed. Errors: ERR_PAUSED (stopped by the
 * caller), ERR_DENIED (the gate), ERR_HELD (evidence failed: the findings are in the ledger), ERR_NO_CHANGE,
 * ERR_LEASED, ERR_COMMAND, ERR_FULL, ERR_LOCKED, ERR_SUPERSEDED, ERR_DATABASE. Whatever the error, production is
 * untouched and the same call carries on.
 */
bool run_backfill(Backfill on, const RunOptions *options, RunFacts *ret, Error *err);

#endif
