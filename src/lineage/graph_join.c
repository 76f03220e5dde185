#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "lineage/graph_int.h"

/*
 * The same table under different names is one node. The rules, in this order:
 *   1. a source gave both names to one thing (unique_id and relation, symlinks);
 *   2. the same schema and table, one name without a database, and no second database has them;
 *   3. the same table, one name without a schema, and no second schema has it.
 * Where several nodes could be meant, they stay apart, and that is said. Of names that both say their schema, none is
 * taken for the other.
 */

enum { MAX_JOINS = 1000 };

typedef struct Joining {
  Graph *graph;
  NodeId *root; /* union-find over the nodes of the building */
} Joining;

static NodeId root_of(Joining *joining, NodeId node) {
  while (joining->root[node] != node) {
    joining->root[node] = joining->root[joining->root[node]];
    node = joining->root[node];
  }
  return node;
}

static void add_part(Buf *buf, const char *part) {
  if (part == NULL) return;
  if (buf->len > 0) buf_putc(buf, '.');
  buf_puts(buf, part);
}

const char *graph_name_text(Arena *arena, const GraphName *name) {
  if (name->table == NULL) return name->id == NULL ? "?" : name->id;
  BUF_SCOPED buf = {0};
  add_part(&buf, name->database);
  add_part(&buf, name->schema);
  add_part(&buf, name->table);
  return arena_strdup(arena, buf_text(&buf));
}

static void tell(Joining *joining, NodeId node, const char *what, const char *rule, bool doubtful) {
  Graph *graph = joining->graph;
  if (graph->n_joins == MAX_JOINS) {
    graph->joins_left_out++;
    return;
  }
  graph->joins = arena_grow(graph->arena, graph->joins, graph->n_joins, sizeof *graph->joins);
  graph->joins[graph->n_joins++] = (GraphJoin){.node = node, .what = what, .rule = rule, .doubtful = doubtful};
}

/* The smaller id stays, so that ids keep the order in which nodes were named. */
static void unite(Joining *joining, NodeId a, NodeId b, const char *what, const char *rule) {
  NodeId x = root_of(joining, a), y = root_of(joining, b);
  if (x == y) return;
  NodeId stays = x < y ? x : y;
  joining->root[x < y ? y : x] = stays;
  if (what != NULL) tell(joining, stays, what, rule, false);
}

static const char *equation(const Joining *joining, const GraphName *a, const GraphName *b) {
  Arena *arena = joining->graph->arena;
  return arena_printf(arena, "%s = %s", graph_name_text(arena, a), graph_name_text(arena, b));
}

static void unite_pairs(Joining *joining) {
  const Graph *graph = joining->graph;
  for (size_t i = 0; i < graph->pairs.n; i++) {
    const GraphPair *pair = pieces_at(&graph->pairs, i);
    const GraphNode *a = pieces_at(&graph->nodes, pair->a), *b = pieces_at(&graph->nodes, pair->b);
    if (root_of(joining, pair->a) == root_of(joining, pair->b)) continue;
    unite(joining, pair->a, pair->b, equation(joining, &a->name, &b->name), pair->rule);
  }
}

static int compare(const char *a, const char *b) {
  if (a == NULL || b == NULL) return (a != NULL) - (b != NULL);
  return strcasecmp(a, b);
}

static int by_schema(const void *left, const void *right) {
  const GraphKey *a = *(const GraphKey *const *)left, *b = *(const GraphKey *const *)right;
  int order = compare(a->name.schema, b->name.schema);
  if (order == 0) order = compare(a->name.database, b->name.database);
  return order != 0 ? order : (a->node > b->node) - (a->node < b->node);
}

/* Is keys[0] the name of one of keys[1 … n) already? Then the others are others, and that is said. */
static bool is_joined(Joining *joining, const GraphKey *const *keys, size_t n) {
  const GraphKey *same = NULL, *other = NULL;
  const NodeId own = root_of(joining, keys[0]->node);
  for (size_t i = 1; i < n; i++) {
    const GraphKey **which = root_of(joining, keys[i]->node) == own ? &same : &other;
    if (*which == NULL) *which = keys[i];
  }
  if (same == NULL || other == NULL) return same != NULL;
  Arena *arena = joining->graph->arena;
  const char *what = equation(joining, &keys[0]->name, &same->name);
  tell(joining, own, arena_printf(arena, "%s, and not %s", what, graph_name_text(arena, &other->name)),
       "one source gives both names", false);
  return true;
}

/* The first of keys[1 … n) is what keys[0] says less of: is it one node? Else it is doubtful. */
static void join_shorter(Joining *joining, const GraphKey *const *keys, size_t n, const char *rule) {
  if (n < 2 || is_joined(joining, keys, n)) return;
  const NodeId first = root_of(joining, keys[1]->node), own = root_of(joining, keys[0]->node);
  for (size_t i = 2; i < n; i++) {
    if (root_of(joining, keys[i]->node) == first) continue;
    const char *what = equation(joining, &keys[0]->name, &keys[1]->name);
    Arena *arena = joining->graph->arena;
    tell(joining, own, arena_printf(arena, "%s, or %s", what, graph_name_text(arena, &keys[i]->name)),
         "several have that name, so they are kept apart", true);
    return;
  }
  unite(joining, own, first, equation(joining, &keys[1]->name, &keys[0]->name), rule);
}

