#ifndef TIDEGATE_VIEW_IMPACT_INT_H
#define TIDEGATE_VIEW_IMPACT_INT_H

#include "view/impact.h"

/* What the renderings of impact share. Private to view/impact*.c. */

/* How a need is shown. */
typedef struct NeedLook {
  Style style;
  const char *means;       /* what is to be done, for a legend */
  const char *light, *ink; /* colours by day: of the box, of its band and word */
  const char *dark, *pale; /* the same by night */
} NeedLook;
const NeedLook *need_look(Needs needs);

/* How many nodes need what. */
typedef struct NeedCounts {
  size_t of[NEEDS_COUNT_];
} NeedCounts;
/* "3 follows, 5 cascade": the heaviest first; "" when there are none. */
const char *need_counts_text(Arena *arena, const NeedCounts *counts);

/* "Feb 2013, table, ann, by dbt manifest": what is known of a node, with a separator of choice. Its age where it is not
 * that of a source, which stands with what was read. */
const char *impact_details(Arena *arena, const ImpactFacts *facts, const ImpactNode *node, const char *separator);
/* "target", what a node needs, or upstream "". */
const char *impact_word(const ImpactFacts *facts, size_t node);
/* "dbt manifest target/manifest.json: 120 models, 2 hours old". */
const char *impact_source_text(Arena *arena, const ImpactSource *source);
/* "what is downstream of daily_delays". */
const char *impact_title(Arena *arena, const ImpactFacts *facts);

/*
 * The tree that the graph is shown as: each node under one nearer neighbour, the last that it waits for.
 */
typedef struct ImpactTree {
  size_t *first;  /* n + 1: facts->arrows[first[i]] up to first[i + 1] lead away from node i */
  size_t *under;  /* the node that each stands under; SIZE_MAX: the target */
  size_t *weight; /* nodes below and itself */
  size_t *back;   /* n + 1: nearer[back[i]] up to nearer[back[i + 1]] are the nodes that lead to node i */
  size_t *nearer;
} ImpactTree;
void impact_tree(Arena *arena, const ImpactFacts *facts, ImpactTree *ret);
/* "a, b and 3 more": the nearer ones, so many by name; "" when there are none. */
const char *impact_nearer(Arena *arena, const ImpactFacts *facts, const ImpactTree *tree, size_t node, size_t most);

/* A box of a picture: one node, or several that are shown as one. */
typedef struct ImpactBox {
  const char *title;
  Needs needs;
  unsigned level;
  const size_t *members;
  size_t n; /* 1: a node as it is */
} ImpactBox;

typedef struct ImpactBoxArrow {
  size_t near, far; /* boxes */
  bool back;        /* not to a higher level: part of a cycle */
} ImpactBoxArrow;

typedef struct ImpactBoxes {
  ImpactBox *boxes;
  ImpactBoxArrow *arrows; /* one a pair */
  size_t n, n_arrows;
  size_t *of; /* the box of each node */
  ImpactTree tree;
  unsigned levels;
} ImpactBoxes;
/* Lists beside a picture have so many of the nodes at most. */
enum { IMPACT_LISTED = 1000 };
/* The first box is the target. */
void impact_boxes(Arena *arena, const ImpactFacts *facts, ImpactSize size, ImpactBoxes *ret);

#endif
