#ifndef TIDEGATE_GATE_COMMAND_COMMAND_H
#define TIDEGATE_GATE_COMMAND_COMMAND_H

#include "base/error.h"
#include "base/json.h"
#include "gate/trigger/trigger.h"
#include "spec/spec.h"
#include "time/civil.h"

/*
 * May this command of another tool run? Whoever stands in front of other tools (a shell, an agent's hook, Airflow) asks
 * here. An error is a denial, for every caller. A command that starts no backfill is allowed at once: no database is
 * opened and nothing is recorded.
 */

/* COMMAND_ASK: a person has to decide; where none can be asked it is a denial. */
typedef enum CommandDecision { COMMAND_ALLOW, COMMAND_ASK, COMMAND_DENY } CommandDecision;

typedef struct CommandAsk {
  const char *text; /* n bytes, as bash reads them */
  size_t n;
  const char *place;           /* where it was typed: "shell", "claude-code", "airflow" …; for the record */
  const char *directory;       /* tidegate.yaml is looked for from here upwards; NULL: the working directory */
  const char *who;             /* NULL: who runs this process */
  const char *override_reason; /* why it must run in spite of the rules; NULL: no override is asked for */
  bool can_ask;                /* a person is there and can be asked */
  const TriggerReport *report; /* what it starts, already understood (a REST request); NULL: text is classified */
} CommandAsk;

typedef struct CommandReason {
  const char *rule; /* the rule's stable name, e.g. "dates" */
  const char *text; /* what is unsafe, and why it matters */
  const char *hint; /* what to do next; may have several lines (what to write into tidegate.yaml); NULL: nothing */
  bool asks;        /* a person may decide; else it denies */
} CommandReason;

typedef struct CommandVerdict {
  CommandDecision decision;
  const CommandReason *reasons; /* every rule that matched, in the table's order; none when allowed */
  size_t n;
  TriggerReport report;
  const char *pass;          /* the record's id that let it run once; NULL: none was needed, or it was not allowed */
  const char *backfill;      /* whose check is owed afterwards; NULL: none */
  Instant until;             /* by the database's clock: how long the pass is good; 0: no end in sight, or no pass */
  bool overridden;           /* it may run in spite of the reasons */
  bool taken_over;           /* an outer place (the shell, an agent) just let it through: no reasons are asked again */
  const char *const *offers; /* lines to type instead */
  size_t n_offers;
} CommandVerdict;

/* Judges, and records the verdict where the database is known. Everything lives in the arena. */
bool command_judge(Arena *arena, const CommandAsk *ask, CommandVerdict *ret, Error *err);

/*
 * Which job does a command line start that goes on elsewhere, by the names that tidegate.yaml and `live` give it? The
 * spec's name of it; NULL: none, as far as is known.
 */
const char *command_job(Arena *arena, const Spec *spec, const char *text);

/* "allow", "ask", "deny". */
const char *command_decision_name(CommandDecision decision);

/* The verdict for people, plain text: what was understood, every reason with its hint, what to type instead. Empty for
 * a command that starts nothing. */
void command_text(const CommandVerdict *verdict, Buf *out);
/* The same as one JSON object. */
void command_json(const CommandVerdict *verdict, Json *json);

/* The rules, in the order in which they are judged, for the docs. */
typedef struct CommandRuleFacts {
  const char *name, *needs, *what; /* needs: "text", "tidegate.yaml", "database" */
} CommandRuleFacts;
const CommandRuleFacts *command_rules(size_t *ret_n);

#endif
