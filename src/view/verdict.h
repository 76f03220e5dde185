#ifndef TIDEGATE_VIEW_VERDICT_H
#define TIDEGATE_VIEW_VERDICT_H

#include "gate/gate.h"
#include "view/paint.h"

/* "open until 01:45 New York; production 02:00, guard 15m", or why it is not open. */
const char *view_window_text(Arena *arena, const Plan *plan, const Verdict *verdict, Instant now);

/* ALLOW with `then` (what to do next, may be ""), or DENY with every reason as `- rule: text` and its hint. */
void view_verdict(Paint *paint, Arena *arena, const Plan *plan, const Verdict *verdict, Instant now, const char *then);

#endif
