#include <inttypes.h>
#include <string.h>

#include "engine/postgres/postgres_sql.h"
#include "engine/postgres/way.h"

/*
 * Taking a swap back by its kept rows. First every row of the change set is held against production as it is now. What
 * is no longer as the swap left it is a conflict; for the work itself they are put down in pg_temp.tidegate_conflict.
 * Production's rows moved at the swap, so they are found by key.
 */

static const char looking[] = "looking for later writes";

typedef struct Revert {
  Publish publish;
  Shape shape;
  ShapeSql sql;
  const bool *fixed;      /* per column of the shape: no update may write it */
  const char *at, *range; /* without a key: the date of production's row p, and the dates of the change set */
} Revert;

static bool read_dates(Revert *revert, Error *err) {
  PG_SCOPED rows = NULL;
  Arena *arena = revert->publish.arena;
  const DateCodec *codec = &revert->shape.codec;
  const char *text = sql_fill(arena, sql_revert_dates, "changes", revert->publish.changes, NULL);
  if (!pg_query(revert->publish.engine, text, NULL, 0, &rows, looking, err)) return false;
  Instant *dates = arena_array(arena, 1, sizeof *dates), last = pg_int(rows, 0, 1);
  size_t n = 0;
  dates[0] = pg_int(rows, 0, 0);
  do {
    Instant next = grain_next(codec->grain, codec->zone, dates[n++]);
    dates = arena_grow(arena, dates, n, sizeof *dates);
    dates[n] = next;
  } while (dates[n] <= last);
  const char *column = arena_printf(arena, "p.%s", revert->sql.date);
  revert->at = shape_place_instant(arena, shape_date_place(arena, &revert->sql, column, dates, n), dates, n);
  revert->range = shape_in_range(arena, &revert->sql, "p.", (DateRange){dates[0], dates[n]});
  return true;
}

/* Names are cut there (NAMEDATALEN). */
enum { LONGEST_NAME = 63 };

/* Columns that production got after the change set was made are not the backfill's: they stay as they are. */
static bool leave_new_columns(PgEngine *engine, Arena *arena, const Shape *shape, const char *id, ShapeColumn *columns,
                              Error *err) {
  PG_SCOPED kept = NULL;
  const char *changes = pg_object(engine, arena, id, "changes");
  if (!pg_query(engine, sql_revert_columns, &changes, 1, &kept, looking, err)) return false;
  for (size_t i = 0; i < shape->n && PQntuples(kept) > 0; i++) {
    const char *name = arena_printf(arena, "old_%s", shape->columns[i].name);
    bool found = columns[i].generated;
    for (int k = 0; k < PQntuples(kept) && !found; k++) found = strncmp(pg_peek(kept, k, 0), name, LONGEST_NAME) == 0;
    if (!found) columns[i].generated = true, columns[i].given = false;
  }
  return true;
}

/* The target's, with nothing tolerated: a later write is one, however small. */
static bool revert_shape(PgEngine *engine, Arena *arena, const Shape *shape, const char *id, ShapeSql *ret,
                         Error *err) {
  ShapeColumn *columns = arena_array(arena, shape->n, sizeof *columns);
  Shape *own = arena_alloc(arena, sizeof *own);
  for (size_t i = 0; i < shape->n; i++) {
    columns[i] = shape->columns[i];
    columns[i].tolerance = 0;
  }
  if (!leave_new_columns(engine, arena, shape, id, columns, err)) return false;
  *own = *shape;
  own->columns = columns;
  return pg_shape_sql(engine, arena, own, ret, err);
}

static bool revert_init(Revert *revert, PgEngine *engine, Arena *arena, const ShapeSql *sql, const char *changes,
                        Error *err) {
  revert->shape = *sql->shape;
  revert->sql = *sql;
  revert->publish = (Publish){engine, arena, &revert->sql, changes};
  return pg_publish_fixed(&revert->publish, &revert->fixed, err) && (sql->shape->keyed || read_dates(revert, err));
}

static bool is_fixed(const Revert *revert, size_t column) { return revert->fixed != NULL && revert->fixed[column]; }

/* ---- what is no longer as it was left -----------------------------------------------------------------------------
 */

