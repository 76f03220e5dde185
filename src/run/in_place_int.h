#ifndef TIDEGATE_RUN_IN_PLACE_INT_H
#define TIDEGATE_RUN_IN_PLACE_INT_H

#include "ledger/opened.h"
#include "run/in_place.h"
#include "run/run_int.h"
#include "swap/in_place.h"

/* What the two files share that let a tool write in place. */

typedef struct InPlace {
  Run run; /* its dates' `batch` says here which of the tool's batches has passed */
  const InPlaceOptions *options;
  InPlaceResult *result;
  EngineWriter *writer; /* NULL until the gate has let something begin */
  const GatePass *pass;
  Opened opened;
  Fingerprint *expected;  /* by date: as it was left, by the last batch or by whoever wrote it before the snapshot */
  Fingerprint outside;    /* of the rows outside the range, when that was */
  const char *token;      /* of a moment before all that was read; NULL: it was not, or not by this process */
  double date_seconds;    /* the longest that a date of a batch took; 0: nothing is measured */
  bool one_date;          /* the tool takes one date at a time */
  bool ours;              /* the record is understood, so that it may be put back */
  JobOwn own;             /* what the tool shows of itself while it runs */
  int met;                /* how often a job has come while the batch's tool ran */
  const char *unfinished; /* the job that may still do what the tool asked for; NULL: none is known to */
} InPlace;

Backfill in_place_backfill(const InPlace *work);
/* Every date is as it was left; else ERR_DRIFT. */
bool in_place_undisturbed(const InPlace *work, const RangeLook *now, Error *err);
bool in_place_is_in(const InPlace *work, size_t date, DateRange dates);

/* in_place_batch.c */

/* Waits until the gate lets a batch of `need` seconds begin. *ret_left: seconds until the window closes; INFINITY: no
 * end in sight. */
bool in_place_window(InPlace *work, double need, double *ret_left, Error *err);
/* Opens the writer, if that is not done, as soon as the gate lets anything begin. */
bool in_place_writer(InPlace *work, Error *err);
/* Runs the tool over the batch's dates, for `left` seconds at most, and holds what it wrote against the evidence;
 * fills in the rest of *batch. */
bool in_place_batch(InPlace *work, OpenedBatch *batch, double left, Error *err);
/* Keeps what the ledger is to know of it, and moves the state along the verb; NULL: it stays. */
bool in_place_note(InPlace *work, const char *verb, Error *err);
void in_place_event(InPlace *work, const char *what, const char *detail);
/* in_place_met.c: a job of production that comes while the tool runs. */

/* Asked several times a second while the tool runs: is none there? */
bool in_place_alone(InPlace *work);
/* The tool was ended because one was: ERR_DENIED. */
bool in_place_met(const InPlace *work, Error *err);
/* A batch has failed with err: is it because of a job, so that its dates were put back and it is to be begun again? */
bool in_place_again(InPlace *work, Error *err);
/* Does a job still do what the tool asked for? Then nothing may be put back: it would be written again. */
bool in_place_unfinished(InPlace *work);
/* The dates that the tool was writing are made what the snapshot holds, and the ledger knows. */
bool in_place_put_back(InPlace *work, const char *what, Error *err);

/* Keeps the findings; ERR_HELD. */
bool in_place_found(InPlace *work, const Findings *findings, Error *err);

#endif
