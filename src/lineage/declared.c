#include "lineage/readers.h"

bool lineage_read_declared(NodeList *list, Engine *engine, const char *target, const Spec *spec, Error *err) {
  for (size_t i = 0; i < spec->n_downstream; i++) {
    const SpecDownstream *entry = &spec->downstream[i];
    node_add(list, (LineageNode){.name = entry->name.text,
                                 .kind = entry->kind,
                                 .via = arena_printf(list->arena, "listed as downstream of %s", target),
                                 .needs = needs_of(entry->needs),
                                 .reader = "tidegate.yaml"});
  }
  return true;
}
