#include "plan/plan_int.h"

/* The range, the control dates, the dates that may be emptied: by the target's grain and zone. */

static bool parse_range(const Resolver *resolver, const SpecText *text, DateRange *ret, Error *err) {
  const DateCodec *codec = &resolver->plan->shape.codec;
  return date_range_parse(text->text, codec->grain, codec->zone, ret, err) || plan_at_place(&text->place, err);
}

static bool count_dates(const Resolver *resolver, const SpecText *text, const DateRange *range, int64_t *ret_n,
                        Error *err) {
  const DateCodec *codec = &resolver->plan->shape.codec;
  int64_t n = date_range_count(range, codec->grain, codec->zone);
  if (n > PLAN_MAX_DATES) {
    spec_error(err, &text->place, "this is %lld dates: more than %d in one backfill cannot be looked through",
               (long long)n, PLAN_MAX_DATES);
    return error_hint(err, "split it into several backfills, or use a coarser grain");
  }
  *ret_n = n;
  return true;
}

static bool resolve_control(Resolver *resolver, Error *err) {
  const SpecText *text = &resolver->spec->control;
  Plan *plan = resolver->plan;
  DateRange control;
  int64_t n;
  if (text->text == NULL) return true;
  if (!parse_range(resolver, text, &control, err) || !count_dates(resolver, text, &control, &n, err)) return false;
  if (control.from < plan->range.to && plan->range.from < control.to) {
    spec_error(err, &text->place,
               "the control dates overlap the range: dates that are wrong cannot show that the recompute is right");
    return error_hint(err, "choose dates outside %s that are right today", resolver->spec->range.text);
  }
  plan->control = (ControlFacts){.declared = true, .range = control};
  return true;
}

bool plan_resolve_ranges(Resolver *resolver, Error *err) {
  const Spec *spec = resolver->spec;
  Plan *plan = resolver->plan;
  if (!parse_range(resolver, &spec->range, &plan->range, err) ||
      !count_dates(resolver, &spec->range, &plan->range, &plan->n_dates, err) || !resolve_control(resolver, err))
    return false;
  plan->emptied = arena_array(resolver->arena, spec->allow_emptied.n, sizeof *plan->emptied);
  for (size_t i = 0; i < spec->allow_emptied.n; i++)
    if (!parse_range(resolver, &spec->allow_emptied.items[i], &plan->emptied[i], err)) return false;
  plan->n_emptied = spec->allow_emptied.n;
  return true;
}

bool plan_may_empty(const Plan *plan, Instant date) {
  for (size_t i = 0; i < plan->n_emptied; i++)
    if (date >= plan->emptied[i].from && date < plan->emptied[i].to) return true;
  return false;
}

const Instant *plan_dates(Arena *arena, const Plan *plan, DateRange range, size_t *ret_n) {
  const DateCodec *codec = &plan->shape.codec;
  size_t n = 0;
  Instant *dates = arena_grow(arena, NULL, 0, sizeof *dates);
  Instant at = range.from;
  for (; at < range.to; at = grain_next(codec->grain, codec->zone, at)) {
    dates[n++] = at;
    dates = arena_grow(arena, dates, n, sizeof *dates);
  }
  dates[n] = range.to;
  *ret_n = n;
  return dates;
}

Job plan_job(const Plan *plan, const Instant *dates, size_t n) {
  return (Job){.shape = &plan->shape,
               .id = plan->id,
               .recompute = plan->recompute,
               .overlay = plan->overlay,
               .range = plan->range,
               .dates = dates,
               .n = n,
               .scope = plan->scope,
               .n_scope = plan->n_scope,
               .row_checks = plan->row_checks,
               .n_row_checks = plan->n_row_checks,
               .max_examples = PLAN_EXAMPLES};
}
