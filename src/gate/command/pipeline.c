#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gate/command/command_int.h"

/* What the command writes, by tidegate.yaml. */

/* Whoever typed it waits, and a hook that takes too long lets it through. */
enum { CONNECT_SECONDS = 3 };

static bool no_pipeline(CommandCase *c) {
  return error_set(&c->trouble, ERR_NOT_FOUND, "there is no tidegate.yaml in %s or above it",
                   c->ask->directory == NULL ? "this directory" : c->ask->directory);
}

bool command_read_pipeline(CommandCase *c) {
  Spec spec;
  if (c->read) return c->pipeline.pipeline_file.file != NULL;
  c->read = true;
  c->pipeline_path = spec_pipeline_path(c->arena, c->ask->directory);
  if (c->pipeline_path == NULL) return no_pipeline(c);
  if (!spec_load_pipeline(c->arena, c->pipeline_path, NULL, &spec, &c->trouble)) return false;
  c->pipeline = spec;
  return true;
}

bool command_open_database(CommandCase *c) {
  if (c->opened) return c->engine != NULL;
  c->opened = true;
  if (!command_read_pipeline(c)) return false;
  if (c->pipeline.database_path == NULL) {
    error_set(&c->trouble, ERR_NOT_FOUND, "%s names no database", c->pipeline_path);
    return error_hint(&c->trouble, "write `database: PATH` into it");
  }
  EngineOptions options = {.schema = c->pipeline.postgres.schema.text, .connect_seconds = CONNECT_SECONDS};
  Engine *engine;
  if (!engine_open(c->pipeline.database_path, &options, &engine, &c->trouble)) return false;
  if (engine->ops->now(engine, &c->now, &c->trouble))
    c->engine = engine;
  else
    engine_close(&engine);
  return c->engine != NULL;
}

void command_pipeline_missing(CommandCase *c, const char *rule) {
  bool sure = false;
  for (size_t i = 0; i < c->report.n; i++) sure = sure || c->report.items[i].sure;
  if (!sure || command_read_pipeline(c)) return;
  const char *where = c->trouble.where[0] == '\0' ? "" : c->trouble.where;
  command_because(c, rule, "what it writes, and when production runs, is unknown: %s%s%s", where,
                  *where == '\0' ? "" : ": ", c->trouble.message);
  command_advise(c, "%s",
                 c->pipeline_path != NULL
                     ? error_hint_text(&c->trouble)
                     : "write a first one: tidegate init; then say under jobs what each job writes");
}

