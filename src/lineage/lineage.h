#ifndef TIDEGATE_LINEAGE_LINEAGE_H
#define TIDEGATE_LINEAGE_LINEAGE_H

#include "engine/engine.h"
#include "spec/spec.h"

/* What stands downstream of the target. Readers so far: the database's catalogue, and the list in tidegate.yaml. */

typedef enum Needs { NEEDS_FOLLOWS, NEEDS_REFRESH, NEEDS_CASCADE, NEEDS_UNKNOWN } Needs;

typedef struct LineageNode {
  const char *name, *kind; /* kind: view, trigger, foreign key, table, dashboard … */
  const char *via;         /* "reads daily_delays", … */
  Needs needs;
  const char *reader; /* who said so: "catalogue" or "tidegate.yaml" */
} LineageNode;

typedef struct BlastRadius {
  const LineageNode *nodes; /* sorted by name; one node a name and kind */
  size_t n;
  const char *const *blind; /* what was not read, to stand after "not read: " */
  size_t n_blind;
} BlastRadius;

const char *needs_name(Needs needs);

/* Errors: ERR_DATABASE. */
bool lineage_blast_radius(Arena *arena, Engine *engine, const char *target, const Spec *spec, BlastRadius *ret,
                          Error *err);

#endif
