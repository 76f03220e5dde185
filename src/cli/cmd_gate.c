#include "cli/session.h"
#include "cli/steps.h"
#include "view/verdict.h"

static int run(Session *session);

static const CliExample examples[] = {{"tidegate gate daily_delays.yaml", "may it run now? exit status 0 or 3"},
                                      {NULL, NULL}};

const Command command_gate = {
    .name = "gate",
    .summary = "say whether a spec may run now, without recording anything",
    .arguments = "SPEC",
    .min_args = 1,
    .max_args = 1,
    .about =
        "Judges the spec as `tidegate plan` does and prints the verdict alone. Nothing is written, to the ledger "
        "neither. The rules are listed in docs/reference/gate-rules.md.",
    .exits = {ERR_DENIED, ERR_DATABASE, ERR_NOT_FOUND, ERR_PAUSED, ERR_NONE},
    .examples = examples,
    .run = run};

static int run(Session *session) {
  Verdict verdict;
  Error err;
  if (!step_plan(session, session_word(session, 0), false, &verdict, &err)) return session_fail(session, &err);
  if (session->json) {
    Json json = {.out = &session->buffer};
    gate_json(&verdict, &json);
    buf_putc(&session->buffer, '\n');
  } else {
    const char *then = verdict.allow ? arena_printf(&session->arena, "tidegate plan %s", session_word(session, 0)) : "";
    view_verdict(&session->paint, &session->arena, &session->plan, &verdict, session->plan.planned_at, then);
  }
  int status = session_flush(session);
  return verdict.allow ? status : error_exit_status(ERR_DENIED);
}
