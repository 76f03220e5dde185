#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "plan/plan_int.h"

/* The window's rules: the schedules of the jobs that concern the backfill, the idle hours and the freezes. */

/* The last part of "schema.table". */
static const char *bare_name(const char *table) {
  const char *dot = strrchr(table, '.');
  return dot == NULL ? table : dot + 1;
}

/* A name in tidegate.yaml may leave the schema out; then it means every table of that name: one job too many closes a
 * window, one too few lets a backfill run beside it. */
static bool means_table(const char *written, const char *table) {
  return plan_same_table(written, table) || ((strchr(written, '.') == NULL || strchr(table, '.') == NULL) &&
                                             plan_same_table(bare_name(written), bare_name(table)));
}

static bool among(const SpecTexts *written, const char *table) {
  for (size_t i = 0; i < written->n; i++)
    if (means_table(written->items[i].text, table)) return true;
  return false;
}

/* What the recompute reads: by its SQL and, for a command, by what a person declared. */
static bool feeds(const Resolver *resolver, const SpecJob *job) {
  const QueryFacts *query = &resolver->query;
  for (size_t i = 0; i < query->n_reads; i++)
    if (!plan_same_table(query->reads[i].table, resolver->plan->shape.table) &&
        among(&job->writes, query->reads[i].table))
      return true;
  for (size_t i = 0; i < resolver->spec->n_sources; i++)
    if (among(&job->writes, resolver->spec->sources[i].table.text)) return true;
  return false;
}

static unsigned concerns(const Resolver *resolver, const SpecJob *job) {
  const char *target = resolver->plan->shape.table;
  return (among(&job->writes, target) ? CONCERNS_WRITES : 0) | (among(&job->reads, target) ? CONCERNS_READS : 0) |
         (feeds(resolver, job) ? CONCERNS_FEEDS : 0);
}

/* Does it name something much like the target or a source? Misspelt so, a job would close no window, unnoticed. */
static bool is_misspelt(const Resolver *resolver, const char *written, const char **ret) {
  size_t n = resolver->query.n_reads;
  const char **names = arena_array(resolver->arena, n + 1, sizeof *names);
  for (size_t i = 0; i < n; i++) names[i] = resolver->query.reads[i].table;
  names[n] = resolver->plan->shape.table;
  *ret = spec_nearest(written, names, n + 1);
  return *ret != NULL;
}

/* Only of jobs that concern the backfill, or would by another spelling: others may work in another database. */
static void warn_of_table(Resolver *resolver, const SpecJob *job, bool concerned, const char *written,
                          const char *how) {
  const char *name, *nearest = NULL;
  TableKind kind;
  Error cause;
  if (strcmp(written, resolver->plan->shape.table) == 0) return;
  if (!is_misspelt(resolver, written, &nearest) && !concerned) return;
  if (resolver->engine->ops->find_table(resolver->engine, resolver->arena, written, &name, &kind, &cause) ||
      cause.code != ERR_NOT_FOUND)
    return;
  plan_warn(resolver->arena, resolver->plan,
            "the job %s %s %s, which is not in the database%s%s%s: a job closes windows "
            "only by tables that there are",
            job->name.text, how, written, nearest == NULL ? "" : " (did you mean ", nearest == NULL ? "" : nearest,
            nearest == NULL ? "" : "?)");
}

static void warn_of_tables(Resolver *resolver, const SpecJob *job, bool concerned) {
  for (size_t i = 0; i < job->writes.n; i++)
    warn_of_table(resolver, job, concerned, job->writes.items[i].text, "writes");
  for (size_t i = 0; i < job->reads.n; i++) warn_of_table(resolver, job, concerned, job->reads.items[i].text, "reads");
}

/* "schedule: none" says that nothing starts the job by the clock. */
static bool is_scheduled(const SpecSchedule *when) {
  return when->expression.text != NULL && strcmp(when->expression.text, "none") != 0;
}