void command_database_missing(CommandCase *c, const char *rule) {
  if (c->n_targets == 0 || command_open_database(c)) return;
  command_because(c, rule, "nothing can be proven without the database: %s", c->trouble.message);
  command_advise(c, "%s", error_hint_text(&c->trouble));
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static const char *behind_dot(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot == NULL ? name : dot + 1;
}

bool command_same_table(const char *a, const char *b) {
  bool schemas = strchr(a, '.') != NULL && strchr(b, '.') != NULL;
  return schemas ? strcasecmp(a, b) == 0 : strcasecmp(behind_dot(a), behind_dot(b)) == 0;
}

/* "sales_daily", or "dbt:orders" for that tool alone; airflow: is every Airflow. */
static bool is_called(const char *name, const char *system, const char *target) {
  const char *colon = strchr(name, ':');
  size_t n = colon == NULL ? 0 : (size_t)(colon - name);
  bool tool = n > 0 && strncasecmp(name, system, n) == 0 && !isalpha((unsigned char)system[n]);
  return strcmp(tool ? colon + 1 : name, target) == 0;
}

bool command_stands_for(const SpecJob *job, const Trigger *trigger, const char *target) {
  if (strcmp(job->name.text, target) == 0) return true;
  for (size_t i = 0; i < job->names.n; i++)
    if (is_called(job->names.items[i].text, trigger->system, target)) return true;
  const char *dag = job->live.airflow.dag.text;
  return dag != NULL && strncasecmp(trigger->system, "airflow", 7) == 0 && strcmp(dag, target) == 0;
}

/* ---- the user's own commands ------------------------------------------------------------------------------------- */

static void close_file(FILE **file) {
  if (*file != NULL) fclose(*file);
}

/* Only a tidegate.yaml that says so is read for a command that none of the known tools starts: most name none. */
static bool names_commands(CommandCase *c) {
  enum { MOST = 1 << 20 };
  static const char key[] = "commands";
  const char *path = spec_pipeline_path(c->arena, c->ask->directory);
  __attribute__((cleanup(close_file))) FILE *file = path == NULL ? NULL : fopen(path, "re");
  if (file == NULL) return false;
  char *text = arena_alloc(c->arena, MOST);
  size_t n = fread(text, 1, MOST, file);
  return memmem(text, n, key, sizeof key - 1) != NULL;
}

TriggerReport command_classify(CommandCase *c) {
  TriggerOwn *own = NULL;
  size_t n = 0;
  if (names_commands(c) && command_read_pipeline(c)) {
    for (size_t i = 0; i < c->pipeline.n_jobs; i++) {
      const SpecJob *job = &c->pipeline.jobs[i];
      for (size_t k = 0; k < job->commands.n; k++) {
        own = arena_grow(c->arena, own, n, sizeof *own);
        own[n++] = (TriggerOwn){job->commands.items[k].text, job->name.text};
      }
    }
  }
  return trigger_classify_own(c->arena, c->ask->text == NULL ? "" : c->ask->text, c->ask->n, own, n);
}

/* ---- targets ----------------------------------------------------------------------------------------------------- */

enum { DAY_TEXT = 11 };

static int64_t day_number(const char *text) {
  Civil civil = {.year = atoi(text), .month = atoi(text + 5), .day = atoi(text + 8)};
  return civil_to_days(civil.year, civil.month, civil.day);
}

static const char *day_after(Arena *arena, const char *text, int days) {
  Civil civil = civil_from_days(day_number(text) + days);
  return arena_printf(arena, "%04d-%02d-%02d", civil.year, civil.month, civil.day);
}

/* Several commands over one table are judged as one over all their dates. */
static void add_target(CommandCase *c, const char *table, const SpecJob *job, const Trigger *trigger) {
  int shift = job == NULL ? 0 : job->dates;
  const char *from = day_after(c->arena, trigger->from, shift), *to = day_after(c->arena, trigger->to, shift);
  CommandTarget *target = NULL;
  for (size_t i = 0; i < c->n_targets && target == NULL; i++)
    if (command_same_table(c->targets[i].table, table)) target = &c->targets[i];
  if (target == NULL) {
    c->targets = arena_grow(c->arena, c->targets, c->n_targets, sizeof *c->targets);
    target = &c->targets[c->n_targets++];
    *target = (CommandTarget){.table = table, .job = job, .trigger = trigger, .from = from, .to = to, .per_date = -1};
  }
  if (strcmp(from, target->from) < 0) target->from = from;
  if (strcmp(to, target->to) > 0) target->to = to;
  target->n_dates = day_number(target->to) - day_number(target->from) + 1;
  double per_date = job == NULL ? -1 : job->per_date >= 0 ? job->per_date : job->when.p95;
  if (per_date > target->per_date) target->per_date = per_date;
}

/* The targets' entries, read once: a line may start as many commands as a loop has turns. */
static size_t read_entries(CommandCase *c) {
  const char *const *names = NULL;
  size_t n = 0;
  Error ignored; /* the same file was read before */
  if (c->entries != NULL) return c->n_entries;
  spec_pipeline_targets(c->arena, c->pipeline_path, &names, &n, &ignored);
  c->entries = arena_array(c->arena, n + 1, sizeof *c->entries);
  for (size_t i = 0; i < n; i++)
    if (spec_load_pipeline(c->arena, c->pipeline_path, names[i], &c->entries[c->n_entries], &ignored)) c->n_entries++;
  return c->n_entries;
}

/* Calls `take` for each table that the command's name stands for: by the pipeline's jobs and by those of a target's
 * entry. SQL names the table itself: then it must be one that tidegate.yaml knows. */
static bool each_table(CommandCase *c, const Trigger *trigger, const char *name,
                       void (*take)(CommandCase *, const char *, const SpecJob *, const Trigger *)) {
  bool found = false, is_table = trigger_names_table(trigger->system);
  for (size_t i = 0; !found && (i == 0 || i <= read_entries(c)); i++) {
    const Spec *spec = i == 0 ? &c->pipeline : &c->entries[i - 1];
    for (size_t k = 0; k < spec->n_jobs; k++) {
      const SpecJob *job = &spec->jobs[k];
      if (!is_table && !command_stands_for(job, trigger, name)) continue;
      for (size_t t = 0; t < job->writes.n; t++) {
        const char *table = job->writes.items[t].text;
        if (is_table && !command_same_table(table, name)) continue;
        take(c, table, job, trigger);
        found = true;
      }
    }
  }
  for (size_t i = 0; is_table && !found && i < read_entries(c); i++) {
    const char *target = c->entries[i].target.text;
    if (!command_same_table(target, name)) continue;
    take(c, target, NULL, trigger);
    found = true;
  }
  return found;
}

static void take_nothing(CommandCase *c, const char *table, const SpecJob *job, const Trigger *trigger) {}

void command_drop_unknown_tables(CommandCase *c) {
  Trigger *kept = NULL;
  size_t n = 0;
  for (size_t i = 0; i < c->report.n; i++) {
    const Trigger *item = &c->report.items[i];
    bool table = item->target != NULL && trigger_names_table(item->system);
    if (table && c->ask->report == NULL &&
        (!command_read_pipeline(c) || !each_table(c, item, item->target, take_nothing))) {
      if (c->pipeline_path == NULL || c->pipeline.pipeline_file.file != NULL) continue;
    }
    if (kept == NULL) kept = arena_array(c->arena, c->report.n, sizeof *kept);
    kept[n++] = *item;
  }
  if (n == c->report.n) return;
  c->report.items = kept;
  c->report.n = n;
  if (n == 0) c->report = (TriggerReport){.verdict = TRIGGER_NO};
}

static void not_mapped(CommandCase *c, const char *rule, const Trigger *trigger, const char *name) {
  command_because(c, rule, "%swhich tables %s writes is not said in %s, so nothing can be proven of them",
                  command_of(c, trigger), name, c->pipeline_path);
  command_advise(c, "%s\n  %s:\n    writes: [TABLE]\n    dates: 0       # or -1d: the rows are of the day before",
                 c->pipeline.n_jobs > 0 ? "write under jobs: there" : "write into it:\njobs:", name);
}

static void map_trigger(CommandCase *c, const char *rule, const Trigger *trigger) {
  if (trigger->target == NULL) {
    command_because(c, rule, "%swhat it is to write does not stand in it", command_of(c, trigger));
    command_advise(c, "name the DAG, the job or the model in the command");
    return;
  }
  char *names = arena_strdup(c->arena, trigger->target), *rest = NULL;
  for (char *name = strtok_r(names, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest))
    if (!each_table(c, trigger, name, add_target)) not_mapped(c, rule, trigger, name);
}

void command_not_mapped(CommandCase *c, const char *rule) {
  for (size_t i = 0; i < c->report.n; i++)
    if (c->report.items[i].sure) map_trigger(c, rule, &c->report.items[i]);
}
