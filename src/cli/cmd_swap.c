#include <string.h>

#include "cli/session.h"
#include "cli/steps.h"
#include "view/outcome.h"

static int run(Session *session);

static const CliOption options[] = {{"yes", 'y', NULL, "publish without asking"}, {NULL, '\0', NULL, NULL}};

static const CliExample examples[] = {{"tidegate swap 7f3a", "shows the changes, asks, and publishes"},
                                      {"tidegate swap --yes 7f3a", "publishes without asking, for scripts"},
                                      {NULL, NULL}};

const Command command_swap = {
    .name = "swap",
    .summary = "publish the sealed change set in one transaction",
    .arguments = "PLAN",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .about =
        "Production and the sources are checked for drift, and checked again under the lock; then the change set "
        "is applied and its mark commits with it. Asks before it publishes when standard input is a terminal; "
        "elsewhere --yes is needed.\n\n"
        "After a rollback the same command publishes again. Whatever goes wrong, production is untouched.",
    .exits = {ERR_DENIED, ERR_HELD, ERR_DRIFT, ERR_LOCKED, ERR_PAUSED, ERR_LEASED, ERR_SUPERSEDED, ERR_DATABASE,
              ERR_STATE, ERR_NOT_FOUND, ERR_FULL, ERR_NONE},
    .examples = examples,
    .run = run};

static int run(Session *session) {
  SwapFacts facts;
  Error err;
  if (!session_plan(session, session_word(session, 0), &err)) return step_fail(session, &err);
  bool reopens = strcmp(session->record.state, state_name(STATE_rolled_back)) == 0;
  if (!reopens && !ledger_allows(&session->record, "swap", &err)) return step_fail(session, &err);
  if (!step_confirm(session, &err) || !step_swap(session, &facts, &err)) return step_fail(session, &err);
  if (session->json) {
    Json json = session_object(session);
    view_swap_json(&json, &session->plan, session->record.id, &facts);
    session_object_end(session, &json);
  } else {
    view_swap(&session->paint, &session->arena, &session->plan, session->record.id, &facts);
  }
  return session_flush(session);
}
