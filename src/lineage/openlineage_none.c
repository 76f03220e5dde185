#include "lineage/openlineage.h"

/* In a build without the feature `openlineage`. */

void openlineage_read(Graph *graph, const char *path) {
  graph_begin(graph, &(GraphSource){
                         .reader = "OpenLineage",
                         .failed = "this build cannot read OpenLineage events (-Dopenlineage=enabled needs jansson)"});
}
