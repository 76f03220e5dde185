#include "cli/session.h"
#include "cli/steps.h"
#include "swap/swap.h"
#include "view/outcome.h"

static int run(Session *session);

static const CliExample examples[] = {{"tidegate check 7f3a", "judges what was written in place over the snapshot"},
                                      {NULL, NULL}};

const Command command_check = {
    .name = "check",
    .summary = "judge what was written in place over a snapshot",
    .arguments = "PLAN",
    .min_args = 1,
    .max_args = 1,
    .about = "Holds production against the evidence of the spec and against the snapshot, rows outside the range too.",
    .exits = {ERR_DENIED, ERR_HELD, ERR_LOCKED, ERR_LEASED, ERR_DATABASE, ERR_STATE, ERR_NOT_FOUND, ERR_NONE},
    .examples = examples,
    .run = run};

static int run(Session *session) {
  SnapshotFacts facts;
  Error err;
  if (!session_plan(session, session_word(session, 0), &err) || !swap_check(session_backfill(session), &facts, &err))
    return step_fail(session, &err);
  if (session->json) {
    Json json = session_object(session);
    view_snapshot_json(&json, &session->record, &facts);
    session_object_end(session, &json);
  } else {
    view_snapshot(&session->paint, &session->arena, &session->record, &facts, false);
  }
  return session_flush(session);
}
