#ifndef TIDEGATE_GATE_TRIGGER_TRIGGER_H
#define TIDEGATE_GATE_TRIGGER_TRIGGER_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Does a command line start a backfill with another tool? Decided from the text alone: no database, no spec, nothing is
 * run. What is not understood and names such a tool is TRIGGER_ASK: a person, or a denial where none can be asked.
 */
typedef enum TriggerVerdict { TRIGGER_NO, TRIGGER_YES, TRIGGER_ASK } TriggerVerdict;

/* One command that rewrites a date range. NULL: not explicit, or not known. */
typedef struct Trigger {
  bool sure;             /* false: perhaps */
  const char *system;    /* "airflow2", "dbt"; "?" when it is not known which */
  const char *target;    /* the DAG, job, model or table as the command names it; several with blanks between */
  const char *from, *to; /* YYYY-MM-DD, both included, whatever the tool means by its end */
  bool until_midnight;   /* the command's end is an instant, and given as `to` alone: what is due later on that day is
                            left out */
  const char *danger;    /* flags that do more than write the range, and what; NULL: none */
  const char *why;       /* for what is not sure */
} Trigger;

typedef struct TriggerReport {
  TriggerVerdict verdict;
  const Trigger *items; /* each once, in the order found */
  size_t n;
  const char *why; /* TRIGGER_ASK: the first reason */
} TriggerReport;

/* Reads n bytes as bash would. Everything lives in the arena. */
TriggerReport trigger_classify(Arena *arena, const char *text, size_t n);

/*
 * The same in a process of its own, so that what crashes it, or takes it more than a second, is TRIGGER_ASK and never
 * an end without an answer.
 */
TriggerReport trigger_classify_apart(Arena *arena, const char *text, size_t n);

/* A command line that the user's tidegate.yaml says is a backfill: a pattern of fnmatch(3) over its words with one
 * blank between, and the target that it stands for. Its first and last date are the range. */
typedef struct TriggerOwn {
  const char *pattern, *target;
} TriggerOwn;
TriggerReport trigger_classify_own(Arena *arena, const char *text, size_t n, const TriggerOwn *own, size_t n_own);

/* One request to another tool's REST interface; url may be a path alone. body NULL: none, or not known. */
TriggerReport trigger_request(Arena *arena, const char *method, const char *url, const char *body);

/* Is the system of a trigger a client of a database, so that its target is the table itself? */
bool trigger_names_table(const char *system);

/* "trigger", "not_trigger", "ask". */
const char *trigger_verdict_name(TriggerVerdict verdict);

#endif
