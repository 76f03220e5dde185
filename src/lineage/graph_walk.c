#include <stdlib.h>
#include <strings.h>

#include "base/buf.h"
#include "lineage/graph_int.h"

/* Tarjan's strongly connected components, with a stack of its own: a million edges may be one chain. */

typedef struct Frame {
  NodeId node;
  uint32_t at; /* the next of its edges */
} Frame;

typedef struct Walker {
  Arena *arena;
  const Graph *graph;
  GraphWay way;
  bool *start;
  uint32_t *depth, *level; /* by node; depth 0: not reached */
  uint32_t *order, *low;   /* Tarjan's; order 0: not visited */
  uint32_t *ring;          /* by node: its component, from 1 */
  uint32_t n_visited, n_rings;
  NodeId *open; /* Tarjan's stack */
  size_t n_open;
  NodeId *closed; /* nodes by component, the furthest first */
  size_t n_closed;
} Walker;

static NodeId end_of(const Walker *walker, uint32_t edge) {
  const GraphEdge *found = &walker->graph->edges[edge];
  return walker->way == GRAPH_DOWN ? found->child : found->parent;
}

static void find_depths(Walker *walker, const NodeId *starts, size_t n_starts) {
  NodeId *queue = arena_array(walker->arena, graph_count(walker->graph) + n_starts + 1, sizeof *queue);
  size_t n = 0, n_next;
  for (size_t i = 0; i < n_starts; i++) queue[n++] = starts[i];
  for (size_t at = 0; at < n; at++) {
    const uint32_t *next = graph_next(walker->graph, walker->way, queue[at], &n_next);
    for (size_t i = 0; i < n_next; i++) {
      NodeId end = end_of(walker, next[i]);
      if (walker->depth[end] != 0) continue;
      walker->depth[end] = (at < n_starts ? 0 : walker->depth[queue[at]]) + 1;
      if (!walker->start[end]) queue[n++] = end;
    }
  }
}

/* All of the component whose root is `node` come off the stack. */
static void close_ring(Walker *walker, NodeId node) {
  NodeId member;
  walker->n_rings++;
  do {
    member = walker->open[--walker->n_open];
    walker->ring[member] = walker->n_rings;
    walker->closed[walker->n_closed++] = member;
  } while (member != node);
}

static void enter(Walker *walker, Frame *frame, NodeId node) {
  walker->order[node] = walker->low[node] = ++walker->n_visited;
  walker->open[walker->n_open++] = node;
  *frame = (Frame){.node = node};
}

static void find_rings(Walker *walker, NodeId start) {
  Frame *frames = arena_array(walker->arena, graph_count(walker->graph) + 1, sizeof *frames);
  size_t n = 1, n_next;
  enter(walker, &frames[0], start);
  while (n > 0) {
    Frame *frame = &frames[n - 1];
    const uint32_t *next = graph_next(walker->graph, walker->way, frame->node, &n_next);
    if (frame->at < n_next) {
      NodeId end = end_of(walker, next[frame->at++]);
      if (walker->order[end] == 0)
        enter(walker, &frames[n++], end);
      else if (walker->ring[end] == 0 && walker->order[end] < walker->low[frame->node])
        walker->low[frame->node] = walker->order[end];
      continue;
    }
    NodeId node = frame->node;
    if (walker->low[node] == walker->order[node]) close_ring(walker, node);
    n--;
    if (n > 0 && walker->low[node] < walker->low[frames[n - 1].node])
      walker->low[frames[n - 1].node] = walker->low[node];
  }
}

/* The longest way, component by component from the starts on: the last closed is the first. */
static void find_levels(Walker *walker) {
  uint32_t *level = arena_array(walker->arena, walker->n_rings + 1, sizeof *level);
  size_t n_next;
  for (size_t to = walker->n_closed, from; to > 0; to = from) {
    uint32_t ring = walker->ring[walker->closed[to - 1]];
    for (from = to - 1; from > 0 && walker->ring[walker->closed[from - 1]] == ring; from--) continue;
    if (to - from > 1 && level[ring] == 0) level[ring] = 1; /* a ring through a start */
    for (size_t i = from; i < to; i++) {
      NodeId node = walker->closed[i];
      walker->level[node] = level[ring];
      const uint32_t *next = graph_next(walker->graph, walker->way, node, &n_next);
      for (size_t k = 0; k < n_next; k++) {
        uint32_t other = walker->ring[end_of(walker, next[k])];
        if (other != ring && level[other] < level[ring] + 1) level[other] = level[ring] + 1;
      }
    }
  }
}

typedef struct Sorted {
  NodeId node;
  uint32_t level, ring;
  const char *name;
} Sorted;

static int by_level(const void *left, const void *right) {
  const Sorted *a = left, *b = right;
  if (a->level != b->level) return a->level < b->level ? -1 : 1;
  if (a->ring != b->ring) { /* by the name of the component's first */
    int order = strcasecmp(a->name, b->name);
    return order != 0 ? order : a->ring < b->ring ? -1 : 1;
  }
  return (a->node > b->node) - (a->node < b->node);
}

