#ifndef TIDEGATE_PLAN_BACKFILL_H
#define TIDEGATE_PLAN_BACKFILL_H

#include "plan/plan.h"

/* A backfill, for whoever acts on it. */
typedef struct Backfill {
  Arena *arena; /* what comes of the act lives here */
  Engine *engine;
  BackfillRecord *record; /* after the act it is as the ledger has it */
  const Plan *plan;
} Backfill;

#endif
