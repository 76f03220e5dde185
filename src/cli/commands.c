#include <string.h>

#include "cli/command.h"

static const Command *const commands[] = {
    &command_init,     &command_scan,     &command_plan,     &command_run,     &command_diff,
    &command_swap,     &command_cascade,  &command_rollback, &command_finish,  &command_discard,
    &command_backfill, &command_snapshot, &command_check,    &command_restore, &command_impact,
    &command_window,   &command_status,   &command_runbook,  &command_gate,    &command_hook,
    &command_doctor,   &command_schedule, &command_help,     &command_version, NULL};

static const CliOption globals[] = {{"database", 'd', "PATH", "the database; else from the spec or tidegate.yaml"},
                                    {"json", 'j', NULL, "print JSON, errors too"},
                                    {"no-color", '\0', NULL, "no colours, also on a terminal"},
                                    {"quiet", 'q', NULL, "no progress"},
                                    {"help", 'h', NULL, "show how the command is used"},
                                    {NULL, '\0', NULL, NULL}};

const Command *const *commands_all(void) { return commands; }

const CliOption *global_options(void) { return globals; }

const Command *command_find(const char *name) {
  for (size_t i = 0; commands[i] != NULL; i++)
    if (strcmp(commands[i]->name, name) == 0) return commands[i];
  return NULL;
}

bool command_exits_with(const Command *command, ErrorCode code) {
  if (code == ERR_NONE || code == ERR_INTERNAL || code == ERR_USAGE || code == ERR_MEMORY) return true;
  for (size_t i = 0; i < CLI_EXITS && command->exits[i] != ERR_NONE; i++)
    if (command->exits[i] == code) return true;
  return false;
}

const char *exit_meaning(ErrorCode code) {
  switch (code) {
    case ERR_NONE:
      return "it did what was asked";
    case ERR_INTERNAL:
      return "a fault in Tidegate itself";
    case ERR_USAGE:
      return "the command line is not understood";
    case ERR_SPEC:
      return "the spec is wrong at the place named";
    case ERR_DENIED:
      return "the gate denied it; every reason is given";
    case ERR_HELD:
      return "the evidence failed; the shadow is kept for looking at";
    case ERR_DRIFT:
      return "production or a source changed since a batch was computed";
    case ERR_LOCKED:
      return "a lock was not to be had in the bounded tries";
    case ERR_PAUSED:
      return "stopped by a signal; the same command carries on";
    case ERR_NO_CHANGE:
      return "nothing would change although a change was expected";
    case ERR_LEASED:
      return "another tidegate drives this backfill";
    case ERR_SUPERSEDED:
      return "something under the plan changed; plan again";
    case ERR_DATABASE:
      return "the database refused or cannot be reached";
    case ERR_STATE:
      return "the backfill's state does not allow this command";
    case ERR_NOT_FOUND:
      return "no such backfill, target or file";
    case ERR_CONFLICT:
      return "rows changed after the swap and nobody decided about them";
    case ERR_COMMAND:
      return "an external command failed";
    case ERR_MEMORY:
      return "out of memory";
    case ERR_FULL:
      return "the disk is full";
    case ERR_INCOMPLETE:
      return "a runbook lacks something or is no longer true, or something downstream is still stale";
    case ERR_ASK:
      return "another tool's command that a person has to decide about";
    case ERR_COUNT_:
      break;
  }
  return "";
}
