#include "cli/session.h"
#include "cli/steps.h"
#include "view/outcome.h"

static int run(Session *session);

static const CliOption options[] = {
    {"wait", '\0', NULL, "outside the window: wait until it opens (this is so unless --no-wait is given)"},
    {"no-wait", '\0', NULL, "outside the window: end with exit status 3"},
    {NULL, '\0', NULL, NULL}};

static const CliExample examples[] = {
    {"tidegate run 7f3a", "writes the batches aside; Ctrl-C pauses, the same command carries on"},
    {"tidegate run --no-wait daily_delays",
     "the newest backfill of the target; ends at once when the window is closed"},
    {NULL, NULL}};

const Command command_run = {
    .name = "run",
    .summary = "write the batches aside, prove them and seal the change set",
    .arguments = "PLAN",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .about =
        "PLAN is the beginning of an id, a target, or the path of a spec file. Batches go to the shadow, the "
        "lightest first; before each the gate is asked, after each its evidence is judged. Production is only "
        "read.\n\n"
        "SIGINT, SIGTERM and SIGHUP pause after the batch that is being written, a second one stops at once. "
        "Whatever ends it, the same command carries on where it was.",
    .exits = {ERR_DENIED, ERR_HELD, ERR_LOCKED, ERR_PAUSED, ERR_NO_CHANGE, ERR_LEASED, ERR_SUPERSEDED, ERR_DATABASE,
              ERR_STATE, ERR_NOT_FOUND, ERR_COMMAND, ERR_FULL, ERR_NONE},
    .examples = examples,
    .run = run};

static int run(Session *session) {
  RunFacts facts;
  Error err;
  bool wait = !args_has(session->args, "no-wait");
  if (!wait && args_has(session->args, "wait")) {
    error_set(&err, ERR_USAGE, "--wait and --no-wait exclude one another");
    return step_fail(session, &err);
  }
  if (!session_plan(session, session_word(session, 0), &err) || !step_run(session, wait, &facts, &err))
    return step_fail(session, &err);
  if (session->json) {
    Json json = session_object(session);
    view_run_json(&json, session->record.id, &facts);
    session_object_end(session, &json);
  } else {
    view_run(&session->paint, &session->arena, session->record.id, &facts);
  }
  return session_flush(session);
}
