#include "cli/session.h"
#include "cli/steps.h"
#include "view/plan_report.h"

static int run(Session *session);

static const CliOption options[] = {
    {"require-lineage", '\0', NULL, "deny when lineage was not read, as `lineage: {required: yes}` does"},
    {NULL, '\0', NULL, NULL}};

static const CliExample examples[] = {
    {"tidegate plan daily_delays.yaml", "answers every question and says whether the backfill may run"},
    {"tidegate plan --json daily_delays.yaml", "the same as JSON, for scripts"},
    {NULL, NULL}};

const Command command_plan = {
    .name = "plan",
    .summary = "answer the questions before anything runs",
    .arguments = "SPEC",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .about =
        "Reads the spec and the database, recomputes the control dates, looks at the sources, at what is "
        "downstream and at the window, and lets the gate judge. Production is only read.\n\n"
        "An allowed plan is recorded in the ledger under an id. A plan that is denied only because of the hour "
        "is recorded too, and the exit status is that of a denial; any other denied plan leaves no trace.",
    .exits = {ERR_DENIED, ERR_DATABASE, ERR_NOT_FOUND, ERR_PAUSED, ERR_FULL, ERR_LOCKED, ERR_NONE},
    .examples = examples,
    .run = run};

static int run(Session *session) {
  Verdict verdict;
  Error err;
  if (!session_spec(session, session_word(session, 0), &err)) return session_fail(session, &err);
  if (args_has(session->args, "require-lineage")) session->spec.lineage.required = true;
  if (!step_plan_spec(session, true, &verdict, &err)) return session_fail(session, &err);
  if (session->json) {
    Json json = session_object(session);
    json_text(&json, "id", session->plan.id);
    view_plan_json(&json, &session->plan, &verdict);
    session_object_end(session, &json);
  } else {
    view_plan(&session->paint, &session->arena, &session->plan, &verdict);
  }
  int status = session_flush(session);
  return verdict.allow ? status : error_exit_status(ERR_DENIED);
}
