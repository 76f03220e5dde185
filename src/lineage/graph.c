#include "lineage/graph.h"

#include <stdarg.h>
#include <string.h>

#include "lineage/graph_int.h"

/* Building: names to nodes by hashing. */

/* A new item, zeroed. */
static void *pieces_add(Pieces *pieces) {
  size_t piece = pieces->n >> PIECE_BITS;
  if ((pieces->n & (PIECE - 1)) == 0) {
    pieces->pieces = arena_grow(pieces->arena, pieces->pieces, piece, sizeof *pieces->pieces);
    pieces->pieces[piece] = arena_array(pieces->arena, PIECE, pieces->item);
  }
  return pieces_at(pieces, pieces->n++);
}

static unsigned char folded(char c) {
  unsigned char byte = (unsigned char)c;
  return byte >= 'A' && byte <= 'Z' ? (unsigned char)(byte + ('a' - 'A')) : byte;
}

bool graph_text_equal(const char *a, const char *b) {
  if (a == NULL || b == NULL) return a == b;
  if (a == b) return true;
  for (; *a != '\0' && folded(*a) == folded(*b); a++) b++;
  return folded(*a) == folded(*b);
}

/* FNV-1a, with a byte between the parts that no text has. */
static uint64_t mix(uint64_t hash, const char *text) {
  const uint64_t prime = UINT64_C(0x100000001b3);
  hash = (hash ^ 0xff) * prime;
  if (text == NULL) return hash;
  hash = (hash ^ 0xfe) * prime;
  for (; *text != '\0'; text++) hash = (hash ^ folded(*text)) * prime;
  return hash;
}

static uint64_t name_hash(const GraphName *name) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  hash = mix(mix(mix(hash, name->database), name->schema), name->table);
  return mix(mix(hash, name->space), name->id);
}

static uint64_t table_hash(const char *table) { return mix(UINT64_C(0xcbf29ce484222325), table); }

static bool same_name(const GraphName *a, const GraphName *b) {
  return graph_text_equal(a->table, b->table) && graph_text_equal(a->schema, b->schema) &&
         graph_text_equal(a->database, b->database) && graph_text_equal(a->id, b->id) &&
         graph_text_equal(a->space, b->space);
}

static GraphKey *key_at(const Graph *graph, size_t i) { return pieces_at(&graph->keys, i); }

static uint32_t spread(uint64_t hash) { return (uint32_t)(hash ^ (hash >> 32)); }

/* The slot of a key, or the free one where it would stand. Texts are compared only where the hashes are the same. */
static uint32_t *name_slot(const Graph *graph, const GraphName *name, uint32_t hash) {
  const HashIndex *index = &graph->by_name;
  size_t i = hash & (index->size - 1);
  for (; index->slots[i] != 0; i = (i + 1) & (index->size - 1)) {
    const GraphKey *key = key_at(graph, index->slots[i] - 1);
    if (key->hash == hash && same_name(&key->name, name)) break;
  }
  return &index->slots[i];
}

static uint32_t *table_slot(const Graph *graph, const char *table, uint32_t hash) {
  const HashIndex *index = &graph->by_table;
  size_t i = hash & (index->size - 1);
  for (; index->slots[i] != 0; i = (i + 1) & (index->size - 1)) {
    const GraphKey *key = key_at(graph, index->slots[i] - 1);
    if (key->table == hash && graph_text_equal(key->name.table, table)) break;
  }
  return &index->slots[i];
}

static void grow(Graph *graph, HashIndex *index, bool tables) {
  if ((index->n + 1) * 2 <= index->size) return;
  HashIndex old = *index;
  index->size = old.size == 0 ? 64 : old.size * 2;
  index->slots = arena_array(graph->arena, index->size, sizeof *index->slots);
  for (size_t i = 0; i < old.size; i++) {
    if (old.slots[i] == 0) continue;
    /* What was there is different from one another: the next free slot is right. */
    const GraphKey *key = key_at(graph, old.slots[i] - 1);
    size_t at = (tables ? key->table : key->hash) & (index->size - 1);
    while (index->slots[at] != 0) at = (at + 1) & (index->size - 1);
    index->slots[at] = old.slots[i];
  }
}

Graph *graph_new(Arena *arena) {
  Graph *graph = arena_alloc(arena, sizeof *graph);
  graph->arena = arena;
  graph->nodes = (Pieces){.arena = arena, .item = sizeof(GraphNode)};
  graph->keys = (Pieces){.arena = arena, .item = sizeof(GraphKey)};
  graph->drafts = (Pieces){.arena = &graph->building, .item = sizeof(GraphEdge)};
  graph->pairs = (Pieces){.arena = &graph->building, .item = sizeof(GraphPair)};
  graph->sources = arena_array(arena, GRAPH_MAX_SOURCES, sizeof *graph->sources);
  return graph;
}

