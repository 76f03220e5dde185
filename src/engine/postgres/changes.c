#include <inttypes.h>

#include "engine/postgres/exchange.h"
#include "engine/postgres/postgres_sql.h"
#include "engine/postgres/way.h"

/* ---- production's fingerprint ----------------------------------------------------------------------------------- */

static bool whole_fingerprint(PgEngine *engine, Arena *arena, const ShapeSql *sql, const char *hash, DateFacts *ret,
                              Error *err) {
  PG_SCOPED row = NULL;
  const char *text = sql_fill(arena, sql_changes_fingerprint_whole, "hash", hash, "target", sql->table, NULL);
  if (!pg_query(engine, text, NULL, 0, &row, "fingerprinting production", err)) return false;
  *ret = (DateFacts){.production = shape_fingerprint(pg_int(row, 0, 0), pg_peek(row, 0, 1))};
  return true;
}

bool fingerprint_of(PgEngine *engine, Arena *arena, const ShapeSql *sql, const char *table, DateRange range,
                    const DateFacts **ret, size_t *ret_n, Error *err) {
  ARENA_SCOPED scratch = {0};
  PG_SCOPED rows = NULL;
  size_t n_dates, n = 0;
  const char *hash = shape_hash(&scratch, sql, sql->given, sql->n_given, "p.", "");
  const Instant *dates = shape_dates(&scratch, &sql->shape->codec, range, &n_dates);
  const char *date = arena_printf(&scratch, "p.%s", sql->date);
  const char *text =
      sql_fill(&scratch, sql_changes_fingerprint_dates, "place", shape_date_place(&scratch, sql, date, dates, n_dates),
               "hash", hash, "target", table, "where", shape_in_range(&scratch, sql, "p.", range), NULL);
  if (!pg_query(engine, text, NULL, 0, &rows, "fingerprinting production", err)) return false;
  DateFacts *facts = arena_array(arena, (size_t)PQntuples(rows), sizeof *facts);
  for (int i = 0; i < PQntuples(rows); i++) {
    int64_t place = pg_int(rows, i, 0); /* 0 for NULL: a text in the range that is no date */
    if (place < 1 || place > (int64_t)n_dates) continue;
    facts[n++] =
        (DateFacts){.date = dates[place - 1], .production = shape_fingerprint(pg_int(rows, i, 1), pg_peek(rows, i, 2))};
  }
  *ret = facts;
  *ret_n = n;
  return true;
}

bool pg_fingerprint(Engine *base, Arena *arena, const Shape *shape, DateRange range, const DateFacts **ret,
                    size_t *ret_n, Error *err) {
  PgEngine *engine = pg_engine(base);
  ARENA_SCOPED scratch = {0};
  ShapeSql sql;
  if (!pg_shape_sql(engine, &scratch, shape, &sql, err)) return false;
  if (range.from != range.to) return fingerprint_of(engine, arena, &sql, sql.table, range, ret, ret_n, err);
  DateFacts *whole = arena_alloc(arena, sizeof *whole);
  *ret = whole;
  *ret_n = 1;
  return whole_fingerprint(engine, &scratch, &sql, shape_hash(&scratch, &sql, sql.given, sql.n_given, "p.", ""), whole,
                           err);
}

/* ---- the change set --------------------------------------------------------------------------------------------- */

bool pg_check_total(Engine *base, const Job *job, const char *expression, DateRange range, bool *ret_true, Error *err) {
  PgEngine *engine = pg_engine(base);
  ARENA_SCOPED arena = {0};
  PG_SCOPED row = NULL;
  ShapeSql sql;
  if (!pg_shape_sql(engine, &arena, job->shape, &sql, err)) return false;
  const char *rows = job->id == NULL ? sql_fill(&arena, sql_changes_production, "target", sql.table, NULL)
                                     : sql_fill(&arena, sql_changes_overlay, "rows",
                                                pg_shape_overlay(engine, &arena, &sql, job->id, INSTANT_MAX), NULL);
  const char *text = sql_fill(&arena, sql_changes_total, "expression",
                              pg_parameters(&arena, expression, &job->shape->codec, sql.date_type, range), "rows", rows,
                              "where", shape_in_range(&arena, &sql, "r.", range), NULL);
  if (!pg_query(engine, text, NULL, 0, &row, "checking a total", err)) return false;
  *ret_true = PQntuples(row) > 0 && pg_bool(row, 0, 0);
  return true;
}

