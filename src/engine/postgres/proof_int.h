#ifndef TIDEGATE_ENGINE_POSTGRES_PROOF_INT_H
#define TIDEGATE_ENGINE_POSTGRES_PROOF_INT_H

#include "engine/postgres/work.h"

/* What keeps rows apart: a unique index, or an exclusion constraint. */
typedef struct ProofApart {
  const char *relation, *index; /* index: its name */
  const char *predicate, *row, *match;
  const char *bound; /* what makes a row one of the relation's */
  bool deferrable, own, exclusion;
  bool idle; /* it is the key's, or no change touches it: there is nothing to prove */
} ProofApart;

/* What the files of the proof share: the new rows of a change set, whole, in the temporary table tidegate_probe. */
typedef struct Probe {
  PgEngine *engine;
  Arena *arena;
  ShapeSql sql;
  const char *changes;
  const char *key;  /* columns by which `same` finds production's row, to select from it */
  const char *same; /* c takes the place of production's row p, read with `key` */
  const ProofApart *apart;
  size_t n_apart;
  const char *refusal; /* NULL so far: every new row is accepted */
} Probe;

/* proof_rows.c */
/* Fills `apart`. */
bool proof_read_unique(Probe *probe, Error *err);
/* What the probe's own constraints do not see. Each fills `refusal` with the first that is broken. */
bool proof_partitions(Probe *probe, Error *err);
bool proof_unique(Probe *probe, Error *err);
bool proof_parents(Probe *probe, Error *err);

#endif
