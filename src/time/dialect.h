#ifndef TIDEGATE_TIME_DIALECT_H
#define TIDEGATE_TIME_DIALECT_H

#include "time/schedule.h"

/*
 * What a schedule dialect must offer. A dialect is one file and one line in the table of schedule.c, which makes
 * instants of wall-clock times. Private to this room.
 */

/* What an expression came to. Zeroed before `parse` but for `gap`, `overlap` and `and_days`. */
typedef struct DialectRule {
  const void *rule; /* of the dialect's own type, in the arena */
  const char *zone; /* that the expression names itself (CRON_TZ=, the suffix of systemd); NULL: the caller's */
  /* The dialect's policies; `parse` may set others where they hang on the expression. */
  GapPolicy gap;
  OverlapPolicy overlap;
  /* In: both day fields must match, by the caller's wish. Only ever true for a dialect that `knows_and_days`. */
  bool and_days;
  /* It runs by the time that passed: nothing for a gap, both passes of a fold, whatever policy the caller names. */
  bool rolling;
  /* After a change of the clock its scheduler may reckon the first time by the offset before: one more reading. */
  bool carries;
  /* After a day whose next has no midnight its scheduler looks neither at the day again nor at the month: one more
   * reading. It holds the rule as it is when no month is left out; NULL: there is no such reading. */
  const void *spills;
  /* The first wall-clock second at or after `from`; false if there is none before the year 10000. */
  bool (*next)(const void *rule, const Civil *from, Civil *ret);
  /* In its place, for what does not follow the wall clock: the first fire strictly after. */
  bool (*next_instant)(const void *rule, Instant after, Instant *ret);
  /* It counts from when its scheduler began, which nobody knows: for the overlap question any second may be a fire. */
  bool anytime;
} DialectRule;

typedef struct Dialect {
  /* What its scheduler does, where the caller names no policy; never GAP_OWN or OVERLAP_OWN. */
  GapPolicy gap;
  OverlapPolicy overlap;
  bool knows_and_days;
  /* Refuses what is not of the dialect, cannot be predicted or never fires, and says what to do. Errors: ERR_SPEC. */
  bool (*parse)(Arena *arena, const char *expression, DialectRule *ret, Error *err);
} Dialect;

/* Lines of a crontab: cronie 1.7 under CRON_TZ or by crontab(5), and in the zone of crond; Jenkins; GitHub. */
extern const Dialect dialect_vixie, dialect_cronie_daemon, dialect_jenkins, dialect_github_actions;
/* croniter 7.0, also used by Prefect, and what Airflow and Dagster make of it. */
extern const Dialect dialect_croniter, dialect_airflow, dialect_dagster;
/* cron-parser 5 and node-cron 4 of npm. */
extern const Dialect dialect_cron_parser, dialect_node_cron;
/* OnCalendar of systemd 252: systemd.time(7). */
extern const Dialect dialect_systemd;
/* github.com/robfig/cron v3, and Kubernetes' CronJobs. */
extern const Dialect dialect_robfig, dialect_kubernetes;
/* Quartz 2.3, and Amazon EventBridge (rules and Scheduler). */
extern const Dialect dialect_quartz, dialect_aws;
/* Jobs of the dbt platform. */
extern const Dialect dialect_dbt;
/* Tidegate's own: "every 15m from 2026-01-01T00:00:00Z", and a list of start times. */
extern const Dialect dialect_interval, dialect_times;

#endif
