#ifndef TIDEGATE_GATE_COMMAND_COMMAND_INT_H
#define TIDEGATE_GATE_COMMAND_COMMAND_INT_H

#include "gate/command/command.h"

/* The private header of the folder. */

/* What is judged, and what was found out about it so far. */
typedef struct CommandCase {
  Arena *arena;
  const CommandAsk *ask;
  TriggerReport report;
  CommandReason *reasons;
  size_t n;
} CommandCase;

/* What a rule needs to know: each of these is looked up only when what stands before it has not denied. */
typedef enum CommandNeeds { COMMAND_TEXT, COMMAND_PIPELINE, COMMAND_DATABASE } CommandNeeds;

/* One rule: adds its reasons, none when it has nothing against the command. */
typedef struct CommandRule {
  const char *name;
  CommandNeeds needs;
  void (*judge)(CommandCase *c, const char *rule);
} CommandRule;

const CommandRule *command_rule_table(size_t *ret_n);

/* Adds a reason, once; a hint is set on the reason added last. */
void command_because(CommandCase *c, const char *rule, const char *format, ...) __attribute__((format(printf, 3, 4)));
void command_advise(CommandCase *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "airflow2 sales_daily 2024-01-01 to 2024-01-31", without what is not known. */
const char *command_trigger_label(Arena *arena, const Trigger *trigger);

#endif
