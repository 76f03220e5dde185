#ifndef TIDEGATE_ENGINE_SQLITE_CATALOG_INT_H
#define TIDEGATE_ENGINE_SQLITE_CATALOG_INT_H

#include "engine/sqlite/sqlite_int.h"

/* What the files that read the catalogue share. */

/* The event of a trigger, from its CREATE TRIGGER text. */
TriggerFacts trigger_facts(const char *name, const char *sql);

/* The foreign keys of a table (child), or those that point to it (parent); the other is NULL. */
bool catalog_foreign_keys(SqliteEngine *engine, Arena *arena, const char *child, const char *parent,
                          const ForeignKeyFacts **ret, size_t *ret_n, Error *err);

/* The columns in their order. A rowid's NOT NULL is not seen here (describe_table adds it). */
bool catalog_columns(SqliteEngine *engine, Arena *arena, const char *table, ColumnFacts **ret, size_t *ret_n,
                     Error *err);

/* A name under which the rowid can be read: NULL for views, virtual tables, WITHOUT ROWID, and where columns hide all
 * three. */
bool catalog_rowid(SqliteEngine *engine, Arena *arena, const char *table, const char **ret, Error *err);

/* The spelling of a table or view in the catalogue. ERR_NOT_FOUND. */
bool catalog_spelling(SqliteEngine *engine, Arena *arena, const char *table, const char **ret, Error *err);

#endif
