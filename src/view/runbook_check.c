#include "view/runbook_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/doc.h"
#include "view/words.h"

enum { FEWEST_RUNS = 5, OLDEST_DAYS = 30, DAY = 86400 };

void runbook_find(RunbookFindings *findings, const char *what, const char *todo, const char *format, ...) {
  va_list args;
  va_start(args, format);
  findings->items = arena_grow(findings->arena, findings->items, findings->n, sizeof *findings->items);
  findings->items[findings->n++] =
      (RunbookFinding){what, arena_vprintf(findings->arena, format, args), arena_strdup(findings->arena, todo)};
  va_end(args);
}

const RunbookJob *runbook_jobs_of(Arena *arena, const RunbookFacts *facts, size_t *ret_n) {
  const Spec *spec = facts->spec;
  const SpecProduction *production = &spec->production;
  RunbookJob *jobs = arena_array(arena, spec->n_jobs + 1, sizeof *jobs);
  size_t n = 0;
  bool written = false;
  for (size_t i = 0; i < spec->n_jobs; i++) {
    const char *concern = runbook_concern(arena, facts, &spec->jobs[i]);
    if (concern == NULL) continue;
    written = written || strstr(concern, "writes") != NULL;
    jobs[n++] = (RunbookJob){spec->jobs[i].name.text, &spec->jobs[i].when, &spec->jobs[i].live};
  }
  bool declared = production->when.expression.text != NULL;
  if (!production->none && (declared || !written))
    jobs[n++] = (RunbookJob){"production", &production->when, &production->live};
  *ret_n = n;
  return jobs;
}

/* ---- what tidegate.yaml says ------------------------------------------------------------------------------------- */

/* Does the file itself say it, for the target or for all? A default is nobody's decision. */
static bool is_written(Arena *arena, const RunbookFacts *facts, const char *key) {
  const SpecPlace *file = &facts->spec->pipeline_file;
  const DocNode *root = NULL;
  Error unreadable;
  if (file->source == NULL || !doc_parse(arena, file->file, file->source, strlen(file->source), &root, &unreadable))
    return false;
  const char *name = facts->spec->target.text == NULL ? facts->target : facts->spec->target.text;
  return doc_get(root, key) != NULL || doc_get(doc_get(doc_get(root, "targets"), name), key) != NULL;
}

static void check_people(RunbookFindings *findings, const RunbookFacts *facts) {
  const Spec *spec = facts->spec;
  if (spec->owner.text == NULL)
    runbook_find(findings, "owner", "write owner: NAME in tidegate.yaml", "nobody answers for it");
  if (spec->contacts.n == 0)
    runbook_find(findings, "contacts", "write contacts: [\"#channel\", on-call@example.org] in tidegate.yaml",
                 "whom to call at night is not written down");
  if (!is_written(findings->arena, facts, "retention"))
    runbook_find(findings, "retention", "write retention: 7d in tidegate.yaml, or what the owner decides",
                 "how long old rows are kept is nobody's decision: %s is the default",
                 words_duration(findings->arena, spec->retention));
  if (spec->correctness.text == NULL && spec->row_checks.n == 0 && spec->total_checks.n == 0)
    runbook_find(findings, "correctness",
                 "write correctness: in words, or checks: {rows: […], totals: […]}, in tidegate.yaml",
                 "how it is judged that the rows are right is not written down");
  if (spec->rollback_path.text == NULL)
    runbook_find(findings, "rollback", "write rollback: in words in tidegate.yaml: until when by what, and after that",
                 "how a wrong publication is taken back is not written down");
}

/* Days since "YYYY-MM-DD"; −1: it is no day. */
static int64_t days_since(const char *text, Instant now) {
  int year, month, day;
  char rest;
  if (sscanf(text, "%4d-%2d-%2d%c", &year, &month, &day, &rest) != 3) return -1;
  return now / DAY - civil_to_days(year, month, day);
}

