#ifndef TIDEGATE_GATE_GATE_INT_H
#define TIDEGATE_GATE_GATE_INT_H

#include "gate/gate.h"

/* The private header of the room. */

/* What is judged. */
typedef struct GateCase {
  Arena *arena;
  Engine *engine;
  const Plan *plan;
  GateAct act;
  Instant now, end;     /* database time, and when the act would be over */
  Window next;          /* the next window that it would fit in; to 0: none in sight */
  const PlanJob **jobs; /* those that this act must not meet: gate_minds */
  WindowRules rules;    /* theirs, and the days and hours that close this act's window */
  const char **failed;  /* to be filled: Verdict.failed */
} GateCase;

/* One rule. `matches` is true when it denies; then it has filled text, hint and waits. A fact that it cannot have
 * denies. */
typedef struct GateRule {
  const char *name;
  unsigned acts; /* bits 1 << GateAct: the acts that it judges */
  bool (*matches)(const GateCase *gate, GateReason *ret);
} GateRule;

/* rules.c: the table, in the order in which it is judged. */
const GateRule *gate_rule_table(size_t *ret_n);

/* Fills a reason in the case's arena; the form of a predicate's `return`. */
bool gate_because(const GateCase *gate, GateReason *ret, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool gate_advise(const GateCase *gate, GateReason *ret, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* clock_rules.c */

/*
 * May the act not run beside this job? The window is closed by every job that writes the target, reads it or feeds it.
 * Taking a swap back waits only for those that write the target: it writes what they write, and it is urgent.
 */
bool gate_minds(GateAct act, const PlanJob *job);
/* "production"; "the job nightly_load, which writes daily_delays," */
const char *gate_who(const GateCase *gate, const PlanJob *job);
bool gate_schedule_unknown(const GateCase *gate, GateReason *ret);
bool gate_p95_unknown(const GateCase *gate, GateReason *ret);
bool gate_production_run(const GateCase *gate, GateReason *ret);
bool gate_freeze(const GateCase *gate, GateReason *ret);
bool gate_idle_hours(const GateCase *gate, GateReason *ret);
bool gate_dates_not_over(const GateCase *gate, GateReason *ret);
bool gate_lookback(const GateCase *gate, GateReason *ret);

/* running.c */
bool gate_running_now(const GateCase *gate, GateReason *ret);

/* How far ahead windows are looked for, in seconds. */
enum { GATE_HORIZON = 14 * 86400 };

/* pass.c: the only maker of passes. */
const GatePass *gate_pass(Arena *arena, const Plan *plan, GateAct act, Instant at);

#endif
