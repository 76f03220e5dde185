#include "engine/sqlite/compare.h"

#include <string.h>

#include "engine/sqlite/compare_int.h"
#include "engine/sqlite/sqlite_sql.h"

/* ---- hashes and dates -------------------------------------------------------------------------------------------- */

RowHash compare_row_hash(Compare *compare, const Value *row, bool from_stored, bool stable_only) {
  buf_clear(&compare->bytes);
  for (size_t i = 0; i < compare->sql.n_given; i++) {
    if (stable_only && compare->job->shape->columns[compare->sql.given[i]].tolerance > 0) continue;
    value_encode(&row[from_stored ? compare->stored_of_given[i] : i], &compare->bytes);
  }
  return hash_bytes(buf_text(&compare->bytes), compare->bytes.len);
}

/*
 * An integer key is its own hash, so that it cannot collide; its slot keeps sixteen neighbours together, because keys
 * mostly come in order and then stay in the cache (the multiplier is that of splitmix64).
 */
static RowHash integer_hash(int64_t key) {
  uint64_t block = ((uint64_t)key >> 4) * UINT64_C(0xbf58476d1ce4e5b9);
  return (RowHash){(block ^ block >> 32) << 4 | ((uint64_t)key & 15), (uint64_t)key};
}

static RowHash key_hash(Compare *compare, const Value *row, bool from_stored) {
  const size_t *columns = from_stored ? compare->key_in_stored : compare->key_in_given;
  if (compare->integer_key && row[columns[0]].type == SQLITE_INTEGER) return integer_hash(row[columns[0]].integer);
  buf_clear(&compare->bytes);
  for (size_t i = 0; i < compare->sql.n_key; i++) value_encode(&row[columns[i]], &compare->bytes);
  return hash_bytes(buf_text(&compare->bytes), compare->bytes.len);
}

size_t compare_date_index(Compare *compare, Instant date) {
  const Job *job = compare->job;
  if (job->dates[compare->last_date] == date && compare->last_date < job->n) return compare->last_date;
  size_t low = 0, high = job->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (job->dates[middle] < date)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == job->n || job->dates[low] != date) return job->n;
  compare->last_length = 0; /* the text that was kept belongs to another date */
  return compare->last_date = low;
}

bool compare_date_of(Compare *compare, const Value *value, size_t *ret) {
  Instant date;
  bool text = value->type == SQLITE_TEXT && value->n > 0 && value->n <= (int)sizeof compare->last_text;
  if (text && value->n == compare->last_length && memcmp(value->bytes, compare->last_text, (size_t)value->n) == 0) {
    *ret = compare->last_date;
    return true;
  }
  if (!value_date(&compare->job->shape->codec, value, &date)) return false;
  *ret = compare_date_index(compare, date);
  if (text && *ret < compare->job->n) {
    memcpy(compare->last_text, value->bytes, (size_t)value->n);
    compare->last_length = value->n;
  }
  return true;
}

/* ---- the statements ---------------------------------------------------------------------------------------------- */

const char *compare_recompute_sql(Arena *arena, const ShapeSql *sql, const Job *job) {
  const char *inner = job->recompute;
  if (inner == NULL)
    inner = shape_range(arena, sql, job->id != NULL ? shape_object(arena, job->id, "shadow") : sql->table);
  const char *columns = shape_list(arena, sql->shape, sql->given, sql->n_given, "", "");
  if (job->n_row_checks == 0 || job->fingerprint_only)
    return sql_fill(arena, sql_compare_recompute, "columns", columns, "recompute", inner, NULL);
  BUF_SCOPED checks = {0};
  for (size_t i = 0; i < job->n_row_checks; i++) buf_printf(&checks, ", (%s\n)", job->row_checks[i]);
  return sql_fill(arena, sql_compare_recompute_checked, "columns", columns, "checks", buf_text(&checks), "recompute",
                  inner, NULL);
}

bool compare_overlay_begin(SqliteEngine *engine, Arena *arena, const ShapeSql *sql, const Job *job, Error *err) {
  return compare_overlay_end(engine, arena, sql, err) &&
         sql_run(engine,
                 sql_fill(arena, sql_compare_overlay_create, "name", sql_ident(arena, sql->shape->table), "overlay",
                          shape_overlay(arena, sql, job->id, job->dates[0]), NULL),
                 "laying the changes over production", err);
}

bool compare_overlay_end(SqliteEngine *engine, Arena *arena, const ShapeSql *sql, Error *err) {
  return sql_run(engine, sql_fill(arena, sql_compare_overlay_drop, "name", sql_ident(arena, sql->shape->table), NULL),
                 "taking the overlay away", err);
}

