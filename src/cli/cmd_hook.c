#include "cli/cmd_hook.h"

#include <string.h>

static int run(Session *session);

static const CliOption options[] = {{"user", 'u', NULL, "install: into the user's own file (the default)"},
                                    {"project", 'p', NULL, "install: into the file of the project in this folder"},
                                    {NULL, '\0', NULL, NULL}};

static const CliExample examples[] = {
    {"tidegate hook install claude-code && tidegate hook test claude-code", "and see that it is closed"},
    {"tidegate hook install shim airflow dbt", "these two ask before they start"},
    {"tidegate hook status", "where it stands, and whether it still works"},
    {"tidegate hook run ci origin/main", "judge the backfill files that this branch changes"},
    {NULL, NULL}};

const Command command_hook = {
    .name = "hook",
    .summary = "put the gate in front of agents, shells, git, CI and Airflow",
    .arguments = "install|status|test|remove|run [PLACE]",
    .min_args = 1,
    .max_args = 65536,
    .options = options,
    .about =
        "`install` writes what makes a place ask: claude-code, codex, gemini, cursor (their settings), bash, zsh (the "
        "startup file), shim (programs of those tools, in a folder that comes first on PATH) and git (the pre-commit "
        "hook "
        "of this repository). Other entries, comments and order stay; what was there is kept beside it, and `remove` "
        "puts it back. `test` sends a command that must be blocked through what is installed, and one that must not. "
        "`status` says where it is installed and whether the program that is called is still there.\n\n"
        "`run` is what a place calls, each time, before something is run there: it reads the place's question from "
        "standard input, judges as `tidegate gate` does, and answers in the place's own words. What cannot be read or "
        "judged closes the place. Beside the places above: airflow (see docs/how-to-airflow.md), opa (prints a "
        "document for "
        "OPA and conftest), and ci [BASE [HEAD]] (judges the backfill files changed between two revisions).\n\n"
        "What each place sees, and what goes round it, stands in docs/how-to-hooks.md.",
    .exits = {ERR_DENIED, ERR_SPEC, ERR_NOT_FOUND, ERR_DATABASE, ERR_COMMAND, ERR_INCOMPLETE, ERR_NONE},
    .examples = examples,
    .run = run};

static int run(Session *session) {
  static const struct {
    const char *name;
    int (*run)(Session *session);
  } actions[] = {{"run", hook_run},
                 {"install", hook_install_place},
                 {"remove", hook_remove_place},
                 {"status", hook_status},
                 {"test", hook_test}};
  Error err;
  const char *action = session_word(session, 0);
  for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
    if (strcmp(actions[i].name, action) == 0) return actions[i].run(session);
  error_set(&err, ERR_USAGE, "hook: unknown action %s", action);
  error_hint(&err, "one of: install, status, test, remove, run");
  return session_fail(session, &err);
}
