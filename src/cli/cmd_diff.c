#include "cli/session.h"
#include "cli/steps.h"

static int run(Session *session);

enum { DEFAULT_ROWS = 20 };

static const CliOption options[] = {{"date", '\0', "DATE", "only this date"},
                                    {"limit", 'n', "N", "how many example rows to show (20)"},
                                    {NULL, '\0', NULL, NULL}};

static const CliExample examples[] = {
    {"tidegate diff 7f3a", "what would change, by column, by date, with example rows"},
    {"tidegate diff 7f3a --date 2013-02-08 --limit 100", "the rows of one date"},
    {NULL, NULL}};

const Command command_diff = {
    .name = "diff",
    .summary = "show what publishing would change, by column, by date, by example",
    .arguments = "PLAN",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .about =
        "Shows the change set: as far as it is written while batches are missing, whole when it is sealed, and "
        "what was published after the swap, until finish drops it.",
    .exits = {ERR_SUPERSEDED, ERR_DATABASE, ERR_STATE, ERR_NOT_FOUND, ERR_NONE},
    .examples = examples,
    .run = run};

static int run(Session *session) {
  DiffFacts diff;
  Error err;
  long limit = 0;
  if (!args_number(session->args, "limit", 0, DEFAULT_ROWS, &limit, &err) ||
      !session_plan(session, session_word(session, 0), &err) ||
      !step_diff(session, args_value(session->args, "date"), (size_t)limit, &diff, &err))
    return session_fail(session, &err);
  if (session->json) {
    Json json = session_object(session);
    view_diff_json(&json, &diff);
    session_object_end(session, &json);
  } else {
    view_diff(&session->paint, &session->arena, &diff);
  }
  return session_flush(session);
}
