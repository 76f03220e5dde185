#include "plan/plan_int.h"

/* From a spec to names, columns and dates that the catalogue knows: the order of the parts. */

/* The columns that the change scope names; NULL when any may change, or rows may come and go. */
static const char *const *changed_columns(Resolver *resolver, size_t *ret_n) {
  const Plan *plan = resolver->plan;
  const char **columns = arena_array(resolver->arena, plan->n_scope, sizeof *columns);
  for (size_t i = 0; i < plan->n_scope; i++) {
    if (plan->scope[i].kind != JOB_SCOPE_COLUMN) return NULL;
    columns[i] = plan->shape.columns[plan->scope[i].column].name;
  }
  *ret_n = plan->n_scope;
  return plan->n_scope == 0 ? NULL : columns;
}

static bool resolve_lineage(Resolver *resolver, Error *err) {
  Plan *plan = resolver->plan;
  LineageAsk ask = {.target = resolver->table.name,
                    .ranged = true,
                    .range = plan->range,
                    .grain = plan->shape.codec.grain,
                    .zone = plan->shape.codec.zone};
  ask.columns = changed_columns(resolver, &ask.n_columns);
  if (!resolver->engine->ops->now(resolver->engine, &ask.now, err)) return false;
  return lineage_blast_radius(resolver->arena, resolver->engine, &ask, resolver->spec, &plan->radius, err);
}

static bool resolve_digest(Resolver *resolver, Error *err) {
  return plan_digest(resolver->arena, resolver->engine, resolver->plan, err);
}

static bool (*const parts[])(Resolver *, Error *) = {
    plan_resolve_target, plan_resolve_recompute, plan_resolve_columns, plan_resolve_dates, plan_resolve_ranges,
    plan_resolve_key,    plan_resolve_scope,     plan_resolve_checks,  plan_resolve_clock, plan_resolve_sources,
    resolve_lineage,     plan_resolve_unproven,  plan_resolve_workers, resolve_digest,
};

bool plan_resolve(Arena *arena, Engine *engine, const Spec *spec, Plan *ret, Error *err) {
  Plan plan = {.spec = *spec};
  Resolver resolver = {.arena = arena, .engine = engine, .plan = &plan, .spec = &plan.spec};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (!parts[i](&resolver, err)) return false;
  *ret = plan;
  return true;
}
