#include "engine/postgres/proof_int.h"

#include <string.h>

#include "engine/postgres/postgres_sql.h"

/* What shows before the swap that production will take every row. */

static const char doing[] = "trying the constraints";

/* ---- the probe ----------------------------------------------------------------------------------------------------
 */

/* A column that is not given and whose default must not be asked for. */
typedef struct Made {
  const char *name, *value; /* value: an expression; NULL: left NULL, and what it would be is not proven */
} Made;

static bool is_rest(const ShapeSql *sql, const char *name) {
  for (size_t i = 0; i < sql->n_rest; i++)
    if (strcmp(sql->shape->columns[sql->rest[i]].name, name) == 0) return true;
  return false;
}

static bool make_columns(Probe *probe, Made *made, size_t *ret_n, Error *err) {
  PG_SCOPED rows = NULL;
  *ret_n = 0;
  if (!pg_query(probe->engine, sql_proof_probe_columns, &probe->sql.table, 1, &rows, doing, err)) return false;
  for (int i = 0; i < PQntuples(rows); i++) {
    if (!is_rest(&probe->sql, pg_peek(rows, i, 0))) continue;
    const char *name = pg_text(probe->arena, rows, i, 1), *last = pg_peek(rows, i, 4), *value = NULL;
    if (last != NULL) value = sql_fill(probe->arena, sql_proof_next, "last", last, "step", pg_peek(rows, i, 5), NULL);
    const char *alter = sql_fill(probe->arena, pg_bool(rows, i, 3) ? sql_proof_probe_without : sql_proof_probe_nullable,
                                 "column", name, "type", pg_peek(rows, i, 2), NULL);
    if (value == NULL && !pg_run(probe->engine, alter, NULL, 0, NULL, doing, err)) return false;
    made[(*ret_n)++] = (Made){name, value};
  }
  return true;
}

/* Runs the statements that a query gives. */
static bool run_given(Probe *probe, const char *query, int n_values, Error *err) {
  PG_SCOPED rows = NULL;
  if (!pg_query(probe->engine, query, &probe->sql.table, n_values, &rows, doing, err)) return false;
  for (int i = 0; i < PQntuples(rows); i++) {
    const char *statement = pg_peek(rows, i, 0);
    if (statement != NULL && !pg_run(probe->engine, statement, NULL, 0, NULL, doing, err)) return false;
  }
  return true;
}

/* What is idle need not be kept up to date. */
static bool drop_idle(Probe *probe, Error *err) {
  for (size_t i = 0; i < probe->n_apart; i++) {
    if (!probe->apart[i].idle || !probe->apart[i].own) continue;
    const char *name = sql_ident(probe->arena, probe->apart[i].index);
    if (!pg_run(probe->engine, sql_fill(probe->arena, sql_proof_probe_without_constraint, "name", name, NULL), NULL, 0,
                NULL, doing, err) ||
        !pg_run(probe->engine, sql_fill(probe->arena, sql_proof_probe_without_index, "name", name, NULL), NULL, 0, NULL,
                doing, err))
      return false;
  }
  return true;
}

static bool make_probe(Probe *probe, Error *err) {
  const char *create = sql_fill(probe->arena, sql_proof_probe_create, "target", probe->sql.table, NULL);
  return pg_run(probe->engine, create, NULL, 0, NULL, doing, err) &&
         run_given(probe, sql_proof_probe_indexes, 0, err) && run_given(probe, sql_proof_probe_names, 1, err) &&
         proof_read_unique(probe, err) && drop_idle(probe, err);
}

/* New rows whole: what the recompute does not give stays as it was. */
static const char *updates_sql(Probe *probe) {
  const ShapeSql *sql = &probe->sql;
  BUF_SCOPED values = {0};
  for (size_t i = 0; i < sql->n_stored; i++)
    buf_printf(&values, "%s%s", i == 0 ? "" : ", ",
               pg_shape_list(probe->arena, sql->shape, &sql->stored[i], 1, "c.",
                             sql->shape->columns[sql->stored[i]].given ? "new_" : "old_"));
  return sql_fill(probe->arena, sql_proof_probe_updates, "columns",
                  pg_shape_list(probe->arena, sql->shape, sql->stored, sql->n_stored, "", ""), "values",
                  buf_text(&values), "changes", probe->changes, NULL);
}

