#include <string.h>
#include <strings.h>

#include "lineage/readers.h"

/* From a finished graph to what each node downstream needs: parents first, so that theirs is known. */

/* What is known so far of a node of the walk, or of the target. */
typedef struct Reached {
  bool in;      /* it is one of them */
  bool touched; /* rows of it change, or may */
  bool target;
  bool ranged, assumed;
  uint32_t ring; /* of the walk's cycles, from 1 */
  DateRange range;
  Grain grain;
} Reached;

typedef struct Radius {
  Arena *arena;
  const Graph *graph;
  const LineageAsk *ask;
  const GraphEdge *edges;
  const GraphWalk *walk;
  Reached *reached;    /* by node */
  size_t to_look_into; /* so many more models' SQL may be read */
} Radius;

static void add_range(NeedsCase *given, const Reached *parent) {
  given->assumed = given->assumed || parent->assumed;
  given->ranged = given->ranged && parent->ranged;
  if (!parent->ranged) return;
  if (parent->grain > given->grain) given->grain = parent->grain;
  if (parent->range.from < given->range.from) given->range.from = parent->range.from;
  if (parent->range.to > given->range.to) given->range.to = parent->range.to;
}

static bool has_column(const LineageAsk *ask, const char *const *columns, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    for (size_t k = 0; k < ask->n_columns; k++)
      if (strcasecmp(columns[i], ask->columns[k]) == 0) return true;
  return false;
}

/* Which columns change is known of the target alone: of what is made from it, any may. */
static bool is_touched_by(Radius *radius, const GraphEdge *edge) {
  const Reached *parent = &radius->reached[edge->parent];
  const char *const *columns = edge->columns;
  uint32_t n = edge->n_columns;
  if (!parent->touched) return false;
  if (!parent->target || radius->ask->columns == NULL) return true;
  if (columns == NULL) {
    if (radius->to_look_into == 0) return true;
    radius->to_look_into--;
    if (!lineage_model_columns(radius->arena, radius->graph, edge, &columns, &n)) return true;
  }
  return has_column(radius->ask, columns, n);
}

static const char *join_via(const Radius *radius, const char *via, const GraphEdge *edge) {
  enum { LONG = 300 };
  const char *more = edge->via;
  if (more == NULL) more = arena_printf(radius->arena, "reads %s", graph_at(radius->graph, edge->parent)->shown);
  if (via == NULL) return more;
  return strlen(via) > LONG ? via : arena_printf(radius->arena, "%s; %s", via, more);
}

/* In a ring nobody knows what is to be made first, nor which dates come back to where they began. */
static void in_ring(Radius *radius, LineageNode *node, NeedsCase *given) {
  const GraphCycle *cycle = &radius->walk->cycles[radius->reached[node->id].ring - 1];
  given->ranged = false;
  needs_judge(given, node);
  if (node->needs == NEEDS_CASCADE || node->needs == NEEDS_REBUILD) node->needs = NEEDS_PERSON;
  node->why =
      arena_printf(radius->arena, "they read one another: %s", graph_cycle_text(radius->arena, radius->graph, cycle));
}

static void judge(Radius *radius, LineageNode *node) {
  Reached *own = &radius->reached[node->id];
  NeedsCase given = {.arena = radius->arena,
                     .ask = radius->ask,
                     .node = graph_at(radius->graph, node->id),
                     .ranged = radius->ask->ranged,
                     .range = {INT64_MAX, INT64_MIN}};
  bool touched = own->ring != 0;
  size_t n;
  const uint32_t *in = graph_next(radius->graph, GRAPH_UP, node->id, &n);
  for (size_t i = 0; i < n; i++) {
    const GraphEdge *edge = &radius->edges[in[i]];
    if (!radius->reached[edge->parent].in) continue;
    node->parents++;
    node->via = join_via(radius, node->via, edge);
    if (!is_touched_by(radius, edge)) continue;
    touched = true;
    add_range(&given, &radius->reached[edge->parent]);
  }
  if (touched) given.node = lineage_dated(radius->arena, radius->graph, node->id, &radius->to_look_into);
  if (own->ring != 0) {
    in_ring(radius, node, &given);
  } else if (touched) {
    needs_judge(&given, node);
  } else {
    node->needs = NEEDS_NOTHING;
    node->why = "it reads no column that changes";
  }
  own->touched = touched && node->needs != NEEDS_NOTHING;
  own->ranged = node->ranged;
  own->assumed = node->assumed;
  own->range = node->range;
  own->grain = node->grain;
}

