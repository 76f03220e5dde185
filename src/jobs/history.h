#ifndef TIDEGATE_JOBS_HISTORY_H
#define TIDEGATE_JOBS_HISTORY_H

#include "engine/engine.h"
#include "spec/spec.h"

/*
 * When jobs really ran, as somebody else recorded it: what a schedule and a p95 are proposed from, and what an older
 * proposal is compared with. Everything here only reads.
 */

/* One run that has ended. */
typedef struct JobRun {
  Instant scheduled;      /* the fire that it belongs to */
  Instant started, ended; /* the last task's end, retries included */
  bool failed;
  bool late; /* it began only after the next run was due although nothing was in its way: caught up after an outage, or
                run again by hand. It says nothing of the schedule, and p95 and jitter leave it out */
} JobRun;

/* Something in a history that a person must confirm. */
typedef struct JobDoubt {
  const char *key;  /* the key of the spec that it concerns: "zone", "schedule", "writes", … */
  const char *text; /* why, in one line */
} JobDoubt;

typedef struct JobHistory {
  const char *name;
  const char *expression; /* NULL: the source does not say when the job runs, or `refusal` is set */
  const char *dialect;    /* as schedule_parse knows it; NULL exactly when expression is */
  const char *zone;       /* NULL: unknown, a person must say */
  bool interval;          /* Airflow's data intervals: a run starts at the end of the interval that labels it */
  const char *refusal;    /* why nothing can be told of when it will run, and what to do; NULL: it can */

  const JobRun *items; /* oldest first */
  size_t n;
  int runs;      /* on how many of them p95 rests */
  int late;      /* how many were left out */
  double p95;    /* seconds from the scheduled fire to the last task's end: queue and retries included; −1: unknown */
  double jitter; /* seconds that a run may start late: as declared (RandomizedDelaySec, RANDOM_DELAY), else as seen */

  const JobDoubt *doubts;
  size_t n_doubts;
  const char *command; /* what it runs, in the source's words; NULL: not known */
  const char *unit;    /* the systemd unit that it runs; NULL: none */
  const char *airflow; /* the address of the Airflow that runs it, whose DAG is its name; NULL: none */
  const char *from;    /* the source as one text, for jobs_history_read */
  Instant read_at;     /* by this machine's clock */
} JobHistory;

/* p95 by nearest rank, the ceil(0.95 n)-th smallest: with fewer than 20 the largest; −1 for none. */
double jobs_p95(const double *seconds, size_t n);

/* Where histories are read. */
typedef struct JobSource {
  const char *kind;  /* airflow, csv, crontab, systemd, pg_cron */
  const char *place; /* an address, a file, a folder of unit files, a database; NULL: this machine, the database open */
  const char *job;   /* NULL: all of them */
  SpecAirflow access; /* who asks Airflow; its url and dag play no part */
  double weeks;       /* runs of the last so many weeks; 0: 8 */
} JobSource;

/*
 * "airflow=http://127.0.0.1:8080", "csv=runs.csv", "crontab", "crontab=/etc/cron.d/etl", "systemd", "systemd=deploy/",
 * "pg_cron", "pg_cron=postgresql:///cron": kind and place, the rest of *ret untouched. Errors: ERR_USAGE.
 */
bool jobs_source_parse(Arena *arena, const char *text, JobSource *ret, Error *err);

/*
 * The jobs that the source knows and their runs, by name. engine may be NULL; pg_cron without a place needs it. What
 * cannot be foreseen is in the list with its refusal. Errors: ERR_NOT_FOUND when there is no such source or job,
 * ERR_SPEC with file:line:column for a file that is wrong, ERR_USAGE, ERR_DATABASE, ERR_COMMAND.
 */
bool jobs_history(Arena *arena, Engine *engine, const JobSource *source, const JobHistory **ret, size_t *ret_n,
                  Error *err);

/*
 * What the source says today of the job that `from` (a `from:` of the spec) names. `access`: who asks Airflow, NULL:
 * nobody in particular. Errors: as jobs_history; ERR_USAGE for a text that was not made here (a person's own words).
 */
bool jobs_history_read(Arena *arena, Engine *engine, const char *from, const SpecAirflow *access, JobHistory *ret,
                       Error *err);

#endif
