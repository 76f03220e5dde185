#include "view/layout.h"

/* In a build without the feature `graphviz`. */

bool layout_possible(void) { return false; }

bool layout_fill(Arena *arena, Layout *layout, Error *err) {
  error_set(err, ERR_USAGE, "this build of Tidegate cannot draw pictures");
  return error_hint(err,
                    "build it with -Dgraphviz=enabled (it needs libgraphviz), or take the graph as text: "
                    "--format dot or --format mermaid");
}
