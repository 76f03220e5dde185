#include "cli/cascade_child.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/steps.h"
#include "cli/target.h"
#include "gate/command/command.h"
#include "run/in_place.h"
#include "view/outcome.h"
#include "view/plan_report.h"
#include "view/words.h"

/* ---- the draft --------------------------------------------------------------------------------------------------- */

/* A folder beside the spec of the backfill that is followed; beside whoever asks, when that is on another machine. */
static const char *folder_of(Arena *arena, const BackfillRecord *record) {
  const char *slash = record->spec_path == NULL ? NULL : strrchr(record->spec_path, '/');
  const char *beside =
      slash == NULL ? "." : arena_strndup(arena, record->spec_path, (size_t)(slash - record->spec_path));
  if (*beside == '\0' || access(beside, W_OK) != 0) beside = ".";
  return arena_printf(arena, "%s/cascade-%s", beside, record->id);
}

/* The file's text; NULL: there is none. */
static const char *read_file(Arena *arena, const char *path) {
  FILE *file = fopen(path, "re");
  BUF_SCOPED text = {0};
  char piece[8192];
  size_t n;
  if (file == NULL) return NULL;
  while ((n = fread(piece, 1, sizeof piece, file)) > 0) buf_append(&text, piece, n);
  fclose(file);
  return arena_strdup(arena, buf_text(&text));
}

/* The child's columns and dates. `spec` as tidegate.yaml has it; the node's word is taken where that says nothing. */
static bool child_shape(Session *session, const CascadeStep *step, const Spec *spec, Shape *ret, Error *err) {
  const GraphNode *node = graph_at(session->plan.radius.graph, step->node->id);
  Session look = *session;
  DateProfile profile;
  look.spec = *spec;
  if (spec->date_column.text == NULL) look.spec.date_column = (SpecText){.text = node->event_time};
  if (spec->grain.text == NULL && node->has_grain) look.spec.grain = (SpecText){.text = grain_name(node->grain)};
  bool ok = target_shape(&look, step->table, ret, &profile, err);
  session->arena = look.arena;
  return ok;
}

bool child_draft(Session *session, const Cascade *cascade, const CascadeStep *step, const char **ret_path,
                 const char **ret_text, Error *err) {
  Arena *arena = &session->arena;
  Spec spec;
  Shape shape;
  DateRange range, control;
  *ret_path = arena_printf(arena, "%s/%s", folder_of(arena, &session->record), cascade_file_name(arena, step));
  const char *there = read_file(arena, *ret_path);
  if (there != NULL && cascade_draft_edited(there)) {
    *ret_text = there;
    return true;
  }
  TableFacts table;
  if (!cascade_child_spec(arena, &session->record, step->table, &spec, err) ||
      !child_shape(session, step, &spec, &shape, err) ||
      !session->engine->ops->describe_table(session->engine, arena, step->table, &table, err))
    return false;
  CascadeChild child = {.shape = &shape, .spec = &spec};
  child.begin = graph_at(session->plan.radius.graph, step->node->id)->begin;
  child.keyed = cascade_keyed(&table);
  cascade_columns(arena, session->engine, step, &child);
  plan_dbt_checks(arena, session->engine, session->plan.radius.graph, step->node->id, &shape, NULL, &child.checks,
                  &child.n_checks);
  if (!cascade_range(arena, session->engine, step, &child, &range, err) ||
      !cascade_control(arena, session->engine, &child, range, &control, err))
    return false;
  *ret_text = cascade_draft(arena, cascade, step, &child, range, control);
  return true;
}

static bool refuse(Error *err, const char *path) {
  error_set(err, ERR_NOT_FOUND, "cannot write the draft %s: %s", path, strerror(errno));
  return error_hint(err, "give the command in a folder that you may write");
}

static bool write_draft(Arena *arena, const char *path, const char *text, Error *err) {
  const char *folder = arena_strndup(arena, path, (size_t)(strrchr(path, '/') - path));
  const char *aside = arena_printf(arena, "%s.%d", path, (int)getpid());
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) return refuse(err, folder);
  FILE *file = fopen(aside, "we");
  if (file == NULL) return refuse(err, aside);
  bool ok = fputs(text, file) >= 0;
  ok = fclose(file) == 0 && ok;
  if (ok && rename(aside, path) == 0) return true;
  refuse(err, path);
  unlink(aside);
  return false;
}