/* "p.a IS DISTINCT FROM n.new_a OR …" */
static const char *any_differs(const Revert *revert, const size_t *columns, size_t n, const char *prefix) {
  Arena *arena = revert->publish.arena;
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < n; i++) {
    const char *now = shape_column(arena, &revert->shape, columns[i], "p.", "");
    const char *then = shape_column(arena, &revert->shape, columns[i], "n.", prefix);
    buf_printf(&out, "%s%s", i == 0 ? "" : " OR ", shape_differs(arena, &revert->sql, columns[i], now, then));
  }
  return n == 0 ? "false" : arena_strdup(arena, buf_text(&out));
}

/* A row that the swap inserted goes whole, so there the columns that the recompute does not give count as well. */
static const char *changed_sql(const Revert *revert) {
  const ShapeSql *sql = &revert->sql;
  return arena_printf(revert->publish.arena, "%s OR (n.op = 'I' AND (%s))",
                      any_differs(revert, sql->given, sql->n_given, "new_"),
                      any_differs(revert, sql->rest, sql->n_rest, "old_"));
}

/* Columns that no update may write have the old value already. */
static const char *same_sql(const Revert *revert) {
  size_t *columns = arena_array(revert->publish.arena, revert->sql.n_stored, sizeof *columns), n = 0;
  for (size_t i = 0; i < revert->sql.n_stored; i++)
    if (is_fixed(revert, revert->sql.stored[i])) columns[n++] = revert->sql.stored[i];
  return arena_printf(revert->publish.arena, "NOT (%s)", any_differs(revert, columns, n, "old_"));
}

/* The key of a change, whichever side it has. */
static void key_sql(const Revert *revert, const char **ret_keys, const char **ret_label) {
  Arena *arena = revert->publish.arena;
  BUF_SCOPED keys = {0}, label = {0};
  for (size_t i = 0; i < revert->sql.n_key; i++) {
    const char *name = revert->shape.columns[revert->sql.key[i]].name;
    const char *key = sql_ident(arena, arena_printf(arena, "key_%s", name));
    buf_printf(&keys, "%scoalesce(n.%s, n.%s) AS %s", i == 0 ? "" : ", ",
               sql_ident(arena, arena_printf(arena, "new_%s", name)),
               sql_ident(arena, arena_printf(arena, "old_%s", name)), key);
    buf_printf(&label, "%scoalesce(n.%s::text, 'NULL')", i == 0 ? "" : " || ', ' || ", key);
  }
  *ret_keys = arena_strdup(arena, buf_text(&keys));
  *ret_label = arena_strdup(arena, buf_text(&label));
}

static const char *judge_sql(const Revert *revert) {
  const Publish *publish = &revert->publish;
  const ShapeSql *sql = &revert->sql;
  const char *keys, *label;
  if (!revert->shape.keyed)
    return sql_fill(publish->arena, sql_revert_judge_dates, "changes", publish->changes, "target", sql->table, "at",
                    revert->at, "range", revert->range, "present",
                    shape_hash(publish->arena, sql, sql->given, sql->n_given, "p.", ""), "new",
                    shape_hash(publish->arena, sql, sql->given, sql->n_given, "n.", "new_"), NULL);
  key_sql(revert, &keys, &label);
  return sql_fill(publish->arena, sql_revert_judge, "changes", publish->changes, "target", sql->table, "keys", keys,
                  "label", label, "moved", any_differs(revert, &revert->shape.date, 1, "new_"), "changed",
                  changed_sql(revert), "same", same_sql(revert), "match", pg_publish_match(publish, "p.", "key_"),
                  NULL);
}

bool changes_conflicts(PgEngine *engine, Arena *arena, const ShapeSql *sql, const char *id, size_t max_examples,
                       Conflicts *ret, Error *err) {
  Revert revert = {0};
  PG_SCOPED rows = NULL;
  const DateCodec *codec = &sql->shape->codec;
  if (!revert_init(&revert, engine, arena, sql, pg_object(engine, arena, id, "changes"), err)) return false;
  const char *limit = arena_printf(arena, "%zu", max_examples);
  const char *text = sql_fill(arena, sql_revert_show, "judge", judge_sql(&revert), NULL);
  if (!pg_query(engine, text, &limit, 1, &rows, looking, err)) return false;
  Conflict *examples = arena_array(arena, (size_t)PQntuples(rows), sizeof *examples);
  Conflicts found = {.count = pg_int(rows, 0, 0), .rows = examples};
  for (int i = 0; i < PQntuples(rows) && pg_peek(rows, i, 1) != NULL; i++) {
    char label[32];
    grain_label(codec->grain, codec->zone, pg_int(rows, i, 2), label);
    examples[found.n++] =
        (Conflict){pg_text(arena, rows, i, 1), arena_strdup(arena, label), pg_text(arena, rows, i, 3)};
  }
  *ret = found;
  return true;
}

