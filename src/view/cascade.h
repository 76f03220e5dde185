#ifndef TIDEGATE_VIEW_CASCADE_H
#define TIDEGATE_VIEW_CASCADE_H

#include "base/json.h"
#include "cascade/cascade.h"
#include "view/paint.h"

/* What is still wrong downstream, what each needs, what waits for what, and what was done. */

void view_cascade(Paint *paint, Arena *arena, const Cascade *cascade);

/* drafts: by step, the text of its spec; NULL, or NULL in it: none is shown. */
void view_cascade_json(Json *json, const Cascade *cascade, const char *const *drafts);

/* What is stale after a swap and what is to be typed; nothing when all is right. The JSON is an array of the names. */
void view_cascade_stale(Paint *paint, Arena *arena, const Cascade *cascade);
void view_cascade_stale_json(Json *json, const Cascade *cascade);

/* The same after a rollback: what the cascade had made right, as it was before that. */
void view_cascade_back(Paint *paint, Arena *arena, const Cascade *cascade);
void view_cascade_back_json(Json *json, const Cascade *cascade);

/* One line before a step is begun. */
void view_cascade_step(Paint *paint, Arena *arena, const Cascade *cascade, const CascadeStep *step);

#endif