static void check_p95(RunbookFindings *findings, const RunbookFacts *facts, const RunbookJob *job) {
  const SpecSchedule *when = job->when;
  if (when->p95 < 0)
    runbook_find(findings, "p95", "write p95 beside its schedule, or measure it: tidegate init --from",
                 "how long a run of %s takes is not declared", job->name);
  if (when->runs > 0 && when->runs < FEWEST_RUNS)
    runbook_find(findings, "runs", "measure it again when there were more runs",
                 "how long a run of %s takes rests on %s: on fewer than %d nothing can be planned", job->name,
                 words_count(findings->arena, when->runs, "run", "runs"), FEWEST_RUNS);
  if (when->measured.text == NULL) {
    if (when->runs > 0 || when->from.text != NULL)
      runbook_find(findings, "measured", "write measured: DATE beside it",
                   "when the duration of %s was measured is not said", job->name);
    return;
  }
  int64_t days = days_since(when->measured.text, facts->now);
  if (days > OLDEST_DAYS)
    runbook_find(findings, "measured", "measure schedule and p95 again, then write the day",
                 "schedule and duration of %s were read on %s, %" PRId64 " days ago", job->name, when->measured.text,
                 days);
}

static void check_jobs(RunbookFindings *findings, const RunbookFacts *facts) {
  size_t n;
  const RunbookJob *jobs = runbook_jobs_of(findings->arena, facts, &n);
  for (size_t i = 0; i < n; i++) {
    const SpecSchedule *when = jobs[i].when;
    if (when->expression.text == NULL)
      runbook_find(
          findings, "schedule",
          "write schedule and zone in tidegate.yaml; or production: none, or schedule: none, if no clock starts it",
          "when %s runs is not declared", jobs[i].name);
    else if (strcmp(when->expression.text, "none") != 0)
      check_p95(findings, facts, &jobs[i]);
  }
}

static void check_freezes(RunbookFindings *findings, const Spec *spec) {
  for (size_t i = 0; i < spec->n_freezes; i++)
    if (spec->freezes[i].file && access(spec->freezes[i].path, R_OK) != 0)
      runbook_find(findings, "freeze", "put the file there, or correct its name under freeze",
                   "the list of frozen dates %s cannot be read", spec->freezes[i].path);
}

static void check_downstream(RunbookFindings *findings, const RunbookFacts *facts) {
  const BlastRadius *radius = facts->radius;
  bool decided = is_written(findings->arena, facts, "triggers");
  for (size_t i = 0; radius != NULL && i < radius->n; i++)
    if (radius->nodes[i].needs == NEEDS_UNKNOWN && !(strcmp(radius->nodes[i].kind, "trigger") == 0 && decided))
      runbook_find(findings, "downstream",
                   "write it under downstream with needs: follows, refresh or cascade, as its owner says",
                   "what %s (%s) needs after a publication is not known", radius->nodes[i].name, radius->nodes[i].kind);
  for (size_t i = 0; radius == NULL && i < facts->spec->n_downstream; i++)
    if (strcmp(facts->spec->downstream[i].needs, "unknown") == 0)
      runbook_find(findings, "downstream", "write needs: follows, refresh or cascade for it, as its owner says",
                   "what %s needs after a publication is not known", facts->spec->downstream[i].name.text);
}

void runbook_check_written(RunbookFindings *findings, const RunbookFacts *facts) {
  check_people(findings, facts);
  check_jobs(findings, facts);
  check_freezes(findings, facts->spec);
  check_downstream(findings, facts);
}

/* ---- what the catalogue says ------------------------------------------------------------------------------------- */

static bool has_column(const TableFacts *table, const char *name) {
  for (size_t i = 0; i < table->n_columns; i++)
    if (strcasecmp(table->columns[i].name, name) == 0) return true;
  return false;
}

static void check_column(RunbookFindings *findings, const TableFacts *table, const char *name, const char *key) {
  if (has_column(table, name)) return;
  runbook_find(findings, "columns", "correct the name in tidegate.yaml",
               "%s has no column %s, which tidegate.yaml names as %s", table->name, name, key);
}

/* false: it is there no more, and that is a finding. A database that did not answer is none. */
static bool table_exists(RunbookFindings *findings, Engine *engine, const char *name, const char *what,
                         const char *role, TableFacts *ret) {
  Error err;
  if (engine->ops->describe_table(engine, findings->arena, name, ret, &err)) return true;
  if (err.code == ERR_NOT_FOUND)
    runbook_find(findings, what, "correct the name in tidegate.yaml, or take it out",
                 "%s, which tidegate.yaml names as %s, does not exist", name, role);
  return false;
}

