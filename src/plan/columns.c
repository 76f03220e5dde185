#include <string.h>
#include <strings.h>

#include "plan/plan_int.h"

/* The target, the recompute, and which columns of the one the other gives. */

size_t plan_column(const Resolver *resolver, const char *name) {
  const TableFacts *table = &resolver->table;
  for (size_t i = 0; i < table->n_columns; i++)
    if (strcmp(table->columns[i].name, name) == 0) return i;
  for (size_t i = 0; i < table->n_columns; i++)
    if (strcasecmp(table->columns[i].name, name) == 0) return i;
  return table->n_columns;
}

bool plan_same_table(const char *a, const char *b) {
  return strcmp(a, b) == 0 || (strchr(a, '"') == NULL && strcasecmp(a, b) == 0);
}

static const char *nearest_column(const Resolver *resolver, const char *name) {
  const TableFacts *table = &resolver->table;
  const char **names = arena_array(resolver->arena, table->n_columns, sizeof *names);
  for (size_t i = 0; i < table->n_columns; i++) names[i] = table->columns[i].name;
  return spec_nearest(name, names, table->n_columns);
}

bool plan_no_column(const Resolver *resolver, const SpecText *name, const char *role, Error *err) {
  const char *nearest = nearest_column(resolver, name->text);
  spec_error(err, &name->place, "%s “%s” is not a column of %s", role, name->text, resolver->table.name);
  if (nearest != NULL) return error_hint(err, "did you mean “%s”?", nearest);
  const char **names = arena_array(resolver->arena, resolver->table.n_columns, sizeof *names);
  for (size_t i = 0; i < resolver->table.n_columns; i++) names[i] = resolver->table.columns[i].name;
  return error_hint(err, "its columns are: %s", plan_join(resolver->arena, names, resolver->table.n_columns));
}

/* ---- the target -------------------------------------------------------------------------------------------------- */

static bool refuse_kind(const Resolver *resolver, Error *err) {
  const SpecPlace *place = &resolver->spec->target.place;
  const char *name = resolver->table.name;
  if (resolver->table.refusal != NULL) {
    spec_error(err, place, "%s %s", name, resolver->table.refusal);
    return error_hint(err, "%s", resolver->table.way_out);
  }
  switch (resolver->table.kind) {
    case TABLE_VIEW:
      spec_error(err, place, "%s is a view: it has no rows of its own to correct", name);
      return error_hint(err, "name the table that the view reads, or correct the view's definition");
    case TABLE_VIRTUAL:
      spec_error(err, place, "%s is a virtual table: its module keeps the rows, and what a swap would do is unknown",
                 name);
      return error_hint(err, "backfill the ordinary table that it is filled from");
    default:
      spec_error(err, place, "%s belongs to the database or to Tidegate itself and is never written", name);
      return error_hint(err, "name the production table to correct");
  }
}

static bool no_target(Resolver *resolver, Error *err) {
  const char *const *names;
  size_t n;
  const SpecText *target = &resolver->spec->target;
  Error listing;
  bool listed = resolver->engine->ops->list_tables(resolver->engine, resolver->arena, &names, &n, &listing);
  const char *hint = arena_strdup(resolver->arena, error_hint_text(err));
  spec_error(err, &target->place, "there is no table “%s” in %s", target->text, resolver->spec->database_path);
  err->code = ERR_NOT_FOUND;
  const char *nearest = listed ? spec_nearest(target->text, names, n) : NULL;
  if (nearest != NULL) return error_hint(err, "did you mean “%s”?", nearest);
  return error_hint(err, "%s", hint);
}

