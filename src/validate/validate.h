#ifndef TIDEGATE_VALIDATE_VALIDATE_H
#define TIDEGATE_VALIDATE_VALIDATE_H

#include "plan/plan.h"

/* Does what was written agree with the evidence? Judged a batch at a time, and once over all at the seal. */

/*
 * Judges one computed batch: the engine's findings, dates that would lose all rows, row counts, totals over the overlay
 * (when `totals`: after the batch was stored). *ret: what is wrong, in words, with examples; n 0 = passed. In the
 * arena.
 */
bool validate_batch(Arena *arena, Engine *engine, const Plan *plan, const Job *job, const BatchFacts *facts,
                    int64_t batch, const FindingRecord **ret, size_t *ret_n, Error *err);

/* The totals of the spec over the overlay of [range). */
bool validate_totals(Arena *arena, Engine *engine, const Plan *plan, DateRange range, int64_t batch,
                     const FindingRecord **ret, size_t *ret_n, Error *err);

/*
 * The oracle, asked for a sample of production's rows of [range) that are not in the snapshot as they are, of which
 * there are at most `changed`; one of so many batches.
 */
bool validate_oracle(Arena *arena, Engine *engine, const Plan *plan, DateRange range, int64_t changed, int64_t batches,
                     int64_t batch, const FindingRecord **ret, size_t *ret_n, Error *err);

/*
 * Judges the whole change set before the seal: recomputed rows = production + inserts − deletes, really counted; no key
 * twice; no orphaned children; every row acceptable to production's constraints; totals over the whole range; the
 * oracle's sample.
 */
bool validate_seal(Arena *arena, Engine *engine, const Plan *plan, const char *id, const DateRecord *dates, size_t n,
                   ChangeCounts *ret_counts, const FindingRecord **ret, size_t *ret_n, Error *err);

/*
 * The smallest sample of `population` rows that would miss `share` × population wrong rows (rounded up, at least one)
 * with a chance of at most 1 − confidence: hypergeometric, zero acceptance. Over `batches` batches each is held to 1 −
 * (1 − confidence)/batches.
 */
int64_t validate_sample_size(int64_t population, double share, double confidence, int64_t batches);

#endif
