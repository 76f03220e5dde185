#include <string.h>

#include "engine/sqlite/lex.h"
#include "engine/sqlite/query_int.h"

/* Judging SQL that a person wrote, before anything of it runs. */

static const char *const offered[] = {":from", ":to", ":from_date", ":to_date", ":from_unix", ":to_unix"};

static bool is_offered(const char *name) {
  for (size_t i = 0; i < sizeof offered / sizeof *offered; i++)
    if (strcmp(name, offered[i]) == 0) return true;
  return false;
}

/* Where the parameter first stands; −1 when it is nowhere. */
static int parameter_offset(const char *sql, const char *name) {
  Lexer lexer = {.at = sql};
  for (LexToken token; (token = lex_next(&lexer)).kind != LEX_END;)
    if (token.kind == LEX_PARAMETER && token.n == strlen(name) && memcmp(token.at, name, token.n) == 0)
      return (int)(token.at - sql);
  return -1;
}

static bool refuse_parameter(Arena *arena, const Written *written, const char *name, Error *err) {
  error_set(err, ERR_SPEC, "%s has the parameter '%s', for which there is no value", written->what, name);
  const char *meant = arena_printf(arena, ":%s", name + 1);
  if (!written->parameters) return error_hint(err, "write the value itself: no parameter can stand here");
  if (is_offered(meant)) return error_hint(err, "write %s", meant);
  return error_hint(err, "write :from and :to, or :from_date, :to_date (text), :from_unix, :to_unix (seconds)");
}

static bool check_parameters(Arena *arena, const Written *written, const Stmt *stmt, int *ret_offset, Error *err) {
  int n = sqlite3_bind_parameter_count(stmt->handle);
  for (int i = 1; i <= n; i++) {
    const char *name = sqlite3_bind_parameter_name(stmt->handle, i);
    if (name == NULL) name = "?";
    if (written->parameters && is_offered(name)) continue;
    *ret_offset = parameter_offset(written->sql, name);
    return refuse_parameter(arena, written, name, err);
  }
  return true;
}

/* What SQLite said, with the place moved from the statement to the piece. */
static bool refuse_words(SqliteEngine *engine, const Written *written, int *ret_offset, Error *err) {
  int code = sqlite3_errcode(engine->db) & 0xff;
  if (code != SQLITE_ERROR && code != SQLITE_AUTH && code != SQLITE_TOOBIG)
    return sql_fail(engine, "reading the query", err);
  int offset = sqlite3_error_offset(engine->db) - (int)strlen(written->before);
  if (offset >= 0 && offset <= (int)strlen(written->sql)) *ret_offset = offset;
  return error_set(err, ERR_SPEC, "%s is not accepted: %s", written->what, sqlite3_errmsg(engine->db));
}

static bool refuse_act(const Written *written, const char *does, Error *err) {
  error_set(err, ERR_SPEC, "%s %s: it may only read", written->what, does);
  return error_hint(err, "write one SELECT");
}

bool written_prepare(SqliteEngine *engine, Arena *arena, const Written *written, Stmt *ret, AccessLog *ret_log,
                     int *ret_offset, Error *err) {
  *ret_offset = -1;
  if (!lex_closed(written->sql, written->what, ret_offset, err)) return false;
  const char *sql = arena_printf(arena, "%s%s%s", written->before, written->sql, written->after);
  int code = access_prepare(engine, arena, sql, ret, ret_log);
  if (ret_log->denied != NULL) return refuse_act(written, ret_log->denied, err);
  if (code != SQLITE_OK) return refuse_words(engine, written, ret_offset, err);
  if (!sqlite3_stmt_readonly(ret->handle)) return refuse_act(written, "writes", err);
  if (sqlite3_stmt_isexplain(ret->handle)) return refuse_act(written, "is an EXPLAIN", err);
  return check_parameters(arena, written, ret, ret_offset, err);
}
