#ifndef TIDEGATE_ENGINE_SQLITE_READS_H
#define TIDEGATE_ENGINE_SQLITE_READS_H

#include "engine/sqlite/sqlite_int.h"

/*
 * What a statement would touch, as SQLite itself tells its authorizer while the statement is prepared. Nothing is run,
 * and what would act already while being prepared (PRAGMA), or on anything but rows, is denied.
 */
typedef enum AccessKind { ACCESS_READ, ACCESS_WRITE, ACCESS_CALL } AccessKind;

typedef struct Access {
  AccessKind kind;
  const char *table;  /* of a call: the function's name */
  const char *column; /* "" when no column of the table is named, NULL for calls, inserts and deletes */
  const char *within; /* the innermost view, trigger or WITH table in whose text it stands; NULL: the statement's own */
} Access;

typedef struct AccessLog {
  Arena *arena;
  Access *items; /* each once, in the order first met */
  size_t n;
  const char *denied; /* the first denied thing in words, NULL: none */
} AccessLog;

/*
 * Prepares under the authorizer; returns what sqlite3_prepare_v2 does. *ret may stay empty (no statement in the text).
 */
int access_prepare(SqliteEngine *engine, Arena *arena, const char *sql, Stmt *ret, AccessLog *ret_log);

/* For an authorizer: notes what a statement does with rows; false, and nothing noted, for anything else. */
bool access_note(AccessLog *log, int action, const char *first, const char *second, const char *within);

/* Does the log say that the table is touched in this way? `within` NULL: anywhere. */
bool access_touches(const AccessLog *log, AccessKind kind, const char *table, const char *within);

#endif
