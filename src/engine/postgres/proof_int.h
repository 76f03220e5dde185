#ifndef TIDEGATE_ENGINE_POSTGRES_PROOF_INT_H
#define TIDEGATE_ENGINE_POSTGRES_PROOF_INT_H

#include "engine/postgres/work.h"

/* What the files of the proof share: the new rows of a change set, whole, in the temporary table tidegate_probe. */
typedef struct Probe {
  PgEngine *engine;
  Arena *arena;
  ShapeSql sql;
  const char *changes;
  const char *key;     /* columns by which `same` finds production's row, to select from it */
  const char *same;    /* c takes the place of production's row p, read with `key` */
  const char *refusal; /* NULL so far: every new row is accepted */
} Probe;

/* Is a column of those written, or made by the database out of what is written? */
bool proof_touches(const Probe *probe, const char *const *columns, size_t n);

/* proof_rows.c: what the probe's own constraints do not see. Each fills `refusal` with the first that is broken. */
bool proof_partitions(Probe *probe, Error *err);
bool proof_unique(Probe *probe, Error *err);
bool proof_parents(Probe *probe, Error *err);

#endif
