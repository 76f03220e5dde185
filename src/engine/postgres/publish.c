#include "engine/postgres/publish.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/postgres/postgres_sql.h"
#include "engine/postgres/way.h"

/* From one changed row in so many on, the range is read whole rather than looked up row by row. */
enum { DENSE = 5 };

static bool run(const Publish *publish, const char *sql, const char *doing, Error *err) {
  return pg_run(publish->engine, sql, NULL, 0, NULL, doing, err);
}

/* ---- finding production's rows ----------------------------------------------------------------------------------- */

/* By all that it holds; the new side holds no more than the recompute gives. */
static const char *same_content(const Publish *publish, const char *left, const char *prefix) {
  const ShapeSql *sql = publish->sql;
  bool given = strcmp(prefix, "new_") == 0;
  const size_t *columns = given ? sql->given : sql->stored, n = given ? sql->n_given : sql->n_stored;
  return arena_printf(publish->arena, "%s = %s", shape_hash(publish->arena, sql, columns, n, left, ""),
                      shape_hash(publish->arena, sql, columns, n, "n.", prefix));
}

const char *pg_publish_match(const Publish *publish, const char *left, const char *prefix) {
  const ShapeSql *sql = publish->sql;
  if (!sql->shape->keyed) return same_content(publish, left, prefix);
  const char *match = pg_shape_key_match(publish->arena, sql, left, "", "n.", prefix);
  for (size_t i = 0; i < sql->n_key; i++)
    if (!sql->shape->columns[sql->key[i]].not_null)
      return arena_printf(publish->arena, "%s = %s AND %s",
                          shape_hash(publish->arena, sql, sql->key, sql->n_key, left, ""),
                          shape_hash(publish->arena, sql, sql->key, sql->n_key, "n.", prefix), match);
  return match;
}

static bool is_text(const char *type) {
  return strcmp(type, "text") == 0 || strcmp(type, "bpchar") == 0 || strncmp(type, "character", 9) == 0;
}

/* "p.d >= … AND p.d <= …" in constants, so that partitions are left out when the statement is planned. Texts sort by
 * collations, so they have none. */
static bool date_range(const Publish *publish, const PublishRows *rows, const char **ret, const char *doing,
                       Error *err) {
  const ShapeSql *sql = publish->sql;
  Arena *arena = publish->arena;
  PG_SCOPED result = NULL;
  *ret = "true";
  if (rows->date == NULL || is_text(sql->date_type)) return true;
  const char *column =
      sql_ident(arena, arena_printf(arena, "%s%s", rows->date, sql->shape->columns[sql->shape->date].name));
  const char *text =
      sql_fill(arena, sql_publish_bounds, "date", column, "changes", publish->changes, "of", rows->of, NULL);
  if (!pg_query(publish->engine, text, NULL, 0, &result, doing, err)) return false;
  if (pg_peek(result, 0, 0) == NULL) return true;
  *ret = arena_printf(arena, "p.%s >= %s::%s AND p.%s <= %s::%s", sql->date, sql_literal(arena, pg_peek(result, 0, 0)),
                      sql->date_type, sql->date, sql_literal(arena, pg_peek(result, 0, 1)), sql->date_type);
  return true;
}

static bool is_dense(const Publish *publish, const char *range, int64_t expected, bool *ret, const char *doing,
                     Error *err) {
  PG_SCOPED result = NULL;
  const char *text =
      sql_fill(publish->arena, sql_publish_range_rows, "target", publish->sql->table, "range", range, NULL);
  if (!pg_query(publish->engine, text, NULL, 0, &result, doing, err)) return false;
  const char *rows = PQntuples(result) == 0 ? NULL : strstr(pg_peek(result, 0, 0), " rows=");
  *ret = rows != NULL && expected * DENSE > strtoll(rows + strlen(" rows="), NULL, 10);
  return true;
}

/* ---- changing them ------------------------------------------------------------------------------------------------
 */

static const char *fill(const Publish *publish, const char *template_text, const PublishRows *rows, const char *found,
                        const char *set) {
  return sql_fill(publish->arena, template_text, "target", publish->sql->table, "changes", publish->changes, "of",
                  rows->of, "found", found, "set", set, NULL);
}

