#ifndef TIDEGATE_CLI_TARGET_H
#define TIDEGATE_CLI_TARGET_H

#include "cli/session.h"

/*
 * A shape that is good for counting rows by date: the target's columns and its date column, from session->spec where it
 * names one, else from what the columns look like. `recompute`, key and scope play no part. Errors: ERR_SPEC when no
 * date column, or several, are possible.
 */
bool target_shape(Session *session, const char *target, Shape *ret, DateProfile *ret_profile, Error *err);

/* A column that may be the date column of a table. */
typedef struct DateCandidate {
  const char *column;
  DateKind kind;
  char separator;
  DateProfile profile;
} DateCandidate;

/* The columns of the table that look like dates, in their order. */
bool target_candidates(Session *session, const TableFacts *table, const DateCandidate **ret, size_t *ret_n, Error *err);

#endif
