#ifndef TIDEGATE_JOBS_IDLE_H
#define TIDEGATE_JOBS_IDLE_H

#include "jobs/history.h"

/*
 * The hours of the week in which nothing ran, proposed from a history, with the evidence. It is what these runs say and
 * no more: the history does not know who else needs the database, so a person confirms.
 */

enum { IDLE_DAYS = 7, IDLE_DAY_HOURS = 24 };

typedef struct IdleEvidence {
  size_t runs;  /* that were looked at */
  double weeks; /* from the first start to the last end */
  Instant from, to;
  int busy[IDLE_DAYS]
          [IDLE_DAY_HOURS]; /* by weekday (0: Sunday) and hour of the wall clock: in how many weeks a run met it */
  int idle;                 /* hours of the week that no run met, of 168 */
} IdleEvidence;

/*
 * The idle hours of the runs (of one job or of all of them together, in any order) by the wall clock of a zone, in the
 * form that `idle` takes: "Mon-Fri 22:00-06:00, Sat,Sun 00:00-24:00". An hour is idle when no run met any second of it.
 * NULL when no hour is, or when the runs span less than two weeks, for which *ret_why says why in words. `ret` is
 * filled in any case.
 */
const char *jobs_idle_hours(Arena *arena, const JobRun *runs, size_t n, const Zone *zone, IdleEvidence *ret,
                            const char **ret_why);

/* "in 8.0 weeks of 56 runs, from 2026-10-05 to 2026-11-29, no run met 105 of the 168 hours of the week; least busy of
 * the others: Sat 02:00, 1 week". */
const char *jobs_idle_evidence(Arena *arena, const IdleEvidence *evidence, const Zone *zone);

#endif
