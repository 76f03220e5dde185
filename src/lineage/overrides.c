#include <string.h>

#include "lineage/readers.h"

/* A person's word on how a node's dates come from those that it reads. */

/* By its name in the database, else by whatever else it is called: a dbt unique_id, a dashboard. */
static NodeId named_node(LineageCase *reading, const char *name) {
  static const char *const spaces[] = {"dbt", "declared"};
  for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
    NodeId node = graph_find(reading->graph, &(GraphName){.space = spaces[i], .id = name}, NULL);
    if (node != GRAPH_NONE) return node;
  }
  return lineage_table(reading, name);
}

bool lineage_read_overrides(LineageCase *reading, Error *err) {
  const SpecLineage *lineage = &reading->spec->lineage;
  if (lineage->n_overrides == 0) return true;
  graph_begin(reading->graph, &(GraphSource){.reader = "tidegate.yaml", .path = lineage->overrides[0].node.place.file});
  for (size_t i = 0; i < lineage->n_overrides; i++) {
    const SpecNodeDates *said = &lineage->overrides[i];
    GraphNode *node = graph_facts(reading->graph, named_node(reading, said->node.text));
    node->range_from = "tidegate.yaml";
    node->has_grain = said->grain.text != NULL && grain_parse(said->grain.text, &node->grain);
    node->lookback = said->lookback;
    node->window = said->window;
    node->window_days = node->earlier_days = 0;
    node->whole = NULL;
    node->cumulative = said->cumulative;
  }
  return true;
}