/* By place. When not all are found, nothing is changed: after VACUUM FULL the rows lie elsewhere. */
static bool by_tid(const Publish *publish, const char *template_text, const PublishRows *rows, const char *set,
                   bool *ret_done, const char *doing, Error *err) {
  bool partitioned = publish->sql->partitioned;
  const char *found = sql_fill(publish->arena, partitioned ? sql_publish_by_place : sql_publish_by_tid, "same",
                               pg_publish_match(publish, "p.", rows->key), NULL);
  int64_t changed;
  if (!run(publish, sql_publish_try, doing, err) ||
      (!partitioned && !run(publish, sql_publish_loops_alone, doing, err)) ||
      !pg_run(publish->engine, fill(publish, template_text, rows, found, set), NULL, 0, &changed, doing, err))
    return false;
  *ret_done = changed == rows->expected;
  if (!*ret_done && !run(publish, sql_publish_take_back, doing, err)) return false;
  return run(publish, sql_publish_tried, doing, err) && run(publish, sql_publish_joins_back, doing, err);
}

/* By key; without one, by content. */
static bool by_content(const Publish *publish, const char *template_text, const PublishRows *rows, const char *set,
                       const char *doing, Error *err) {
  const ShapeSql *sql = publish->sql;
  Arena *arena = publish->arena;
  const char *range, *text;
  int64_t changed;
  bool dense;
  if (!date_range(publish, rows, &range, doing, err) || !is_dense(publish, range, rows->expected, &dense, doing, err) ||
      (dense && !run(publish, sql_publish_no_loops, doing, err)))
    return false;
  if (sql->shape->keyed)
    text = fill(publish, template_text, rows,
                arena_printf(arena, "%s AND %s", pg_publish_match(publish, "p.", rows->key), range), set);
  else
    text = sql_fill(arena, sql_publish_delete_alike, "target", sql->table, "changes", publish->changes, "of", rows->of,
                    "range", range, "present", shape_hash(arena, sql, sql->stored, sql->n_stored, "p.", ""), "old",
                    shape_hash(arena, sql, sql->stored, sql->n_stored, "n.", rows->key), NULL);
  if (!pg_run(publish->engine, text, NULL, 0, &changed, doing, err) ||
      (dense && !run(publish, sql_publish_joins_back, doing, err)))
    return false;
  return changed == rows->expected ||
         error_set(err, ERR_DRIFT, "%s: %" PRId64 " rows instead of %" PRId64 " were there to change", doing, changed,
                   rows->expected);
}

static bool change(const Publish *publish, const char *template_text, const PublishRows *rows, const char *set,
                   const char *doing, Error *err) {
  bool done = false;
  if (rows->expected == 0) return true;
  if (rows->by_tid && !(publish->sql->partitioned && publish->sql->shape->keyed) &&
      !by_tid(publish, template_text, rows, set, &done, doing, err))
    return false;
  return done || by_content(publish, template_text, rows, set, doing, err);
}

bool pg_publish_delete(const Publish *publish, const PublishRows *rows, const char *doing, Error *err) {
  return change(publish, sql_publish_delete, rows, "", doing, err);
}

bool pg_publish_update(const Publish *publish, const PublishRows *rows, const char *set, const char *doing,
                       Error *err) {
  return change(publish, sql_publish_update, rows, set, doing, err);
}

bool pg_publish_insert(const Publish *publish, const PublishRows *rows, const size_t *columns, size_t n,
                       const char *prefix, const char *doing, Error *err) {
  const Shape *shape = publish->sql->shape;
  int64_t inserted;
  if (rows->expected == 0) return true;
  const char *text = sql_fill(publish->arena, sql_publish_insert, "target", publish->sql->table, "columns",
                              pg_shape_list(publish->arena, shape, columns, n, "", ""), "overriding",
                              publish->sql->identity ? " OVERRIDING SYSTEM VALUE" : "", "values",
                              pg_shape_list(publish->arena, shape, columns, n, "n.", prefix), "changes",
                              publish->changes, "of", rows->of, NULL);
  if (!pg_run(publish->engine, text, NULL, 0, &inserted, doing, err)) return false;
  return inserted == rows->expected ||
         error_set(err, ERR_DRIFT, "%s: %" PRId64 " rows instead of %" PRId64 " were put in", doing, inserted,
                   rows->expected);
}