static const char *join_sql(Compare *compare) {
  Arena *arena = compare->arena;
  const ShapeSql *sql = &compare->sql;
  BUF_SCOPED names = {0}, given = {0};
  buf_puts(&names, shape_list(arena, sql->shape, sql->given, sql->n_given, "", ""));
  buf_puts(&given, shape_list(arena, sql->shape, sql->given, sql->n_given, "s.", ""));
  for (size_t i = 0; i < compare->job->n_row_checks && !compare->job->fingerprint_only; i++) {
    buf_printf(&names, ", \"tidegate_check_%zu\"", i);
    buf_printf(&given, ", s.\"tidegate_check_%zu\"", i);
  }
  return sql_fill(arena, sql_compare_join, "names", buf_text(&names), "recompute",
                  compare_recompute_sql(arena, sql, compare->job), "given", buf_text(&given), "present", sql->present,
                  "stored", shape_list(arena, sql->shape, sql->stored, sql->n_stored, "p.", ""), "target", sql->table,
                  "match", shape_key_match(arena, sql, "p.", "", "s.", ""), NULL);
}

const char *compare_production_sql(Arena *arena, const ShapeSql *sql, const char *columns) {
  return sql_fill(arena, sql_compare_production, "columns", columns, "target", sql->table, "date", sql->date, NULL);
}

/* ---- one row ----------------------------------------------------------------------------------------------------- */

static bool put(Compare *compare, char op, size_t date, const Value *old_row, const Value *new_row, Error *err) {
  compare->changes++;
  if (compare->sink == NULL) return true;
  return compare->sink->put(compare->sink->context, op, compare->job->dates[date], old_row, new_row, err);
}

static void count_new(Compare *compare, size_t date, RowHash hash) {
  fingerprint_add(&compare->dates[date].recomputed, hash);
  fingerprint_add(&compare->dates[date].stable,
                  compare->tolerant ? compare_row_hash(compare, compare->new_row, false, true) : hash);
}

static bool new_key(Compare *compare, size_t date, Error *err) {
  if (!keyset_add(&compare->new_keys, key_hash(compare, compare->new_row, false)))
    compare_find(compare, FINDING_DUPLICATE_KEY, 0, NULL, compare->new_row, -1);
  compare->dates[date].inserts++;
  count_new(compare, date, compare_row_hash(compare, compare->new_row, false, false));
  return compare_scope_judge(compare, 'I', NULL, compare->new_row, NULL, err) &&
         put(compare, 'I', date, NULL, compare->new_row, err);
}

/* Marks what differs; a value within its tolerance becomes production's own, because that is what stays. */
static bool differs(Compare *compare, bool *changed) {
  bool any = false;
  for (size_t i = 0; i < compare->sql.n_given; i++) {
    const Value *old_value = &compare->old_row[compare->stored_of_given[i]];
    double tolerance = compare->job->shape->columns[compare->sql.given[i]].tolerance;
    changed[i] = !value_equal(old_value, &compare->new_row[i], tolerance);
    if (!changed[i] && tolerance > 0) {
      values_release(&compare->new_row[i], 1);
      compare->new_row[i] = *old_value;
      compare->new_row[i].owned = NULL;
    }
    any |= changed[i];
  }
  return any;
}

static bool same_key(Compare *compare, size_t date, bool *changed, Error *err) {
  DateFacts *facts = &compare->dates[date];
  if (!keyset_add(&compare->old_keys, key_hash(compare, compare->old_row, true))) {
    compare_find(compare, FINDING_DUPLICATE_KEY, 0, compare->old_row, compare->new_row, -1);
    return true;
  }
  bool any = differs(compare, changed);
  RowHash hash = compare_row_hash(compare, compare->new_row, false, false);
  count_new(compare, date, hash);
  size_t old_date = date;
  Instant old_instant = compare->job->dates[date];
  if (any) {
    const Value *value = NULL;
    for (size_t i = 0; i < compare->sql.n_stored; i++)
      if (compare->sql.stored[i] == compare->job->shape->date) value = &compare->old_row[i];
    if (!value_date(&compare->job->shape->codec, value, &old_instant)) old_instant = INT64_MIN;
    old_date = old_instant == compare->job->dates[date] ? date : compare_date_index(compare, old_instant);
  }
  if (old_date < compare->job->n) {
    compare->matched[old_date]++;
    fingerprint_add(&compare->dates[old_date].production,
                    any ? compare_row_hash(compare, compare->old_row, true, false) : hash);
  }
  if (!any) return true;
  if (old_instant < compare->job->range.from || old_instant >= compare->job->range.to)
    compare_find(compare, FINDING_KEY_OUTSIDE, 0, compare->old_row, compare->new_row,
                 (ptrdiff_t)compare->job->shape->date);
  char op = old_instant == compare->job->dates[date] ? 'U' : 'M';
  if (op == 'U') {
    facts->updates++;
  } else {
    facts->moves_in++;
    if (old_date < compare->job->n) compare->dates[old_date].moves_out++;
  }
  for (size_t i = 0; i < compare->sql.n_given; i++) compare->column_changes[compare->sql.given[i]] += changed[i];
  return compare_scope_judge(compare, op, compare->old_row, compare->new_row, changed, err) &&
         put(compare, op, date, compare->old_row, compare->new_row, err);
}

