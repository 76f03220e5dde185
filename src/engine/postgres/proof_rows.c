#include <inttypes.h>
#include <string.h>

#include "engine/postgres/postgres_sql.h"
#include "engine/postgres/proof_int.h"

/* What the probe's own constraints do not see: partitions, and production's other rows. */

static const char doing[] = "trying the constraints";

/* ---- partitions ---------------------------------------------------------------------------------------------------
 */

/* The condition that makes a new row one of the relation's. */
static const char *bound_of(const PGresult *rows, int row, int column) {
  const char *bound = pg_peek(rows, row, column);
  return bound == NULL ? "true" : bound;
}

static bool breaks(Probe *probe, const char *where, const char *check, int64_t *ret, Error *err) {
  const char *text = sql_fill(probe->arena, sql_proof_breaks, "where", where, "check", check, NULL);
  return pg_number(probe->engine, text, NULL, 0, ret, doing, err);
}

/* A partition's own CHECKs and NOT NULLs, which the target does not have. */
static bool own_checks(Probe *probe, const PGresult *tree, int row, Error *err) {
  size_t n_checks, n_names, n_columns;
  const char *const *checks = pg_array(probe->arena, pg_peek(tree, row, 4), &n_checks);
  const char *const *names = pg_array(probe->arena, pg_peek(tree, row, 5), &n_names);
  const char *const *columns = pg_array(probe->arena, pg_peek(tree, row, 6), &n_columns);
  const char *relation = pg_peek(tree, row, 0), *bound = bound_of(tree, row, 1);
  int64_t n = 0;
  for (size_t i = 0; i < n_checks; i++) {
    if (!breaks(probe, bound, checks[i], &n, err)) return false;
    if (n == 0) continue;
    probe->refusal = arena_printf(probe->arena, "%" PRId64 " new rows violate check constraint “%s” of partition %s", n,
                                  names[i], relation);
    return true;
  }
  for (size_t i = 0; i < n_columns; i++) {
    const char *check = arena_printf(probe->arena, "n.%s IS NOT NULL", sql_ident(probe->arena, columns[i]));
    if (!breaks(probe, bound, check, &n, err)) return false;
    if (n == 0) continue;
    probe->refusal = arena_printf(probe->arena, "%" PRId64 " new rows have no “%s”, which partition %s forbids", n,
                                  columns[i], relation);
    return true;
  }
  return true;
}

/* Is there a partition for every new row? */
static bool routed(Probe *probe, const PGresult *tree, Error *err) {
  BUF_SCOPED any = {0};
  PG_SCOPED routing = NULL;
  PG_SCOPED found = NULL;
  for (int i = 1; i < PQntuples(tree); i++)
    if (pg_bool(tree, i, 3)) buf_printf(&any, "%s(%s)", any.len == 0 ? "(" : " OR ", bound_of(tree, i, 1));
  buf_puts(&any, any.len == 0 ? "false" : ")");
  if (!pg_query(probe->engine, sql_proof_routing, &probe->sql.table, 1, &routing, doing, err)) return false;
  const char *columns = pg_peek(routing, 0, 0);
  const char *text =
      sql_fill(probe->arena, sql_proof_unrouted, "rows",
               columns == NULL ? "*" : arena_printf(probe->arena, "DISTINCT %s", columns), "any", buf_text(&any), NULL);
  if (!pg_query(probe->engine, text, NULL, 0, &found, doing, err)) return false;
  if (pg_int(found, 0, 0) > 0)
    probe->refusal =
        arena_printf(probe->arena, "no partition of relation %s found for row (partition key of the failing row: %s)",
                     probe->sql.table, pg_peek(found, 0, 1));
  return true;
}

bool proof_partitions(Probe *probe, Error *err) {
  PG_SCOPED tree = NULL;
  if (!pg_query(probe->engine, sql_proof_tree, &probe->sql.table, 1, &tree, doing, err)) return false;
  if (pg_peek(tree, 0, 1) != NULL) { /* the target is a partition itself */
    int64_t n;
    if (!breaks(probe, "true", pg_peek(tree, 0, 1), &n, err)) return false;
    if (n > 0)
      probe->refusal = arena_printf(
          probe->arena, "%" PRId64 " new rows violate the partition constraint of relation %s", n, probe->sql.table);
    if (n > 0) return true;
  }
  if (probe->sql.partitioned && !routed(probe, tree, err)) return false;
  for (int i = 1; i < PQntuples(tree) && probe->refusal == NULL; i++)
    if (!own_checks(probe, tree, i, err)) return false;
  return true;
}

/* ---- what changes ---------------------------------------------------------------------------------------------------
 */