/* ---- the whole -----------------------------------------------------------------------------------------------------
 */

bool pg_publish_open(const Publish *publish, bool skip_triggers, const char **ret_back, Error *err) {
  *ret_back = NULL;
  return (!skip_triggers || pg_triggers_off(publish->engine, publish->arena, publish->sql->table, ret_back, err)) &&
         run(publish, sql_publish_checks_later, "letting deferrable constraints wait", err);
}

bool pg_publish_close(const Publish *publish, const char *back, Error *err) {
  return run(publish, sql_publish_checks_now, "checking the deferrable constraints", err) &&
         (back == NULL || pg_triggers_back(publish->engine, back, err));
}

bool pg_publish_refers_to_itself(const Publish *publish, bool *ret, Error *err) {
  int64_t n;
  if (!pg_number(publish->engine, sql_publish_refers_to_itself, &publish->sql->table, 1, &n,
                 "looking at the foreign keys", err))
    return false;
  *ret = n > 0;
  return true;
}

bool pg_publish_fixed(const Publish *publish, const bool **ret, Error *err) {
  const ShapeSql *sql = publish->sql;
  PG_SCOPED rows = NULL;
  bool *fixed = arena_array(publish->arena, sql->shape->n, sizeof *fixed);
  *ret = fixed;
  if (!sql->identity) return true;
  if (!pg_query(publish->engine, sql_publish_fixed, &sql->table, 1, &rows, "looking at the identity columns", err))
    return false;
  for (int i = 0; i < PQntuples(rows); i++)
    for (size_t k = 0; k < sql->shape->n; k++)
      fixed[k] |= strcmp(pg_peek(rows, i, 0), sql->shape->columns[k].name) == 0;
  return true;
}

static bool apply_deletes(const Publish *publish, int64_t expected, Error *err) {
  const PublishRows rows = {sql_publish_deleted, "old_", "old_", true, expected};
  return pg_publish_spares_children(publish, &rows, NULL, NULL, err) &&
         pg_publish_delete(publish, &rows, "deleting the rows that go", err);
}

static bool apply_updates(const Publish *publish, const bool *columns, int64_t expected, Error *err) {
  const PublishRows rows = {sql_publish_updated, "old_", "old_", true, expected};
  return pg_publish_spares_children(publish, &rows, columns, "new_", err) &&
         pg_publish_update(publish, &rows, pg_shape_set(publish->arena, publish->sql, columns, "n.", "new_"),
                           "updating the rows that change", err);
}

static bool apply_inserts(const Publish *publish, int64_t expected, Error *err) {
  const PublishRows rows = {.of = sql_publish_inserted, .expected = expected};
  return pg_publish_insert(publish, &rows, publish->sql->given, publish->sql->n_given, "new_", "inserting the new rows",
                           err);
}

bool pg_publish_changes(const Publish *publish, const bool *columns, ChangeCounts expected, Error *err) {
  int64_t updates = expected.updates + expected.moves;
  bool inserts_first;
  if (!pg_publish_refers_to_itself(publish, &inserts_first, err)) return false;
  if (inserts_first)
    return apply_inserts(publish, expected.inserts, err) && apply_updates(publish, columns, updates, err) &&
           apply_deletes(publish, expected.deletes, err);
  return apply_deletes(publish, expected.deletes, err) && apply_updates(publish, columns, updates, err) &&
         apply_inserts(publish, expected.inserts, err);
}

/* "old_a" = p.a, … over the columns that the recompute does not give. */
static const char *rest_as_it_is(const Publish *publish) {
  const ShapeSql *sql = publish->sql;
  BUF_SCOPED rest = {0};
  for (size_t i = 0; i < sql->n_rest; i++)
    buf_printf(&rest, "%s%s = p.%s", i == 0 ? "" : ", ",
               shape_column(publish->arena, sql->shape, sql->rest[i], "", "old_"), sql->columns[sql->rest[i]].name);
  return arena_strdup(publish->arena, buf_text(&rest));
}

