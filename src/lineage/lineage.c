#include "lineage/lineage.h"

#include <string.h>

#include "lineage/dbt.h"
#include "lineage/readers.h"

/* In the order of Needs. */
static const char *const needs_names[] = {"nothing", "follows", "refresh", "cascade", "rebuild", "person", "unknown"};
_Static_assert(sizeof needs_names / sizeof *needs_names == NEEDS_COUNT_, "a word for every need");

/* The sources of lineage, what a person wrote last: where two differ, the later one's word counts. */
static LineageReader *const readers[] = {
    lineage_read_catalogue, lineage_read_dbt,      lineage_read_openlineage,
    lineage_read_sql,       lineage_read_declared, lineage_read_overrides,
};

const char *needs_name(Needs needs) { return needs_names[needs]; }

Needs needs_of(const char *word) {
  for (size_t i = 0; word != NULL && i < sizeof needs_names / sizeof *needs_names; i++)
    if (strcmp(needs_names[i], word) == 0) return (Needs)i;
  return NEEDS_UNKNOWN;
}

void lineage_needs(GraphNode *node, const char *word) {
  if (node->needs == NULL || needs_of(word) > needs_of(node->needs)) node->needs = needs_name(needs_of(word));
}

GraphName lineage_relation(Arena *arena, const Engine *engine, const char *text) {
  if (engine != NULL && strcmp(engine->ops->name, "sqlite") == 0) return (GraphName){.table = text};
  return graph_relation(arena, text);
}

NodeId lineage_table(LineageCase *reading, const char *name) {
  GraphName relation = lineage_relation(reading->arena, reading->engine, name);
  return graph_node(reading->graph, &relation);
}

bool lineage_read(Arena *arena, Engine *engine, const char *target, const Spec *spec, const Graph **ret, Error *err) {
  LineageCase reading = {.arena = arena, .engine = engine, .target = target, .spec = spec, .graph = graph_new(arena)};
  bool ok = true;
  for (size_t i = 0; ok && i < sizeof readers / sizeof *readers; i++) ok = readers[i](&reading, err);
  graph_finish(reading.graph);
  *ret = reading.graph;
  return ok;
}

const char *lineage_compiled(Arena *arena, const Graph *graph, NodeId node) {
  size_t n;
  const GraphNode *facts = graph_at(graph, node);
  const GraphSource *sources = graph_sources(graph, &n);
  return facts->compiled_length > 0 ? dbt_compiled(arena, &sources[facts->compiled_source], facts) : facts->sql;
}

void lineage_tests(Arena *arena, const Graph *graph, NodeId model, const LineageTest **ret, size_t *ret_n) {
  dbt_tests(arena, graph, model, ret, ret_n);
}

bool lineage_blast_radius(Arena *arena, Engine *engine, const LineageAsk *ask, const Spec *spec, BlastRadius *ret,
                          Error *err) {
  const Graph *graph;
  if (!lineage_read(arena, engine, ask->target, spec, &graph, err)) return false;
  lineage_radius(arena, graph, engine, ask, ret);
  return true;
}
