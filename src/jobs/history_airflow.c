#include <stdio.h>
#include <string.h>

#include "jobs/airflow.h"
#include "jobs/history_int.h"
#include "time/quantity.h"

/* Schedules and runs of Airflow 2 and 3 over REST. */

enum { PAGE = 100 /* Airflow gives no more at once */, PAGES = 10, PATIENCE = 30 /* seconds for one request */ };

typedef struct Reader {
  Arena *arena;
  Airflow *airflow;
  const JobSource *source;
  int version;
} Reader;

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* A run that its schedule started and that has ended. */
static bool take_run(const DocNode *node, JobRun *ret) {
  const char *state = doc_text(node, "state", "");
  JobRun run = {.failed = strcmp(state, "failed") == 0};
  if (strcmp(doc_text(node, "run_type", ""), "scheduled") != 0 || (!run.failed && strcmp(state, "success") != 0))
    return false;
  /* Airflow 2 has no run_after; the end of the data interval is when it starts the run. */
  if (!airflow_time(node, "run_after", &run.scheduled) && !airflow_time(node, "data_interval_end", &run.scheduled))
    return false;
  if (!airflow_time(node, "end_date", &run.ended)) return false;
  if (!airflow_time(node, "start_date", &run.started)) run.started = run.ended; /* no task was ever started */
  run.ended++;                                                                  /* fractions of a second are cut off */
  *ret = run;
  return true;
}

static bool read_runs(const Reader *reader, const char *dag, JobRun **ret, size_t *ret_n, Error *err) {
  char since[40];
  Arena *arena = reader->arena;
  const char *key = reader->version == 3 ? "run_after" : "execution_date";
  instant_rfc3339(history_since(reader->source), zone_utc(), since);
  *ret = NULL;
  *ret_n = 0;
  for (int page = 0; page < PAGES; page++) {
    const DocNode *root;
    const char *path =
        arena_printf(arena, "/dags/%s/dagRuns?state=success&state=failed&%s_gte=%s&order_by=-%s&limit=%d&offset=%d",
                     airflow_name(arena, dag), key, airflow_name(arena, since), key, PAGE, page * PAGE);
    if (!airflow_get(reader->airflow, arena, path, &root, err)) return false;
    const DocNode *runs = doc_get(root, "dag_runs");
    for (size_t i = 0; runs != NULL && i < runs->n; i++) {
      *ret = arena_grow(arena, *ret, *ret_n, sizeof **ret);
      *ret_n += take_run(&runs->children[i], &(*ret)[*ret_n]);
    }
    if (runs == NULL || runs->n < PAGE) break;
  }
  return true;
}

/* ---- schedule ---------------------------------------------------------------------------------------------------- */

/* "1 day, 6:00:00", as Python writes a timedelta, to seconds; -1 when it is none. */
static int64_t read_timedelta(const char *text) {
  long days = 0;
  int hours, minutes, seconds, end = -1;
  const char *comma = strstr(text, ", ");
  if (comma != NULL && sscanf(text, "%ld day", &days) != 1) return -1;
  const char *time = comma == NULL ? text : comma + 2;
  if (sscanf(time, "%d:%2d:%2d%n", &hours, &minutes, &seconds, &end) != 3 || time[end] != '\0') return -1;
  return days * 86400 + hours * 3600 + minutes * 60 + seconds;
}

static const char *step_text(Arena *arena, int64_t step) {
  bool hours = step % 3600 == 0;
  return arena_printf(arena, "%lld%s", (long long)(hours ? step / 3600 : step), hours ? "h" : "s");
}

/* What stands for the schedule: a cron text, or (ret_step >= 0) an interval. NULL: no schedule. */
static const char *schedule_text(const Reader *reader, const DocNode *dag, int64_t *ret_step) {
  const DocNode *interval = doc_get(dag, "schedule_interval");
  *ret_step = -1;
  if (reader->version == 3) {
    const char *summary = doc_text(dag, "timetable_summary", NULL);
    if (summary != NULL) *ret_step = read_timedelta(summary);
    return summary;
  }
  if (interval == NULL || interval->kind != DOC_MAPPING) return NULL;
  const char *type = doc_text(interval, "__type", "");
  if (strcmp(type, "TimeDelta") == 0)
    *ret_step = doc_int(interval, "days", 0) * 86400 + doc_int(interval, "seconds", 0);
  return strcmp(type, "CronExpression") == 0 ? doc_text(interval, "value", NULL) : type;
}

/*
 * Airflow's REST interface says "UTC" for every DAG, whatever its zone (seen in 2.11 and 3.3). So its word counts only
 * as far as the runs agree; that they agree proves nothing about the other half of the year, so a person is asked
 * either way.
 */
