#ifndef TIDEGATE_VIEW_OUTCOME_H
#define TIDEGATE_VIEW_OUTCOME_H

#include "run/in_place.h"
#include "run/run.h"
#include "swap/swap.h"
#include "view/paint.h"

/* What a piece of work came to. Each has its members for an open JSON object beside it. */

void view_run(Paint *paint, Arena *arena, const char *id, const RunFacts *facts);
void view_run_json(Json *json, const char *id, const RunFacts *facts);

/* SWAPPED, how long under the lock, how to undo, and what downstream is stale now. */
void view_swap(Paint *paint, Arena *arena, const Plan *plan, const char *id, const SwapFacts *facts);
void view_swap_json(Json *json, const Plan *plan, const char *id, const SwapFacts *facts);

void view_rollback(Paint *paint, Arena *arena, const char *id, const RollbackFacts *facts);
void view_rollback_json(Json *json, const char *id, const RollbackFacts *facts);
/* The later writes that stand in the way. */
void view_conflicts(Paint *paint, Arena *arena, const Conflicts *conflicts);
void view_conflicts_json(Json *json, const Conflicts *conflicts);

/* tool: Tidegate runs what writes; else a person does. */
void view_snapshot(Paint *paint, Arena *arena, const BackfillRecord *record, const SnapshotFacts *facts, bool tool);
void view_snapshot_json(Json *json, const BackfillRecord *record, const SnapshotFacts *facts);

/* One line a batch of a tool that writes in place; and the whole as JSON, where it was checked. */
void view_in_place_batch(Buf *out, Arena *arena, const Plan *plan, const InPlaceBatch *batch);
void view_in_place_json(Json *json, const Plan *plan, const BackfillRecord *record, const InPlaceResult *result);

/* What was put back from a snapshot. */
void view_restore(Paint *paint, Arena *arena, const BackfillRecord *record, const SnapshotFacts *facts);
void view_restore_json(Json *json, const BackfillRecord *record, const SnapshotFacts *facts);

/* FINISHED, DISCARDED: what was done about it. */
void view_ended(Paint *paint, const char *word, const char *what);
void view_ended_json(Json *json, const BackfillRecord *record);

#endif
