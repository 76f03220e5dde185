#ifndef TIDEGATE_SPEC_SPEC_H
#define TIDEGATE_SPEC_SPEC_H

#include "base/doc.h"
#include "time/grain.h"
#include "time/quantity.h"
#include "time/schedule.h"
#include "time/window.h"

/*
 * What a person wrote: the backfill's own file and the pipeline's runbook file (tidegate.yaml), read, checked and
 * merged. Nothing here has looked at a database: names, columns and SQL are checked by plan. Every value that can be
 * wrong later keeps its place.
 */

/* Where a value was written, for errors that come later. file NULL: a default. */
typedef struct SpecPlace {
  const char *file;
  const char *source; /* the whole text of the file, for the caret */
  int line, column;
} SpecPlace;

/* A text and its place; text NULL: not given. */
typedef struct SpecText {
  const char *text;
  SpecPlace place;
} SpecText;

typedef struct SpecTexts {
  const SpecText *items;
  size_t n;
} SpecTexts;

/* One line of the declared change scope. */
typedef enum ScopeKind {
  SCOPE_COLUMN,       /* this column may change … */
  SCOPE_ANY_COLUMN,   /* "*": any column may change … */
  SCOPE_NEW_ROWS,     /* "new rows": rows may appear … */
  SCOPE_VANISHED_ROWS /* "vanished rows": rows may go … */
} ScopeKind;

typedef struct ScopeRule {
  ScopeKind kind;
  SpecText column; /* SCOPE_COLUMN only */
  SpecText
      where; /* … where this SQL condition holds on the old row (on the new one for new rows); text NULL: anywhere */
} ScopeRule;

typedef struct ColumnTolerance {
  SpecText column;
  double absolute; /* values at most this far apart count as equal */
} ColumnTolerance;

/* A source of the recompute whose date column a person named. */
typedef struct SpecSource {
  SpecText table, column;
} SpecSource;

/* Something downstream that no catalogue knows. */
typedef struct SpecDownstream {
  SpecText name;
  const char *kind;  /* table, view, dashboard, job, export … as written; "table" when not given */
  const char *needs; /* nothing, follows, refresh, cascade, rebuild, person, unknown */
  SpecTexts reads;   /* tables, or others of the list; n 0: the target */
} SpecDownstream;

/* How the dates of something downstream come from those that it reads. */
typedef struct SpecNodeDates {
  SpecText node;
  SpecText grain;       /* text NULL: not given */
  int lookback, window; /* dates */
  bool cumulative;
} SpecNodeDates;

/* Where lineage is read; relative paths are resolved. */
typedef struct SpecLineage {
  SpecTexts dbt, catalog; /* manifest.json and catalog.json, or the folder that holds them */
  SpecTexts openlineage;  /* files, folders, URLs */
  SpecTexts sql;          /* folders */
  bool required;
  const SpecNodeDates *overrides;
  size_t n_overrides;
} SpecLineage;

typedef enum SpecTriggers { TRIGGERS_DENY, TRIGGERS_FIRE, TRIGGERS_SKIP } SpecTriggers;

/* How Airflow is asked. Secrets stand in the environment or in a file, never here. */
typedef struct SpecAirflow {
  SpecText url, dag, user, password_env, token_env, token_file;
  int version; /* 2, 3; 0: ask the server */
} SpecAirflow;

/* How it is told whether a job runs now: everything given is asked. text NULL, n 0: not given. */
typedef struct SpecLive {
  SpecAirflow airflow;
  SpecText application, role, query; /* of the job's sessions in PostgreSQL; query: a LIKE pattern */
  SpecText advisory_lock;            /* "42" or "7,42" */
  SpecText running;                  /* SQL that gives a number: above 0 = a run is going on now */
  SpecText systemd;                  /* a unit */
  SpecText process;                  /* an extended regular expression of a command line */
  SpecText lock_file;
  SpecText heartbeat;      /* SQL that gives a time … */
  double heartbeat_within; /* … that is at most so many seconds ago while the job runs */
  SpecTexts command;       /* argv: status 0 idle, 1 running, else unknown */
  double timeout;          /* seconds for each question */
} SpecLive;