/* Does it name something much like the target or a source? Misspelt so, a job would close no window, unnoticed. */
static bool misspelt(Arena *arena, const RunbookFacts *facts, const SpecJob *job) {
  size_t n = facts->spec->n_sources;
  const char **names = arena_array(arena, n + 1, sizeof *names);
  const SpecTexts *lists[] = {&job->writes, &job->reads};
  for (size_t i = 0; i < n; i++) names[i] = facts->spec->sources[i].table.text;
  names[n] = facts->target;
  for (size_t l = 0; l < 2; l++)
    for (size_t t = 0; t < lists[l]->n; t++)
      if (spec_nearest(lists[l]->items[t].text, names, n + 1) != NULL) return true;
  return false;
}

static void check_job_tables(RunbookFindings *findings, Engine *engine, const RunbookFacts *facts) {
  for (size_t i = 0; i < facts->spec->n_jobs; i++) {
    const SpecJob *job = &facts->spec->jobs[i];
    const SpecTexts *lists[] = {&job->writes, &job->reads};
    if (runbook_concern(findings->arena, facts, job) == NULL && !misspelt(findings->arena, facts, job)) continue;
    for (size_t l = 0; l < 2; l++)
      for (size_t t = 0; t < lists[l]->n; t++) {
        TableFacts table;
        table_exists(findings, engine, lists[l]->items[t].text, "job",
                     arena_printf(findings->arena, "%s by the job %s", l == 0 ? "written" : "read", job->name.text),
                     &table);
      }
  }
}

/* A backfill that is not over rests on the columns that it was planned with. */
static void check_planned(RunbookFindings *findings, const RunbookFacts *facts) {
  const BackfillRecord *record = facts->record;
  const DocNode *root = NULL;
  State state;
  Error ignored;
  if (record == NULL || record->plan == NULL || !state_of(record, &state, &ignored) || state_is_final(state) ||
      !doc_parse(findings->arena, "plan", record->plan, strlen(record->plan), &root, &ignored))
    return;
  const DocNode *columns = doc_get(root, "columns");
  static const char todo[] = "look at the backfill, discard it and plan again";
  for (size_t i = 0; columns != NULL && i < columns->n; i++) {
    const char *name = doc_text(&columns->children[i], "name", ""), *type = doc_text(&columns->children[i], "type", "");
    const ColumnFacts *now = NULL;
    for (size_t c = 0; c < facts->table->n_columns; c++)
      if (strcmp(facts->table->columns[c].name, name) == 0) now = &facts->table->columns[c];
    if (now == NULL)
      runbook_find(findings, "columns", todo, "the column %s is gone since backfill %s was planned", name, record->id);
    else if (strcmp(now->type, type) != 0)
      runbook_find(findings, "columns", todo, "the column %s was %s when backfill %s was planned and is %s now", name,
                   type, record->id, now->type);
  }
  if (columns != NULL && columns->n < facts->table->n_columns)
    runbook_find(findings, "columns", todo, "it has %s now, %zu when backfill %s was planned",
                 words_count(findings->arena, (int64_t)facts->table->n_columns, "column", "columns"), columns->n,
                 record->id);
}

void runbook_check_catalogue(RunbookFindings *findings, Engine *engine, const RunbookFacts *facts) {
  const Spec *spec = facts->spec;
  if (facts->table == NULL) return;
  if (spec->date_column.text != NULL) check_column(findings, facts->table, spec->date_column.text, "date_column");
  for (size_t i = 0; i < spec->key.n; i++)
    check_column(findings, facts->table, spec->key.items[i].text, "part of the key");
  for (size_t i = 0; i < spec->preserve.n; i++)
    check_column(findings, facts->table, spec->preserve.items[i].text, "preserved");
  for (size_t i = 0; i < spec->n_sources; i++) {
    TableFacts source;
    if (table_exists(findings, engine, spec->sources[i].table.text, "source", "a source", &source))
      check_column(findings, &source, spec->sources[i].column.text, "the date column of a source");
  }
  check_job_tables(findings, engine, facts);
  check_planned(findings, facts);
}
