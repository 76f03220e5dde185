#ifndef TIDEGATE_CLI_OPTIONS_H
#define TIDEGATE_CLI_OPTIONS_H

#include "base/arena.h"
#include "cli/command.h"

/* A command line taken apart. Values point into argv. */
typedef struct Args {
  const Command *command;
  const CliOption *const *given; /* in the order written */
  const char *const *values;     /* NULL for an option that takes nothing */
  size_t n_given;
  const char *const *words; /* what is not an option, the command's name left out */
  size_t n_words;
  size_t n_before; /* of the words, those before `--`; all of them when it was not given */
} Args;

/*
 * Parses in the GNU manner: options anywhere, --name VALUE, --name=VALUE, -n VALUE, -nVALUE, -jq, `--` ends the
 * options, a unique beginning of a long name is enough. The first word is the command; without one command is NULL.
 * Unknown commands and options are refused with the nearest known name, an option given twice and a wrong number of
 * words too. Errors: ERR_USAGE.
 */
bool args_parse(Arena *arena, int argc, char *const *argv, Args *ret, Error *err);

bool args_has(const Args *args, const char *name);
/* The option's value; NULL when not given. */
const char *args_value(const Args *args, const char *name);
/* A whole number of at least `least`; fallback when not given. Errors: ERR_USAGE. */
bool args_number(const Args *args, const char *name, long least, long fallback, long *ret, Error *err);

#endif
