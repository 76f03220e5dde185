#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lineage/dbt.h"
#include "lineage/lineage.h"

/*
 * Arbitrary bytes as a manifest and as a catalog of dbt, into one graph; whatever came in, the graph is whole, and
 * walking it from any node ends, with every node once.
 */

static void require(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "broken promise: %s\n", what);
  abort();
}

static void check_walk(Arena *arena, const Graph *graph, NodeId start) {
  GraphWalk walk;
  bool *met = arena_array(arena, graph_count(graph), sizeof *met);
  graph_walk(arena, graph, GRAPH_DOWN, &start, 1, &walk);
  for (size_t i = 0; i < walk.n; i++) {
    require(walk.nodes[i] < graph_count(graph) && !met[walk.nodes[i]], "a node once");
    require(walk.depth[i] >= 1 && (walk.n_cycles > 0 || walk.depth[i] <= walk.level[i]),
            "the shortest way, the longest");
    require(i == 0 || walk.level[i - 1] <= walk.level[i], "parents first");
    met[walk.nodes[i]] = true;
  }
}

static void check_graph(Arena *arena, const Graph *graph) {
  enum { WALKED = 20 };
  size_t n, n_edges;
  const GraphEdge *edges = graph_edges(graph, &n_edges);
  for (size_t i = 0; i < n_edges; i++)
    require(edges[i].parent < graph_count(graph) && edges[i].child < graph_count(graph) &&
                edges[i].parent != edges[i].child,
            "the ends of an edge");
  const GraphSource *sources = graph_sources(graph, &n);
  require(n == 2, "both sources are there");
  for (NodeId node = 0; node < graph_count(graph); node++) {
    const GraphNode *facts = graph_at(graph, node);
    require(facts->shown != NULL, "a name to show");
    if (facts->compiled_length > 0) dbt_compiled(arena, &sources[facts->compiled_source], facts);
    if (node < WALKED) check_walk(arena, graph, node);
    const LineageTest *tests;
    size_t n_tests;
    lineage_tests(arena, graph, node, &tests, &n_tests);
  }
  if (graph_count(graph) == 0) return;
  BlastRadius radius;
  lineage_radius(arena, graph, NULL, &(LineageAsk){.target = graph_at(graph, 0)->shown}, &radius);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ARENA_SCOPED arena = {0};
  char path[64];
  int fd = memfd_create("manifest", 0);
  require(fd >= 0 && write(fd, data, size) == (ssize_t)size, "a file");
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  Graph *graph = graph_new(&arena);
  dbt_read_manifest(graph, path);
  dbt_read_catalog(graph, path);
  graph_finish(graph);
  check_graph(&arena, graph);
  close(fd);
  return 0;
}
