#include "plan/plan_int.h"

/* The window's rules: production's schedule, idle hours, the question whether a run is running now. */

static bool resolve_schedule(Resolver *resolver, const Zone *zone, Error *err) {
  const SpecProduction *production = &resolver->spec->production;
  PlanClock *clock = &resolver->plan->clock;
  clock->declared = production->when.expression.text != NULL || production->none;
  clock->rule = (BusyRule){.p95 = production->when.p95 < 0 ? 0 : production->when.p95,
                           .guard = production->when.guard,
                           .jitter = production->when.jitter};
  clock->running = production->live.running.text;
  if (production->when.expression.text == NULL) return true;
  return schedule_parse(resolver->arena, production->when.dialect, production->when.expression.text, zone,
                        &clock->rule.schedule, err) ||
         plan_at_place(&production->when.expression.place, err);
}

static bool resolve_idle(Resolver *resolver, const Zone *production_zone, Error *err) {
  const Spec *spec = resolver->spec;
  PlanClock *clock = &resolver->plan->clock;
  const Zone *zone = production_zone;
  if (spec->idle.text == NULL) return true;
  if (spec->idle_zone.text != NULL && !zone_open(resolver->arena, spec->idle_zone.text, &zone, err))
    return plan_at_place(&spec->idle_zone.place, err);
  clock->has_idle = true;
  return idle_hours_parse(spec->idle.text, zone, &clock->idle, err) || plan_at_place(&spec->idle.place, err);
}

bool plan_resolve_clock(Resolver *resolver, Error *err) {
  const Spec *spec = resolver->spec;
  const Zone *zone = resolver->plan->day_zone;
  const SpecText *declared = &spec->production.when.zone;
  if (declared->text != NULL && !zone_open(resolver->arena, declared->text, &zone, err))
    return plan_at_place(&declared->place, err);
  if (spec->production.when.expression.text != NULL || spec->idle.text != NULL)
    plan_infer(resolver, "production.zone", zone_name(zone),
               declared->text != NULL    ? "spec"
               : spec->zone.text != NULL ? "the zone of the dates"
                                         : "default");
  if (spec->production.when.expression.text != NULL && declared->text == NULL && spec->zone.text == NULL)
    plan_warn(resolver->arena, resolver->plan,
              "production's schedule has no zone: it is read by UTC; if its scheduler runs by another, write it under "
              "production");
  return resolve_schedule(resolver, zone, err) && resolve_idle(resolver, zone, err);
}
