#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "lineage/graph_int.h"

/* The edges of a finished graph: one a pair of nodes, and the indices by which both directions are walked. */

/* Sorts drafts by child within parent, in two counting passes: the earlier of equals first. */
static GraphEdge **sorted_drafts(Graph *graph, size_t n_nodes) {
  size_t n = graph->drafts.n;
  Arena *arena = &graph->building;
  GraphEdge **now = arena_array(arena, n + 1, sizeof *now), **then = arena_array(arena, n + 1, sizeof *then);
  for (size_t i = 0; i < n; i++) now[i] = pieces_at(&graph->drafts, i);
  for (int pass = 0; pass < 2; pass++) {
    size_t *place = arena_array(arena, n_nodes + 1, sizeof *place);
    for (size_t i = 0; i < n; i++) place[(pass == 0 ? now[i]->child : now[i]->parent) + 1]++;
    for (size_t i = 0; i < n_nodes; i++) place[i + 1] += place[i];
    for (size_t i = 0; i < n; i++) then[place[pass == 0 ? now[i]->child : now[i]->parent]++] = now[i];
    GraphEdge **swap = now;
    now = then;
    then = swap;
  }
  return now;
}

/* Both lists in one. */
static void merge_columns(Arena *arena, GraphEdge *edge, const GraphEdge *more) {
  if (edge->columns == NULL) {
    edge->columns = more->columns;
    edge->n_columns = more->n_columns;
    return;
  }
  const char **columns = arena_array(arena, edge->n_columns + more->n_columns, sizeof *columns);
  uint32_t n = edge->n_columns;
  memcpy(columns, edge->columns, n * sizeof *columns);
  for (uint32_t i = 0; i < more->n_columns; i++) {
    bool known = false;
    for (uint32_t k = 0; k < n && !known; k++) known = graph_text_equal(columns[k], more->columns[i]);
    if (!known) columns[n++] = more->columns[i];
  }
  edge->columns = columns;
  edge->n_columns = n;
}

/* The edge as the sources before `source` have it. */
typedef struct Before {
  uint32_t source, n_columns;
  const char *const *columns;
  bool unknown; /* `source` has an edge of unknown columns, beside which its others say nothing */
} Before;

/* What one source does not know, another may; but of two statements of one source each reads its own columns. */
static void merge_by_source(Arena *arena, GraphEdge *edge, const GraphEdge *more, Before *before) {
  if (more->source != before->source)
    *before = (Before){.source = more->source, .n_columns = edge->n_columns, .columns = edge->columns};
  before->unknown = before->unknown || more->columns == NULL;
  if (!before->unknown) {
    merge_columns(arena, edge, more);
  } else {
    edge->columns = before->columns;
    edge->n_columns = before->n_columns;
  }
}

static void merge_edge(Arena *arena, GraphEdge *edge, const GraphEdge *more, Before *before) {
  if (edge->via == NULL)
    edge->via = more->via;
  else if (more->via != NULL && strcmp(edge->via, more->via) != 0 && strlen(edge->via) < 500)
    edge->via = arena_printf(arena, "%s; %s", edge->via, more->via);
  merge_by_source(arena, edge, more, before);
}

static void index_edges(Graph *graph, size_t n_nodes) {
  size_t n = graph->n_edges;
  for (int way = 0; way < 2; way++) {
    uint32_t *first = arena_array(graph->arena, n_nodes + 2, sizeof *first);
    uint32_t *next = arena_array(graph->arena, n + 1, sizeof *next);
    /* first[i + 1] counts, then says where the next edge of i goes, and ends as the start of i + 1's. */
    for (size_t i = 0; i < n; i++) first[(way == GRAPH_DOWN ? graph->edges[i].parent : graph->edges[i].child) + 2]++;
    for (size_t i = 0; i < n_nodes; i++) first[i + 2] += first[i + 1];
    for (size_t i = 0; i < n; i++)
      next[first[(way == GRAPH_DOWN ? graph->edges[i].parent : graph->edges[i].child) + 1]++] = (uint32_t)i;
    graph->first[way] = first;
    graph->next[way] = next;
  }
}

static void finish_edges(Graph *graph, const NodeId *final) {
  size_t n_nodes = graph->nodes.n, n = 0;
  for (size_t i = 0; i < graph->drafts.n; i++) {
    GraphEdge *draft = pieces_at(&graph->drafts, i);
    draft->parent = final[draft->parent];
    draft->child = final[draft->child];
  }
  Before before = {0};
  GraphEdge **drafts = sorted_drafts(graph, n_nodes);
  GraphEdge *edges = arena_array(graph->arena, graph->drafts.n + 1, sizeof *edges);
  for (size_t i = 0; i < graph->drafts.n; i++) {
    GraphEdge *last = n == 0 ? NULL : &edges[n - 1];
    if (drafts[i]->parent == drafts[i]->child)
      graph_facts(graph, drafts[i]->child)->reads_itself = true;
    else if (last != NULL && last->parent == drafts[i]->parent && last->child == drafts[i]->child)
      merge_edge(graph->arena, last, drafts[i], &before);
    else {
      edges[n++] = *drafts[i];
      before = (Before){.source = drafts[i]->source, .unknown = drafts[i]->columns == NULL};
    }
  }
  graph->edges = edges;
  graph->n_edges = n;
  index_edges(graph, n_nodes);
}

void graph_finish(Graph *graph) {
  NodeId *final = graph_join_names(graph);
  finish_edges(graph, final);
  if (graph->joins_left_out > 0)
    graph_blind(graph, "%zu more names that were joined are not listed", graph->joins_left_out);
  graph->drafts = graph->pairs = (Pieces){0};
  arena_release(&graph->building);
  graph->finished = true;
}

size_t graph_count(const Graph *graph) { return graph->nodes.n; }

const GraphNode *graph_at(const Graph *graph, NodeId node) { return pieces_at(&graph->nodes, node); }

const GraphEdge *graph_edges(const Graph *graph, size_t *ret_n) {
  *ret_n = graph->n_edges;
  return graph->edges;
}

const GraphSource *graph_sources(const Graph *graph, size_t *ret_n) {
  *ret_n = graph->n_sources;
  return graph->sources;
}

const char *const *graph_blinds(const Graph *graph, size_t *ret_n) {
  *ret_n = graph->n_blinds;
  return graph->blinds;
}

const GraphJoin *graph_joins(const Graph *graph, size_t *ret_n) {
  *ret_n = graph->n_joins;
  return graph->joins;
}

const char *graph_readers(Arena *arena, const Graph *graph, NodeId node) {
  BUF_SCOPED text = {0};
  uint64_t known = graph_at(graph, node)->sources;
  for (size_t i = 0; i < graph->n_sources; i++) {
    if ((known >> i & 1) == 0) continue;
    const char *reader = graph->sources[i].reader;
    bool told = false;
    for (size_t k = 0; k < i && !told; k++)
      told = (known >> k & 1) != 0 && strcmp(graph->sources[k].reader, reader) == 0;
    if (!told) buf_printf(&text, "%s%s", text.len == 0 ? "" : ", ", reader);
  }
  return arena_strdup(arena, buf_text(&text));
}

const uint32_t *graph_next(const Graph *graph, GraphWay way, NodeId node, size_t *ret_n) {
  const uint32_t *first = graph->first[way];
  *ret_n = first[node + 1] - first[node];
  return graph->next[way] + first[node];
}
