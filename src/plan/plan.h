#ifndef TIDEGATE_PLAN_PLAN_H
#define TIDEGATE_PLAN_PLAN_H

#include "base/json.h"
#include "base/process.h"
#include "engine/engine.h"
#include "ledger/ledger.h"
#include "lineage/lineage.h"
#include "spec/spec.h"

/*
 * The questions answered before anything runs. A Plan is pure data. It is made in two parts: plan_resolve reads the
 * catalogue only (cheap; plan_load does it again to see that the digest still holds), plan_measure reads rows
 * (control, counts, sources).
 */

/* A thing that nobody wrote down, what Tidegate took it to be, and why. */
typedef struct Inferred {
  const char *name, *value, *from; /* "key", "flight_date, origin, carrier", "primary key" */
} Inferred;

typedef struct SourceFacts {
  const char *table;
  const char *date_column;      /* NULL: not known */
  const char *from;             /* where that is known from */
  int64_t dates_present;        /* of the range; −1: not counted */
  const Instant *dates_missing; /* the first 20 */
  size_t n_missing;
  int64_t missing;
  bool dated;      /* its newest date is known: an index or a small table tells it */
  Instant newest;  /* the date of its last rows, also behind the range */
  int64_t at_risk; /* of the missing: production has rows on that date, and it is not declared to be emptied */
} SourceFacts;

typedef struct ControlFacts {
  bool declared;
  DateRange range;
  int64_t rows,
      same;          /* recomputed rows and how many equal production; rows gone from the recompute count as not same */
  int64_t differing; /* inserts + updates + deletes */
  const Example *examples;
  size_t n;
} ControlFacts;

/* How a job concerns the backfill; or'ed. */
enum { CONCERNS_WRITES = 1 /* the target */, CONCERNS_READS = 2 /* the target */, CONCERNS_FEEDS = 4 };

/* A job that concerns the backfill: it writes the target, reads it, or writes a table that the recompute reads. */
typedef struct PlanJob {
  const char *name; /* "production", or its name under `jobs` */
  SpecPlace place;
  unsigned concerns; /* CONCERNS_… */
  SpecSchedule when;
  SpecLive live;
  bool declared; /* when it runs is known: a schedule, or that it has none */
} PlanJob;

/* The window and everything that it rests on, resolved from the spec. */
typedef struct PlanClock {
  const PlanJob *jobs;   /* the first is production, whatever is declared of it */
  const BusyRule *rules; /* one a job; schedule NULL: nothing is scheduled */
  size_t n;
  bool has_idle;
  IdleHours idle;
  Freezes freezes;
  const char *freeze_unknown; /* a file of freezes cannot be read: where and why; NULL: all is known */
} PlanClock;

/* A digest of each thing that the plan rests on, so that a change can be named. The plan's digest is over all of them.
 */
typedef struct PlanParts {
  const char *spec; /* the backfill's text, and everything that it and tidegate.yaml resolve to */
  const char *target, *lineage, *settings, *database;
} PlanParts;

/* What the recompute is expected to cost before a batch is measured; rough. */
typedef struct PlanEstimate {
  bool told;                /* the engine's planner was asked; else nothing here is known but rows and share */
  EstimateFacts whole, one; /* of the range; of the date recomputed for trial */
  Instant date;             /* that date */
  int64_t trial_rows;       /* that it gave */
  double trial_seconds;     /* that it took to recompute and compare; below 0: none was tried */
  double rows;              /* of the whole: production's, or where it has none those that the planner expects */
  double share;             /* of them that change, by the trial date; 1: not known, or production has none */
  double seconds;           /* to recompute and compare the whole; below 0: not known */
  double wal, full_pages;   /* bytes of the changes, row by row; what whole pages behind a checkpoint add at most */
} PlanEstimate;

/* What a way of publishing is expected to cost; a rough estimate. */
typedef struct WayCost {
  double seconds, lock, wal; /* of the whole; in which writers wait; bytes */
} WayCost;

/* How the swap publishes (Shape.way says which), and why. */
typedef struct PlanWay {
  const char *why;
  ExchangeFacts exchange;
  const char *not_replaced; /* why not every row can be replaced; NULL: they can, or it was not asked for */
  bool measured;            /* the costs are known, because another way than row by row is possible */
  bool replaceable;
  WayCost changes, exchanged, replaced;
} PlanWay;

/* One of dbt's tests of a table. */
typedef struct DbtCheck {
  const char *name; /* as `dbt test --select` knows it */
  const char *sql;  /* the condition on a row, or on a total, that says the same; NULL: `why` */
  bool total;
  const char *why; /* why it is no check, as the end of "the test …" */
} DbtCheck;

