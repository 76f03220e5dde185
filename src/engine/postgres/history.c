#include "engine/postgres/postgres_int.h"
#include "engine/postgres/postgres_sql.h"

/* What pg_cron keeps of its jobs and their runs. */

static const char doing[] = "reading the jobs of pg_cron";

enum { ID, NAME, SCHEDULE, COMMAND, ACTIVE };        /* history_cron_jobs */
enum { RUN_ID, RUN_STARTED, RUN_ENDED, RUN_FAILED }; /* history_cron_runs */

/* The runs of one job: rows of `result` from *at on, which is left behind them. */
static void take_runs(Arena *arena, const PGresult *result, int64_t id, int *at, CronJob *job) {
  while (*at < PQntuples(result) && pg_int(result, *at, RUN_ID) < id) ++*at; /* of a job that is gone */
  CronRun *runs = NULL;
  for (; *at < PQntuples(result) && pg_int(result, *at, RUN_ID) == id; ++*at) {
    runs = arena_grow(arena, runs, job->n_runs, sizeof *runs);
    runs[job->n_runs++] = (CronRun){.started = pg_int(result, *at, RUN_STARTED),
                                    .ended = pg_int(result, *at, RUN_ENDED),
                                    .failed = pg_bool(result, *at, RUN_FAILED)};
  }
  job->runs = runs;
}

bool pg_cron_jobs(Engine *base, Arena *arena, Instant since, CronFacts *ret, Error *err) {
  PgEngine *engine = pg_engine(base);
  PG_SCOPED there = NULL;
  PG_SCOPED jobs = NULL;
  PG_SCOPED runs = NULL;
  if (!pg_query(engine, sql_history_cron_there, NULL, 0, &there, doing, err)) return false;
  CronFacts facts = {.installed = pg_bool(there, 0, 0), .zone = pg_text(arena, there, 0, 1)};
  if (facts.installed) {
    const char *from = arena_printf(arena, "%lld", (long long)since);
    if (!pg_query(engine, sql_history_cron_jobs, NULL, 0, &jobs, doing, err) ||
        !pg_query(engine, sql_history_cron_runs, &from, 1, &runs, doing, err))
      return false;
    facts.n = (size_t)PQntuples(jobs);
    CronJob *found = arena_array(arena, facts.n, sizeof *found);
    for (int i = 0, at = 0; i < PQntuples(jobs); i++) {
      found[i] = (CronJob){.name = pg_text(arena, jobs, i, NAME),
                           .schedule = pg_text(arena, jobs, i, SCHEDULE),
                           .command = pg_text(arena, jobs, i, COMMAND),
                           .active = pg_bool(jobs, i, ACTIVE)};
      take_runs(arena, runs, pg_int(jobs, i, ID), &at, &found[i]);
    }
    facts.jobs = found;
  }
  *ret = facts;
  return true;
}