/* When one of the columns changes in a change, alias c; "" when none of them is written, "true" when it cannot be told.
 */
static const char *differ(Probe *probe, const char *const *columns, size_t n) {
  const Shape *shape = probe->sql.shape;
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < n; i++)
    for (size_t c = 0; c < shape->n; c++) {
      if (strcmp(shape->columns[c].name, columns[i]) != 0) continue;
      if (shape->columns[c].generated) return "true";
      if (!shape->columns[c].given) continue;
      const char *text = probe->sql.columns[c].as_text ? "::text" : "";
      buf_printf(&out, "%s%s%s IS DISTINCT FROM %s%s", out.len == 0 ? "" : " OR ",
                 pg_shape_list(probe->arena, shape, &c, 1, "c.", "new_"), text,
                 pg_shape_list(probe->arena, shape, &c, 1, "c.", "old_"), text);
    }
  return arena_strdup(probe->arena, buf_text(&out));
}

/* Is there a row that is new, or in which one of the columns changes? */
static bool any_changed(Probe *probe, const char *const *columns, size_t n, bool *ret, Error *err) {
  int64_t found;
  const char *differs = differ(probe, columns, n);
  const char *text = sql_fill(probe->arena, sql_proof_any_changed, "changes", probe->changes, "columns",
                              differs[0] == '\0' ? "false" : differs, NULL);
  if (!pg_number(probe->engine, text, NULL, 0, &found, doing, err)) return false;
  *ret = found > 0;
  return true;
}

/* ---- unique indexes and exclusion constraints ---------------------------------------------------------------------
 */

static const char *apart_words(Arena *arena, const ProofApart *apart) {
  return arena_printf(arena, "%s “%s” of %s", apart->exclusion ? "exclusion constraint" : "unique index", apart->index,
                      apart->relation);
}

static bool meet_production(Probe *probe, const ProofApart *apart, Error *err) {
  PG_SCOPED met = NULL;
  bool late = !apart->deferrable && probe->sql.shape->keyed;
  const char *text =
      sql_fill(probe->arena, sql_proof_meets, "row", apart->row, "predicate", apart->predicate, "of", apart->bound,
               "key", probe->key, "relation", apart->relation, "match", apart->match, "changes", probe->changes, "same",
               probe->same, "late", late ? sql_proof_late : sql_proof_never, NULL);
  if (!pg_query(probe->engine, text, NULL, 0, &met, doing, err)) return false;
  int64_t staying = pg_int(met, 0, 0), giving = pg_int(met, 0, 1);
  if (staying > 0)
    probe->refusal =
        arena_printf(probe->arena, "%" PRId64 " new rows meet rows that stay as they are, which %s forbids", staying,
                     apart_words(probe->arena, apart));
  else if (giving > 0)
    probe->refusal = arena_printf(
        probe->arena,
        "%" PRId64
        " rows take values that others give up in the same step, which %s forbids row by row: it would have "
        "to be a DEFERRABLE constraint",
        giving, apart_words(probe->arena, apart));
  return true;
}

static bool meet_each_other(Probe *probe, const ProofApart *apart, Error *err) {
  int64_t n;
  const char *text = sql_fill(probe->arena, sql_proof_meet_each_other, "row", apart->row, "predicate", apart->predicate,
                              "of", apart->bound, "match", apart->match, NULL);
  if (!pg_number(probe->engine, text, NULL, 0, &n, doing, err)) return false;
  if (n > 0)
    probe->refusal = arena_printf(probe->arena, "%" PRId64 " pairs of new rows meet each other, which %s forbids", n,
                                  apart_words(probe->arena, apart));
  return true;
}

static const char *unique_sql(Probe *probe) {
  const ShapeSql *sql = &probe->sql;
  BUF_SCOPED key = {0};
  for (size_t i = 0; i < sql->n_key; i++)
    buf_printf(&key, "%s%s", i == 0 ? "" : ", ", sql_literal(probe->arena, sql->shape->columns[sql->key[i]].name));
  return sql_fill(
      probe->arena, sql_proof_unique, "is_key",
      sql->shape->keyed ? sql_fill(probe->arena, sql_proof_is_key, "key", buf_text(&key), NULL) : sql_proof_no_key,
      NULL);
}

