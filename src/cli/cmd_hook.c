#include "cli/cmd_hook.h"

#include <string.h>

static int run(Session *session);

static const CliExample examples[] = {
    {"tidegate hook run claude-code < question.json", "what an agent asks before it calls a tool"}, {NULL, NULL}};

const Command command_hook = {
    .name = "hook",
    .summary = "put the gate in front of agents, shells, git, CI and Airflow",
    .arguments = "run PLACE",
    .min_args = 1,
    .max_args = 65536,
    .about =
        "`run` is what a place calls, each time, before something is run there: it reads the place's question from "
        "standard input, judges as `tidegate gate` does, and answers in the place's own words. What cannot be read or "
        "judged closes the place. Places: claude-code, codex, gemini, cursor, bash, zsh, airflow, opa. What each sees, "
        "and what goes round it, stands in docs/how-to-hooks.md.",
    .exits = {ERR_DENIED, ERR_NONE},
    .examples = examples,
    .run = run};

static int run(Session *session) {
  Error err;
  const char *action = session_word(session, 0);
  if (strcmp(action, "run") == 0) return hook_run(session);
  error_set(&err, ERR_USAGE, "hook: unknown action %s", action);
  error_hint(&err, "see: tidegate hook --help");
  return session_fail(session, &err);
}
