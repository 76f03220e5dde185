#ifndef TIDEGATE_GATE_GATE_H
#define TIDEGATE_GATE_GATE_H

#include "jobs/live.h"
#include "plan/plan.h"

/* The judge. Only this room makes a GatePass (law 8). */

/* What is asked for. */
typedef enum GateAct {
  GATE_PLAN,     /* may this plan be recorded and, by the clock, be run now? */
  GATE_BATCH,    /* may a batch of `need` seconds start now? */
  GATE_SWAP,     /* may the change set be published now? */
  GATE_ROLLBACK, /* may the kept rows be put back now? */
  GATE_SNAPSHOT, /* may the range be copied now? */
  GATE_IN_PLACE, /* as GATE_PLAN, for a tool that writes production over a snapshot: it needs no shadow */
  GATE_CLEAN     /* may objects be dropped? (never waits for a window) */
} GateAct;

typedef struct GateReason {
  const char *rule; /* the rule's stable name, e.g. "production-run" */
  const char *text; /* what is unsafe, and why it matters */
  const char *hint; /* what to do next */
  bool waits;       /* time alone cures it */
} GateReason;

typedef struct Verdict {
  bool allow;
  const char *rule;          /* the first rule that matched; NULL when allowed */
  const GateReason *reasons; /* every rule that matched, in the table's order */
  size_t n;
  bool waits;         /* denied, but by nothing that time alone does not cure */
  Instant wait_until; /* 0: not known */
  Window window;      /* when allowed: the window that is open now; to 0: no end in sight */
  Instant next_run;   /* the next run of a job that concerns the backfill; 0: none or unknown */
  size_t next_job;    /* the index in plan->clock.jobs of the job whose run that is */
  const char
      *failed; /* the last run of a job that was asked about failed: no denial, but to be looked at; NULL: none */
} Verdict;

typedef struct GateRuleFacts {
  const char *name, *law, *what; /* for the docs */
} GateRuleFacts;

/* The rules, in the order in which they are judged. */
const GateRuleFacts *gate_rules(size_t *ret_n);

/*
 * Judges. `need`: seconds that the act must fit in before the window closes (guard excluded: it is part of busy time).
 * The clock is the database's. *ret_pass is a pass in the arena when allowed, else NULL. A fact that cannot be had
 * denies. Errors: only when the judging itself fails.
 */
bool gate_judge(Arena *arena, Engine *engine, const Plan *plan, GateAct act, double need, Verdict *ret,
                const GatePass **ret_pass, Error *err);

/*
 * Asks again and again, while something waits for the answer, whether a job runs that the act must not meet. `apart`:
 * on a connection of its own, because the caller's is busy with a statement. *ret_watch is NULL when no job says how it
 * is asked; all below take that for "none runs". For one thread at a time.
 */
typedef struct GateWatch GateWatch;
bool gate_watch_open(Engine *engine, const Plan *plan, GateAct act, bool apart, GateWatch **ret_watch, Error *err);
void gate_watch_close(GateWatch **watch);
/* Asks now, over `engine`, for so many seconds at most: NULL when every job is idle, else which is not or cannot be
 * told; lives until the next call. */
const char *gate_watch_ask(GateWatch *watch, Engine *engine, double within);
/* For a running batch: asks once a second, for two seconds at most; between that it is NULL at once. An answer that is
 * wanting counts when the next is wanting too. own: a tool that runs as the batch; NULL: none does. */
const char *gate_watch_glance(GateWatch *watch, const JobOwn *own);

/* Turns a denial into ERR_DENIED with every reason in the message and the first hint; returns false. */
bool gate_deny(const Verdict *verdict, Error *err);

void gate_json(const Verdict *verdict, Json *json);

#endif
