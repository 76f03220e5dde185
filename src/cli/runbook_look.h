#ifndef TIDEGATE_CLI_RUNBOOK_LOOK_H
#define TIDEGATE_CLI_RUNBOOK_LOOK_H

#include "cli/session.h"
#include "view/runbook.h"

/* What a target's runbook is made from. */
typedef struct RunbookLook {
  RunbookFacts lasting; /* without the newest backfill: what a written runbook is compared by */
  RunbookFacts now;
  bool no_table;     /* the database was seen and has no such table */
  const char *wrong; /* why the date column cannot be told, or what tidegate.yaml says does not fit; NULL: nothing */
  char digest[33];   /* of the lasting document */
} RunbookLook;

/*
 * Reads tidegate.yaml for the target, opens the database and looks; a database that does not answer is no error. Writes
 * nothing, the state of a backfill included. Errors: those of the spec; ERR_USAGE when no database is named;
 * ERR_NOT_FOUND for a table that neither the database nor tidegate.yaml knows.
 */
bool runbook_look(Session *session, const char *target, RunbookLook *ret, Error *err);

#endif
