#include <string.h>
#include <unistd.h>

#include "cli/cascade_child.h"
#include "cli/session.h"
#include "cli/steps.h"
#include "cli/stop.h"
#include "view/cascade.h"
#include "view/error.h"
#include "view/words.h"

static int run(Session *session);

static const CliOption options[] = {
    {"dry-run", 'n', NULL, "show the steps and the specs that would be drafted; nothing is written"},
    {"yes", 'y', NULL, "publish each without asking"},
    {"done", '\0', "NAME", "this one was made right by hand: note it, and go on"},
    {"no-wait", '\0', NULL, "outside the window: end with exit status 3"},
    {NULL, '\0', NULL, NULL}};

static const CliExample examples[] = {
    {"tidegate cascade --dry-run 7f3a", "what is stale after the swap, and what would be done about it"},
    {"tidegate cascade --yes 7f3a", "makes it right, one after the other; the same command carries on after a stop"},
    {"tidegate cascade --done carrier_totals 7f3a",
     "after `dbt run --select carrier_totals`: what waited for it goes on"},
    {NULL, NULL}};

const Command command_cascade = {
    .name = "cascade",
    .summary = "after a swap, make right what was made from the wrong rows",
    .arguments = "PLAN",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .about =
        "Takes everything downstream of the backfill's target, parents first. What has SQL that is known and dates "
        "gets "
        "a backfill of its own: a spec is drafted into the folder cascade-PLAN beside the backfill's spec, with a "
        "range "
        "of its own and control dates beside it, and planned, run and swapped like any other, inside its own window. "
        "Materialized views are refreshed. What tidegate.yaml says `in_place` of is handed to its own tool, over a "
        "snapshot, "
        "batch by batch. The rest is printed with the command to type; --done notes that it was "
        "done. What depends on something that is still wrong waits for it.\n\n"
        "Stops at the first that fails. The same command carries on; what is in the ledger is not done again. A draft "
        "that was changed by hand is kept. Exit status 18: something that Tidegate cannot do is still stale.",
    .exits = {ERR_DENIED, ERR_HELD, ERR_DRIFT, ERR_LOCKED, ERR_PAUSED, ERR_LEASED, ERR_SUPERSEDED, ERR_DATABASE,
              ERR_STATE, ERR_NO_CHANGE, ERR_NOT_FOUND, ERR_SPEC, ERR_COMMAND, ERR_FULL, ERR_INCOMPLETE, ERR_NONE},
    .examples = examples,
    .run = run};

/* ---- before anything is done ------------------------------------------------------------------------------------- */

static bool is_published(const BackfillRecord *record, Error *err) {
  static const State states[] = {STATE_swapped, STATE_finished, STATE_rolled_back};
  for (size_t i = 0; i < sizeof states / sizeof *states; i++)
    if (strcmp(record->state, state_name(states[i])) == 0) return true;
  error_set(err, ERR_STATE, "backfill %s of %s is %s: nothing was made from its rows yet", record->id, record->target,
            record->state);
  return error_hint(err, "publish it first: tidegate swap %s", record->id);
}

static bool can_ask(const Session *session, Error *err) {
  if (args_has(session->args, "yes") || (isatty(STDIN_FILENO) && !session->json)) return true;
  error_set(err, ERR_USAGE, "nobody can be asked here whether to publish: standard input is not a terminal");
  return error_hint(err, "look at: tidegate cascade --dry-run %s; then add --yes", session->record.id);
}

/* --done NAME: by its full name, or by its last part when that is one step's only. */
static CascadeStep *step_of(const Cascade *cascade, const char *name, bool *ret_several) {
  CascadeStep *found = NULL;
  *ret_several = false;
  for (size_t i = 0; i < cascade->n; i++) {
    CascadeStep *step = &cascade->steps[i];
    const char *dot = strrchr(step->node->name, '.');
    if (strcmp(step->node->name, name) == 0) return step;
    if (dot == NULL || strcmp(dot + 1, name) != 0) continue;
    *ret_several = found != NULL;
    found = step;
  }
  return found;
}

static bool note(Session *session, CascadeStep *step, const char *how, Error *err) {
  if (!session->engine->ops->ledger_event(session->engine, session->record.id, ledger_owner(), cascade_event,
                                          cascade_detail(&session->arena, step, how), err))
    return false;
  step->done = how;
  return true;
}

static bool note_done(Session *session, Cascade *cascade, Error *err) {
  bool several = false;
  const char *name = args_value(session->args, "done");
  if (name == NULL) return true;
  CascadeStep *step = step_of(cascade, name, &several);
  if (several) return error_set(err, ERR_USAGE, "several things downstream are called %s: give the whole name", name);
  if (step == NULL) {
    error_set(err, ERR_NOT_FOUND, "nothing downstream of %s is called %s", session->record.target, name);
    return error_hint(err, "see: tidegate cascade --dry-run %s", session->record.id);
  }
  if (step->act == CASCADE_NOTHING)
    return error_set(err, ERR_USAGE, "%s follows by itself: there is nothing to be done about it", step->node->name);
  if (step->waits != NULL) {
    error_set(err, ERR_STATE, "%s cannot be right yet: it reads %s, which is not", step->node->name, step->waits);
    return error_hint(err, "make it again when %s is right", step->waits);
  }
  if (!note(session, step, "by hand, as somebody said", err)) return false;
  cascade_settle(cascade);
  return true;
}

