#include "lineage/lineage.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lineage/readers.h"

/* In the order of Needs. */
static const char *const needs_names[] = {"follows", "refresh", "cascade", "unknown"};

/* The sources of lineage; another is one file and one entry. A later reader's word on the same node wins. */
static bool (*const readers[])(NodeList *, Engine *, const char *, const Spec *, Error *) = {
    lineage_read_catalogue,
    lineage_read_declared,
};

static const char *const blind[] = {
    "dbt manifests and OpenLineage events",
    "jobs, tables and dashboards that read the target and stand neither in the catalogue nor under `downstream`",
};

const char *needs_name(Needs needs) { return needs_names[needs]; }

Needs needs_of(const char *word) {
  for (size_t i = 0; word != NULL && i < sizeof needs_names / sizeof *needs_names; i++)
    if (strcmp(needs_names[i], word) == 0) return (Needs)i;
  return NEEDS_UNKNOWN;
}

void node_add(NodeList *list, LineageNode node) {
  list->items = arena_grow(list->arena, list->items, list->n, sizeof *list->items);
  list->items[list->n++] = node;
}

static int by_name(const void *left, const void *right) {
  const LineageNode *a = left, *b = right;
  int order = strcasecmp(a->name, b->name);
  return order != 0 ? order : strcasecmp(a->kind, b->kind);
}

/* One node a name and kind: what connects it is joined, and a person's word on what it needs beats the catalogue's. */
static size_t merge(Arena *arena, LineageNode *nodes, size_t n) {
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    LineageNode *last = kept > 0 ? &nodes[kept - 1] : NULL;
    if (last == NULL || by_name(last, &nodes[i]) != 0) {
      nodes[kept++] = nodes[i];
      continue;
    }
    if (strcmp(last->via, nodes[i].via) != 0) last->via = arena_printf(arena, "%s; %s", last->via, nodes[i].via);
    if (strcmp(last->reader, nodes[i].reader) == 0) {
      if (nodes[i].needs > last->needs) last->needs = nodes[i].needs; /* the heaviest duty */
    } else {
      const LineageNode *declared = strcmp(nodes[i].reader, "catalogue") == 0 ? last : &nodes[i];
      last->needs = declared->needs;
      last->reader = declared->reader;
    }
  }
  return kept;
}

bool lineage_blast_radius(Arena *arena, Engine *engine, const char *target, const Spec *spec, BlastRadius *ret,
                          Error *err) {
  NodeList list = {.arena = arena};
  for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
    if (!readers[i](&list, engine, target, spec, err)) return false;
  if (list.n > 1) qsort(list.items, list.n, sizeof *list.items, by_name);
  *ret = (BlastRadius){.nodes = list.items,
                       .n = merge(arena, list.items, list.n),
                       .blind = blind,
                       .n_blind = sizeof blind / sizeof *blind};
  return true;
}
