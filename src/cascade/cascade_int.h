#ifndef TIDEGATE_CASCADE_CASCADE_INT_H
#define TIDEGATE_CASCADE_CASCADE_INT_H

#include "cascade/cascade.h"

/* Private to the room. What dbt does with a model: */

bool cascade_is_model(const GraphNode *node);
bool cascade_is_python(const GraphNode *node);
/* Would an ordinary run of its job have its rows twice? */
bool cascade_appends(const GraphNode *node);

/* The command that makes a model right again: all of it, or the dates of the step where dbt can be told them. NULL: no
 * command of dbt's does. */
const char *cascade_dbt_again(Arena *arena, const Cascade *cascade, const LineageNode *step, const GraphNode *node);

/* A word as a shell reads it back. */
const char *cascade_shell_word(Arena *arena, const char *word);

/* The checks as a piece of the draft, and what dbt's tests say beside them. */
void cascade_put_checks(Buf *out, Arena *arena, const CascadeChild *child);

#endif
