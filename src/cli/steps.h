#ifndef TIDEGATE_CLI_STEPS_H
#define TIDEGATE_CLI_STEPS_H

#include "cli/session.h"
#include "gate/gate.h"
#include "run/run.h"
#include "swap/swap.h"
#include "view/diff.h"
#include "view/progress.h"

/* The pieces of work that several commands share. */

/*
 * Plans the spec: reads, resolves, measures, judges. Recorded in the ledger when allowed, or when time alone is missing
 * (session->record is set then).
 * record false: never recorded.
 */
bool step_plan(Session *session, const char *path, bool record, Verdict *ret, Error *err);
/* The same for the spec that the session has read, with its database open. */
bool step_plan_spec(Session *session, bool record, Verdict *ret, Error *err);
/* The same, judged as what its own tool writes in place. */
bool step_plan_in_place(Session *session, Verdict *ret, Error *err);

/* How a run is carried on from the command line: *ret_progress is set up and shown on standard error, unless it is to
 * be quiet. */
RunOptions step_run_options(const Session *session, bool wait, Progress *ret_progress);
/* Carries the backfill on with a progress bar on standard error, until it is sealed. */
bool step_run(Session *session, bool wait, RunFacts *ret, Error *err);

/* The change set. date NULL: all dates. */
bool step_diff(Session *session, const char *date, size_t limit, DiffFacts *ret, Error *err);

/* Shows what would be published and asks, unless --yes; false with ERR_PAUSED when the answer is no. */
bool step_confirm(Session *session, Error *err);

/* Shows what would be run over how many dates and asks, as step_confirm does. */
bool step_confirm_tool(Session *session, const char *line, Error *err);

/* session_fail, with the ledger's findings before the error when the evidence failed. */
int step_fail(Session *session, const Error *err);

/*
 * Waits until the gate lets the swap begin, telling on standard error what for; what time alone does not cure is left
 * to step_swap. ERR_PAUSED when asked to stop.
 */
bool step_wait(Session *session, Error *err);

/* Publishes. */
bool step_swap(Session *session, SwapFacts *ret, Error *err);

#endif
