#include <stdlib.h>
#include <string.h>

#include "engine/postgres/compare_int.h"
#include "engine/postgres/postgres_sql.h"

/*
 * One batch: the recompute is read once, joined to production's rows of the dates by key, and what differs is put into
 * the change set by the same statement, which also tells the recompute's count and fingerprint date by date. What is
 * read beside it sees the same snapshot. Production's own fingerprint need not be read: it is the recompute's, less the
 * new side of the differences, plus their old side. That it is so is held against a real count: a key that the
 * recompute gives twice would slip through otherwise.
 */

static const char recomputing[] = "recomputing", counting[] = "counting production's rows";

/* ---- reading facts
 * ------------------------------------------------------------------------------------------------------ */

bool compare_take_recomputed(Compare *compare, const char *place, const char *const *values, Error *err) {
  size_t n;
  const RowFact *facts = compare_row_facts(compare, "r", &n);
  const char *rows = arena_printf(compare->arena, "(%s)", compare->recomputed);
  int64_t count = strtoll(values[FACT_ROWS], NULL, 10);
  long at = place == NULL ? -1 : strtol(place, NULL, 10);
  compare->rows += count;
  const Job *job = compare->job;
  if (at < 0 && job->shape->null_dates) return true;
  if (at < 1 || at > (long)job->n) {
    FindingSource source = {
        .kind = at < 0 ? FINDING_NULL_DATE : FINDING_OUT_OF_DATES,
        .count = count,
        .rows = rows,
        .where = at < 0 ? "r.tidegate_place IS NULL" : arena_printf(compare->arena, "r.tidegate_place = %ld", at),
        .column = (ptrdiff_t)job->shape->date};
    return pg_compare_find(compare, &source, err);
  }
  DateFacts *date = &compare->dates[at - 1];
  date->recomputed = shape_fingerprint(count, values[FACT_HASH]);
  date->stable = shape_fingerprint(count, values[compare->tolerant ? FACT_STABLE : FACT_HASH]);
  for (size_t i = 0; i < n; i++) {
    FindingSource source = {.kind = facts[i].kind,
                            .index = facts[i].index,
                            .count = strtoll(values[FACT_MORE + i], NULL, 10),
                            .rows = rows,
                            .where = facts[i].where,
                            .column = facts[i].column};
    if (source.count > 0 && !pg_compare_find(compare, &source, err)) return false;
  }
  return true;
}

/* Rows that stand on one side only: `of_new` rows are the recompute's. The fingerprint that was not read follows from
 * the other by them: with tolerances the recompute's, else production's. */
static void differ_by(Compare *compare, DateFacts *date, bool of_new, const char *sum) {
  Fingerprint rows = shape_fingerprint(0, sum);
  Fingerprint *follows = compare->tolerant ? &date->recomputed : &date->production;
  (of_new == compare->tolerant ? fingerprint_plus : fingerprint_minus)(follows, &rows);
}

bool compare_take_differences(Compare *compare, size_t at, const char *const *values, Error *err) {
  size_t n;
  const RowFact *facts = compare_scope_facts(compare, &n);
  DateFacts *date = &compare->dates[at];
  date->inserts = strtoll(values[DIFF_I], NULL, 10);
  date->updates = strtoll(values[DIFF_U], NULL, 10);
  date->deletes = strtoll(values[DIFF_D], NULL, 10);
  date->moves_in = strtoll(values[DIFF_M], NULL, 10);
  compare->inserts += date->inserts;
  compare->moves += date->moves_in;
  compare->changes += date->inserts + date->updates + date->deletes + date->moves_in;
  compare->recounted[at] += date->deletes - date->inserts - date->moves_in;
  if (compare->table != NULL) {
    differ_by(compare, date, true, values[DIFF_NEW]);
    differ_by(compare, date, false, values[DIFF_OLD]);
  }
  for (size_t i = 0; i < compare->sql.n_given; i++)
    compare->column_changes[compare->sql.given[i]] += strtoll(values[DIFF_MORE + i], NULL, 10);
  for (size_t i = 0; i < n; i++) {
    size_t counted = facts[i].counted_by > 0 ? facts[i].counted_by - 1 : DIFF_MORE + compare->sql.n_given + i;
    FindingSource source = {.kind = facts[i].kind,
                            .index = facts[i].index,
                            .count = strtoll(values[counted], NULL, 10),
                            .rows = arena_printf(compare->arena, "(SELECT r.*%s FROM %s AS r)",
                                                 compare_scope_conditions(compare), compare_changes_of(compare)),
                            .where = facts[i].where,
                            .column = facts[i].column,
                            .from_changes = true};
    if (source.count > 0 && !pg_compare_find(compare, &source, err)) return false;
  }
  return true;
}

