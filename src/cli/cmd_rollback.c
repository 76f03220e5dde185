#include "cli/session.h"
#include "cli/stop.h"
#include "view/cascade.h"
#include "view/error.h"
#include "view/outcome.h"

static int run(Session *session);

static const CliOption options[] = {
    {"keep-later", '\0', NULL, "leave rows that changed after the swap as they are now"},
    {"overwrite-later", '\0', NULL, "put the kept rows back over them too"},
    {NULL, '\0', NULL, NULL}};

static const CliExample examples[] = {
    {"tidegate rollback 7f3a", "puts the kept rows back; refuses when rows changed after the swap, and shows them"},
    {"tidegate rollback 7f3a --keep-later", "puts back all but those"},
    {NULL, NULL}};

const Command command_rollback = {
    .name = "rollback",
    .summary = "take a published change set back",
    .arguments = "PLAN",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .about =
        "Puts the kept rows back in one transaction. Rows that changed or vanished after the swap are shown and "
        "nothing is done until one of the two options says what is to become of them. Rows that arrived after "
        "the swap stay in any case.",
    .exits = {ERR_DENIED, ERR_LOCKED, ERR_PAUSED, ERR_LEASED, ERR_DATABASE, ERR_STATE, ERR_NOT_FOUND, ERR_CONFLICT,
              ERR_FULL, ERR_NONE},
    .examples = examples,
    .run = run};

/* With the rows that stand in the way, which is what the person has to decide about. */
static int refuse(Session *session, const RollbackFacts *facts, const Error *err) {
  if (!session->json) {
    view_conflicts(&session->paint, &session->arena, &facts->conflicts);
    return session_fail(session, err);
  }
  Json json = session_object(session);
  view_error_json(&json, err, session->record.id, session->record.spec_path);
  view_conflicts_json(&json, &facts->conflicts);
  session_object_end(session, &json);
  session_flush(session);
  return error_exit_status(err->code);
}

static int run(Session *session) {
  RollbackFacts facts = {0};
  Cascade cascade;
  Error err, ignored;
  bool keep = args_has(session->args, "keep-later"), overwrite = args_has(session->args, "overwrite-later");
  if (keep && overwrite) {
    error_set(&err, ERR_USAGE, "--keep-later and --overwrite-later exclude one another");
    return session_fail(session, &err);
  }
  LaterRows later = keep ? LATER_KEEP : overwrite ? LATER_OVERWRITE : LATER_REFUSE;
  if (!session_plan(session, session_word(session, 0), &err)) return session_fail(session, &err);
  /* Only to tell of it: a rollback does not wait for that. */
  bool told = cascade_make(&session->arena, session->engine, &session->plan, &session->record, &cascade, &ignored);
  if (!swap_rollback(session_backfill(session), later, stop_flag(), &facts, &err))
    return err.code == ERR_CONFLICT ? refuse(session, &facts, &err) : session_fail(session, &err);
  if (session->json) {
    Json json = session_object(session);
    view_rollback_json(&json, session->record.id, &facts);
    if (told) view_cascade_back_json(&json, &cascade);
    session_object_end(session, &json);
  } else {
    if (session->plan.changed != NULL)
      paint_verdict(&session->paint, STYLE_WARN, "changed", "since it was planned: %s", session->plan.changed);
    view_rollback(&session->paint, &session->arena, session->record.id, &facts);
    if (told) view_cascade_back(&session->paint, &session->arena, &cascade);
  }
  return session_flush(session);
}
