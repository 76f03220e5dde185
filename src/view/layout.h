#ifndef TIDEGATE_VIEW_LAYOUT_H
#define TIDEGATE_VIEW_LAYOUT_H

#include "base/arena.h"
#include "base/error.h"

/*
 * Where the boxes and arrows of a layered picture stand, found by Graphviz. It is told sizes and layers alone: no name
 * goes in, and nothing that it would print comes out. Lengths are pixels, y grows downwards.
 */
typedef struct LayoutBox {
  int layer; /* from 0; layers stand from left to right */
  double width, height;
  double x, y; /* filled: its centre */
} LayoutBox;

typedef struct LayoutArrow {
  size_t from, to;  /* boxes */
  bool back;        /* against the layers: it does not push boxes about */
  const char *path; /* filled: the data of an SVG path, its tip last; NULL where none was found */
} LayoutArrow;

typedef struct Layout {
  LayoutBox *boxes;
  LayoutArrow *arrows;
  size_t n, n_arrows;
  double width, height; /* filled: of the whole */
} Layout;

/* Can this build draw at all? */
bool layout_possible(void);

/* Fills what is to be filled; texts live in the arena. Errors: ERR_USAGE when Graphviz is not in this build or not on
 * this machine, or cannot lay it out. */
bool layout_fill(Arena *arena, Layout *layout, Error *err);

#endif