/* ---- putting the old rows back ------------------------------------------------------------------------------------
 */

static const char *both(const Revert *revert, const char *of, const char *where) {
  return arena_printf(revert->publish.arena, "%s AND %s", of, where);
}

static bool count_rows(const Revert *revert, PublishRows *rows, Error *err) {
  const char *text =
      sql_fill(revert->publish.arena, sql_revert_count, "changes", revert->publish.changes, "of", rows->of, NULL);
  return pg_number(revert->publish.engine, text, NULL, 0, &rows->expected, looking, err);
}

static const char *fated(const Revert *revert, const char *fates) {
  return sql_fill(revert->publish.arena, sql_revert_fated, "fates", fates, NULL);
}

static bool go(const Revert *revert, const char *of, const char *key, const char *date, Error *err) {
  PublishRows rows = {of, key, date, false, 0};
  return count_rows(revert, &rows, err) && pg_publish_spares_children(&revert->publish, &rows, NULL, NULL, err) &&
         pg_publish_delete(&revert->publish, &rows, "taking the new rows away", err);
}

static bool deletes(const Revert *revert, const char *clean, bool over, Error *err) {
  return go(revert, both(revert, sql_publish_inserted, clean), "new_", "new_", err) &&
         (!over ||
          (go(revert, fated(revert, "'d'"), "new_", NULL, err) && go(revert, fated(revert, "'r'"), "old_", NULL, err)));
}

/* "a" = n."old_a", … over these columns. */
static const char *set_old(const Revert *revert, const bool *columns) {
  Arena *arena = revert->publish.arena;
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < revert->sql.n_stored; i++) {
    size_t column = revert->sql.stored[i];
    const char *old = shape_column(arena, &revert->shape, column, "", "old_");
    if (columns[column])
      buf_printf(&out, "%s%s = n.%s", out.len == 0 ? "" : ", ", revert->sql.columns[column].name, old);
  }
  return arena_strdup(arena, buf_text(&out));
}

static bool put_back(const Revert *revert, const char *of, const char *date, const bool *columns, Error *err) {
  PublishRows rows = {of, "old_", date, false, 0};
  return count_rows(revert, &rows, err) && pg_publish_spares_children(&revert->publish, &rows, columns, "old_", err) &&
         pg_publish_update(&revert->publish, &rows, set_old(revert, columns), "putting the old values back", err);
}

static bool updates(const Revert *revert, const char *clean, const bool *columns, bool over, Error *err) {
  bool *all = arena_array(revert->publish.arena, revert->shape.n, sizeof *all);
  for (size_t i = 0; i < revert->shape.n; i++) all[i] = !revert->shape.columns[i].generated && !is_fixed(revert, i);
  return put_back(revert, both(revert, sql_publish_updated, clean), "new_", columns, err) &&
         (!over || put_back(revert, fated(revert, "'u'"), NULL, all, err));
}

static bool come(const Revert *revert, const char *of, Error *err) {
  PublishRows rows = {.of = of};
  return count_rows(revert, &rows, err) &&
         pg_publish_insert(&revert->publish, &rows, revert->sql.stored, revert->sql.n_stored, "old_",
                           "putting the old rows back", err);
}

static bool inserts(const Revert *revert, const char *clean, bool over, Error *err) {
  return come(revert, both(revert, sql_publish_deleted, clean), err) &&
         (!over || come(revert, fated(revert, "'i', 'r'"), err));
}

static bool revert_rows(const Revert *revert, const char *clean, const bool *columns, bool over, Error *err) {
  bool inserts_first;
  if (!pg_publish_refers_to_itself(&revert->publish, &inserts_first, err)) return false;
  if (inserts_first)
    return inserts(revert, clean, over, err) && updates(revert, clean, columns, over, err) &&
           deletes(revert, clean, over, err);
  return deletes(revert, clean, over, err) && updates(revert, clean, columns, over, err) &&
         inserts(revert, clean, over, err);
}

