#include "lineage/dbt.h"

/* A build without yajl. */

static void say(Graph *graph, const char *reader, const char *path) {
  graph_begin(graph, &(GraphSource){.reader = reader,
                                    .path = path,
                                    .failed = "this build of Tidegate cannot read it: it was made without yajl"});
}

void dbt_read_manifest(Graph *graph, const char *path) { say(graph, "dbt manifest", path); }

void dbt_read_catalog(Graph *graph, const char *path) { say(graph, "dbt catalog", path); }

void dbt_tests(Arena *arena, const Graph *graph, NodeId model, const LineageTest **ret, size_t *ret_n) {
  *ret = NULL;
  *ret_n = 0;
}

const char *dbt_compiled(Arena *arena, const GraphSource *source, const GraphNode *node) { return NULL; }
