#ifndef TIDEGATE_LINEAGE_GRAPH_INT_H
#define TIDEGATE_LINEAGE_GRAPH_INT_H

#include "lineage/graph.h"

/* Private to graph.c, graph_join.c and graph_walk.c. */

/* One key under which a node is known: a relation, or a space and an id. */
typedef struct GraphKey {
  GraphName name;       /* of the two halves only one is set */
  NodeId node;          /* before graph_finish: as it was given out; after: the final id */
  uint32_t same;        /* the next key of a relation with this table; GRAPH_NONE: none */
  uint32_t hash, table; /* of the whole name, and of the table alone */
} GraphKey;

/* A growing array in pieces that never move. */
enum { PIECE_BITS = 10, PIECE = 1 << PIECE_BITS };
typedef struct Pieces {
  Arena *arena;
  char **pieces;
  size_t n, item;
} Pieces;

static inline void *pieces_at(const Pieces *pieces, size_t i) {
  return pieces->pieces[i >> PIECE_BITS] + (i & (PIECE - 1)) * pieces->item;
}

/* Open addressing; slots hold an index + 1, 0 is free. */
typedef struct HashIndex {
  uint32_t *slots;
  size_t size; /* a power of two, or 0 */
  size_t n;
} HashIndex;

struct Graph {
  Arena *arena;
  Arena building; /* freed by graph_finish */
  bool finished;
  Pieces nodes;       /* GraphNode */
  Pieces keys;        /* GraphKey */
  HashIndex by_name;  /* over keys, by the whole name */
  HashIndex by_table; /* over keys, by the table alone: the first of a chain */
  Pieces drafts;      /* GraphEdge, while building */
  Pieces pairs;       /* GraphPair, while building */
  GraphSource *sources;
  size_t n_sources;
  uint32_t current;
  const char **blinds;
  size_t n_blinds;
  GraphJoin *joins;
  size_t n_joins, joins_left_out;
  GraphEdge *edges;
  size_t n_edges;
  uint32_t *first[2], *next[2]; /* by GraphWay: where a node's edges begin, and their indices */
};

/* Two nodes that are one. */
typedef struct GraphPair {
  NodeId a, b;
  const char *rule;
} GraphPair;

/* ASCII letters fold; everything else counts as it is. NULL equals NULL alone. */
bool graph_text_equal(const char *a, const char *b);
/* The first key of the chain of that table, or GRAPH_NONE. */
uint32_t graph_chain(const Graph *graph, const char *table);
/* A relation or an id as a person writes it. */
const char *graph_name_text(Arena *arena, const GraphName *name);

/* graph_join.c: which nodes are one. Gives by node of the building its final id, and merges what is known of them. */
NodeId *graph_join_names(Graph *graph);

#endif