/* Sets the change set's rest columns from production's rows. */
static bool take_rest(const Publish *publish, const char *template_text, const PublishRows *rows, const char *id,
                      const char *doing, Error *err) {
  const ShapeSql *sql = publish->sql;
  Arena *arena = publish->arena;
  const char *range;
  if (sql->n_rest == 0 || !sql->shape->keyed) return true;
  if (!date_range(publish, rows, &range, doing, err)) return false;
  const char *found = arena_printf(arena, "%s AND %s", pg_publish_match(publish, "p.", rows->key), range);
  const char *text =
      sql_fill(arena, template_text, "changes", publish->changes, "target", sql->table, "rest", rest_as_it_is(publish),
               "found", found, "ledger", pg_schema(publish->engine, arena), NULL);
  return pg_run(publish->engine, text, &id, id == NULL ? 0 : 1, NULL, doing, err);
}

/* A rollback brings deleted rows back whole, so what was written to their other columns meanwhile must not be missing.
 */
static bool keep_rest(const Publish *publish, const char *id, Error *err) {
  const PublishRows rows = {.of = "n.op <> 'I'", .key = "old_", .date = "old_"};
  return take_rest(publish, sql_publish_keep_rest, &rows, id, "keeping what was written to the other columns", err);
}

/* The other columns of a new row are the database's own doing: what it put there belongs to the new side too. */
static bool note_rest(const Publish *publish, Error *err) {
  const PublishRows rows = {.of = sql_publish_inserted, .key = "new_", .date = "new_"};
  return take_rest(publish, sql_publish_note_rest, &rows, NULL, "noting what the database gave the new rows", err);
}

/* The next id that the database makes must be beyond those that were given. */
static bool sequences_on(const Publish *publish, Error *err) {
  static const char doing[] = "moving the sequence beyond the new ids";
  const ShapeSql *sql = publish->sql;
  PG_SCOPED rows = NULL;
  if (!pg_query(publish->engine, sql_publish_sequences, &sql->table, 1, &rows, doing, err)) return false;
  for (int i = 0; i < PQntuples(rows); i++) {
    const char *column = pg_peek(rows, i, 0), *sequence = pg_peek(rows, i, 1);
    bool up = pg_bool(rows, i, 2), given = false;
    for (size_t k = 0; k < sql->n_given; k++) given |= strcmp(sql->shape->columns[sql->given[k]].name, column) == 0;
    if (!given) continue;
    const char *text =
        sql_fill(publish->arena, sql_publish_sequence_on, "sequence", sequence, "furthest", up ? "max" : "min", "id",
                 sql_ident(publish->arena, arena_printf(publish->arena, "new_%s", column)), "changes", publish->changes,
                 "beyond", up ? ">" : "<", NULL);
    if (!pg_run(publish->engine, text, &sequence, 1, NULL, doing, err)) return false;
  }
  return true;
}

bool changes_apply(EngineWriter *writer, Arena *arena, const ShapeSql *sql, const bool *columns, ChangeCounts expected,
                   bool skip_triggers, Error *err) {
  const char *back;
  const Publish publish = {writer->engine, arena, sql, pg_object(writer->engine, arena, writer->id, "changes")};
  return keep_rest(&publish, writer->id, err) && pg_publish_open(&publish, skip_triggers, &back, err) &&
         pg_publish_changes(&publish, columns, expected, err) && (expected.inserts == 0 || note_rest(&publish, err)) &&
         sequences_on(&publish, err) && pg_publish_close(&publish, back, err);
}

bool pg_apply(EngineWriter *writer, const Shape *shape, const bool *columns, ChangeCounts expected, bool skip_triggers,
              Error *err) {
  ARENA_SCOPED arena = {0};
  ShapeSql sql;
  return pg_shape_sql(writer->engine, &arena, shape, &sql, err) &&
         pg_way(shape)->apply(writer, &arena, &sql, columns, expected, skip_triggers, err) &&
         (shape->way == WAY_EXCHANGE || pg_fence_shut(writer, shape, err));
}
