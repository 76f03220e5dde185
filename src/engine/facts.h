#ifndef TIDEGATE_ENGINE_FACTS_H
#define TIDEGATE_ENGINE_FACTS_H

#include <stddef.h>

#include "time/civil.h"

/* What a database tells: of its tables and queries, of what work would cost, and of the server itself. */

/* ---- tables, queries, views -------------------------------------------------------------------------------------- */

typedef struct ColumnFacts {
  const char *name, *type; /* type as declared, "" when none */
  bool not_null;
  bool generated;
  bool has_default;
  int primary; /* position in the primary key from 1; 0: not in it */
} ColumnFacts;

typedef struct IndexFacts {
  const char *name;
  bool unique, partial, expression;
  const char *const *columns;
  size_t n;
} IndexFacts;

typedef struct TriggerFacts {
  const char *name;
  bool on_insert, on_update, on_delete;
} TriggerFacts;

typedef struct ForeignKeyFacts {
  const char *child, *parent, *on_delete; /* on_delete: "NO ACTION", "CASCADE", … */
  const char *const *child_columns, *const *parent_columns;
  size_t n;
} ForeignKeyFacts;

/* TABLE_OTHER: none of these; TableFacts.refusal says what it is. */
typedef enum TableKind { TABLE_ORDINARY, TABLE_VIEW, TABLE_VIRTUAL, TABLE_SYSTEM, TABLE_OTHER } TableKind;

typedef struct TableFacts {
  const char *name; /* as the catalogue spells it */
  TableKind kind;
  const ColumnFacts *columns;
  size_t n_columns;
  const IndexFacts *indexes;
  size_t n_indexes;
  const TriggerFacts *triggers;
  size_t n_triggers;
  const ForeignKeyFacts *incoming, *outgoing;
  size_t n_incoming, n_outgoing;
  bool autoincrement, has_checks;
  const char *refusal;    /* why rows of it cannot be corrected, as the end of "NAME …"; NULL: they can */
  const char *way_out;    /* what to do instead; NULL exactly when refusal is */
  const char *lacks;      /* the privileges that publishing needs and who asks has not: "UPDATE, DELETE"; NULL: none */
  const char *definition; /* everything that makes the table what it is, for the digest */
} TableFacts;

typedef struct QueryRead {
  const char *table;
  const char *const *columns;
  size_t n;
  const char *past; /* why an overlay under its name would not be seen, as the end of "it is read …"; NULL: it would */
} QueryRead;

typedef struct QueryFacts {
  const char *const *columns; /* the names of the output */
  size_t n_columns;
  const QueryRead *reads; /* tables and columns read, also through views (then `via` tables are listed too) */
  size_t n_reads;
  const char *const *volatile_functions; /* random(), CURRENT_TIMESTAMP …: a second run may differ */
  size_t n_volatile;
  const char *const *opaque_functions; /* whose bodies may read tables that are not in `reads` */
  size_t n_opaque;
  bool uses_from, uses_to; /* whether the parameters :from and :to occur */
} QueryFacts;

typedef struct DependentFacts {
  const char *name, *kind; /* "view", "trigger", "foreign key" */
  const char *schema;      /* where a view or table stands; NULL: the engine has no schemas, or it is none of these */
  const char *via;         /* what connects it: "reads daily_delays", "ON DELETE CASCADE", … */
  const char *needs;       /* follows, refresh, cascade, unknown */
  bool through;            /* a view that reads it by way of other views alone */
} DependentFacts;

/* A view reads a table or another view. */
typedef struct ReadFacts {
  const char *reader, *kind; /* kind: "view", "materialized view" */
  const char *source;
  const char *reader_schema, *source_schema; /* NULL: the engine has no schemas */
  const char *const *columns;                /* of the source, that it reads; NULL: not known, all may be */
  size_t n;
} ReadFacts;

/* One statement of a text, and what it would read and write. Each read is the statement's own: views are not looked
 * through. */
typedef struct StatementFacts {
  size_t offset, length; /* bytes of the text */
  const char *writes;    /* the table or view that it makes or changes; NULL: none */
  const char *kind;      /* "table", "view" */
  const char *deed;      /* "insert", "create table as", … */
  bool temporary;
  const QueryRead *reads; /* of each, columns NULL: not known, all may be */
  size_t n_reads;
  const char *unread; /* why it could not be looked into; NULL: it was */
} StatementFacts;

typedef struct ScriptFacts {
  const StatementFacts *statements;
  size_t n;
} ScriptFacts;