static LineageNode new_node(const Radius *radius, size_t at) {
  NodeId id = radius->walk->nodes[at];
  const GraphNode *facts = graph_at(radius->graph, id);
  return (LineageNode){.name = facts->shown,
                       .kind = facts->kind != NULL ? facts->kind : "table",
                       .reader = graph_readers(radius->arena, radius->graph, id),
                       .id = id,
                       .level = radius->walk->level[at],
                       .depth = radius->walk->depth[at],
                       .at = facts->at};
}

static bool is_test(const LineageNode *node) { return strcmp(node->kind, "test") == 0; }

static void judge_all(Radius *radius, BlastRadius *ret) {
  const GraphWalk *walk = radius->walk;
  LineageNode *nodes = arena_array(radius->arena, walk->n, sizeof *nodes);
  for (size_t i = 0; i < walk->n; i++) radius->reached[walk->nodes[i]].in = true;
  for (size_t i = 0; i < walk->n_cycles; i++)
    for (size_t k = 0; k < walk->cycles[i].n; k++) radius->reached[walk->cycles[i].nodes[k]].ring = (uint32_t)i + 1;
  for (size_t i = 0; i < walk->n; i++) {
    if (radius->reached[walk->nodes[i]].target) continue;
    LineageNode node = new_node(radius, i);
    judge(radius, &node);
    if (!is_test(&node)) nodes[ret->n++] = node;
  }
  ret->nodes = nodes;
}

static void put_cycles(const Radius *radius, BlastRadius *ret) {
  const char **cycles = arena_array(radius->arena, radius->walk->n_cycles, sizeof *cycles);
  for (; ret->n_cycles < radius->walk->n_cycles; ret->n_cycles++)
    cycles[ret->n_cycles] = graph_cycle_text(radius->arena, radius->graph, &radius->walk->cycles[ret->n_cycles]);
  ret->cycles = cycles;
}

void lineage_radius(Arena *arena, const Graph *graph, const Engine *engine, const LineageAsk *ask, BlastRadius *ret) {
  BlastRadius found = {.graph = graph, .target = GRAPH_NONE};
  size_t n_starts, n_edges;
  GraphWalk walk;
  const NodeId *starts =
      ask->start != NULL ? ask->start : lineage_targets(arena, graph, engine, ask->target, &n_starts, &found.finding);
  if (ask->start != NULL) n_starts = 1;
  enum { LOOK_INTO = 2000 };
  Radius radius = {.arena = arena, .graph = graph, .ask = ask, .walk = &walk, .to_look_into = LOOK_INTO};
  radius.edges = graph_edges(graph, &n_edges);
  radius.reached = arena_array(arena, graph_count(graph) + 1, sizeof *radius.reached);
  for (size_t i = 0; i < n_starts; i++)
    radius.reached[starts[i]] = (Reached){
        .in = true, .touched = true, .target = true, .ranged = ask->ranged, .range = ask->range, .grain = ask->grain};
  if (n_starts > 0) found.target = starts[0];
  graph_walk(arena, graph, GRAPH_DOWN, starts, n_starts, &walk);
  judge_all(&radius, &found);
  put_cycles(&radius, &found);
  lineage_coverage(arena, graph, &found);
  *ret = found;
}