bool plan_resolve_target(Resolver *resolver, Error *err) {
  const char *name = resolver->spec->target.text;
  Engine *engine = resolver->engine;
  if (!engine->ops->describe_table(engine, resolver->arena, name, &resolver->table, err))
    return err->code == ERR_NOT_FOUND ? no_target(resolver, err) : false;
  const TableFacts *table = &resolver->table;
  if (table->kind != TABLE_ORDINARY || table->refusal != NULL) return refuse_kind(resolver, err);
  const char *identity;
  if (!engine->ops->object_identity(engine, resolver->arena, table->name, &identity, err)) return false;

  Plan *plan = resolver->plan;
  plan->definition =
      arena_printf(resolver->arena, "%s\n%s", table->definition == NULL ? "" : table->definition, identity);
  plan->shape.table = table->name;
  plan->shape.n = table->n_columns;
  plan->shape.columns = resolver->columns = arena_array(resolver->arena, table->n_columns, sizeof *resolver->columns);
  for (size_t i = 0; i < table->n_columns; i++)
    resolver->columns[i] = (ShapeColumn){.name = table->columns[i].name,
                                         .type = table->columns[i].type,
                                         .generated = table->columns[i].generated,
                                         .not_null = table->columns[i].not_null};
  plan->triggers = table->triggers;
  plan->n_triggers = table->n_triggers;
  plan->has_children = table->n_incoming > 0;
  if (table->lacks != NULL)
    plan_warn(
        resolver->arena, plan,
        "this role may run and seal but not publish: it lacks %s on %s; tidegate doctor --grant ROLE --publish prints "
        "what a DBA runs",
        table->lacks, table->name);
  return true;
}

/* ---- the recompute ----------------------------------------------------------------------------------------------- */

static bool refuse_unbounded(const Resolver *resolver, Error *err) {
  const QueryFacts *query = &resolver->query;
  spec_error(err, &resolver->spec->recompute.sql.place, "the recompute does not use %s: it would recompute other dates",
             query->uses_from ? ":to"
             : query->uses_to ? ":from"
                              : ":from and :to");
  return error_hint(err, "bound it by the source's date: WHERE day >= :from AND day < :to");
}

/* A recompute that reads the target must see what earlier batches corrected of it. */
static bool refuse_past(const Resolver *resolver, const char *past, Error *err) {
  spec_error(err, &resolver->spec->recompute.sql.place,
             "the recompute reads %s %s: there it would see the wrong rows of dates that are corrected already",
             resolver->table.name, past);
  return error_hint(err,
                    "read %s itself, by its own name; where two tables share the name, through a view of the other",
                    resolver->table.name);
}

bool plan_resolve_recompute(Resolver *resolver, Error *err) {
  const SpecText *sql = &resolver->spec->recompute.sql;
  Plan *plan = resolver->plan;
  if (sql->text == NULL) {
    plan->spec.full_shadow = true; /* a command has nothing else to write into */
    return true;
  }
  int offset = -1;
  if (!resolver->engine->ops->describe_query(resolver->engine, resolver->arena, sql->text, &resolver->query, &offset,
                                             err))
    return plan_at_sql(sql, offset, "the recompute is not right", err);
  const QueryFacts *query = &resolver->query;
  if (!query->uses_from || !query->uses_to) return refuse_unbounded(resolver, err);
  plan->recompute = sql->text;
  plan->volatile_functions = query->volatile_functions;
  plan->n_volatile = query->n_volatile;
  if (query->n_volatile > 0)
    plan_warn(resolver->arena, plan, "the recompute calls %s: a second run may give other values",
              plan_join(resolver->arena, query->volatile_functions, query->n_volatile));
  if (query->n_opaque > 0)
    plan_warn(resolver->arena, plan,
              "the recompute calls %s: tables that only its body reads are not watched for drift",
              plan_join(resolver->arena, query->opaque_functions, query->n_opaque));
  for (size_t i = 0; i < query->n_reads; i++) {
    if (!plan_same_table(query->reads[i].table, resolver->table.name)) continue;
    plan->overlay = true;
    if (query->reads[i].past != NULL) return refuse_past(resolver, query->reads[i].past, err);
  }
  return true;
}

/* ---- which columns are given ------------------------------------------------------------------------------------- */

