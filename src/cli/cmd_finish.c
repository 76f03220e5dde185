#include "cli/session.h"
#include "cli/steps.h"
#include "swap/swap.h"
#include "view/outcome.h"

static int run(Session *session);

static const CliOption options[] = {{"early", '\0', NULL, "give up the rest of the retention, never the checks"},
                                    {NULL, '\0', NULL, NULL}};

static const CliExample examples[] = {
    {"tidegate finish 7f3a", "drops what was kept, once the retention has passed and the checks pass on production"},
    {NULL, NULL}};

const Command command_finish = {
    .name = "finish",
    .summary = "drop what was kept, after the checks passed on production",
    .arguments = "PLAN",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .about =
        "Checks production once more and drops the change set with the kept rows. From then on there is no "
        "rollback. Refused before the retention has passed, unless --early is given, and while a check fails.",
    .exits = {ERR_DENIED, ERR_HELD, ERR_LOCKED, ERR_LEASED, ERR_DATABASE, ERR_STATE, ERR_NOT_FOUND, ERR_NONE},
    .examples = examples,
    .run = run};

static int run(Session *session) {
  Error err;
  if (!session_plan(session, session_word(session, 0), &err) ||
      !swap_finish(session_backfill(session), args_has(session->args, "early"), &err))
    return step_fail(session, &err);
  if (session->json) {
    Json json = session_object(session);
    view_ended_json(&json, &session->record);
    session_object_end(session, &json);
  } else {
    view_ended(&session->paint, "FINISHED", "the checks pass on production; what was kept is dropped");
  }
  return session_flush(session);
}
