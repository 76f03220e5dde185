#ifndef TIDEGATE_LINEAGE_READERS_H
#define TIDEGATE_LINEAGE_READERS_H

#include "lineage/lineage.h"

/* The private header of the room: a reader a source; each adds what it knows. */
typedef struct NodeList {
  Arena *arena;
  LineageNode *items;
  size_t n;
} NodeList;

void node_add(NodeList *list, LineageNode node);

/* What the database itself knows: views, triggers, foreign keys. Errors: ERR_DATABASE. */
bool lineage_read_catalogue(NodeList *list, Engine *engine, const char *target, const Spec *spec, Error *err);

/* What a person listed under `downstream`. */
bool lineage_read_declared(NodeList *list, Engine *engine, const char *target, const Spec *spec, Error *err);

/* The word's meaning; a word that is none of them is unknown. */
Needs needs_of(const char *word);

#endif
