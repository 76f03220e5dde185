#include "plan/plan_int.h"

/* The change scope, the checks, and what they leave unproven. */

/* ---- the change scope -------------------------------------------------------------------------------------------- */

static bool scope_column(Resolver *resolver, const SpecText *name, size_t *ret_column, Error *err) {
  size_t column = plan_column(resolver, name->text);
  if (column == resolver->table.n_columns) return plan_no_column(resolver, name, "the column to change,", err);
  if (resolver->columns[column].key) {
    spec_error(err, &name->place, "“%s” is part of the key: a corrected row would be put next to the wrong one",
               name->text);
    return error_hint(err,
                      "declare the business key, the columns that identify a row whether it is right or wrong: "
                      "key: [COLUMN, …]");
  }
  if (!resolver->columns[column].given) {
    spec_error(err, &name->place, "“%s” may change, but the recompute does not give it, so it cannot", name->text);
    return error_hint(err, "let the recompute give it, or take it out of changes");
  }
  *ret_column = column;
  return true;
}

static bool check_condition(Resolver *resolver, const SpecText *sql, const char *recompute, bool aggregate,
                            const char *what, Error *err) {
  int offset = -1;
  return resolver->engine->ops->describe_condition(resolver->engine, resolver->arena, resolver->table.name, recompute,
                                                   sql->text, aggregate, &offset, err) ||
         plan_at_sql(sql, offset, what, err);
}

bool plan_resolve_scope(Resolver *resolver, Error *err) {
  static const int kinds[] = {[SCOPE_COLUMN] = JOB_SCOPE_COLUMN,
                              [SCOPE_ANY_COLUMN] = JOB_SCOPE_ANY,
                              [SCOPE_NEW_ROWS] = JOB_SCOPE_NEW,
                              [SCOPE_VANISHED_ROWS] = JOB_SCOPE_VANISHED};
  const Spec *spec = resolver->spec;
  JobScope *scope = arena_array(resolver->arena, spec->n_changes, sizeof *scope);
  for (size_t i = 0; i < spec->n_changes; i++) {
    const ScopeRule *rule = &spec->changes[i];
    scope[i].kind = kinds[rule->kind];
    if (rule->kind == SCOPE_COLUMN && !scope_column(resolver, &rule->column, &scope[i].column, err)) return false;
    if (rule->where.text != NULL &&
        !check_condition(resolver, &rule->where, NULL, false, "the condition of this change is not right", err))
      return false;
    scope[i].where = rule->where.text;
  }
  resolver->plan->scope = scope;
  resolver->plan->n_scope = spec->n_changes;
  return true;
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static bool resolve_list(Resolver *resolver, const SpecTexts *texts, bool aggregate, const char *what,
                         const char *const **ret, size_t *ret_n, Error *err) {
  const char **list = arena_array(resolver->arena, texts->n, sizeof *list);
  for (size_t i = 0; i < texts->n; i++) {
    /* A row is checked as the recompute gives it; a total sees all of the target's columns. */
    const char *recompute = aggregate ? NULL : resolver->plan->recompute;
    if (!check_condition(resolver, &texts->items[i], recompute, aggregate, what, err)) return false;
    list[i] = texts->items[i].text;
  }
  *ret = list;
  *ret_n = texts->n;
  return true;
}

bool plan_resolve_checks(Resolver *resolver, Error *err) {
  const Spec *spec = resolver->spec;
  Plan *plan = resolver->plan;
  return resolve_list(resolver, &spec->row_checks, false, "this check on rows is not right", &plan->row_checks,
                      &plan->n_row_checks, err) &&
         resolve_list(resolver, &spec->total_checks, true, "this check on totals is not right", &plan->total_checks,
                      &plan->n_total_checks, err);
}

/* ---- what stays unproven ----------------------------------------------------------------------------------------- */

static void add_unproven(Resolver *resolver, const char *text) {
  Plan *plan = resolver->plan;
  const char **grown = arena_grow(resolver->arena, (void *)plan->unproven, plan->n_unproven, sizeof *grown);
  grown[plan->n_unproven++] = text;
  plan->unproven = grown;
}

bool plan_resolve_unproven(Resolver *resolver, Error *err) {
  const Plan *plan = resolver->plan;
  bool command = plan->recompute == NULL;
  if (command && plan->control.declared)
    add_unproven(resolver, "that the command reproduces the control dates: a command is not run while planning");
  else if (!plan->control.declared)
    add_unproven(resolver, "that the recompute reproduces dates that are right today: no control dates are declared");
  if (plan->n_scope == 0) add_unproven(resolver, "that nothing else changes: no change scope is declared");
  if (plan->n_scope > 0 && !plan->shape.keyed)
    add_unproven(resolver, "that nothing else changes: without a key no row can be held against `changes`");
  if (plan->n_total_checks == 0)
    add_unproven(resolver, "that totals agree with the sources: no check on totals is declared");
  if (plan->n_row_checks == 0)
    add_unproven(resolver, "that each new row makes sense by itself: no check on rows is declared");
  if (command) add_unproven(resolver, "that the sources stayed the same: what a command reads is not known");
  return true;
}
