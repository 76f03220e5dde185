#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "run/run_int.h"

/*
 * Several batches at a time, each by a thread with a connection of its own. The run's own thread writes none: it asks
 * the gate and production's pressure before each batch, hands it out, keeps the books and tells the progress. Whatever
 * ends it, no thread is left behind, so that the backfill is held, sealed or given back by one who is alone with it.
 */

/* While nothing else happens the run's own thread looks round so often. */
static const double LOOK_SECONDS = 0.1;

typedef struct Crew Crew;

typedef struct Worker {
  Crew *crew;
  Engine *engine;
  Arena arena; /* of its batch */
  RunStep step;
  const GatePass *pass;
  pthread_t thread;
  bool busy;         /* it has a batch, and the books do not know yet what came of it */
  double rests_till; /* monotonic seconds */
  /* under the crew's lock, until the thread is joined */
  bool done, ok;
  Error err;
} Worker;

struct Crew {
  Run *run;
  Worker *workers;
  size_t n;
  const DateRange *parts; /* what can be made ready for the seal by itself */
  bool *begun;            /* … and is, or is being, as far as a worker does that */
  size_t n_parts;
  pthread_mutex_t lock;
  pthread_cond_t news;
  Worker *failed; /* whose batch did, before anything else had them all stop */
};

/* ---- a worker's thread ------------------------------------------------------------------------------------------- */

static void *work(void *context) {
  Worker *worker = context;
  Crew *crew = worker->crew;
  Error err = {0};
  bool ok = run_step_apart(&worker->step, worker->pass, &err);
  bool first = (!ok || worker->step.findings.n > 0) && !atomic_exchange(&crew->run->cancelled, true);
  pthread_mutex_lock(&crew->lock);
  worker->done = true;
  worker->ok = ok;
  worker->err = err;
  if (first) crew->failed = worker;
  pthread_cond_signal(&crew->news);
  pthread_mutex_unlock(&crew->lock);
  return NULL;
}

/* Signals are for the run's own thread. */
static bool start(Worker *worker, Error *err) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  worker->done = false;
  int failed = pthread_create(&worker->thread, NULL, work, worker);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  worker->busy = failed == 0;
  return failed == 0 || error_set(err, ERR_MEMORY, "no thread can be had for a worker of `budget: workers`");
}

/* ---- the run's own thread ---------------------------------------------------------------------------------------- */

static bool crew_open(Run *run, Crew *ret, Error *err) {
  ret->run = run;
  ret->workers = arena_array(run->arena, (size_t)run->plan->workers, sizeof *ret->workers);
  for (; ret->n < (size_t)run->plan->workers; ret->n++) {
    Worker *worker = &ret->workers[ret->n];
    worker->crew = ret;
    if (run->engine->ops->connect_again(run->engine, &worker->engine, err)) continue;
    error_wrap(err, "connecting worker %zu of %d", ret->n + 1, run->plan->workers);
    return error_hint(err, "may this role have as many connections? `budget: workers` says how many are wanted");
  }
  run->taken = arena_array(run->arena, run->n_dates, sizeof *run->taken);
  if (run->engine->ops->seal_parts != NULL &&
      !run->engine->ops->seal_parts(run->engine, run->arena, &run->plan->shape, run->record->id, &ret->parts,
                                    &ret->n_parts, err))
    return false;
  ret->begun = arena_array(run->arena, ret->n_parts, sizeof *ret->begun);
  return true;
}

static void crew_close(Crew *crew) {
  for (size_t i = 0; i < crew->n; i++) {
    arena_release(&crew->workers[i].arena);
    engine_close(&crew->workers[i].engine);
  }
  crew->run->taken = NULL;
  crew->run->idle = 0;
  pthread_cond_destroy(&crew->news);
  pthread_mutex_destroy(&crew->lock);
}

static size_t busy_workers(const Crew *crew) {
  size_t n = 0;
  for (size_t i = 0; i < crew->n; i++) n += crew->workers[i].busy;
  return n;
}

