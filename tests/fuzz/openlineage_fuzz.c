#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lineage/openlineage.h"

/* Arbitrary bytes, a line an event. Whatever they say, the graph is whole, and what was left out has its place. */

static void require(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "broken promise: %s\n", what);
  abort();
}

static void check(const Graph *graph) {
  size_t n, count = graph_count(graph);
  const GraphEdge *edges = graph_edges(graph, &n);
  for (size_t i = 0; i < n; i++) {
    require(edges[i].parent < count && edges[i].child < count && edges[i].parent != edges[i].child, "ends");
    require(edges[i].columns == NULL || edges[i].n_columns == 0 || edges[i].columns[0] != NULL, "columns");
  }
  const GraphSource *sources = graph_sources(graph, &n);
  require(n == 1 && sources[0].covers != NULL, "covers");
  require(sources[0].failed == NULL || strstr(sources[0].failed, "any:") != NULL, "place");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ARENA_SCOPED arena = {0};
  Graph *graph = graph_new(&arena);
  OpenLineage *reading = openlineage_begin(graph, "any");
  int line = 1;
  for (size_t at = 0; at < size; line++) {
    const uint8_t *end = memchr(data + at, '\n', size - at);
    size_t n = end == NULL ? size - at : (size_t)(end - data) - at;
    openlineage_add(reading, "any", line, (const char *)data + at, n);
    at += n + 1;
  }
  openlineage_end(reading);
  graph_finish(graph);
  check(graph);
  return 0;
}