/* Rows of (side, place, facts): those of the recompute first, because the differences build on them. */
static bool take(Compare *compare, const PGresult *rows, char side, Error *err) {
  for (int i = 0; i < PQntuples(rows); i++) {
    if (pg_peek(rows, i, 0)[0] != side) continue;
    size_t n;
    const char *place = pg_peek(rows, i, 1);
    const char *const *values = pg_array(compare->arena, pg_peek(rows, i, 2), &n);
    bool ok = side == 's' ? compare_take_recomputed(compare, place, values, err)
                          : compare_take_differences(compare, (size_t)strtol(place, NULL, 10) - 1, values, err);
    if (!ok) return false;
  }
  return true;
}

/* ---- production's side
 * -------------------------------------------------------------------------------------------------- */

/* Really counted; with `hash` also fingerprinted. */
static bool read_production(Compare *compare, bool hash, Error *err) {
  PG_SCOPED rows = NULL;
  const ShapeSql *sql = &compare->sql;
  const Job *job = compare->job;
  const char *text =
      sql_fill(compare->arena, sql_compare_production_rows, "place",
               shape_date_place(compare->arena, sql, sql->date, job->dates, job->n), "hash",
               hash ? compare_given_hash(compare, "", "") : "0", "target", sql->table, "in_range",
               shape_in_range(compare->arena, sql, "", (DateRange){job->dates[0], job->dates[job->n]}), NULL);
  if (!pg_query(compare->engine, text, NULL, 0, &rows, counting, err)) return false;
  for (int i = 0; i < PQntuples(rows); i++) {
    int64_t at = pg_int(rows, i, 0);
    if (at < 1 || at > (int64_t)job->n) continue;
    compare->dates[at - 1].production = shape_fingerprint(pg_int(rows, i, 1), hash ? pg_peek(rows, i, 2) : NULL);
  }
  return true;
}

/* Keys that moved: where they were, their old rows belong to production's side of that date. */
static bool take_moves(Compare *compare, Error *err) {
  PG_SCOPED rows = NULL;
  const Job *job = compare->job;
  if (compare->moves == 0) return true;
  const char *old_date = compare_column(compare, "n", "old_", job->shape->date);
  const char *text = sql_fill(compare->arena, sql_compare_moved_away, "place",
                              shape_date_place(compare->arena, &compare->sql, old_date, job->dates, job->n), "hash",
                              compare_given_hash(compare, "n.", "old_"), "changes", compare->table, "first",
                              shape_number(compare->arena, job->dates[0]), "last",
                              shape_number(compare->arena, job->dates[job->n]), NULL);
  if (!pg_query(compare->engine, text, NULL, 0, &rows, "looking for keys that move", err)) return false;
  for (int i = 0; i < PQntuples(rows); i++) {
    int64_t at = pg_int(rows, i, 0);
    if (at < 1 || at > (int64_t)job->n) continue;
    DateFacts *date = &compare->dates[at - 1];
    date->moves_out += pg_int(rows, i, 1);
    compare->recounted[at - 1] += pg_int(rows, i, 1);
    differ_by(compare, date, false, pg_peek(rows, i, 2));
  }
  return true;
}

/* A new key may stand in production on another date, unless the date is part of the key. */
static bool find_moves(Compare *compare, bool *ret_any, Error *err) {
  const ShapeSql *sql = &compare->sql;
  const Job *job = compare->job;
  int64_t moved = 0;
  *ret_any = false;
  if (compare->inserts == 0 || job->shape->columns[job->shape->date].key) return true;
  const char *text = sql_fill(compare->arena, sql_compare_find_moves, "changes", compare->table, "old",
                              pg_shape_list(compare->arena, sql->shape, sql->stored, sql->n_stored, "", "old_"),
                              "stored", pg_shape_list(compare->arena, sql->shape, sql->stored, sql->n_stored, "p.", ""),
                              "target", sql->table, "first", shape_number(compare->arena, job->dates[0]), "last",
                              shape_number(compare->arena, job->dates[job->n]), "match",
                              pg_shape_key_match(compare->arena, sql, "p.", "", "n.", "new_"), NULL);
  if (!pg_run(compare->engine, text, NULL, 0, &moved, "looking for keys that move", err)) return false;
  *ret_any = moved > 0;
  return true;
}

