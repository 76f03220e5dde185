#include "run/run_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * A batch holds at most this many rows: the driver keeps 16 bytes of each key in memory, so this bounds it at some tens
 * of megabytes whatever the table's size.
 */
enum { BATCH_MAX_ROWS = 1000000 };

/* While a batch keeps writers waiting (no WAL, or written directly), it is to last at most this long. */
static const double BLOCKING_BATCH_SECONDS = 1.0;

/* From this share of changed rows on, staging costs more than the wait that it spares other writers (bench: dense). */
static const double DIRECT_SHARE = 0.2;

/* A batch is at most this much larger than the one before; the first ones grow by a date each. */
static const double MOST_GROWTH = 1.5;

/* A batch of several workers is made smaller, so that all end together, by this much at most. */
enum { CRUMB = 4 };

/* The speed that is counted on is one that so many of the last rows kept to. */
static const double SURE_SHARE = 0.9;

/* Where writers wait, never if the recompute reads the target: it would see the very changes that it is writing. */
bool run_directly(const Run *run) {
  if (run->engine->ops->caps(run->engine).writes_apart) return true;
  return run->batches > 0 && run->measured_rows > 0 && !run->plan->spec.full_shadow && !run->plan->overlay &&
         (double)run->progress.changes > DIRECT_SHARE * (double)run->measured_rows;
}

static int slower(const void *a, const void *b) {
  const RunSpeed *left = a, *right = b;
  double x = left->seconds / (double)left->rows, y = right->seconds / (double)right->rows;
  return (x > y) - (x < y);
}

/* Seconds a row, as SURE_SHARE of the rows of the last batches had it or better: a small first batch, of which most is
 * overhead, counts for little. Below 0: nothing is measured. */
static double sure_speed(const Run *run) {
  RunSpeed sorted[RUN_SPEEDS];
  double rows = 0, covered = 0;
  if (run->n_speeds == 0) return -1;
  memcpy(sorted, run->speeds, run->n_speeds * sizeof *sorted);
  qsort(sorted, run->n_speeds, sizeof *sorted, slower);
  for (size_t i = 0; i < run->n_speeds; i++) rows += (double)sorted[i].rows;
  for (size_t i = 0; i < run->n_speeds; i++) {
    covered += (double)sorted[i].rows;
    if (covered >= SURE_SHARE * rows) return sorted[i].seconds / (double)sorted[i].rows;
  }
  return -1;
}

double run_expected_seconds(const Run *run, int64_t rows) {
  double speed = sure_speed(run);
  return speed < 0 ? run->plan->spec.budget.batch : speed * (double)rows;
}

static double batch_budget(const Run *run) {
  double budget = run->plan->spec.budget.batch;
  EngineCaps caps = run->engine->ops->caps(run->engine);
  bool blocks = !caps.readers_unblocked || (!caps.writes_apart && run_directly(run));
  return blocks && budget > BLOCKING_BATCH_SECONDS ? BLOCKING_BATCH_SECONDS : budget;
}

void run_slow_down(Run *run) {
  size_t half = run->last_size / 2 > 0 ? run->last_size / 2 : 1;
  if (run->size > half) run->size = half;
}

void run_measured(Run *run, size_t n, int64_t rows, double seconds) {
  bool full = n >= run->size; /* else it was cut off by the end of a gap or by the budget: no reason to grow */
  size_t more = (size_t)floor((double)n * MOST_GROWTH);
  run->last_size = n;
  if (full) run->size = more > n ? more : n + 1;
  if (seconds > batch_budget(run)) run_slow_down(run);
  if (rows <= 0) return;
  if (run->n_speeds == RUN_SPEEDS) memmove(run->speeds, run->speeds + 1, --run->n_speeds * sizeof *run->speeds);
  run->speeds[run->n_speeds++] = (RunSpeed){rows, seconds};
  run->measured_rows += rows;
}

/* The lightest date in which a change is expected; the first of all when none is, or when the recompute builds on the
 * dates before. */
static size_t lightest(const Run *run) {
  size_t best = run->n_dates;
  for (size_t i = 0; i < run->n_dates && !run->plan->overlay; i++)
    if (run->dates[i].suspect > 0 && (best == run->n_dates || run->dates[i].expected < run->dates[best].expected))
      best = i;
  return best == run->n_dates ? 0 : best;
}

static bool is_open(const Run *run, size_t date) {
  return run->dates[date].batch == 0 && (run->taken == NULL || !run->taken[date]);
}

/*
 * The dates that one batch may have so that all workers end at about the same time: what is left is divided among those
 * who have no batch, or, where the others are in the middle of one, among all; but not into crumbs.
 */
static size_t fair_share(const Run *run) {
  size_t open = 0, workers = (size_t)run->plan->workers, crumb = run->size / CRUMB;
  if (run->idle == 0) return run->n_dates;
  for (size_t i = 0; i < run->n_dates; i++) open += is_open(run, i);
  size_t among = run->idle > 1 || workers < 2 ? run->idle : workers;
  size_t share = (open + among - 1) / among;
  return share > crumb ? share : crumb;
}

/* Dates that a batch may have at most, whatever fits into its time. */
static size_t most_dates(const Run *run) {
  const SpecTexts *command = &run->plan->spec.recompute.command;
  for (size_t i = 0; run->plan->recompute == NULL && i < command->n; i++)
    if (plan_takes_one_date(command->items[i].text)) return 1;
  return run->size == 0 ? 1 : run->size;
}

bool run_next_batch(const Run *run, size_t *ret_from, size_t *ret_n) {
  size_t from = 0;
  while (from < run->n_dates && !is_open(run, from)) from++;
  if (from == run->n_dates) return false;
  if (run->batches == 0) {
    *ret_from = lightest(run);
    *ret_n = 1;
    return true;
  }
  double budget = batch_budget(run);
  size_t most = most_dates(run), share = fair_share(run), n = 0;
  int64_t rows = 0;
  if (most > share) most = share;
  while (from + n < run->n_dates && is_open(run, from + n) && n < most) {
    rows += run->dates[from + n].expected;
    if (n > 0 && (rows > BATCH_MAX_ROWS || run_expected_seconds(run, rows) > budget)) break;
    n++;
  }
  *ret_from = from;
  *ret_n = n;
  return true;
}
