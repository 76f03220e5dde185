#include <string.h>

#include "lineage/graph_int.h"
#include "lineage/readers.h"

/* Coverage is said, never assumed: what was read, what was not, and whether the target is in it. */

/* What nobody reads, whatever was declared. */
static const char not_anywhere[] =
    "jobs, tables and dashboards that read the target and stand neither in the catalogue nor under `downstream`";

static bool is_catalogue(const GraphSource *source) { return strcmp(source->reader, "catalogue") == 0; }
/* A person's list says nothing of what the person forgot. */
static bool is_list(const GraphSource *source) { return strcmp(source->reader, "tidegate.yaml") == 0; }

static bool agrees(const char *a, const char *b) { return a == NULL || b == NULL || graph_text_equal(a, b); }

const NodeId *lineage_targets(Arena *arena, const Graph *graph, const Engine *engine, const char *target, size_t *ret_n,
                              const char **ret_finding) {
  GraphName name = lineage_relation(arena, engine, target);
  NodeId *found = NULL;
  *ret_n = 0;
  bool doubtful;
  NodeId exact = graph_find(graph, &name, &doubtful);
  if (exact == GRAPH_NONE) return NULL;
  if (name.schema == NULL && !doubtful) name.schema = graph_at(graph, exact)->name.schema;
  bool *known = arena_array(arena, graph_count(graph), sizeof *known);
  known[exact] = true;
  found = arena_grow(arena, found, 0, sizeof *found);
  found[(*ret_n)++] = exact;
  const char *others = NULL;
  for (uint32_t i = graph_chain(graph, name.table); i != GRAPH_NONE;) {
    const GraphKey *key = pieces_at(&graph->keys, i);
    i = key->same;
    if (!agrees(key->name.schema, name.schema) || !agrees(key->name.database, name.database) || known[key->node])
      continue;
    known[key->node] = true;
    found = arena_grow(arena, found, *ret_n, sizeof *found);
    found[(*ret_n)++] = key->node;
    const char *text = graph_name_text(arena, &key->name);
    if (others == NULL) others = graph_name_text(arena, &graph_at(graph, exact)->name);
    others = arena_printf(arena, "%.400s, %s", others, text);
  }
  if (others != NULL)
    *ret_finding = arena_printf(arena, "%s may be any of these: %s; what reads one of them is listed, whichever it is",
                                target, others);
  return found;
}

static void add(Arena *arena, BlastRadius *radius, const char *text) {
  const char **blind = arena_grow(arena, (void *)radius->blind, radius->n_blind, sizeof *blind);
  blind[radius->n_blind++] = text;
  radius->blind = blind;
}

static const char *source_text(Arena *arena, const GraphSource *source) {
  return source->path == NULL ? source->reader : arena_printf(arena, "%s %s", source->reader, source->path);
}

/* A table of the target's name in another schema, that a source knows: "" when there is none. A manifest may be one of
 * another environment, whose schema is another. */
static const char *namesake(Arena *arena, const Graph *graph, const GraphNode *target) {
  if (target == NULL || target->name.table == NULL) return "";
  for (uint32_t i = graph_chain(graph, target->name.table); i != GRAPH_NONE;) {
    const GraphKey *key = pieces_at(&graph->keys, i);
    const GraphNode *other = graph_at(graph, key->node);
    i = key->same;
    if (key->name.schema == NULL || other == target || (other->sources & ~target->sources) == 0) continue;
    return arena_printf(arena, "; %s is known to %s: was that made for another environment?",
                        graph_name_text(arena, &key->name), graph_readers(arena, graph, key->node));
  }
  return "";
}

/* Is the target in a source that tells who reads it? */
static void find_target(Arena *arena, const Graph *graph, BlastRadius *radius) {
  const GraphNode *target = radius->target == GRAPH_NONE ? NULL : graph_at(graph, radius->target);
  size_t n, read = 0, knows = 0;
  const char *unknown_to = NULL;
  const GraphSource *sources = graph_sources(graph, &n);
  for (size_t i = 0; i < n; i++) {
    if (is_catalogue(&sources[i]) || is_list(&sources[i])) continue;
    if (sources[i].failed != NULL) {
      if (radius->uncovered == NULL)
        radius->uncovered =
            arena_printf(arena, "%s was not read: %s", source_text(arena, &sources[i]), sources[i].failed);
      continue;
    }
    read++;
    if (target != NULL && (target->sources >> i & 1) != 0)
      knows++;
    else if (unknown_to == NULL)
      unknown_to = source_text(arena, &sources[i]);
  }
  if (read > 0 && knows == 0 && radius->finding == NULL)
    radius->finding = arena_printf(arena,
                                   "the target stands in none of the sources that were read (%s%s): who reads it "
                                   "is not known%s",
                                   unknown_to, read > 1 ? ", …" : "", namesake(arena, graph, target));
  if (radius->uncovered != NULL) return;
  if (read == 0)
    radius->uncovered = "no source of lineage is declared beside the database's own catalogue";
  else if (radius->finding != NULL)
    radius->uncovered = radius->finding;
}

/* What a manifest names and none describes: of a project whose manifest is not here. What reads it there is not known.
 */
static void find_undescribed(Arena *arena, const Graph *graph, BlastRadius *radius) {
  size_t n = 0;
  const char *first = NULL;
  for (NodeId node = 0; node < graph_count(graph); node++) {
    const GraphNode *facts = graph_at(graph, node);
    if (facts->name.space == NULL || strcmp(facts->name.space, "dbt") != 0 || facts->name.table != NULL ||
        strcmp(facts->shown, facts->name.id) != 0) /* what is described has a name */
      continue;
    if (n++ == 0) first = facts->name.id;
  }
  if (n > 0)
    add(arena, radius,
        arena_printf(arena,
                     "%zu nodes of dbt that are named and that no manifest describes, the first is "
                     "%.200s: the manifest of its project is missing",
                     n, first));
}

void lineage_coverage(Arena *arena, const Graph *graph, BlastRadius *radius) {
  size_t n, n_blinds;
  bool dbt = false, events = false;
  const GraphSource *sources = graph_sources(graph, &n);
  for (size_t i = 0; i < n; i++) {
    dbt = dbt || strcmp(sources[i].reader, "dbt manifest") == 0;
    events = events || strcmp(sources[i].reader, "OpenLineage") == 0;
    if (sources[i].failed != NULL)
      add(arena, radius, arena_printf(arena, "%s: %s", source_text(arena, &sources[i]), sources[i].failed));
  }
  if (!dbt && !events)
    add(arena, radius, "dbt manifests and OpenLineage events");
  else if (!dbt || !events)
    add(arena, radius, dbt ? "OpenLineage events" : "dbt manifests");
  add(arena, radius, not_anywhere);
  const char *const *blinds = graph_blinds(graph, &n_blinds);
  for (size_t i = 0; i < n_blinds; i++) add(arena, radius, blinds[i]);
  find_undescribed(arena, graph, radius);
  find_target(arena, graph, radius);
}
