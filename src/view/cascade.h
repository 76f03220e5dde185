#ifndef TIDEGATE_VIEW_CASCADE_H
#define TIDEGATE_VIEW_CASCADE_H

#include "base/json.h"
#include "cascade/cascade.h"
#include "view/paint.h"

/* What is still wrong downstream, what each needs, what waits for what, and what was done. */

void view_cascade(Paint *paint, Arena *arena, const Cascade *cascade);

/* drafts: by step, the text of its spec; NULL, or NULL in it: none is shown. */
void view_cascade_json(Json *json, const Cascade *cascade, const char *const *drafts);

/* One line before a step is begun. */
void view_cascade_step(Paint *paint, Arena *arena, const Cascade *cascade, const CascadeStep *step);

#endif
