#include <string.h>

#include "gate/command/command_int.h"
#include "gate/trigger/shell.h"

/* What the database proves of each table that the command would write. */

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

static bool is_in(const BackfillRecord *record, State state) { return strcmp(record->state, state_name(state)) == 0; }

/* All records, newest first, read once. */
static bool list_records(CommandCase *c, Error *err) {
  bool exists = false;
  const EngineOps *ops = c->engine->ops;
  if (c->listed) return true;
  if (!ops->ledger_exists(c->engine, &exists, err)) return false;
  if (exists && !ops->ledger_list(c->engine, c->arena, &c->records, &c->n_records, err)) return false;
  c->listed = true;
  return true;
}

static void unreadable(CommandCase *c, const char *rule, const Error *err) {
  command_because(c, rule, "the ledger cannot be read: %s", err->message);
  command_advise(c, "%s", error_hint_text(err));
}

void command_check_owed(CommandCase *c, const char *rule) {
  Error err;
  if (c->n_targets == 0) return;
  if (!list_records(c, &err)) {
    unreadable(c, rule, &err);
    return;
  }
  for (size_t i = 0; i < c->n_records; i++) {
    const BackfillRecord *record = &c->records[i];
    for (size_t t = 0; t < c->n_targets; t++) {
      if (!is_in(record, STATE_opened) || !command_same_table(record->target, c->targets[t].table)) continue;
      c->targets[t].owed = true;
      command_because(c, rule,
                      "%s was opened to a command that writes in place, and what it wrote was not checked (%s)",
                      record->target, record->reason == NULL ? record->id : record->reason);
      command_advise(c, "check it: tidegate check %s; or put the old rows back: tidegate restore %s", record->id,
                     record->id);
    }
  }
}

bool command_dates(const CommandCase *c, const CommandTarget *target, const Plan *plan, DateRange *ret, Error *err) {
  return date_range_parse(arena_printf(c->arena, "%s..%s", target->from, target->to), GRAIN_DAY, plan->shape.codec.zone,
                          ret, err);
}

static bool covers(const CommandCase *c, const CommandTarget *target, const Plan *plan) {
  DateRange dates;
  Error err;
  return command_dates(c, target, plan, &dates, &err) && plan->range.from <= dates.from && dates.to <= plan->range.to;
}

static bool is_candidate(const BackfillRecord *record, const CommandTarget *target, bool snapshotted) {
  bool live = is_in(record, STATE_planned) || is_in(record, STATE_building) || is_in(record, STATE_ready);
  return (snapshotted ? is_in(record, STATE_snapshotted) : live) && command_same_table(record->target, target->table);
}

/* The newest plan that covers the dates, one with a snapshot before all others; *ret_near: why the nearest does not. */
static bool find_plan(CommandCase *c, CommandTarget *target, const char **ret_near) {
  char label[96];
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < c->n_records; i++) {
      BackfillRecord record = c->records[i];
      Plan plan;
      Error err;
      if (!is_candidate(&record, target, pass == 0)) continue;
      if (!plan_load(c->arena, c->engine, &record, &plan, &err)) {
        if (*ret_near == NULL) *ret_near = arena_printf(c->arena, "%s: %s", record.id, err.message);
      } else if (covers(c, target, &plan)) {
        target->record = record;
        target->plan = plan;
        return true;
      } else if (*ret_near == NULL) {
        date_range_label(&plan.range, plan.shape.codec.grain, plan.shape.codec.zone, label);
        *ret_near = arena_printf(c->arena, "%s covers %s", record.id, label);
      }
    }
  return false;
}

void command_no_plan(CommandCase *c, const char *rule) {
  for (size_t i = 0; i < c->n_targets; i++) {
    CommandTarget *target = &c->targets[i];
    const char *near = NULL;
    if (target->owed || find_plan(c, target, &near)) continue;
    command_because(c, rule, "no plan of %s covers the rows of %s to %s%s%s%s", target->table, target->from, target->to,
                    near == NULL ? "" : " (", near == NULL ? "" : near, near == NULL ? "" : ")");
    command_advise(c, "write a spec with target: %s and range: %s..%s, then: tidegate snapshot SPEC", target->table,
                   target->from, target->to);
  }
}

