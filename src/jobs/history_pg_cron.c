#include <ctype.h>
#include <string.h>

#include "base/mask.h"
#include "jobs/history_int.h"

/* pg_cron: the jobs that PostgreSQL itself starts. It keeps when a run started, not when it was due. */

/* The fire that a run belongs to: the last one at or before its start. */
static Instant fire_of(const Schedule *schedule, Instant started) {
  /* Fires of one schedule lie at most so far apart that a few growing looks back find the last. */
  for (Instant back = 3600; back <= INT64_C(366) * 86400 * 8; back *= 8) {
    Instant at = started - back, fire = 0, next;
    while (schedule_next_any(schedule, at, &next) && next <= started) at = fire = next;
    if (fire != 0) return fire;
  }
  return started;
}

static void read_runs(Arena *arena, JobHistory *history, const CronJob *job) {
  JobRun *runs = arena_array(arena, job->n_runs, sizeof *runs);
  const Zone *zone;
  const Schedule *schedule = NULL;
  Error ignored;
  Instant next = 0;
  if (history->expression != NULL && zone_open(arena, history->zone, &zone, &ignored) &&
      schedule_parse(arena, history->dialect, history->expression, zone, &schedule, &ignored) && job->n_runs > 0 &&
      !schedule_next_any(schedule, job->runs[job->n_runs - 1].started, &next))
    next = 0;
  for (size_t i = 0; i < job->n_runs; i++) {
    const CronRun *run = &job->runs[i];
    runs[i] = (JobRun){.scheduled = schedule == NULL ? run->started : fire_of(schedule, run->started),
                       .started = run->started,
                       .ended = run->ended,
                       .failed = run->failed};
  }
  history_runs(arena, history, runs, job->n_runs, next);
}

static void read_job(Arena *arena, const JobSource *source, const CronJob *job, const char *zone, HistoryList *list) {
  if (source->job != NULL && strcmp(source->job, job->name) != 0) return;
  JobHistory *history = history_add(arena, list, source, job->name);
  history->command = job->command == NULL ? NULL : mask_secrets(arena, job->command, strlen(job->command));
  /* pg_cron has the parser of Vixie's cron (its src/entry.c), and reads it in cron.timezone, GMT before it had that. */
  if (isdigit((unsigned char)job->schedule[0]) && strstr(job->schedule, " second") != NULL)
    history->refusal = arena_printf(
        arena, "it runs every %s, counted from when the server started: stop the job for the backfill (cron.alter_job)",
        job->schedule);
  else
    history_schedule(arena, history, "vixie", job->schedule, strcasecmp(zone, "GMT") == 0 ? "UTC" : zone);
  read_runs(arena, history, job);
  if (!job->active)
    history_doubt(arena, history, "schedule", "the job is not active: it does not run until somebody activates it");
  if (job->n_runs == 0)
    history_doubt(arena, history, "p95",
                  "cron.job_run_details holds no run of it: is cron.log_run on, or was it emptied?");
}

bool history_pg_cron(Arena *arena, Engine *engine, const JobSource *source, HistoryList *list, Error *err) {
  ENGINE_SCOPED other = NULL;
  if (source->place != NULL) {
    if (!engine_open(source->place, NULL, &other, err)) return false;
    engine = other;
  }
  CronFacts facts = {0};
  if (engine == NULL || engine->ops->cron_jobs == NULL) {
    error_set(err, ERR_USAGE, "pg_cron is a part of PostgreSQL, and the database is none");
    return error_hint(err, "name the server's database: pg_cron=postgresql:///postgres");
  }
  if (!engine->ops->cron_jobs(engine, arena, history_since(source), &facts, err)) return false;
  if (!facts.installed) {
    error_set(err, ERR_NOT_FOUND, "this database has no pg_cron");
    return error_hint(err,
                      "it lives in one database of a server (cron.database_name, postgres unless set): "
                      "pg_cron=postgresql:///postgres");
  }
  for (size_t i = 0; i < facts.n; i++) read_job(arena, source, &facts.jobs[i], facts.zone, list);
  return true;
}
