#include <stdarg.h>
#include <string.h>

#include "base/buf.h"
#include "gate/gate_int.h"

/* The rules' table (rules.def), at the end, and the predicates that ask for no clock before it. */

bool gate_because(const GateCase *gate, GateReason *ret, const char *format, ...) {
  va_list args;
  va_start(args, format);
  ret->text = arena_vprintf(gate->arena, format, args);
  va_end(args);
  return true;
}

bool gate_advise(const GateCase *gate, GateReason *ret, const char *format, ...) {
  va_list args;
  va_start(args, format);
  ret->hint = arena_vprintf(gate->arena, format, args);
  va_end(args);
  return true;
}

static bool range_unbounded(const GateCase *gate, GateReason *ret) {
  const Plan *plan = gate->plan;
  if (plan->n_dates > 0 && plan->range.from < plan->range.to) return false;
  gate_because(gate, ret, "there is no bounded range: without both ends any row of %s could be rewritten",
               plan->shape.table);
  return gate_advise(gate, ret, "write range: 2013-02-01..2013-02-28, both ends included");
}

static bool not_measured(const GateCase *gate, GateReason *ret) {
  if (gate->plan->measured) return false;
  gate_because(gate, ret, "the rows of the range were not looked at: what would be recomputed is unknown");
  return gate_advise(gate, ret, "plan it: tidegate plan SPEC");
}

static bool no_evidence(const GateCase *gate, GateReason *ret) {
  const Plan *plan = gate->plan;
  if (plan->control.declared || plan->n_scope > 0 || plan->n_row_checks + plan->n_total_checks > 0) return false;
  gate_because(gate, ret, "there is no evidence: a recompute compared with itself proves nothing");
  return gate_advise(gate, ret,
                     "declare one of changes (what may change), control (dates that are right today) and "
                     "checks");
}

static bool control_differs(const GateCase *gate, GateReason *ret) {
  const Plan *plan = gate->plan;
  const ControlFacts *control = &plan->control;
  char label[96];
  if (!plan->measured || !control->declared || plan->recompute == NULL) return false;
  date_range_label(&control->range, plan->shape.codec.grain, plan->shape.codec.zone, label);
  if (control->rows == 0) {
    gate_because(gate, ret, "the control dates %s have no rows, recomputed or in production: they prove nothing",
                 label);
    return gate_advise(gate, ret, "choose control dates that have rows and are right today");
  }
  if (control->differing == 0) return false;
  gate_because(gate, ret,
               "the recompute does not reproduce the control dates %s: %lld of %lld rows identical, %lld "
               "differ, so it would put new faults into dates that are right",
               label, (long long)control->same, (long long)control->rows, (long long)control->differing);
  return gate_advise(gate, ret,
                     "look at the rows that plan shows, then correct the recompute, or choose control dates "
                     "that really are right today");
}

static bool null_dates(const GateCase *gate, GateReason *ret) {
  const Plan *plan = gate->plan;
  if (plan->null_dates <= 0 || plan->spec.allow_null_dates) return false;
  gate_because(gate, ret,
               "%lld rows of %s have no date: they belong to no range, so a fault in them stays, and a "
               "recompute could add them again on every run",
               (long long)plan->null_dates, plan->shape.table);
  return gate_advise(gate, ret,
                     "correct or remove them, or declare that they may stay as they are: "
                     "allow: {null_dates: true}");
}

static bool null_keys(const GateCase *gate, GateReason *ret) {
  const Plan *plan = gate->plan;
  if (plan->null_keys <= 0 || plan->spec.allow_null_keys) return false;
  gate_because(gate, ret,
               "%lld rows of the range have NULL in their key: NULL never matches, so each run would add them "
               "again",
               (long long)plan->null_keys);
  return gate_advise(gate, ret, "declare another key, or that NULL equals NULL in it: allow: {null_keys: true}");
}

static bool duplicate_keys(const GateCase *gate, GateReason *ret) {
  const Plan *plan = gate->plan;
  if (plan->duplicate_keys <= 0) return false;
  gate_because(gate, ret,
               "%lld rows of the range share their key with another: the key does not identify a row, so "
               "which one is corrected is chance",
               (long long)plan->duplicate_keys);
  return gate_advise(gate, ret,
                     "declare the columns that identify a row: key: [COLUMN, …], or remove the doubled rows");
}