/* Waits for the end of a batch, for a moment at most. */
static void wait_for_news(Crew *crew) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += (long)(LOOK_SECONDS * 1e9);
  if (until.tv_nsec >= 1000000000) {
    until.tv_sec++;
    until.tv_nsec -= 1000000000;
  }
  pthread_mutex_lock(&crew->lock);
  bool news = false;
  for (size_t i = 0; i < crew->n; i++) news |= crew->workers[i].busy && crew->workers[i].done;
  if (!news) pthread_cond_timedwait(&crew->news, &crew->lock, &until);
  pthread_mutex_unlock(&crew->lock);
}

static bool is_done(Worker *worker) {
  pthread_mutex_lock(&worker->crew->lock);
  bool done = worker->busy && worker->done;
  pthread_mutex_unlock(&worker->crew->lock);
  return done;
}

/* Enters what came of the batches that have ended. */
static bool keep_books(Crew *crew, Error *err) {
  Run *run = crew->run;
  double duty = run->plan->spec.budget.duty;
  bool ended = false;
  for (size_t i = 0; i < crew->n; i++) {
    Worker *worker = &crew->workers[i];
    if (!is_done(worker)) continue;
    pthread_join(worker->thread, NULL);
    worker->busy = false;
    const RunStep *step = &worker->step;
    for (size_t k = 0; k < step->n; k++) run->taken[step->from + k] = false;
    if (step->stored) run_stored(run, step);
    if ((step->stored || step->part != NULL) && duty > 0 && duty < 1)
      worker->rests_till = clock_seconds() + step->seconds * (1 / duty - 1);
    ended = true;
  }
  return !ended || atomic_load(&run->cancelled) || run_look_back(run, err);
}

/* Tells the progress and shows that we are alive; false when all are to stop. */
static bool look_round(Crew *crew, Error *err) {
  Run *run = crew->run;
  size_t busy = busy_workers(crew);
  run_tell(run, busy == 0 ? "resting" : run->progress.doing, busy == 0);
  if (run_beat(run) && run_goes_on(run)) return true;
  atomic_store(&run->cancelled, true);
  return run_pause(run, err);
}

/* The next who is to have a batch; NULL: all have one or rest. *ret_idle: how many have none. */
static Worker *next_worker(Crew *crew, size_t *ret_idle) {
  Worker *next = NULL;
  double now = clock_seconds();
  *ret_idle = 0;
  for (size_t i = 0; i < crew->n; i++) {
    Worker *worker = &crew->workers[i];
    if (worker->busy) continue;
    ++*ret_idle;
    if (worker->rests_till <= now) next = worker;
  }
  return next;
}

static const char *label(const Crew *crew, const RunStep *step) {
  const char *dates = run_label(crew->run, step->from, step->n);
  size_t others = busy_workers(crew);
  return others == 0 ? dates : arena_printf(crew->run->arena, "%s and %zu more", dates, others);
}

/* Lets the worker begin with the step, which takes `need` seconds, as soon as the gate and production allow it.
 * *ret_begun false: what is to be begun is to be chosen anew. */
static bool hand_out(Crew *crew, Worker *worker, RunStep step, double need, bool *ret_begun, Error *err) {
  Run *run = crew->run;
  bool again;
  Verdict verdict;
  *ret_begun = false;
  if (!run_wait_for_gate(run, need, NULL, err) || !run_calm(run, &again, err)) return false;
  if (again || atomic_load(&run->cancelled)) return true;
  arena_release(&worker->arena);
  if (!gate_judge(&worker->arena, run->engine, run->plan, GATE_BATCH, need, &verdict, &worker->pass, err)) return false;
  if (worker->pass == NULL) return (verdict.waits && run->options->wait) || gate_deny(&verdict, err);
  worker->step = step;
  worker->step.run = run;
  worker->step.engine = worker->engine;
  worker->step.arena = &worker->arena;
  worker->step.by_worker = true;
  if (step.part == NULL) worker->step.number = ++run->batches;
  run_tell(run, step.part == NULL ? label(crew, &worker->step) : "sealing", false);
  *ret_begun = start(worker, err);
  return *ret_begun;
}

