#ifndef TIDEGATE_VIEW_RADIUS_H
#define TIDEGATE_VIEW_RADIUS_H

#include "plan/plan.h"
#include "view/paint.h"

/* The blast radius of a plan, in the reports of other commands; `impact` shows it whole. */

/* What the target feeds, what each needs and when, and what that knowledge rests on. */
void view_feeds(Paint *paint, Arena *arena, const Plan *plan);

/* What was made from the old rows and still shows them; for after a swap. */
void view_stale(Paint *paint, Arena *arena, const Plan *plan, const char *id);
void view_stale_json(Json *json, const Plan *plan);

#endif
