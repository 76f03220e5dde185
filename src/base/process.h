#ifndef TIDEGATE_BASE_PROCESS_H
#define TIDEGATE_BASE_PROCESS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

/* A variable that the command finds in its environment, and the place in its words that stands for the same value. */
typedef struct ProcessVariable {
  const char *place, *name; /* "{from}", "TIDEGATE_FROM" */
  const char *value;
} ProcessVariable;

/* The word with every place filled, in the arena. `${from}` is the shell's own and stays as it is. */
char *process_fill(Arena *arena, const char *word, const ProcessVariable *variables, size_t n);

/* A command that is to end gets so many seconds after SIGTERM; then it is killed. */
enum { PROCESS_END_SECONDS = 5 };

typedef struct ProcessRules {
  const ProcessVariable *variables;
  size_t n;
  double timeout;               /* seconds; then its whole process group is ended */
  const char *timeout_name;     /* what set the timeout, for the message */
  bool (*go_on)(void *context); /* asked several times a second; false ends the process group. May be NULL */
  void *context;
} ProcessRules;

/*
 * Runs a command to its end: argv[0] is looked up on PATH, no shell; standard input is empty and there is no terminal;
 * its output and errors go to `log` (the first 64 KiB), secrets masked. It is the leader of a session of its own, whose
 * process group is ended as a whole; killed, this process takes the leader with it. Errors:
 * ERR_COMMAND for a status other than 0, a signal or the timeout; ERR_PAUSED when go_on said stop.
 */
bool process_run(char *const *argv, const ProcessRules *rules, Buf *log, Error *err);

/* The same, with any exit status being an answer and the log as it came (127: it cannot be run). ERR_COMMAND for a
 * signal or the timeout. */
bool process_status(char *const *argv, const ProcessRules *rules, Buf *log, int *ret_status, Error *err);

#endif
