#include "plan/plan_int.h"

/* Dates that are right today, recomputed and compared: the recompute must give back what production has. */

static void collect_examples(Arena *arena, const BatchFacts *facts, ControlFacts *control) {
  Example *examples = arena_array(arena, PLAN_EXAMPLES, sizeof *examples);
  for (size_t i = 0; i < facts->n_findings; i++)
    for (size_t j = 0; j < facts->findings[i].n && control->n < PLAN_EXAMPLES; j++)
      examples[control->n++] = facts->findings[i].examples[j];
  control->examples = examples;
}

bool plan_measure_control(Arena *arena, Engine *engine, Plan *plan, const Interrupt *interrupt, Error *err) {
  ControlFacts *control = &plan->control;
  if (!control->declared || plan->recompute == NULL) return true;
  /* A scope that allows nothing makes a finding, with examples, of every difference. */
  static const JobScope nothing = {.kind = JOB_SCOPE_COLUMN, .where = "1 = 0"};
  size_t n;
  const Instant *dates = plan_dates(arena, plan, control->range, &n);
  Job job = plan_job(plan, dates, n);
  job.range = control->range;
  job.overlay = false; /* no change set yet: the recompute reads production as it is */
  job.scope = &nothing;
  job.n_scope = 1;
  job.n_row_checks = 0;
  BatchFacts facts;
  if (!engine->ops->compare(engine, arena, &job, interrupt, &facts, err))
    return error_wrap(err, "recomputing the control dates");
  int64_t changed = 0, gone = 0, faults = 0;
  for (size_t i = 0; i < facts.n; i++) {
    const DateFacts *date = &facts.dates[i];
    changed += date->inserts + date->updates + date->moves_in;
    gone += date->deletes;
  }
  for (size_t i = 0; i < facts.n_findings; i++) faults += facts.findings[i].count;
  if (changed + gone == 0) changed = faults; /* rows that could not even be compared: no date, a key twice */
  control->rows = facts.rows + gone;
  control->same = facts.rows > changed ? facts.rows - changed : 0;
  control->differing = changed + gone;
  collect_examples(arena, &facts, control);
  return true;
}