bool proof_read_unique(Probe *probe, Error *err) {
  PG_SCOPED rows = NULL;
  if (!pg_query(probe->engine, unique_sql(probe), &probe->sql.table, 1, &rows, doing, err)) return false;
  ProofApart *list = arena_array(probe->arena, (size_t)PQntuples(rows), sizeof *list);
  for (int i = 0; i < PQntuples(rows); i++) {
    size_t n;
    bool changes = true;
    const char *const *columns = pg_array(probe->arena, pg_peek(rows, i, 6), &n);
    ProofApart apart = {.relation = pg_text(probe->arena, rows, i, 0),
                        .index = pg_text(probe->arena, rows, i, 1),
                        .deferrable = pg_bool(rows, i, 2),
                        .predicate = pg_text(probe->arena, rows, i, 3),
                        .row = pg_text(probe->arena, rows, i, 4),
                        .match = pg_text(probe->arena, rows, i, 5),
                        .own = pg_bool(rows, i, 8),
                        .exclusion = pg_bool(rows, i, 10)};
    apart.bound = apart.own ? "true" : arena_printf(probe->arena, "(%s)", bound_of(rows, i, 11));
    /* A row may also come into a partial index, or into a partition. */
    bool plain = apart.own && !pg_bool(rows, i, 7) && strcmp(apart.predicate, "true") == 0;
    apart.idle = apart.own && pg_bool(rows, i, 9);
    if (plain && !apart.idle && !any_changed(probe, columns, n, &changes, err)) return false;
    apart.idle |= !changes;
    list[i] = apart;
  }
  probe->apart = list;
  probe->n_apart = (size_t)PQntuples(rows);
  return true;
}

bool proof_unique(Probe *probe, Error *err) {
  for (size_t i = 0; i < probe->n_apart && probe->refusal == NULL; i++) {
    const ProofApart *apart = &probe->apart[i];
    if (apart->idle) continue;
    if (!meet_production(probe, apart, err)) return false;
    if (probe->refusal == NULL && !apart->own && !meet_each_other(probe, apart, err)) return false;
  }
  return true;
}

/* ---- foreign keys --------------------------------------------------------------------------------------------------
 */

typedef struct ParentKey {
  const char *name, *parent, *parent_name, *whole, *match, *of;
  bool itself, deferrable;
} ParentKey;

/* A foreign key is looked at again when a column of it changes, and only then (it may be NOT VALID); and for every row
 * that comes into the partition that it belongs to. */
static const char *looked_at(Probe *probe, const char *const *columns, size_t n, bool own) {
  const char *differs = own ? differ(probe, columns, n) : "true";
  if (differs[0] == '\0') return sql_proof_inserted;
  return strcmp(differs, "true") == 0
             ? "true"
             : sql_fill(probe->arena, sql_proof_changed, "changes", probe->changes, "columns", differs, NULL);
}

static bool without_parent(Probe *probe, const ParentKey *key, int64_t *ret, Error *err) {
  const char *same = probe->sql.shape->keyed ? probe->same : "c.part = p.tableoid AND c.tid = p.ctid";
  const char *text = key->itself ? sql_fill(probe->arena, sql_proof_no_parent_self, "whole", key->whole, "of", key->of,
                                            "match", key->match, "deferrable", key->deferrable ? "true" : "false",
                                            "parent", probe->sql.table, "changes", probe->changes, "same", same, NULL)
                                 : sql_fill(probe->arena, sql_proof_no_parent, "whole", key->whole, "of", key->of,
                                            "parent", key->parent, "match", key->match, NULL);
  return pg_number(probe->engine, text, NULL, 0, ret, doing, err);
}

bool proof_parents(Probe *probe, Error *err) {
  PG_SCOPED rows = NULL;
  if (!pg_query(probe->engine, sql_proof_parents, &probe->sql.table, 1, &rows, doing, err)) return false;
  for (int i = 0; i < PQntuples(rows) && probe->refusal == NULL; i++) {
    size_t n;
    int64_t missing = 0;
    bool changes = true, own = pg_peek(rows, i, 8) == NULL;
    const char *const *columns = pg_array(probe->arena, pg_peek(rows, i, 7), &n);
    ParentKey key = {.name = pg_peek(rows, i, 0),
                     .parent = pg_peek(rows, i, 1),
                     .parent_name = pg_peek(rows, i, 2),
                     .itself = pg_bool(rows, i, 3),
                     .deferrable = pg_bool(rows, i, 4),
                     .whole = pg_peek(rows, i, 5),
                     .match = pg_peek(rows, i, 6)};
    if (own && !any_changed(probe, columns, n, &changes, err)) return false;
    if (!changes) continue;
    key.of = arena_printf(probe->arena, "(%s) AND %s", bound_of(rows, i, 8), looked_at(probe, columns, n, own));
    if (!without_parent(probe, &key, &missing, err)) return false;
    if (missing > 0)
      probe->refusal = arena_printf(probe->arena, "%" PRId64 " rows have no parent in %s (foreign key “%s”)", missing,
                                    key.parent_name, key.name);
  }
  return true;
}
