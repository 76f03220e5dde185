#include "view/plan_report.h"

#include <inttypes.h>
#include <string.h>

#include "view/findings.h"
#include "view/radius.h"
#include "view/verdict.h"
#include "view/window.h"
#include "view/words.h"

/* "flight_date, origin" … */
static const char *joined(Arena *arena, const char *const *texts, size_t n) {
  const char *all = "";
  for (size_t i = 0; i < n; i++) all = arena_printf(arena, "%s%s%s", all, i == 0 ? "" : ", ", texts[i]);
  return all;
}

static void put_title(Paint *paint, Arena *arena, const Plan *plan) {
  char label[96];
  date_range_label(&plan->range, plan->shape.codec.grain, plan->shape.codec.zone, label);
  paint_styled(paint, STYLE_BOLD, plan->shape.table);
  paint_text(paint, arena_printf(arena, "  %s  %s, %s", label, words_count(arena, plan->n_dates, "date", "dates"),
                                 words_count(arena, plan->rows, "row", "rows")));
  if (plan->id != NULL) paint_text(paint, arena_printf(arena, "  %s", plan->id));
  buf_putc(paint->out, '\n');
}

static void put_control(Paint *paint, Arena *arena, const Plan *plan) {
  const ControlFacts *control = &plan->control;
  if (!control->declared) {
    paint_line(paint, "control", "none declared: nothing shows that the recompute gives what is right today");
    return;
  }
  const char *range = words_range(arena, plan, control->range);
  bool same = control->differing == 0;
  paint_line(paint, "control", "%s %s: %" PRId64 " of %" PRId64 " rows identical", range,
             same ? "reproduced" : "NOT reproduced", control->same, control->rows);
  if (!same) view_examples(paint, arena, control->examples, control->n);
}

/* Where production has rows that the recompute would take away. */
static const char *risk_text(Arena *arena, const SourceFacts *source) {
  if (source->at_risk == 0) return "";
  return arena_printf(arena, "; production has rows on %" PRId64 " of them", source->at_risk);
}

/* What the dates that are missing in a source look like: at most three of them. */
static const char *missing_text(Arena *arena, const Plan *plan, const SourceFacts *source) {
  const char *text = "";
  for (size_t i = 0; i < source->n_missing && i < 3; i++)
    text = arena_printf(arena, "%s%s%s", text, i == 0 ? "" : ", ", words_date(arena, plan, source->dates_missing[i]));
  return source->missing > 3 ? arena_printf(arena, "%s …", text) : text;
}

/* How fresh a source is: production cannot be newer than what it is made of. */
static const char *newest_text(Arena *arena, const Plan *plan, const SourceFacts *source) {
  return source->dated ? arena_printf(arena, "; newest %s", words_date(arena, plan, source->newest)) : "";
}

static void put_reads(Paint *paint, Arena *arena, const Plan *plan) {
  const char *label = "reads";
  for (size_t i = 0; i < plan->n_sources; i++, label = "") {
    const SourceFacts *source = &plan->sources[i];
    if (source->dates_present < 0)
      paint_line(paint, label, "%s: its dates were not counted%s", source->table,
                 source->date_column == NULL ? " (no date column known: name it under `sources`)" : "");
    else if (source->missing == 0)
      paint_line(paint, label, "%s: all %s present%s", source->table,
                 words_count(arena, plan->n_dates, "date", "dates"), newest_text(arena, plan, source));
    else
      paint_line(paint, label, "%s: %" PRId64 " of %s missing: %s%s%s", source->table, source->missing,
                 words_count(arena, plan->n_dates, "date", "dates"), missing_text(arena, plan, source),
                 risk_text(arena, source), newest_text(arena, plan, source));
  }
  if (plan->n_sources == 0) paint_line(paint, label, "no table that could be looked at");
  if (plan->overlay) paint_line(paint, "", "itself: batches go in date order, each sees the ones before it");
}

/* The lightest date in which a change is expected; the first date when the recompute reads the target. */
static const DateRecord *first_date(const Plan *plan) {
  const DateRecord *first = NULL;
  if (plan->overlay) return plan->n_dates > 0 ? &plan->dates[0] : NULL;
  for (int64_t i = 0; i < plan->n_dates; i++) {
    const DateRecord *date = &plan->dates[i];
    if (date->suspect > 0 && (first == NULL || date->expected < first->expected)) first = date;
  }
  return first != NULL ? first : plan->n_dates > 0 ? &plan->dates[0] : NULL;
}

