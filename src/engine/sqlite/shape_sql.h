#ifndef TIDEGATE_ENGINE_SQLITE_SHAPE_SQL_H
#define TIDEGATE_ENGINE_SQLITE_SHAPE_SQL_H

#include "engine/sqlite/values.h"

/* A shape with what SQL needs to know of it, and the lists that every statement is made of. */
typedef struct ShapeSql {
  const Shape *shape;
  const char *table;   /* main."name" */
  const char *present; /* an expression over alias p that is never NULL in a row of the target */
  const char *date;    /* "date column" */
  const Affinity *affinity;
  const size_t *rest; /* stored but not given */
  size_t n_rest;
  const size_t *given, *stored, *key; /* indices in the shape: written columns; all but generated; key columns */
  size_t n_given, n_stored, n_key;
} ShapeSql;

bool shape_sql(SqliteEngine *engine, Arena *arena, const Shape *shape, ShapeSql *ret, Error *err);

/*
 * A comma-separated list of columns, each written by `format`, in which %s is the quoted name and, the second time, the
 * quoted name again: "%s", "p.%s", … `prefix` goes into the name before quoting ("old_", "new_", "").
 */
const char *shape_list(Arena *arena, const Shape *shape, const size_t *columns, size_t n, const char *before,
                       const char *prefix);

/* "?, ?, …": n parameters. */
const char *shape_parameters(Arena *arena, size_t n);

/* "c1 = <before>c1, …" over the given columns that `columns` marks, by the index in the shape; behind `before` the
 * names have the prefix. */
const char *shape_set(Arena *arena, const ShapeSql *sql, const bool *columns, const char *before, const char *prefix);

/* "a.k1 = b.k1 AND …" over the key, with IS where a key column may be NULL. `left` and `right` stand before the names:
 * "p.", "+n.", … */
const char *shape_key_match(Arena *arena, const ShapeSql *sql, const char *left, const char *left_prefix,
                            const char *right, const char *right_prefix);

/* Before a name: a unary plus keeps SQLite from indexing the change set and scanning production instead. */
#define SHAPE_NO_INDEX "+"

/* The backfill's object of a role as a full table name: main."tidegate_…". */
const char *shape_object(Arena *arena, const char *id, const char *role);

/* `SELECT *` of the rows of [:from, :to) of a table, by its full name. */
const char *shape_range(Arena *arena, const ShapeSql *sql, const char *table);

/* `SELECT all stored columns` of production with the changes of dates before `before` applied (INSTANT_MAX: all). */
const char *shape_overlay(Arena *arena, const ShapeSql *sql, const char *id, Instant before);

#endif