static bool key_in_scope(const GateCase *gate, GateReason *ret) {
  const Plan *plan = gate->plan;
  for (size_t i = 0; i < plan->n_scope; i++) {
    const JobScope *scope = &plan->scope[i];
    if (scope->kind != JOB_SCOPE_COLUMN || !plan->shape.columns[scope->column].key) continue;
    gate_because(gate, ret,
                 "“%s” is to be corrected and is part of the key: the corrected row would be put next to the "
                 "wrong one",
                 plan->shape.columns[scope->column].name);
    return gate_advise(gate, ret, "declare the business key, the columns that stay right: key: [COLUMN, …]");
  }
  return false;
}

static bool no_way_back(const GateCase *gate, GateReason *ret) {
  if (gate->plan->spec.retention > 0) return false;
  gate_because(gate, ret, "the retention is zero: the old rows would be gone before anybody could want them back");
  return gate_advise(gate, ret, "write retention: 7d, or leave it out");
}

/* Every backfill of the ledger; none while there is no ledger. */
static bool list_backfills(const GateCase *gate, const BackfillRecord **ret, size_t *ret_n, Error *err) {
  bool exists = false;
  const EngineOps *ops = gate->engine->ops;
  *ret_n = 0;
  return ops->ledger_exists(gate->engine, &exists, err) &&
         (!exists || ops->ledger_list(gate->engine, gate->arena, ret, ret_n, err));
}

/* Its rows are wrong, or will change, until that is published or discarded. */
static bool is_unsettled(const BackfillRecord *record) {
  static const State states[] = {STATE_building, STATE_held, STATE_ready, STATE_opened};
  for (size_t i = 0; i < sizeof states / sizeof *states; i++)
    if (strcmp(record->state, state_name(states[i])) == 0) return true;
  return false;
}

static bool source_backfilled(const GateCase *gate, GateReason *ret) {
  const Plan *plan = gate->plan;
  const BackfillRecord *records;
  size_t n;
  Error err;
  if (plan->n_reads == 0) return false;
  if (!list_backfills(gate, &records, &n, &err))
    return gate_because(gate, ret, "whether a source is itself being backfilled cannot be told: %s", err.message);
  for (size_t i = 0; i < plan->n_reads; i++) {
    if (strcmp(plan->reads[i], plan->shape.table) == 0) continue;
    for (size_t k = 0; k < n; k++) {
      if (strcmp(records[k].target, plan->reads[i]) != 0 || !is_unsettled(&records[k])) continue;
      gate_because(gate, ret,
                   "%s, which the recompute reads, is itself being backfilled (%s, %s): what is made from it "
                   "now would have to be made again",
                   plan->reads[i], records[k].id, records[k].state);
      return gate_advise(gate, ret, "bring that to its end first: tidegate status %s", records[k].id);
    }
  }
  return false;
}

/* What a tool has half written must not be planned on, nor be taken for what production was. */
static bool open_to_a_tool(const GateCase *gate, GateReason *ret) {
  const BackfillRecord *records;
  size_t n;
  Error err;
  if (!list_backfills(gate, &records, &n, &err))
    return gate_because(gate, ret, "whether a tool is writing %s cannot be told: %s", gate->plan->shape.table,
                        err.message);
  for (size_t i = 0; i < n; i++) {
    if (strcmp(records[i].state, state_name(STATE_opened)) != 0 ||
        strcmp(records[i].target, gate->plan->shape.table) != 0)
      continue;
    gate_because(gate, ret,
                 "backfill %s has opened %s to a tool that writes in place, and what it wrote was not checked",
                 records[i].id, records[i].target);
    return gate_advise(gate, ret, "tidegate check %s, or put the old rows back: tidegate restore %s", records[i].id,
                       records[i].id);
  }
  return false;
}

static bool triggers_undeclared(const GateCase *gate, GateReason *ret) {
  const Plan *plan = gate->plan;
  BUF_SCOPED names = {0};
  if (plan->n_triggers == 0 || plan->spec.triggers != TRIGGERS_DENY) return false;
  for (size_t i = 0; i < plan->n_triggers; i++) buf_printf(&names, "%s%s", i == 0 ? "" : ", ", plan->triggers[i].name);
  gate_because(gate, ret,
               "%s has triggers (%s): publishing would set them off for every changed row, and their side "
               "effects cannot be rolled back",
               plan->shape.table, buf_text(&names));
  return gate_advise(gate, ret, "declare what is right for them: triggers: fire, or triggers: skip");
}

