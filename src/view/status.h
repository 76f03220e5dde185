#ifndef TIDEGATE_VIEW_STATUS_H
#define TIDEGATE_VIEW_STATUS_H

#include "base/json.h"
#include "ledger/ledger.h"
#include "view/paint.h"

/* Everything the ledger holds of one backfill. */
typedef struct StatusFacts {
  const BackfillRecord *record;
  const Zone *zone; /* for the times */
  Instant now;      /* database time */
  Grain grain;      /* for the labels of dates */
  const Zone *date_zone;
  const DateRecord *dates;
  const BatchRecord *batches;
  const FindingRecord *findings;
  const ObjectRecord *objects;
  const EventRecord *events;
  size_t n_dates, n_batches, n_findings, n_objects, n_events;
} StatusFacts;

/* What the run of a backfill waits for, by its events: "waits: the run of production …"; NULL: it does not, or nobody
 * drives it. */
const char *view_status_wait(Arena *arena, const BackfillRecord *record, const EventRecord *events, size_t n);

/* The backfills, one a line. */
void view_status_list(Paint *paint, Arena *arena, const BackfillRecord *records, size_t n, const Zone *zone);
void view_status_list_json(Json *json, const BackfillRecord *records, size_t n);

void view_status(Paint *paint, Arena *arena, const StatusFacts *facts);
void view_status_json(Json *json, Arena *arena, const StatusFacts *facts);

/* The commands that can be typed next from the record's state, NULL-terminated; empty for a final state. */
const char *const *view_next_commands(Arena *arena, const BackfillRecord *record);

#endif
