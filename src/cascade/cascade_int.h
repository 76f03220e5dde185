#ifndef TIDEGATE_CASCADE_CASCADE_INT_H
#define TIDEGATE_CASCADE_CASCADE_INT_H

#include "cascade/cascade.h"

/* Private to the room: what dbt does with a model. */

bool cascade_is_model(const GraphNode *node);
bool cascade_is_python(const GraphNode *node);
/* Would an ordinary run of its job have its rows twice? */
bool cascade_appends(const GraphNode *node);

/* The command that makes a model right again: all of it, or the dates of the step where dbt can be told them. NULL: no
 * command of dbt's does. */
const char *cascade_dbt_again(Arena *arena, const Cascade *cascade, const LineageNode *step, const GraphNode *node);

#endif
