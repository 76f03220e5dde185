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

/* What is told of the recompute's rows of a date, as an array: rows, sum of the hashes, sum of the hashes without
 * tolerance columns, then a count for each row fact. */
enum { FACT_ROWS, FACT_HASH, FACT_STABLE, FACT_MORE };
/* … and of its differences: I, U, D, M; the hashes of the old rows of U and D; those of the new rows of I, U and M;
 * then a count for each given column that changes, and for each scope fact. */
enum { DIFF_I, DIFF_U, DIFF_D, DIFF_M, DIFF_OLD, DIFF_NEW, DIFF_MORE };

/* ---- statements (compare_sql.c), named like those of compare.sql. `rows`: the recompute's, or the same as they were
 * written. */
const char *pg_compare_recomputed_sql(Compare *, const char *rows);
const char *pg_compare_production_sql(Compare *);
const char *pg_compare_joined_sql(Compare *, const char *new_rows);
const char *pg_compare_batch_sql(Compare *);
const char *pg_compare_differences_sql(Compare *, const char *rows);
/* `count`, `count_there`: tell how many rows `written` and production really have. */
const char *pg_compare_both_sql(Compare *, const char *written, bool count, bool count_there);
const char *compare_changes_of(Compare *);
const char *compare_recomputed_facts(Compare *);
const char *compare_given_hash(Compare *, const char *before, const char *prefix);

/* ---- the parts that two ways share (compare.c) */
/* `written`: the new rows where they stand already; NULL: the recompute gives them. compare->sql
 * stands. */
void compare_init(Compare *, const char *written);
bool compare_take_recomputed(Compare *, const char *place, const char *const *values, Error *);
bool compare_take_differences(Compare *, size_t at, const char *const *values, Error *);
/* Reads and takes both sides by themselves, and then what differs (compare->differing). */
bool compare_by_sides(Compare *, Error *);
/* Counts of both sides that do not agree come from a key that several rows have. */
bool compare_find_odd(Compare *, Error *);
BatchFacts compare_facts(const Compare *, const char *token);

/* ---- findings and facts (compare_find.c) */

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
  size_t counted_by; /* the place of a DIFF_ count that says the same, plus one; 0: there is none */
  bool of_moves;     /* only a key that moves can have it */
  const char *where; /* over alias s or r, whose columns are the recompute's, tidegate_place and tidegate_check_i */
} RowFact;
const RowFact *compare_row_facts(Compare *, const char *alias, size_t *ret_n);

/* Where the count of a given column's changes stands among the DIFF_ counts. */
size_t compare_change_count_at(const Compare *, size_t column);
/* The same of the differences (alias r): judged against `changes`. */
const RowFact *compare_scope_facts(Compare *, size_t *ret_n);
/* ", (condition) AS tidegate_scope_i …" over the old row, and for new rows over the new one; "" when there are none. */
const char *compare_scope_conditions(Compare *);

/* Keys that several rows have. rows, key and where as in compare.sql `repeated`. */
bool compare_find_repeated(Compare *, const char *rows, const char *key, const char *where, bool from_changes, Error *);

#endif