/* ---- what comes out ---------------------------------------------------------------------------------------------- */

static int show(Session *session, const Cascade *cascade, const char *const *drafts, const Error *err, bool dry) {
  const char *id = session->record.id;
  size_t left = cascade_left(cascade);
  if (session->json) {
    Json json = session_object(session);
    view_cascade_json(&json, cascade, drafts);
    if (err != NULL) view_error_json(&json, err, id, session->record.spec_path);
    session_object_end(session, &json);
  } else {
    view_cascade(&session->paint, &session->arena, cascade);
    for (size_t i = 0; drafts != NULL && i < cascade->n; i++)
      if (drafts[i] != NULL) buf_printf(&session->buffer, "\n%s", drafts[i]);
    if (dry && left > 0) paint_line(&session->paint, "", "Next: tidegate cascade %s", id);
    if (!dry && left == 0 && err == NULL)
      paint_verdict(&session->paint, STYLE_GOOD, "DONE", "everything downstream that Tidegate can make right is right");
  }
  int status = session_flush(session);
  return err != NULL ? error_exit_status(err->code) : status;
}

static int show_drafts(Session *session, const Cascade *cascade) {
  const char **drafts = arena_array(&session->arena, cascade->n, sizeof *drafts), *path;
  Error err;
  for (size_t i = 0; i < cascade->n; i++) {
    const CascadeStep *step = &cascade->steps[i];
    if (step->act != CASCADE_BACKFILL || step->done != NULL) continue;
    if (child_draft(session, cascade, step, &path, &drafts[i], &err)) continue;
    drafts[i] = arena_printf(&session->arena, "# no draft of %s: %s\n", step->node->name, err.message);
  }
  return show(session, cascade, drafts, NULL, true);
}

/* ---- one step ---------------------------------------------------------------------------------------------------- */

static bool backfill(Session *session, const Cascade *cascade, CascadeStep *step, Session *child, Error *err) {
  const char *how = NULL;
  if (!child_run(session, child, cascade, step, &how, err)) return false;
  if (how == NULL) return note(session, step, arena_printf(&session->arena, "backfill %s", child->record.id), err);
  step->done = how;
  return true;
}

static bool refresh(Session *session, CascadeStep *step, Error *err) {
  RefreshFacts facts;
  const char *how = "refreshed";
  if (!swap_refresh(session_backfill(session), step->table, cascade_event, cascade_detail(&session->arena, step, how),
                    stop_flag(), &facts, err))
    return false;
  step->done = how;
  if (!session->json)
    paint_verdict(&session->paint, STYLE_GOOD, "REFRESHED", "%s in %s%s", step->node->name,
                  words_duration(&session->arena, facts.seconds),
                  facts.readers_went_on ? "" : "; who read it had to wait, as it has no unique index over all rows");
  return true;
}

static bool take_step(Session *session, const Cascade *cascade, CascadeStep *step, Session *child, Error *err) {
  if (*stop_flag() > 0) return error_set(err, ERR_PAUSED, "stopped between two steps");
  if (!session->json) {
    view_cascade_step(&session->paint, &session->arena, cascade, step);
    session_flush(session);
  }
  return step->act == CASCADE_REFRESH ? refresh(session, step, err) : backfill(session, cascade, step, child, err);
}

/* What failed is told by the child's own session where it has a backfill, with its id in the hint. */
static int fail(Session *session, const Cascade *cascade, Session *child, const Error *cause) {
  if (session->json) return show(session, cascade, NULL, cause, false);
  Error err = *cause;
  show(session, cascade, NULL, cause, false);
  error_hint(&err, "%s; afterwards the same tidegate cascade carries on", error_hint_text(cause));
  return step_fail(child->engine != NULL ? child : session, &err);
}

static int run(Session *session) {
  Cascade cascade;
  Error err;
  if (!session_plan(session, session_word(session, 0), &err) || !is_published(&session->record, &err) ||
      !cascade_make(&session->arena, session->engine, &session->plan, &session->record, &cascade, &err))
    return session_fail(session, &err);
  if (args_has(session->args, "dry-run")) return show_drafts(session, &cascade);
  if (!note_done(session, &cascade, &err) || !can_ask(session, &err)) return session_fail(session, &err);
  for (size_t i = 0; i < cascade.n; i++) {
    CascadeStep *step = &cascade.steps[i];
    bool mine = step->act == CASCADE_BACKFILL || step->act == CASCADE_REFRESH;
    if (!mine || step->done != NULL || step->waits != NULL) continue;
    Session child;
    session_start(&child, session->args);
    bool ok = take_step(session, &cascade, step, &child, &err);
    int status = ok ? 0 : fail(session, &cascade, &child, &err);
    session_end(&child);
    if (!ok) return status;
    cascade_settle(&cascade);
  }
  size_t left = cascade_left(&cascade);
  if (left == 0) return show(session, &cascade, NULL, NULL, false);
  error_set(&err, ERR_INCOMPLETE, "%s still stale downstream of %s, and Tidegate cannot make that right by itself",
            words_count(&session->arena, (int64_t)left, "thing is", "things are"), session->record.target);
  error_hint(&err, "do what is printed above, then: tidegate cascade --done NAME %s", session->record.id);
  show(session, &cascade, NULL, session->json ? &err : NULL, false);
  return session->json ? error_exit_status(ERR_INCOMPLETE) : session_fail(session, &err);
}
