#include <strings.h>

#include "plan/plan_int.h"

/* The columns that identify a row. */

static void set_key(Resolver *resolver, const size_t *columns, size_t n, const char *from) {
  const char **names = arena_array(resolver->arena, n, sizeof *names);
  for (size_t i = 0; i < n; i++) {
    resolver->columns[columns[i]].key = true;
    names[i] = resolver->columns[columns[i]].name;
  }
  resolver->plan->shape.keyed = true;
  plan_infer(resolver, "key", plan_join(resolver->arena, names, n), from);
}

static bool declared_key(Resolver *resolver, Error *err) {
  const SpecTexts *key = &resolver->spec->key;
  size_t *columns = arena_array(resolver->arena, key->n, sizeof *columns);
  for (size_t i = 0; i < key->n; i++) {
    columns[i] = plan_column(resolver, key->items[i].text);
    if (columns[i] == resolver->table.n_columns)
      return plan_no_column(resolver, &key->items[i], "the key's column", err);
    if (!resolver->columns[columns[i]].given) {
      spec_error(err, &key->items[i].place,
                 "the key's column “%s” is not given by the recompute: its rows could not "
                 "be found again in production",
                 key->items[i].text);
      return error_hint(err,
                        "let the recompute give it, or declare the business key: columns that the recompute knows");
    }
  }
  set_key(resolver, columns, key->n, "spec");
  return true;
}

static bool primary_key(Resolver *resolver) {
  const TableFacts *table = &resolver->table;
  size_t *columns = arena_array(resolver->arena, table->n_columns, sizeof *columns), n = 0;
  for (int part = 1; part <= (int)table->n_columns; part++)
    for (size_t i = 0; i < table->n_columns; i++)
      if (table->columns[i].primary == part) columns[n++] = i;
  for (size_t i = 0; i < n; i++)
    if (!resolver->columns[columns[i]].given) return false;
  if (n > 0) set_key(resolver, columns, n, "primary key");
  return n > 0;
}

/* A unique index that could be the key: whole, of plain columns, all of them NOT NULL and given. */
static bool index_fits(const Resolver *resolver, const IndexFacts *index, size_t *columns) {
  if (!index->unique || index->partial || index->expression || index->n == 0) return false;
  for (size_t i = 0; i < index->n; i++) {
    columns[i] = plan_column(resolver, index->columns[i]);
    if (columns[i] == resolver->table.n_columns) return false;
    if (!resolver->columns[columns[i]].given || !resolver->columns[columns[i]].not_null) return false;
  }
  return true;
}

static bool unique_index(Resolver *resolver) {
  size_t *columns = arena_array(resolver->arena, resolver->table.n_columns, sizeof *columns);
  for (size_t i = 0; i < resolver->table.n_indexes; i++) {
    const IndexFacts *index = &resolver->table.indexes[i];
    if (index->n > resolver->table.n_columns || !index_fits(resolver, index, columns)) continue;
    set_key(resolver, columns, index->n, arena_printf(resolver->arena, "unique index %s", index->name));
    return true;
  }
  return false;
}

static bool index_is_key(const Resolver *resolver, const IndexFacts *index) {
  size_t in_key = 0, n_key = 0;
  for (size_t i = 0; i < resolver->table.n_columns; i++) n_key += resolver->columns[i].key;
  for (size_t i = 0; i < index->n; i++) {
    size_t column = plan_column(resolver, index->columns[i]);
    in_key += column < resolver->table.n_columns && resolver->columns[column].key;
  }
  return !index->partial && !index->expression && in_key == index->n && in_key == n_key;
}

static bool has_constraints(const Resolver *resolver) {
  const TableFacts *table = &resolver->table;
  if (table->has_checks || table->n_outgoing > 0) return true;
  for (size_t i = 0; i < table->n_indexes; i++)
    if (table->indexes[i].unique && !index_is_key(resolver, &table->indexes[i])) return true;
  return false;
}

/* Without a key whole rows are replaced, and what the recompute does not give would be lost with the old ones. */
static bool all_given(Resolver *resolver, Error *err) {
  for (size_t i = 0; i < resolver->table.n_columns; i++) {
    if (resolver->columns[i].given || resolver->columns[i].generated) continue;
    spec_error(err, &resolver->spec->target.place,
               "%s has no key that the recompute gives, so whole dates would be replaced, and what stands in “%s” "
               "would be lost",
               resolver->table.name, resolver->columns[i].name);
    return error_hint(
        err, "declare the columns that identify a row, key: [COLUMN, …], or let the recompute give every column");
  }
  return true;
}

bool plan_resolve_key(Resolver *resolver, Error *err) {
  Plan *plan = resolver->plan;
  plan->shape.null_keys = resolver->spec->allow_null_keys;
  plan->shape.null_dates = resolver->spec->allow_null_dates;
  if (resolver->spec->key.n > 0) {
    if (!declared_key(resolver, err)) return false;
  } else if (!primary_key(resolver) && !unique_index(resolver)) {
    plan_infer(resolver, "key", "none", "no primary key or unique NOT NULL index that the recompute gives");
    plan_warn(resolver->arena, plan,
              "%s has no key that the recompute gives: whole dates are replaced, and rows cannot be told apart; "
              "declare the business key if there is one",
              plan->shape.table);
    if (!all_given(resolver, err)) return false;
  }
  plan->has_constraints = has_constraints(resolver);
  return true;
}