/* Every component goes by the name of its first node. */
static const char **ring_names(const Walker *walker) {
  const char **names = arena_array(walker->arena, walker->n_rings + 1, sizeof *names);
  for (size_t i = 0; i < walker->n_closed; i++) {
    const char *name = graph_at(walker->graph, walker->closed[i])->shown;
    const char **best = &names[walker->ring[walker->closed[i]]];
    if (*best == NULL || strcasecmp(name, *best) < 0) *best = name;
  }
  return names;
}

static void put_order(const Walker *walker, GraphWalk *ret) {
  const char **names = ring_names(walker);
  Sorted *sorted = arena_array(walker->arena, walker->n_closed + 1, sizeof *sorted);
  size_t n = 0;
  for (size_t i = 0; i < walker->n_closed; i++) {
    NodeId node = walker->closed[i];
    if (walker->depth[node] == 0) continue;
    sorted[n++] = (Sorted){node, walker->level[node], walker->ring[node], names[walker->ring[node]]};
  }
  qsort(sorted, n, sizeof *sorted, by_level);
  NodeId *nodes = arena_array(walker->arena, n, sizeof *nodes);
  uint32_t *level = arena_array(walker->arena, n, sizeof *level), *depth = arena_array(walker->arena, n, sizeof *depth);
  for (size_t i = 0; i < n; i++) {
    nodes[i] = sorted[i].node;
    level[i] = sorted[i].level;
    depth[i] = walker->depth[sorted[i].node];
  }
  *ret = (GraphWalk){.nodes = nodes, .level = level, .depth = depth, .n = n};
}

static bool reads(const Walker *walker, NodeId from, uint32_t ring, const bool *used, NodeId *ret) {
  size_t n_next;
  const uint32_t *next = graph_next(walker->graph, walker->way, from, &n_next);
  for (size_t i = 0; i < n_next; i++) {
    NodeId end = end_of(walker, next[i]);
    if (walker->ring[end] != ring || used[end]) continue;
    *ret = end;
    return true;
  }
  return false;
}

/* The members in the order in which one leads to the next, as far as it does. */
static void put_cycles(const Walker *walker, GraphWalk *ret) {
  GraphCycle *cycles = NULL;
  bool *used = arena_array(walker->arena, graph_count(walker->graph) + 1, sizeof *used);
  for (size_t from = 0, to; from < walker->n_closed; from = to) {
    uint32_t ring = walker->ring[walker->closed[from]];
    for (to = from + 1; to < walker->n_closed && walker->ring[walker->closed[to]] == ring; to++) continue;
    if (to - from < 2) continue;
    NodeId *nodes = arena_array(walker->arena, to - from, sizeof *nodes);
    size_t n = 0;
    for (size_t i = to; i > from; i--) {
      for (NodeId node = walker->closed[i - 1]; !used[node];) {
        used[node] = true;
        nodes[n++] = node;
        if (!reads(walker, node, ring, used, &node)) break;
      }
    }
    cycles = arena_grow(walker->arena, cycles, ret->n_cycles, sizeof *cycles);
    cycles[ret->n_cycles++] = (GraphCycle){.nodes = nodes, .n = n};
  }
  ret->cycles = cycles;
}

void graph_walk(Arena *arena, const Graph *graph, GraphWay way, const NodeId *starts, size_t n_starts, GraphWalk *ret) {
  size_t n = graph_count(graph) + 1;
  ARENA_SCOPED scratch = {0};
  Walker walker = {.arena = &scratch, .graph = graph, .way = way};
  walker.start = arena_array(&scratch, n, sizeof *walker.start);
  walker.depth = arena_array(&scratch, n, sizeof *walker.depth);
  walker.level = arena_array(&scratch, n, sizeof *walker.level);
  walker.order = arena_array(&scratch, n, sizeof *walker.order);
  walker.low = arena_array(&scratch, n, sizeof *walker.low);
  walker.ring = arena_array(&scratch, n, sizeof *walker.ring);
  walker.open = arena_array(&scratch, n, sizeof *walker.open);
  walker.closed = arena_array(&scratch, n, sizeof *walker.closed);
  for (size_t i = 0; i < n_starts; i++) walker.start[starts[i]] = true;
  find_depths(&walker, starts, n_starts);
  for (size_t i = 0; i < n_starts; i++)
    if (walker.order[starts[i]] == 0) find_rings(&walker, starts[i]);
  find_levels(&walker);
  walker.arena = arena;
  put_order(&walker, ret);
  put_cycles(&walker, ret);
}

const char *graph_cycle_text(Arena *arena, const Graph *graph, const GraphCycle *cycle) {
  enum { SHOWN = 12 };
  BUF_SCOPED text = {0};
  for (size_t i = 0; i < cycle->n && i < SHOWN; i++)
    buf_printf(&text, "%s → ", graph_at(graph, cycle->nodes[i])->shown);
  if (cycle->n > SHOWN) buf_printf(&text, "… %zu more → ", cycle->n - SHOWN);
  buf_puts(&text, graph_at(graph, cycle->nodes[0])->shown);
  return arena_strdup(arena, buf_text(&text));
}
