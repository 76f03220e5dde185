#ifndef TIDEGATE_VIEW_RUNBOOK_H
#define TIDEGATE_VIEW_RUNBOOK_H

#include "plan/plan.h"
#include "view/runbook_page.h"

/*
 * What the runbook of one target is made from. tidegate.yaml alone is enough: what nobody could look at is NULL, and
 * the document says so.
 */
typedef struct RunbookFacts {
  const char *target, *database;
  const char *engine;      /* "sqlite", "postgres" */
  const char *unseen;      /* why the database could not be looked at; NULL: it was */
  const char *no_shape;    /* why no statement that names columns can be written; NULL exactly when shape is not */
  const Spec *spec;        /* tidegate.yaml */
  const TableFacts *table; /* NULL: not seen */
  const Shape *shape;      /* the columns that a backfill writes; codec and date are set when dated is */
  bool dated;
  const BackfillRecord *record;            /* the newest backfill; NULL: none */
  const Plan *plan;                        /* of it, when it still resolves */
  const char *changes, *shadow, *snapshot; /* EngineOps.object_name of that backfill's, or of "ID"'s */
  const BlastRadius *radius;
  bool pictures; /* the page will be HTML */
  Instant now;
} RunbookFacts;

/*
 * The runbook as a document that a person on call can follow with the database down and Tidegate missing: who answers,
 * what the table is, when production runs and when work is allowed, how correctness is judged, and the plain SQL of
 * every step.
 */
Page view_runbook(Arena *arena, const RunbookFacts *facts);

/* The line by which a written runbook is known again; the target's name is in it as RFC 3986 spells it. */
const char *runbook_mark(Arena *arena, const char *target, const char *digest);
/* Finds it in a document; false: there is none. */
bool runbook_mark_find(Arena *arena, const char *document, const char **ret_target, const char **ret_digest);

/* Does a job write, read or feed the target? Words such as "writes, feeds"; NULL: it does not concern it. */
const char *runbook_concern(Arena *arena, const RunbookFacts *facts, const SpecJob *job);

#endif
