#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mask.h"
#include "cli/session.h"
#include "cli/steps.h"
#include "cli/stop.h"
#include "gate/command/command.h"
#include "gate/command/offer.h"
#include "ledger/opened.h"
#include "run/in_place.h"
#include "view/outcome.h"
#include "view/verdict.h"

static int run(Session *session);

static const CliOption options[] = {
    {"then", '\0', "SHELL LINE", "run this afterwards, batch by batch, and check each"},
    {"starts", '\0', "JOB", "the job that it starts elsewhere: that one is waited for, not taken for production's"},
    {"per-batch", '\0', "DATES", "so many dates at most in one batch"},
    {"no-wait", '\0', NULL, "outside the window: end with exit status 3, and put the range back"},
    {NULL, '\0', NULL, NULL}};

static const CliExample examples[] = {
    {"tidegate snapshot legacy.yaml",
     "copies the range and proves the copy; then write production by hand, then check"},
    {"tidegate snapshot legacy.yaml --then 'airflow dags backfill -s {from} -e {to_inclusive}T23:59:59 sales'",
     "copies, runs the tool batch by batch, checks each; puts the range back when one fails"},
    {"tidegate snapshot legacy.yaml --then './load.sh {date}' --per-batch 1", "one date at a time, the lightest first"},
    {NULL, NULL}};

const Command command_snapshot = {
    .name = "snapshot",
    .summary = "the way for tools that can only write production in place",
    .arguments = "SPEC",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .about =
        "Plans the spec, copies the range's rows and proves the copy by fingerprint. With --then the tool is run over "
        "it batch by batch: the lightest date first, then more and more dates, each batch only when it can end before "
        "the window closes. After each its rows are held against the evidence, and every other row of the table "
        "against what it was before. When one fails, when the tool takes longer than `recompute: timeout`, or on "
        "Ctrl-C, the range is made what the snapshot holds. Killed, the same command carries on: it puts back what may "
        "be half written and writes it again; `tidegate restore PLAN` puts everything back. A job of production that "
        "comes "
        "while the tool runs has the tool ended and its batch put back; when the job is over, the batch is begun "
        "again.\n\n"
        "In the line {from}, {to} (not included), {to_inclusive}, {date} (then a batch is one date), {dates} (with "
        "commas), each of the first four with _nodash for 20240131, and {database} are filled. The tool finds the same "
        "in its environment: TIDEGATE_FROM, TIDEGATE_TO, TIDEGATE_TO_INCLUSIVE, TIDEGATE_DATE, TIDEGATE_DATES and so "
        "on. Without --then: write production yourself, then `tidegate check PLAN`, or `tidegate restore PLAN`.",
    .exits = {ERR_DENIED, ERR_HELD, ERR_DRIFT, ERR_LOCKED, ERR_PAUSED, ERR_NO_CHANGE, ERR_LEASED, ERR_DATABASE,
              ERR_STATE, ERR_NOT_FOUND, ERR_COMMAND, ERR_FULL, ERR_NONE},
    .examples = examples,
    .run = run};

/* ---- planning ---------------------------------------------------------------------------------------------------- */

/* The same command once more, after all was written. */
static bool is_done(Arena *arena, const BackfillRecord *record, const char *line) {
  Opened opened;
  Error ignored;
  return strcmp(record->state, state_name(STATE_checked)) == 0 && opened_read(arena, record, &opened, &ignored) &&
         opened.line != NULL && strcmp(opened.line, line) == 0;
}

/* A backfill of this very plan that is snapshotted or opened: it is carried on. record.id stays NULL when there is
 * none. */
static bool find_begun(Session *session, const char *line, Error *err) {
  const EngineOps *ops = session->engine->ops;
  const BackfillRecord *records;
  size_t n;
  bool exists;
  if (!plan_resolve(&session->arena, session->engine, &session->spec, &session->plan, err) ||
      !ops->ledger_exists(session->engine, &exists, err) ||
      (exists && !ops->ledger_list(session->engine, &session->arena, &records, &n, err)))
    return false;
  for (size_t i = 0; exists && i < n; i++) {
    bool begun = strcmp(records[i].state, state_name(STATE_snapshotted)) == 0 ||
                 strcmp(records[i].state, state_name(STATE_opened)) == 0;
    if (records[i].digest == NULL || strcmp(records[i].digest, session->plan.digest) != 0) continue;
    if (is_done(&session->arena, &records[i], line)) {
      error_set(err, ERR_STATE, "backfill %s has done just this: its tool has written every date, and it was checked",
                records[i].id);
      return error_hint(err, "take it back: tidegate restore %s; or drop its snapshot: tidegate finish %s",
                        records[i].id, records[i].id);
    }
    if (!begun) continue;
    session->record = records[i];
    return plan_load(&session->arena, session->engine, &session->record, &session->plan, err);
  }
  return true;
}

static bool make_plan(Session *session, bool wait, Verdict *verdict, Error *err) {
  Arena *arena = &session->arena;
  Plan *plan = &session->plan;
  Engine *engine = session->engine;
  const GatePass *pass;
  if (!plan_resolve(arena, engine, &session->spec, plan, err) ||
      !plan_measure(arena, engine, plan, stop_interrupt(), err) ||
      !gate_judge(arena, engine, plan, GATE_IN_PLACE, plan->spec.budget.batch, verdict, &pass, err))
    return false;
  if (!verdict->allow && !(verdict->waits && wait)) return gate_deny(verdict, err);
  return plan_record(arena, engine, plan, err) && ledger_find(engine, arena, plan->id, &session->record, err);
}

