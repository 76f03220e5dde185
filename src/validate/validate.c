#include "validate/validate.h"

#include <inttypes.h>

#include "base/json.h"

void findings_add(Findings *findings, FindingRecord finding) {
  finding.batch = findings->batch;
  findings->items = arena_grow(findings->arena, findings->items, findings->n, sizeof *findings->items);
  findings->items[findings->n++] = finding;
}

static void add(Findings *findings, const char *kind, const char *subject, int64_t count, const char *examples,
                const char *message) {
  findings_add(
      findings,
      (FindingRecord){.kind = kind, .subject = subject, .message = message, .count = count, .examples = examples});
}

static const char *examples_json(Arena *arena, const Finding *finding) {
  BUF_SCOPED out = {0};
  Json json = {.out = &out};
  json_array(&json, NULL);
  for (size_t i = 0; i < finding->n; i++) {
    const Example *example = &finding->examples[i];
    json_object(&json, NULL);
    json_text(&json, "date", example->date);
    json_text(&json, "key", example->key);
    json_text(&json, "column", example->column);
    json_text(&json, "old", example->old_value);
    json_text(&json, "new", example->new_value);
    json_object_end(&json);
  }
  json_array_end(&json);
  return arena_strdup(arena, buf_text(&out));
}

/* The stable word of a finding's kind and the sentence that explains it; %lld is the count, %s the subject. */
static const struct {
  const char *kind, *format;
} kinds[] = {
    [FINDING_ROW_CHECK] = {"row-check", "%lld rows do not satisfy the check: %s"},
    [FINDING_OUT_OF_SCOPE] = {"out-of-scope", "%lld rows change %s where `changes` does not allow it"},
    [FINDING_NEW_ROW] = {"new-row", "%lld new rows where `changes` does not allow %s"},
    [FINDING_VANISHED] =
        {"vanished", "%lld rows of production are missing from the recompute, and %s are not declared in `changes`"},
    [FINDING_DUPLICATE_KEY] = {"duplicate-key", "%lld rows of the recompute have a key that another row has: %s"},
    [FINDING_NULL_KEY] = {"null-key", "%lld rows of the recompute have a NULL in the key: %s"},
    [FINDING_NULL_DATE] = {"no-date", "%lld rows of the recompute have no date that can be read in %s"},
    [FINDING_OUT_OF_DATES] = {"out-of-dates",
                              "%lld rows of the recompute belong to dates that were not asked for, by %s"},
    [FINDING_KEY_OUTSIDE] =
        {"key-outside",
         "%lld keys of the recompute stand in production outside the range, by %s: publishing would change rows there"},
    [FINDING_NOT_NULL] = {"not-null", "%lld rows of the recompute have NULL in %s, which production forbids"},
};

static const char *key_names(Arena *arena, const Shape *shape) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < shape->n; i++)
    if (shape->columns[i].key) buf_printf(&out, "%s%s", out.len == 0 ? "" : ", ", shape->columns[i].name);
  return arena_strdup(arena, buf_text(&out));
}

static const char *subject_of(Arena *arena, const Plan *plan, const Finding *finding) {
  switch (finding->kind) {
    case FINDING_ROW_CHECK:
      return plan->row_checks[finding->index];
    case FINDING_OUT_OF_SCOPE:
    case FINDING_NOT_NULL:
      return plan->shape.columns[finding->index].name;
    case FINDING_NEW_ROW:
      return "new rows";
    case FINDING_VANISHED:
      return "vanished rows";
    case FINDING_DUPLICATE_KEY:
    case FINDING_NULL_KEY:
      return key_names(arena, &plan->shape);
    default:
      return plan->shape.columns[plan->shape.date].name;
  }
}

static void add_finding(Findings *findings, const Plan *plan, const Finding *finding) {
  const char *subject = subject_of(findings->arena, plan, finding);
  add(findings, kinds[finding->kind].kind, subject, finding->count, examples_json(findings->arena, finding),
      arena_printf(findings->arena, kinds[finding->kind].format, (long long)finding->count, subject));
}

static void emptied(Findings *findings, const Plan *plan, const DateFacts *date) {
  if (date->production.rows == 0 || date->recomputed.rows > 0 || plan_may_empty(plan, date->date)) return;
  char label[32];
  grain_label(plan->shape.codec.grain, plan->shape.codec.zone, date->date, label);
  add(findings, "emptied-date", arena_strdup(findings->arena, label), date->production.rows, NULL,
      arena_printf(findings->arena, "%s has %" PRId64 " rows in production and none in the recompute", label,
                   date->production.rows));
}

void validate_batch(Findings *findings, const Plan *plan, const BatchFacts *facts) {
  for (size_t i = 0; i < facts->n_findings; i++) add_finding(findings, plan, &facts->findings[i]);
  for (size_t i = 0; i < facts->n; i++) emptied(findings, plan, &facts->dates[i]);
}

