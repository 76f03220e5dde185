#include "lineage/readers.h"

bool lineage_read_catalogue(NodeList *list, Engine *engine, const char *target, const Spec *spec, Error *err) {
  const DependentFacts *dependents;
  size_t n;
  if (!engine->ops->dependents(engine, list->arena, target, &dependents, &n, err)) return false;
  for (size_t i = 0; i < n; i++)
    node_add(list, (LineageNode){.name = dependents[i].name,
                                 .kind = dependents[i].kind,
                                 .via = dependents[i].via,
                                 .needs = needs_of(dependents[i].needs),
                                 .reader = "catalogue"});
  return true;
}
