#include <string.h>

#include "lineage/readers.h"

/* What the database itself knows: who reads whom among all its views, and what hangs on the target. */

static bool is_relation(const char *kind) {
  static const char *const relations[] = {"view", "materialized view", "table", "foreign table"};
  for (size_t i = 0; i < sizeof relations / sizeof *relations; i++)
    if (strcmp(kind, relations[i]) == 0) return true;
  return false;
}

/* What the search path finds is spelled without its schema. It is no other schema's table of that name, and who says
 * the name alone means it. */
static NodeId relation_node(LineageCase *reading, const char *name, const char *schema) {
  GraphName relation = lineage_relation(reading->arena, reading->engine, name);
  if (relation.schema != NULL || schema == NULL) return graph_node(reading->graph, &relation);
  GraphName full = {.schema = schema, .table = relation.table};
  NodeId node = graph_node(reading->graph, &full);
  graph_alias(reading->graph, node, &relation, "the database's search path finds it there");
  return node;
}

/* A trigger, a rule or a foreign key is no table, though it may bear the name of one. */
static NodeId dependent_node(LineageCase *reading, const DependentFacts *facts) {
  if (is_relation(facts->kind)) return relation_node(reading, facts->name, facts->schema);
  return graph_node(reading->graph, &(GraphName){.space = facts->kind, .id = facts->name});
}

static void add_view_read(LineageCase *reading, const ReadFacts *read) {
  NodeId parent = relation_node(reading, read->source, read->source_schema);
  NodeId child = relation_node(reading, read->reader, read->reader_schema);
  GraphNode *facts = graph_facts(reading->graph, child);
  facts->kind = read->kind;
  facts->shown = read->reader;
  facts = graph_facts(reading->graph, parent);
  if (facts->shown == NULL) facts->shown = read->source;
  graph_edge(reading->graph,
             &(GraphEdge){.parent = parent, .child = child, .columns = read->columns, .n_columns = (uint32_t)read->n});
}

/* Did the views' own reads say it, with the columns? */
static bool is_drawn(LineageCase *reading, const DependentFacts *facts, const ReadFacts *reads, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(reads[i].reader, facts->name) == 0 && strcmp(reads[i].source, reading->target) == 0) return true;
  return facts->through;
}

static void add_dependent(LineageCase *reading, const DependentFacts *dependent, const ReadFacts *reads, size_t n) {
  NodeId node = dependent_node(reading, dependent);
  GraphNode *facts = graph_facts(reading->graph, node);
  facts->shown = dependent->name;
  facts->kind = dependent->kind;
  lineage_needs(facts, dependent->needs);
  if (is_drawn(reading, dependent, reads, n)) return;
  graph_edge(reading->graph,
             &(GraphEdge){.parent = lineage_table(reading, reading->target), .child = node, .via = dependent->via});
}

bool lineage_read_catalogue(LineageCase *reading, Error *err) {
  const EngineOps *ops = reading->engine->ops;
  const DependentFacts *dependents = NULL;
  const ReadFacts *reads;
  const char *schema = NULL;
  size_t n = 0, n_reads;
  uint32_t source = graph_begin(reading->graph, &(GraphSource){.reader = "catalogue"});
  bool asked = reading->target == NULL ||
               ops->dependents(reading->engine, reading->arena, reading->target, &schema, &dependents, &n, err);
  if (!asked || !ops->view_reads(reading->engine, reading->arena, &reads, &n_reads, err)) return false;
  if (reading->target != NULL)
    graph_facts(reading->graph, relation_node(reading, reading->target, schema))->shown = reading->target;
  for (size_t i = 0; i < n_reads; i++) add_view_read(reading, &reads[i]);
  for (size_t i = 0; i < n; i++) add_dependent(reading, &dependents[i], reads, n_reads);
  graph_source(reading->graph, source)->covers =
      "views, materialized views, foreign keys, triggers, functions by their text";
  return true;
}