const char *view_batches_text(Arena *arena, const Plan *plan) {
  const DateRecord *first = plan->dates == NULL ? NULL : first_date(plan);
  if (first == NULL) return "none";
  const char *text = arena_printf(arena, "%s (%s)", words_date(arena, plan, first->date),
                                  words_count(arena, first->expected, "row", "rows"));
  int64_t before = first - plan->dates, left = plan->n_dates - 1, size = 2;
  if (left == 0) return text;
  if (left == 1) return arena_printf(arena, "%s, then 1 date", text);
  text = arena_printf(arena, "%s, then ", text);
  for (int shown = 0; left > 0; shown++) {
    if (shown == 8) {
      text = arena_printf(arena, "%s, …", text);
      break;
    }
    int64_t most = before > 0 ? before : left, now = size < most ? size : most;
    text = arena_printf(arena, "%s%s%" PRId64, text, shown == 0 ? "" : ", ", now);
    left -= now;
    before -= now;
    if (now == size) size = size * 3 / 2 > size ? size * 3 / 2 : size + 1; /* as src/run/size.c lets them grow */
  }
  return arena_printf(arena, "%s dates", text);
}

static void put_evidence(Paint *paint, Arena *arena, const Plan *plan) {
  const char *texts[5];
  size_t n = 0;
  if (plan->control.declared) texts[n++] = "control dates";
  if (plan->spec.n_changes > 0)
    texts[n++] = arena_printf(arena, "change scope (%s may change)", words_count(arena, plan->suspects, "row", "rows"));
  if (plan->n_row_checks > 0)
    texts[n++] = words_count(arena, (int64_t)plan->n_row_checks, "check on every row", "checks on every row");
  if (plan->n_total_checks > 0)
    texts[n++] = words_count(arena, (int64_t)plan->n_total_checks, "check on totals", "checks on totals");
  if (plan->spec.oracle.text != NULL) texts[n++] = "an oracle, asked for a sample";
  paint_line(paint, "evidence", "%s", n == 0 ? "none" : joined(arena, texts, n));
  for (size_t i = 0; i < plan->n_unproven; i++) paint_line(paint, i == 0 ? "unproven" : "", "%s", plan->unproven[i]);
}

enum { TESTS_SHOWN = 20 };

/* Ready to be put under `checks`: a text of JSON is one of YAML. */
static void put_tests_as(Paint *paint, Arena *arena, const Plan *plan, bool totals) {
  size_t n = 0;
  for (size_t i = 0; i < plan->n_dbt_tests; i++) {
    const DbtCheck *test = &plan->dbt_tests[i];
    if (test->sql == NULL || test->total != totals || n++ >= TESTS_SHOWN) continue;
    BUF_SCOPED sql = {0};
    json_text(&(Json){.out = &sql}, NULL, test->sql);
    if (n == 1) paint_line(paint, "", "%s:", totals ? "totals" : "rows");
    paint_text(paint, arena_printf(arena, "%*s- %s # %s", PAINT_LABEL + 2, "", buf_text(&sql), test->name));
    buf_putc(paint->out, '\n');
  }
  if (n > TESTS_SHOWN) paint_line(paint, "", "  … %zu more: tidegate plan --json", n - TESTS_SHOWN);
}

/* What dbt asks of the target and the spec does not. */
static void put_tests(Paint *paint, Arena *arena, const Plan *plan) {
  const char *left = "";
  size_t n = 0, n_left = 0;
  for (size_t i = 0; i < plan->n_dbt_tests; i++) {
    const DbtCheck *test = &plan->dbt_tests[i];
    n += test->sql != NULL;
    if (test->sql != NULL || n_left++ >= TESTS_SHOWN) continue;
    left = arena_printf(arena, "%s%s%s, which %s", left, n_left == 1 ? "" : "; ", test->name, test->why);
  }
  if (n > 0)
    paint_line(paint, "tests", "%s asked by no check of the spec. Under `checks` they are, before the swap:",
               words_count(arena, (int64_t)n, "test of dbt's is", "tests of dbt's are"));
  put_tests_as(paint, arena, plan, false);
  put_tests_as(paint, arena, plan, true);
  if (n_left > 0)
    paint_line(paint, n == 0 ? "tests" : "", "only by dbt, after the swap: %s%s", left,
               n_left > TESTS_SHOWN ? "; …" : "");
}

static void put_inferred(Paint *paint, const Plan *plan) {
  for (size_t i = 0; i < plan->n_inferred; i++) {
    const Inferred *it = &plan->inferred[i];
    paint_line(paint, i == 0 ? "inferred" : "", "%s: %s (%s)", it->name, it->value, it->from);
  }
}

static const char *cost_text(Arena *arena, const WayCost *cost) {
  return arena_printf(arena, "about %s, writers wait %s, WAL %s", words_duration(arena, cost->seconds),
                      words_duration(arena, cost->lock), words_size(arena, (int64_t)cost->wal));
}

