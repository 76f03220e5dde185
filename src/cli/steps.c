#include "cli/steps.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/stop.h"
#include "view/error.h"
#include "view/findings.h"
#include "view/words.h"

/* While the swap waits, the gate is asked every two seconds, the stop flag more often. */
enum { SUMMARY_ROWS = 3, WAIT_SLICES = 20 };
static const double WAIT_SLICE = 0.1;

bool step_plan(Session *session, const char *path, bool record, Verdict *ret, Error *err) {
  return session_spec(session, path, err) && step_plan_spec(session, record, ret, err);
}

static bool plan_for(Session *session, GateAct action, bool record, Verdict *ret, Error *err) {
  Arena *arena = &session->arena;
  Plan *plan = &session->plan;
  const GatePass *pass = NULL;
  Engine *engine = session->engine;
  if (!plan_resolve(arena, engine, &session->spec, plan, err)) return false;
  if (!plan_measure(arena, engine, plan, stop_interrupt(), err)) return false;
  if (!gate_judge(arena, engine, plan, action, plan->spec.budget.batch, ret, &pass, err)) return false;
  if (!record || (!ret->allow && !ret->waits)) return true;
  return plan_record(arena, engine, plan, err) && ledger_find(engine, arena, plan->id, &session->record, err);
}

bool step_plan_spec(Session *session, bool record, Verdict *ret, Error *err) {
  return plan_for(session, GATE_PLAN, record, ret, err);
}

bool step_plan_in_place(Session *session, Verdict *ret, Error *err) {
  return plan_for(session, GATE_IN_PLACE, true, ret, err);
}

RunOptions step_run_options(const Session *session, bool wait, Progress *ret_progress) {
  bool shown = !session->quiet && !session->json;
  *ret_progress = (Progress){.file = stderr,
                             .terminal = isatty(STDERR_FILENO),
                             .width = paint_terminal_width(STDERR_FILENO),
                             .dates_shown = -1};
  return (RunOptions){
      .progress = shown ? progress_show : NULL, .context = ret_progress, .stop = stop_flag(), .wait = wait};
}

bool step_run(Session *session, bool wait, RunFacts *ret, Error *err) {
  Progress progress;
  RunOptions options = step_run_options(session, wait, &progress);
  bool ok = run_backfill(session_backfill(session), &options, ret, err);
  progress_end(&progress);
  if (!ok && err->code == ERR_PAUSED) {
    error_set(err, ERR_PAUSED, "production untouched");
    error_hint(err, "carry on with: tidegate run %s", session->record.id);
  }
  return ok;
}

/* The one date record asked for, and the day that the rows are to be read of. */
static bool pick_date(Session *session, const char *text, DiffFacts *ret, Instant *ret_date, Error *err) {
  const DateCodec *codec = &session->plan.shape.codec;
  DateRange range;
  if (!date_range_parse(text, codec->grain, codec->zone, &range, err)) return false;
  if (date_range_count(&range, codec->grain, codec->zone) != 1)
    return error_set(err, ERR_USAGE, "--date takes one date, not a range: %s", text);
  for (size_t i = 0; i < ret->n_dates; i++) {
    if (ret->dates[i].date != range.from) continue;
    ret->dates = &ret->dates[i];
    ret->n_dates = 1;
    *ret_date = range.from;
    return true;
  }
  return error_set(err, ERR_NOT_FOUND, "%s is not a date of this backfill", text);
}

static void sum_counts(DiffFacts *diff) {
  diff->counts = (ChangeCounts){0};
  for (size_t i = 0; i < diff->n_dates; i++) {
    diff->counts.inserts += diff->dates[i].inserts;
    diff->counts.updates += diff->dates[i].updates;
    diff->counts.deletes += diff->dates[i].deletes;
    diff->counts.moves += diff->dates[i].moves_in;
  }
}

bool step_diff(Session *session, const char *date, size_t limit, DiffFacts *ret, Error *err) {
  Arena *arena = &session->arena;
  Engine *engine = session->engine;
  const EngineOps *ops = engine->ops;
  const char *id = session->record.id;
  const Shape *shape = &session->plan.shape;
  Instant day = 0;
  const char *name = ops->object_name(engine, arena, id, "changes"), *identity = NULL;
  *ret = (DiffFacts){.plan = &session->plan, .id = id, .state = session->record.state};
  if (!ops->object_identity(engine, arena, name, &identity, err)) return false;
  if (identity == NULL) {
    error_set(err, ERR_STATE, "%s has no change set: its state is %s", id, session->record.state);
    return error_hint(err, "see: tidegate status %s", id);
  }
  if (!ops->ledger_dates(engine, arena, id, &ret->dates, &ret->n_dates, err)) return false;
  if (!ops->ledger_columns(engine, arena, id, &ret->columns, &ret->n_columns, err)) return false;
  if (!ops->change_counts(engine, shape, id, &ret->counts, err)) return false;
  if (date != NULL) {
    if (!pick_date(session, date, ret, &day, err)) return false;
    sum_counts(ret);
    ret->n_columns = 0; /* they are counted over the whole range only */
  }
  return ops->change_rows(engine, arena, shape, id, day, limit, &ret->rows, &ret->n_rows, err);
}

