#include <inttypes.h>

#include "engine/postgres/ledger_int.h"
#include "engine/postgres/postgres_sql.h"

/* What batches write to the ledger: findings, objects, done marks. */

/* ---- array parameters ------------------------------------------------------------------------------------------- */

static const char *array_end(Arena *arena, Buf *out) {
  buf_putc(out, '}');
  return arena_strndup(arena, buf_text(out), out->len);
}

const char *pg_ledger_ints(Arena *arena, const int64_t *first, size_t n, size_t stride) {
  BUF_SCOPED out = {0};
  const char *at = (const char *)first;
  buf_putc(&out, '{');
  for (size_t i = 0; i < n; i++) buf_printf(&out, "%s%" PRId64, i == 0 ? "" : ",", *(const int64_t *)(at + i * stride));
  return array_end(arena, &out);
}

const char *pg_ledger_texts(Arena *arena, const char *const *first, size_t n, size_t stride) {
  BUF_SCOPED out = {0};
  const char *at = (const char *)first;
  buf_putc(&out, '{');
  for (size_t i = 0; i < n; i++) {
    const char *text = *(const char *const *)(at + i * stride);
    if (i > 0) buf_putc(&out, ',');
    if (text == NULL) {
      buf_puts(&out, "NULL");
      continue;
    }
    buf_putc(&out, '"');
    for (; *text != '\0'; text++) {
      if (*text == '"' || *text == '\\') buf_putc(&out, '\\');
      buf_putc(&out, *text);
    }
    buf_putc(&out, '"');
  }
  return array_end(arena, &out);
}

const char *pg_ledger_fingerprints(Arena *arena, const Fingerprint *first, size_t n, size_t stride) {
  BUF_SCOPED out = {0};
  const char *at = (const char *)first;
  char text[FINGERPRINT_TEXT];
  buf_putc(&out, '{');
  for (size_t i = 0; i < n; i++) {
    fingerprint_text((const Fingerprint *)(at + i * stride), text);
    buf_printf(&out, "%s%s", i == 0 ? "" : ",", text);
  }
  return array_end(arena, &out);
}

/* ---- findings and objects --------------------------------------------------------------------------------------- */

static bool add_findings(PgEngine *engine, const char *id, const FindingRecord *findings, size_t n, Error *err) {
  if (n == 0) return true;
  ARENA_SCOPED arena = {0};
  enum { STRIDE = sizeof *findings };
  const char *const values[] = {id,
                                pg_ledger_ints(&arena, &findings->batch, n, STRIDE),
                                pg_ledger_texts(&arena, &findings->kind, n, STRIDE),
                                pg_ledger_texts(&arena, &findings->subject, n, STRIDE),
                                pg_ledger_texts(&arena, &findings->message, n, STRIDE),
                                pg_ledger_ints(&arena, &findings->count, n, STRIDE),
                                pg_ledger_texts(&arena, &findings->examples, n, STRIDE)};
  return pg_ledger_run(engine, sql_ledger_add_findings, values, sizeof values / sizeof *values, NULL,
                       "writing down what was found", err);
}

bool pg_ledger_add_findings(Engine *base, const char *id, const FindingRecord *findings, size_t n, Error *err) {
  static const char doing[] = "writing down what was found";
  PgEngine *engine = pg_engine(base);
  ARENA_SCOPED arena = {0};
  const char *state;
  bool own;
  if (!pg_begin(engine, false, &own, doing, err)) return false;
  bool ok = pg_ledger_state(engine, &arena, id, &state, err) && add_findings(engine, id, findings, n, err);
  return pg_end(engine, own, ok, doing, err);
}

bool pg_ledger_object_add(PgEngine *engine, const char *id, const ObjectRecord *object, Error *err) {
  const char *const values[] = {id, object->name, object->role, object->identity};
  return pg_ledger_run(engine, sql_ledger_object_add, values, 4, NULL, "writing down an object", err) &&
         pg_ledger_note(engine, id, NULL, "object made", object->name, err);
}

bool pg_ledger_object_dropped(PgEngine *engine, const char *id, const char *name, Error *err) {
  int64_t affected = 0;
  if (!pg_ledger_run(engine, sql_ledger_object_dropped, (const char *const[]){id, name}, 2, &affected,
                     "writing down that an object was dropped", err))
    return false;
  if (affected == 1) return pg_ledger_note(engine, id, NULL, "object dropped", name, err);
  return error_set(err, ERR_NOT_FOUND, "the ledger lists no object '%s' of backfill '%s' that still exists", name, id);
}

/* ---- done marks ------------------------------------------------------------------------------------------------- */

/* Column counts are kept by batch, not by date: those of a batch stay while one of its dates does, so a column that
 * changes is never missed; its count may be too high until then. Findings of batch `keep` stay. */
