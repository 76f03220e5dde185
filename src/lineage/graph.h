#ifndef TIDEGATE_LINEAGE_GRAPH_H
#define TIDEGATE_LINEAGE_GRAPH_H

#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "time/grain.h"

/*
 * Who reads whom, from every source there is, in one graph. A reader begins its source, names nodes and draws edges;
 * the same name gives the same node. graph_finish then joins what several sources call by different names, and from
 * then on the graph is only read. Arrays and indices throughout: 100,000 nodes and 1,000,000 edges are ordinary.
 */

typedef uint32_t NodeId;
#define GRAPH_NONE UINT32_MAX
enum { GRAPH_MAX_SOURCES = 64 };

/* One name of a node. Texts are copied. */
typedef struct GraphName {
  const char *database, *schema,
      *table;             /* a relation, unquoted; database and schema NULL: not said; table NULL: none */
  const char *space, *id; /* any other identity: "dbt" and a unique_id; "openlineage:NAMESPACE" and a name;
                           * "declared" and what a person wrote. NULL: none */
} GraphName;

/* What is known of a node. NULL, 0, false: not known. Texts are the arena's, or literals. */
typedef struct GraphNode {
  GraphName name;    /* the fullest relation that any source gave, and the first other identity */
  const char *shown; /* as a person knows it: schema.table, else the bare name of a dashboard, metric, … */
  const char *kind;  /* table, view, materialized view, model, seed, snapshot, source, test, exposure, metric,
                      * semantic model, saved query, dashboard, export, job, trigger, foreign key, function … */
  const char *needs; /* a person's or the catalogue's own word on it (needs_name); NULL: by the rules in needs.c */
  const char *file;  /* where it is written, as the source says: models/marts/daily.sql */
  int line;
  const char *materialization; /* table, view, incremental, ephemeral, materialized_view, snapshot, … */
  const char *strategy;        /* append, merge, delete+insert, insert_overwrite, microbatch */
  const char *unique_key;      /* columns, comma between */
  const char *event_time;      /* the column that holds its dates */
  const char *begin; /* its job makes no dates before this one, unless it is told others: 2013-02-15T00:00:00 */
  bool never_whole;  /* its tool is told never to make it anew as a whole */
  const char *owner, *url;
  const char *package; /* the dbt project, or the like */
  const char *sql;     /* what makes it, where the reader keeps it at hand: graph_compiled asks for it */
  bool disabled;
  bool has_grain, reads_itself, cumulative;
  Grain grain;            /* of its dates, when has_grain */
  int lookback;           /* its job recomputes so many dates more at each run */
  int window;             /* a row reads the parents' rows of so many dates before its own as well (7-day rolling: 6) */
  int window_days;        /* the same in days, whatever the grain of its dates */
  int earlier_days;       /* a row reads the parents' rows of so many days behind its own as well */
  const char *whole;      /* why no range of its own will do: all its dates hang on all that it reads; NULL: one will */
  const char *range_from; /* who said the above of its dates: "tidegate.yaml", "its SQL", "batch_size" */
  Instant at;             /* when its newest source was made, or the run that wrote it; 0: not known */
  uint64_t sources;       /* bit i: source i knows it */
  int64_t compiled_at, compiled_length; /* where the reader's file holds its compiled SQL, still escaped; 0: nowhere */
  int64_t test_at, test_length;         /* of a test of dbt's: where all that its manifest says of it stands */
  int compiled_source;
} GraphNode;

/* parent is read by child. */
typedef struct GraphEdge {
  NodeId parent, child;
  const char *via; /* how, when it is more than reading: "ON DELETE CASCADE", "job nightly_load"; NULL: reads */
  const char *const *columns; /* of the parent, that the child reads; NULL: not known, all may be */
  uint32_t n_columns;
  uint32_t source;
} GraphEdge;

/* What was read. */
typedef struct GraphSource {
  const char *reader; /* catalogue, tidegate.yaml, dbt manifest, dbt catalog, OpenLineage, SQL text */
  const char *path;   /* file, folder or URL without secrets; NULL: the database itself */
  const char *covers; /* "120 models, 3 exposures of the project jaffle" */
  Instant made_at;    /* when it was written; 0: it is as of now */
  const char *failed; /* why it could not be read, or not wholly: then it is blind there; NULL: it was read */
  int64_t stamp;      /* by which its reader knows the file again */
} GraphSource;