/* All keys of one table, sorted. */
static void join_table(Joining *joining, const GraphKey *const *keys, size_t n) {
  for (size_t from = 0, to; from < n; from = to) {
    for (to = from + 1; to < n && compare(keys[to]->name.schema, keys[from]->name.schema) == 0; to++) continue;
    if (keys[from]->name.schema != NULL && keys[from]->name.database == NULL)
      join_shorter(joining, keys + from, to - from, "the same schema and table, and no other database has them");
  }
  if (keys[0]->name.schema == NULL && keys[0]->name.database == NULL)
    join_shorter(joining, keys, n, "the same table, and no other schema has one of that name");
}

static void join_tables(Joining *joining) {
  Graph *graph = joining->graph;
  const GraphKey **keys = arena_array(&graph->building, graph->keys.n + 1, sizeof(GraphKey *));
  for (size_t slot = 0; slot < graph->by_table.size; slot++) {
    size_t n = 0;
    for (uint32_t i = graph->by_table.slots[slot] - 1; i != GRAPH_NONE;) {
      const GraphKey *key = pieces_at(&graph->keys, i);
      keys[n++] = key;
      i = key->same;
    }
    if (n < 2) continue;
    qsort(keys, n, sizeof *keys, by_schema);
    join_table(joining, keys, n);
  }
}

/* ---- what is known of them --------------------------------------------------------------------------------------- */

#define TAKE(field) \
  if (over ? more->field != 0 : node->field == 0) node->field = more->field

static int parts(const GraphName *name) {
  return (name->table != NULL) + (name->schema != NULL) + (name->database != NULL);
}

/* What `more` knows: over what is there when its source is the later one. "table" says less than any other kind. */
static void merge_node(GraphNode *node, const GraphNode *more) {
  bool over = more->sources > node->sources;
  if (parts(&more->name) > parts(&node->name)) {
    node->name.database = more->name.database;
    node->name.schema = more->name.schema;
    node->name.table = more->name.table;
  }
  if (node->name.id == NULL) {
    node->name.space = more->name.space;
    node->name.id = more->name.id;
  }
  if (more->kind != NULL &&
      (node->kind == NULL || strcmp(node->kind, "table") == 0 || (over && strcmp(more->kind, "table") != 0)))
    node->kind = more->kind;
  if (over ? more->range_from != NULL : node->range_from == NULL) {
    node->has_grain = more->has_grain;
    node->grain = more->grain;
    node->lookback = more->lookback;
    node->window = more->window;
    node->window_days = more->window_days;
    node->earlier_days = more->earlier_days;
    node->whole = more->whole;
    node->cumulative = more->cumulative;
    node->range_from = more->range_from;
  }
  if (over ? more->compiled_length > 0 : node->compiled_length == 0) {
    node->compiled_at = more->compiled_at;
    node->compiled_length = more->compiled_length;
    node->compiled_source = more->compiled_source;
  }
  TAKE(test_at);
  TAKE(test_length);
  TAKE(shown);
  TAKE(needs);
  if (over ? more->file != NULL : node->file == NULL) node->line = more->line;
  TAKE(file);
  TAKE(materialization);
  TAKE(strategy);
  TAKE(unique_key);
  TAKE(event_time);
  TAKE(begin);
  TAKE(never_whole);
  TAKE(owner);
  TAKE(url);
  TAKE(package);
  TAKE(sql);
  node->disabled = node->disabled && more->disabled;
  node->reads_itself = node->reads_itself || more->reads_itself;
  if (more->at > node->at) node->at = more->at;
  node->sources |= more->sources;
}

static void show(Graph *graph, GraphNode *node) {
  if (node->shown != NULL) return;
  const GraphName *name = &node->name;
  if (name->table != NULL && name->schema != NULL)
    node->shown = arena_printf(graph->arena, "%s.%s", name->schema, name->table);
  else
    node->shown = name->table != NULL ? name->table : graph_name_text(graph->arena, name);
}

/* Final ids, without gaps. A root has the smallest id of its set, so it never moves over one that is still needed. */
static NodeId *compact(Joining *joining) {
  Graph *graph = joining->graph;
  NodeId *final = arena_array(&graph->building, graph->nodes.n + 1, sizeof *final);
  size_t n = 0;
  for (size_t i = 0; i < graph->nodes.n; i++) {
    NodeId root = root_of(joining, (NodeId)i);
    GraphNode *node = pieces_at(&graph->nodes, i);
    if (root != i) {
      final[i] = final[root];
      merge_node(pieces_at(&graph->nodes, final[i]), node);
      continue;
    }
    final[i] = (NodeId)n;
    if (n != i) *(GraphNode *)pieces_at(&graph->nodes, n) = *node;
    n++;
  }
  graph->nodes.n = n;
  return final;
}

NodeId *graph_join_names(Graph *graph) {
  Joining joining = {.graph = graph, .root = arena_array(&graph->building, graph->nodes.n + 1, sizeof(NodeId))};
  for (size_t i = 0; i < graph->nodes.n; i++) joining.root[i] = (NodeId)i;
  unite_pairs(&joining);
  join_tables(&joining);
  NodeId *final = compact(&joining);
  for (size_t i = 0; i < graph->keys.n; i++) {
    GraphKey *key = pieces_at(&graph->keys, i);
    key->node = final[key->node];
  }
  for (size_t i = 0; i < graph->n_joins; i++) graph->joins[i].node = final[graph->joins[i].node];
  for (size_t i = 0; i < graph->nodes.n; i++) show(graph, pieces_at(&graph->nodes, i));
  return final;
}