static bool forget(PgEngine *engine, const char *id, DateRange range, int64_t keep, Error *err) {
  static const char doing[] = "marking dates as not written";
  ARENA_SCOPED arena = {0};
  char nothing[FINGERPRINT_TEXT];
  fingerprint_text(&(Fingerprint){0}, nothing);
  const char *const dates[] = {id, pg_ledger_int(&arena, range.from), pg_ledger_int(&arena, range.to), nothing};
  const char *const findings[] = {id, pg_ledger_int(&arena, keep)};
  return pg_ledger_run(engine, sql_ledger_forget_dates, dates, 4, NULL, doing, err) &&
         pg_ledger_run(engine, sql_ledger_forget_columns, &id, 1, NULL, doing, err) &&
         pg_ledger_run(engine, sql_ledger_forget_findings, findings, 2, NULL, doing, err) &&
         pg_ledger_run(engine, sql_ledger_forget_batches, &id, 1, NULL, doing, err);
}

bool pg_ledger_forget(PgEngine *engine, const char *id, DateRange range, Error *err) {
  return forget(engine, id, range, 0, err);
}

static bool add_batch(PgEngine *engine, const char *id, const BatchRecord *batch, Error *err) {
  ARENA_SCOPED arena = {0};
  const char *const values[] = {id,
                                pg_ledger_int(&arena, batch->number),
                                pg_ledger_int(&arena, batch->from),
                                pg_ledger_int(&arena, batch->to),
                                pg_ledger_int(&arena, batch->attempt),
                                pg_ledger_int(&arena, batch->dates),
                                pg_ledger_int(&arena, batch->rows),
                                pg_ledger_int(&arena, batch->changes),
                                arena_printf(&arena, "%.17g", batch->seconds),
                                batch->token,
                                batch->log};
  return pg_ledger_run(engine, sql_ledger_batch_add, values, sizeof values / sizeof *values, NULL,
                       "writing down the batch", err);
}

static bool dates_done(PgEngine *engine, const char *id, int64_t batch, const BatchFacts *facts, Error *err) {
  if (facts->n == 0) return true;
  ARENA_SCOPED arena = {0};
  enum { STRIDE = sizeof *facts->dates };
  const DateFacts *dates = facts->dates;
  size_t n = facts->n;
  const char *const values[] = {id,
                                pg_ledger_int(&arena, batch),
                                pg_ledger_ints(&arena, &dates->date, n, STRIDE),
                                pg_ledger_fingerprints(&arena, &dates->production, n, STRIDE),
                                pg_ledger_fingerprints(&arena, &dates->recomputed, n, STRIDE),
                                pg_ledger_fingerprints(&arena, &dates->stable, n, STRIDE),
                                pg_ledger_ints(&arena, &dates->inserts, n, STRIDE),
                                pg_ledger_ints(&arena, &dates->updates, n, STRIDE),
                                pg_ledger_ints(&arena, &dates->deletes, n, STRIDE),
                                pg_ledger_ints(&arena, &dates->moves_in, n, STRIDE),
                                pg_ledger_ints(&arena, &dates->moves_out, n, STRIDE)};
  int64_t affected = 0;
  if (!pg_ledger_run(engine, sql_ledger_dates_done, values, sizeof values / sizeof *values, &affected,
                     "marking dates as written", err))
    return false;
  if (affected == (int64_t)n) return true;
  return error_set(err, ERR_STATE, "batch %" PRId64 " wrote %zu dates, but only %" PRId64 " are dates of backfill '%s'",
                   batch, n, affected, id);
}

static bool add_columns(PgEngine *engine, const char *id, int64_t batch, const int64_t *changes, const Shape *shape,
                        Error *err) {
  ARENA_SCOPED arena = {0};
  ColumnChange *changed = arena_array(&arena, shape->n, sizeof *changed);
  size_t n = 0;
  for (size_t i = 0; i < shape->n; i++)
    if (changes[i] != 0) changed[n++] = (ColumnChange){shape->columns[i].name, changes[i]};
  if (n == 0) return true;
  const char *const values[] = {id, pg_ledger_int(&arena, batch),
                                pg_ledger_texts(&arena, &changed->column, n, sizeof *changed),
                                pg_ledger_ints(&arena, &changed->rows, n, sizeof *changed)};
  return pg_ledger_run(engine, sql_ledger_columns_add, values, 4, NULL, "writing down the columns that change", err);
}

bool pg_ledger_batch_done(PgEngine *engine, const char *id, const BatchRecord *batch, const BatchFacts *facts,
                          const Shape *shape, Error *err) {
  return forget(engine, id, (DateRange){batch->from, batch->to}, batch->number, err) &&
         add_batch(engine, id, batch, err) && dates_done(engine, id, batch->number, facts, err) &&
         (facts->column_changes == NULL || add_columns(engine, id, batch->number, facts->column_changes, shape, err));
}