static const char *inserts_sql(Probe *probe, const Made *made, size_t n_made) {
  const ShapeSql *sql = &probe->sql;
  BUF_SCOPED columns = {0}, values = {0};
  buf_puts(&columns, pg_shape_list(probe->arena, sql->shape, sql->given, sql->n_given, "", ""));
  buf_puts(&values, pg_shape_list(probe->arena, sql->shape, sql->given, sql->n_given, "c.", "new_"));
  for (size_t i = 0; i < n_made; i++) {
    if (made[i].value == NULL) continue;
    buf_printf(&columns, ", %s", made[i].name);
    buf_printf(&values, ", %s", made[i].value);
  }
  return sql_fill(probe->arena, sql_proof_probe_inserts, "columns", buf_text(&columns), "values", buf_text(&values),
                  "changes", probe->changes, NULL);
}

/* The server's words, about the target instead of the probe. */
static const char *refusal_words(Arena *arena, const Shape *shape, const char *message) {
  static const char name[] = "tidegate_probe";
  BUF_SCOPED out = {0};
  const char *bare = strrchr(shape->table, '.') == NULL ? shape->table : strrchr(shape->table, '.') + 1;
  for (const char *found; (found = strstr(message, name)) != NULL; message = found + sizeof name - 1) {
    buf_append(&out, message, (size_t)(found - message));
    buf_puts(&out, bare);
  }
  buf_puts(&out, message);
  return arena_strdup(arena, buf_text(&out));
}

/* Writes the new rows to the probe: NOT NULL, CHECK, generated columns and what keeps rows apart speak. */
static bool fill_probe(Probe *probe, Error *err) {
  const Shape *shape = probe->sql.shape;
  Made *made = arena_array(probe->arena, shape->n, sizeof *made);
  size_t n_made = 0;
  Error refusal;
  if (!make_probe(probe, err) || !make_columns(probe, made, &n_made, err) ||
      !pg_run(probe->engine, sql_proof_read_only, NULL, 0, NULL, doing, err))
    return false;
  if (pg_run(probe->engine, updates_sql(probe), NULL, 0, NULL, doing, &refusal) &&
      pg_run(probe->engine, inserts_sql(probe, made, n_made), NULL, 0, NULL, doing, &refusal))
    return true;
  if (refusal.code != ERR_HELD) {
    *err = refusal;
    return false;
  }
  probe->refusal = refusal_words(probe->arena, shape, refusal.message);
  return true;
}

static bool prove(Probe *probe, Error *err) {
  return fill_probe(probe, err) && (probe->refusal != NULL || proof_partitions(probe, err)) &&
         (probe->refusal != NULL || proof_unique(probe, err)) && (probe->refusal != NULL || proof_parents(probe, err));
}

bool pg_probe_constraints(Engine *base, Arena *arena, const Shape *shape, const char *id, const char **ret_refusal,
                          Error *err) {
  PgEngine *engine = pg_engine(base);
  Probe probe = {.engine = engine, .arena = arena, .changes = pg_object(engine, arena, id, "changes")};
  bool own;
  Error ignored;
  *ret_refusal = NULL;
  if (shape->way != WAY_CHANGES) return true; /* what the new rows stand in has every constraint already */
  if (!pg_shape_sql(engine, arena, shape, &probe.sql, err)) return false;
  probe.key = shape->keyed ? pg_shape_list(arena, shape, probe.sql.key, probe.sql.n_key, "", "")
                           : "tableoid AS tidegate_part, ctid AS tidegate_tid";
  probe.same = shape->keyed ? pg_shape_key_match(arena, &probe.sql, "c.", "old_", "p.", "")
                            : "c.part = p.tidegate_part AND c.tid = p.tidegate_tid";
  if (!pg_begin(engine, true, &own, doing, err)) return false;
  bool ok = pg_run(engine, sql_proof_savepoint, NULL, 0, NULL, doing, err) && prove(&probe, err);
  if (!own && pg_run(engine, sql_proof_rollback, NULL, 0, NULL, doing, &ignored))
    pg_run(engine, sql_proof_release, NULL, 0, NULL, doing, &ignored);
  pg_undo(engine, own);
  if (ok) *ret_refusal = probe.refusal;
  return ok;
}

