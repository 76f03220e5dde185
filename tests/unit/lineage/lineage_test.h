#ifndef TIDEGATE_TESTS_UNIT_LINEAGE_LINEAGE_TEST_H
#define TIDEGATE_TESTS_UNIT_LINEAGE_LINEAGE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lineage/graph.h"

static inline NodeId add_relation(Graph *graph, const char *text) {
  GraphName name = graph_relation(graph_arena(graph), text);
  return graph_node(graph, &name);
}

static inline NodeId add_id(Graph *graph, const char *space, const char *id) {
  return graph_node(graph, &(GraphName){.space = space, .id = id});
}

static inline void link_nodes(Graph *graph, NodeId parent, NodeId child) {
  graph_edge(graph, &(GraphEdge){.parent = parent, .child = child});
}

/* The node that a relation's name finds in a finished graph; it must be one. */
static inline NodeId find_relation(Arena *arena, const Graph *graph, const char *text) {
  bool doubtful;
  GraphName name = graph_relation(arena, text);
  NodeId node = graph_find(graph, &name, &doubtful);
  assert_int_not_equal(node, GRAPH_NONE);
  assert_false(doubtful);
  return node;
}

static inline NodeId find_id(const Graph *graph, const char *space, const char *id) {
  NodeId node = graph_find(graph, &(GraphName){.space = space, .id = id}, NULL);
  assert_int_not_equal(node, GRAPH_NONE);
  return node;
}

#endif