/* The jobs that concern the backfill, production first. A job under `jobs` that writes the target stands for it. */
static void choose_jobs(Resolver *resolver) {
  const Spec *spec = resolver->spec;
  PlanClock *clock = &resolver->plan->clock;
  PlanJob *jobs = arena_array(resolver->arena, spec->n_jobs + 1, sizeof *jobs);
  jobs[0] = (PlanJob){.name = "production",
                      .place = spec->production.when.expression.place,
                      .concerns = CONCERNS_WRITES,
                      .when = spec->production.when,
                      .live = spec->production.live,
                      .declared = spec->production.when.expression.text != NULL || spec->production.none};
  clock->n = 1;
  for (size_t i = 0; i < spec->n_jobs; i++) {
    const SpecJob *job = &spec->jobs[i];
    unsigned how = concerns(resolver, job);
    warn_of_tables(resolver, job, how != 0);
    if (how == 0) continue;
    jobs[clock->n++] = (PlanJob){.name = job->name.text,
                                 .place = job->name.place,
                                 .concerns = how,
                                 .when = job->when,
                                 .live = job->live,
                                 .declared = job->when.expression.text != NULL};
    if (how & CONCERNS_WRITES) jobs[0].declared = true;
  }
  clock->jobs = jobs;
}

static bool resolve_rule(Resolver *resolver, const PlanJob *job, const Zone *zone, BusyRule *ret, Error *err) {
  const SpecSchedule *when = &job->when;
  *ret = (BusyRule){.p95 = when->p95 < 0 ? 0 : when->p95, .guard = when->guard, .jitter = when->jitter};
  if (!is_scheduled(when)) return true;
  if (when->zone.text != NULL && !zone_open(resolver->arena, when->zone.text, &zone, err))
    return plan_at_place(&when->zone.place, err);
  if (when->zone.text == NULL && resolver->spec->zone.text == NULL && resolver->spec->production.when.zone.text == NULL)
    plan_warn(
        resolver->arena, resolver->plan,
        "the schedule of %s has no zone: it is read by UTC; if its scheduler runs by another, write it beside the "
        "schedule",
        job->name);
  return schedule_parse(resolver->arena, when->dialect, when->expression.text, zone, &ret->schedule, err) ||
         plan_at_place(&when->expression.place, err);
}

static bool resolve_rules(Resolver *resolver, const Zone *zone, Error *err) {
  PlanClock *clock = &resolver->plan->clock;
  BusyRule *rules = arena_array(resolver->arena, clock->n, sizeof *rules);
  for (size_t i = 0; i < clock->n; i++)
    if (!resolve_rule(resolver, &clock->jobs[i], zone, &rules[i], err)) return false;
  clock->rules = rules;
  return true;
}

static bool resolve_idle(Resolver *resolver, const Zone *production_zone, Error *err) {
  const Spec *spec = resolver->spec;
  PlanClock *clock = &resolver->plan->clock;
  const Zone *zone = production_zone;
  if (spec->idle.text == NULL) return true;
  if (spec->idle_zone.text != NULL && !zone_open(resolver->arena, spec->idle_zone.text, &zone, err))
    return plan_at_place(&spec->idle_zone.place, err);
  clock->has_idle = true;
  return idle_hours_parse(resolver->arena, spec->idle.text, zone, &clock->idle, err) ||
         plan_at_place(&spec->idle.place, err);
}

/* ---- freezes ----------------------------------------------------------------------------------------------------- */

static void close_file(FILE **file) {
  if (*file != NULL) fclose(*file);
}

/* A file of holidays, as it is now; what cannot be read closes every window, and rolling back stays possible. */
static bool add_file(Arena *arena, const SpecFreeze *freeze, Freeze **items, size_t *n, Error *err) {
  enum { MOST_BYTES = 1 << 20 };
  char *text = arena_alloc(arena, MOST_BYTES + 1);
  __attribute__((cleanup(close_file))) FILE *file = fopen(freeze->path, "re");
  size_t length = file == NULL ? 0 : fread(text, 1, MOST_BYTES + 1, file);
  if (file == NULL || ferror(file)) {
    spec_error(err, &freeze->text.place, "cannot read %s: %s", freeze->path, strerror(errno));
    return error_hint(err, "put the file there, with one date or range a line, or take it out of freeze");
  }
  if (length > MOST_BYTES) return spec_error(err, &freeze->text.place, "%s is larger than 1 MiB", freeze->path);
  text[length] = '\0';
  if (strlen(text) < length) return spec_error(err, &freeze->text.place, "%s is not a text", freeze->path);
  return freeze_parse_lines(arena, freeze->path, text, items, n, err);
}

