#ifndef TIDEGATE_TIME_DIALECT_H
#define TIDEGATE_TIME_DIALECT_H

#include "base/arena.h"
#include "base/error.h"
#include "time/civil.h"

/*
 * What a cron dialect must offer: a parser and a search over the wall clock, both without a zone; schedule.c makes
 * instants of it. A dialect is one file and one entry in the table of schedule.c. Private to this room.
 */
typedef struct Dialect {
  const char *name;
  /* Parses into a rule of the dialect's own type in the arena; refuses what cannot be predicted or never fires. */
  bool (*parse)(Arena *arena, const char *expression, const void **ret_rule, Error *err);
  /* The first wall-clock time at or after `from` that the rule matches; false if there is none before the year 10000.
   */
  bool (*next)(const void *rule, const Civil *from, Civil *ret);
} Dialect;

/* Vixie cron as cronie 1.7 has it: crontab(5), src/entry.c, src/cron.c. */
extern const Dialect dialect_vixie;

#endif
