#ifndef TIDEGATE_JOBS_TIMER_UNITS_H
#define TIDEGATE_JOBS_TIMER_UNITS_H

#include "base/arena.h"
#include "base/error.h"

/* What systemd.timer(5) units say, from their files or from systemctl show. Private to this room. */
typedef struct Timer {
  const char *id;   /* "nightly.timer" */
  const char *unit; /* what it starts; NULL: the service of the same name */
  const char *const *calendars;
  size_t n;
  const char *monotonic;  /* "OnBootSec=15min, OnUnitActiveSec=1d": starts that nobody can foresee; NULL: none */
  double delay, accuracy; /* seconds */
  bool persistent;
} Timer;

/* "--property=…": what timers_of_show wants systemctl to print. */
extern const char timers_properties[];

/* From what `systemctl show --all '*.timer'` prints: one block a unit, an empty line between two. */
void timers_of_show(Arena *arena, const char *text, const Timer **ret, size_t *ret_n);

/*
 * From the *.timer files of a folder and their drop-ins (NAME.timer.d/X.conf); templates (NAME@.timer) are left out,
 * since only what is started of them runs. Errors: ERR_NOT_FOUND.
 */
bool timers_of_folder(Arena *arena, const char *folder, const Timer **ret, size_t *ret_n, Error *err);

/* "1h 30min", "90", "5 minutes" (systemd.time(7)) to seconds; −1 when it is none. */
double timer_span(const char *text);

#endif