static void judge_zone(Arena *arena, JobHistory *history, const char *claimed, const Instant *fires, size_t n,
                       bool planned) {
  char at[40];
  if (claimed == NULL || n == 0) {
    history->zone = NULL;
    history_doubt(arena, history, "zone",
                  "Airflow's REST interface does not tell a DAG's zone%s; it is that of start_date "
                  "or of the timetable in the DAG's file",
                  n == 0 ? ", and there is no run to compare with" : "");
    return;
  }
  instant_rfc3339(fires[0], zone_utc(), at);
  if (history_fires(history->dialect, history->expression, claimed, fires, n)) {
    history_doubt(
        arena, history, "zone",
        "Airflow's REST interface says %s of every DAG; %s (%s)%s fit%s, and so would a zone that has the same "
        "offset then: look at start_date in the DAG's file",
        claimed, planned ? "the next run" : "the last run", at,
        n == 1 ? "" : arena_printf(arena, " and %zu more", n - 1), n == 1 ? "s" : "");
    return;
  }
  history->zone = NULL;
  history_doubt(
      arena, history, "zone",
      "Airflow's REST interface says %s, which is not true: a run at %s is no fire of '%s' there. The zone is "
      "that of start_date or of the timetable in the DAG's file",
      claimed, at, history->expression);
}

/* fires: the next run if one is planned, then the runs known. */
static void read_schedule(const Reader *reader, JobHistory *history, const DocNode *dag, const Instant *fires, size_t n,
                          bool planned) {
  Arena *arena = reader->arena;
  int64_t step;
  const char *text = schedule_text(reader, dag, &step), *zone = doc_text(dag, "timezone", NULL);
  Instant from = 0, to = 0;
  if (airflow_time(dag, "next_dagrun_data_interval_start", &from) &&
      airflow_time(dag, "next_dagrun_data_interval_end", &to))
    history->interval = from != to;
  if (text == NULL) {
    history->refusal =
        "the DAG has no schedule: it is started by hand or by another program, which nobody can foresee; "
        "watch the live run (live.airflow)";
    return;
  }
  if (step > 0 && n > 0) {
    char at[40];
    instant_rfc3339(fires[0], zone_utc(), at);
    history_schedule(arena, history, "interval", arena_printf(arena, "every %s from %s", step_text(arena, step), at),
                     "UTC");
    history_doubt(arena, history, "schedule",
                  "it counts from the DAG's last run: it moves when the DAG is paused for a "
                  "while");
    return;
  }
  history_schedule(arena, history, "airflow", text, NULL);
  if (history->refusal != NULL) return;
  history->zone = zone;
  judge_zone(arena, history, zone, fires, n, planned);
}

static bool read_dag(const Reader *reader, const char *name, HistoryList *list, Error *err) {
  const DocNode *dag;
  JobRun *runs;
  size_t n, n_fires = 0;
  Arena *arena = reader->arena;
  const char *path = arena_printf(arena, "/dags/%s/details", airflow_name(arena, name));
  if (!airflow_get(reader->airflow, arena, path, &dag, err) || !read_runs(reader, name, &runs, &n, err)) return false;
  JobHistory *history = history_add(arena, list, reader->source, name);
  history->airflow = reader->source->place;
  Instant *fires = arena_array(arena, n + 1, sizeof *fires), next = 0;
  if (airflow_time(dag, reader->version == 3 ? "next_dagrun_run_after" : "next_dagrun_create_after", &next))
    fires[n_fires++] = next;
  for (size_t i = 0; i < n; i++) fires[n_fires++] = runs[i].scheduled;
  read_schedule(reader, history, dag, fires, n_fires, next != 0);
  history_runs(arena, history, runs, n, next);
  if (n == 0) history_doubt(arena, history, "p95", "no scheduled run of the last weeks has ended");
  if (doc_bool(dag, "is_paused", false))
    history_doubt(arena, history, "schedule", "the DAG is paused: it does not run until somebody unpauses it");
  return true;
}

/* ---- the DAGs ---------------------------------------------------------------------------------------------------- */

static bool read_dags(const Reader *reader, HistoryList *list, Error *err) {
  for (size_t seen = 0;;) {
    const DocNode *root, *dags;
    const char *path = arena_printf(reader->arena, "/dags?order_by=dag_id&limit=%d&offset=%zu", PAGE, seen);
    if (!airflow_get(reader->airflow, reader->arena, path, &root, err)) return false;
    dags = doc_get(root, "dags");
    for (size_t i = 0; dags != NULL && i < dags->n; i++)
      if (!read_dag(reader, doc_text(&dags->children[i], "dag_id", ""), list, err)) return false;
    if (dags == NULL || dags->n < PAGE) return true;
    seen += dags->n;
  }
}

bool history_airflow(Arena *arena, Engine *engine, const JobSource *source, HistoryList *list, Error *err) {
  (void)engine;
  AIRFLOW_SCOPED airflow = NULL;
  SpecAirflow access = source->access;
  Reader reader = {.arena = arena, .source = source};
  access.url.text = source->place;
  if (!airflow_open(&access, PATIENCE, &airflow, err)) return false;
  reader.airflow = airflow;
  if (!airflow_version(airflow, &reader.version, err)) return false;
  return source->job != NULL ? read_dag(&reader, source->job, list, err) : read_dags(&reader, list, err);
}
