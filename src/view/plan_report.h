#ifndef TIDEGATE_VIEW_PLAN_REPORT_H
#define TIDEGATE_VIEW_PLAN_REPORT_H

#include "gate/gate.h"
#include "view/paint.h"

/*
 * Everything that a plan answers before anything runs, one question a label, and the verdict at the end. Works for a
 * plan that was not recorded (id NULL) too.
 */
void view_plan(Paint *paint, Arena *arena, const Plan *plan, const Verdict *verdict);

/* Plan and verdict under the keys "plan" and "verdict" of an open object. */
void view_plan_json(Json *json, const Plan *plan, const Verdict *verdict);

/* "2 Feb (28 rows), then 1, 2, 4, 8, 12 dates": how the batches will grow while they stay inside the budget. */
const char *view_batches_text(Arena *arena, const Plan *plan);

#endif
