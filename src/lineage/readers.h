#ifndef TIDEGATE_LINEAGE_READERS_H
#define TIDEGATE_LINEAGE_READERS_H

#include "lineage/lineage.h"

/*
 * The private header of the room: a reader a source, all into one graph. A reader begins a source (graph_begin) for
 * each file, folder or URL, and says in it what it covers. What cannot be read is no error: the source's `failed` says
 * why, with file:line, and what was read of it stays. False: the database did not answer.
 */
typedef struct LineageCase {
  Arena *arena; /* the graph's */
  Engine *engine;
  const char *target; /* as the engine spells it */
  const Spec *spec;
  Graph *graph;
} LineageCase;

typedef bool LineageReader(LineageCase *reading, Error *err);

LineageReader lineage_read_catalogue; /* what the database itself knows: views, triggers, foreign keys */
LineageReader lineage_read_declared;  /* what a person listed under `downstream` */

LineageReader lineage_read_dbt;         /* the manifests and catalogs of dbt that tidegate.yaml names */
LineageReader lineage_read_openlineage; /* events from files, folders and Marquez */
LineageReader lineage_read_sql;         /* folders of .sql files, in the dialect of the engine */

/* overrides.c: what `lineage: overrides` says of grain, lookback, window, cumulative. Last, in a graph not yet
 * finished. */
LineageReader lineage_read_overrides;

/* The node of a table's name as the engine spells it. */
NodeId lineage_table(LineageCase *reading, const char *name);
/* Sets a node's own word on what it needs; of two words of one source the heavier stays. */
void lineage_needs(GraphNode *node, const char *word);

/* coverage.c: the nodes that the target's name may mean, the likeliest first; *ret_finding when they are several. */
const NodeId *lineage_targets(Arena *arena, const Graph *graph, const Engine *engine, const char *target, size_t *ret_n,
                              const char **ret_finding);
/* Sets blind, finding and uncovered: what was read, and whether it is enough. */
void lineage_coverage(Arena *arena, const Graph *graph, BlastRadius *radius);

/* dated.c: the node, with what its compiled SQL says of its dates when no source does. Reads at most *left manifests'
 * places. */
const GraphNode *lineage_dated(Arena *arena, const Graph *graph, NodeId node, size_t *left);

/* dated.c: the columns of its parent that a dbt model reads, by its compiled SQL; false: not known. */
bool lineage_model_columns(Arena *arena, const Graph *graph, const GraphEdge *edge, const char *const **ret,
                           uint32_t *ret_n);

/* needs.c: what a node needs whose parents' dates in `dates` (half-open) changed, and its own dates that are wrong. */
typedef struct NeedsCase {
  Arena *arena;
  const LineageAsk *ask;
  const GraphNode *node;
  bool ranged, assumed; /* of the parents */
  DateRange range;      /* theirs together */
  Grain grain;          /* the coarsest of theirs: that of its own dates, unless they are cut */
} NeedsCase;
void needs_judge(const NeedsCase *given, LineageNode *ret);

#endif