static bool hand_out_batch(Crew *crew, Worker *worker, size_t from, size_t n, Error *err) {
  Run *run = crew->run;
  int64_t rows = 0;
  bool begun;
  for (size_t i = 0; i < n; i++) rows += run->dates[from + i].expected;
  if (!hand_out(crew, worker, (RunStep){.from = from, .n = n}, run_needed_seconds(run, rows), &begun, err))
    return false;
  for (size_t i = 0; begun && i < n; i++) run->taken[from + i] = true;
  return true;
}

/* The next part of which every date is written; n_parts: there is none. */
static size_t next_part(const Crew *crew) {
  const Run *run = crew->run;
  for (size_t i = 0; i < crew->n_parts; i++) {
    bool ready = !crew->begun[i];
    for (size_t k = 0; ready && k < run->n_dates; k++)
      ready = run->dates[k].batch != 0 || run->dates[k].date < crew->parts[i].from ||
              run->dates[k].date >= crew->parts[i].to;
    if (ready) return i;
  }
  return crew->n_parts;
}

/* Until every date is written, or something stands in the way. */
static bool hand_out_all(Crew *crew, Error *err) {
  Run *run = crew->run;
  for (;;) {
    size_t from, n;
    if (!keep_books(crew, err)) return false;
    if (atomic_load(&run->cancelled)) return true;
    Worker *worker = next_worker(crew, &run->idle);
    bool more = run_next_batch(run, &from, &n);
    size_t part = next_part(crew);
    bool whole = part < crew->n_parts;
    if (!more && !whole && busy_workers(crew) == 0) return true;
    if ((more || whole) && run_stopped(run)) return run_pause(run, err);
    if (whole && worker != NULL) {
      if (!hand_out(crew, worker, (RunStep){.part = &crew->parts[part]}, 0, &crew->begun[part], err)) return false;
    } else if (more && worker != NULL) {
      if (!hand_out_batch(crew, worker, from, n, err)) return false;
    } else {
      wait_for_news(crew);
      if (!look_round(crew, err)) return false;
    }
  }
}

/* Nothing more is begun; what is under way ends, by itself or because it is cancelled. */
static void wait_for_all(Crew *crew) {
  Error ignored;
  while (busy_workers(crew) > 0) {
    wait_for_news(crew);
    look_round(crew, &ignored);
    keep_books(crew, &ignored);
  }
}

/* The totals of a batch that a worker stored are not right. */
static bool hold(Run *run, const Worker *worker, Error *err) {
  const EngineOps *ops = run->engine->ops;
  EngineWriter *writer = NULL;
  if (!ops->writer_open(run->engine, worker->pass, run->record->id, run->epoch, &writer, err)) return false;
  bool ok = run_hold(run, writer, &worker->step.findings, err);
  ops->writer_close(writer);
  return ok;
}

/* Everybody else has ended. */
static bool settle_failure(Crew *crew, Error *err) {
  Run *run = crew->run;
  const Worker *worker = crew->failed;
  atomic_store(&run->cancelled, false);
  if (worker->step.findings.n > 0 && worker->ok)
    return worker->step.stored ? hold(run, worker, err) : run_step_failed(run, &worker->step, err);
  *err = worker->err;
  return false;
}

bool run_at_once(Run *run, Error *err) {
  Crew crew = {.lock = PTHREAD_MUTEX_INITIALIZER, .news = PTHREAD_COND_INITIALIZER};
  bool ok = crew_open(run, &crew, err) && hand_out_all(&crew, err);
  wait_for_all(&crew);
  if (crew.failed != NULL && run_goes_on(run)) ok = settle_failure(&crew, err);
  atomic_store(&run->cancelled, false);
  crew_close(&crew);
  return ok;
}
