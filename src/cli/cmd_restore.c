#include "cli/session.h"
#include "swap/swap.h"
#include "view/outcome.h"

static int run(Session *session);

static const CliExample examples[] = {{"tidegate restore 7f3a", "puts back every row of the range that differs"},
                                      {NULL, NULL}};

const Command command_restore = {
    .name = "restore",
    .summary = "make the range what the snapshot holds",
    .arguments = "PLAN",
    .min_args = 1,
    .max_args = 1,
    .about =
        "Puts back, row by row and in one transaction, what differs from the snapshot. Rows outside the range are not "
        "touched.",
    .exits = {ERR_DENIED, ERR_HELD, ERR_LOCKED, ERR_LEASED, ERR_DATABASE, ERR_STATE, ERR_NOT_FOUND, ERR_NONE},
    .examples = examples,
    .run = run};

static int run(Session *session) {
  SnapshotFacts facts;
  Error err;
  if (!session_plan(session, session_word(session, 0), &err) || !swap_restore(session_backfill(session), &facts, &err))
    return session_fail(session, &err);
  if (session->json) {
    Json json = session_object(session);
    view_restore_json(&json, &session->record, &facts);
    session_object_end(session, &json);
  } else {
    view_restore(&session->paint, &session->arena, &session->record, &facts);
  }
  return session_flush(session);
}
