#include "lineage/readers.h"

bool lineage_read_declared(LineageCase *reading, Error *err) {
  const Spec *spec = reading->spec;
  Graph *graph = reading->graph;
  if (spec->n_downstream == 0) return true;
  graph_begin(graph, &(GraphSource){.reader = "tidegate.yaml", .path = spec->downstream[0].name.place.file});
  NodeId target = lineage_table(reading, reading->target);
  for (size_t i = 0; i < spec->n_downstream; i++) {
    const SpecDownstream *entry = &spec->downstream[i];
    NodeId node = lineage_table(reading, entry->name.text);
    GraphNode *facts = graph_facts(graph, node);
    facts->shown = entry->name.text;
    facts->kind = entry->kind;
    facts->needs = entry->needs;
    facts->file = entry->name.place.file;
    facts->line = entry->name.place.line;
    graph_edge(graph, &(GraphEdge){.parent = target,
                                   .child = node,
                                   .via = arena_printf(reading->arena, "listed as downstream of %s", reading->target)});
  }
  return true;
}