/* ---- children --------------------------------------------------------------------------------------------------- */

typedef struct ChildKey {
  const char *child, *name, *match; /* the child as FROM names it, and as a person does */
  bool generated;                   /* it points to a column that the database makes */
  const char *const *columns;       /* the target's, pointed to */
  size_t n;
  const char *part; /* it points to this partition alone; NULL: to the target */
  bool itself;
} ChildKey;

/* When a change takes the parent away: it deletes it, or gives it another key. */
static const char *goes(Arena *arena, const ShapeSql *sql, const ChildKey *key) {
  BUF_SCOPED out = {0}, changed = {0};
  for (size_t i = 0; i < sql->n_given; i++) {
    size_t column = sql->given[i];
    for (size_t k = 0; k < key->n && !key->generated; k++)
      if (strcmp(sql->shape->columns[column].name, key->columns[k]) == 0)
        buf_printf(&changed, "%s%s IS DISTINCT FROM %s", changed.len == 0 ? "" : " OR ",
                   pg_shape_list(arena, sql->shape, &column, 1, "c.", "new_"),
                   pg_shape_list(arena, sql->shape, &column, 1, "c.", "old_"));
  }
  buf_puts(&out, "(c.op = 'D'");
  if (changed.len > 0) buf_printf(&out, " OR c.op IN ('U', 'M') AND (%s)", buf_text(&changed));
  buf_putc(&out, ')');
  if (key->part != NULL) buf_printf(&out, " AND c.part = %s::oid", key->part);
  return arena_strdup(arena, buf_text(&out));
}

static const char *orphans_sql(Arena *arena, const ShapeSql *sql, const char *changes, const ChildKey *key) {
  bool keyed = sql->shape->keyed;
  const char *same =
      keyed ? pg_shape_key_match(arena, sql, "c.", "old_", "p.", "") : "c.part = p.tableoid AND c.tid = p.ctid";
  const char *child =
      keyed ? pg_shape_key_match(arena, sql, "c.", "old_", "k.", "") : "c.part = k.tableoid AND c.tid = k.ctid";
  const char *gone = sql_fill(arena, key->generated ? sql_proof_gone_generated : sql_proof_gone, "changes", changes,
                              "target", sql->table, "same", same, NULL);
  const char *itself =
      key->itself ? sql_fill(arena, sql_proof_itself, "changes", changes, "same_child", child, NULL) : "";
  return sql_fill(arena, sql_proof_orphans, "child", key->child, "gone", gone, "goes", goes(arena, sql, key), "match",
                  key->match, "itself", itself, NULL);
}

bool pg_orphans(Engine *base, Arena *arena, const Shape *shape, const char *id, const char **ret_child, int64_t *ret,
                Error *err) {
  static const char looking[] = "looking for rows that point to rows that go";
  PgEngine *engine = pg_engine(base);
  PG_SCOPED rows = NULL;
  ShapeSql sql;
  int64_t n = 0;
  const char *child = NULL;
  if (!pg_shape_sql(engine, arena, shape, &sql, err) ||
      !pg_query(engine, sql_proof_children, &sql.table, 1, &rows, looking, err))
    return false;
  for (int i = 0; i < PQntuples(rows) && n == 0; i++) {
    ChildKey key = {.child = pg_peek(rows, i, 0),
                    .name = pg_text(arena, rows, i, 1),
                    .match = pg_peek(rows, i, 2),
                    .generated = pg_bool(rows, i, 3),
                    .part = pg_peek(rows, i, 5),
                    .itself = pg_bool(rows, i, 6)};
    key.columns = pg_array(arena, pg_peek(rows, i, 4), &key.n);
    const char *text = orphans_sql(arena, &sql, pg_object(engine, arena, id, "changes"), &key);
    if (!pg_number(engine, text, NULL, 0, &n, looking, err)) return false;
    if (n > 0) child = key.name;
  }
  *ret_child = child;
  *ret = n;
  return true;
}
