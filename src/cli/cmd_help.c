#include "cli/help.h"
#include "cli/session.h"

static int run(Session *session);

const Command command_help = {.name = "help",
                              .summary = "show the commands, or how one is used",
                              .arguments = "[COMMAND]",
                              .max_args = 1,
                              .about = "The same as `tidegate --help` and `tidegate COMMAND --help`.",
                              .exits = {ERR_NONE},
                              .run = run};

static int run(Session *session) {
  const char *name = session_word(session, 0);
  const Command *command = name == NULL ? NULL : command_find(name);
  if (name != NULL && command == NULL) {
    Error err;
    error_set(&err, ERR_USAGE, "unknown command %s", name);
    error_hint(&err, "the commands: tidegate --help");
    return session_fail(session, &err);
  }
  if (command == NULL)
    help_all(&session->buffer);
  else
    help_command(&session->buffer, command);
  return session_flush(session);
}