bool compare_find_odd(Compare *compare, Error *err) {
  bool odd = false;
  const ShapeSql *sql = &compare->sql;
  for (size_t i = 0; i < compare->job->n; i++)
    odd |= compare->dates[i].production.rows != compare->dates[i].recomputed.rows + compare->recounted[i];
  const char *key = pg_shape_list(compare->arena, sql->shape, sql->key, sql->n_key, "r.", "");
  const char *recomputed = arena_printf(compare->arena, "(%s)", compare->recomputed);
  const char *production = arena_printf(compare->arena, "(%s)", compare->production);
  const char *new_key = pg_shape_list(compare->arena, sql->shape, sql->key, sql->n_key, "r.", "new_");
  if (odd)
    return compare_find_repeated(compare, recomputed, key, "true", false, err) &&
           compare_find_repeated(compare, production, key, "true", false, err);
  return compare->inserts == 0 ||
         compare_find_repeated(compare, compare_changes_of(compare), new_key, "r.op = 'I'", true, err);
}

/* ---- the ways
 * ------------------------------------------------------------------------------------------------------------- */

/* Takes back what the differences said, because some of them are moves. */
static bool tell_again(Compare *compare, Error *err) {
  PG_SCOPED rows = NULL;
  const char *text = pg_compare_differences_sql(compare, compare_changes_of(compare));
  memset(compare->column_changes, 0, compare->job->shape->n * sizeof *compare->column_changes);
  for (size_t i = 0; i < compare->job->n; i++) compare->recounted[i] = 0;
  compare->inserts = compare->moves = compare->changes = 0;
  return pg_query(compare->engine, text, NULL, 0, &rows, "looking at what differs", err) &&
         take(compare, rows, 'd', err);
}

static bool compare_keyed(Compare *compare, Error *err) {
  PG_SCOPED rows = NULL;
  bool moved;
  if (!pg_query(compare->engine, pg_compare_batch_sql(compare), NULL, 0, &rows, recomputing, err) ||
      !read_production(compare, compare->tolerant, err))
    return false;
  for (int i = 0; i < PQntuples(rows); i++) {
    size_t n;
    if (pg_peek(rows, i, 0)[0] == 'd')
      compare->inserts += strtoll(pg_array(compare->arena, pg_peek(rows, i, 2), &n)[DIFF_I], NULL, 10);
  }
  if (!find_moves(compare, &moved, err) || !take(compare, rows, 's', err)) return false;
  for (size_t i = 0; i < compare->job->n; i++) {
    DateFacts *date = &compare->dates[i];
    int64_t counted = compare->tolerant ? date->recomputed.rows : date->production.rows;
    if (compare->tolerant)
      date->recomputed = date->production;
    else
      date->production = date->recomputed;
    (compare->tolerant ? &date->recomputed : &date->production)->rows = counted;
  }
  compare->inserts = 0;
  bool ok = moved ? tell_again(compare, err) : take(compare, rows, 'd', err);
  return ok && take_moves(compare, err) && compare_find_odd(compare, err);
}

/* Both sides by themselves. */
static bool fingerprint_both(Compare *compare, Error *err) {
  PG_SCOPED rows = NULL;
  const char *text = sql_fill(compare->arena, sql_compare_recomputed_only, "recomputed_facts",
                              compare_recomputed_facts(compare), "recomputed", compare->recomputed, NULL);
  return pg_query(compare->engine, text, NULL, 0, &rows, recomputing, err) && take(compare, rows, 's', err) &&
         read_production(compare, true, err);
}

bool compare_by_sides(Compare *compare, Error *err) {
  PG_SCOPED rows = NULL;
  return fingerprint_both(compare, err) &&
         pg_query(compare->engine, pg_compare_differences_sql(compare, compare->differing), NULL, 0, &rows, recomputing,
                  err) &&
         take(compare, rows, 'd', err) && compare_find_odd(compare, err);
}

/* Without a key the dates whose fingerprints differ give up all their rows and take all the new ones. */
static bool compare_keyless(Compare *compare, Error *err) {
  BUF_SCOPED places = {0};
  const ShapeSql *sql = &compare->sql;
  const Job *job = compare->job;
  if (!fingerprint_both(compare, err)) return false;
  for (size_t i = 0; i < job->n; i++) {
    DateFacts *date = &compare->dates[i];
    if (fingerprint_equal(&date->production, &date->recomputed)) continue;
    buf_printf(&places, "%s%zu", places.len == 0 ? "" : ", ", i + 1);
    date->deletes = date->production.rows;
    date->inserts = date->recomputed.rows;
    compare->changes += date->deletes + date->inserts;
  }
  if (places.len == 0) return true;
  const char *of_old = shape_place_instant(compare->arena, "p.tidegate_place", job->dates, job->n);
  const char *of_new = shape_place_instant(compare->arena, "s.tidegate_place", job->dates, job->n);
  const char *old =
      sql_fill(compare->arena, sql_compare_keyless_old, "changes", compare->table, "old",
               pg_shape_list(compare->arena, sql->shape, sql->stored, sql->n_stored, "", "old_"), "instant", of_old,
               "stored", pg_shape_list(compare->arena, sql->shape, sql->stored, sql->n_stored, "p.", ""), "production",
               compare->production, "places", buf_text(&places), NULL);
  const char *new =
      sql_fill(compare->arena, sql_compare_keyless_new, "changes", compare->table, "new",
               pg_shape_list(compare->arena, sql->shape, sql->given, sql->n_given, "", "new_"), "instant", of_new,
               "given", pg_shape_list(compare->arena, sql->shape, sql->given, sql->n_given, "s.", ""), "recomputed",
               compare->recomputed, "places", buf_text(&places), NULL);
  return pg_run(compare->engine, old, NULL, 0, NULL, recomputing, err) &&
         pg_run(compare->engine, new, NULL, 0, NULL, recomputing, err);
}