/* ---- running the tool -------------------------------------------------------------------------------------------- */

typedef struct Told {
  Session *session;
  Progress progress;
} Told;

static void tell_passed(void *context, const InPlaceBatch *batch) {
  Told *told = context;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED line = {0};
  if (told->session->json || told->session->quiet) return;
  progress_end(&told->progress);
  view_in_place_batch(&line, &arena, &told->session->plan, batch);
  fputs(buf_text(&line), stderr);
  fflush(stderr);
  told->progress.dates_shown += batch->n;
}

/* Waits, if it must, before the snapshot, so that the snapshot is not old when the first batch begins. */
static bool take_snapshot(Session *session, bool wait, SnapshotFacts *ret, Error *err) {
  Verdict verdict;
  Progress progress;
  RunOptions how = step_run_options(session, wait, &progress);
  if (!make_plan(session, wait, &verdict, err)) return false;
  bool ok = verdict.allow || run_in_place_wait(session_backfill(session), &how, err);
  progress_end(&progress);
  return ok && swap_snapshot(session_backfill(session), ret, err);
}

/* The job that the tool starts: as given, else as the command names it. */
static bool find_started(Session *session, const char *line, const char **ret, Error *err) {
  Arena *arena = &session->arena;
  const PlanClock *clock = &session->plan.clock;
  const char *given = args_value(session->args, "starts");
  ProcessVariable places[PLAN_VARIABLES];
  plan_variables(arena, &session->plan, session->plan.range, places);
  *ret = given != NULL ? given : command_job(arena, &session->spec, plan_fill(arena, line, places, PLAN_VARIABLES));
  if (given == NULL) return true;
  BUF_SCOPED names = {0};
  for (size_t i = 0; i < clock->n; i++) {
    if (strcmp(clock->jobs[i].name, given) == 0) return true;
    buf_printf(&names, "%s%s", i == 0 ? "" : ", ", clock->jobs[i].name);
  }
  return error_set(err, ERR_USAGE, "--starts: the plan knows of no job %s; its jobs are: %s", given, buf_text(&names));
}

static int run_tool(Session *session, InPlaceOptions how, bool wait) {
  InPlaceResult result;
  Error err;
  Told told = {.session = session};
  how.run = step_run_options(session, wait, &told.progress);
  how.passed = tell_passed;
  how.context = &told;
  bool ok = run_in_place(session_backfill(session), &how, &result, &err);
  progress_end(&told.progress);
  if (!ok) return step_fail(session, &err);
  if (session->json) {
    Json json = session_object(session);
    view_in_place_json(&json, &session->plan, &session->record, &result);
    session_object_end(session, &json);
  } else {
    view_snapshot(&session->paint, &session->arena, &session->record, &result.facts, true);
  }
  return session_flush(session);
}

static bool read_per_batch(Session *session, int64_t *ret, Error *err) {
  const char *text = args_value(session->args, "per-batch");
  char *end;
  *ret = 0;
  if (text == NULL) return true;
  errno = 0;
  *ret = strtoll(text, &end, 10);
  if (errno == 0 && end != text && *end == '\0' && *ret > 0 && *ret <= INT32_MAX) return true;
  return error_set(err, ERR_USAGE, "--per-batch takes a number of dates, from 1: %s", text);
}

/* A line with its own dates would write the whole range each time. */
static bool check_line(Session *session, const char *line, Error *err) {
  Arena *arena = &session->arena;
  const char *why;
  /* One with a variable in it is taken to have its secret there. */
  if (line != NULL && strchr(line, '$') == NULL && strcmp(mask_output(arena, line, strlen(line)), line) != 0) {
    error_set(err, ERR_USAGE, "the command may hold a secret, and the ledger and the process list would show it: %s",
              mask_output(arena, line, strlen(line)));
    return error_hint(err, "put the secret into the environment, or a file that the tool reads");
  }
  if (line == NULL || strstr(line, "TIDEGATE_") != NULL) return true;
  TriggerReport report = trigger_classify_apart(arena, line, strlen(line));
  if (report.n != 1 || report.items[0].from == NULL) return true;
  const char *placed = offer_line(arena, line, strlen(line), &report, 0, &why);
  if (placed == NULL) return true;
  error_set(err, ERR_USAGE, "the command names dates of its own, and would write them all in every batch");
  return error_hint(err, "write: --then \"%s\"", placed);
}

static bool read_tool(Session *session, InPlaceOptions *ret, Error *err) {
  const char *line = args_value(session->args, "then");
  *ret = (InPlaceOptions){.line = line};
  return read_per_batch(session, &ret->per_batch, err) && check_line(session, line, err) &&
         session_spec(session, session_word(session, 0), err) &&
         (line == NULL || (find_begun(session, line, err) && find_started(session, line, &ret->starts, err)));
}

static int run(Session *session) {
  SnapshotFacts facts;
  Error err;
  InPlaceOptions tool;
  bool wait = !args_has(session->args, "no-wait");
  if (!read_tool(session, &tool, &err)) return step_fail(session, &err);
  if (session->record.id != NULL) return run_tool(session, tool, wait);
  if (!take_snapshot(session, wait && tool.line != NULL, &facts, &err)) return step_fail(session, &err);
  if (session->json && tool.line == NULL) {
    Json json = session_object(session);
    view_snapshot_json(&json, &session->record, &facts);
    session_object_end(session, &json);
  } else if (!session->json) {
    view_snapshot(&session->paint, &session->arena, &session->record, &facts, tool.line != NULL);
  }
  int status = session_flush(session);
  return tool.line == NULL || status != 0 ? status : run_tool(session, tool, wait);
}
