#include <stdlib.h>
#include <string.h>

#include "view/impact_int.h"
#include "view/words.h"

/* From the graph of lineage to what is shown of it. */

#define NOT_SHOWN UINT32_MAX
enum { MOST_JOINS = 200 };

typedef struct Making {
  Arena *arena;
  const ImpactAsk *ask;
  ImpactFacts *facts;
  ImpactNode *nodes;
  NodeId *ids;     /* of each node that is shown */
  uint32_t *shown; /* by NodeId: its node, or NOT_SHOWN */
} Making;

static const char *age_text(const Making *making, Instant at) {
  if (at == 0 || making->ask->now == 0) return NULL;
  if (at >= making->ask->now) return "made now";
  return arena_printf(making->arena, "%s old", words_duration(making->arena, (double)(making->ask->now - at)));
}

static const char *range_text(const Making *making, DateRange range, Grain grain) {
  char label[96];
  const Zone *zone = making->ask->zone == NULL ? zone_utc() : making->ask->zone;
  date_range_label(&range, grain, zone, label);
  return arena_strdup(making->arena, label);
}

static void set_range(const Making *making, const LineageNode *from, ImpactNode *ret) {
  const Zone *zone = making->ask->zone == NULL ? zone_utc() : making->ask->zone;
  char first[32], last[32];
  grain_label(from->grain, zone, from->range.from, first);
  grain_label(from->grain, zone, grain_floor(from->grain, zone, from->range.to - 1), last);
  ret->first = arena_strdup(making->arena, first);
  ret->last = arena_strdup(making->arena, last);
  ret->grain = grain_name(from->grain);
  ret->assumed = from->assumed;
  if (from->needs == NEEDS_NOTHING || from->needs == NEEDS_FOLLOWS) return;
  ret->range = arena_printf(making->arena, "%s%s", range_text(making, from->range, from->grain),
                            from->assumed ? " (assumed)" : "");
}

/* What the graph itself says of a node. */
static ImpactNode node_of(const Making *making, const Graph *graph, NodeId id) {
  const GraphNode *node = graph_at(graph, id);
  return (ImpactNode){.name = node->shown,
                      .kind = node->kind,
                      .reader = graph_readers(making->arena, graph, id),
                      .place = node->file == NULL || node->line == 0
                                   ? node->file
                                   : arena_printf(making->arena, "%s:%d", node->file, node->line),
                      .age = age_text(making, node->at),
                      .owner = node->owner};
}

static void put_node(Making *making, const ImpactNode *node, NodeId id) {
  making->nodes = arena_grow(making->arena, making->nodes, making->facts->n, sizeof *making->nodes);
  making->ids = arena_grow(making->arena, making->ids, making->facts->n, sizeof *making->ids);
  making->nodes[making->facts->n] = *node;
  making->ids[making->facts->n] = id;
  if (id != GRAPH_NONE) making->shown[id] = (uint32_t)making->facts->n;
  making->facts->n++;
}

static void put_target(Making *making, const BlastRadius *radius) {
  ImpactNode target = {.name = making->ask->target};
  if (radius->target != GRAPH_NONE) target = node_of(making, radius->graph, radius->target);
  target.needs = NEEDS_NOTHING;
  making->facts->known = radius->finding == NULL;
  making->facts->finding = radius->finding;
  put_node(making, &target, radius->target);
}

static void put_downstream(Making *making, const BlastRadius *radius) {
  for (size_t i = 0; i < radius->n; i++) {
    const LineageNode *from = &radius->nodes[i];
    if (from->needs == NEEDS_NOTHING && making->ask->leave_out) {
      making->facts->left_out++;
      continue;
    }
    ImpactNode node = node_of(making, radius->graph, from->id);
    node.name = from->name;
    node.kind = from->kind;
    node.reader = from->reader;
    node.needs = from->needs;
    node.why = from->why;
    node.level = from->level;
    node.depth = from->depth;
    if (from->ranged) set_range(making, from, &node);
    put_node(making, &node, from->id);
  }
  making->facts->cycles = radius->cycles;
  making->facts->n_cycles = radius->n_cycles;
}

