#ifndef TIDEGATE_ENGINE_SQLITE_COMPARE_H
#define TIDEGATE_ENGINE_SQLITE_COMPARE_H

#include "engine/sqlite/shape_sql.h"

/* Where a difference goes: op I, U, D or M; old_row over the stored columns, new_row over the given ones; NULL where
 * there is none. */
typedef struct CompareSink {
  bool (*put)(void *context, char op, Instant date, const Value *old_row, const Value *new_row, Error *err);
  void *context;
} CompareSink;

/*
 * Streams the recompute once beside production's rows of the same keys, in one snapshot: fingerprints of both sides,
 * differences, scope and row checks come from the one pass. Every expression of the recompute is evaluated once a row.
 * Holds 16 bytes a row of the job for the set of keys seen. sink NULL: nothing is kept.
 */
bool compare_run(SqliteEngine *engine, Arena *arena, const Job *job, const CompareSink *sink, BatchFacts *ret,
                 Error *err);

/* `SELECT given columns [, checks] FROM (recompute)`, each expression evaluated once (the LIMIT keeps SQLite from
 * merging it into the outer query). */
const char *compare_recompute_sql(Arena *arena, const ShapeSql *sql, const Job *job);

/*
 * The overlay as a temporary view under the target's name, which unqualified names find first. It holds the changes of
 * the dates before the job's own, so that a recompute of production as it is sees the same at each of its runs.
 */
bool compare_overlay_begin(SqliteEngine *engine, Arena *arena, const ShapeSql *sql, const Job *job, Error *err);
bool compare_overlay_end(SqliteEngine *engine, Arena *arena, const ShapeSql *sql, Error *err);

#endif
