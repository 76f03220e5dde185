#ifndef TIDEGATE_CLI_COMMAND_H
#define TIDEGATE_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * The one table of commands. The parser, --help, the man pages, the completions and docs/reference are all made from
 * it; each command's entry stands on top of its own file.
 */
typedef struct Session Session;

typedef struct CliOption {
  const char *name; /* without the dashes; NULL ends a list */
  char letter;      /* '\0': none */
  const char *arg;  /* what it takes: "DATE"; NULL: nothing */
  const char *help; /* one line, lower case, no full stop */
} CliOption;

typedef struct CliExample {
  const char *command, *what; /* command NULL ends a list */
} CliExample;

enum { CLI_EXITS = 16 };

typedef struct Command {
  const char *name;
  const char *summary;   /* one line, lower case, no full stop */
  const char *arguments; /* "PLAN", "[PLAN]", "" */
  size_t min_args, max_args;
  const CliOption *options;   /* NULL: only the global ones */
  const char *about;          /* paragraphs divided by blank lines */
  ErrorCode exits[CLI_EXITS]; /* beside those that every command has; ends with ERR_NONE */
  const CliExample *examples;
  int (*run)(Session *session); /* gives the exit status */
} Command;

/* The commands in the order in which help shows them; NULL-terminated. */
const Command *const *commands_all(void);
const Command *command_find(const char *name);

/* The options that every command has. */
const CliOption *global_options(void);

/* Can the command end so? Every command can with ok, internal, usage and memory. */
bool command_exits_with(const Command *command, ErrorCode code);

/* What an exit status means, in one line. */
const char *exit_meaning(ErrorCode code);

extern const Command command_backfill, command_cascade, command_check, command_diff, command_discard, command_doctor,
    command_finish, command_gate, command_help, command_hook, command_impact, command_init, command_plan,
    command_restore, command_rollback, command_run, command_runbook, command_scan, command_schedule, command_snapshot,
    command_status, command_swap, command_version, command_window;

#endif
