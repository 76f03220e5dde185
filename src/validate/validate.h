#ifndef TIDEGATE_VALIDATE_VALIDATE_H
#define TIDEGATE_VALIDATE_VALIDATE_H

#include "plan/plan.h"

/* Does what was written agree with the evidence? Judged a batch at a time, and once over all at the seal. */

/* What is wrong, in words, with examples; n 0: nothing is. Each of the functions below adds to it. */
typedef struct Findings {
  Arena *arena;
  int64_t batch; /* that is judged; 0: none */
  FindingRecord *items;
  size_t n;
} Findings;

/* `finding` as one of the batch's. */
void findings_add(Findings *findings, FindingRecord finding);

/* One computed batch: what the engine found, and dates that would lose all rows. */
void validate_batch(Findings *findings, const Plan *plan, const BatchFacts *facts);

/* The totals of the spec over the overlay of [range), once its batches are stored. */
bool validate_totals(Findings *findings, Engine *engine, const Plan *plan, DateRange range, Error *err);

/*
 * The oracle, asked for a sample of production's rows of [range) that are not in the snapshot as they are, of which
 * there are at most `changed`; one of so many batches.
 */
bool validate_oracle(Findings *findings, Engine *engine, const Plan *plan, DateRange range, int64_t changed,
                     int64_t batches, Error *err);

/*
 * The whole change set before the seal, for the ledger's dates: recomputed rows = production + inserts − deletes,
 * really counted; no key twice; no orphaned children; every row acceptable to production's constraints; totals over the
 * whole range; the oracle's sample.
 */
bool validate_seal(Findings *findings, Engine *engine, const Plan *plan, const DateRecord *dates, size_t n,
                   ChangeCounts *ret_counts, Error *err);

/*
 * The smallest sample of `population` rows that would miss `share` × population wrong rows (rounded up, at least one)
 * with a chance of at most 1 − confidence: hypergeometric, zero acceptance. Over `batches` batches each is held to 1 −
 * (1 − confidence)/batches.
 */
int64_t validate_sample_size(int64_t population, double share, double confidence, int64_t batches);

#endif
