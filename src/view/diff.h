#ifndef TIDEGATE_VIEW_DIFF_H
#define TIDEGATE_VIEW_DIFF_H

#include "plan/plan.h"
#include "view/paint.h"

/* What publishing would do (or did): the change set, counted and by example. */
typedef struct DiffFacts {
  const Plan *plan;
  const char *id, *state;
  ChangeCounts counts;
  const ColumnChange *columns;
  size_t n_columns;
  const DateRecord *dates; /* all dates of the range, or the one asked for */
  size_t n_dates;
  const ChangeRow *rows; /* examples */
  size_t n_rows;
} DiffFacts;

/* Counts, columns, dates that change, and every example row with the columns that change in it, old → new. */
void view_diff(Paint *paint, Arena *arena, const DiffFacts *diff);
/* Three lines of the same, for before the swap. */
void view_diff_summary(Paint *paint, Arena *arena, const DiffFacts *diff);
/* The members of an open object. */
void view_diff_json(Json *json, const DiffFacts *diff);

#endif
