#include "jobs/live.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "jobs/airflow.h"
#include "jobs/live_int.h"
#include "time/quantity.h"

void live_running(Asking *asking, Instant since, const char *format, ...) {
  if (asking->answer.state == JOB_RUNNING) return;
  va_list args;
  va_start(args, format);
  asking->answer.why = arena_vprintf(asking->arena, format, args);
  va_end(args);
  asking->answer.state = JOB_RUNNING;
  asking->answer.since = since;
  asking->answer.todo = NULL;
}

bool live_unknown(Asking *asking, const char *todo, const char *format, ...) {
  asking->answer.locked = false;
  if (asking->answer.state != JOB_IDLE) return false;
  va_list args;
  va_start(args, format);
  asking->answer.why = arena_vprintf(asking->arena, format, args);
  va_end(args);
  asking->answer.state = JOB_UNKNOWN;
  asking->answer.todo = arena_strdup(asking->arena, todo);
  return true;
}

void live_failed(Asking *asking, const char *what, const Error *err) {
  if (!live_unknown(asking, error_hint_text(err), "%s: %s", what, err->message)) return;
  asking->answer.locked = err->code == ERR_LOCKED;
  asking->answer.passes = err->code == ERR_LOCKED || err->code == ERR_DATABASE || err->code == ERR_COMMAND;
}

double live_time(Asking *asking) {
  double left = asking->deadline <= 0 ? asking->timeout : asking->deadline - clock_seconds();
  if (left <= 0 && live_unknown(asking, "ask less, or make what answers faster", "it took too long to ask"))
    asking->answer.passes = true;
  return left <= 0 ? 0 : left < asking->timeout ? left : asking->timeout;
}

void live_note(Asking *asking, const char *format, ...) {
  if (asking->answer.state != JOB_IDLE) return;
  va_list args;
  va_start(args, format);
  asking->answer.why = arena_vprintf(asking->arena, format, args);
  va_end(args);
}

/* ---- the database ------------------------------------------------------------------------------------------------ */

static void ask_number(Asking *asking) {
  double number;
  Error err;
  const char *sql = asking->live->running.text;
  double seconds = sql == NULL ? 0 : live_time(asking);
  if (seconds <= 0) return;
  if (!asking->engine->ops->number(asking->engine, sql, seconds, &number, &err)) {
    if (err.code == ERR_SPEC)
      error_hint(&err,
                 "correct the SQL of running: a query of one row and one number, above 0 while a run is going on");
    live_failed(asking, "running", &err);
    return;
  }
  if (isnan(number) || number > 0) live_running(asking, 0, "running gives %g", number);
}

static void ask_heartbeat(Asking *asking) {
  double age;
  Error err;
  char said[32], allowed[32];
  const char *sql = asking->live->heartbeat.text;
  double seconds = sql == NULL ? 0 : live_time(asking);
  if (seconds <= 0) return;
  if (!asking->engine->ops->age(asking->engine, sql, seconds, &age, &err)) {
    if (err.code == ERR_SPEC)
      error_hint(&err, "correct the SQL of heartbeat: a query of one row and one time, or none while the job is idle");
    live_failed(asking, "heartbeat", &err);
    return;
  }
  if (isinf(age) || age > asking->live->heartbeat_within) return;
  duration_label(fabs(age), said);
  duration_label(asking->live->heartbeat_within, allowed);
  live_running(asking, 0, "heartbeat: the last sign of life is %s%s; it is over after %s", said,
               age < 0 ? " in the future" : " old", allowed);
}

static void ask_sessions(Asking *asking) {
  const SpecLive *live = asking->live;
  SessionQuestion question = {live->application.text, live->role.text, live->query.text, live->advisory_lock.text,
                              asking->ask->own == NULL ? NULL : asking->ask->own->application};
  SessionFacts facts;
  Error err;
  if (question.application == NULL && question.role == NULL && question.query == NULL && question.advisory_lock == NULL)
    return;
  if (asking->engine->ops->sessions == NULL) {
    live_unknown(asking,
                 "ask by running, heartbeat, lock_file, process, systemd or command; application, role, query and "
                 "advisory_lock are PostgreSQL's",
                 "%s has no sessions that could be looked at", asking->engine->ops->name);
    return;
  }
  double seconds = live_time(asking);
  if (seconds <= 0) return;
  if (!asking->engine->ops->sessions(asking->engine, asking->arena, &question, seconds, &facts, &err)) {
    live_failed(asking, "sessions", &err);
    return;
  }
  if (facts.found != NULL)
    live_running(asking, facts.since, "%s", facts.found);
  else if (facts.unknown != NULL)
    live_unknown(asking, facts.remedy, "%s", facts.unknown);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

bool jobs_can_ask(const SpecLive *live) {
  const SpecText texts[] = {live->airflow.url, live->application, live->role,    live->query,     live->advisory_lock,
                            live->running,     live->systemd,     live->process, live->lock_file, live->heartbeat};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (texts[i].text != NULL) return true;
  return live->command.n > 0;
}

void jobs_ask(Arena *arena, Engine *engine, JobAsk *ask, JobAnswer *ret) {
  const SpecLive *live = ask->live;
  Asking asking = {.arena = arena, .engine = engine, .ask = ask, .live = live, .timeout = live->timeout};
  if (ask->within > 0) asking.deadline = clock_seconds() + ask->within;
  /* The nearest first: that a job runs is known at once then. */
  void (*const questions[])(Asking *) = {ask_sessions, ask_number,   ask_heartbeat, live_lock_file,
                                         live_process, live_systemd, live_command,  live_airflow};
  size_t n = sizeof questions / sizeof *questions;
  /* What else it shows is as much a sign of what the tool has started as of another run. */
  bool started = ask->own != NULL && ask->own->job != NULL && strcmp(ask->own->job, ask->name) == 0;
  for (size_t i = started ? n - 1 : 0; i < n && asking.answer.state != JOB_RUNNING; i++) questions[i](&asking);
  *ret = asking.answer;
}

void jobs_ask_end(JobAsk *ask) { airflow_close(&ask->airflow); }
