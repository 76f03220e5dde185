#include "lineage_test.h"

#include <stdlib.h>
#include <string.h>

static Graph *begin(Arena *arena) {
  Graph *graph = graph_new(arena);
  graph_begin(graph, &(GraphSource){.reader = "SQL text"});
  return graph;
}

/* "b1 c1 d2": the nodes in order with their levels. */
static const char *walk_text(Arena *arena, const Graph *graph, GraphWay way, const char *start, GraphWalk *walk) {
  NodeId from = find_relation(arena, graph, start);
  graph_walk(arena, graph, way, &from, 1, walk);
  const char *text = "";
  for (size_t i = 0; i < walk->n; i++)
    text = arena_printf(arena, "%s%s%s%u", text, i == 0 ? "" : " ", graph_at(graph, walk->nodes[i])->shown,
                        walk->level[i]);
  return text;
}

/* Each pair of letters of "ab bc" is an edge. */
static Graph *drawn(Arena *arena, const char *edges) {
  Graph *graph = begin(arena);
  for (const char *at = edges; *at != '\0'; at += at[2] == '\0' ? 2 : 3) {
    NodeId parent = add_relation(graph, arena_strndup(arena, at, 1));
    link_nodes(graph, parent, add_relation(graph, arena_strndup(arena, at + 1, 1)));
  }
  graph_finish(graph);
  return graph;
}

static void a_diamond_is_walked_once(void **state) {
  ARENA_SCOPED arena = {0};
  GraphWalk walk;
  Graph *graph = drawn(&arena, "tb ta ad bd dz td xa");
  assert_string_equal(walk_text(&arena, graph, GRAPH_DOWN, "t", &walk), "a1 b1 d2 z3");
  assert_int_equal(walk.depth[2], 1); /* d also reads t itself */
  assert_int_equal(walk.n_cycles, 0);
  assert_string_equal(walk_text(&arena, graph, GRAPH_UP, "d", &walk), "a1 b1 t2 x2");
  assert_string_equal(walk_text(&arena, graph, GRAPH_DOWN, "z", &walk), "");
}

static void cycles_are_named(void **state) {
  ARENA_SCOPED arena = {0};
  GraphWalk walk;
  Graph *graph = drawn(&arena, "ta ab bc ca cd uv vu");
  assert_string_equal(walk_text(&arena, graph, GRAPH_DOWN, "t", &walk), "a1 b1 c1 d2");
  assert_int_equal(walk.n_cycles, 1);
  assert_string_equal(graph_cycle_text(&arena, graph, &walk.cycles[0]), "a → b → c → a");
  /* One that leads back to the start. */
  assert_string_equal(walk_text(&arena, graph, GRAPH_DOWN, "u", &walk), "u1 v1");
  assert_int_equal(walk.n_cycles, 1);
}

static void one_chain_of_all_is_walked(void **state) {
  enum { LONG = 100000 };
  ARENA_SCOPED arena = {0};
  GraphWalk walk;
  Graph *graph = begin(&arena);
  NodeId before = add_relation(graph, "t");
  for (int i = 0; i < LONG; i++) {
    NodeId node = add_relation(graph, arena_printf(&arena, "n%d", i));
    link_nodes(graph, before, node);
    before = node;
  }
  graph_finish(graph);
  NodeId from = find_relation(&arena, graph, "t");
  graph_walk(&arena, graph, GRAPH_DOWN, &from, 1, &walk);
  assert_int_equal(walk.n, LONG);
  assert_int_equal(walk.level[LONG - 1], LONG);
}

/* Whatever the graph: every node that is reached stands once, and behind all that it reads unless both are in a ring.
 */
static void check_order(const Graph *graph, const GraphWalk *walk, NodeId from) {
  ARENA_SCOPED arena = {0};
  size_t n, n_edges;
  uint32_t *place = arena_array(&arena, graph_count(graph), sizeof *place);
  uint32_t *ring = arena_array(&arena, graph_count(graph), sizeof *ring);
  for (size_t i = 0; i < walk->n; i++) {
    assert_int_equal(place[walk->nodes[i]], 0);
    place[walk->nodes[i]] = (uint32_t)i + 1;
  }
  for (size_t i = 0; i < walk->n_cycles; i++)
    for (size_t k = 0; k < walk->cycles[i].n; k++) ring[walk->cycles[i].nodes[k]] = (uint32_t)i + 1;
  const GraphEdge *edges = graph_edges(graph, &n_edges);
  for (size_t i = 0; i < n_edges; i++) {
    NodeId a = edges[i].parent, b = edges[i].child;
    if (a != from && place[a] == 0) continue;
    assert_int_not_equal(place[b], 0);
    if (ring[a] != 0 && ring[a] == ring[b])
      assert_int_equal(walk->level[place[a] - 1], walk->level[place[b] - 1]);
    else if (a != from)
      assert_true(walk->level[place[a] - 1] < walk->level[place[b] - 1] && place[a] < place[b]);
  }
  /* Nothing but what an edge leads to. */
  for (size_t i = 0; i < walk->n; i++) {
    const uint32_t *in = graph_next(graph, GRAPH_UP, walk->nodes[i], &n);
    bool led = false;
    for (size_t k = 0; k < n; k++) led = led || edges[in[k]].parent == from || place[edges[in[k]].parent] != 0;
    assert_true(led);
  }
}

static void any_graph_is_in_order(void **state) {
  unsigned seed = 7;
  for (int round = 0; round < 300; round++) {
    ARENA_SCOPED arena = {0};
    Graph *graph = begin(&arena);
    int n = 2 + rand_r(&seed) % 30, n_edges = rand_r(&seed) % (n * 3);
    for (int i = 0; i < n; i++) add_relation(graph, arena_printf(&arena, "n%d", i));
    for (int i = 0; i < n_edges; i++) {
      NodeId a = (NodeId)(rand_r(&seed) % n), b = (NodeId)(rand_r(&seed) % n);
      if (round % 2 == 0 || a < b) link_nodes(graph, a, b);
    }
    graph_finish(graph);
    NodeId from = (NodeId)(rand_r(&seed) % n);
    GraphWalk walk;
    graph_walk(&arena, graph, GRAPH_DOWN, &from, 1, &walk);
    if (round % 2 == 1) assert_int_equal(walk.n_cycles, 0);
    check_order(graph, &walk, from);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_diamond_is_walked_once),
      cmocka_unit_test(cycles_are_named),
      cmocka_unit_test(one_chain_of_all_is_walked),
      cmocka_unit_test(any_graph_is_in_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
