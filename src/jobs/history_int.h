#ifndef TIDEGATE_JOBS_HISTORY_INT_H
#define TIDEGATE_JOBS_HISTORY_INT_H

#include "jobs/history.h"

/* What the readers of histories share. Private to this room. */

typedef struct HistoryList {
  JobHistory *items;
  size_t n;
} HistoryList;

/* The readers, one a kind of source; each adds what it finds, or the one that source->job names. */
typedef bool HistoryReader(Arena *arena, Engine *engine, const JobSource *source, HistoryList *list, Error *err);
HistoryReader history_airflow, history_csv, history_crontab, history_systemd, history_pg_cron;

/* A new history in the list, its from made of source and job. */
JobHistory *history_add(Arena *arena, HistoryList *list, const JobSource *source, const char *job);

/* What is not sure of a key of the job, in words, to stand beside it. */
void history_doubt(Arena *arena, JobHistory *history, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/*
 * Takes over the runs, sorted, and works out late, runs, p95 and, unless it is set, jitter. next_due: when the run
 * after the last one is due; 0: not known, then as far behind it as the one before was in front.
 */
void history_runs(Arena *arena, JobHistory *history, JobRun *runs, size_t n, Instant next_due);

/*
 * Sets expression, dialect and zone when the dialect understands the expression, else the refusal with the dialect's
 * words. zone NULL: unknown.
 */
void history_schedule(Arena *arena, JobHistory *history, const char *dialect, const char *expression, const char *zone);

/* Are all of these instants fires of the expression in the zone? False also when either is not understood. */
bool history_fires(const char *dialect, const char *expression, const char *zone, const Instant *at, size_t n);

/* Runs of the last weeks only: the instant at which they begin. */
Instant history_since(const JobSource *source);
Instant history_now(void);

/* The whole file as text without NULs. Errors: ERR_NOT_FOUND, ERR_SPEC. */
bool history_file(Arena *arena, const char *path, const char **ret, Error *err);

/* The zone of this machine's clock by /etc/localtime, "UTC" when there is none; NULL when its name cannot be told. */
const char *history_machine_zone(Arena *arena);

#endif