/* ---- from there to the swap -------------------------------------------------------------------------------------- */

static void tell_plan(Session *child, const char *path) {
  Arena *arena = &child->arena;
  const Plan *plan = &child->plan;
  const ControlFacts *control = &plan->control;
  const char *held =
      control->declared ? arena_printf(arena, "; control dates %s reproduced", words_range(arena, plan, control->range))
                        : "";
  paint_line(&child->paint, "plan", "%s: %s, %s%s; drafted in %s", child->record.id,
             words_count(arena, plan->n_dates, "date", "dates"), words_count(arena, plan->rows, "row", "rows"), held,
             path);
}

/* A range that is too short shows in the dates behind it. */
static bool deny(const CascadeStep *step, const char *path, const Verdict *verdict, Error *err) {
  gate_deny(verdict, err);
  if (verdict->rule == NULL || strcmp(verdict->rule, "control") != 0) return false;
  return error_hint(err,
                    "are rows of %s made from more dates than is known? Then say it in tidegate.yaml: lineage: "
                    "{overrides: {%s: {window: DATES}}}. Does its job make them otherwise than its SQL over all dates, "
                    "as a window over what is_incremental() lets through? Else correct the draft %s",
                    step->node->name, step->node->name, path);
}

/* A command that writes no shadow writes production in place. */
static bool is_handed_over(const Spec *spec) {
  const SpecTexts *command = &spec->recompute.command;
  return spec->recompute.shell && command->n == 1 && strstr(command->items[0].text, "{shadow}") == NULL;
}

static bool plan_anew(Session *child, const CascadeStep *step, const char *path, bool wait, Error *err) {
  Verdict verdict;
  if (!session_spec(child, path, err)) return false;
  bool ok = is_handed_over(&child->spec) ? step_plan_in_place(child, &verdict, err)
                                         : step_plan_spec(child, true, &verdict, err);
  if (!ok) return false;
  bool goes_on = verdict.allow || (verdict.waits && wait);
  if (!child->json && goes_on) tell_plan(child, path);
  if (!child->json && !goes_on) view_plan(&child->paint, &child->arena, &child->plan, &verdict);
  session_flush(child);
  return goes_on || deny(step, path, &verdict, err);
}

/* The backfill that was begun, or a new one. */
static bool begin(Session *child, const CascadeStep *step, const char *path, bool wait, Error *err) {
  if (step->child == NULL) return plan_anew(child, step, path, wait, err);
  if (!session_spec(child, path, err) ||
      !ledger_find(child->engine, &child->arena, step->child->id, &child->record, err))
    return false;
  if (plan_load(&child->arena, child->engine, &child->record, &child->plan, err)) return true;
  if (err->code != ERR_SUPERSEDED) return false;
  child->record = (BackfillRecord){0};
  return plan_anew(child, step, path, wait, err);
}

static bool is_in(const Session *child, State state) { return strcmp(child->record.state, state_name(state)) == 0; }

/* Nothing differs: the child was right. Its shadow goes, and the parent's record says so. */
static bool was_right(Session *session, Session *child, const CascadeStep *step, const char **ret_how, Error *err) {
  *ret_how = "nothing differs";
  return swap_discard(session_backfill(child), err) &&
         session->engine->ops->ledger_event(session->engine, session->record.id, ledger_owner(), cascade_event,
                                            cascade_detail(&session->arena, step, *ret_how), err);
}

static bool has_vanished(Session *child) {
  const FindingRecord *findings;
  size_t n;
  Error ignored;
  if (!child->engine->ops->ledger_findings(child->engine, &child->arena, child->record.id, &findings, &n, &ignored))
    return false;
  for (size_t i = 0; i < n; i++)
    if (strcmp(findings[i].kind, "vanished") == 0) return true;
  return false;
}

