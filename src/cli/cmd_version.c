#include "cli/session.h"

static int run(Session *session);

const Command command_version = {.name = "version",
                                 .summary = "print the version",
                                 .arguments = "",
                                 .about = "The same as `tidegate --version`.",
                                 .exits = {ERR_NONE},
                                 .run = run};

static int run(Session *session) {
  if (session->json) {
    Json json = session_object(session);
    json_text(&json, "version", TIDEGATE_VERSION);
    session_object_end(session, &json);
  } else {
    buf_puts(&session->buffer, "tidegate " TIDEGATE_VERSION "\n");
  }
  return session_flush(session);
}
