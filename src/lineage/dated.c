#include <string.h>

#include "lineage/readers.h"
#include "lineage/sql_text.h"

/*
 * Of dbt's models only those in the blast radius are looked into: how their dates come about, and which columns they
 * read, stands in their compiled SQL.
 */

enum { LONGEST = 1024 * 1024 }; /* bytes of SQL that are looked into */

/* A batch of a microbatch model reads its own dates of a parent that says which column holds them, and the whole of one
 * that does not: then the SQL decides. */
static bool is_by_sql(const Graph *graph, const GraphNode *node, NodeId id) {
  size_t n, n_edges;
  const GraphEdge *edges = graph_edges(graph, &n_edges);
  const uint32_t *in = graph_next(graph, GRAPH_UP, id, &n);
  if (node->range_from == NULL) return true;
  for (size_t i = 0; i < n && strcmp(node->range_from, "batch_size") == 0; i++)
    if (graph_at(graph, edges[in[i]].parent)->event_time == NULL) return true;
  return false;
}

/* The one statement that the model is; n 0 when it was not understood, or not wholly. */
static SqlScript parse_model(Arena *arena, const char *sql) {
  const char *text = arena_printf(arena, "CREATE VIEW model AS %s", sql); /* not SQL: parsed, never run */
  SqlScript script = sql_parse(arena, text);
  if (script.n != 1 || script.n_unread > 0) script.n = 0;
  return script;
}

/* An incremental model that was compiled where its table stood: its SQL looks at what is new alone, and says nothing of
 * how its dates come about. */
static bool is_of_a_later_run(Arena *arena, const Graph *graph, NodeId id, const char *sql) {
  SqlScript script = sql_can_parse() ? parse_model(arena, sql) : (SqlScript){0};
  for (size_t i = 0; script.n == 1 && i < script.statements[0].n; i++) {
    const SqlName *read = &script.statements[0].reads[i].table;
    GraphName name = {.database = read->database, .schema = read->schema, .table = read->name};
    if (graph_find(graph, &name, NULL) == id) return true;
  }
  return false;
}

const GraphNode *lineage_dated(Arena *arena, const Graph *graph, NodeId id, size_t *left) {
  const GraphNode *node = graph_at(graph, id);
  if (!is_by_sql(graph, node, id) || node->compiled_length <= 0 || node->compiled_length > LONGEST || *left == 0 ||
      node->disabled)
    return node;
  ARENA_SCOPED scratch = {0};
  (*left)--;
  const char *sql = lineage_compiled(&scratch, graph, id);
  if (sql == NULL) return node;
  SqlDates dates = sql_dates_of(&scratch, sql);
  if (!dates.known || ((dates.all || dates.after) && is_of_a_later_run(&scratch, graph, id, sql))) return node;
  GraphNode *copy = arena_alloc(arena, sizeof *copy);
  *copy = *node;
  copy->range_from = NULL;
  sql_tell_dates(copy, &dates);
  return copy;
}

bool lineage_model_columns(Arena *arena, const Graph *graph, const GraphEdge *edge, const char *const **ret,
                           uint32_t *ret_n) {
  const GraphNode *node = graph_at(graph, edge->child);
  if (node->compiled_length <= 0 || node->compiled_length > LONGEST || !sql_can_parse()) return false;
  const char *sql = lineage_compiled(arena, graph, edge->child);
  SqlScript script = sql == NULL ? (SqlScript){0} : parse_model(arena, sql);
  for (size_t i = 0; script.n == 1 && i < script.statements[0].n; i++) {
    const SqlRead *read = &script.statements[0].reads[i];
    GraphName name = {.database = read->table.database, .schema = read->table.schema, .table = read->table.name};
    bool doubtful;
    if (graph_find(graph, &name, &doubtful) != edge->parent || doubtful || read->all) continue;
    *ret = read->columns;
    *ret_n = (uint32_t)read->n;
    return true;
  }
  return false;
}
