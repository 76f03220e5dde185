#ifndef TIDEGATE_ENGINE_BATCH_H
#define TIDEGATE_ENGINE_BATCH_H

#include "base/hash.h"
#include "engine/shape.h"

/* Batches as they are compared and written, and the change set that they fill. */

typedef struct JobScope {
  enum { JOB_SCOPE_COLUMN, JOB_SCOPE_ANY, JOB_SCOPE_NEW, JOB_SCOPE_VANISHED } kind;
  size_t column;     /* JOB_SCOPE_COLUMN: index in the shape */
  const char *where; /* SQL condition over the target's columns on the old row (JOB_SCOPE_NEW: the new row); NULL:
                        anywhere */
} JobScope;

/* One recompute of some dates against production. */
typedef struct Job {
  const Shape *shape;
  const char *id;        /* the backfill's id: names its objects; NULL: there are none, production alone */
  const char *recompute; /* SELECT with :from and :to; NULL: read the full shadow, or without an id production itself */
  bool overlay;          /* the recompute reads the target: it sees production with the changes so far applied */
  DateRange range;       /* the backfill's whole range: a key may move inside it */
  const Instant *dates;  /* n starts, ascending and contiguous; dates[n] is the end */
  size_t n;
  const JobScope *scope;
  size_t n_scope;                /* 0: no scope declared: columns and new rows are free, vanished rows are a finding */
  const char *const *row_checks; /* SQL conditions over one new row; false is a finding, NULL and true are not */
  size_t n_row_checks;
  bool fingerprint_only; /* no differences, scope or checks: only DateFacts.recomputed, stable and production */
  size_t max_examples;
} Job;

typedef struct DateFacts {
  Instant date;
  Fingerprint production; /* of production's rows of the date, all given columns */
  Fingerprint recomputed; /* of what production will hold after the swap */
  Fingerprint stable;     /* of the recompute without tolerance columns: must be the same each time */
  int64_t inserts, updates, deletes, moves_in, moves_out; /* moves change the date of a key inside the range */
} DateFacts;

typedef enum FindingKind {
  FINDING_ROW_CHECK,    /* index: which check */
  FINDING_OUT_OF_SCOPE, /* index: which column of the shape */
  FINDING_NEW_ROW,      /* a new row outside the scope */
  FINDING_VANISHED,     /* a key is gone and that is not declared */
  FINDING_DUPLICATE_KEY,
  FINDING_NULL_KEY,
  FINDING_NULL_DATE,    /* the recompute gave a row without a date, or one that is not of the column's kind */
  FINDING_OUT_OF_DATES, /* the recompute gave a row outside the dates asked for */
  FINDING_KEY_OUTSIDE,  /* the key exists in production outside the range: publishing would change a row there */
  FINDING_NOT_NULL      /* NULL for a column that forbids it; index: which column */
} FindingKind;

typedef struct Example {
  const char *date, *key, *column, *old_value, *new_value; /* texts; NULL = SQL NULL or not applicable */
} Example;

typedef struct Finding {
  FindingKind kind;
  size_t index;
  int64_t count;
  const Example *examples;
  size_t n;
} Finding;

typedef struct BatchFacts {
  const DateFacts *dates;
  size_t n;
  const Finding *findings;
  size_t n_findings;
  const int64_t *column_changes; /* per column of the shape: rows in which it changes */
  int64_t rows, changes;
  const char *token; /* EngineOps.change_token of the snapshot that was read */
} BatchFacts;

/* What is proven about a batch since the snapshot that it was computed in; false proves nothing. */
typedef struct Unchanged {
  bool production; /* its rows of the dates */
  bool sources;    /* everything that the recompute and the row checks read */
} Unchanged;

/* ---- the change set ---------------------------------------------------------------------------------------------- */

typedef struct ChangeCounts {
  int64_t inserts, updates, deletes, moves;
} ChangeCounts;

typedef struct ChangeRow {
  char op; /* I, U, D, M */
  const char *date, *key;
  const char *const *old_values, *const *new_values; /* per column of the shape, as text; NULL = SQL NULL */
} ChangeRow;

/* A later write that stands in the way of a rollback. */
typedef struct Conflict {
  const char *what; /* "changed since", "moved since", "vanished since", "arrived since" */
  const char *date, *key;
} Conflict;

typedef struct Conflicts {
  int64_t count;
  const Conflict *rows; /* the first max_examples */
  size_t n;
} Conflicts;

/* What rollback does with rows that were written after the swap. */
typedef enum LaterRows { LATER_REFUSE, LATER_KEEP, LATER_OVERWRITE } LaterRows;

#endif