/* Writes the question to the terminal and reads the answer; anything but y or yes is a no. */
static bool ask(const char *question) {
  char answer[16] = "";
  fputs(question, stderr);
  fflush(stderr);
  if (fgets(answer, sizeof answer, stdin) == NULL) return false;
  answer[strcspn(answer, "\r\n")] = '\0';
  return strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0;
}

/* Is there somebody to be asked? */
static bool can_ask(const Session *session) { return isatty(STDIN_FILENO) && !session->json; }

bool step_confirm_tool(Session *session, const char *line, Error *err) {
  const char *id = session->record.id;
  if (args_has(session->args, "yes")) return true;
  if (!can_ask(session)) {
    error_set(err, ERR_USAGE, "nobody can be asked here whether to run the tool: standard input is not a terminal");
    return error_hint(err, "look at: tidegate status %s; then add --yes", id);
  }
  session_flush(session);
  const char *dates = words_count(&session->arena, session->plan.n_dates, "date", "dates");
  if (ask(arena_printf(&session->arena, "Run over %s, in place, over a snapshot: %s\n[y/N] ", dates, line)))
    return true;
  error_set(err, ERR_PAUSED, "not run, production untouched");
  return error_hint(err, "its plan is %s", id);
}

bool step_confirm(Session *session, Error *err) {
  DiffFacts diff;
  if (args_has(session->args, "yes")) return true;
  if (!can_ask(session)) {
    error_set(err, ERR_USAGE, "nobody can be asked here whether to publish: standard input is not a terminal");
    return error_hint(err, "look at: tidegate diff %s; then add --yes", session->record.id);
  }
  if (!step_diff(session, NULL, SUMMARY_ROWS, &diff, err)) return false;
  view_diff_summary(&session->paint, &session->arena, &diff);
  session_flush(session);
  const char *count = words_count(&session->arena, words_change_total(&diff.counts), "change", "changes");
  if (ask(arena_printf(&session->arena, "Publish %s? [y/N] ", count))) return true;
  error_set(err, ERR_PAUSED, "not published, production untouched");
  return error_hint(err, "publish with: tidegate swap %s", session->record.id);
}

bool step_wait(Session *session, Error *err) {
  const SpecBudget *budget = &session->plan.spec.budget;
  bool shown = !session->quiet && !session->json, told = false;
  for (;;) {
    ARENA_SCOPED arena = {0};
    Verdict verdict;
    const GatePass *pass;
    if (!gate_judge(&arena, session->engine, &session->plan, GATE_SWAP, budget->swap_lock + swap_longest_wait(budget),
                    &verdict, &pass, err))
      return false;
    if (verdict.allow || !verdict.waits) return true;
    if (shown && !told) fprintf(stderr, "the swap waits: %s\n", verdict.reasons[0].text);
    told = true;
    for (int i = 0; i < WAIT_SLICES; i++) {
      if (*stop_flag() > 0) {
        error_set(err, ERR_PAUSED, "everything is written and sealed, production is untouched");
        return error_hint(err, "publish it with: tidegate swap %s", session->record.id);
      }
      clock_sleep(WAIT_SLICE);
    }
  }
}

bool step_swap(Session *session, SwapFacts *ret, Error *err) {
  return swap_publish(session_backfill(session), stop_flag(), ret, err);
}

int step_fail(Session *session, const Error *err) {
  const FindingRecord *findings = NULL;
  size_t n = 0;
  Error ignored;
  if (err->code != ERR_HELD || session->record.id == NULL ||
      !session->engine->ops->ledger_findings(session->engine, &session->arena, session->record.id, &findings, &n,
                                             &ignored))
    return session_fail(session, err);
  if (!session->json) {
    view_findings(&session->paint, &session->arena, findings, n);
    return session_fail(session, err);
  }
  buf_clear(&session->buffer);
  Json json = session_object(session);
  view_error_json(&json, err, session->record.id, session->record.spec_path);
  view_findings_json(&json, findings, n);
  session_object_end(session, &json);
  session_flush(session);
  return error_exit_status(err->code);
}
