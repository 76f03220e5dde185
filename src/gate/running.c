#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "gate/gate_int.h"
#include "jobs/live.h"
#include "time/quantity.h"

/* Law 4: never beside a run that is going on now, whatever the schedule says. */

/* While a batch runs: seconds for everything that is asked, and how often that is. */
static const double MOST_SECONDS = 2, LOOK_SECONDS = 1;

/* So many answers in a row must be wanting before a batch is given up: one may be lost on the way. */
enum { LOST_ANSWERS = 2 };

static const char *moment(Arena *arena, const BusyRule *rule, Instant at) {
  char text[40];
  instant_rfc3339(at, rule->schedule == NULL ? zone_utc() : schedule_zone(rule->schedule), text);
  return arena_strdup(arena, text);
}

static bool unknown(const GateCase *gate, const PlanJob *job, const JobAnswer *answer, GateReason *ret) {
  gate_because(gate, ret, "whether %s is running now cannot be told, which counts as running: %s", gate_who(gate, job),
               answer->why);
  ret->waits = answer->passes;
  return gate_advise(gate, ret, "%s", answer->todo);
}

static bool running(const GateCase *gate, size_t i, const JobAnswer *answer, GateReason *ret) {
  const PlanJob *job = gate->jobs[i];
  const char *who = gate_who(gate, job);
  if (answer->state == JOB_IDLE)
    gate_because(gate, ret, "%s is late (%s)", who, answer->why);
  else if (answer->since != 0)
    gate_because(gate, ret, "%s runs since %s (%s)", who, moment(gate->arena, &gate->rules.busy[i], answer->since),
                 answer->why);
  else
    gate_because(gate, ret, "%s is running now (%s)", who, answer->why);
  gate_advise(gate, ret,
              answer->state == JOB_IDLE ? "wait until it has run, or pause its schedule"
                                        : "wait until it has ended, then the same command carries on");
  return ret->waits = true;
}

bool gate_running_now(const GateCase *gate, GateReason *ret) {
  for (size_t i = 0; i < gate->rules.n; i++) {
    const PlanJob *job = gate->jobs[i];
    JobAsk ask = {.name = job->name, .live = &job->live, .guard = job->when.guard};
    JobAnswer answer;
    if (!jobs_can_ask(&job->live)) continue;
    jobs_ask(gate->arena, gate->engine, &ask, &answer);
    jobs_ask_end(&ask);
    if (answer.state == JOB_UNKNOWN) return unknown(gate, job, &answer, ret);
    if (answer.state == JOB_RUNNING || answer.late) return running(gate, i, &answer, ret);
    if (answer.failed && *gate->failed == NULL)
      *gate->failed = arena_printf(gate->arena, "%s: %s", job->name, answer.why);
  }
  return false;
}

/* ---- while something waits --------------------------------------------------------------------------------------- */

struct GateWatch {
  Engine *engine; /* the asker's own connection; NULL: there is none */
  JobAsk *asks;
  size_t n;
  int lost;    /* answers that were wanting, in a row */
  double next; /* monotonic seconds of the next look */
  char why[1280];
};

bool gate_watch_open(Engine *engine, const Plan *plan, GateAct act, bool apart, GateWatch **ret, Error *err) {
  GateWatch *watch = calloc(1, sizeof *watch);
  const PlanClock *clock = &plan->clock;
  *ret = NULL;
  if (watch != NULL) watch->asks = calloc(clock->n + 1, sizeof *watch->asks);
  if (watch == NULL || watch->asks == NULL) error_out_of_memory();
  for (size_t i = 0; i < clock->n; i++) {
    const PlanJob *job = &clock->jobs[i];
    if (gate_minds(act, job) && jobs_can_ask(&job->live))
      watch->asks[watch->n++] = (JobAsk){.name = job->name, .live = &job->live, .guard = job->when.guard};
  }
  if (watch->n == 0 || (apart && !engine->ops->connect_again(engine, &watch->engine, err))) {
    bool ok = watch->n == 0;
    gate_watch_close(&watch);
    return ok || error_wrap(err, "connecting once more, to see whether a job starts");
  }
  *ret = watch;
  return true;
}

void gate_watch_close(GateWatch **watch) {
  if (*watch == NULL) return;
  for (size_t i = 0; i < (*watch)->n; i++) jobs_ask_end(&(*watch)->asks[i]);
  engine_close(&(*watch)->engine);
  free((*watch)->asks);
  free(*watch);
  *watch = NULL;
}

/* Asks about every job. The answer of the first that is not idle. */
static void ask_all(GateWatch *watch, Arena *arena, Engine *engine, const JobOwn *own, double within, JobAnswer *ret,
                    const char **ret_name) {
  double until = clock_seconds() + within;
  *ret = (JobAnswer){.state = JOB_IDLE};
  for (size_t i = 0; i < watch->n && ret->state == JOB_IDLE; i++) {
    watch->asks[i].within = until - clock_seconds();
    watch->asks[i].own = own;
    *ret_name = watch->asks[i].name;
    if (watch->asks[i].within > 0)
      jobs_ask(arena, engine, &watch->asks[i], ret);
    else
      *ret = (JobAnswer){.state = JOB_UNKNOWN, .why = "it took too long to ask about the others"};
  }
}

static const char *tell(GateWatch *watch, const char *name, const JobAnswer *answer) {
  char since[40] = "";
  if (answer->since != 0) instant_rfc3339(answer->since, zone_utc(), since);
  if (answer->state == JOB_UNKNOWN)
    snprintf(watch->why, sizeof watch->why, "whether %s runs cannot be told: %s", name, answer->why);
  else
    snprintf(watch->why, sizeof watch->why, "%s runs%s%s (%s)", name, since[0] == '\0' ? " now" : " since ", since,
             answer->why);
  return watch->why;
}

const char *gate_watch_ask(GateWatch *watch, Engine *engine, double within) {
  ARENA_SCOPED arena = {0};
  JobAnswer answer;
  const char *name = NULL;
  if (watch == NULL) return NULL;
  ask_all(watch, &arena, engine, NULL, within, &answer, &name);
  return answer.state == JOB_IDLE ? NULL : tell(watch, name, &answer);
}

const char *gate_watch_glance(GateWatch *watch, const JobOwn *own) {
  ARENA_SCOPED arena = {0};
  JobAnswer answer;
  const char *name = NULL;
  double began = clock_seconds();
  if (watch == NULL || began < watch->next) return NULL;
  ask_all(watch, &arena, watch->engine, own, MOST_SECONDS, &answer, &name);
  /* What is computed in this process stands still meanwhile: a twentieth of its time at most. */
  double took = clock_seconds() - began, rest = watch->engine->ops->caps(watch->engine).writes_apart ? 0 : 20 * took;
  watch->next = clock_seconds() + (rest > LOOK_SECONDS ? rest : LOOK_SECONDS);
  if (answer.locked) answer.state = JOB_IDLE; /* by us: nobody else can write meanwhile */
  watch->lost = answer.state == JOB_UNKNOWN ? watch->lost + 1 : 0;
  if (answer.state == JOB_IDLE || (answer.state == JOB_UNKNOWN && watch->lost < LOST_ANSWERS)) return NULL;
  watch->lost = 0;
  return tell(watch, name, &answer);
}
