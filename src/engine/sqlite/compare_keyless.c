#include "engine/sqlite/compare_int.h"
#include "engine/sqlite/sqlite_sql.h"

/*
 * A target without a key. The recompute is held aside in a temporary table while both sides are fingerprinted; then the
 * dates whose fingerprints differ give up all their rows and take all the new ones.
 */

enum { ASIDE_DATE = 1, ASIDE_FIRST = 2 };

static bool aside_create(Compare *compare, Error *err) {
  BUF_SCOPED columns = {0};
  if (!sql_run(compare->engine, sql_compare_aside_forget, "holding the recompute aside", err)) return false;
  for (size_t i = 0; i < compare->sql.n_given; i++)
    buf_printf(&columns, ", c%zu %s", i, affinity_word(compare->sql.affinity[compare->sql.given[i]]));
  return sql_run(compare->engine,
                 sql_fill(compare->arena, sql_compare_aside_create, "columns", buf_text(&columns), NULL),
                 "holding the recompute aside", err);
}

static const char *aside_insert_sql(Compare *compare) {
  return sql_fill(compare->arena, sql_compare_aside_add, "parameters",
                  shape_parameters(compare->arena, ASIDE_FIRST - ASIDE_DATE + compare->sql.n_given), NULL);
}

static void bind_job_range(Compare *compare, Stmt *stmt) {
  sql_bind_range(stmt, &compare->job->shape->codec,
                 (DateRange){compare->job->dates[0], compare->job->dates[compare->job->n]});
}

static bool stream_aside(Compare *compare, Error *err) {
  STMT_SCOPED select = {0}, insert = {0};
  if (!sql_prepare(compare->engine, compare_recompute_sql(compare->arena, &compare->sql, compare->job), &select,
                   "recomputing", err) ||
      !sql_prepare(compare->engine, aside_insert_sql(compare), &insert, "holding the recompute aside", err))
    return false;
  bind_job_range(compare, &select);
  for (bool row;;) {
    size_t date;
    if (!sql_step(compare->engine, &select, &row, "recomputing", err)) return false;
    if (!row) return true;
    compare->rows++;
    for (size_t i = 0; i < compare->sql.n_given; i++)
      value_read(select.handle, (int)i, compare->sql.affinity[compare->sql.given[i]], &compare->new_row[i]);
    bool ok = true;
    if (compare_new_row(compare, select.handle, compare->sql.n_given, &date)) {
      RowHash hash = compare_row_hash(compare, compare->new_row, false, false);
      fingerprint_add(&compare->dates[date].recomputed, hash);
      fingerprint_add(&compare->dates[date].stable, compare_row_hash(compare, compare->new_row, false, true));
      sqlite3_bind_int64(insert.handle, ASIDE_DATE, compare->job->dates[date]);
      for (size_t i = 0; i < compare->sql.n_given; i++)
        value_bind(insert.handle, (int)(ASIDE_FIRST + i), &compare->new_row[i]);
      ok = sql_step(compare->engine, &insert, &row, "holding the recompute aside", err);
      sqlite3_reset(insert.handle);
    }
    values_release(compare->new_row, compare->sql.n_given);
    if (!ok) return false;
  }
}

/* Reads production's rows of [range); with `take`, as rows that go. */
static bool production_rows(Compare *compare, DateRange range, bool take, Error *err) {
  STMT_SCOPED stmt = {0};
  const ShapeSql *sql = &compare->sql;
  const char *text = compare_production_sql(
      compare->arena, sql, shape_list(compare->arena, sql->shape, sql->stored, sql->n_stored, "p.", ""));
  if (!sql_prepare(compare->engine, text, &stmt, "reading production", err)) return false;
  sql_bind_range(&stmt, &compare->job->shape->codec, range);
  for (bool row, ok = true;;) {
    if (!sql_step(compare->engine, &stmt, &row, "reading production", err)) return false;
    if (!row) return true;
    const Value *value = NULL;
    for (size_t i = 0; i < sql->n_stored; i++) {
      value_read(stmt.handle, (int)i, sql->affinity[sql->stored[i]], &compare->old_row[i]);
      if (sql->stored[i] == sql->shape->date) value = &compare->old_row[i];
    }
    Instant at;
    size_t date = value_date(&sql->shape->codec, value, &at) ? compare_date_index(compare, at) : compare->job->n;
    if (date < compare->job->n && !take)
      fingerprint_add(&compare->dates[date].production, compare_row_hash(compare, compare->old_row, true, false));
    if (date < compare->job->n && take) {
      compare->dates[date].deletes++;
      compare->changes++;
      ok = compare->sink == NULL ||
           compare->sink->put(compare->sink->context, 'D', compare->job->dates[date], compare->old_row, NULL, err);
    }
    values_release(compare->old_row, sql->n_stored);
    if (!ok) return false;
  }
}

static bool new_rows_of(Compare *compare, size_t date, Error *err) {
  STMT_SCOPED stmt = {0};
  if (!sql_prepare(compare->engine, sql_compare_aside_rows, &stmt, "replacing a date", err)) return false;
  sql_bind_int(&stmt, ":date", compare->job->dates[date]);
  for (bool row;;) {
    if (!sql_step(compare->engine, &stmt, &row, "replacing a date", err)) return false;
    if (!row) return true;
    for (size_t i = 0; i < compare->sql.n_given; i++)
      value_read(stmt.handle, (int)i + 1, compare->sql.affinity[compare->sql.given[i]], &compare->new_row[i]);
    compare->dates[date].inserts++;
    compare->changes++;
    if (compare->sink != NULL &&
        !compare->sink->put(compare->sink->context, 'I', compare->job->dates[date], NULL, compare->new_row, err))
      return false;
  }
}

bool compare_keyless(Compare *compare, Error *err) {
  const Job *job = compare->job;
  if (!aside_create(compare, err) || !stream_aside(compare, err) ||
      !production_rows(compare, (DateRange){job->dates[0], job->dates[job->n]}, false, err))
    return false;
  for (size_t i = 0; i < job->n && !job->fingerprint_only; i++) {
    if (fingerprint_equal(&compare->dates[i].production, &compare->dates[i].recomputed)) continue;
    if (!production_rows(compare, (DateRange){job->dates[i], job->dates[i + 1]}, true, err) ||
        !new_rows_of(compare, i, err))
      return false;
  }
  return sql_run(compare->engine, sql_compare_aside_drop, "holding the recompute aside", err);
}
