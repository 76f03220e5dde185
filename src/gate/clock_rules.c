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

bool gate_minds(GateAct act, const PlanJob *job) {
  return act != GATE_ROLLBACK || (job->concerns & CONCERNS_WRITES) != 0;
}

/* "the job nightly_load, which writes daily_delays," */
const char *gate_who(const GateCase *gate, const PlanJob *job) {
  const char *table = gate->plan->shape.table;
  if (job == &gate->plan->clock.jobs[0]) return "production";
  if (job->concerns & CONCERNS_WRITES)
    return arena_printf(gate->arena, "the job %s, which writes %s,", job->name, table);
  if (job->concerns & CONCERNS_FEEDS)
    return arena_printf(gate->arena, "the job %s, which feeds the recompute of %s,", job->name, table);
  return arena_printf(gate->arena, "the job %s, which reads %s,", job->name, table);
}

bool gate_schedule_unknown(const GateCase *gate, GateReason *ret) {
  if (gate->plan == NULL || gate->plan->clock.n == 0)
    return gate_because(gate, ret, "when production runs was not looked at");
  for (size_t i = 0; i < gate->rules.n; i++) {
    const PlanJob *job = gate->jobs[i];
    if (job->declared) continue;
    gate_because(gate, ret,
                 "when %s runs is not declared: a backfill beside it could overwrite its rows, or lose its own",
                 gate_who(gate, job));
    if (job == &gate->plan->clock.jobs[0])
      return gate_advise(gate, ret,
                         "write production: {schedule: \"0 2 * * *\", zone: UTC, p95: 20m}, or production: none "
                         "if nothing ever writes %s on a schedule",
                         gate->plan->shape.table);
    return gate_advise(gate, ret,
                       "write under jobs, in %s: schedule: \"0 2 * * *\", zone: UTC, p95: 20m; or schedule: none, and "
                       "live to tell when it runs, if no clock starts it",
                       job->name);
  }
  return false;
}

/* Fewer measured runs than this say nothing of how long the next may take (shared case file schedules.md, A.2). */
enum { FEWEST_RUNS = 5 };

bool gate_p95_unknown(const GateCase *gate, GateReason *ret) {
  for (size_t i = 0; i < gate->rules.n; i++) {
    const PlanJob *job = gate->jobs[i];
    if (gate->rules.busy[i].schedule == NULL) continue;
    if (job->when.p95 < 0) {
      gate_because(gate, ret, "how long a run of %s takes is not declared: when its work is over is unknown",
                   gate_who(gate, job));
      return gate_advise(gate, ret,
                         "write p95 beside its schedule: the time within which 19 of 20 runs end, for example "
                         "p95: 20m");
    }
    if (job->when.runs > 0 && job->when.runs < FEWEST_RUNS) {
      gate_because(gate, ret, "how long a run of %s takes was measured on %d runs: too few to plan on",
                   gate_who(gate, job), job->when.runs);
      return gate_advise(gate, ret,
                         "measure again when %d runs are over; or write a p95 that you answer for, and take out runs",
                         FEWEST_RUNS);
    }
  }
  return false;
}

/* The last fire before this one, looked for ever farther back; `fire` itself when there is none in ten years. */
static Instant fire_before(const Schedule *schedule, Instant fire) {
  Instant found, last = fire;
  for (Instant back = 3600; back < INT64_C(10) * 366 * 86400; back *= 8) {
    if (!schedule_next_any(schedule, fire - back, &found) || found >= fire) continue;
    while (found < fire) {
      last = found;
      if (!schedule_next_any(schedule, found, &found)) break;
    }
    break;
  }
  return last;
}

/* "2026-12-01 02:00 UTC", with the label under which Airflow shows a run that starts at its interval's end. */
static const char *run_text(const GateCase *gate, size_t i, Instant fire) {
  const Schedule *schedule = gate->rules.busy[i].schedule;
  char run[MOMENT_TEXT], label[MOMENT_TEXT];
  put_moment(fire, schedule_zone(schedule), run);
  if (!gate->jobs[i]->when.interval) return arena_strdup(gate->arena, run);
  put_moment(fire_before(schedule, fire), schedule_zone(schedule), label);
  return arena_printf(gate->arena, "%s (labelled %s)", run, label);
}

bool gate_production_run(const GateCase *gate, GateReason *ret) {
  const WindowRules runs = {.busy = gate->rules.busy, .n = gate->rules.n};
  WindowClosed closed;
  if (window_free(&runs, gate->now, gate->end, &closed)) return false;
  if (schedule_anytime(runs.busy[closed.index].schedule)) {
    gate_because(gate, ret, "%s may start at any second: its schedule counts from when its scheduler began",
                 gate_who(gate, gate->jobs[closed.index]));
    return gate_advise(gate, ret,
                       "write its schedule in the dialect interval with the start of any run, or pause that job and "
                       "leave its schedule out");
  }
  gate_because(gate, ret, "the run of %s at %s is too near: with its guard it could meet this work",
               gate_who(gate, gate->jobs[closed.index]), run_text(gate, closed.index, closed.at));
  return advise_window(gate, schedule_zone(runs.busy[closed.index].schedule), ret);
}

bool gate_freeze(const GateCase *gate, GateReason *ret) {
  const PlanClock *clock = &gate->plan->clock;
  const WindowRules frozen = {.freezes = &clock->freezes};
  WindowClosed closed;
  if (clock->freeze_unknown != NULL) {
    gate_because(gate, ret, "whether today is a day on which nothing is to change cannot be told: %s",
                 clock->freeze_unknown);
    return gate_advise(gate, ret, "correct freeze in tidegate.yaml, or the file that it names");
  }
  if (window_free(&frozen, gate->now, gate->end, &closed)) return false;
  gate_because(gate, ret, "this work would meet the freeze “%s” (%s): on these days nothing is to change",
               clock->freezes.items[closed.index].text, zone_name(clock->freezes.zone));
  return advise_window(gate, clock->freezes.zone, ret);
}

bool gate_idle_hours(const GateCase *gate, GateReason *ret) {
  const PlanClock *clock = &gate->plan->clock;
  const WindowRules hours = {.idle = &clock->idle};
  WindowClosed closed;
  if (!clock->has_idle || window_free(&hours, gate->now, gate->end, &closed)) return false;
  gate_because(gate, ret, "this work would not stay within the idle hours %s (%s): people need the database now",
               gate->plan->spec.idle.text, zone_name(clock->idle.zone));
  return advise_window(gate, clock->idle.zone, ret);
}

/* The start of the date that is not over yet, by database time, as the plan's dates are written. Civil dates are
 * counted in UTC, but a day is over when it is over where people live. */
static Instant today_of(const GateCase *gate) {
  const DateCodec *codec = &gate->plan->shape.codec;
  Instant now = gate->now;
  if (date_kind_is_civil(codec->kind)) now += zone_offset(gate->plan->day_zone, now);
  return grain_floor(codec->grain, codec->zone, now);
}

bool gate_dates_not_over(const GateCase *gate, GateReason *ret) {
  const DateCodec *codec = &gate->plan->shape.codec;
  Instant today = today_of(gate);
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
  Instant first = today_of(gate);
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
