#ifndef TIDEGATE_RUN_RUN_INT_H
#define TIDEGATE_RUN_RUN_INT_H

#include <stdatomic.h>

#include "base/clock.h"
#include "run/run.h"
#include "validate/validate.h"

/* What the files of this room share. */

enum { RUN_SPEEDS = 10 };

/* What a batch was measured to take. */
typedef struct RunSpeed {
  int64_t rows; /* above 0 */
  double seconds;
} RunSpeed;

typedef struct Run {
  Arena *arena; /* of the whole run */
  Engine *engine;
  BackfillRecord *record;
  const Plan *plan;
  const RunOptions *options;
  int64_t epoch;     /* of our lease; 0: there is none */
  DateRecord *dates; /* as the ledger has them, kept up to date */
  size_t n_dates;
  bool *taken;                 /* dates that are being written at this moment; NULL: none are */
  size_t idle;                 /* workers that have no batch, whoever gets the next one among them; 0: there are none */
  atomic_bool cancelled;       /* a batch failed: whoever writes another stops */
  int64_t batches;             /* ever begun, for the next number */
  int64_t written;             /* by this call */
  int64_t measured_rows;       /* recomputed by all batches */
  RunSpeed speeds[RUN_SPEEDS]; /* of the last batches, the newest last */
  size_t n_speeds;
  size_t last_size; /* dates of the last batch */
  size_t size;      /* dates that the next may have; 0: nothing is known */
  int64_t wal;      /* Pressure.wal of the last look; 0: none */
  bool paused;      /* because of what production feels */
  bool crowded;     /* others are at work and no processor is free, when it was last looked */
  double room_at;   /* when that was */
  int room;         /* looks in a row that found one */
  double shown_at;  /* when progress was last told */
  GateWatch *watch; /* of the jobs, while batches are being written; NULL: there is nothing to ask */
  const char *met;  /* which of them runs, since what is being written must stop; NULL: none */
  bool waits;       /* for one of them */
  double beat_at;   /* when to beat the lease's heartbeat again, unless a transaction does */
  bool lost;        /* the lease is another's: */
  Error why_lost;
  bool noted; /* it waits, for one of them or for a window, and the ledger says so */
  RunProgress progress;
} Run;

/* A run that has not begun. */
Run run_on(Backfill on, const RunOptions *options);
/* Sleeps outside any transaction, telling `doing` and beating the heartbeat; false when the caller asked to stop, a
 * worker's batch failed, or the lease is another's. */
bool run_rest(Run *run, double seconds, const char *doing);
/* The rest that the duty cycle asks for after so many seconds of work. */
void run_rest_after(Run *run, double worked);
bool run_stopped(const Run *run);
/* Beats the heartbeat when it is time to; outside any transaction. False: the lease is another's, which the end of the
 * run says. */
bool run_beat(Run *run);
void run_tell(Run *run, const char *doing, bool waiting);
/* Begins a transaction, trying the lock as often as the budget says and sleeping between tries. `snapshot`: as in
 * TxnLimits. */
bool run_begin(Run *run, EngineWriter *writer, bool snapshot, Error *err);
/* Seconds that a batch of rows must have before the window closes: its work and every try at the lock (law 4). */
double run_needed_seconds(const Run *run, int64_t rows);

/* size.c: the next batch: dates [*ret_from, *ret_from + *ret_n) of run->dates; false when every date is written or
 * being written. */
bool run_next_batch(const Run *run, size_t *ret_from, size_t *ret_n);
/* Is the next batch to be computed inside its transaction, straight into the change set? Always where nobody waits for
 * that; else only because most rows change. */
bool run_directly(const Run *run);
/* Seconds that rows are expected to take; the whole batch budget while nothing is measured. */
double run_expected_seconds(const Run *run, int64_t rows);
/* Learns from a batch of n dates: the next may be a little larger, or is half as large if this one took too long. */
void run_measured(Run *run, size_t n, int64_t rows, double seconds);
/* The next batch is at most half the last. */
void run_slow_down(Run *run);

/* pressure.c: may a batch begin, by what production feels? *ret_again: not yet: it rested, or made the batch smaller,
 * so that batch and window are to be looked at again. */
bool run_calm(Run *run, bool *ret_again, Error *err);
/* The share of the time in which batches may be written now. */
double run_duty(const Run *run);
/* The look after a batch: makes the next one smaller when production felt this one. */
bool run_look_back(Run *run, Error *err);

/* step.c: one batch. Alone, on the run's own connection and thread; or by a worker: then `engine` and `arena` are the
 * worker's own, and of the run nothing is touched but what does not change, `cancelled` and the caller's stop flag. */
typedef struct RunStep {
  Run *run;
  Engine *engine;
  Arena *arena;
  bool by_worker;
  size_t from, n;        /* of run->dates */
  const DateRange *part; /* nothing is written, but this is made ready for the seal; NULL: a batch */
  int64_t number;
  const struct RunStep *failed; /* what a worker found of this batch: it holds it, if nothing else does by now */
  double deadline;              /* monotonic seconds at which the running statement is stopped */
  /* what came of it */
  bool stored;
  BatchFacts facts;
  Findings findings;
  double seconds;
} RunStep;

/* Writes, proves and stores the step's batch alone; what is found holds the backfill. */
bool run_step(Run *run, size_t from, size_t n, Error *err);
/* The same for a batch of which a worker found what is wrong: it is written once more, to be looked at. */
bool run_step_failed(Run *run, const RunStep *failed, Error *err);
/* A worker's part of the same: what it finds is left to run_step_failed or, where the batch is stored, run_hold. */
bool run_step_apart(RunStep *step, const GatePass *pass, Error *err);
/* The bookkeeping of a batch that is stored. */
void run_stored(Run *run, const RunStep *step);
/* Records findings and moves to held, in a transaction of its own; always returns false, with ERR_HELD. */
bool run_hold(Run *run, EngineWriter *writer, const Findings *findings, Error *err);
/* Asked on the run's own thread some ten times a second while batches are being written: false: they stop at once.
 * While workers write them, the run's connection is free. */
bool run_goes_on(Run *run);
/* live.c: what was being written met a job: notes `why`; ERR_DENIED. */
bool run_met(Run *run, const char *why, Error *err);
/* Are workers writing batches at this moment? */
bool run_is_writing(const Run *run);
/* After batches have failed with err: is it because of a job, so that the run waits and begins again? Else err says why
 * it ends. */
bool run_again(Run *run, Error *err);
/* Keeps an event in the ledger when waiting for a job or a window begins and ends. */
void run_waits(Run *run, const Verdict *verdict);
/* Waits for the job that the gate has told of, by questions that cost less than the gate's; false as run_rest. */
bool run_outwaits(Run *run, const char *doing);
/* Waits until the gate lets an act of `need` seconds begin. ret_pass may be NULL. */
bool run_wait_for_gate(Run *run, double need, const GatePass **ret_pass, Error *err);
/* "2–3 Feb 2013", in the run's arena. */
const char *run_label(const Run *run, size_t from, size_t n);
/* Stopped by the caller before all is written: ERR_PAUSED. */
bool run_pause(const Run *run, Error *err);

/* workers.c: writes the batches that are left, several at a time. */
bool run_at_once(Run *run, Error *err);

/* seal.c: proves the whole and seals it. */
bool run_seal(Run *run, const GatePass *pass, RunFacts *ret, Error *err);

/* command.c: fills the shadow of a batch by the spec's external command. *ret_log: its output, in the run's arena. */
bool run_command(Run *run, const Job *job, int64_t batch, const char **ret_log, Error *err);

#endif
