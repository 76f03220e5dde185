#include <string.h>

#include "lineage/dbt_int.h"

/* From the fields of one node of a manifest to the graph. */

/* A text of the node, NULL when there is none. */
static const char *node_text(const DbtNode *node, DbtField field) {
  return node->at[field] == 0 ? NULL : node->texts.data + node->at[field];
}

void dbt_node_clear(DbtNode *node) {
  buf_clear(&node->texts);
  buf_putc(&node->texts, '\0'); /* place 0 is none */
  memset(node->at, 0, sizeof node->at);
  node->n_parents = 0;
  node->exports = node->never_whole = false;
  node->compiled_from = node->compiled_to = 0;
}

/* Words that many nodes share are not copied for each. */
static const char *word(Graph *graph, const char *text) {
  static const char *const known[] = {"table",      "view",   "incremental",    "ephemeral",        "materialized_view",
                                      "snapshot",   "seed",   "test",           "append",           "merge",
                                      "microbatch", "source", "delete+insert",  "insert_overwrite", "model",
                                      "exposure",   "metric", "semantic model", "saved query"};
  for (size_t i = 0; text != NULL && i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i], text) == 0) return known[i];
  return arena_strdup(graph_arena(graph), text);
}

static const char *kind_of(Graph *graph, const char *type) {
  if (strcmp(type, "semantic_model") == 0) return "semantic model";
  if (strcmp(type, "saved_query") == 0) return "saved query";
  if (strcmp(type, "unit_test") == 0) return "test";
  return word(graph, type);
}

static void count(DbtReading *reading, const char *kind) {
  reading->n_nodes++;
  if (reading->disabled)
    reading->n_disabled++;
  else if (strcmp(kind, "model") == 0)
    reading->n_models++;
  else if (strcmp(kind, "test") == 0)
    reading->n_tests++;
  else if (strcmp(kind, "source") == 0)
    reading->n_sources++;
  else if (strcmp(kind, "exposure") == 0)
    reading->n_exposures++;
  else
    reading->n_others++;
}

/* The relation as dbt spells it for its database; put together where an old version does not. */
static GraphName relation_of(DbtReading *reading, const char *kind) {
  static const char *const stored[] = {"model", "seed", "snapshot", "source"};
  const DbtNode *node = &reading->node;
  const char *text = node_text(node, DBT_RELATION), *as = node_text(node, DBT_MATERIALIZED);
  bool is_stored = false;
  for (size_t i = 0; i < sizeof stored / sizeof *stored; i++) is_stored = is_stored || strcmp(stored[i], kind) == 0;
  if (!is_stored || (as != NULL && strcmp(as, "ephemeral") == 0)) return (GraphName){0};
  if (text != NULL) return graph_relation(&reading->scratch, text);
  const char *table = node_text(node, DBT_IDENTIFIER);
  if (table == NULL) table = node_text(node, DBT_ALIAS);
  if (table == NULL) table = node_text(node, DBT_NAME);
  return (GraphName){.database = node_text(node, DBT_DATABASE), .schema = node_text(node, DBT_SCHEMA), .table = table};
}

/* Without a key nothing is found again: whatever the strategy is called, the rows are appended. */
static bool appends(const DbtReading *reading) {
  const DbtNode *node = &reading->node;
  const char *as = node_text(node, DBT_MATERIALIZED), *strategy = node_text(node, DBT_STRATEGY);
  if (as == NULL || strcmp(as, "incremental") != 0 || node->at[DBT_UNIQUE_KEY] != 0) return false;
  if (strategy == NULL) return !reading->overwrites;
  return strcmp(strategy, "merge") == 0 || strcmp(strategy, "delete+insert") == 0;
}