/* Once a plan is known by its zone, before that by UTC. */
void command_dates_not_over(CommandCase *c, const char *rule) {
  for (size_t i = 0; i < c->n_targets; i++) {
    const CommandTarget *target = &c->targets[i];
    Civil now = civil_from_seconds(c->now);
    const char *today = arena_printf(c->arena, "%04d-%02d-%02d", now.year, now.month, now.day);
    if (strcmp(target->to, today) < 0) continue;
    command_because(c, rule, "the rows of %s go to %s, and by the database's clock that day is not over (%s, UTC)",
                    target->table, target->to, today);
    command_advise(c, "end before %s: production writes those rows itself", today);
  }
}

/* ---- a shadow ---------------------------------------------------------------------------------------------------- */

/* The words of a text that is one plain command, all of them as they stand; NULL when it is anything else. */
static const char *const *plain_words(Arena *arena, const char *text, size_t length, size_t *ret_n) {
  ShellText tree = shell_read(arena, text, length);
  const ShellNode *node = tree.root;
  if (tree.why_not != NULL) return NULL;
  while (node->kind == SHELL_LIST && node->n == 1) node = node->children[0];
  if (node->kind != SHELL_SIMPLE) return NULL;
  const char **words = arena_array(arena, node->n_words + 1, sizeof *words);
  for (size_t i = 0; i < node->n_words; i++) {
    const ShellWord *word = &node->words[i];
    words[i] = "";
    for (size_t k = 0; k < word->n; k++) {
      if (word->parts[k].kind != SHELL_TEXT) return NULL;
      words[i] = arena_printf(arena, "%s%s", words[i], word->parts[k].text);
    }
  }
  *ret_n = node->n_words;
  return words;
}

/* Does the command say that it writes the shadow? */
static bool says(const CommandCase *c, const char *parameter) {
  size_t n = 0, m = 0;
  if (c->ask->text == NULL || c->ask->report != NULL) return false;
  const char *const *words = plain_words(c->arena, c->ask->text, c->ask->n, &n);
  const char *const *wanted = plain_words(c->arena, parameter, strlen(parameter), &m);
  if (words == NULL || wanted == NULL || m == 0) return false;
  for (size_t i = 0; i + m <= n; i++) {
    size_t k = 0;
    while (k < m && strcmp(words[i + k], wanted[k]) == 0) k++;
    if (k == m) return true;
  }
  return false;
}

/* NULL: it is proven that production cannot be written; else why not. */
static const char *no_shadow(CommandCase *c, const CommandTarget *target) {
  const SpecJob *job = target->job;
  const char *how = NULL;
  Error err;
  if (job == NULL || job->shadow_role.text == NULL) return "no shadow is declared for it";
  if (c->engine->ops->role_writes == NULL)
    return arena_printf(c->arena, "%s has no roles, so whether a shadow is written cannot be proven",
                        c->engine->ops->name);
  if (!says(c, job->shadow_parameter.text))
    return arena_printf(c->arena, "“%s”, which makes it write the shadow, does not stand in it as plain words",
                        job->shadow_parameter.text);
  if (!c->engine->ops->role_writes(c->engine, c->arena, job->shadow_role.text, target->plan.shape.table, &how, &err))
    return arena_printf(c->arena, "what %s may write cannot be told: %s", job->shadow_role.text, err.message);
  return how == NULL ? NULL
                     : arena_printf(c->arena, "the role %s could write production: %s", job->shadow_role.text, how);
}

/* ---- a snapshot -------------------------------------------------------------------------------------------------- */

