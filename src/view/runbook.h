#ifndef TIDEGATE_VIEW_RUNBOOK_H
#define TIDEGATE_VIEW_RUNBOOK_H

#include "plan/plan.h"

/* What the runbook of one target is made from. */
typedef struct RunbookFacts {
  const char *target, *database;
  const Spec *spec;    /* of the newest backfill, else of tidegate.yaml */
  const Shape *shape;  /* the columns that a backfill writes */
  const char *id;      /* of the newest backfill with a change set; NULL: "ID" stands in the SQL */
  const char *engine;  /* EngineOps.name */
  const char *changes; /* EngineOps.object_name of the change set of `id`, or of "ID" */
  const BlastRadius *radius;
} RunbookFacts;

/*
 * The runbook as Markdown: who answers for the target, when it may be touched, how correctness is judged, the way with
 * Tidegate, and the plain SQL of every step for a person who has to do it without.
 */
void view_runbook(Buf *out, Arena *arena, const RunbookFacts *facts);

#endif
