#include "engine/sqlite/reads.h"

#include <string.h>

static bool same(const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && sqlite3_stricmp(a, b) == 0);
}

static void log_access(AccessLog *log, AccessKind kind, const char *table, const char *column, const char *within) {
  for (size_t i = log->n; i-- > 0;) {
    const Access *item = &log->items[i];
    if (item->kind == kind && same(item->table, table) && same(item->column, column) && same(item->within, within))
      return;
  }
  log->items = arena_grow(log->arena, log->items, log->n, sizeof *log->items);
  log->items[log->n++] = (Access){kind, arena_strdup(log->arena, table), arena_strdup(log->arena, column),
                                  arena_strdup(log->arena, within)};
}

static const char *denied_words(int action) {
  switch (action) {
    case SQLITE_ATTACH:
      return "attaches another database";
    case SQLITE_DETACH:
      return "detaches a database";
    case SQLITE_PRAGMA:
      return "is a PRAGMA";
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
      return "begins or ends a transaction";
    case SQLITE_ANALYZE:
    case SQLITE_REINDEX:
      return "rebuilds an index or its statistics";
    default:
      return "changes the schema";
  }
}

bool access_note(AccessLog *log, int action, const char *first, const char *second, const char *within) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
      return true;
    case SQLITE_READ:
      log_access(log, ACCESS_READ, first, second, within);
      return true;
    case SQLITE_FUNCTION:
      log_access(log, ACCESS_CALL, second, NULL, within);
      return true;
    case SQLITE_INSERT:
    case SQLITE_DELETE:
    case SQLITE_UPDATE:
      log_access(log, ACCESS_WRITE, first, second, within);
      return true;
    default:
      return false;
  }
}

static int authorize(void *context, int action, const char *first, const char *second, const char *database,
                     const char *within) {
  AccessLog *log = context;
  if (access_note(log, action, first, second, within)) return SQLITE_OK;
  if (log->denied == NULL) log->denied = denied_words(action);
  return SQLITE_DENY;
}

static int prepare_logged(SqliteEngine *engine, const char *sql, Stmt *ret, AccessLog *log) {
  sqlite3_set_authorizer(engine->db, authorize, log);
  int code = sqlite3_prepare_v2(engine->db, sql, -1, &ret->handle, NULL);
  sqlite3_set_authorizer(engine->db, NULL, NULL);
  return code;
}

/* Twice: the first use of a virtual table reads its inner tables, the second shows the statement's own accesses. */
int access_prepare(SqliteEngine *engine, Arena *arena, const char *sql, Stmt *ret, AccessLog *ret_log) {
  ARENA_SCOPED scratch = {0};
  STMT_SCOPED first = {0};
  AccessLog ignored = {.arena = &scratch};
  prepare_logged(engine, sql, &first, &ignored);
  *ret_log = (AccessLog){.arena = arena};
  return prepare_logged(engine, sql, ret, ret_log);
}

bool access_touches(const AccessLog *log, AccessKind kind, const char *table, const char *within) {
  for (size_t i = 0; i < log->n; i++) {
    const Access *item = &log->items[i];
    if (item->kind == kind && same(item->table, table) && (within == NULL || same(item->within, within))) return true;
  }
  return false;
}
