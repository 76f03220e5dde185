#ifndef TIDEGATE_GATE_TRIGGER_COMMANDS_INT_H
#define TIDEGATE_GATE_TRIGGER_COMMANDS_INT_H

#include "gate/trigger/trigger_int.h"

/* What the two files of the commands' table share. */

/* The traits of an entry; what they mean stands in commands.def. */
enum { NEVER = 1, DATED = 2, ASKS = 4, EXCLUSIVE = 8, LOOSE = 16, NAMED = 32, SCOPED = 64 };

typedef struct CommandEntry {
  const char *system, *programs, *path;
  unsigned traits;
  const char *operands, *flags;
} CommandEntry;

/* What the arguments of one command say. */
typedef struct CommandReading {
  Finder *f;
  const CommandEntry *entry;
  DateSpan span;
  Buf target, danger;
  const char *instead; /* what names the target better than the operands and other flags do; NULL: nothing */
  bool target_unknown, dry, restates;
  bool unclear;        /* a word that may be any flag */
  bool until_midnight; /* Trigger.until_midnight */
  bool hinted;         /* a parameter's name says that it may rewrite past dates */
  size_t operand;
} CommandReading;

/* Are the first n bytes the same? '_' is as good as '-', as Airflow 1.10 and click's users write it. */
bool commands_same_name(const char *a, const char *b, size_t n);

/* Reads the arguments, the first `from` left out, by the roles of r->entry. The caller releases the buffers. */
void commands_read(CommandReading *r, Argv args, size_t from);

#endif
