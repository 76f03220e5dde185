#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/postgres/exchange.h"
#include "engine/postgres/postgres_sql.h"
#include "engine/postgres/way.h"

/*
 * Publishing by replacing every row of the range. One replacement, filled like those of an exchange, holds the new
 * rows; "kept" the old ones, copied batch by batch. Both stand until finish: the change set is a view of the two, and
 * by it a swap is taken back row by row, with every later write told by its key.
 */

static const char making[] = "making a replacement", keeping[] = "keeping the old rows",
                  replacing[] = "replacing the range";

/* ---- can it be done? ----------------------------------------------------------------------------------------------
 */

static const char *shape_reason(const ShapeSql *sql) {
  const Shape *shape = sql->shape;
  if (!shape->keyed) return "it has no key";
  if (sql->n_rest > 0) return "the recompute does not give every column";
  if (shape_may_be_no_date(sql)) return "its dates are texts or digits, which need not be dates";
  for (size_t i = 0; i < shape->n; i++) {
    if (shape->columns[i].tolerance > 0) return "a tolerance keeps old values";
    if (shape->columns[i].key && !shape->columns[i].not_null) return "its key may hold NULL";
  }
  return NULL;
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* '{"a","b"}' of the key's columns, sorted. */
static const char *key_array(Arena *arena, const ShapeSql *sql) {
  BUF_SCOPED out = {0};
  const char **names = arena_array(arena, sql->n_key, sizeof *names);
  for (size_t i = 0; i < sql->n_key; i++) names[i] = sql->shape->columns[sql->key[i]].name;
  qsort(names, sql->n_key, sizeof *names, by_name);
  buf_puts(&out, "{");
  for (size_t i = 0; i < sql->n_key; i++) {
    buf_puts(&out, i == 0 ? "\"" : ",\"");
    for (const char *c = names[i]; *c != '\0'; c++) {
      if (*c == '"' || *c == '\\') buf_puts(&out, "\\");
      buf_append(&out, c, 1);
    }
    buf_puts(&out, "\"");
  }
  buf_puts(&out, "}");
  return arena_strdup(arena, buf_text(&out));
}

bool pg_replace_facts(Engine *base, Arena *arena, const Shape *shape, bool skip_triggers, const char **ret_why_not,
                      Error *err) {
  PgEngine *engine = pg_engine(base);
  ShapeSql sql;
  PG_SCOPED rows = NULL;
  if (!pg_shape_sql(engine, arena, shape, &sql, err)) return false;
  bool schemas = PQserverVersion(engine->conn) >= 150000;
  const char *text =
      sql_fill(arena, sql_replace_why_not, "published", schemas ? sql_replace_published_schema : "", NULL);
  const char *values[] = {shape->table, key_array(arena, &sql), skip_triggers ? "true" : "false"};
  if (!pg_query(engine, text, values, 3, &rows, "looking whether rows can be replaced", err)) return false;
  const char *reason = shape_reason(&sql);
  *ret_why_not = reason != NULL ? reason : pg_text(arena, rows, 0, 0);
  return true;
}

/* ---- batches ------------------------------------------------------------------------------------------------------
 */

bool replace_create(EngineWriter *writer, Arena *arena, const ShapeSql *sql, Error *err) {
  PgEngine *engine = writer->engine;
  ExchangePart part = {.nth = 1,
                       .partition = sql->table,
                       .replacement = exchange_replacement(engine, arena, writer->id, 1),
                       .lower = "",
                       .upper = "",
                       .kept = pg_object(engine, arena, writer->id, "kept"),
                       .sealed = true}; /* for the views: who publishes need not own them */
  if (!exchange_range(engine, sql->shape, writer->id, &part.range, err)) return false;
  const char *tablespace =
      engine->tablespace == NULL ? "" : arena_printf(arena, " TABLESPACE %s", sql_ident(arena, engine->tablespace));
  const char *create =
      sql_fill(arena, sql_replace_create, "replacement", part.replacement, "target", sql->table, "compression",
               PQserverVersion(engine->conn) >= 140000 ? " INCLUDING COMPRESSION" : "", "tablespace", tablespace, NULL);
  return pg_run(engine, create, NULL, 0, NULL, making, err) && exchange_note_part(writer, arena, sql, &part, err) &&
         writer_copy(writer, arena, sql, "", part.kept, "partition", err) &&
         exchange_note_views(writer, arena, sql, &part, 1, err);
}

/* The one place, with what the ledger knows of it. */
static bool read_part(PgEngine *engine, Arena *arena, const char *id, ExchangePart *ret, Error *err) {
  ExchangePart *parts;
  size_t n;
  if (!exchange_parts(engine, arena, id, &parts, &n, err)) return false;
  if (n != 1 || parts[0].kept == NULL)
    return error_set(err, ERR_INTERNAL, "backfill %s has not the one replacement that it should have", id);
  *ret = parts[0];
  return true;
}

/* Copies the old rows in the snapshot in which the batch found them: they are what its fingerprints of production say.
 */
bool replace_compute(EngineWriter *writer, Arena *arena, const ShapeSql *sql, const Job *job, BatchFacts *ret,
                     Error *err) {
  PgEngine *engine = writer->engine;
  ExchangePart part = {0};
  int64_t kept;
  if (!read_part(engine, arena, writer->id, &part, err)) return false;
  DateRange range = {job->dates[0], job->dates[job->n]};
  const char *keep = sql_fill(arena, sql_replace_keep, "kept", part.kept, "stored",
                              pg_shape_list(arena, sql->shape, sql->stored, sql->n_stored, "", ""), "target",
                              sql->table, "in_range", shape_in_range(arena, sql, "", range), NULL);
  return pg_run(engine, keep, NULL, 0, &kept, keeping, err) &&
         exchange_compute_beside(writer, arena, sql, job, kept, ret, err);
}

bool replace_forget(EngineWriter *writer, Arena *arena, const ShapeSql *sql, DateRange range, Error *err) {
  PgEngine *engine = writer->engine;
  ExchangePart part = {0};
  if (!exchange_forget(writer, arena, sql, range, err) || !read_part(engine, arena, writer->id, &part, err))
    return false;
  const char *forget =
      sql_fill(arena, sql_replace_forget, "kept", part.kept, "in_range", shape_in_range(arena, sql, "", range), NULL);
  return pg_run(engine, forget, NULL, 0, NULL, "taking an earlier attempt away", err);
}

/* ---- the seal -----------------------------------------------------------------------------------------------------
 */

/* Are all the rows there that the batches found? */
static bool all_kept(PgEngine *engine, Arena *arena, const char *id, const ExchangePart *part, bool *ret, Error *err) {
  const DateRecord *dates;
  size_t n;
  int64_t kept, found = 0;
  if (!pg_ledger_dates(&engine->base, arena, id, &dates, &n, err) ||
      !pg_number(engine, sql_fill(arena, sql_replace_kept, "kept", part->kept, NULL), NULL, 0, &kept, keeping, err))
    return false;
  for (size_t i = 0; i < n; i++) found += dates[i].production.rows;
  *ret = kept == found;
  return true;
}

/* A key that stands on another date would be a move, which only the change set knows; on a date outside the range it
 * would stand there twice. */
static bool none_moved(PgEngine *engine, Arena *arena, const ShapeSql *sql, const char *id, const ExchangePart *part,
                       Error *err) {
  ChangeCounts counts;
  int64_t moved;
  if (!exchange_counts(engine, id, &counts, err)) return false;
  if (counts.inserts == 0 || sql->shape->columns[sql->shape->date].key) return true;
  const char *new_date = arena_printf(arena, "s.%s", sql->date), *old_date = arena_printf(arena, "p.%s", sql->date);
  const char *text = sql_fill(arena, sql_replace_moved, "replacement", part->replacement, "target", sql->table, "match",
                              pg_shape_key_match(arena, sql, "s.", "", "p.", ""), "new_date", new_date, "old_date",
                              old_date, "new_instant", shape_instant(arena, sql, new_date), "old_instant",
                              shape_instant(arena, sql, old_date), NULL);
  if (!pg_number(engine, text, NULL, 0, &moved, "looking for keys that move", err)) return false;
  if (moved == 0) return true;
  error_set(err, ERR_HELD,
            "%" PRId64
            " new rows have a key that stands on another date of %s: rows that move cannot be published by "
            "replacing the range",
            moved, sql->shape->table);
  return error_hint(err, "production is untouched. Give `publish: changes`, and plan again");
}

bool replace_seal(EngineWriter *writer, Arena *arena, const ShapeSql *sql, Error *err) {
  PgEngine *engine = writer->engine;
  ExchangePart part = {0};
  bool same;
  const char *id = writer->id;
  if (!read_part(engine, arena, id, &part, err)) return false;
  if (!all_kept(engine, arena, id, &part, &same, err) || !none_moved(engine, arena, sql, id, &part, err)) return false;
  return !same || pg_run(engine, sql_fill(arena, sql_exchange_sealed, "ledger", pg_schema(engine, arena), NULL), &id, 1,
                         NULL, "sealing the replacement", err);
}

/* ---- forth and back -----------------------------------------------------------------------------------------------
 */

static bool mark(EngineWriter *writer, Arena *arena, bool swapped, Error *err) {
  const char *values[] = {writer->id, swapped ? "true" : "false"};
  return pg_run(writer->engine, sql_fill(arena, sql_exchange_swapped, "ledger", pg_schema(writer->engine, arena), NULL),
                values, 2, NULL, replacing, err);
}

static bool exactly(int64_t found, int64_t expected, const char *what, Error *err) {
  return found == expected ||
         error_set(err, ERR_DRIFT, "%" PRId64 " rows were %s instead of %" PRId64, found, what, expected);
}

static bool replace_rows(EngineWriter *writer, Arena *arena, const ShapeSql *sql, const ExchangePart *part,
                         Error *err) {
  PgEngine *engine = writer->engine;
  const DateRecord *dates;
  size_t n;
  int64_t deleted, inserted, old_rows = 0, new_rows = 0;
  const char *in_range = shape_in_range(arena, sql, "", part->range);
  const char *given = pg_shape_list(arena, sql->shape, sql->given, sql->n_given, "", "");
  if (!pg_ledger_dates(&engine->base, arena, writer->id, &dates, &n, err)) return false;
  for (size_t i = 0; i < n; i++) {
    old_rows += dates[i].production.rows;
    new_rows += dates[i].recomputed.rows;
  }
  return pg_run(engine, sql_fill(arena, sql_replace_delete, "target", sql->table, "in_range", in_range, NULL), NULL, 0,
                &deleted, replacing, err) &&
         exactly(deleted, old_rows, "deleted", err) &&
         pg_run(engine,
                sql_fill(arena, sql_replace_insert, "target", sql->table, "given", given, "replacement",
                         part->replacement, "in_range", in_range, NULL),
                NULL, 0, &inserted, replacing, err) &&
         exactly(inserted, new_rows, "inserted", err);
}

bool replace_apply(EngineWriter *writer, Arena *arena, const ShapeSql *sql, const bool *columns, ChangeCounts expected,
                   bool skip_triggers, Error *err) {
  PgEngine *engine = writer->engine;
  ExchangePart part = {0};
  ChangeCounts counts;
  const char *back, *why;
  const Publish publish = {engine, arena, sql, pg_object(engine, arena, writer->id, "changes")};
  if (!read_part(engine, arena, writer->id, &part, err) || !exchange_counts(engine, writer->id, &counts, err) ||
      !pg_replace_facts(&engine->base, arena, sql->shape, skip_triggers, &why, err))
    return false;
  if (why != NULL)
    return error_set(err, ERR_HELD, "the range of %s cannot be replaced any more: %s", sql->shape->table, why);
  if (!part.sealed || counts.inserts != expected.inserts || counts.updates != expected.updates ||
      counts.deletes != expected.deletes)
    return error_set(err, ERR_DRIFT, "the replacement, or the kept rows, are not what was sealed");
  if (part.swapped != NULL) return error_set(err, ERR_STATE, "the range of %s was replaced already", sql->shape->table);
  return pg_publish_open(&publish, skip_triggers, &back, err) && replace_rows(writer, arena, sql, &part, err) &&
         pg_publish_close(&publish, back, err) && mark(writer, arena, true, err);
}

bool replace_revert(EngineWriter *writer, Arena *arena, const ShapeSql *sql, const bool *columns, LaterRows later,
                    bool skip_triggers, int64_t *ret_left, Error *err) {
  static const char doing[] = "reading the change set";
  PgEngine *engine = writer->engine;
  ExchangePart part = {0};
  const char *both =
      arena_printf(arena, "%s, %s", pg_shape_list(arena, sql->shape, sql->stored, sql->n_stored, "", "old_"),
                   pg_shape_list(arena, sql->shape, sql->given, sql->n_given, "", "new_"));
  const char *make = sql_fill(arena, sql_replace_changes, "columns", both, "changes",
                              pg_object(engine, arena, writer->id, "changes"), NULL);
  return read_part(engine, arena, writer->id, &part, err) && pg_run(engine, make, NULL, 0, NULL, doing, err) &&
         pg_run(engine, sql_replace_analyze, NULL, 0, NULL, doing, err) &&
         changes_revert_from(writer, arena, sql, "pg_temp.tidegate_back", columns, later, skip_triggers, ret_left,
                             err) &&
         mark(writer, arena, false, err);
}
