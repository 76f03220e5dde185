#ifndef TIDEGATE_ENGINE_SQLITE_COMPARE_INT_H
#define TIDEGATE_ENGINE_SQLITE_COMPARE_INT_H

#include "engine/sqlite/compare.h"
#include "engine/sqlite/keyset.h"

/* What compare.c, compare_find.c and compare_keyless.c share. */

typedef struct Compare {
  SqliteEngine *engine;
  Arena *arena;
  const Job *job;
  const CompareSink *sink;
  ShapeSql sql;
  DateFacts *dates;
  int64_t *matched, *present; /* per date: production rows that the recompute met, and that there are */
  char last_text[16];         /* the last date as text, and how long; 0: none */
  int last_length;
  size_t last_date;                     /* where the last row was found: the next is mostly there too */
  Value *new_row, *old_row;             /* over given, over stored */
  size_t *stored_of_given;              /* position in stored of each given column */
  size_t *key_in_given, *key_in_stored; /* positions of the key's columns */
  bool tolerant;                        /* a column has a tolerance */
  bool integer_key;                     /* one key column, so that integers in it are hashed as they are */
  KeySet old_keys, new_keys;
  Buf bytes;
  Stmt scope; /* the conditions of the scope over one row; handle NULL: none has one */
  Finding *findings;
  size_t n_findings;
  int64_t *column_changes;
  int64_t rows, changes;
} Compare;

/* The index of a value's date in the job, or job->n; false when the value has no date. Rows of one date mostly come
 * together, so the last text is kept. */
bool compare_date_of(Compare *compare, const Value *value, size_t *ret);
/* The index of a date in the job, or job->n. */
size_t compare_date_index(Compare *compare, Instant date);
RowHash compare_row_hash(Compare *compare, const Value *row, bool from_stored, bool stable_only);

/* Counts a finding and keeps an example of it while there is room. column: index in the shape, or −1. */
void compare_find(Compare *compare, FindingKind kind, size_t index, const Value *old_row, const Value *new_row,
                  ptrdiff_t column);
/* Prepares the conditions of the scope. */
bool compare_scope_prepare(Compare *compare, Error *err);
/* Judges one difference against the scope. changed: per given column, for updates and moves. */
bool compare_scope_judge(Compare *compare, char op, const Value *old_row, const Value *new_row, const bool *changed,
                         Error *err);
/* Checks of the new row that need no production row: row checks (from column `first` of stmt), NOT NULL, key, date.
 * False: the row has no date of the job and is left out. */
bool compare_new_row(Compare *compare, sqlite3_stmt *stmt, size_t first_check, size_t *ret_date);

/* Production's rows of [:from, :to): these columns of alias p. */
const char *compare_production_sql(Arena *arena, const ShapeSql *sql, const char *columns);

/* The way for a target without a key: dates whose fingerprints differ are replaced whole. */
bool compare_keyless(Compare *compare, Error *err);

#endif
