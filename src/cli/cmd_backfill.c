#include "cli/session.h"
#include "cli/steps.h"
#include "view/outcome.h"
#include "view/plan_report.h"

static int run(Session *session);

enum { SUMMARY_ROWS = 3 };

static const CliOption options[] = {{"yes", 'y', NULL, "publish without asking"},
                                    {"no-wait", '\0', NULL, "outside the window: end with exit status 3"},
                                    {NULL, '\0', NULL, NULL}};

static const CliExample examples[] = {{"tidegate backfill daily_delays.yaml", "all of it, asking before the swap"},
                                      {NULL, NULL}};

const Command command_backfill = {
    .name = "backfill",
    .summary = "plan, run, show what changes, ask, swap: all in one go",
    .arguments = "SPEC",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .about =
        "Does what plan, run, diff and swap do, one after the other, and stops at the first that fails. Asks "
        "before production changes; where nobody can be asked --yes is needed. Carry on after a pause with "
        "tidegate run and tidegate swap.",
    .exits = {ERR_DENIED, ERR_HELD, ERR_DRIFT, ERR_LOCKED, ERR_PAUSED, ERR_NO_CHANGE, ERR_LEASED, ERR_SUPERSEDED,
              ERR_DATABASE, ERR_STATE, ERR_NOT_FOUND, ERR_COMMAND, ERR_FULL, ERR_NONE},
    .examples = examples,
    .run = run};

/* The parts as JSON, one object a step. */
static void put_json(Session *session, const Verdict *verdict, const RunFacts *ran, const DiffFacts *diff,
                     const SwapFacts *swapped) {
  Json json = session_object(session);
  json_text(&json, "id", session->record.id);
  view_plan_json(&json, &session->plan, verdict);
  json_object(&json, "run");
  view_run_json(&json, session->record.id, ran);
  json_object_end(&json);
  json_object(&json, "diff");
  view_diff_json(&json, diff);
  json_object_end(&json);
  json_object(&json, "swap");
  view_swap_json(&json, &session->plan, session->record.id, swapped);
  json_object_end(&json);
  session_object_end(session, &json);
}

/* A denial that time alone does not cure, or that is not to be waited for. */
static int deny(Session *session, const Verdict *verdict) {
  Error err;
  gate_deny(verdict, &err);
  return step_fail(session, &err);
}

static int run(Session *session) {
  Verdict verdict;
  RunFacts ran;
  DiffFacts diff = {0};
  SwapFacts swapped;
  Error err;
  bool wait = !args_has(session->args, "no-wait"), shown = !session->json;
  if (!step_plan(session, session_word(session, 0), true, &verdict, &err)) return step_fail(session, &err);
  if (shown) view_plan(&session->paint, &session->arena, &session->plan, &verdict);
  bool denied = !verdict.allow && !(verdict.waits && wait);
  if (denied && shown) {
    session_flush(session);
    return error_exit_status(ERR_DENIED);
  }
  if (denied) return deny(session, &verdict);
  if (shown) session_flush(session);
  if (!step_run(session, wait, &ran, &err) || (session->json && !step_diff(session, NULL, SUMMARY_ROWS, &diff, &err)))
    return step_fail(session, &err);
  if (shown) view_run(&session->paint, &session->arena, session->record.id, &ran);
  if (!step_confirm(session, &err) || (wait && !step_wait(session, &err)) || !step_swap(session, &swapped, &err))
    return step_fail(session, &err);
  if (shown)
    view_swap(&session->paint, &session->arena, &session->plan, session->record.id, &swapped);
  else
    put_json(session, &verdict, &ran, &diff, &swapped);
  return session_flush(session);
}