bool pg_change_counts(Engine *base, const Shape *shape, const char *id, ChangeCounts *ret, Error *err) {
  return pg_way(shape)->counts(pg_engine(base), id, ret, err);
}

bool changes_counts(PgEngine *engine, const char *id, ChangeCounts *ret, Error *err) {
  ARENA_SCOPED arena = {0};
  PG_SCOPED rows = NULL;
  ChangeCounts counts = {0};
  const char *text = sql_fill(&arena, sql_changes_counts, "changes", pg_object(engine, &arena, id, "changes"), NULL);
  if (!pg_query(engine, text, NULL, 0, &rows, "counting the change set", err)) return false;
  for (int i = 0; i < PQntuples(rows); i++) {
    int64_t n = pg_int(rows, i, 1);
    switch (pg_peek(rows, i, 0)[0]) {
      case 'I':
        counts.inserts = n;
        break;
      case 'U':
        counts.updates = n;
        break;
      case 'D':
        counts.deletes = n;
        break;
      default:
        counts.moves = n;
        break;
    }
  }
  *ret = counts;
  return true;
}

static const char *key_of(Arena *arena, const ShapeSql *sql, const ChangeRow *row) {
  BUF_SCOPED out = {0};
  const char *const *values = row->op == 'I' ? row->new_values : row->old_values;
  for (size_t i = 0; i < sql->n_key; i++)
    buf_printf(&out, "%s%s", i == 0 ? "" : ", ", values[sql->key[i]] == NULL ? "NULL" : values[sql->key[i]]);
  return arena_strdup(arena, buf_text(&out));
}

static ChangeRow read_change(Arena *arena, const ShapeSql *sql, const PGresult *rows, int at) {
  const Shape *shape = sql->shape;
  const char **old_values = arena_array(arena, shape->n, sizeof *old_values),
             **new_values = arena_array(arena, shape->n, sizeof *new_values);
  char label[32];
  grain_label(shape->codec.grain, shape->codec.zone, pg_int(rows, at, 1), label);
  ChangeRow row = {.op = pg_peek(rows, at, 0)[0],
                   .date = arena_strdup(arena, label),
                   .old_values = old_values,
                   .new_values = new_values};
  int column = 2;
  for (size_t i = 0; i < sql->n_stored; i++) old_values[sql->stored[i]] = pg_text(arena, rows, at, column++);
  for (size_t i = 0; i < sql->n_given; i++) new_values[sql->given[i]] = pg_text(arena, rows, at, column++);
  row.key = key_of(arena, sql, &row);
  return row;
}

/* The change's values as a person reads them. */
static const char *value_texts(Arena *arena, const ShapeSql *sql) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < sql->n_stored + sql->n_given; i++) {
    bool is_old = i < sql->n_stored;
    size_t column = is_old ? sql->stored[i] : sql->given[i - sql->n_stored];
    buf_printf(&out, "%s%s::text", i == 0 ? "" : ", ",
               pg_shape_list(arena, sql->shape, &column, 1, "c.", is_old ? "old_" : "new_"));
  }
  return arena_strdup(arena, buf_text(&out));
}

typedef struct ChangeList {
  PgEngine *engine;
  Arena *arena;
  ShapeSql sql;
  const char *id;
  ChangeRow *rows;
  size_t n, limit;
} ChangeList;

