#ifndef TIDEGATE_CLI_CASCADE_CHILD_H
#define TIDEGATE_CLI_CASCADE_CHILD_H

#include "cascade/cascade.h"
#include "cli/session.h"

/* One child of a cascade that is backfilled: its draft, and the way from there to the swap. */

/* The text of its spec; the file of an earlier cascade that a person changed wins. *ret_path: where it lies or would
 * lie. Writes nothing. */
bool child_draft(Session *session, const Cascade *cascade, const CascadeStep *step, const char **ret_path,
                 const char **ret_text, Error *err);

/*
 * Plans, runs and swaps it, or carries on where it was left. child: a started session without a database. Prints what
 * plan, run and swap print. *ret_how: how it became right, in words, when no backfill of its own tells that; NULL
 * otherwise. Errors: those of plan, run and swap.
 */
bool child_run(Session *session, Session *child, const Cascade *cascade, CascadeStep *step, const char **ret_how,
               Error *err);

#endif
