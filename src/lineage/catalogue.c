#include <string.h>

#include "lineage/readers.h"

/* A trigger, a rule or a foreign key is no table, though it may bear the name of one. */
static NodeId dependent_node(LineageCase *reading, const DependentFacts *facts) {
  static const char *const relations[] = {"view", "materialized view", "table"};
  for (size_t i = 0; i < sizeof relations / sizeof *relations; i++)
    if (strcmp(facts->kind, relations[i]) == 0) return lineage_table(reading, facts->name);
  return graph_node(reading->graph, &(GraphName){.space = facts->kind, .id = facts->name});
}

bool lineage_read_catalogue(LineageCase *reading, Error *err) {
  const DependentFacts *dependents;
  size_t n;
  Graph *graph = reading->graph;
  graph_begin(graph, &(GraphSource){.reader = "catalogue"});
  if (!reading->engine->ops->dependents(reading->engine, reading->arena, reading->target, &dependents, &n, err))
    return false;
  NodeId target = lineage_table(reading, reading->target);
  for (size_t i = 0; i < n; i++) {
    NodeId node = dependent_node(reading, &dependents[i]);
    GraphNode *facts = graph_facts(graph, node);
    facts->shown = dependents[i].name;
    facts->kind = dependents[i].kind;
    lineage_needs(facts, dependents[i].needs);
    graph_edge(graph, &(GraphEdge){.parent = target, .child = node, .via = dependents[i].via});
  }
  return true;
}
