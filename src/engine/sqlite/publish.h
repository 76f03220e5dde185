#ifndef TIDEGATE_ENGINE_SQLITE_PUBLISH_H
#define TIDEGATE_ENGINE_SQLITE_PUBLISH_H

#include "engine/sqlite/shape_sql.h"

/*
 * Applies the change set in `changes` (a full table name) to production: deletes, updates of the `columns` that change,
 * inserts; each count must be exactly as expected, else ERR_DRIFT and the caller rolls back. Inside a write
 * transaction.
 */
bool publish_changes(SqliteEngine *engine, const ShapeSql *sql, const char *changes, const bool *columns,
                     ChangeCounts expected, Error *err);

/* Runs one statement and demands that it changed exactly `expected` rows. */
bool publish_step(SqliteEngine *engine, const char *sql, int64_t expected, const char *doing, Error *err);

/* Deletes production's rows whose keys, prefix+key, the rows of a change set have that `of` chooses (alias n). */
const char *publish_delete_sql(Arena *arena, const ShapeSql *sql, const char *changes, const char *of,
                               const char *prefix);

/* Puts the new rows of a change set into a table. */
const char *publish_insert_sql(Arena *arena, const ShapeSql *sql, const char *table, const char *changes);

/* Switches the target's own triggers; foreign keys stay on. */
void publish_triggers(SqliteEngine *engine, bool on);

/* ERR_HELD when rows of other tables refer to rows that this would delete. prefix "old_" and op 'D', or "new_" and op
 * 'I' for a rollback. */
bool publish_no_orphans(SqliteEngine *engine, const ShapeSql *sql, const char *changes, char op, const char *prefix,
                        Error *err);

/* Child rows that refer to keys in the change set. NULL child: none. */
bool publish_orphans(SqliteEngine *engine, Arena *arena, const ShapeSql *sql, const char *changes, char op,
                     const char *prefix, const char **ret_child, int64_t *ret, Error *err);

#endif