/* When a job runs, and how long. */
typedef struct SpecSchedule {
  SpecText expression; /* text NULL: not given */
  const char *dialect; /* "vixie" unless given */
  SpecText zone;
  bool interval;             /* Airflow's data intervals: a run starts at the end of the interval that labels it */
  double p95, guard, jitter; /* seconds; p95 < 0: not given */
  int runs;                  /* that p95 rests on; 0: a person declared it */
  SpecText measured;         /* "2026-11-01": the day on which schedule and p95 were read … */
  SpecText from;             /* … and where */
} SpecSchedule;

typedef struct SpecJob {
  SpecText name;
  SpecTexts writes, reads; /* tables */
  SpecTexts names;         /* in other tools: "sales_daily", "dbt:orders"; its own name counts as well */
  SpecTexts commands;      /* patterns of the user's own command lines that backfill it */
  int dates;               /* days from the dates that such a command names to those of the rows that it writes */
  double per_date;         /* seconds that it takes for one date when it is backfilled; below 0: not given */
  SpecText shadow_parameter, shadow_role; /* what a command says to write a shadow, and the role that writes it */
  SpecSchedule when;
  SpecLive live;
} SpecJob;

/* May a command of another tool run in spite of the gate? */
typedef enum SpecOverride { OVERRIDE_ALLOW, OVERRIDE_FORBID, OVERRIDE_ROLE, OVERRIDE_APPROVER } SpecOverride;

/* The job that writes the target. */
typedef struct SpecProduction {
  SpecSchedule when;
  SpecLive live;
  int lookback;        /* the job rewrites its last N dates; 0: it does not */
  bool lookback_fixed; /* the job itself is right by now */
  bool none;           /* `production: none`: nothing is scheduled, declared */
} SpecProduction;

/* A time in which nothing may be done: a text such as "2026-12-24", or the name of a file of them. */
typedef struct SpecFreeze {
  SpecText text;
  bool file; /* text is a path, relative to the file it stands in: `path` is resolved */
  const char *path;
} SpecFreeze;

typedef struct SpecBudget {
  double batch, statement, lock, swap_lock, lag; /* seconds */
  int lock_tries;
  int workers;        /* batches written at a time, from 1 */
  int64_t wal;        /* bytes */
  int sessions;       /* active ones of others; 0: any number */
  SpecText canary;    /* SQL that stands for production's own queries; text NULL: none */
  double canary_time; /* seconds */
  double duty;        /* 0–1 */
  double crowded;     /* the same while others work and no processor is free */
} SpecBudget;

/* Where the backfills' own tables go in PostgreSQL. */
typedef struct SpecPostgres {
  SpecText schema, tablespace; /* tablespace text NULL: the database's own */
  bool unlogged;               /* shadow: unlogged */
} SpecPostgres;

typedef struct SpecRecompute {
  SpecText sql;      /* the SQL, or text NULL when a command is given */
  SpecTexts command; /* argv; one item and shell = true: a shell line */
  bool shell;
  double timeout; /* seconds a batch, for a command */
} SpecRecompute;

/* How the swap publishes. */
typedef enum SpecPublish { PUBLISH_AUTO, PUBLISH_CHANGES, PUBLISH_EXCHANGE, PUBLISH_REPLACE } SpecPublish;

typedef struct Spec {
  SpecPlace backfill_file; /* file and source of the backfill's own file; file NULL from spec_load_pipeline alone */
  SpecPlace pipeline_file; /* the same of tidegate.yaml; file NULL when there is none */

  SpecText database; /* path or URL as written, relative to the file it stands in: `database_path` is resolved */
  const char *database_path;
  SpecPostgres postgres;
  SpecText target, wrong, correct, range, control;
  SpecText follows; /* the id of the backfill whose correction this one carries on downstream */
  const ScopeRule *changes;
  size_t n_changes;
  SpecTexts row_checks, total_checks;
  SpecText oracle; /* SQL with :key_column parameters giving the right values by column name */
  SpecRecompute recompute;
  bool full_shadow; /* shadow: full */
  SpecPublish publish;

  SpecText date_column, date_kind, zone;
  SpecText grain;
  SpecTexts key;
  SpecTexts preserve; /* columns that are never written although the recompute may give them */
  const SpecSource *sources;
  size_t n_sources;
  const ColumnTolerance *tolerances;
  size_t n_tolerances;
  const SpecDownstream *downstream;
  size_t n_downstream;
  SpecLineage lineage;
  SpecText in_place; /* a line for /bin/sh, with the places of a batch, by which a cascade has the target written */

  SpecTexts allow_emptied; /* ranges or dates whose rows may all go */
  bool allow_null_dates, allow_null_keys;
  SpecTriggers triggers;

  SpecProduction production;
  const SpecJob *jobs; /* every job of the pipeline, as far as it is written down */
  size_t n_jobs;
  const SpecFreeze *freezes;
  size_t n_freezes;
  SpecOverride override;
  SpecText override_role; /* of the database; OVERRIDE_ROLE only */
  SpecTexts approvers;    /* who may sign for OVERRIDE_APPROVER; n 0: anybody else */
  SpecText idle;          /* "22:00-06:00" */
  SpecText idle_zone;     /* the production zone unless given */
  SpecBudget budget;
  double retention;                       /* seconds */
  double sample_share, sample_confidence; /* 0–1 */
  SpecText owner;
  SpecTexts contacts;
  SpecText correctness, rollback_path; /* in words: how the target is judged, how a publication is taken back */
  SpecText runbook_note;               /* free text of the pipeline for its runbook: `notes` */
} Spec;

