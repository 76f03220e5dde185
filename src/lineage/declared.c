#include <string.h>
#include <strings.h>

#include "lineage/readers.h"

/* What a person listed under `downstream`: what no catalogue and no tool knows. */

static NodeId declared_node(LineageCase *reading, const SpecDownstream *entry) {
  static const char *const relations[] = {"table", "view", "materialized view"};
  for (size_t i = 0; i < sizeof relations / sizeof *relations; i++)
    if (strcasecmp(entry->kind, relations[i]) == 0) return lineage_table(reading, entry->name.text);
  return graph_node(reading->graph, &(GraphName){.space = "declared", .id = entry->name.text});
}

static void add_entry(LineageCase *reading, const SpecDownstream *entry) {
  GraphNode *facts = graph_facts(reading->graph, declared_node(reading, entry));
  facts->shown = entry->name.text;
  facts->kind = entry->kind;
  if (strcmp(entry->needs, "unknown") != 0)
    facts->needs = entry->needs; /* else the rules know its kind, or nobody does */
  facts->file = entry->name.place.file;
  facts->line = entry->name.place.line;
}

/* What `reads` names: another of the list, else a table. */
static NodeId named_parent(LineageCase *reading, const char *name) {
  const Spec *spec = reading->spec;
  for (size_t i = 0; i < spec->n_downstream; i++)
    if (strcasecmp(spec->downstream[i].name.text, name) == 0) return declared_node(reading, &spec->downstream[i]);
  return lineage_table(reading, name);
}

bool lineage_read_declared(LineageCase *reading, Error *err) {
  const Spec *spec = reading->spec;
  if (spec->n_downstream == 0) return true;
  graph_begin(reading->graph, &(GraphSource){.reader = "tidegate.yaml",
                                             .path = spec->downstream[0].name.place.file,
                                             .covers = arena_printf(reading->arena, "%zu listed", spec->n_downstream)});
  for (size_t i = 0; i < spec->n_downstream; i++) {
    const SpecDownstream *entry = &spec->downstream[i];
    const SpecText target = {.text = reading->target};
    const SpecText *parents = entry->reads.n > 0 ? entry->reads.items : &target;
    add_entry(reading, entry);
    if (reading->target == NULL && entry->reads.n == 0) continue;
    for (size_t k = 0; k < (entry->reads.n > 0 ? entry->reads.n : 1); k++) {
      NodeId parent =
          entry->reads.n > 0 ? named_parent(reading, parents[k].text) : lineage_table(reading, reading->target);
      graph_edge(reading->graph,
                 &(GraphEdge){.parent = parent,
                              .child = declared_node(reading, entry),
                              .via = arena_printf(reading->arena, "listed as downstream of %s", parents[k].text)});
    }
  }
  return true;
}
