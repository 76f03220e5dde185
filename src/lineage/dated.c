#include <string.h>

#include "lineage/readers.h"
#include "lineage/sql_text.h"

/* Of dbt's models only those in the blast radius are looked into: how their dates come about stands in their SQL. */

const GraphNode *lineage_dated(Arena *arena, const Graph *graph, NodeId id, size_t *left) {
  enum { LONGEST = 1024 * 1024 };
  const GraphNode *node = graph_at(graph, id);
  if (node->range_from != NULL || node->compiled_length <= 0 || node->compiled_length > LONGEST || *left == 0 ||
      node->disabled)
    return node;
  ARENA_SCOPED scratch = {0};
  (*left)--;
  const char *sql = lineage_compiled(&scratch, graph, id);
  if (sql == NULL) return node;
  SqlDates dates = sql_dates_of(&scratch, sql);
  if (!dates.known) return node;
  GraphNode *copy = arena_alloc(arena, sizeof *copy);
  *copy = *node;
  sql_tell_dates(copy, &dates);
  return copy;
}
