#ifndef TIDEGATE_ENGINE_SQLITE_STAGE_H
#define TIDEGATE_ENGINE_SQLITE_STAGE_H

#include "engine/sqlite/compare.h"

/*
 * The staging table: differences in a temporary table, written without any lock on the main file. It has the columns of
 * the change set: op, date (start of the grain), "old_c" for every stored column, "new_c" for every given one.
 */

/* Makes a change set under this full name. */
const char *stage_create_sql(Arena *arena, const ShapeSql *sql, const char *table);

/* Compares with the staging table as the sink; the table is made anew. */
bool stage_compare(SqliteEngine *engine, Arena *arena, const Job *job, BatchFacts *ret, Error *err);

#define STAGE_TABLE "temp.tidegate_stage"

#endif
