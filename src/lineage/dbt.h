#ifndef TIDEGATE_LINEAGE_DBT_H
#define TIDEGATE_LINEAGE_DBT_H

#include "lineage/lineage.h"

/* dbt's artefacts: manifest.json of versions 4 to 12 (dbt 1.0 and later), and catalog.json. */

/* Reads one manifest into the graph, as a source of its own. What cannot be read is said in the source. */
void dbt_read_manifest(Graph *graph, const char *path);

/* The names that the database has, by unique_id. */
void dbt_read_catalog(Graph *graph, const char *path);

/* The compiled SQL that a manifest holds at that place; NULL when the file is another by now, or there is none. */
const char *dbt_compiled(Arena *arena, const GraphSource *source, const GraphNode *node);

/* The tests that dbt has of a model's rows, as its manifest says them. */
void dbt_tests(Arena *arena, const Graph *graph, NodeId model, const LineageTest **ret, size_t *ret_n);

#endif