Arena *graph_arena(Graph *graph) { return graph->arena; }

uint32_t graph_begin(Graph *graph, const GraphSource *source) {
  /* The last bit stands for all that come after; what was wrong with one of them is kept. */
  if (graph->n_sources < GRAPH_MAX_SOURCES) graph->n_sources++;
  graph->current = (uint32_t)graph->n_sources - 1;
  const GraphSource *before = &graph->sources[graph->current];
  if (before->failed != NULL)
    graph_blind(graph, "%s %s: %s", before->reader, before->path == NULL ? "" : before->path, before->failed);
  graph->sources[graph->current] = *source;
  return graph->current;
}

GraphSource *graph_source(Graph *graph, uint32_t source) { return &graph->sources[source]; }

/* Of a name that holds a relation and an id, one of them. */
static GraphName half_of(const GraphName *name, bool relation) {
  if (relation) return (GraphName){.database = name->database, .schema = name->schema, .table = name->table};
  return (GraphName){.space = name->space, .id = name->id};
}

static NodeId find_half(const Graph *graph, const GraphName *half) {
  if (graph->by_name.size == 0 || (half->table == NULL && half->id == NULL)) return GRAPH_NONE;
  uint32_t slot = *name_slot(graph, half, spread(name_hash(half)));
  return slot == 0 ? GRAPH_NONE : key_at(graph, slot - 1)->node;
}

static void add_key(Graph *graph, const GraphName *half, NodeId node) {
  grow(graph, &graph->by_name, false);
  GraphKey *key = pieces_add(&graph->keys);
  *key = (GraphKey){.name = *half, .node = node, .same = GRAPH_NONE, .hash = spread(name_hash(half))};
  *name_slot(graph, half, key->hash) = (uint32_t)graph->keys.n;
  graph->by_name.n++;
  if (half->table == NULL) return;
  grow(graph, &graph->by_table, true);
  key->table = spread(table_hash(half->table));
  uint32_t *slot = table_slot(graph, half->table, key->table);
  if (*slot == 0)
    graph->by_table.n++;
  else
    key->same = *slot - 1;
  *slot = (uint32_t)graph->keys.n;
}

/* Databases and schemas repeat from node to node. */
static const char *kept(Graph *graph, const char *text, const char *before) {
  if (text == NULL) return NULL;
  return before != NULL && strcmp(before, text) == 0 ? before : arena_strdup(graph->arena, text);
}

static GraphName copy_name(Graph *graph, const GraphName *name) {
  const GraphName *before = graph->keys.n == 0 ? NULL : &key_at(graph, graph->keys.n - 1)->name;
  const GraphName *earlier = graph->keys.n < 2 ? before : &key_at(graph, graph->keys.n - 2)->name;
  const GraphName none = {0};
  if (before == NULL) before = earlier = &none;
  const GraphName *relation = before->table != NULL ? before : earlier;
  const GraphName *other = before->id != NULL ? before : earlier;
  return (GraphName){.database = kept(graph, name->database, relation->database),
                     .schema = kept(graph, name->schema, relation->schema),
                     .table = kept(graph, name->table, NULL),
                     .space = kept(graph, name->space, other->space),
                     .id = kept(graph, name->id, NULL)};
}

static NodeId new_node(Graph *graph, const GraphName *name) {
  GraphNode *node = pieces_add(&graph->nodes);
  *node = (GraphNode){.name = *name};
  return (NodeId)(graph->nodes.n - 1);
}

/* Adds the halves that are new; joins the node with those that have the others. */
static void name_node(Graph *graph, NodeId node, const GraphName *copy, const char *rule) {
  for (int relation = 1; relation >= 0; relation--) {
    GraphName half = half_of(copy, relation != 0);
    if (half.table == NULL && half.id == NULL) continue;
    NodeId found = find_half(graph, &half);
    if (found == GRAPH_NONE)
      add_key(graph, &half, node);
    else if (found != node)
      *(GraphPair *)pieces_add(&graph->pairs) = (GraphPair){.a = node, .b = found, .rule = rule};
  }
}

static void fill_name(GraphName *name, const GraphName *more) {
  if (name->table == NULL && more->table != NULL) {
    name->database = more->database;
    name->schema = more->schema;
    name->table = more->table;
  }
  if (name->id == NULL && more->id != NULL) {
    name->space = more->space;
    name->id = more->id;
  }
}

