#include <string.h>

#include "cli/gate_command.h"
#include "cli/gate_log.h"
#include "cli/session.h"
#include "cli/steps.h"
#include "view/verdict.h"

static int run(Session *session);

static const CliOption options[] = {
    {"command", '\0', "TEXT", "judge a command line, as bash reads it; - reads standard input"},
    {"place", '\0', "NAME", "where it was typed, for the record; shell unless given"},
    {"override", '\0', "REASON", "let it run in spite of the rules, where that is allowed; it is written down"},
    {"draft", '\0', "FILE", "write a draft of the spec for the command behind -- or of --command; - prints it"},
    {"last", '\0', "N", "how many verdicts log shows; 50 unless given"},
    {"classify", '\0', "TEXT",
     "say whether a command line starts a backfill with another tool; - reads standard input"},
    {NULL, '\0', NULL, NULL}};

static const CliExample examples[] = {
    {"tidegate gate -- airflow dags backfill -s 2024-01-01 -e 2024-01-31 sales_daily",
     "may this command run? exit status 0, 3 or 19"},
    {"tidegate gate log", "who typed what, and what became of it"},
    {"tidegate gate daily_delays.yaml", "may it run now? exit status 0 or 3"},
    {"tidegate gate --classify 'airflow dags backfill -s 2024-01-01 -e 2024-01-31 sales'",
     "trigger, and a line of system, target, first and last date"},
    {NULL, NULL}};

const Command command_gate = {
    .name = "gate",
    .summary = "say whether a spec, or a command of another tool, may run now",
    .arguments = "[SPEC | -- COMMAND | log | approve ID]",
    .max_args = 100000,
    .options = options,
    .about =
        "With SPEC: judges it as `tidegate plan` does and prints the verdict alone; nothing is written.\n\n"
        "With a command of another tool, as words behind -- or as the text of --command: says whether it may run, why "
        "not, and what to type instead. What starts no backfill is allowed at once. What does needs literal dates, a "
        "table that tidegate.yaml maps it to (jobs: names), a plan, a proven shadow or a verified snapshot, and time "
        "before production's next run; then it is allowed once, and `tidegate check` is owed afterwards. The status is "
        "0 when it may run, 3 when it may not, 19 when a person has to decide. The rules of both are in "
        "docs/reference/gate-rules.md.\n\n"
        "Every verdict on such a command is written into the ledger, secrets masked: `tidegate gate log`. --override "
        "lets one run in spite of the rules, unless gate.override in tidegate.yaml forbids it or asks for a role or a "
        "second person, who types `tidegate gate approve ID`.\n\n"
        "--draft FILE judges nothing: it writes the spec for the same dates by the same command, batch by batch, with "
        "FILL IN where only a person knows, and says what to type then. A file that exists stays as it is.\n\n"
        "--classify is plumbing for scripts and tests, and its output is stable: it reads a command line as bash would "
        "and needs neither spec nor database. The first line is `trigger`, `not_trigger` or `ask` (not understood, and "
        "it names such a tool); then comes a line a trigger: system, target, first and last date (both included), with "
        "tabs between and - for what is not explicit. The exit status is 0 whatever the answer.",
    .exits = {ERR_DENIED, ERR_ASK, ERR_DATABASE, ERR_STATE, ERR_NOT_FOUND, ERR_PAUSED, ERR_LOCKED, ERR_NONE},
    .examples = examples,
    .run = run};

static int judge_spec(Session *session) {
  Verdict verdict;
  Error err;
  if (!step_plan(session, session_word(session, 0), false, &verdict, &err)) return session_fail(session, &err);
  if (session->json) {
    Json json = {.out = &session->buffer};
    gate_json(&verdict, &json);
    buf_putc(&session->buffer, '\n');
  } else {
    const char *then = verdict.allow ? arena_printf(&session->arena, "tidegate plan %s", session_word(session, 0)) : "";
    view_verdict(&session->paint, &session->arena, &session->plan, &verdict, session->plan.planned_at, then);
  }
  int status = session_flush(session);
  return verdict.allow ? status : error_exit_status(ERR_DENIED);
}

static int run(Session *session) {
  const Args *args = session->args;
  const char *classified = args_value(args, "classify"), *command = args_value(args, "command");
  const char *word = session_word(session, 0);
  bool plain = classified == NULL && command == NULL;
  Error err;
  if (args->n_before < args->n_words && args->n_before == 0 && plain)
    return gate_words(session, args->words, args->n_words);
  if (classified != NULL && command == NULL && args->n_words == 0) return gate_classify(session, classified);
  if (command != NULL && classified == NULL && args->n_words == 0) return gate_command(session, command);
  if (plain && args->n_words == 1 && strcmp(word, "log") == 0) return gate_log(session);
  if (plain && args->n_words == 2 && strcmp(word, "approve") == 0)
    return gate_approve(session, session_word(session, 1));
  if (plain && args->n_words == 1 && args->n_before == 1) return judge_spec(session);
  error_set(&err, ERR_USAGE, "gate judges one spec, one command behind --, or one text");
  error_hint(&err, "see: tidegate gate --help");
  return session_fail(session, &err);
}
