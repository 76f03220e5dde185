#ifndef TIDEGATE_GATE_COMMAND_COMMAND_INT_H
#define TIDEGATE_GATE_COMMAND_COMMAND_INT_H

#include "base/mask.h"
#include "gate/command/command.h"
#include "gate/gate.h"
#include "ledger/ledger.h"

/* The private header of the folder. */

/* A table that the command would write, and what is known of it. */
typedef struct CommandTarget {
  const char *table;
  const SpecJob *job;     /* that stands for the command in tidegate.yaml; NULL: SQL that names the table itself */
  const Trigger *trigger; /* the first that writes it */
  const char *from, *to;  /* the dates of the rows, YYYY-MM-DD, both included */
  int64_t n_dates;
  BackfillRecord record; /* the plan that covers them; id NULL: none */
  Plan plan;
  double per_date; /* seconds; below 0: not known */
  bool owed;       /* what another command wrote into it was not checked */
  bool shadow;     /* proven: it writes beside production */
  Instant until;   /* how long the window is open; 0: no end in sight */
} CommandTarget;

/* What is judged, and what was found out about it so far. */
typedef struct CommandCase {
  Arena *arena;
  const CommandAsk *ask;
  TriggerReport report;
  const char *digest;        /* of the text */
  const char *pipeline_path; /* of tidegate.yaml; NULL: there is none */
  Spec pipeline;             /* its top; all zero when it was not read */
  Spec *entries;             /* of the targets in it; NULL: not read yet */
  size_t n_entries;
  bool read, opened; /* tidegate.yaml was looked for; the database was tried */
  Error trouble;     /* why the database is not open; code ERR_NONE: it is, or was not tried */
  Engine *engine;    /* NULL: not open */
  Instant now;       /* by the database's clock */
  bool listed;       /* the records were read */
  const BackfillRecord *records;
  size_t n_records;
  CommandTarget *targets;
  size_t n_targets;
  CommandReason *reasons;
  size_t n;
} CommandCase;

/* What a rule needs to know: each of these is looked up only when what stands before it has not denied. */
typedef enum CommandNeeds {
  COMMAND_TEXT,
  COMMAND_FILE, /* tidegate.yaml can be there or not */
  COMMAND_PIPELINE,
  COMMAND_CONNECTION, /* the same of the database */
  COMMAND_DATABASE
} CommandNeeds;

/* One rule: adds its reasons, none when it has nothing against the command. */
typedef struct CommandRule {
  const char *name;
  CommandNeeds needs;
  void (*judge)(CommandCase *c, const char *rule);
} CommandRule;

const CommandRule *command_rule_table(size_t *ret_n);

/* Adds a reason, unless it stands there already or the rule has said so much that nobody reads on; a hint is set on the
 * reason added last. */
void command_because(CommandCase *c, const char *rule, const char *format, ...) __attribute__((format(printf, 3, 4)));
void command_advise(CommandCase *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Does any reason deny, whoever may be asked? */
bool command_denies(const CommandCase *c);

/* "airflow2 sales_daily 2024-01-01 to 2024-01-31: ", to begin a reason with; "" where there is no other trigger. */
const char *command_of(const CommandCase *c, const Trigger *trigger);
/* The same without the colon and what is not known. */
const char *command_trigger_label(Arena *arena, const Trigger *trigger);

/* pipeline.c: what the command writes, by tidegate.yaml. */

/* Reads tidegate.yaml, and opens the database that it names: once; what failed is in c->trouble. */
bool command_read_pipeline(CommandCase *c);
bool command_open_database(CommandCase *c);
/* What the text starts, by the tools that are known and by the user's own `jobs: NAME: commands`. */
TriggerReport command_classify(CommandCase *c);
/* SQL over a table that tidegate.yaml does not know is no command that the gate stands in front of. */
void command_drop_unknown_tables(CommandCase *c);
void command_pipeline_missing(CommandCase *c, const char *rule);
void command_not_mapped(CommandCase *c, const char *rule);
void command_database_missing(CommandCase *c, const char *rule);
/* Is the job what a trigger's target names? */
bool command_stands_for(const SpecJob *job, const Trigger *trigger, const char *target);
/* Are they the same table? A schema counts when both name one. */
bool command_same_table(const char *a, const char *b);

/* proof.c: what the database proves. */
/* The target's dates as instants, as the plan counts them. */
bool command_dates(const CommandCase *c, const CommandTarget *target, const Plan *plan, DateRange *ret, Error *err);
void command_check_owed(CommandCase *c, const char *rule);
void command_dates_not_over(CommandCase *c, const char *rule);
void command_no_plan(CommandCase *c, const char *rule);
void command_not_undoable(CommandCase *c, const char *rule);

/* window.c: whether there is time for it. */
void command_forecast_unknown(CommandCase *c, const char *rule);
void command_window_closed(CommandCase *c, const char *rule);
void command_too_many_dates(CommandCase *c, const char *rule);

/* record.c */

/* Opens what may be written in place: from now on the check is owed. */
bool command_open(CommandCase *c, CommandVerdict *verdict, Error *err);
/* May it run in spite of the reasons? Sets verdict->overridden and the decision, or adds a reason why not. */
bool command_override(CommandCase *c, CommandVerdict *verdict, Error *err);
/* Writes the verdict down; verdict->pass is set when it may run. */
bool command_record(CommandCase *c, CommandVerdict *verdict, Error *err);

/* instead.c */

/* What to type instead, into verdict->offers. */
void command_offer(CommandCase *c, CommandVerdict *verdict);
/* Is it the tool of `tidegate snapshot --then`, over the dates of the batch that it is to write now? Then it is the
 * safe way already. Known by its environment, proven by the ledger. */
bool command_is_ours(CommandCase *c);

/* handover.c: did an outer place just let this very command through? Sets verdict->taken_over. */
bool command_take_over(CommandCase *c, CommandVerdict *verdict, Error *err);

#endif
