#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "gate/gate_int.h"

/* All rules are asked, so that everything can be put right at once; a pass is made only when none matched. */

enum { LONGEST_NEED = 1000000000 }; /* seconds, some 30 years: longer than any window, and small beside an Instant */

/* Idle hours and freezes do not keep anybody from taking a swap back. */
static void choose_rules(GateCase *gate) {
  if (gate->plan == NULL) return;
  const PlanClock *clock = &gate->plan->clock;
  BusyRule *busy = arena_array(gate->arena, clock->n, sizeof *busy);
  if (gate->act != GATE_ROLLBACK) gate->rules = plan_window(gate->plan);
  gate->rules.busy = busy;
  gate->rules.n = 0;
  gate->jobs = arena_array(gate->arena, clock->n, sizeof(PlanJob *));
  for (size_t i = 0; i < clock->n; i++) {
    if (!gate_minds(gate->act, &clock->jobs[i])) continue;
    busy[gate->rules.n] = clock->rules[i];
    gate->jobs[gate->rules.n++] = &clock->jobs[i];
  }
}

/* The next window in which the act fits, by everything that closes windows. Clearing up needs none, and no plan. */
static Window find_window(const GateCase *gate) {
  if (gate->plan == NULL) return (Window){gate->now, 0};
  Window window = {gate->now, 0};
  if (!window_next(&gate->rules, gate->now, (double)(gate->end - gate->now), GATE_HORIZON, &window))
    return (Window){0, 0};
  return window;
}

static bool set_case(Arena *arena, Engine *engine, const Plan *plan, GateAct act, double need, GateCase *ret,
                     Error *err) {
  GateCase gate = {.arena = arena, .engine = engine, .plan = plan, .act = act};
  if (!isfinite(need) || need < 0 || need > LONGEST_NEED)
    return error_set(err, ERR_INTERNAL, "the gate was asked about %g seconds of work", need);
  if (!engine->ops->now(engine, &gate.now, err)) return error_wrap(err, "asking the database for its time");
  gate.end = gate.now + (Instant)ceil(need);
  choose_rules(&gate);
  gate.next = find_window(&gate);
  *ret = gate;
  return true;
}

/* The next run of any job that concerns the backfill. */
static void find_run(const Plan *plan, Instant now, Verdict *ret) {
  for (size_t i = 0; i < plan->clock.n; i++) {
    const Schedule *schedule = plan->clock.rules[i].schedule;
    Instant fire;
    if (schedule == NULL || !schedule_next_any(schedule, now, &fire)) continue;
    if (ret->next_run != 0 && fire >= ret->next_run) continue;
    ret->next_run = fire;
    ret->next_job = i;
  }
}

/* Only what closes windows opens again at a known time; how long a running run goes on is not known. */
static bool is_window_rule(const char *rule) {
  return strcmp(rule, "production-run") == 0 || strcmp(rule, "freeze") == 0 || strcmp(rule, "idle-hours") == 0;
}

static void judge_rules(const GateCase *gate, Verdict *verdict) {
  size_t n;
  const GateRule *rules = gate_rule_table(&n);
  GateReason *reasons = arena_array(gate->arena, n, sizeof *reasons);
  bool by_window = true;
  verdict->waits = true;
  for (size_t i = 0; i < n; i++) {
    GateReason *reason = &reasons[verdict->n];
    if ((rules[i].acts & 1u << gate->act) == 0 || !rules[i].matches(gate, reason)) continue;
    reason->rule = rules[i].name;
    verdict->n++;
    verdict->waits = verdict->waits && reason->waits;
    by_window = by_window && is_window_rule(rules[i].name);
  }
  verdict->reasons = reasons;
  verdict->allow = verdict->n == 0;
  verdict->waits = verdict->waits && !verdict->allow;
  if (verdict->allow) return;
  verdict->rule = reasons[0].rule;
  if (verdict->waits && by_window) verdict->wait_until = gate->next.from;
}

bool gate_judge(Arena *arena, Engine *engine, const Plan *plan, GateAct act, double need, Verdict *ret,
                const GatePass **ret_pass, Error *err) {
  GateCase gate = {0};
  Verdict verdict = {0};
  if (!set_case(arena, engine, plan, act, need, &gate, err)) return false;
  gate.failed = &verdict.failed;
  judge_rules(&gate, &verdict);
  if (verdict.allow) {
    verdict.window = gate.next.to == 0 ? (Window){gate.now, 0} : gate.next;
    if (verdict.window.to >= gate.now + GATE_HORIZON) verdict.window.to = 0;
  }
  if (plan != NULL) find_run(plan, gate.now, &verdict);
  *ret_pass = verdict.allow ? gate_pass(arena, plan, act, gate.now) : NULL;
  *ret = verdict;
  return true;
}

bool gate_deny(const Verdict *verdict, Error *err) {
  BUF_SCOPED text = {0};
  if (verdict->n == 1) {
    buf_puts(&text, verdict->reasons[0].text);
  } else {
    buf_printf(&text, "%zu reasons", verdict->n);
    for (size_t i = 0; i < verdict->n; i++)
      buf_printf(&text, "%s (%zu) %s", i == 0 ? ":" : ";", i + 1, verdict->reasons[i].text);
  }
  error_set(err, ERR_DENIED, "%s", buf_text(&text));
  return verdict->n > 0 && verdict->reasons[0].hint != NULL ? error_hint(err, "%s", verdict->reasons[0].hint) : false;
}

void gate_json(const Verdict *verdict, Json *json) {
  json_object(json, NULL);
  json_bool(json, "allow", verdict->allow);
  json_text(json, "rule", verdict->rule);
  json_array(json, "reasons");
  for (size_t i = 0; i < verdict->n; i++) {
    json_object(json, NULL);
    json_text(json, "rule", verdict->reasons[i].rule);
    json_text(json, "text", verdict->reasons[i].text);
    json_text(json, "hint", verdict->reasons[i].hint);
    json_bool(json, "waits", verdict->reasons[i].waits);
    json_object_end(json);
  }
  json_array_end(json);
  json_bool(json, "waits", verdict->waits);
  instant_json(json, "wait_until", verdict->wait_until);
  json_object(json, "window");
  instant_json(json, "from", verdict->window.from);
  instant_json(json, "to", verdict->window.to);
  json_object_end(json);
  instant_json(json, "next_run", verdict->next_run);
  json_text(json, "failed", verdict->failed);
  json_object_end(json);
}
