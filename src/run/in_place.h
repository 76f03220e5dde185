#ifndef TIDEGATE_RUN_IN_PLACE_H
#define TIDEGATE_RUN_IN_PLACE_H

#include "run/run.h"
#include "swap/swap.h"

/*
 * A tool that can only write production in place, run batch by batch over a snapshot: the lightest date first, each
 * batch asked of the gate before it and held against the evidence after it. Whatever fails, the range is made what the
 * snapshot holds.
 */

/* One batch that has passed. */
typedef struct InPlaceBatch {
  int64_t number; /* from 1 */
  DateRange dates;
  int64_t n, rows, changed; /* dates; rows that they have now; rows that differ from the snapshot */
  double seconds;
} InPlaceBatch;

typedef struct InPlaceOptions {
  RunOptions run;     /* stop: whatever it says, the tool is ended and the range put back */
  const char *line;   /* for /bin/sh, with the places of plan_variables */
  const char *starts; /* the job that the tool starts elsewhere, by its name in the plan; NULL: none */
  int64_t per_batch;  /* dates that a batch may have at most; 0: any number */
  void (*passed)(void *context, const InPlaceBatch *batch); /* may be NULL */
  void *context;
} InPlaceOptions;

typedef struct InPlaceResult {
  SnapshotFacts facts;
  const InPlaceBatch *batches; /* all that passed, also those of an earlier call; in the arena */
  size_t n;
  bool restored; /* it failed, and facts.changed rows were put back */
} InPlaceResult;

/*
 * Carries a backfill on from snapshotted or opened until it is checked. After a crash, the dates that may be half
 * written are put back and written again. *ret is filled on failure too. Errors, after which production is what the
 * snapshot holds (state restored) unless the hint says otherwise: ERR_COMMAND (the tool failed, or took longer than
 * `recompute: timeout` or the window), ERR_HELD (its evidence, or rows that were not its own, changed), ERR_NO_CHANGE,
 * ERR_PAUSED (the caller said stop), ERR_DENIED. ERR_DRIFT: others wrote the range meanwhile; nothing is put back,
 * which would lose what they wrote. ERR_LEASED, ERR_STATE, ERR_DATABASE, ERR_LOCKED.
 */
bool run_in_place(Backfill on, const InPlaceOptions *options, InPlaceResult *ret, Error *err);

/* Waits until the gate lets a first batch begin. ERR_DENIED, ERR_PAUSED, as in run_backfill. */
bool run_in_place_wait(Backfill on, const RunOptions *options, Error *err);

#endif