static void read_values(sqlite3_stmt *stmt, size_t first, const ShapeSql *sql, const size_t *columns, size_t n,
                        Value *row) {
  for (size_t i = 0; i < n; i++) value_read(stmt, (int)(first + i), sql->affinity[columns[i]], &row[i]);
}

static bool stream(Compare *compare, Error *err) {
  const ShapeSql *sql = &compare->sql;
  STMT_SCOPED stmt = {0};
  size_t checks = compare->job->fingerprint_only ? 0 : compare->job->n_row_checks;
  size_t at_present = sql->n_given + checks;
  bool *changed = arena_array(compare->arena, sql->n_given, sizeof *changed);
  if (!sql_prepare(compare->engine, join_sql(compare), &stmt, "recomputing", err)) return false;
  sql_bind_range(&stmt, &compare->job->shape->codec,
                 (DateRange){compare->job->dates[0], compare->job->dates[compare->job->n]});
  for (bool row, ok = true; ok;) {
    size_t date;
    if (!sql_step(compare->engine, &stmt, &row, "recomputing", err)) return false;
    if (!row) break;
    compare->rows++;
    read_values(stmt.handle, 0, sql, sql->given, sql->n_given, compare->new_row);
    if (compare_new_row(compare, stmt.handle, sql->n_given, &date)) {
      if (sqlite3_column_type(stmt.handle, (int)at_present) == SQLITE_NULL) {
        ok = new_key(compare, date, err);
      } else {
        read_values(stmt.handle, at_present + 1, sql, sql->stored, sql->n_stored, compare->old_row);
        ok = same_key(compare, date, changed, err);
        values_release(compare->old_row, sql->n_stored);
      }
    }
    values_release(compare->new_row, sql->n_given);
    if (!ok) return false;
  }
  return true;
}

/* ---- what the recompute did not meet ----------------------------------------------------------------------------- */

static bool count_present(Compare *compare, Error *err) {
  STMT_SCOPED stmt = {0};
  const ShapeSql *sql = &compare->sql;
  const char *text = compare_production_sql(compare->arena, sql, arena_printf(compare->arena, "p.%s", sql->date));
  if (!sql_prepare(compare->engine, text, &stmt, "counting production's rows", err)) return false;
  sql_bind_range(&stmt, &compare->job->shape->codec,
                 (DateRange){compare->job->dates[0], compare->job->dates[compare->job->n]});
  for (bool row;;) {
    if (!sql_step(compare->engine, &stmt, &row, "counting production's rows", err)) return false;
    if (!row) return true;
    Value value;
    size_t at;
    value_read(stmt.handle, 0, sql->affinity[compare->job->shape->date], &value);
    if (compare_date_of(compare, &value, &at) && at < compare->job->n) compare->present[at]++;
    values_release(&value, 1);
  }
}

static bool vanished(Compare *compare, size_t date, Error *err) {
  STMT_SCOPED stmt = {0};
  const ShapeSql *sql = &compare->sql;
  const char *text = compare_production_sql(
      compare->arena, sql, shape_list(compare->arena, sql->shape, sql->stored, sql->n_stored, "p.", ""));
  if (!sql_prepare(compare->engine, text, &stmt, "looking for keys that vanish", err)) return false;
  sql_bind_range(&stmt, &compare->job->shape->codec,
                 (DateRange){compare->job->dates[date], compare->job->dates[date + 1]});
  for (bool row, ok = true; ok;) {
    if (!sql_step(compare->engine, &stmt, &row, "looking for keys that vanish", err)) return false;
    if (!row) return true;
    read_values(stmt.handle, 0, sql, sql->stored, sql->n_stored, compare->old_row);
    if (!keyset_has(&compare->old_keys, key_hash(compare, compare->old_row, true))) {
      fingerprint_add(&compare->dates[date].production, compare_row_hash(compare, compare->old_row, true, false));
      compare->dates[date].deletes++;
      ok = compare_scope_judge(compare, 'D', compare->old_row, NULL, NULL, err) &&
           put(compare, 'D', date, compare->old_row, NULL, err);
    }
    values_release(compare->old_row, sql->n_stored);
  }
  return false;
}