/* Without a key: dates that are as they were left give up exactly their new rows; others, overwritten, all they have.
 */
static bool revert_dates(const Revert *revert, const char *clean, bool over, Error *err) {
  const Publish *publish = &revert->publish;
  PublishRows rows = {both(revert, sql_publish_inserted, clean), "new_", NULL, false, 0};
  const char *of = over ? sql_revert_any : clean;
  const char *clear = sql_fill(publish->arena, sql_revert_clear_dates, "target", publish->sql->table, "changes",
                               publish->changes, "at", revert->at, "range", revert->range, "of", of, NULL);
  int64_t gone;
  if (!count_rows(revert, &rows, err) || !pg_publish_spares_children(publish, &rows, NULL, NULL, err) ||
      !pg_run(publish->engine, clear, NULL, 0, &gone, "taking the new rows away", err))
    return false;
  if (!over && gone != rows.expected)
    return error_set(err, ERR_DRIFT, "taking the new rows away: %" PRId64 " rows instead of %" PRId64 " were there",
                     gone, rows.expected);
  return come(revert, both(revert, sql_publish_deleted, of), err);
}

static bool refuse(int64_t conflicts, Error *err) {
  error_set(err, ERR_CONFLICT, "%" PRId64 " rows were written after the swap: nothing was rolled back", conflicts);
  return error_hint(
      err, "give --keep-later to leave those rows as they are, or --overwrite-later to put the old rows over them");
}

bool changes_revert_from(EngineWriter *writer, Arena *arena, const ShapeSql *sql, const char *changes,
                         const bool *columns, LaterRows later, bool skip_triggers, int64_t *ret_left, Error *err) {
  Revert revert = {0};
  int64_t conflicts;
  const char *back;
  if (!revert_init(&revert, writer->engine, arena, sql, changes, err)) return false;
  if (!pg_run(writer->engine, sql_fill(arena, sql_revert_conflicts, "judge", judge_sql(&revert), NULL), NULL, 0,
              &conflicts, looking, err))
    return false;
  if (conflicts > 0 && later == LATER_REFUSE) return refuse(conflicts, err);
  const char *clean = conflicts > 0 ? sql_revert_clean : sql_revert_any;
  bool over = conflicts > 0 && later == LATER_OVERWRITE;
  if (!pg_publish_open(&revert.publish, skip_triggers, &back, err) ||
      !(sql->shape->keyed ? revert_rows(&revert, clean, columns, over, err)
                          : revert_dates(&revert, clean, over, err)) ||
      !pg_publish_close(&revert.publish, back, err))
    return false;
  *ret_left = later == LATER_KEEP ? conflicts : 0;
  return true;
}

bool changes_revert(EngineWriter *writer, Arena *arena, const ShapeSql *sql, const bool *columns, LaterRows later,
                    bool skip_triggers, int64_t *ret_left, Error *err) {
  return changes_revert_from(writer, arena, sql, pg_object(writer->engine, arena, writer->id, "changes"), columns,
                             later, skip_triggers, ret_left, err);
}

/* ---- the whole ----------------------------------------------------------------------------------------------------
 */

bool pg_conflicts(Engine *base, Arena *arena, const Shape *shape, const char *id, size_t max_examples, Conflicts *ret,
                  Error *err) {
  ShapeSql sql;
  return revert_shape(pg_engine(base), arena, shape, id, &sql, err) &&
         pg_way(shape)->conflicts(pg_engine(base), arena, &sql, id, max_examples, ret, err);
}

bool pg_revert(EngineWriter *writer, const Shape *shape, const bool *columns, LaterRows later, bool skip_triggers,
               int64_t *ret_left, Error *err) {
  ARENA_SCOPED arena = {0};
  ShapeSql sql;
  return revert_shape(writer->engine, &arena, shape, writer->id, &sql, err) &&
         pg_way(shape)->revert(writer, &arena, &sql, columns, later, skip_triggers, ret_left, err) &&
         (shape->way == WAY_EXCHANGE || pg_fence_shut(writer, shape, err));
}