static void fill_materialization(DbtReading *reading, GraphNode *facts) {
  const DbtNode *node = &reading->node;
  Graph *graph = reading->graph;
  facts->materialization = word(graph, node->exports ? "export" : node_text(node, DBT_MATERIALIZED));
  facts->strategy = word(graph, appends(reading) ? "append" : node_text(node, DBT_STRATEGY));
  facts->begin = arena_strdup(graph_arena(graph), node_text(node, DBT_BEGIN));
  facts->never_whole = node->never_whole;
  facts->unique_key = arena_strdup(graph_arena(graph), node_text(node, DBT_UNIQUE_KEY));
  facts->event_time = arena_strdup(graph_arena(graph), node_text(node, DBT_EVENT_TIME));
  const char *batch = node_text(node, DBT_BATCH_SIZE);
  if (facts->strategy == NULL || strcmp(facts->strategy, "microbatch") != 0 || batch == NULL) return;
  /* A batch reads its own dates of what it reads; `lookback` says only how many batches an ordinary run does again. */
  if (!grain_parse(batch, &facts->grain)) return;
  facts->has_grain = true;
  facts->range_from = "batch_size";
}

static void fill(DbtReading *reading, GraphNode *facts, const char *kind) {
  const DbtNode *node = &reading->node;
  Arena *arena = graph_arena(reading->graph);
  facts->kind = kind;
  facts->disabled = reading->disabled;
  facts->file = arena_strdup(arena, node_text(node, DBT_FILE));
  facts->package = word(reading->graph, node_text(node, DBT_PACKAGE));
  facts->url = arena_strdup(arena, node_text(node, DBT_URL));
  const char *owner = node_text(node, DBT_OWNER_NAME);
  if (owner == NULL) owner = node_text(node, DBT_OWNER_EMAIL);
  if (owner == NULL) owner = node_text(node, DBT_GROUP);
  facts->owner = arena_strdup(arena, owner);
  facts->at = graph_source(reading->graph, reading->source)->made_at;
  if (facts->name.table == NULL) facts->shown = arena_strdup(arena, node_text(node, DBT_NAME));
  fill_materialization(reading, facts);
  facts->compiled_at = node->compiled_from;
  facts->compiled_length = node->compiled_to - node->compiled_from;
  facts->compiled_source = (int)reading->source;
  if (strcmp(kind, "test") != 0) return;
  facts->test_at = node->from;
  facts->test_length = node->to - node->from;
}

/* Nodes that other nodes name may never be described: of a package that is not here. Their id says what they are. */
static NodeId parent_node(DbtReading *reading, const char *id) {
  NodeId parent = graph_node(reading->graph, &(GraphName){.space = "dbt", .id = id});
  GraphNode *facts = graph_facts(reading->graph, parent);
  if (facts->kind == NULL) {
    static const char *const kinds[] = {"model", "source", "seed", "snapshot", "metric"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
      if (strncmp(id, kinds[i], strlen(kinds[i])) == 0 && id[strlen(kinds[i])] == '.') facts->kind = kinds[i];
  }
  return parent;
}

void dbt_node_done(DbtReading *reading) {
  enum { SCRATCH_NODES = 1000 };
  DbtNode *node = &reading->node;
  Graph *graph = reading->graph;
  const char *id = node_text(node, DBT_ID), *type = node_text(node, DBT_TYPE);
  if (id == NULL || type == NULL) {
    reading->n_nameless++;
    return;
  }
  const char *kind = kind_of(graph, type);
  GraphName name = relation_of(reading, kind);
  name.space = "dbt";
  name.id = id;
  NodeId self = graph_node(graph, &name);
  GraphNode *facts = graph_facts(graph, self);
  bool described = facts->compiled_source == (int)reading->source && facts->file != NULL;
  if (described && !reading->disabled && reading->n_twice++ == 0) reading->twice = arena_strdup(graph_arena(graph), id);
  count(reading, kind);
  /* The first counts; what is disabled beside it is another version. */
  if (!described) fill(reading, facts, kind);
  for (size_t i = 0; i < node->n_parents && !reading->disabled; i++)
    graph_edge(graph, &(GraphEdge){.parent = parent_node(reading, node->texts.data + node->parents[i]), .child = self});
  if (reading->n_nodes % SCRATCH_NODES == 0) arena_release(&reading->scratch);
}