static bool give_column(Resolver *resolver, const char *name, Error *err) {
  SpecText output = {name, resolver->spec->recompute.sql.place};
  size_t i = plan_column(resolver, name);
  if (i == resolver->table.n_columns) return plan_no_column(resolver, &output, "the recompute's column", err);
  if (resolver->columns[i].given) {
    spec_error(err, &output.place, "the recompute gives “%s” twice: which of the two is meant is unknown", name);
    return error_hint(err, "leave one of them out, or give it the name of another column with AS");
  }
  if (resolver->columns[i].generated) {
    spec_error(err, &output.place, "“%s” is a generated column: the database makes it, it cannot be written", name);
    return error_hint(err, "leave it out of the recompute");
  }
  resolver->columns[i].given = true;
  return true;
}

static bool give_columns(Resolver *resolver, Error *err) {
  if (resolver->plan->recompute == NULL) {
    for (size_t i = 0; i < resolver->table.n_columns; i++) resolver->columns[i].given = !resolver->columns[i].generated;
    return true;
  }
  for (size_t i = 0; i < resolver->query.n_columns; i++)
    if (!give_column(resolver, resolver->query.columns[i], err)) return false;
  return true;
}

static bool preserve_columns(Resolver *resolver, Error *err) {
  const SpecTexts *preserve = &resolver->spec->preserve;
  for (size_t i = 0; i < preserve->n; i++) {
    size_t column = plan_column(resolver, preserve->items[i].text);
    if (column == resolver->table.n_columns)
      return plan_no_column(resolver, &preserve->items[i], "the column to preserve,", err);
    resolver->columns[column].given = false;
  }
  return true;
}

static bool set_tolerances(Resolver *resolver, Error *err) {
  for (size_t i = 0; i < resolver->spec->n_tolerances; i++) {
    const ColumnTolerance *tolerance = &resolver->spec->tolerances[i];
    size_t column = plan_column(resolver, tolerance->column.text);
    if (column == resolver->table.n_columns)
      return plan_no_column(resolver, &tolerance->column, "the column with a tolerance,", err);
    resolver->columns[column].tolerance = tolerance->absolute;
  }
  return true;
}

/* The names of the columns of one sort, and a warning for those without which no new row can be inserted. */
static void note_columns(Resolver *resolver) {
  const TableFacts *table = &resolver->table;
  const char **given = arena_array(resolver->arena, table->n_columns, sizeof *given);
  const char **kept = arena_array(resolver->arena, table->n_columns, sizeof *kept);
  size_t n_given = 0, n_kept = 0, n_primary = 0;
  for (size_t i = 0; i < table->n_columns; i++) n_primary += table->columns[i].primary > 0;
  for (size_t i = 0; i < table->n_columns; i++) {
    const ColumnFacts *column = &table->columns[i];
    if (resolver->columns[i].given) given[n_given++] = column->name;
    if (resolver->columns[i].given || column->generated) continue;
    kept[n_kept++] = column->name;
    bool rowid = column->primary == 1 && n_primary == 1 && strcasecmp(column->type, "INTEGER") == 0;
    if (column->not_null && !column->has_default && !rowid)
      plan_warn(resolver->arena, resolver->plan,
                "“%s” may not be NULL, has no default and is not given by the recompute: a new row would be refused",
                column->name);
  }
  const char *from = resolver->plan->recompute == NULL ? "all columns that are not generated: a command is called"
                                                       : "names of the recompute's columns";
  plan_infer(resolver, "columns", plan_join(resolver->arena, given, n_given), from);
  if (n_kept > 0)
    plan_infer(
        resolver, "preserve", plan_join(resolver->arena, kept, n_kept),
        resolver->spec->preserve.n > 0 ? "spec, and what the recompute does not give" : "not given by the recompute");
}

bool plan_resolve_columns(Resolver *resolver, Error *err) {
  if (!give_columns(resolver, err) || !preserve_columns(resolver, err) || !set_tolerances(resolver, err)) return false;
  note_columns(resolver);
  return true;
}
