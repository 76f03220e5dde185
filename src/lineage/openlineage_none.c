#include "lineage/readers.h"

/* In a build without the feature `openlineage`. */

bool lineage_read_openlineage(LineageCase *reading, Error *err) {
  const SpecTexts *paths = &reading->spec->lineage.openlineage;
  for (size_t i = 0; i < paths->n; i++)
    graph_begin(reading->graph,
                &(GraphSource){.reader = "OpenLineage",
                               .path = paths->items[i].text,
                               .failed = "this build cannot read it (-Dopenlineage=enabled needs jansson)"});
  return true;
}