static bool sources_missing(const GateCase *gate, GateReason *ret) {
  const Plan *plan = gate->plan;
  for (size_t i = 0; i < plan->n_sources; i++) {
    const SourceFacts *source = &plan->sources[i];
    if (source->at_risk <= 0) continue;
    char label[32] = "";
    if (source->n_missing > 0)
      grain_label(plan->shape.codec.grain, plan->shape.codec.zone, source->dates_missing[0], label);
    gate_because(gate, ret,
                 "the recompute reads %s, which has no rows for %lld of the dates (the first: %s), but "
                 "production has: what is not there cannot be recomputed, and its rows would go",
                 source->table, (long long)source->missing, label);
    return gate_advise(gate, ret,
                       "bring the source's rows back, leave those dates out of the range, or declare that "
                       "they may be empty: allow: {emptied_dates: [%s]}",
                       label);
  }
  return false;
}

static bool lineage_not_read(const GateCase *gate, GateReason *ret) {
  const Plan *plan = gate->plan;
  if (!plan->spec.lineage.required || plan->radius.uncovered == NULL) return false;
  gate_because(gate, ret, "lineage is required, and what reads %s is not known: %s", plan->shape.table,
               plan->radius.uncovered);
  return gate_advise(gate, ret, "name a source that knows it under lineage in tidegate.yaml, or make the source anew");
}

static bool disk_full(const GateCase *gate, GateReason *ret) {
  const Plan *plan = gate->plan;
  char needed[32], available[32];
  if (!plan->measured || plan->space.free_bytes < 0 || plan->space_needed <= plan->space.free_bytes) return false;
  size_label(plan->space_needed, needed);
  size_label(plan->space.free_bytes, available);
  gate_because(gate, ret, "the backfill needs about %s of disk and %s are free: a full disk would stop production too",
               needed, available);
  return gate_advise(gate, ret, "free disk space, or backfill a smaller range at a time");
}

static bool shadow_not_named(const GateCase *gate, GateReason *ret) {
  const SpecTexts *command = &gate->plan->spec.recompute.command;
  if (gate->plan->recompute != NULL) return false;
  for (size_t i = 0; i < command->n; i++)
    if (strstr(command->items[i].text, "{shadow}") != NULL || strstr(command->items[i].text, "TIDEGATE_SHADOW") != NULL)
      return false;
  gate_because(gate, ret,
               "the command is not told to write the shadow: without a destination it would write where it "
               "always does, in production");
  const SpecPlace *place = &gate->plan->spec.backfill_file;
  const char *file = place->file == NULL ? "SPEC" : place->file;
  if (command->n > 0 && command->items[0].place.line > 0 && command->items[0].place.file != NULL)
    file = arena_printf(gate->arena, "%s:%d", command->items[0].place.file, command->items[0].place.line);
  return gate_advise(
      gate, ret,
      "name {shadow} as the table to write, in recompute: command (%s): [./recompute, --into, \"{shadow}\", --from, "
      "\"{from}\", --to, \"{to}\"]. A tool that can write production alone is run over a snapshot: tidegate snapshot "
      "%s --then '…', with the command in it",
      file, place->file == NULL ? "SPEC" : place->file);
}

static bool nothing_to_do(const GateCase *gate, GateReason *ret) {
  const Plan *plan = gate->plan;
  if (!plan->measured || plan->rows > 0 || plan->n_sources == 0) return false;
  for (size_t i = 0; i < plan->n_sources; i++)
    if (plan->sources[i].dates_present != 0) return false;
  gate_because(gate, ret, "neither %s nor any source has a row in the range: nothing could be recomputed",
               plan->shape.table);
  return gate_advise(gate, ret, "look at the range, the zone and the date column");
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

enum {
  SHADOW = 1u << GATE_PLAN,
  PLAN = SHADOW | 1u << GATE_IN_PLACE,
  BATCH = 1u << GATE_BATCH,
  SWAP = 1u << GATE_SWAP,
  ROLLBACK = 1u << GATE_ROLLBACK,
  SNAPSHOT = 1u << GATE_SNAPSHOT,
  WORK = PLAN | BATCH | SWAP | SNAPSHOT, /* what goes forward */
};

/* Dropping (GATE_CLEAN) is in no rule: it reads the ledger's list and touches no production row. Rolling back waits for
 * no idle hours: wrong rows that people see are worse than a short lock. */
static const GateRule rules[] = {
#define RULE(name, law, what, acts, matches) {name, acts, matches},
#include "gate/rules.def"
};

static const GateRuleFacts facts[] = {
#define RULE(name, law, what, acts, matches) {name, law, what},
#include "gate/rules.def"
};

const GateRuleFacts *gate_rules(size_t *ret_n) {
  *ret_n = sizeof facts / sizeof *facts;
  return facts;
}

const GateRule *gate_rule_table(size_t *ret_n) {
  *ret_n = sizeof rules / sizeof *rules;
  return rules;
}