NodeId graph_node(Graph *graph, const GraphName *name) {
  GraphName relation = half_of(name, true), other = half_of(name, false);
  NodeId node = find_half(graph, &other);
  if (node == GRAPH_NONE) node = find_half(graph, &relation);
  bool whole = node != GRAPH_NONE && (name->table == NULL || find_half(graph, &relation) == node) &&
               (name->id == NULL || find_half(graph, &other) == node);
  if (!whole) {
    GraphName copy = copy_name(graph, name);
    if (node == GRAPH_NONE) node = new_node(graph, &copy);
    name_node(graph, node, &copy, "one source gives both names to one thing");
    fill_name(&graph_facts(graph, node)->name, &copy);
  }
  if (graph->n_sources > 0) graph_facts(graph, node)->sources |= UINT64_C(1) << graph->current;
  return node;
}

void graph_alias(Graph *graph, NodeId node, const GraphName *name, const char *rule) {
  GraphName copy = copy_name(graph, name);
  name_node(graph, node, &copy, rule);
  fill_name(&graph_facts(graph, node)->name, &copy);
}

GraphNode *graph_facts(Graph *graph, NodeId node) { return pieces_at(&graph->nodes, node); }

void graph_edge(Graph *graph, const GraphEdge *edge) {
  if (edge->parent == edge->child) {
    graph_facts(graph, edge->child)->reads_itself = true;
    return;
  }
  GraphEdge *draft = pieces_add(&graph->drafts);
  *draft = *edge;
  draft->source = graph->current;
}

void graph_blind(Graph *graph, const char *format, ...) {
  va_list args;
  va_start(args, format);
  graph->blinds = arena_grow(graph->arena, graph->blinds, graph->n_blinds, sizeof *graph->blinds);
  graph->blinds[graph->n_blinds++] = arena_vprintf(graph->arena, format, args);
  va_end(args);
}

/* One part of a relation up to its dot; *text is moved behind the dot, or to the end. */
static const char *take_part(Arena *arena, const char **text) {
  const char *at = *text;
  char close = *at == '"' ? '"' : *at == '`' ? '`' : *at == '[' ? ']' : '\0';
  char *part = arena_alloc(arena, strlen(at) + 1);
  size_t n = 0;
  if (close != '\0') {
    for (at++; *at != '\0' && (*at != close || at[1] == close); at++) {
      if (*at == close) at++;
      part[n++] = *at;
    }
    if (*at == close) at++;
  }
  for (; *at != '\0' && *at != '.'; at++) part[n++] = *at;
  *text = *at == '.' ? at + 1 : at;
  return part;
}

GraphName graph_relation(Arena *arena, const char *text) {
  const char *parts[3] = {NULL, NULL, NULL};
  size_t n = 0;
  for (const char *rest = text; *rest != '\0'; n++) {
    const char *part = take_part(arena, &rest);
    /* Of a name of four parts (catalogue.database.schema.table) the last three. */
    if (n >= 3) {
      parts[0] = parts[1];
      parts[1] = parts[2];
    }
    parts[n < 3 ? n : 2] = part;
  }
  if (n == 0) return (GraphName){0};
  if (n == 1) return (GraphName){.table = parts[0]};
  if (n == 2) return (GraphName){.schema = parts[0], .table = parts[1]};
  return (GraphName){.database = parts[0], .schema = parts[1], .table = parts[2]};
}

uint32_t graph_chain(const Graph *graph, const char *table) {
  if (graph->by_table.size == 0) return GRAPH_NONE;
  return *table_slot(graph, table, spread(table_hash(table))) - 1; /* a free slot, 0, gives GRAPH_NONE */
}

static bool agrees(const char *a, const char *b) { return a == NULL || b == NULL || graph_text_equal(a, b); }

NodeId graph_find(const Graph *graph, const GraphName *name, bool *ret_doubtful) {
  GraphName relation = half_of(name, true), other = half_of(name, false);
  if (ret_doubtful != NULL) *ret_doubtful = false;
  NodeId found = find_half(graph, &other);
  if (found == GRAPH_NONE) found = find_half(graph, &relation);
  if (found != GRAPH_NONE || name->table == NULL || !graph->finished) return found;
  for (uint32_t i = graph_chain(graph, name->table); i != GRAPH_NONE; i = key_at(graph, i)->same) {
    const GraphKey *key = key_at(graph, i);
    if (!agrees(key->name.schema, name->schema) || !agrees(key->name.database, name->database)) continue;
    if (found != GRAPH_NONE && found != key->node && ret_doubtful != NULL) *ret_doubtful = true;
    if (found == GRAPH_NONE || key->node < found) found = key->node;
  }
  return found;
}