/* The snapshot's own table, as the ledger listed it? */
static const char *not_there(CommandCase *c, const CommandTarget *target) {
  const ObjectRecord *objects;
  size_t n;
  Error err;
  const EngineOps *ops = c->engine->ops;
  if (!ops->ledger_objects(c->engine, c->arena, target->record.id, &objects, &n, &err))
    return arena_strdup(c->arena, err.message);
  for (size_t i = 0; i < n; i++) {
    const char *identity = NULL;
    if (strcmp(objects[i].role, "snapshot") != 0 || objects[i].dropped_at != 0) continue;
    if (!ops->object_identity(c->engine, c->arena, objects[i].name, &identity, &err))
      return arena_strdup(c->arena, err.message);
    if (identity != NULL && objects[i].identity != NULL && strcmp(identity, objects[i].identity) == 0) return NULL;
  }
  return "its table is gone, or is not the one that was made";
}

/* Every column counts, those too that a recompute does not give. */
static const char *not_equal(CommandCase *c, const CommandTarget *target) {
  const Plan *plan = &target->plan;
  Shape whole = plan->shape;
  ShapeColumn *columns = arena_array(c->arena, whole.n, sizeof *columns);
  BatchFacts facts;
  Error err;
  size_t n;
  for (size_t i = 0; i < whole.n; i++) {
    columns[i] = whole.columns[i];
    columns[i].given = !columns[i].generated;
    columns[i].tolerance = 0;
  }
  whole.columns = columns;
  const Instant *dates = plan_dates(c->arena, plan, plan->range, &n);
  Job job = {.shape = &whole, .id = target->record.id, .range = plan->range, .dates = dates, .n = n};
  job.fingerprint_only = true;
  if (!c->engine->ops->compare_snapshot(c->engine, c->arena, &job, &facts, &err))
    return arena_strdup(c->arena, err.message);
  const DateFacts *first = NULL;
  size_t others = 0;
  for (size_t i = 0; i < facts.n; i++) {
    if (fingerprint_equal(&facts.dates[i].production, &facts.dates[i].recomputed)) continue;
    if (first == NULL)
      first = &facts.dates[i];
    else
      others++;
  }
  if (first == NULL) return NULL;
  char date[32];
  grain_label(whole.codec.grain, whole.codec.zone, first->date, date);
  return arena_printf(
      c->arena, "production is no longer as it holds it on %s%s", date,
      others == 0 ? "" : arena_printf(c->arena, " and %zu other %s", others, others == 1 ? "date" : "dates"));
}

static const char *no_snapshot(CommandCase *c, const CommandTarget *target) {
  const Plan *plan = &target->plan;
  if (!is_in(&target->record, STATE_snapshotted))
    return arena_printf(c->arena, "%s has no snapshot: it is %s", target->record.id, target->record.state);
  const char *why = not_there(c, target);
  if (why == NULL && plan->spec.retention <= 0) why = "no retention is declared, so it could be dropped at once";
  if (why == NULL && (double)target->record.changed_at + plan->spec.retention <
                         (double)c->now + (double)target->n_dates * (target->per_date < 0 ? 0 : target->per_date))
    why = "it is older than the retention, and may be dropped before the work is over";
  if (why == NULL) why = not_equal(c, target);
  return why == NULL ? NULL : arena_printf(c->arena, "the snapshot %s does not do: %s", target->record.id, why);
}

void command_not_undoable(CommandCase *c, const char *rule) {
  for (size_t i = 0; i < c->n_targets; i++) {
    CommandTarget *target = &c->targets[i];
    if (target->record.id == NULL) continue;
    const char *shadow = no_shadow(c, target);
    target->shadow = shadow == NULL;
    if (target->shadow) continue;
    const char *snapshot = no_snapshot(c, target);
    if (snapshot == NULL) continue;
    command_because(c, rule, "rows of %s that it writes could not be put back: %s; and %s", target->table, snapshot,
                    shadow);
    command_advise(c, "take a snapshot: tidegate snapshot %s",
                   target->record.spec_path == NULL ? "SPEC" : target->record.spec_path);
  }
}
