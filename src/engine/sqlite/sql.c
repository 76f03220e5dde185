#include <stdio.h>
#include <string.h>

#include "engine/sqlite/sqlite_int.h"

void stmt_finalize(Stmt *stmt) {
  sqlite3_finalize(stmt->handle);
  stmt->handle = NULL;
}

bool sql_fail(SqliteEngine *engine, const char *doing, Error *err) {
  int code = sqlite3_extended_errcode(engine->db);
  const char *words = sqlite3_errmsg(engine->db);
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return error_set(err, ERR_LOCKED, "%s: another connection holds the database's lock", doing);
    case SQLITE_FULL:
      return error_set(err, ERR_FULL, "%s: the disk is full", doing);
    case SQLITE_INTERRUPT:
      return error_set(err, ERR_PAUSED, "%s: stopped before it had ended", doing);
    case SQLITE_NOMEM:
      return error_set(err, ERR_MEMORY, "%s: out of memory", doing);
    case SQLITE_CONSTRAINT:
      return error_set(err, ERR_HELD, "%s: production refuses a row: %s", doing, words);
    case SQLITE_READONLY:
      error_set(err, ERR_DATABASE, "%s: %s cannot be written: %s", doing, engine->path, words);
      return error_hint(err, "give this user the right to write the file and its folder");
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      error_set(err, ERR_DATABASE, "%s: %s: %s", doing, engine->path, words);
      return error_hint(err, "check the path; for a damaged file see PRAGMA integrity_check");
    default:
      return error_set(err, ERR_DATABASE, "%s: %s", doing, words);
  }
}

bool sql_prepare(SqliteEngine *engine, const char *sql, Stmt *ret, const char *doing, Error *err) {
  if (sqlite3_prepare_v2(engine->db, sql, -1, &ret->handle, NULL) == SQLITE_OK) return true;
  return sql_fail(engine, doing, err);
}

bool sql_step(SqliteEngine *engine, Stmt *stmt, bool *ret_row, const char *doing, Error *err) {
  int code = sqlite3_step(stmt->handle);
  if (code != SQLITE_ROW && code != SQLITE_DONE) return sql_fail(engine, doing, err);
  *ret_row = code == SQLITE_ROW;
  return true;
}

bool sql_run(SqliteEngine *engine, const char *sql, const char *doing, Error *err) {
  STMT_SCOPED stmt = {0};
  bool row = true;
  if (!sql_prepare(engine, sql, &stmt, doing, err)) return false;
  while (row)
    if (!sql_step(engine, &stmt, &row, doing, err)) return false;
  return true;
}

void sql_bind_text(Stmt *stmt, const char *name, const char *text) {
  int i = sqlite3_bind_parameter_index(stmt->handle, name);
  if (i > 0) sqlite3_bind_text(stmt->handle, i, text, -1, SQLITE_TRANSIENT);
}

void sql_bind_int(Stmt *stmt, const char *name, int64_t value) {
  int i = sqlite3_bind_parameter_index(stmt->handle, name);
  if (i > 0) sqlite3_bind_int64(stmt->handle, i, value);
}

void sql_bind_real(Stmt *stmt, const char *name, double value) {
  int i = sqlite3_bind_parameter_index(stmt->handle, name);
  if (i > 0) sqlite3_bind_double(stmt->handle, i, value);
}

static void bind_bound(Stmt *stmt, const char *name, const DateCodec *codec, Instant date) {
  DateBound bound = datecodec_bound(codec, date);
  if (bound.type == BOUND_TEXT)
    sql_bind_text(stmt, name, bound.text);
  else if (bound.type == BOUND_INT)
    sql_bind_int(stmt, name, bound.integer);
  else
    sql_bind_real(stmt, name, bound.real);
}

void sql_bind_range(Stmt *stmt, const DateCodec *codec, DateRange range) {
  const Instant ends[2] = {range.from, range.to};
  static const char *const names[2][3] = {{":from", ":from_date", ":from_unix"}, {":to", ":to_date", ":to_unix"}};
  for (int i = 0; i < 2; i++) {
    Civil civil = zone_civil(codec->zone, ends[i]);
    char day[32];
    snprintf(day, sizeof day, "%04d-%02d-%02d", civil.year, civil.month, civil.day);
    bind_bound(stmt, names[i][0], codec, ends[i]);
    sql_bind_text(stmt, names[i][1], day);
    sql_bind_int(stmt, names[i][2], ends[i]);
  }
}

const char *sql_peek(Stmt *stmt, int i) {
  if (sqlite3_column_type(stmt->handle, i) == SQLITE_NULL) return NULL;
  const char *text = (const char *)sqlite3_column_text(stmt->handle, i);
  if (text == NULL) error_out_of_memory(); /* the only way in which a value has no text */
  return text;
}

const char *sql_text(Arena *arena, Stmt *stmt, int i) {
  const char *text = sql_peek(stmt, i);
  return text == NULL ? NULL : arena_strndup(arena, text, (size_t)sqlite3_column_bytes(stmt->handle, i));
}

void sqlite_object_name(char name[SQLITE_OBJECT_NAME], const char *id, const char *role) {
  snprintf(name, SQLITE_OBJECT_NAME, "tidegate_%s_%s", id, role);
}
