#ifndef TIDEGATE_LINEAGE_OPENLINEAGE_INT_H
#define TIDEGATE_LINEAGE_OPENLINEAGE_INT_H

#include "base/buf.h"
#include "base/hash.h"
#include "lineage/graph.h"

/* Private to openlineage*.c. */

typedef struct OlColumns {
  NodeId input;
  const char **names;
  size_t n;
} OlColumns;

typedef struct OlOutput {
  NodeId node;
  OlColumns *columns; /* by input */
  size_t n;
  bool indirect; /* whoever made them says which columns filter and join as well: only then are they all of them */
} OlOutput;

typedef enum OlEnd { OL_COMPLETE, OL_FAILED, OL_GOING } OlEnd;

/* Everything said of one run. Texts are the graph's. */
typedef struct OlRun {
  RowHash hash; /* of namespace, job and run */
  const char *space, *job;
  const char *type, *sql, *url, *owner, *schedule, *dbt_id;
  Instant at;
  OlEnd end;
  NodeId *inputs;
  size_t n_inputs;
  OlOutput *outputs;
  size_t n_outputs;
} OlRun;

struct OpenLineage {
  Graph *graph;
  Arena *arena;  /* the graph's */
  Arena scratch; /* freed at the end */
  const char *path;
  uint32_t source;
  OlRun *runs;
  size_t n_runs;
  uint32_t *slots; /* open addressing: index in runs + 1, 0 is free */
  size_t n_slots;
  size_t n_seen, n_events, n_faults; /* what may be events; those that are; what is wrong */
  Instant newest;
  Buf faults; /* the first few */
};

/* What the Marquez server at the URL knows. */
void openlineage_ask(Graph *graph, const char *url);

#endif
