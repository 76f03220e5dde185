#include "plan/plan_int.h"

/* From a spec to names, columns and dates that the catalogue knows: the order of the parts. */

static bool resolve_lineage(Resolver *resolver, Error *err) {
  return lineage_blast_radius(resolver->arena, resolver->engine, resolver->table.name, resolver->spec,
                              &resolver->plan->radius, err);
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
