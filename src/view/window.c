#include "view/window.h"

#include <inttypes.h>
#include <string.h>

#include "view/verdict.h"
#include "view/words.h"

/* ---- the jobs ---------------------------------------------------------------------------------------------------- */

static const char *concern_text(Arena *arena, const PlanJob *job) {
  const char *text = "";
  static const struct {
    unsigned bit;
    const char *word;
  } words[] = {{CONCERNS_WRITES, "writes it"}, {CONCERNS_READS, "reads it"}, {CONCERNS_FEEDS, "feeds it"}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (job->concerns & words[i].bit)
      text = arena_printf(arena, "%s%s%s", text, text[0] == '\0' ? "" : ", ", words[i].word);
  return text;
}

/* "p95 20m on 34 runs", "p95 20m, declared". */
static const char *length_text(Arena *arena, const SpecSchedule *when) {
  if (when->p95 < 0) return "p95 not declared";
  const char *p95 = words_duration(arena, when->p95);
  if (when->runs == 0) return arena_printf(arena, "p95 %s, declared", p95);
  return arena_printf(arena, "p95 %s on %s", p95, words_count(arena, when->runs, "run", "runs"));
}

/* "; read 29 days ago from airflow … dag nightly_load". */
static const char *provenance_text(Arena *arena, const PlanJob *job, Instant now) {
  int age = plan_job_age(job, now);
  const char *from = job->when.from.text == NULL ? "" : arena_printf(arena, " from %s", job->when.from.text);
  if (age < 0) return from[0] == '\0' ? "" : arena_printf(arena, "; read%s", from);
  if (age == 0) return arena_printf(arena, "; read today%s", from);
  return arena_printf(arena, "; read %s ago%s", words_count(arena, age, "day", "days"), from);
}

static const char *schedule_text(Arena *arena, const PlanJob *job, const BusyRule *rule) {
  if (rule->schedule == NULL) return job->declared ? "no schedule, declared" : "its schedule is NOT declared";
  return arena_printf(arena, "%s (%s, %s%s)", schedule_expression(rule->schedule), job->when.dialect,
                      words_city(arena, schedule_zone(rule->schedule)), job->when.interval ? ", data intervals" : "");
}

static void put_job(Paint *paint, Arena *arena, const char *label, const PlanJob *job, const BusyRule *rule,
                    Instant now) {
  const char *schedule = schedule_text(arena, job, rule), *concern = concern_text(arena, job);
  if (rule->schedule == NULL) {
    paint_line(paint, label, "%s (%s): %s", job->name, concern, schedule);
    return;
  }
  const char *jitter =
      rule->jitter > 0 ? arena_printf(arena, ", start up to %s late", words_duration(arena, rule->jitter)) : "";
  const char *old =
      plan_job_age(job, now) > PLAN_JOB_OLD ? arena_printf(arena, ": older than %d days", PLAN_JOB_OLD) : "";
  paint_line(paint, label, "%s (%s): %s, %s, guard %s%s%s%s", job->name, concern, schedule,
             length_text(arena, &job->when), words_duration(arena, rule->guard), jitter,
             provenance_text(arena, job, now), old);
}

void view_jobs(Paint *paint, Arena *arena, const Plan *plan, Instant now) {
  const PlanClock *clock = &plan->clock;
  const char *label = "jobs";
  for (size_t i = 0; i < clock->n; i++) {
    const PlanJob *job = &clock->jobs[i];
    bool stands_for_it = i == 0 && clock->rules[i].schedule == NULL && !plan->spec.production.none && clock->n > 1;
    bool plain = clock->n == 1 && (clock->rules[i].schedule == NULL ||
                                   (job->when.runs == 0 && job->when.from.text == NULL && plan_job_age(job, now) < 0));
    if (plain || (stands_for_it && job->declared)) continue;
    put_job(paint, arena, label, job, &clock->rules[i], now);
    label = "";
  }
}

/* ---- the report -------------------------------------------------------------------------------------------------- */

static void put_work(Paint *paint, Arena *arena, const WindowReport *report) {
  const Forecast *forecast = &report->forecast;
  const SpecBudget *budget = &report->plan->spec.budget;
  const char *left = forecast->id == NULL ? "" : " left";
  const char *what = arena_printf(arena, "%s%s, %s", words_count(arena, forecast->dates, "date", "dates"), left,
                                  words_count(arena, forecast->rows, "row", "rows"));
  if (forecast->dates == 0) {
    paint_line(paint, "work", "nothing is left to write: the change set can be sealed and swapped");
    return;
  }
  if (forecast->row_seconds < 0) {
    paint_line(paint, "work", "%s; how long that takes is not known before the first batch", what);
    return;
  }
  double seconds = forecast->row_seconds * (double)forecast->rows;
  int workers = report->plan->workers > 1 ? report->plan->workers : 1;
  const char *rests = budget->duty < 1
                          ? arena_printf(arena, ", %s with rests (duty %.0f %%)",
                                         words_duration(arena, seconds / workers / budget->duty), budget->duty * 100)
                          : "";
  const char *several = workers > 1 ? arena_printf(arena, ", %d at a time", workers) : "";
  paint_line(paint, "work", "%s: about %s of work%s%s; by %s", what, words_duration(arena, seconds), several, rests,
             forecast->measured);
}

static void put_end(Paint *paint, Arena *arena, const WindowReport *report, const Zone *zone) {
  const Forecast *forecast = &report->forecast;
  const char *begun = report->verdict == NULL ? "begun then" : "begun now";
  if (forecast->dates == 0 || forecast->row_seconds < 0 || forecast->n == 0) return;
  if (forecast->ends == 0) {
    paint_line(paint, "ends", "not within %.0f days, %s: make the range smaller, or give it more hours",
               forecast->horizon / 86400, begun);
    return;
  }
  const char *over =
      forecast->n_chosen == 1
          ? ""
          : arena_printf(arena, ", over %s", words_count(arena, (int64_t)forecast->n_chosen, "window", "windows"));
  paint_line(paint, "ends", "about %s %s, %s%s; then: tidegate swap",
             words_clock(arena, zone, forecast->from, forecast->ends), words_city(arena, zone), begun, over);
}

static const char *dates_text(Arena *arena, const Forecast *forecast, int64_t dates) {
  if (dates < 0) return "?";
  if (dates >= forecast->dates) return arena_printf(arena, "all %" PRId64, dates);
  return arena_printf(arena, "%" PRId64, dates);
}

static void put_slots(Paint *paint, Arena *arena, const Plan *plan, const Forecast *forecast, const Zone *zone) {
  enum { COLUMNS = 5 };
  static const char *const heads[COLUMNS] = {"from", "until", "open", "work that fits", "dates"};
  const char **cells = arena_array(arena, COLUMNS * forecast->n, sizeof *cells), **cell = cells;
  Instant end = forecast->from + (Instant)forecast->horizon;
  if (forecast->n == 0) {
    paint_line(paint, "windows", "none of %s or more in the next %.0f days", words_duration(arena, forecast->need),
               forecast->horizon / 86400);
    paint_line(paint, "", "HINT: %s", view_window_advice(arena, plan, forecast));
    return;
  }
  for (size_t i = 0; i < forecast->n; i++) {
    const ForecastSlot *slot = &forecast->slots[i];
    bool endless = slot->window.to >= end;
    *cell++ = words_clock(arena, zone, forecast->from, slot->window.from);
    *cell++ = endless ? "no end in sight" : words_clock(arena, zone, forecast->from, slot->window.to);
    *cell++ = endless ? NULL : words_duration(arena, (double)(slot->window.to - slot->window.from));
    *cell++ = endless ? NULL : words_duration(arena, slot->work);
    *cell++ = dates_text(arena, forecast, slot->dates);
  }
  paint_line(paint, "windows", "by the clock of %s; one shorter than %s is of no use", words_city(arena, zone),
             words_duration(arena, forecast->need));
  paint_table(paint, &(Table){.heads = heads,
                              .cells = cells,
                              .columns = COLUMNS,
                              .rows = forecast->n,
                              .right = 1u << 4,
                              .indent = PAINT_LABEL});
}

static void put_title(Paint *paint, Arena *arena, const WindowReport *report) {
  const Plan *plan = report->plan;
  char label[96];
  date_range_label(&plan->range, plan->shape.codec.grain, plan->shape.codec.zone, label);
  paint_styled(paint, STYLE_BOLD, plan->shape.table);
  paint_text(paint, arena_printf(arena, "  %s", label));
  if (report->forecast.id != NULL) paint_text(paint, arena_printf(arena, "  %s", report->forecast.id));
  buf_putc(paint->out, '\n');
}

void view_window(Paint *paint, Arena *arena, const WindowReport *report) {
  const Plan *plan = report->plan;
  const Zone *zone = words_zone(plan);
  put_title(paint, arena, report);
  put_work(paint, arena, report);
  view_jobs(paint, arena, plan, report->forecast.from);
  if (plan->clock.has_idle)
    paint_line(paint, "idle", "%s %s", plan->spec.idle.text, words_city(arena, plan->clock.idle.zone));
  for (size_t i = 0; i < plan->clock.freezes.n; i++)
    paint_line(paint, i == 0 ? "freeze" : "", "%s", plan->clock.freezes.items[i].text);
  for (size_t i = 0; i < plan->n_warnings; i++)
    paint_verdict(paint, STYLE_WARN, i == 0 ? "warning" : "", "%s", plan->warnings[i]);
  if (report->unknown != NULL) {
    paint_verdict(paint, STYLE_BAD, "window", "none can be told: %s", report->unknown->text);
    paint_line(paint, "", "HINT: %s", report->unknown->hint);
    return;
  }
  if (report->verdict == NULL)
    paint_line(paint, "from", "%s", words_instant(arena, zone, report->forecast.from));
  else
    paint_line(paint, "now", "%s", view_window_text(arena, plan, report->verdict, report->forecast.from));
  for (size_t i = 0; report->verdict != NULL && i < report->verdict->n; i++)
    paint_line(paint, "", "- %s: %s", report->verdict->reasons[i].rule, report->verdict->reasons[i].text);
  put_slots(paint, arena, plan, &report->forecast, zone);
  put_end(paint, arena, report, zone);
  view_week(paint, arena, &report->week);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void put_json_jobs(Json *json, const Plan *plan, Instant now) {
  json_array(json, "jobs");
  for (size_t i = 0; i < plan->clock.n; i++) {
    const PlanJob *job = &plan->clock.jobs[i];
    const BusyRule *rule = &plan->clock.rules[i];
    int age = plan_job_age(job, now);
    json_object(json, NULL);
    json_text(json, "name", job->name);
    json_bool(json, "writes", job->concerns & CONCERNS_WRITES);
    json_bool(json, "reads", job->concerns & CONCERNS_READS);
    json_bool(json, "feeds", job->concerns & CONCERNS_FEEDS);
    json_bool(json, "declared", job->declared);
    json_text(json, "schedule", rule->schedule == NULL ? NULL : schedule_expression(rule->schedule));
    json_text(json, "zone", rule->schedule == NULL ? NULL : zone_name(schedule_zone(rule->schedule)));
    if (job->when.p95 >= 0) json_real(json, "p95", job->when.p95);
    if (job->when.runs > 0) json_int(json, "runs", job->when.runs);
    json_real(json, "guard", rule->guard);
    json_real(json, "jitter", rule->jitter);
    json_text(json, "measured", job->when.measured.text);
    if (age >= 0) json_int(json, "days_ago", age);
    json_text(json, "from", job->when.from.text);
    json_object_end(json);
  }
  json_array_end(json);
}

static void put_json_windows(Json *json, const Forecast *forecast) {
  json_array(json, "windows");
  for (size_t i = 0; i < forecast->n; i++) {
    const ForecastSlot *slot = &forecast->slots[i];
    json_object(json, NULL);
    instant_json(json, "from", slot->window.from);
    instant_json(json, "to", slot->window.to);
    json_real(json, "work", slot->work);
    if (slot->dates >= 0) json_int(json, "dates", slot->dates);
    json_object_end(json);
  }
  json_array_end(json);
}

static void put_json_week(Json *json, const Week *week) {
  json_array(json, "week");
  for (size_t i = 0; i < week->n; i++) {
    json_object(json, NULL);
    instant_json(json, "from", week->items[i].from);
    instant_json(json, "to", week->items[i].to);
    json_text(json, "state", week_word(week->items[i].state));
    if (week->items[i].why != NULL) json_text(json, "why", week->items[i].why);
    json_object_end(json);
  }
  json_array_end(json);
}

void view_window_json(Json *json, Arena *arena, const WindowReport *report) {
  const Forecast *forecast = &report->forecast;
  const Plan *plan = report->plan;
  json_text(json, "target", plan->shape.table);
  json_text(json, "id", forecast->id);
  json_bool(json, "known", report->unknown == NULL);
  instant_json(json, "from", forecast->from);
  json_real(json, "horizon", forecast->horizon);
  json_text(json, "zone", zone_name(words_zone(plan)));
  json_int(json, "dates", forecast->dates);
  json_int(json, "rows", forecast->rows);
  if (forecast->row_seconds >= 0) json_real(json, "work", forecast->row_seconds * (double)forecast->rows);
  json_text(json, "measured", forecast->measured);
  json_real(json, "duty", plan->spec.budget.duty);
  json_real(json, "need", forecast->need);
  put_json_windows(json, forecast);
  if (forecast->n == 0 && report->unknown == NULL) json_text(json, "advice", view_window_advice(arena, plan, forecast));
  instant_json(json, "ends", forecast->ends);
  put_json_jobs(json, plan, forecast->from);
  put_json_week(json, &report->week);
  json_array(json, "warnings");
  for (size_t i = 0; i < plan->n_warnings; i++) json_text(json, NULL, plan->warnings[i]);
  json_array_end(json);
  if (report->verdict == NULL) return;
  BUF_SCOPED verdict = {0};
  gate_json(report->verdict, &(Json){.out = &verdict});
  json_raw(json, "verdict", buf_text(&verdict));
}
