#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "jobs/airflow.h"
#include "jobs/live_int.h"
#include "time/quantity.h"
#include "time/zone.h"

/* Airflow, about the runs of one DAG. Whatever wrote a run (its schedule, a person, a backfill of Airflow's) writes the
 * same rows: every run that has not ended counts. */

enum { LAST_RUNS = 25, MOST_RUNS = 100 };

static const DocNode *get(Asking *asking, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* NULL when there is no answer, which is noted. */
static const DocNode *get(Asking *asking, const char *format, ...) {
  char path[2048];
  const DocNode *root;
  Error err;
  va_list args;
  va_start(args, format);
  vsnprintf(path, sizeof path, format, args);
  va_end(args);
  if (airflow_get(asking->ask->airflow, asking->arena, path, &root, &err)) return root;
  live_failed(asking, "airflow", &err);
  return NULL;
}

/* The items of a list that an answer must hold; NULL when it does not. */
static const DocNode *list(Asking *asking, const DocNode *root, const char *key) {
  const DocNode *items = root == NULL ? NULL : doc_get(root, key);
  if (items != NULL && items->kind == DOC_SEQUENCE) return items;
  if (root != NULL)
    live_unknown(asking, "is that the address of Airflow's web server?", "airflow: no %s in its answer", key);
  return NULL;
}

static const char *clock_label(Asking *asking, Instant at) {
  char text[40];
  instant_rfc3339(at, zone_utc(), text);
  return arena_strdup(asking->arena, text);
}

/* A part of the run waits for its next try. */
static void ask_retries(Asking *asking, const char *dag, const char *run) {
  const DocNode *root = get(asking, "/dags/%s/dagRuns/%s/taskInstances?state=up_for_retry&limit=1", dag,
                            airflow_name(asking->arena, run));
  const DocNode *tasks = list(asking, root, "task_instances");
  asking->answer.retrying |= tasks != NULL && tasks->n > 0;
}

/* Was it the tool that runs meanwhile which asked for this run? Its logical date may be some days from its rows. */
static bool is_own(const Asking *asking, const DocNode *run) {
  const JobOwn *own = asking->ask->own;
  const Instant slack = 2 * 86400;
  Instant at;
  if (own == NULL || own->job == NULL || strcmp(own->job, asking->ask->name) != 0) return false;
  if (strcmp(doc_text(run, "run_type", ""), "backfill") == 0) return true;
  return (airflow_time(run, "logical_date", &at) || airflow_time(run, "execution_date", &at)) &&
         at >= own->dates.from - slack && at < own->dates.to + slack;
}

static void ask_active(Asking *asking, const char *dag) {
  int most = asking->ask->own == NULL ? 1 : MOST_RUNS;
  const DocNode *root = get(asking, "/dags/%s/dagRuns?state=running&state=queued&limit=%d", dag, most);
  const DocNode *runs = list(asking, root, "dag_runs");
  Instant since = 0;
  size_t at = 0;
  while (runs != NULL && at < runs->n && is_own(asking, &runs->children[at])) at++;
  if (at == MOST_RUNS)
    live_unknown(asking, "let it finish some of them", "airflow: more runs of %s are going on than can be looked at",
                 dag);
  if (runs == NULL || at == runs->n) return;
  const DocNode *run = &runs->children[at];
  const char *id = doc_text(run, "dag_run_id", "");
  if (asking->ask->within <= 0) ask_retries(asking, dag, id);
  bool started = airflow_time(run, "start_date", &since);
  live_running(asking, since, "airflow: run %s of %s is %s%s%s%s", id, asking->live->airflow.dag.text,
               doc_text(run, "state", "not over"), started ? " since " : "", started ? clock_label(asking, since) : "",
               asking->answer.retrying ? ", a task waits for its next try" : "");
}

/* Airflow 3 marks a backfill as completed up to half a minute after its last run, and takes no other of the DAG before.
 * What it does not say is no reason to wait: all runs have been asked for. */
static void ask_backfill(Asking *asking, const char *dag) {
  const char *path = arena_printf(asking->arena, "/backfills?dag_id=%s&order_by=-id&limit=1", dag);
  const DocNode *root, *items;
  Instant since, ended;
  Error ignored;
  int version;
  if (asking->ask->own != NULL || !airflow_version(asking->ask->airflow, &version, &ignored) || version != 3 ||
      !airflow_get(asking->ask->airflow, asking->arena, path, &root, &ignored))
    return;
  items = doc_get(root, "backfills");
  if (items == NULL || items->kind != DOC_SEQUENCE || items->n == 0) return;
  const DocNode *last = &items->children[0];
  if (doc_bool(last, "is_paused", false) || airflow_time(last, "completed_at", &ended) ||
      !airflow_time(last, "created_at", &since))
    return;
  live_running(asking, since, "airflow: backfill %s of %s is not marked as completed, since %s",
               doc_text(last, "id", ""), asking->live->airflow.dag.text, clock_label(asking, since));
}

/* The next run's time has come and nothing has started: it may at any moment. */
static void ask_late(Asking *asking, const char *dag) {
  const DocNode *root = get(asking, "/dags/%s", dag);
  Instant due, now;
  Error err;
  if (root == NULL || doc_bool(root, "is_paused", false)) return;
  if (!airflow_time(root, "next_dagrun_run_after", &due) && !airflow_time(root, "next_dagrun_create_after", &due))
    return;
  if (!asking->engine->ops->now(asking->engine, &now, &err)) {
    live_failed(asking, "asking the database for its time", &err);
    return;
  }
  if ((double)(now - due) <= asking->ask->guard) return;
  asking->answer.late = true;
  live_note(asking, "airflow: the run of %s that was due at %s has not started: it may at any moment",
            asking->live->airflow.dag.text, clock_label(asking, due));
}

/* Newest first. Version 1 cannot be asked for the scheduled ones alone. */
static void ask_last(Asking *asking, const char *dag) {
  int version;
  Error err;
  if (!airflow_version(asking->ask->airflow, &version, &err)) return; /* noted before */
  const DocNode *root = version == 3
                            ? get(asking, "/dags/%s/dagRuns?run_type=scheduled&order_by=-run_after&limit=1", dag)
                            : get(asking, "/dags/%s/dagRuns?order_by=-execution_date&limit=%d", dag, LAST_RUNS);
  const DocNode *runs = list(asking, root, "dag_runs");
  for (size_t i = 0; runs != NULL && i < runs->n; i++) {
    const DocNode *run = &runs->children[i];
    if (strcmp(doc_text(run, "run_type", ""), "scheduled") != 0) continue;
    asking->answer.failed = strcmp(doc_text(run, "state", ""), "failed") == 0;
    if (asking->answer.failed && !asking->answer.late)
      live_note(asking, "airflow: the last scheduled run of %s, %s, failed", asking->live->airflow.dag.text,
                doc_text(run, "dag_run_id", ""));
    return;
  }
}

void live_airflow(Asking *asking) {
  const SpecAirflow *spec = &asking->live->airflow;
  JobAsk *ask = asking->ask;
  Error err;
  if (spec->url.text == NULL) return;
  if (spec->dag.text == NULL) {
    live_unknown(asking, "write live.airflow.dag", "airflow: which DAG is not said");
    return;
  }
  double seconds = live_time(asking);
  if (seconds <= 0) return;
  if (ask->airflow == NULL && !airflow_open(spec, asking->timeout, &ask->airflow, &err)) {
    live_failed(asking, "airflow", &err);
    return;
  }
  airflow_within(ask->airflow, seconds);
  const char *dag = airflow_name(asking->arena, spec->dag.text);
  ask_active(asking, dag);
  if (ask->within > 0 || asking->answer.state != JOB_IDLE) return;
  ask_backfill(asking, dag);
  if (asking->answer.state == JOB_IDLE) ask_late(asking, dag);
  if (asking->answer.state == JOB_IDLE) ask_last(asking, dag);
}
