#include "cli/session.h"
#include "cli/steps.h"
#include "view/outcome.h"
#include "view/verdict.h"

static int run(Session *session);

static const CliOption options[] = {{"then", '\0', "SHELL LINE", "run this afterwards and check"},
                                    {NULL, '\0', NULL, NULL}};

static const CliExample examples[] = {
    {"tidegate snapshot legacy.yaml",
     "copies the range and proves the copy; then write production by hand, then check"},
    {"tidegate snapshot legacy.yaml --then './load.sh {from} {to_inclusive}'",
     "copies, runs the tool, checks; puts the range back when that fails"},
    {NULL, NULL}};

const Command command_snapshot = {
    .name = "snapshot",
    .summary = "the way for tools that can only write production in place",
    .arguments = "SPEC",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .about =
        "Plans the spec, copies the range's rows and proves the copy by fingerprint. With --then the tool is run "
        "over it and what it wrote is checked. In the line {from}, {to} (not included), {to_inclusive} and {database} "
        "are filled, and the tool finds the same as TIDEGATE_FROM, TIDEGATE_TO, TIDEGATE_TO_INCLUSIVE and "
        "TIDEGATE_DATABASE in its environment; "
        "when that fails, the range is made what the snapshot holds. "
        "Without: write production yourself, then `tidegate check PLAN`, or `tidegate restore PLAN`.",
    .exits = {ERR_DENIED, ERR_HELD, ERR_LOCKED, ERR_PAUSED, ERR_LEASED, ERR_DATABASE, ERR_STATE, ERR_NOT_FOUND,
              ERR_COMMAND, ERR_FULL, ERR_NONE},
    .examples = examples,
    .run = run};

static int run(Session *session) {
  Verdict verdict;
  SnapshotFacts facts;
  Error err;
  const char *line = args_value(session->args, "then");
  if (!step_plan(session, session_word(session, 0), true, &verdict, &err)) return step_fail(session, &err);
  if (!verdict.allow) {
    gate_deny(&verdict, &err);
    return step_fail(session, &err);
  }
  Arena *arena = &session->arena;
  BackfillRecord *record = &session->record;
  if (!swap_snapshot(arena, session->engine, record, &session->plan, &facts, &err)) return step_fail(session, &err);
  if (!session->json) {
    view_snapshot(&session->paint, arena, record, &facts);
    session_flush(session);
  }
  if (line != NULL && !swap_open(arena, session->engine, record, &session->plan, line, &facts, &err))
    return step_fail(session, &err);
  if (session->json) {
    Json json = session_object(session);
    view_snapshot_json(&json, record, &facts);
    session_object_end(session, &json);
  } else if (line != NULL) {
    view_snapshot(&session->paint, arena, record, &facts);
  }
  return session_flush(session);
}