/* Adds the first changes of a date (0: of all, in the order of dates), as far as the limit goes. */
static bool add_changes(ChangeList *list, Instant date, Error *err) {
  PG_SCOPED result = NULL;
  Arena *arena = list->arena;
  const char *changes = pg_object(list->engine, arena, list->id, "changes");
  if (list->sql.shape->way != WAY_CHANGES && date != 0 &&
      !exchange_changes_of(list->engine, arena, &list->sql, list->id, date, &changes, err))
    return false;
  const char *text = sql_fill(arena, date == 0 ? sql_changes_rows : sql_changes_rows_of_date, "values",
                              value_texts(arena, &list->sql), "changes", changes, NULL);
  size_t most = list->limit - list->n;
  const char *const values[] = {arena_printf(arena, "%zu", most < INT32_MAX ? most : INT32_MAX),
                                arena_printf(arena, "%" PRId64, date)};
  if (!pg_query(list->engine, text, values, date == 0 ? 1 : 2, &result, "reading the change set", err)) return false;
  for (int i = 0; i < PQntuples(result); i++) {
    list->rows = arena_grow(arena, list->rows, list->n, sizeof *list->rows);
    list->rows[list->n++] = read_change(arena, &list->sql, result, i);
  }
  return true;
}

/* So few are looked for date by date: nothing need be sorted. */
enum { FEW_CHANGES = 1000 };

static bool add_first_changes(ChangeList *list, Error *err) {
  const DateRecord *dates;
  size_t n;
  if (list->limit > FEW_CHANGES) return add_changes(list, 0, err);
  if (!pg_ledger_dates(&list->engine->base, list->arena, list->id, &dates, &n, err)) return false;
  for (size_t i = 0; i < n && list->n < list->limit; i++)
    if (dates[i].inserts + dates[i].updates + dates[i].deletes + dates[i].moves_in > 0 &&
        !add_changes(list, dates[i].date, err))
      return false;
  return true;
}

bool pg_change_rows(Engine *base, Arena *arena, const Shape *shape, const char *id, Instant date, size_t limit,
                    const ChangeRow **ret, size_t *ret_n, Error *err) {
  ChangeList list = {.engine = pg_engine(base), .arena = arena, .id = id, .limit = limit};
  if (!pg_shape_sql(list.engine, arena, shape, &list.sql, err) ||
      !(date == 0 ? add_first_changes(&list, err) : add_changes(&list, date, err)))
    return false;
  *ret = list.rows;
  *ret_n = list.n;
  return true;
}

bool pg_change_duplicates(Engine *base, const Shape *shape, const char *id, int64_t *ret, Error *err) {
  PgEngine *engine = pg_engine(base);
  ARENA_SCOPED arena = {0};
  BUF_SCOPED key = {0};
  ShapeSql sql;
  *ret = 0;
  if (!shape->keyed || shape->way == WAY_EXCHANGE) return true; /* an exchanged partition's own key sees to it */
  if (shape->way == WAY_REPLACE) { /* only new keys can stand on two dates: others would have moved */
    ChangeCounts counts;
    if (!exchange_counts(engine, id, &counts, err)) return false;
    if (counts.inserts == 0) return true;
  }
  if (!pg_shape_sql(engine, &arena, shape, &sql, err)) return false;
  for (size_t i = 0; i < sql.n_key; i++)
    buf_printf(&key, "%sCASE WHEN c.op = 'D' THEN %s ELSE %s END", i == 0 ? "" : ", ",
               pg_shape_list(&arena, shape, &sql.key[i], 1, "c.", "old_"),
               pg_shape_list(&arena, shape, &sql.key[i], 1, "c.", "new_"));
  const char *text = sql_fill(&arena, sql_changes_duplicates, "changes", pg_object(engine, &arena, id, "changes"),
                              "key", buf_text(&key), NULL);
  return pg_number(engine, text, NULL, 0, ret, "looking for keys that several changes write", err);
}