static bool compare_keyed(Compare *compare, Error *err) {
  if (!compare_scope_prepare(compare, err) || !count_present(compare, err)) return false;
  size_t present = 0;
  for (size_t i = 0; i < compare->job->n; i++) present += (size_t)compare->present[i];
  keyset_reserve(&compare->old_keys, present);
  if (!stream(compare, err)) return false;
  for (size_t i = 0; i < compare->job->n; i++)
    if (compare->present[i] > compare->matched[i] && !vanished(compare, i, err)) return false;
  return true;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void compare_release(Compare *compare) {
  keyset_release(&compare->old_keys);
  keyset_release(&compare->new_keys);
  buf_release(&compare->bytes);
  stmt_finalize(&compare->scope);
}

static bool compare_init(Compare *compare, Error *err) {
  const Job *job = compare->job;
  if (!shape_sql(compare->engine, compare->arena, job->shape, &compare->sql, err)) return false;
  compare->dates = arena_array(compare->arena, job->n, sizeof *compare->dates);
  for (size_t i = 0; i < job->n; i++) compare->dates[i].date = job->dates[i];
  compare->matched = arena_array(compare->arena, job->n, sizeof *compare->matched);
  compare->present = arena_array(compare->arena, job->n, sizeof *compare->present);
  compare->new_row = arena_array(compare->arena, compare->sql.n_given, sizeof(Value));
  compare->old_row = arena_array(compare->arena, compare->sql.n_stored, sizeof(Value));
  compare->column_changes = arena_array(compare->arena, job->shape->n, sizeof *compare->column_changes);
  compare->stored_of_given = arena_array(compare->arena, compare->sql.n_given, sizeof(size_t));
  for (size_t i = 0; i < compare->sql.n_given; i++)
    for (size_t k = 0; k < compare->sql.n_stored; k++)
      if (compare->sql.stored[k] == compare->sql.given[i]) compare->stored_of_given[i] = k;
  compare->key_in_given = arena_array(compare->arena, compare->sql.n_key, sizeof(size_t));
  compare->key_in_stored = arena_array(compare->arena, compare->sql.n_key, sizeof(size_t));
  for (size_t k = 0; k < compare->sql.n_key; k++) {
    for (size_t i = 0; i < compare->sql.n_given; i++)
      if (compare->sql.given[i] == compare->sql.key[k]) compare->key_in_given[k] = i;
    for (size_t i = 0; i < compare->sql.n_stored; i++)
      if (compare->sql.stored[i] == compare->sql.key[k]) compare->key_in_stored[k] = i;
  }
  compare->integer_key = compare->sql.n_key == 1;
  for (size_t i = 0; i < compare->sql.n_given; i++)
    compare->tolerant |= job->shape->columns[compare->sql.given[i]].tolerance > 0;
  sqlite_use_codec(compare->engine, &job->shape->codec);
  return true;
}

/* One read snapshot for all statements, unless a transaction is open already. */
static bool in_snapshot(Compare *compare, const char **ret_token, Error *err) {
  bool own = sqlite3_get_autocommit(compare->engine->db);
  if (own && !sql_run(compare->engine, sql_session_begin, "reading", err)) return false;
  bool ok = sql_run(compare->engine, sql_session_look, "reading", err) &&
            compare->engine->base.ops->change_token(&compare->engine->base, compare->arena, ret_token, err) &&
            (compare->job->shape->keyed ? compare_keyed(compare, err) : compare_keyless(compare, err));
  if (own) {
    Error ignored;
    if (!sql_run(compare->engine, sql_session_commit, "reading", ok ? err : &ignored)) ok = false;
  }
  return ok;
}

bool compare_run(SqliteEngine *engine, Arena *arena, const Job *job, const CompareSink *sink, BatchFacts *ret,
                 Error *err) {
  Compare compare = {.engine = engine, .arena = arena, .job = job, .sink = sink};
  const char *token = NULL;
  if (!compare_init(&compare, err)) return false;
  bool overlay = job->overlay && job->id != NULL; /* nothing is written yet while planning */
  if (overlay && !compare_overlay_begin(engine, arena, &compare.sql, job, err)) return false;
  bool ok = in_snapshot(&compare, &token, err);
  compare_release(&compare);
  if (overlay) {
    Error ignored;
    if (!compare_overlay_end(engine, arena, &compare.sql, ok ? err : &ignored)) ok = false;
  }
  if (!ok) return false;
  *ret = (BatchFacts){.dates = compare.dates,
                      .n = job->n,
                      .findings = compare.findings,
                      .n_findings = compare.n_findings,
                      .column_changes = compare.column_changes,
                      .rows = compare.rows,
                      .changes = compare.changes,
                      .token = token};
  return true;
}