typedef struct Plan {
  const char *id;                   /* NULL until it is in the ledger */
  const char *digest, *database_id; /* database_id "" while the ledger does not exist */
  PlanParts parts;
  const char *changed; /* from plan_load, in states that do not refuse it: what changed since; NULL: nothing */
  Spec spec;

  /* resolved */
  Shape shape;
  const char *definition; /* everything that makes the target what it is: definition and identity */
  const Zone *day_zone;   /* where a date is over: the codec's zone, for civil dates the zone declared, else UTC */
  DateRange range;
  int64_t n_dates;
  const Inferred *inferred;
  size_t n_inferred;
  const JobScope *scope;
  size_t n_scope;
  const char *const *row_checks, *const *total_checks;
  size_t n_row_checks, n_total_checks;
  const char *recompute; /* SQL; NULL for a command */
  bool overlay;          /* the recompute reads the target */
  const char *const *volatile_functions;
  size_t n_volatile;
  const char *const *reads; /* tables that the recompute reads */
  size_t n_reads;
  PlanClock clock;
  DateRange *emptied; /* dates whose rows may all go */
  size_t n_emptied;
  BlastRadius radius;
  const TriggerFacts *triggers;
  size_t n_triggers;
  bool has_constraints; /* CHECKs, other unique indexes or foreign keys that a new row could break */
  bool has_children;    /* foreign keys point to the target */
  int workers;          /* batches written at a time: what `budget: workers` asks for, as far as it is possible */

  /* measured */
  bool measured;
  Instant planned_at;
  DateRecord *dates;                 /* one for every date of the range, ascending, also those without rows */
  int64_t rows, suspects;            /* rows of the range in production; rows in which something may change */
  int64_t null_dates;                /* rows of the whole table without a date */
  int64_t null_keys, duplicate_keys; /* in the range */
  ControlFacts control;
  const SourceFacts *sources;
  size_t n_sources;
  PlanEstimate estimate;
  PlanWay way;
  SpaceFacts space;
  int64_t space_needed;        /* an estimate from rows and the database's bytes per row */
  const char *const *unproven; /* what the evidence does not show, in words */
  size_t n_unproven;
  const DbtCheck *dbt_tests; /* dbt's tests of the target that no check of the spec asks */
  size_t n_dbt_tests;
  const char *const *warnings;
  size_t n_warnings;
} Plan;

/*
 * Resolves a spec against the catalogue: names, columns, key, date column and its kind, grain, zone, range, scope, SQL.
 * Samples date columns; reads no range. Everything in the arena; it copies *spec. Errors: ERR_SPEC with
 * file:line:column and a caret for what is wrong in the spec, in its SQL too; ERR_NOT_FOUND for a target that does not
 * exist; ERR_DATABASE.
 */
bool plan_resolve(Arena *arena, Engine *engine, const Spec *spec, Plan *ret, Error *err);

/* Counts, controls, looks at sources. Reads the range, the control dates and their sources once; writes nothing.
 * Errors: ERR_DATABASE, ERR_LOCKED, ERR_PAUSED; ERR_SPEC for SQL that fails when it runs. */
bool plan_measure(Arena *arena, Engine *engine, Plan *plan, const Interrupt *interrupt, Error *err);

/* The first part of plan_measure alone: when it is, and the rows of every date. Sets planned_at, dates, rows. */
bool plan_count(Arena *arena, Engine *engine, Plan *plan, Error *err);

/* Recomputes the counted date of median weight for trial: the seconds that a row of it took; below 0 when no date has
 * rows or an external command recomputes. Where the engine has a planner it sets plan->estimate and gives the seconds a
 * row of the whole. Reads only. */
bool plan_trial(Arena *arena, Engine *engine, Plan *plan, const Interrupt *interrupt, double *ret_seconds, Error *err);

/* Writes the plan into the ledger as `planned` (making the ledger's tables if need be) and sets plan->id, digest and
 * database_id. */
bool plan_record(Arena *arena, Engine *engine, Plan *plan, Error *err);

/*
 * The plan of a recorded backfill, resolved again from the spec's text in the ledger and from tidegate.yaml as it is
 * now (as it was, when it cannot be read). When the digest no longer holds (the spec file, what tidegate.yaml says of
 * this target, the target, the settings, the lineage, or the database's identity changed) the backfill moves to
 * superseded where its state allows and the error is ERR_SUPERSEDED saying what changed. In the states swapped and
 * later, and on the snapshot way, a change is no reason to refuse: it is in ret->changed. `measured` stays false; the
 * dates and their weights come from the ledger.
 */
bool plan_load(Arena *arena, Engine *engine, BackfillRecord *record, Plan *ret, Error *err);

/* How many days ago the job's schedule was read, seen from `now`; below 0: that is not written down. */
int plan_job_age(const PlanJob *job, Instant now);
/* From so many days on a plan warns that it may have changed. */
enum { PLAN_JOB_OLD = 30 };

/* Everything that closes the plan's windows. It points into the plan. */
WindowRules plan_window(const Plan *plan);

/* A Job over some of the plan's dates, with 10 examples a finding. dates: n + 1 instants, the last the end. */
Job plan_job(const Plan *plan, const Instant *dates, size_t n);

/* The starts of the dates of [range), and its end behind them (n + 1 instants). */
const Instant *plan_dates(Arena *arena, const Plan *plan, DateRange range, size_t *ret_n);

enum { PLAN_VARIABLES = 10 };
/* What an external command is told of the dates of [range): {from}, {to} (not included), {to_inclusive}, {date} (the
 * first), {dates} (each, with commas), the first four also without dashes ({from_nodash} …), and {database} (a file:
 * its whole path). Values in the arena. */
void plan_variables(Arena *arena, const Plan *plan, DateRange range, ProcessVariable ret[PLAN_VARIABLES]);

/* The word with every place filled, as process_fill does; a date's place may name another day: {from+1d},
 * {to_inclusive_nodash-2d}. In the arena. */
char *plan_fill(Arena *arena, const char *word, const ProcessVariable *variables, size_t n);

/* Does a command, as text, take one date: {date} or TIDEGATE_DATE, with or without dashes? A batch of it has no more.
 */
bool plan_takes_one_date(const char *command);

/* The tests that dbt has of a table's model as checks, those tried that the database can ask. recompute: its SQL, which
 * gives the rows that are checked; NULL: they are the table's. */
void plan_dbt_checks(Arena *arena, Engine *engine, const Graph *graph, NodeId model, const Shape *shape,
                     const char *recompute, const DbtCheck **ret, size_t *ret_n);

/* Is this date allowed to lose all its rows? */
bool plan_may_empty(const Plan *plan, Instant date);

/* The plan as a JSON object: what `plan --json` prints and the ledger keeps. */
void plan_json(const Plan *plan, Json *json);

#endif
