#include "run/run_int.h"

/*
 * A batch holds at most this many rows: the driver keeps 16 bytes of each key in memory, so this bounds it at some tens
 * of megabytes whatever the table's size.
 */
enum { BATCH_MAX_ROWS = 1000000 };

/* While a batch keeps writers waiting (no WAL, or written directly), it is to last at most this long. */
static const double BLOCKING_BATCH_SECONDS = 1.0;

/* From this share of changed rows on, staging costs more than the wait that it spares other writers (bench: dense). */
static const double DIRECT_SHARE = 0.2;

/* Where writers wait, never if the recompute reads the target: it would see the very changes that it is writing. */
bool run_directly(const Run *run) {
  if (run->engine->ops->caps(run->engine).writes_apart) return true;
  return run->batches > 0 && run->measured_rows > 0 && !run->plan->spec.full_shadow && !run->plan->overlay &&
         (double)run->progress.changes > DIRECT_SHARE * (double)run->measured_rows;
}

double run_expected_seconds(const Run *run, int64_t rows) {
  if (run->measured_seconds <= 0 || run->measured_rows <= 0) return run->plan->spec.budget.batch;
  return (double)rows * run->measured_seconds / (double)run->measured_rows;
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

bool run_next_batch(const Run *run, size_t *ret_from, size_t *ret_n) {
  size_t from = 0;
  while (from < run->n_dates && run->dates[from].batch > 0) from++;
  if (from == run->n_dates) return false;
  if (run->batches == 0) {
    *ret_from = lightest(run);
    *ret_n = 1;
    return true;
  }
  double budget = run->plan->spec.budget.batch;
  EngineCaps caps = run->engine->ops->caps(run->engine);
  bool blocks = !caps.readers_unblocked || (!caps.writes_apart && run_directly(run));
  if (blocks && budget > BLOCKING_BATCH_SECONDS) budget = BLOCKING_BATCH_SECONDS;
  size_t most = run->last_size == 0 ? 1 : run->last_size * 2, n = 0;
  int64_t rows = 0;
  while (from + n < run->n_dates && run->dates[from + n].batch == 0 && n < most) {
    rows += run->dates[from + n].expected;
    if (n > 0 && (rows > BATCH_MAX_ROWS || run_expected_seconds(run, rows) > budget)) break;
    n++;
  }
  *ret_from = from;
  *ret_n = n;
  return true;
}