bool validate_totals(Findings *findings, Engine *engine, const Plan *plan, DateRange range, Error *err) {
  Job job = plan_job(plan, NULL, 0);
  char label[96];
  date_range_label(&range, plan->shape.codec.grain, plan->shape.codec.zone, label);
  for (size_t i = 0; i < plan->n_total_checks; i++) {
    bool holds;
    if (!engine->ops->check_total(engine, &job, plan->total_checks[i], range, &holds, err)) return false;
    if (!holds)
      add(findings, "total-check", plan->total_checks[i], 1, NULL,
          arena_printf(findings->arena, "the total does not hold for %s: %s", label, plan->total_checks[i]));
  }
  return true;
}

/* Recomputed rows = production + inserts − deletes, each side really counted (a key twice in the recompute slips
 * through otherwise). */
static void balance(Findings *findings, const DateRecord *dates, size_t n, const ChangeCounts *counts) {
  int64_t production = 0, recomputed = 0;
  for (size_t i = 0; i < n; i++) {
    production += dates[i].production.rows;
    recomputed += dates[i].recomputed.rows;
  }
  if (recomputed == production + counts->inserts - counts->deletes) return;
  add(findings, "balance", "row counts", recomputed - production - counts->inserts + counts->deletes, NULL,
      arena_printf(findings->arena,
                   "%" PRId64 " recomputed rows, but production's %" PRId64 " with %" PRId64 " inserts and %" PRId64
                   " deletes make %" PRId64,
                   recomputed, production, counts->inserts, counts->deletes,
                   production + counts->inserts - counts->deletes));
}

/* population: rows of which it is asked for a sample. in_place, batches: as in ask_oracle, validate_sample_size. */
static bool oracle(Findings *findings, Engine *engine, const Plan *plan, const DateRange *in_place, int64_t population,
                   int64_t batches, Error *err) {
  if (plan->spec.oracle.text == NULL) return true;
  Finding finding;
  int64_t asked;
  int64_t size = validate_sample_size(population, plan->spec.sample_share, plan->spec.sample_confidence, batches);
  if (!engine->ops->ask_oracle(engine, findings->arena, &plan->shape, plan->id, in_place, plan->spec.oracle.text,
                               (size_t)size, &asked, &finding, err))
    return false;
  if (finding.count > 0)
    add(findings, "oracle", "oracle", finding.count, examples_json(findings->arena, &finding),
        arena_printf(findings->arena,
                     "the oracle gives other values in %" PRId64 " places of a sample of %" PRId64 " rows",
                     finding.count, asked));
  return true;
}

bool validate_oracle(Findings *findings, Engine *engine, const Plan *plan, DateRange range, int64_t changed,
                     int64_t batches, Error *err) {
  return oracle(findings, engine, plan, &range, changed, batches, err);
}

bool validate_seal(Findings *findings, Engine *engine, const Plan *plan, const DateRecord *dates, size_t n,
                   ChangeCounts *ret_counts, Error *err) {
  ChangeCounts counts;
  int64_t twice = 0, orphans;
  const char *child, *refusal = NULL;
  const Shape *shape = &plan->shape;
  const char *id = plan->id;
  if (!engine->ops->change_counts(engine, shape, id, &counts, err)) return false;
  bool only_updates = counts.inserts + counts.deletes + counts.moves == 0;
  if (!only_updates && !engine->ops->change_duplicates(engine, shape, id, &twice, err)) return false;
  balance(findings, dates, n, &counts);
  if (twice > 0)
    add(findings, "duplicate-key", key_names(findings->arena, shape), twice, NULL,
        arena_printf(findings->arena, "%" PRId64 " keys stand in the change set more than once", twice));
  if (shape->keyed && counts.deletes > 0) {
    Finding finding;
    Job job = plan_job(plan, NULL, 0);
    if (!engine->ops->vanished(engine, findings->arena, &job, &finding, err)) return false;
    if (finding.count > 0) add_finding(findings, plan, &finding);
  }
  if (plan->has_children && counts.deletes + counts.updates + counts.moves > 0) {
    if (!engine->ops->orphans(engine, findings->arena, shape, id, &child, &orphans, err)) return false;
    if (child != NULL)
      add(findings, "children", child, orphans, NULL,
          arena_printf(findings->arena, "%" PRId64 " rows of %s refer to rows that would go or lose their key", orphans,
                       child));
  }
  if (plan->has_constraints && findings->n == 0) {
    if (!engine->ops->probe_constraints(engine, findings->arena, shape, id, &refusal, err)) return false;
    if (refusal != NULL) add(findings, "constraint", shape->table, 1, NULL, refusal);
  }
  if (!validate_totals(findings, engine, plan, plan->range, err) ||
      !oracle(findings, engine, plan, NULL, counts.inserts + counts.updates + counts.moves, 1, err))
    return false;
  *ret_counts = counts;
  return true;
}