/* Rows go with those that they were made from: that is for a person to say. */
static bool held(Session *child, const CascadeStep *step, Error *err) {
  if (err->code != ERR_HELD || child->plan.n_scope > 0 || !has_vanished(child)) return false;
  return error_hint(
      err,
      "production is untouched. Look: tidegate diff %s. Are rows of %s rightly gone, as what they were made "
      "from is? Then add to the draft %s: changes: [\"*\", new rows, vanished rows]",
      child->record.id, step->node->name, child->record.spec_path);
}

/* ---- by its own tool --------------------------------------------------------------------------------------------- */

static bool take_snapshot(Session *child, const char *line, const RunOptions *how, Error *err) {
  SnapshotFacts facts;
  if (!is_in(child, STATE_planned)) return true;
  return step_confirm_tool(child, line, err) && (!how->wait || run_in_place_wait(session_backfill(child), how, err)) &&
         swap_snapshot(session_backfill(child), &facts, err);
}

/* The job that the line starts elsewhere; NULL: none that is known. */
static const char *started_by(Session *child, const char *line) {
  ProcessVariable places[PLAN_VARIABLES];
  plan_variables(&child->arena, &child->plan, child->plan.range, places);
  return command_job(&child->arena, &child->spec, plan_fill(&child->arena, line, places, PLAN_VARIABLES));
}

/* Over a snapshot, batch by batch; or carried on. Nothing changed is a failure here: a tool that did nothing looks the
 * same as a table that was right. */
static bool run_tool(Session *child, const CascadeStep *step, bool wait, Error *err) {
  const char *line = child->plan.spec.recompute.command.items[0].text;
  Progress progress;
  InPlaceResult result;
  InPlaceOptions how = {
      .run = step_run_options(child, wait, &progress), .line = line, .starts = started_by(child, line)};
  bool ok = take_snapshot(child, line, &how.run, err) && run_in_place(session_backfill(child), &how, &result, err);
  progress_end(&progress);
  if (!ok && err->code == ERR_HELD && child->plan.n_scope > 0 && child->plan.scope[0].where != NULL)
    return error_hint(
        err,
        "%s. If dates beside those that are wrong came out otherwise: are rows of %s made from more dates "
        "than is known? Then say it in tidegate.yaml: lineage: {overrides: {%s: {window: DATES}}}. Does "
        "its tool write something anew each time, as a time of loading? Then add that column to `changes` "
        "of the draft %s",
        error_hint_text(err), step->node->name, step->node->name, child->record.spec_path);
  if (!ok && err->code == ERR_NO_CHANGE)
    return error_hint(err, "if %s was right already: tidegate cascade --done %s %s", step->node->name, step->node->name,
                      child->plan.spec.follows.text);
  if (ok && !child->json) view_snapshot(&child->paint, &child->arena, &child->record, &result.facts, true);
  session_flush(child);
  return ok;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

bool child_run(Session *session, Session *child, const Cascade *cascade, CascadeStep *step, const char **ret_how,
               Error *err) {
  RunFacts ran;
  SwapFacts swapped;
  const char *path, *text;
  bool wait = !args_has(session->args, "no-wait");
  *ret_how = NULL;
  if (!child_draft(session, cascade, step, &path, &text, err) || !write_draft(&session->arena, path, text, err) ||
      !begin(child, step, path, wait, err))
    return false;
  if (is_handed_over(&child->plan.spec)) return run_tool(child, step, wait, err);
  if (!is_in(child, STATE_ready)) {
    if (!step_run(child, wait, &ran, err))
      return err->code == ERR_NO_CHANGE ? was_right(session, child, step, ret_how, err) : held(child, step, err);
  }
  if (!step_confirm(child, err) || (wait && !step_wait(child, err)) || !step_swap(child, &swapped, err)) return false;
  if (!child->json)
    paint_verdict(&child->paint, STYLE_GOOD, "SWAPPED", "%s, %s under the lock. Undo: tidegate rollback %s",
                  words_changes(&child->arena, &swapped.counts), words_duration(&child->arena, swapped.lock_seconds),
                  child->record.id);
  session_flush(child);
  return true;
}
