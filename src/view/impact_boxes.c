#include <stdlib.h>
#include <string.h>

#include "view/impact_int.h"

/*
 * Which boxes a picture has. Up to MOST everything is shown; beyond, leaves that hang on the same node and need the
 * same are one box; and where that is not enough, the KEPT nodes with most below them stay and of the others those of
 * one layer that need the same are one box, the layers behind the last but DEEPEST with it.
 */

enum { MOST = 70, KEPT = 30, DEEPEST = 10, FEW = 3 };

typedef struct Making {
  Arena *arena;
  const ImpactFacts *facts;
  ImpactBoxes *boxes;
  uint64_t *group; /* of each node; 0: it stands alone */
  bool *leaf;
} Making;

/* One number for each group that can be. */
static uint64_t group_of(uint64_t kind, uint64_t where, Needs needs) {
  return (kind << 56 | where) * NEEDS_COUNT_ + (uint64_t)needs + 1;
}

static void find_leaves(Making *making) {
  const ImpactFacts *facts = making->facts;
  for (size_t i = 1; i < facts->n; i++)
    making->leaf[i] = making->boxes->tree.first[i] == making->boxes->tree.first[i + 1];
  size_t *nearer = arena_array(making->arena, facts->n, sizeof *nearer);
  for (size_t i = 0; i < facts->n_arrows; i++) nearer[facts->arrows[i].far]++;
  for (size_t i = 1; i < facts->n; i++) making->leaf[i] = making->leaf[i] && nearer[i] <= 1;
}

static int by_group(const void *left, const void *right, void *context) {
  const Making *making = context;
  size_t a = *(const size_t *)left, b = *(const size_t *)right;
  uint64_t of_a = making->group[a], of_b = making->group[b];
  return of_a != of_b ? (of_a < of_b ? -1 : 1) : a < b ? -1 : a > b;
}

/* The nodes by group, those that stand alone first. */
static size_t *sorted(Making *making) {
  size_t *order = arena_array(making->arena, making->facts->n, sizeof *order);
  for (size_t i = 0; i < making->facts->n; i++) order[i] = i;
  qsort_r(order, making->facts->n, sizeof *order, by_group, making);
  return order;
}

static size_t end_of_group(const Making *making, const size_t *order, size_t at) {
  size_t end = at + 1;
  while (making->group[order[at]] != 0 && end < making->facts->n &&
         making->group[order[end]] == making->group[order[at]])
    end++;
  return end;
}

/* Groups of fewer than FEW are none. Returns the number of boxes. */
static size_t dissolve(Making *making) {
  size_t *order = sorted(making), boxes = 0;
  for (size_t i = 0; i < making->facts->n;) {
    size_t end = end_of_group(making, order, i);
    bool few = end - i < FEW;
    for (size_t k = i; k < end && few; k++) making->group[order[k]] = 0;
    boxes += few ? end - i : 1;
    i = end;
  }
  return boxes;
}

static int by_weight(const void *left, const void *right, void *context) {
  const Making *making = context;
  size_t a = *(const size_t *)left, b = *(const size_t *)right;
  size_t heavy = making->boxes->tree.weight[a], light = making->boxes->tree.weight[b];
  return heavy != light ? (heavy < light ? 1 : -1) : a < b ? -1 : a > b;
}

static unsigned shown_level(const Making *making, size_t node, bool folded) {
  unsigned level = making->facts->nodes[node].level;
  return folded && level > DEEPEST ? DEEPEST : level;
}