/* Two names were taken for one node, or could not be. */
typedef struct GraphJoin {
  NodeId node;
  const char *what, *rule; /* "flights.public.daily = public.daily", "same schema and table, and no other has them" */
  bool doubtful;           /* several nodes have the name: they are kept apart */
} GraphJoin;

typedef struct Graph Graph;

/* ---- building ---------------------------------------------------------------------------------------------------- */

Graph *graph_new(Arena *arena);

/* What follows is said by this source. Returns its index; graph_source to set covers or failed later. */
uint32_t graph_begin(Graph *graph, const GraphSource *source);
GraphSource *graph_source(Graph *graph, uint32_t source);

/* The node of that name, made if new. Case is kept and does not matter. */
NodeId graph_node(Graph *graph, const GraphName *name);
/* The node of that name, or GRAPH_NONE. While building: the exact name; when finished: also by fewer parts, if it is
 * one node only (*ret_doubtful: it is several). ret_doubtful may be NULL. */
NodeId graph_find(const Graph *graph, const GraphName *name, bool *ret_doubtful);
/* One more name of a node: a dbt model's relation beside its unique_id, a symlink of OpenLineage. If another node has
 * it, both are joined by graph_finish. */
void graph_alias(Graph *graph, NodeId node, const GraphName *name, const char *rule);

/* What is known of it, to be filled in, until graph_finish. What a later source sets wins. */
GraphNode *graph_facts(Graph *graph, NodeId node);

/* The arena that everything lives in. */
Arena *graph_arena(Graph *graph);
/* parent, child, via, columns, n_columns are read. via and columns must live in the graph's arena. */
void graph_edge(Graph *graph, const GraphEdge *edge);
/* Something that was not read, to stand after "not read: ". */
void graph_blind(Graph *graph, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Splits "db"."schema"."table", schema.table, `a.b.c`, [a].[b] into a relation; quotes of any dialect go. */
GraphName graph_relation(Arena *arena, const char *text);

/* Joins names, merges double edges, builds the indices; node ids change. To be called exactly once, whatever went wrong
 * before: it frees what building needed. Nothing may be added afterwards. */
void graph_finish(Graph *graph);

/* ---- reading a finished graph: ids run from 0 to graph_count − 1 ------------------------------------------------- */

size_t graph_count(const Graph *graph);
const GraphNode *graph_at(const Graph *graph, NodeId node);
const GraphEdge *graph_edges(const Graph *graph, size_t *ret_n);
const GraphSource *graph_sources(const Graph *graph, size_t *ret_n);
const char *const *graph_blinds(const Graph *graph, size_t *ret_n);
const GraphJoin *graph_joins(const Graph *graph, size_t *ret_n);
/* "dbt manifest, catalogue": the readers that know the node. */
const char *graph_readers(Arena *arena, const Graph *graph, NodeId node);

typedef enum GraphWay { GRAPH_DOWN, GRAPH_UP } GraphWay;

/* The edges that leave a node that way: indices into graph_edges. */
const uint32_t *graph_next(const Graph *graph, GraphWay way, NodeId node, size_t *ret_n);

/* Nodes that read one another in a ring, one of which is reachable. */
typedef struct GraphCycle {
  const NodeId *nodes;
  size_t n;
} GraphCycle;

/* What is reached from the starts; of themselves only those that are read by what is reached. */
typedef struct GraphWalk {
  const NodeId *nodes; /* every parent before its children (upstream: every child before its parents); within a level by
                        * name; those of a cycle beside one another */
  const uint32_t *level; /* the longest way from a start, from 1: nodes of a level do not read one another */
  const uint32_t *depth; /* the shortest way, from 1 */
  size_t n;
  const GraphCycle *cycles;
  size_t n_cycles;
} GraphWalk;

/* starts: nodes, none of them GRAPH_NONE. */
void graph_walk(Arena *arena, const Graph *graph, GraphWay way, const NodeId *starts, size_t n_starts, GraphWalk *ret);

/* The cycle as text: "a → b → a". */
const char *graph_cycle_text(Arena *arena, const Graph *graph, const GraphCycle *cycle);

#endif
