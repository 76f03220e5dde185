#include "cli/dispatch.h"

#include <string.h>

#include "cli/docs.h"
#include "cli/help.h"
#include "cli/session.h"
#include "cli/stop.h"

/* Was --json asked for? Known even when the rest of the command line is not understood. */
static bool wants_json(int argc, char *const *argv) {
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
    if (strcmp(argv[i], "--json") == 0 || strcmp(argv[i], "-j") == 0) return true;
  return false;
}

static int run(Session *session, int argc, char *const *argv) {
  Args args = {0};
  Error err;
  if (!args_parse(&session->arena, argc, argv, &args, &err)) {
    session->args = &args;
    session->json = wants_json(argc, argv);
    return session_fail(session, &err);
  }
  Arena arena = session->arena;
  session_start(session, &args);
  session->arena = arena;
  if (args.command != NULL && !args_has(&args, "help")) return args.command->run(session);
  if (args.command != NULL)
    help_command(&session->buffer, args.command);
  else if (args_has(&args, "help"))
    help_all(&session->buffer);
  else
    help_orientation(&session->buffer);
  return session_flush(session);
}

int cli_main(int argc, char *const *argv) {
  char version[] = "version";
  char *const version_line[] = {argv[0], version, NULL};
  if (argc == 2 && strcmp(argv[1], "--version") == 0) argv = version_line;
  if (argc == 3 && strcmp(argv[1], "--print-docs") == 0) return docs_print(argv[2]);
  stop_install();
  Session session = {0};
  session.paint.out = &session.buffer;
  int status = run(&session, argc, argv);
  session_end(&session);
  return status;
}
