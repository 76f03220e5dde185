#include <math.h>

#include "validate/validate.h"

/* ln of the chance that n draws without replacement from population miss all `defects`: C(N−D, n) / C(N, n). */
static double log_miss(int64_t population, int64_t defects, int64_t n) {
  if (n > population - defects) return -INFINITY;
  double good = (double)(population - defects), all = (double)population;
  return lgamma(good + 1) - lgamma(good - (double)n + 1) - lgamma(all + 1) + lgamma(all - (double)n + 1);
}

int64_t validate_sample_size(int64_t population, double share, double confidence, int64_t batches) {
  if (population <= 0) return 0;
  int64_t defects = (int64_t)ceil(share * (double)population - 1e-9);
  if (defects < 1) defects = 1;
  if (defects > population) defects = population;
  double allowed = log((1 - confidence) / (double)(batches < 1 ? 1 : batches));
  int64_t low = 0, high = population;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (log_miss(population, defects, middle) <= allowed + 1e-9)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}
