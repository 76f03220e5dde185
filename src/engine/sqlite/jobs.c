#include <math.h>

#include "base/clock.h"
#include "engine/sqlite/query_int.h"
#include "engine/sqlite/sqlite_sql.h"
#include "engine/sqlite/work.h"

/* Whether a job runs, by what a person's query says. */

/* Answers within `timeout`, and within what the open transaction still has; *ret_before is put back by restore. */
static void limit(SqliteEngine *engine, double timeout, double *ret_before) {
  double until = clock_seconds() + timeout;
  *ret_before = engine->deadline;
  if (engine->deadline <= 0 || until < engine->deadline) engine->deadline = until;
}

static bool in_time(SqliteEngine *engine, double before, bool ok, Error *err) {
  engine->deadline = before;
  if (!ok && err->code == ERR_PAUSED) error_set(err, ERR_LOCKED, "the query did not answer in time");
  return ok;
}

bool sqlite_job_number(Engine *base, const char *sql, double timeout, double *ret, Error *err) {
  double before;
  limit(sqlite_engine(base), timeout, &before);
  bool ok = sqlite_number(base, sql, ret, err);
  return in_time(sqlite_engine(base), before, ok, err);
}

static bool read_age(SqliteEngine *engine, const char *sql, double *ret, Error *err) {
  static const char doing[] = "asking for a sign of life";
  ARENA_SCOPED arena = {0};
  STMT_SCOPED stmt = {0};
  AccessLog log;
  int offset;
  bool row, more;
  Written written = {
      .what = "the query for a time", .sql = sql, .before = sql_jobs_age_before, .after = sql_jobs_age_after};
  if (!written_prepare(engine, &arena, &written, &stmt, &log, &offset, err) ||
      !sql_step(engine, &stmt, &row, doing, err))
    return false;
  double age = INFINITY;
  if (row && sqlite3_column_int(stmt.handle, 1) == 0)
    return error_set(err, ERR_SPEC, "the query for a time gave a value that is not one");
  if (row && sqlite3_column_type(stmt.handle, 0) != SQLITE_NULL) age = sqlite3_column_double(stmt.handle, 0);
  if (row && !sql_step(engine, &stmt, &more, doing, err)) return false;
  if (row && more) return error_set(err, ERR_SPEC, "the query for a time gave several rows");
  *ret = age;
  return true;
}

bool sqlite_age(Engine *base, const char *sql, double timeout, double *ret, Error *err) {
  double before;
  limit(sqlite_engine(base), timeout, &before);
  bool ok = read_age(sqlite_engine(base), sql, ret, err);
  return in_time(sqlite_engine(base), before, ok, err);
}
