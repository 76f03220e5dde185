#ifndef TIDEGATE_GATE_TRIGGER_SHELL_RUN_H
#define TIDEGATE_GATE_TRIGGER_SHELL_RUN_H

#include "gate/trigger/shell.h"

/*
 * What a command line would run, without running it. Every command that can be reached is told, whatever conditions
 * stand before it (interception.md, C.2: "do not decide reachability"); functions, aliases, loops over words, variables
 * assigned in the text, text piped or written into a shell are followed. What is only known when it runs is
 * SHELL_UNKNOWN inside a word. Private to this folder.
 */

#define SHELL_UNKNOWN '\1' /* stands for any text */
#define SHELL_ASSUMED '\2' /* what follows holds if a variable is not set */
#define SHELL_MADE '\6'    /* before SHELL_UNKNOWN: the text was made of other text, so that it may hide anything */

/* Something that is read: by a command, or as a file. text NULL: it is not known; then maybe the file it comes from. */
typedef struct ShellInput {
  const char *text;
  bool piped; /* comes from another command or a file, not from the terminal */
  const char *file;
} ShellInput;

typedef struct ShellCommand {
  const char *const *argv; /* expanded words, n at least 1 */
  size_t n;
  ShellInput input;
} ShellCommand;

typedef struct ShellRun ShellRun;

/* Told each command; may run more text with shell_run_text. */
typedef void ShellSink(void *context, ShellRun *run, const ShellCommand *command);

/* What is run more often than this is not followed further. */
enum {
  SHELL_MAX_STEPS = 20 * 1000,
  SHELL_MAX_LOOP = 400,
  SHELL_MAX_NAMES = 4000,
  SHELL_MAX_EXPANDED = 2 * 1024 * 1024
};

/* Follows the tree. *ret_why_not: why not everything could be followed, else NULL. */
void shell_run(Arena *arena, const ShellNode *root, ShellSink *sink, void *context, const char **ret_why_not);

/* More code: what stands in bash -c, eval, here-documents of a shell. Words in it may hold SHELL_UNKNOWN. */
void shell_run_text(ShellRun *run, const char *text, ShellInput input);
/* The same with $1 …: what stands behind `bash -c CODE NAME`, or behind a script's name. */
void shell_run_script(ShellRun *run, const char *text, const char *const *arguments, size_t n, ShellInput input);
/* … and with $0, the name. */
void shell_run_named(ShellRun *run, const char *text, const char *name, const char *const *arguments, size_t n,
                     ShellInput input);
/* The same for words that are one command's. */
void shell_run_words(ShellRun *run, const char *const *words, size_t n, ShellInput input);

/* Not everything could be followed; the first reason stays. */
void shell_doubt(ShellRun *run, const char *why);

/* NAME=value, also for one command alone: noted, and run where other programs run such a value: EDITOR and the like. */
void shell_run_setting(ShellRun *run, const char *setting);
/* The value that the text gave to a name last; NULL: none. */
const char *shell_run_value(const ShellRun *run, const char *name);

/* Is the file the standard input? */
bool shell_is_input(const char *name);

/* A file that this text wrote, or a pipe /dev/fd/N: its contents; NULL when nothing is known of it. */
const char *shell_run_file(const ShellRun *run, const char *name);

#endif
