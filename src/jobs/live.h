#ifndef TIDEGATE_JOBS_LIVE_H
#define TIDEGATE_JOBS_LIVE_H

#include "engine/engine.h"
#include "spec/spec.h"

/*
 * Is a job running now? Asked of everything that its `live` names: of Airflow, of the database, of this machine. What
 * cannot be told counts as running. Asking changes nothing and takes no lock that the job could want.
 */

typedef enum JobState { JOB_IDLE, JOB_RUNNING, JOB_UNKNOWN } JobState;

typedef struct JobAnswer {
  JobState state;   /* the worst of all answers: running, then unknown, then idle */
  const char *why;  /* "airflow: run scheduled__2026-… is running"; also of late and failed; NULL: nothing to say */
  const char *todo; /* when unknown: what to do about it */
  Instant since;    /* running since; 0: unknown */
  bool failed;      /* its last run failed: somebody may start it again at any time */
  bool late;        /* it should have started, and has not: it may at any moment */
  bool retrying;    /* a part of it failed and is waiting for its next try; then it is running too */
  bool passes;      /* unknown because no answer came: another may come */
  bool locked; /* unknown only because the database's file was locked: by whoever asks, if that is one who writes */
} JobAnswer;

/* What a tool that the asker runs meanwhile shows of itself: it is no sign of the job. */
typedef struct JobOwn {
  const char *variable;    /* "NAME=value": its processes on this machine have it in their environment */
  const char *application; /* of its sessions in PostgreSQL */
  const char *job;         /* the job that it starts elsewhere, by Tidegate's name; NULL: none, as far as is known */
  DateRange dates;         /* that it writes: in Airflow, runs of the job for these dates are its own */
} JobOwn;

/* Who is asked about. Zero but for the first three; what is kept between two questions is released by jobs_ask_end. */
typedef struct JobAsk {
  const char *name;     /* for people */
  const SpecLive *live; /* must outlive it */
  double guard;         /* seconds after its time from which a run that has not started is late */
  double within; /* while something waits for the answer: seconds for all of it, and only whether it runs is asked; 0:
                  * `timeout` for each question */
  const JobOwn *own;       /* NULL: no such tool runs */
  struct Airflow *airflow; /* kept: connection and token */
} JobAsk;

/* Does anything say how to ask? */
bool jobs_can_ask(const SpecLive *live);

/* Never fails: what cannot be told is JOB_UNKNOWN with the reason. Texts live in the arena. */
void jobs_ask(Arena *arena, Engine *engine, JobAsk *ask, JobAnswer *ret);
void jobs_ask_end(JobAsk *ask);

#endif
