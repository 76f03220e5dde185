#include <string.h>
#include <strings.h>

#include "jobs/history.h"
#include "view/runbook_check.h"
#include "view/words.h"

/* What tidegate.yaml says of a job against what the place under `from` says today. */

enum { FEWEST_RUNS = 5 };

/* A p95 so much longer than declared makes the window too wide by this share. */
static const double grown = 1.1;

static bool differ(const char *a, const char *b) { return strcmp(a == NULL ? "" : a, b == NULL ? "" : b) != 0; }

/* The cron of crontabs has several names for its policies; its expressions are one language. */
static const char *language(const char *dialect) {
  return strncmp(dialect, "cronie", 6) == 0 && strcmp(dialect, "croniter") != 0 ? "vixie" : dialect;
}

static void compare(RunbookFindings *findings, const RunbookJob *job, const JobHistory *now) {
  static const char todo[] = "see with its owner which is right, then write schedule, p95, runs and measured again";
  const SpecSchedule *when = job->when;
  Arena *arena = findings->arena;
  if (now->refusal != NULL) {
    runbook_find(findings, "from", "pause it for a backfill, or declare how to ask whether it runs now",
                 "when %s runs can no longer be foreseen: %s says: %s", job->name, when->from.text, now->refusal);
    return;
  }
  if (now->expression != NULL &&
      (differ(now->expression, when->expression.text) || differ(language(now->dialect), language(when->dialect))))
    runbook_find(findings, "schedule_changed", todo,
                 "the schedule of %s is %s (%s) in %s, and %s (%s) in tidegate.yaml", job->name, now->expression,
                 now->dialect, when->from.text, when->expression.text == NULL ? "not declared" : when->expression.text,
                 when->dialect);
  if (now->expression != NULL && now->interval != when->interval)
    runbook_find(findings, "schedule_changed", todo, "%s runs by %s in %s, which tidegate.yaml does not say", job->name,
                 now->interval ? "data intervals" : "trigger", when->from.text);
  if (now->zone != NULL && differ(now->zone, when->zone.text))
    runbook_find(findings, "schedule_changed", todo, "%s runs by the clock of %s in %s, and of %s in tidegate.yaml",
                 job->name, now->zone, when->from.text, when->zone.text == NULL ? "no zone" : when->zone.text);
  if (now->p95 >= 0 && now->runs >= FEWEST_RUNS && when->p95 >= 0 && now->p95 > when->p95 * grown)
    runbook_find(findings, "p95_grown", todo, "95 of 100 runs of %s take up to %s by now (%s in %s), not %s", job->name,
                 words_duration(arena, now->p95), words_count(arena, now->runs, "run", "runs"), when->from.text,
                 words_duration(arena, when->p95));
}

/* Or is it somebody's own words? */
static bool can_be_asked(const char *from) {
  static const char *const kinds[] = {"airflow ", "csv ", "crontab ", "systemd ", "pg_cron "};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strncmp(from, kinds[i], strlen(kinds[i])) == 0) return true;
  return false;
}

void runbook_check_sources(RunbookFindings *findings, Engine *engine, const RunbookFacts *facts) {
  size_t n;
  const RunbookJob *jobs = runbook_jobs_of(findings->arena, facts, &n);
  for (size_t i = 0; i < n; i++) {
    const RunbookJob *job = &jobs[i];
    JobHistory now = {0};
    Error err;
    if (job->when->from.text == NULL || !can_be_asked(job->when->from.text)) continue;
    const SpecAirflow *access = job->live->airflow.url.text == NULL ? NULL : &job->live->airflow;
    if (jobs_history_read(findings->arena, engine, job->when->from.text, access, &now, &err))
      compare(findings, job, &now);
    else if (err.code == ERR_NOT_FOUND)
      runbook_find(findings, "job_gone", "does the job still exist? Correct its from, or take it out",
                   "%s is not where tidegate.yaml says it was read: %s", job->name, err.message);
    else
      runbook_find(findings, "from", error_hint_text(&err),
                   "where schedule and duration of %s were read cannot be asked: %s", job->name, err.message);
  }
}
