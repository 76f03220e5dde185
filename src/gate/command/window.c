#include <stdio.h>

#include "gate/command/command_int.h"
#include "gate/command/offer.h"
#include "time/quantity.h"

/* Whether there is time for it. */

/* What is longer than this is not asked about: no window is. */
static const double LONGEST = 366.0 * 86400;

static double forecast(const CommandTarget *target) {
  double seconds = (double)target->n_dates * target->per_date;
  return seconds > LONGEST ? LONGEST : seconds;
}

/* The dates that one command may write at most, by the seconds that a date takes. */
static int64_t most_dates(const CommandTarget *target) {
  double most = target->per_date > 0 ? target->plan.spec.budget.batch / target->per_date : (double)target->n_dates;
  return most < 1 ? 1 : (int64_t)most;
}

/* A run of production computes one date: where nothing is said of the command, that is how long it takes for one. */
void command_forecast_unknown(CommandCase *c, const char *rule) {
  for (size_t i = 0; i < c->n_targets; i++) {
    CommandTarget *target = &c->targets[i];
    if (target->record.id == NULL) continue;
    if (target->per_date < 0) target->per_date = target->plan.clock.jobs[0].when.p95;
    if (target->per_date >= 0) continue;
    command_because(c, rule,
                    "how long it takes for one date of %s is not known, so whether it ends before production's "
                    "next run cannot be told",
                    target->table);
    command_advise(c, "write under jobs, in %s: per_date: 90s",
                   target->job == NULL ? "the job" : target->job->name.text);
  }
}

void command_window_closed(CommandCase *c, const char *rule) {
  for (size_t i = 0; i < c->n_targets; i++) {
    CommandTarget *target = &c->targets[i];
    Verdict verdict;
    const GatePass *unused;
    Error err;
    char need[32];
    if (target->record.id == NULL || target->per_date < 0) continue;
    if (!gate_judge(c->arena, c->engine, &target->plan, GATE_BATCH, forecast(target), &verdict, &unused, &err)) {
      command_because(c, rule, "whether there is time for it cannot be told: %s", err.message);
      continue;
    }
    target->until = verdict.window.to;
    duration_label(forecast(target), need);
    for (size_t k = 0; k < verdict.n; k++) {
      command_because(c, rule, "%s (it is expected to take %s)", verdict.reasons[k].text, need);
      if (verdict.reasons[k].hint != NULL) command_advise(c, "%s", verdict.reasons[k].hint);
    }
  }
}

/* The same command over the lightest of its dates in which there are rows; NULL: its dates cannot be replaced surely.
 */
static const char *lightest(CommandCase *c, const CommandTarget *target) {
  const Plan *plan = &target->plan;
  const DateRecord *best = NULL;
  const char *why_not;
  ProcessVariable variables[PLAN_VARIABLES];
  DateRange dates;
  Error err;
  if (c->ask->text == NULL || c->ask->report != NULL || c->n_targets != 1 || plan->dates == NULL) return NULL;
  if (!command_dates(c, target, plan, &dates, &err)) return NULL;
  for (int64_t i = 0; i < plan->n_dates; i++) {
    const DateRecord *date = &plan->dates[i];
    if (date->date < dates.from || date->date >= dates.to || date->expected == 0) continue;
    if (best == NULL || date->expected < best->expected) best = date;
  }
  const char *line =
      offer_line(c->arena, c->ask->text, c->ask->n, &c->report, target->job == NULL ? 0 : target->job->dates, &why_not);
  if (best == NULL || line == NULL) return NULL;
  const DateCodec *codec = &plan->shape.codec;
  DateRange one = {best->date, grain_next(codec->grain, codec->zone, best->date)};
  plan_variables(c->arena, plan, one, variables);
  return plan_fill(c->arena, line, variables, PLAN_VARIABLES);
}

void command_too_many_dates(CommandCase *c, const char *rule) {
  for (size_t i = 0; i < c->n_targets; i++) {
    const CommandTarget *target = &c->targets[i];
    char batch[32], each[32];
    if (target->record.id == NULL || target->per_date < 0 || target->n_dates <= most_dates(target)) continue;
    duration_label(target->plan.spec.budget.batch, batch);
    duration_label(target->per_date, each);
    command_because(
        c, rule, "%lld dates of %s at once: at %s a date a batch of %s has %lld, and a fault should be seen after few",
        (long long)target->n_dates, target->table, each, batch, (long long)most_dates(target));
    const char *first = lightest(c, target);
    command_advise(c,
                   "%s%s%slet Tidegate run it batch by batch, smallest first, by the line below; or allow longer "
                   "batches: budget: {batch: 2h}",
                   first == NULL ? "" : "begin with the lightest date: ", first == NULL ? "" : first,
                   first == NULL ? "" : "\nor ");
  }
}