/* What the values of a date column look like. */
typedef struct DateProfile {
  int64_t rows, nulls;                    /* of the whole table; rows −1: not counted */
  int64_t texts, integers, reals, others; /* of the sample */
  const char *const *samples;             /* up to 200 distinct values as text */
  size_t n_samples;
  const char *lowest, *highest; /* as text, NULL when empty */
  unsigned kinds;      /* 1 << DateKind for every kind that the engine can work with in a column of this type */
  bool native;         /* it is one kind, and the type alone says which */
  const char *why_not; /* why no other kind, as the end of "COLUMN …"; NULL when kinds are DATE_KINDS_ALL */
  const char *way_out; /* what to do instead; NULL exactly when why_not is */
} DateProfile;

/* ---- what a recompute and a swap would cost ---------------------------------------------------------------------- */

/* Can the range be published by exchanging whole partitions, and nothing be lost by it? */
typedef struct ExchangeFacts {
  const char *why_not;        /* as the end of "not by exchange: …"; NULL: it can */
  int64_t partitions, rows;   /* that would be exchanged; rows by the engine's estimate, those outside the range too */
  double covered;             /* how much of the partitions' time the range is, 0 to 1 */
  const char *const *checked; /* what was looked at */
  size_t n_checked;
} ExchangeFacts;

/* A table that a statement reads from end to end, row by row. */
typedef struct ScanFacts {
  const char *table; /* of a partition its table; as the engine spells it */
  double rows, kept; /* that are read; that are left after the conditions on this table alone */
} ScanFacts;

/* What the engine's planner expects of a statement; estimates all. */
typedef struct EstimateFacts {
  double rows, width; /* given; bytes a row */
  double cost;        /* in the planner's own units: only ratios mean something */
  const ScanFacts *scans;
  size_t n_scans;
} EstimateFacts;

/* ---- the server -------------------------------------------------------------------------------------------------- */

typedef struct SpaceFacts {
  int64_t database_bytes, free_bytes; /* free on the disk that holds the database; −1: the engine cannot say */
} SpaceFacts;

/* What production may feel of a backfill before it slows down or pauses. */
typedef struct PressureLimits {
  double lag;         /* seconds that a replica may be behind */
  int64_t wal;        /* bytes of write-ahead log from one look to the next, and those that may wait to be archived */
  int sessions;       /* active sessions of others; 0: any number */
  const char *canary; /* a query that stands for production's own; NULL: none */
  double canary_time; /* seconds that it may take */
  int64_t last_wal;   /* Pressure.wal of the last look; 0: this is the first */
  bool room;          /* look whether a processor is free; costs some 60 ms of computing where others are at work */
} PressureLimits;

typedef enum PressureState { PRESSURE_FINE, PRESSURE_SLOW_DOWN, PRESSURE_PAUSE } PressureState;

typedef struct PressureSign {
  PressureState state;
  const char *reason; /* in plain words; the figures alone when it is fine */
} PressureSign;

typedef struct Pressure {
  PressureState state; /* the worst of the signs */
  const char *reason;  /* of the first that is so; NULL when all is fine */
  const PressureSign *signs;
  size_t n;
  int64_t wal;         /* where the write-ahead log ends, for the next look */
  const char *crowded; /* others are at work and no processor is free, in plain words; NULL: there is room, or it was
                          not asked */
} Pressure;

/* One thing that a person should know of the server or the session. */
typedef struct HealthFact {
  const char *what, *how, *todo; /* todo "": all is well */
  bool bad;                      /* nothing can be done before `todo` is */
} HealthFact;

/* One finished run of a job that the database itself starts; when it was due is not kept. */
typedef struct CronRun {
  Instant started, ended;
  bool failed;
} CronRun;

typedef struct CronJob {
  const char *name;     /* unique among the jobs that can be seen */
  const char *schedule; /* as written */
  const char *command;  /* its SQL, the database in front where it is another one */
  bool active;
  const CronRun *runs; /* oldest first */
  size_t n_runs;
} CronJob;

typedef struct CronFacts {
  bool installed;
  const char *zone; /* in which the schedules are read */
  const CronJob *jobs;
  size_t n;
} CronFacts;

/* By what a job's sessions are known; NULL: not asked for. */
typedef struct SessionQuestion {
  const char *application, *role; /* of a session, whatever it does */
  const char *query;              /* LIKE pattern of a statement that runs, small and capital letters being the same */
  const char *advisory_lock;      /* "42" or "7,42" */
  const char *except;             /* the application of sessions that are left out */
} SessionQuestion;

typedef struct SessionFacts {
  const char *found;   /* one such session, in plain words; NULL: there is none, as far as can be seen */
  Instant since;       /* of its transaction, statement or connection; 0: unknown */
  const char *unknown; /* why it cannot be told that there is none; NULL: it can */
  const char *remedy;  /* what to do then */
} SessionFacts;

#endif
