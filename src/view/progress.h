#ifndef TIDEGATE_VIEW_PROGRESS_H
#define TIDEGATE_VIEW_PROGRESS_H

#include <stdio.h>

#include "run/run.h"
#include "view/paint.h"

/*
 * How far a run is. On a terminal one line that is written over; elsewhere one line a batch, and one when it begins to
 * wait.
 */
typedef struct Progress {
  FILE *file;
  bool terminal, colour;
  int width;           /* columns of the terminal */
  int64_t dates_shown; /* dates done at the last line; start with -1 */
  bool waited;
  bool open;       /* the line on the terminal is not ended */
  char doing[128]; /* as last shown */
} Progress;

/* For RunOptions.progress; context is a Progress. */
void progress_show(void *context, const RunProgress *now);
/* Ends the line on the terminal, if one is open. */
void progress_end(Progress *progress);

/* The line without the end; pure, for tests. On a terminal one that waits is brief, so that it says for what. */
void progress_line(Buf *out, const RunProgress *now, bool terminal, int width);

#endif