static void put_upstream(Making *making, const BlastRadius *radius) {
  GraphWalk walk;
  if (radius->target == GRAPH_NONE) return;
  graph_walk(making->arena, radius->graph, GRAPH_UP, &radius->target, 1, &walk);
  for (size_t i = 0; i < walk.n; i++) {
    if (walk.nodes[i] == radius->target) continue;
    ImpactNode node = node_of(making, radius->graph, walk.nodes[i]);
    node.needs = NEEDS_NOTHING;
    node.level = walk.level[i];
    node.depth = walk.depth[i];
    put_node(making, &node, walk.nodes[i]);
  }
  const char **cycles = arena_array(making->arena, walk.n_cycles, sizeof *cycles);
  for (size_t i = 0; i < walk.n_cycles; i++)
    cycles[i] = graph_cycle_text(making->arena, radius->graph, &walk.cycles[i]);
  making->facts->cycles = cycles;
  making->facts->n_cycles = walk.n_cycles;
}

static int by_ends(const void *left, const void *right) {
  const ImpactArrow *a = left, *b = right;
  if (a->near != b->near) return a->near < b->near ? -1 : 1;
  return a->far < b->far ? -1 : a->far > b->far;
}

static const char *columns_text(Arena *arena, const GraphEdge *edge) {
  const char *text = NULL;
  for (uint32_t i = 0; i < edge->n_columns; i++)
    text = text == NULL ? edge->columns[i] : arena_printf(arena, "%s, %s", text, edge->columns[i]);
  return text;
}

static void put_arrows(Making *making, const Graph *graph) {
  GraphWay way = making->facts->upstream ? GRAPH_UP : GRAPH_DOWN;
  size_t n_edges, n = 0, kept = 0;
  const GraphEdge *edges = graph_edges(graph, &n_edges);
  ImpactArrow *arrows = NULL;
  for (size_t near = 0; near < making->facts->n; near++) {
    size_t n_next;
    if (making->ids[near] == GRAPH_NONE) continue;
    const uint32_t *next = graph_next(graph, way, making->ids[near], &n_next);
    for (size_t i = 0; i < n_next; i++) {
      const GraphEdge *edge = &edges[next[i]];
      uint32_t far = making->shown[way == GRAPH_UP ? edge->parent : edge->child];
      if (far == NOT_SHOWN) continue;
      arrows = arena_grow(making->arena, arrows, n, sizeof *arrows);
      arrows[n++] = (ImpactArrow){near, far, columns_text(making->arena, edge), edge->via};
    }
  }
  if (n > 1) qsort(arrows, n, sizeof *arrows, by_ends);
  for (size_t i = 0; i < n; i++)
    if (kept == 0 || by_ends(&arrows[kept - 1], &arrows[i]) != 0) arrows[kept++] = arrows[i];
  making->facts->arrows = arrows;
  making->facts->n_arrows = kept;
}

static void put_sources(Making *making, const BlastRadius *radius) {
  size_t n, n_joins;
  const GraphSource *from = graph_sources(radius->graph, &n);
  const GraphJoin *joins = graph_joins(radius->graph, &n_joins);
  ImpactSource *sources = arena_array(making->arena, n, sizeof *sources);
  const char **texts = NULL;
  ImpactFacts *facts = making->facts;
  for (size_t i = 0; i < n; i++)
    sources[i] = (ImpactSource){.reader = from[i].reader,
                                .path = from[i].path,
                                .covers = from[i].covers,
                                .age = age_text(making, from[i].made_at),
                                .failed = from[i].failed};
  facts->sources = sources;
  facts->n_sources = n;
  for (size_t i = 0; i < n_joins && facts->n_joins < MOST_JOINS; i++) {
    if (joins[i].node == GRAPH_NONE || making->shown[joins[i].node] == NOT_SHOWN) continue;
    texts = arena_grow(making->arena, texts, facts->n_joins, sizeof *texts);
    texts[facts->n_joins++] = arena_printf(making->arena, "%s (%s)", joins[i].what, joins[i].rule);
  }
  facts->joins = texts;
  facts->blind = radius->blind;
  facts->n_blind = radius->n_blind;
}

void impact_facts(Arena *arena, const BlastRadius *radius, const ImpactAsk *ask, ImpactFacts *ret) {
  ImpactFacts facts = {.upstream = ask->upstream, .columns = ask->columns};
  size_t count = graph_count(radius->graph);
  Making making = {.arena = arena, .ask = ask, .facts = &facts, .shown = arena_array(arena, count, sizeof(uint32_t))};
  for (size_t i = 0; i < count; i++) making.shown[i] = NOT_SHOWN;
  if (ask->ranged) facts.range = range_text(&making, ask->range, ask->grain);
  put_target(&making, radius);
  if (ask->upstream)
    put_upstream(&making, radius);
  else
    put_downstream(&making, radius);
  facts.nodes = making.nodes;
  put_arrows(&making, radius->graph);
  put_sources(&making, radius);
  *ret = facts;
}
