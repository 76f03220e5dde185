#include "cli/session.h"
#include "swap/swap.h"
#include "view/outcome.h"

static int run(Session *session);

static const CliExample examples[] = {{"tidegate discard 7f3a", "drops the shadow; production is untouched"},
                                      {NULL, NULL}};

const Command command_discard = {
    .name = "discard",
    .summary = "give a backfill up and drop its shadow",
    .arguments = "PLAN",
    .min_args = 1,
    .max_args = 1,
    .about =
        "Drops only objects that the ledger lists for this backfill, checked by name and identity. Production "
        "is untouched. A published backfill cannot be discarded: roll it back first, or finish it.",
    .exits = {ERR_LOCKED, ERR_LEASED, ERR_DATABASE, ERR_STATE, ERR_NOT_FOUND, ERR_NONE},
    .examples = examples,
    .run = run};

static int run(Session *session) {
  Error err;
  if (!session_record(session, session_word(session, 0), &err)) return session_fail(session, &err);
  /* A spec that no longer resolves must not stand in the way of clearing up. */
  bool resolved = plan_load(&session->arena, session->engine, &session->record, &session->plan, &err);
  if (!resolved && err.code != ERR_SPEC && err.code != ERR_NOT_FOUND && err.code != ERR_SUPERSEDED)
    return session_fail(session, &err);
  Backfill on = session_backfill(session);
  if (!resolved) on.plan = NULL;
  if (!swap_discard(on, &err)) return session_fail(session, &err);
  if (session->json) {
    Json json = session_object(session);
    view_ended_json(&json, &session->record);
    session_object_end(session, &json);
  } else {
    view_ended(&session->paint, "DISCARDED", "the shadow is dropped; production untouched");
  }
  return session_flush(session);
}
