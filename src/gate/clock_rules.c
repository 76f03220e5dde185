#include <stdio.h>

#include "gate/gate_int.h"

/* Law 4: never beside the production run, and never in dates that production still writes. */

enum { MOMENT_TEXT = 96 };

/* "2026-12-01 02:00 America/New_York" */
static void put_moment(Instant at, const Zone *zone, char text[MOMENT_TEXT]) {
  Civil civil = civil_from_seconds(at + zone_offset(zone, at));
  snprintf(text, MOMENT_TEXT, "%04d-%02d-%02d %02d:%02d %s", civil.year, civil.month, civil.day, civil.hour,
           civil.minute, zone_name(zone));
}

/* Says when it may be tried again. */
static bool advise_window(const GateCase *gate, const Zone *zone, GateReason *ret) {
  char from[MOMENT_TEXT];
  ret->waits = gate->next.to != 0;
  if (!ret->waits)
    return gate_advise(gate, ret,
                       "no window of the %lld seconds needed is open in the next 14 days: make batches "
                       "smaller under budget, or the guard shorter under production",
                       (long long)(gate->end - gate->now));
  put_moment(gate->next.from, zone, from);
  return gate_advise(gate, ret, "the next window opens at %s: type the same then (tidegate run waits for it by itself)",
                     from);
}

bool gate_schedule_unknown(const GateCase *gate, GateReason *ret) {
  if (gate->plan->clock.declared) return false;
  gate_because(gate, ret,
               "when production runs is not declared: a backfill beside it could overwrite its rows, or lose "
               "its own");
  return gate_advise(gate, ret,
                     "write production: {schedule: \"0 2 * * *\", zone: UTC, p95: 20m}, or production: none "
                     "if nothing ever writes %s on a schedule",
                     gate->plan->shape.table);
}

bool gate_p95_unknown(const GateCase *gate, GateReason *ret) {
  if (gate->plan->clock.rule.schedule == NULL || gate->plan->spec.production.when.p95 >= 0) return false;
  gate_because(gate, ret, "how long production's run takes is not declared: when its work is over is unknown");
  return gate_advise(gate, ret,
                     "write p95 under production: the time within which 19 of 20 runs end, for example "
                     "p95: 20m");
}

bool gate_production_run(const GateCase *gate, GateReason *ret) {
  const PlanClock *clock = &gate->plan->clock;
  WindowCloser closer;
  Instant fire;
  char run[MOMENT_TEXT];
  if (clock->rule.schedule == NULL) return false;
  if (window_free(&clock->rule, 1, NULL, gate->now, gate->end, &closer, &fire)) return false;
  const Zone *zone = schedule_zone(clock->rule.schedule);
  put_moment(fire, zone, run);
  gate_because(gate, ret,
               "production's run of %s is too near: with its guard it could meet this work, and both write "
               "the same rows",
               run);
  return advise_window(gate, zone, ret);
}

bool gate_idle_hours(const GateCase *gate, GateReason *ret) {
  const PlanClock *clock = &gate->plan->clock;
  WindowCloser closer;
  Instant at;
  if (!clock->has_idle || window_free(NULL, 0, &clock->idle, gate->now, gate->end, &closer, &at)) return false;
  gate_because(gate, ret, "this work would not stay within the idle hours %s (%s): people need the database now",
               gate->plan->spec.idle.text, zone_name(clock->idle.zone));
  return advise_window(gate, clock->idle.zone, ret);
}

bool gate_running_now(const GateCase *gate, GateReason *ret) {
  const char *sql = gate->plan->clock.running;
  double running;
  Error failed;
  if (sql == NULL) return false;
  if (!gate->engine->ops->number(gate->engine, sql, &running, &failed)) {
    gate_because(gate, ret, "whether a production run is running now cannot be told: %s", failed.message);
    return gate_advise(gate, ret,
                       "correct production.running: a query of one row and one number, above 0 while a run "
                       "is running");
  }
  if (running <= 0) return false; /* NaN is not: it denies */
  gate_because(gate, ret, "a production run is running now (production.running gives %g)", running);
  gate_advise(gate, ret, "wait until it has ended, then the same command carries on");
  return ret->waits = true;
}

/* Civil dates are counted in UTC, but a day is over when it is over where people live. */
Instant gate_today(const GateCase *gate) {
  const DateCodec *codec = &gate->plan->shape.codec;
  Instant now = gate->now;
  if (codec->kind == DATE_TEXT) now += zone_offset(gate->plan->day_zone, now);
  return grain_floor(codec->grain, codec->zone, now);
}

bool gate_dates_not_over(const GateCase *gate, GateReason *ret) {
  const DateCodec *codec = &gate->plan->shape.codec;
  Instant today = gate_today(gate);
  char last[32], current[32];
  if (gate->plan->range.to <= today) return false;
  grain_label(codec->grain, codec->zone, grain_floor(codec->grain, codec->zone, gate->plan->range.to - 1), last);
  grain_label(codec->grain, codec->zone, today, current);
  gate_because(gate, ret,
               "the range goes to %s, but %s is not over by the database's clock (%s): its rows are still "
               "coming",
               last, current, zone_name(gate->plan->day_zone));
  if (gate->plan->range.from >= today) return gate_advise(gate, ret, "choose a range that ends before %s", current);
  grain_label(codec->grain, codec->zone, grain_floor(codec->grain, codec->zone, today - 1), last);
  return gate_advise(gate, ret, "end the range at %s or before", last);
}

bool gate_lookback(const GateCase *gate, GateReason *ret) {
  const SpecProduction *production = &gate->plan->spec.production;
  const DateCodec *codec = &gate->plan->shape.codec;
  if (production->lookback <= 0 || production->lookback_fixed) return false;
  Instant first = gate_today(gate);
  for (int i = 0; i < production->lookback && first > gate->plan->range.from; i++)
    first = grain_floor(codec->grain, codec->zone, first - 1);
  if (gate->plan->range.to <= first) return false;
  gate_because(gate, ret,
               "production's job rewrites its last %d dates, and the range reaches into them: the next run "
               "would bring the fault back",
               production->lookback);
  return gate_advise(gate, ret,
                     "correct the job first, then write lookback_fixed: true under production; or end the "
                     "range before those dates");
}