/* ---- the whole
 * ------------------------------------------------------------------------------------------------------------ */

void compare_init(Compare *compare, const char *written) {
  const Job *job = compare->job;
  compare->dates = arena_array(compare->arena, job->n, sizeof *compare->dates);
  for (size_t i = 0; i < job->n; i++) compare->dates[i].date = job->dates[i];
  compare->recounted = arena_array(compare->arena, job->n, sizeof *compare->recounted);
  compare->column_changes = arena_array(compare->arena, job->shape->n, sizeof *compare->column_changes);
  for (size_t i = 0; i < compare->sql.n_given; i++)
    compare->tolerant |= job->shape->columns[compare->sql.given[i]].tolerance > 0;
  compare->recomputed = pg_compare_recomputed_sql(
      compare, written != NULL ? written : shape_recompute(compare->engine, compare->arena, &compare->sql, job));
  compare->production = pg_compare_production_sql(compare);
}

bool compare_overlay(PgEngine *engine, Arena *arena, const ShapeSql *sql, const Job *job, bool on, Error *err) {
  if (!shape_overlaid(job)) return true;
  const char *name = sql_ident(arena, sql->name);
  const char *text = on ? sql_fill(arena, sql_compare_overlay_create, "name", name, "overlay",
                                   pg_shape_overlay(engine, arena, sql, job->id, job->dates[0]), NULL)
                        : sql_fill(arena, sql_compare_overlay_drop, "name", name, NULL);
  return pg_run(engine, text, NULL, 0, NULL, recomputing, err);
}

BatchFacts compare_facts(const Compare *compare, const char *token) {
  return (BatchFacts){.dates = compare->dates,
                      .n = compare->job->n,
                      .findings = compare->findings,
                      .n_findings = compare->n_findings,
                      .column_changes = compare->column_changes,
                      .rows = compare->rows,
                      .changes = compare->changes,
                      .token = token};
}

bool compare_into(PgEngine *engine, Arena *arena, const ShapeSql *sql, const Job *job, const char *table,
                  BatchFacts *ret, Error *err) {
  Compare compare = {.engine = engine, .arena = arena, .job = job, .sql = *sql, .table = table};
  const char *token;
  if (!engine->base.ops->change_token(&engine->base, arena, &token, err) ||
      !compare_overlay(engine, arena, sql, job, true, err))
    return false;
  compare_init(&compare, NULL);
  bool ok = job->fingerprint_only ? fingerprint_both(&compare, err)
            : job->shape->keyed   ? compare_keyed(&compare, err)
                                  : compare_keyless(&compare, err);
  if (!ok || !compare_overlay(engine, arena, sql, job, false, err)) return false;
  *ret = compare_facts(&compare, token);
  return true;
}

bool compare_aside(PgEngine *engine, Arena *arena, const ShapeSql *sql, const Job *job, bool keep, BatchFacts *ret,
                   Error *err) {
  static const char table[] = "pg_temp.tidegate_compare";
  if (job->fingerprint_only) return compare_into(engine, arena, sql, job, table, ret, err);
  return pg_run(engine, changes_create_sql(engine, arena, sql, "TEMP", table), NULL, 0, NULL, recomputing, err) &&
         compare_into(engine, arena, sql, job, table, ret, err) &&
         (keep || pg_run(engine, sql_fill(arena, sql_objects_drop, "kind", "TABLE", "table", table, NULL), NULL, 0,
                         NULL, recomputing, err));
}

bool pg_compare(Engine *base, Arena *arena, const Job *job, const Interrupt *interrupt, BatchFacts *ret, Error *err) {
  PgEngine *engine = pg_engine(base);
  ShapeSql sql;
  bool own;
  engine->interrupt = interrupt;
  bool ok = pg_begin(engine, true, &own, recomputing, err);
  if (ok) {
    ok = pg_shape_sql(engine, arena, job->shape, &sql, err) && compare_aside(engine, arena, &sql, job, own, ret, err);
    pg_undo(engine, own);
  }
  engine->interrupt = NULL;
  return ok;
}