/* A value that a draft leaves to a person; a file that holds it is refused with the place of each. */
#define SPEC_BLANK "FILL IN"

/*
 * Reads a backfill file and, when there is one beside it or above it (up to the root), the pipeline's tidegate.yaml.
 * Values of the backfill's file win over the target's entry in tidegate.yaml (`targets: NAME:`), which wins over the
 * top of tidegate.yaml, which wins over the defaults of DESIGN.md. Maps with fixed keys (production, budget, sample,
 * idle) are merged key by key; lists and maps of names (sources, downstream, …) are replaced as a whole. Refused, all
 * with file:line:column and a caret: unknown keys (with the nearest known name), duplicate keys, wrong types,
 * quantities without a unit, no `target`, no `range`, no `wrong`, no `correct`, no `recompute`, none of changes,
 * control and checks, SQL that is empty. Errors: ERR_SPEC; ERR_NOT_FOUND when the file cannot be read.
 */
bool spec_load(Arena *arena, const char *path, Spec *ret_spec, Error *err);

/* The same from texts already read, as the ledger keeps them. pipeline_text NULL: none. */
bool spec_parse(Arena *arena, const char *path, const char *text, const char *pipeline_path, const char *pipeline_text,
                Spec *ret_spec, Error *err);

/*
 * Reads the pipeline file alone, for commands that name a target or no spec at all (init, scan, status, runbook).
 * `target` NULL: the top alone. `path` NULL: looked for from the working directory upwards; when there is none, the
 * defaults and database text NULL.
 */
bool spec_load_pipeline(Arena *arena, const char *path, const char *target, Spec *ret_spec, Error *err);

/* The path of the nearest tidegate.yaml from a directory (NULL: the working directory) upwards; NULL: there is none. */
const char *spec_pipeline_path(Arena *arena, const char *directory);

/* Names of the targets in the pipeline file, in the order written. */
bool spec_pipeline_targets(Arena *arena, const char *path, const char *const **ret_names, size_t *ret_n, Error *err);

/* Fills err with ERR_SPEC at a place of the spec; returns false. A default's place gives no caret. */
bool spec_error(Error *err, const SpecPlace *place, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Where a key may stand. */
enum { SPEC_IN_BACKFILL = 1, SPEC_IN_PIPELINE = 2, SPEC_IN_TARGET = 4 };

/* One key that a person may write, for the reference (docs/reference/spec.md is printed from the list). */
typedef struct SpecKey {
  const char *name;        /* "range"; a key inside another with a dot: "production.schedule" */
  unsigned where;          /* SPEC_IN_… or'ed: the backfill's file, the top of tidegate.yaml, an entry of `targets` */
  const char *fallback;    /* the default as one would write it; NULL: none (required, inferred, or not given) */
  const char *example;     /* a value as one would write it after "name: " */
  const char *description; /* one line */
} SpecKey;

/* The i-th of all known keys, a key's inner keys after it; NULL when there is none left. */
const SpecKey *spec_key(size_t i);

/* The nearest of `names` by edit distance to `word` (at most a third of its length, at least 2; small and capital
 * letters are the same), or NULL. */
const char *spec_nearest(const char *word, const char *const *names, size_t n);

#endif