/* By layers; false: what was tried first was enough. */
static bool group_nodes(Making *making) {
  const ImpactFacts *facts = making->facts;
  if (facts->n <= MOST) return false;
  for (size_t i = 1; i < facts->n; i++)
    if (making->leaf[i]) making->group[i] = group_of(1, making->boxes->tree.under[i], facts->nodes[i].needs);
  if (dissolve(making) <= MOST) return false;
  size_t *heavy = arena_array(making->arena, facts->n, sizeof *heavy);
  for (size_t i = 0; i < facts->n; i++) {
    heavy[i] = i;
    making->group[i] = group_of(2, shown_level(making, i, true), facts->nodes[i].needs);
  }
  qsort_r(heavy + 1, facts->n - 1, sizeof *heavy, by_weight, making);
  making->group[0] = 0;
  for (size_t i = 1, kept = 0; i < facts->n && kept < KEPT; i++) {
    if (facts->nodes[heavy[i]].level >= DEEPEST) continue;
    making->group[heavy[i]] = 0;
    kept++;
  }
  return true;
}

static void put_box(Making *making, ImpactBoxes *boxes, const size_t *members, size_t n, bool folded) {
  const ImpactNode *first = &making->facts->nodes[members[0]];
  boxes->boxes = arena_grow(making->arena, boxes->boxes, boxes->n, sizeof *boxes->boxes);
  ImpactBox *box = &boxes->boxes[boxes->n];
  *box = (ImpactBox){first->name, first->needs, shown_level(making, members[0], folded), members, n};
  if (n > 1) box->title = arena_printf(making->arena, "%zu more", n);
  for (size_t i = 0; i < n; i++) {
    unsigned level = shown_level(making, members[i], folded);
    boxes->of[members[i]] = boxes->n;
    if (level > box->level) box->level = level;
  }
  if (box->level >= boxes->levels) boxes->levels = box->level + 1;
  boxes->n++;
}

static int by_ends(const void *left, const void *right) {
  const ImpactBoxArrow *a = left, *b = right;
  if (a->near != b->near) return a->near < b->near ? -1 : 1;
  return a->far < b->far ? -1 : a->far > b->far;
}

static void put_arrows(Making *making, ImpactBoxes *boxes) {
  const ImpactFacts *facts = making->facts;
  ImpactBoxArrow *arrows = arena_array(making->arena, facts->n_arrows, sizeof *arrows);
  size_t n = 0, kept = 0;
  for (size_t i = 0; i < facts->n_arrows; i++) {
    ImpactBoxArrow arrow = {boxes->of[facts->arrows[i].near], boxes->of[facts->arrows[i].far], false};
    arrow.back = boxes->boxes[arrow.far].level <= boxes->boxes[arrow.near].level;
    /* Of several shown as one, an arrow a member is enough: from what it stands under. */
    bool several = boxes->boxes[arrow.far].n > 1, inside = several && arrow.near == arrow.far;
    if (!inside && (!several || making->boxes->tree.under[facts->arrows[i].far] == facts->arrows[i].near))
      arrows[n++] = arrow;
  }
  qsort(arrows, n, sizeof *arrows, by_ends);
  for (size_t i = 0; i < n; i++)
    if (kept == 0 || by_ends(&arrows[kept - 1], &arrows[i]) != 0) arrows[kept++] = arrows[i];
  boxes->arrows = arrows;
  boxes->n_arrows = kept;
}

void impact_boxes(Arena *arena, const ImpactFacts *facts, ImpactSize size, ImpactBoxes *ret) {
  ImpactBoxes boxes = {.of = arena_array(arena, facts->n, sizeof *boxes.of)};
  Making making = {.arena = arena,
                   .facts = facts,
                   .boxes = &boxes,
                   .group = arena_array(arena, facts->n, sizeof *making.group),
                   .leaf = arena_array(arena, facts->n, sizeof *making.leaf)};
  impact_tree(arena, facts, &boxes.tree);
  find_leaves(&making);
  bool folded = size == IMPACT_READABLE && group_nodes(&making);
  size_t *order = sorted(&making);
  for (size_t i = 0; i < facts->n;) {
    size_t end = end_of_group(&making, order, i);
    put_box(&making, &boxes, order + i, end - i, folded);
    i = end;
  }
  put_arrows(&making, &boxes);
  *ret = boxes;
}