static bool resolve_freezes(Resolver *resolver, const Zone *zone, Error *err) {
  const Spec *spec = resolver->spec;
  PlanClock *clock = &resolver->plan->clock;
  Freeze *items = NULL, one;
  size_t n = 0;
  for (size_t i = 0; i < spec->n_freezes; i++) {
    const SpecFreeze *freeze = &spec->freezes[i];
    Error unread;
    if (freeze->file) {
      if (!add_file(resolver->arena, freeze, &items, &n, &unread))
        clock->freeze_unknown =
            arena_printf(resolver->arena, "%s: %s; %s", unread.where, unread.message, error_hint_text(&unread));
      continue;
    }
    if (!freeze_parse(resolver->arena, freeze->text.text, &one, err)) return plan_at_place(&freeze->text.place, err);
    items = arena_grow(resolver->arena, items, n, sizeof *items);
    items[n++] = one;
  }
  clock->freezes = (Freezes){zone, items, n};
  return true;
}

int plan_job_age(const PlanJob *job, Instant now) {
  enum { DAY = 86400 };
  DateRange day;
  Error ignored;
  if (job->when.measured.text == NULL ||
      !date_range_parse(job->when.measured.text, GRAIN_DAY, zone_utc(), &day, &ignored))
    return -1;
  return now <= day.from ? 0 : (int)((now - day.from) / DAY);
}

void plan_measure_clock(Arena *arena, Plan *plan) {
  for (size_t i = 0; i < plan->clock.n; i++) {
    const PlanJob *job = &plan->clock.jobs[i];
    int age = plan_job_age(job, plan->planned_at);
    if (plan->clock.rules[i].schedule == NULL || age <= PLAN_JOB_OLD) continue;
    plan_warn(
        arena, plan,
        "when %s runs, and how long, was read %d days ago: it may have changed. Read it again, or look, and write "
        "the day under measured",
        job->name, age);
  }
}

WindowRules plan_window(const Plan *plan) {
  const PlanClock *clock = &plan->clock;
  return (WindowRules){clock->rules, clock->n, &clock->freezes, clock->has_idle ? &clock->idle : NULL};
}

/* Where neither `production` nor `zone` says it, idle hours and freezes are those of the first job that writes the
 * target. */
static bool zone_of_writer(Resolver *resolver, const Zone **zone, const char **why, Error *err) {
  const PlanClock *clock = &resolver->plan->clock;
  const SpecSchedule *production = &resolver->spec->production.when;
  if (production->expression.text != NULL || production->zone.text != NULL || resolver->spec->zone.text != NULL)
    return true;
  for (size_t i = 0; i < clock->n; i++) {
    const SpecText *named = &clock->jobs[i].when.zone;
    if (!(clock->jobs[i].concerns & CONCERNS_WRITES) || named->text == NULL) continue;
    *why = arena_printf(resolver->arena, "the job %s", clock->jobs[i].name);
    return zone_open(resolver->arena, named->text, zone, err) || plan_at_place(&named->place, err);
  }
  return true;
}

bool plan_resolve_clock(Resolver *resolver, Error *err) {
  const Spec *spec = resolver->spec;
  const Zone *zone = resolver->plan->day_zone, *days;
  const SpecText *declared = &spec->production.when.zone;
  const char *why = declared->text != NULL ? "spec" : spec->zone.text != NULL ? "the zone of the dates" : "default";
  if (declared->text != NULL && !zone_open(resolver->arena, declared->text, &zone, err))
    return plan_at_place(&declared->place, err);
  choose_jobs(resolver);
  days = zone;
  if (!zone_of_writer(resolver, &days, &why, err)) return false;
  if (spec->production.when.expression.text != NULL || spec->idle.text != NULL || spec->n_freezes > 0)
    plan_infer(resolver, "production.zone", zone_name(days), why);
  return resolve_rules(resolver, zone, err) && resolve_idle(resolver, days, err) &&
         resolve_freezes(resolver, days, err);
}
