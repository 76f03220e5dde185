#ifndef TIDEGATE_ENGINE_POSTGRES_COMPARE_INT_H
#define TIDEGATE_ENGINE_POSTGRES_COMPARE_INT_H

#include "engine/postgres/work.h"

/* What the files of the comparison share. */

/* One comparison. Dates have places 1 … n, as in shape_date_place. */
typedef struct Compare {
  PgEngine *engine;
  Arena *arena;
  const Job *job;
  ShapeSql sql;
  const char *table;      /* where the differences go; NULL: nowhere, the new rows are written already */
  const char *differing;  /* the differences as rows of the change set's form */
  const char *recomputed; /* the statement compare.sql calls `recomputed` */
  const char *production; /* … and `production` */
  bool tolerant;          /* some column has a tolerance */
  DateFacts *dates;
  int64_t *recounted; /* production's rows per date as its differences say: to be held against the real count */
  int64_t *column_changes;
  Finding *findings;
  size_t n_findings;
  int64_t rows, changes, inserts, moves;
} Compare;

/* alias."<prefix><column>" */
const char *compare_column(Compare *, const char *alias, const char *prefix, size_t column);

/* Adds to the finding of this kind; examples are read from `rows` (an SQL row source with alias r) for which `where`
 * holds. column: of the shape, −1: none. from_changes: rows are of the change set's form, else of the recompute's. */
typedef struct FindingSource {
  FindingKind kind;
  size_t index;
  int64_t count;
  const char *rows, *where;
  ptrdiff_t column;
  bool from_changes;
} FindingSource;
bool pg_compare_find(Compare *, const FindingSource *, Error *);

/* The facts that are asked of the recompute's rows, after rows, hash and stable hash: one boolean condition each. */
typedef struct RowFact {
  FindingKind kind;
  size_t index;
  ptrdiff_t column;
  bool any_change;   /* every change of the column counts */
  const char *where; /* over alias s or r, whose columns are the recompute's, tidegate_place and tidegate_check_i */
} RowFact;
const RowFact *compare_row_facts(Compare *, const char *alias, size_t *ret_n);

/* The same of the differences (alias r): judged against `changes`. */
const RowFact *compare_scope_facts(Compare *, size_t *ret_n);
/* ", (condition) AS tidegate_scope_i …" over the old row, and for new rows over the new one; "" when there are none. */
const char *compare_scope_conditions(Compare *);

/* Keys that several rows have. rows, key and where as in compare.sql `repeated`. */
bool compare_find_repeated(Compare *, const char *rows, const char *key, const char *where, bool from_changes, Error *);

#endif
