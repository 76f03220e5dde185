#ifndef TIDEGATE_LEDGER_OPENED_H
#define TIDEGATE_LEDGER_OPENED_H

#include "engine/engine.h"

/*
 * What the ledger keeps of a range that a tool writes in place over a snapshot: the backfill's document "seal". It is
 * written before and after every batch, so that whoever comes after a crash knows which dates are right, and which may
 * be half written.
 */

/* One batch that the tool wrote and that passed. */
typedef struct OpenedBatch {
  DateRange dates;
  Fingerprint after;        /* of its dates, all stored columns, when it had passed */
  int64_t n, rows, changed; /* dates; rows then; rows in which they differ from the snapshot */
  double seconds;           /* the tool and its evidence */
} OpenedBatch;

typedef struct Opened {
  int64_t rows;        /* in the snapshot */
  Fingerprint outside; /* of the rows outside the range, all stored columns, when the snapshot was taken */
  const char *line;    /* the tool's line with its places; NULL: a person writes */
  OpenedBatch *done;   /* as long as the arena lives */
  size_t n;
  DateRange running;           /* dates that the tool is writing; from == to: none */
  Fingerprint running_outside; /* of the rows outside the range before it began */
} Opened;

/* ERR_STATE when the record has no snapshot. */
bool opened_read(Arena *arena, const BackfillRecord *record, Opened *ret, Error *err);
/* The document. */
const char *opened_json(Arena *arena, const Opened *opened);
/* Adds a batch. */
void opened_add(Arena *arena, Opened *opened, OpenedBatch batch);

/* "DATABASE/ID": what the tool, and everything that it starts on this machine, has in its environment as
 * OPENED_VARIABLE. */
#define OPENED_VARIABLE "TIDEGATE_TOOL"
const char *opened_mark(Arena *arena, const BackfillRecord *record);

#endif