static void put_way(Paint *paint, Arena *arena, const Plan *plan) {
  static const char *const names[] = {[WAY_CHANGES] = "row by row",
                                      [WAY_EXCHANGE] = "by exchanging partitions",
                                      [WAY_REPLACE] = "by replacing every row of the range"};
  const PlanWay *way = &plan->way;
  bool exchange = plan->shape.way == WAY_EXCHANGE;
  if (!way->measured) {
    if (way->exchange.why_not != NULL) paint_line(paint, "publish", "row by row; not by exchange: %s", way->why);
    return;
  }
  paint_line(paint, "publish", "%s: %s", names[plan->shape.way], way->why);
  paint_line(paint, "", "row by row: %s", cost_text(arena, &way->changes));
  if (way->exchange.partitions > 0)
    paint_line(paint, "", "exchange of %s: %s, readers wait up to 50 ms",
               words_count(arena, way->exchange.partitions, "partition", "partitions"),
               cost_text(arena, &way->exchanged));
  if (way->replaceable)
    paint_line(paint, "", "replacing every row: %s; replicas get every row of the range",
               cost_text(arena, &way->replaced));
  for (size_t i = 0; i < way->exchange.n_checked && exchange; i++)
    paint_line(paint, i == 0 ? "checked" : "", "%s", way->exchange.checked[i]);
}

/* What the estimate is, and what it rests on. */
static void put_estimate(Paint *paint, Arena *arena, const Plan *plan) {
  const PlanEstimate *estimate = &plan->estimate;
  if (!estimate->told) return;
  const char *rows = words_count(arena, (int64_t)estimate->whole.rows, "row", "rows");
  if (estimate->seconds < 0) {
    paint_line(paint, "estimate", "%s of %.0f bytes, by EXPLAIN; no date was recomputed for trial", rows,
               estimate->whole.width);
    return;
  }
  paint_line(paint, "estimate",
             "about %s to recompute and compare all dates; %.1f %% of the rows change: WAL %s, and up to "
             "%s more in whole pages behind a checkpoint",
             words_duration(arena, estimate->seconds), estimate->share * 100, words_size(arena, (int64_t)estimate->wal),
             words_size(arena, (int64_t)estimate->full_pages));
  paint_line(paint, "",
             "by EXPLAIN (%s of %.0f bytes, cost %.0f) and %s recomputed for trial (%s, %s, cost %.0f); once "
             "batches are written, by their own speed",
             rows, estimate->whole.width, estimate->whole.cost, words_date(arena, plan, estimate->date),
             words_count(arena, estimate->trial_rows, "row", "rows"), words_duration(arena, estimate->trial_seconds),
             estimate->one.cost);
}

void view_plan(Paint *paint, Arena *arena, const Plan *plan, const Verdict *verdict) {
  const char *id = plan->id == NULL ? "PLAN" : plan->id;
  put_title(paint, arena, plan);
  paint_line(paint, "wrong", "%s", plan->spec.wrong.text);
  paint_line(paint, "correct", "%s", plan->spec.correct.text);
  put_control(paint, arena, plan);
  put_reads(paint, arena, plan);
  view_feeds(paint, arena, plan);
  paint_line(paint, "window", "%s", view_window_text(arena, plan, verdict, plan->planned_at));
  view_jobs(paint, arena, plan, plan->planned_at);
  paint_line(paint, "batches", "%s", view_batches_text(arena, plan));
  put_way(paint, arena, plan);
  paint_line(paint, "undo", "tidegate rollback %s, for %s after the swap", id,
             words_duration(arena, plan->spec.retention));
  put_evidence(paint, arena, plan);
  put_tests(paint, arena, plan);
  put_inferred(paint, plan);
  put_estimate(paint, arena, plan);
  int64_t available = plan->space.free_bytes;
  paint_line(paint, "cost", "%s to recompute; disk: %s needed at most, %s",
             words_count(arena, plan->rows > 0 ? plan->rows : (int64_t)plan->estimate.rows, "row", "rows"),
             words_size(arena, plan->space_needed),
             available < 0 ? "unknown how much is free: look at the server's disk"
                           : arena_printf(arena, "%s free", words_size(arena, available)));
  for (size_t i = 0; i < plan->n_warnings; i++)
    paint_verdict(paint, STYLE_WARN, i == 0 ? "warning" : "", "%s", plan->warnings[i]);
  if (verdict->failed != NULL)
    paint_verdict(paint, STYLE_WARN, "failed",
                  "the last run of %s. Somebody may start it again at any time: look at it "
                  "first",
                  verdict->failed);
  const char *then = "";
  if (plan->id != NULL) then = arena_printf(arena, "tidegate run %s", plan->id);
  view_verdict(paint, arena, plan, verdict, plan->planned_at, then);
}

void view_plan_json(Json *json, const Plan *plan, const Verdict *verdict) {
  BUF_SCOPED part = {0};
  plan_json(plan, &(Json){.out = &part});
  json_raw(json, "plan", buf_text(&part));
  buf_clear(&part);
  gate_json(verdict, &(Json){.out = &part});
  json_raw(json, "verdict", buf_text(&part));
}
