#ifndef TIDEGATE_VIEW_RUNBOOK_CHECK_H
#define TIDEGATE_VIEW_RUNBOOK_CHECK_H

#include "view/runbook.h"

/* One thing that is missing in a runbook or no longer so. */
typedef struct RunbookFinding {
  const char *what; /* stable: "owner", "p95", "columns", … */
  const char *text, *todo;
} RunbookFinding;

typedef struct RunbookFindings {
  Arena *arena;
  RunbookFinding *items;
  size_t n;
} RunbookFindings;

void runbook_find(RunbookFindings *findings, const char *what, const char *todo, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* What is missing in tidegate.yaml for the target, or too old to rest on. Looks at files, at no database. */
void runbook_check_written(RunbookFindings *findings, const RunbookFacts *facts);
/* What tidegate.yaml says and the catalogue does not, or not any more. */
void runbook_check_catalogue(RunbookFindings *findings, Engine *engine, const RunbookFacts *facts);
/* What the places say today that schedules and durations were read from. engine may be NULL. */
void runbook_check_sources(RunbookFindings *findings, Engine *engine, const RunbookFacts *facts);

/* A job that concerns the target: one under `jobs`, or `production` itself. */
typedef struct RunbookJob {
  const char *name;
  const SpecSchedule *when;
  const SpecLive *live;
} RunbookJob;
/* All of them; production only when no other writes the target or something is declared of it. */
const RunbookJob *runbook_jobs_of(Arena *arena, const RunbookFacts *facts, size_t *ret_n);

#endif
