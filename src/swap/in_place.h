#ifndef TIDEGATE_SWAP_IN_PLACE_H
#define TIDEGATE_SWAP_IN_PLACE_H

#include "swap/swap.h"
#include "validate/validate.h"

/* What a tool that writes production in place is held against: the target as a whole before and after it. */

/* Fingerprints of every stored column, also of those that the recompute does not give. */
typedef struct RangeLook {
  Fingerprint outside; /* of the rows outside the range, those without a date among them */
  Fingerprint *dates;  /* one for every date of the plan's range, ascending */
  size_t n;
  int64_t rows; /* of the range */
} RangeLook;

/* Production now. Reads the whole table. */
bool in_place_look(Arena *arena, Engine *engine, const Plan *plan, RangeLook *ret, Error *err);
/* The dates of the snapshot; `outside` stays empty. */
bool in_place_look_snapshot(Arena *arena, Engine *engine, const Plan *plan, RangeLook *ret, Error *err);

/* What production's rows of some dates are by the evidence of the plan: scope, checks, emptied dates, totals, and
 * the oracle's sample. batches: one of so many, whose samples together must find what the spec says; 0:
 * the oracle is not asked. */
typedef struct InPlaceFacts {
  int64_t rows, changed; /* of these dates now; those that differ from the snapshot */
  Findings findings;
} InPlaceFacts;
bool in_place_judge(Arena *arena, Engine *engine, const Plan *plan, DateRange dates, int64_t batch, int64_t batches,
                    InPlaceFacts *ret, Error *err);

/*
 * Makes the dates what the snapshot holds, in one transaction under the target's fence, with the tries that the budget
 * allows. watch: of the jobs, asked under the lock; NULL: production is put back beside whatever runs. whole: the state
 * moves to restored (where it is opened or checked) with it; what the record is then lives in the arena. *ret_changed:
 * rows put back.
 */
bool in_place_restore(Backfill on, EngineWriter *writer, GateWatch *watch, DateRange dates, bool whole,
                      int64_t *ret_changed, Error *err);

/* The processes of this machine that a backfill's tool has started and that are still there: their number, and one of
 * them. */
size_t in_place_tools(const BackfillRecord *record, int *ret_pid);
/* What each of them has in its environment: "NAME=value". */
const char *in_place_variable(Arena *arena, const BackfillRecord *record);
/* By this name its sessions in the database are known. It is not one of Tidegate's own, so that they can be asked for.
 */
const char *in_place_application(Arena *arena, const BackfillRecord *record);
/* Ends them, and the tool's sessions in the database with what these do, and waits until all are gone. ERR_COMMAND and
 * ERR_LOCKED when they do not end within some seconds. */
bool in_place_quiet(Engine *engine, const BackfillRecord *record, Error *err);

#endif
