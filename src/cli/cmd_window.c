#include <stdlib.h>
#include <string.h>

#include "cli/session.h"
#include "cli/stop.h"
#include "swap/swap.h"
#include "view/window.h"

static int run(Session *session);

static const CliOption options[] = {{"count", 'n', "N", "so many windows (default 5)"},
                                    {"from", '\0', "TIME", "as if it were then (RFC 3339), else now by the database"},
                                    {"svg", '\0', "FILE", "write the week as a picture too"},
                                    {NULL, '\0', NULL, NULL}};

static const CliExample examples[] = {
    {"tidegate window daily_delays.yaml", "the next windows, how much fits, when it would end, and the week"},
    {"tidegate window --svg week.svg daily_delays.yaml", "the week as a picture for a page or a message"},
    {NULL, NULL}};

const Command command_window = {
    .name = "window",
    .summary = "show when a backfill may work, and how much fits",
    .arguments = "SPEC",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .about =
        "Shows the windows of the next 14 days: the idle hours, minus every run of every job that writes the target, "
        "reads it or feeds it, with its guard, minus the days that are frozen. How much fits is reckoned by the "
        "batches written so far or, before the first, by one date that is recomputed for trial. The rests of the duty "
        "cycle are reckoned in. Nothing is written.\n\n"
        "When a fact is missing without which no window can be told, a schedule or how long a run takes, it says "
        "which, "
        "and the exit status is that of a denial.",
    .exits = {ERR_DENIED, ERR_DATABASE, ERR_NOT_FOUND, ERR_PAUSED, ERR_SPEC, ERR_NONE},
    .examples = examples,
    .run = run};

/* Looked at: as far ahead as the gate looks. */
enum { HORIZON = 14 * 86400, USUAL_COUNT = 5, MOST_COUNT = 1000 };

static bool read_count(const Session *session, size_t *ret, Error *err) {
  const char *text = args_value(session->args, "count");
  *ret = USUAL_COUNT;
  if (text == NULL) return true;
  char *end;
  long count = strtol(text, &end, 10);
  if (*text < '0' || *text > '9' || *end != '\0' || count < 1 || count > MOST_COUNT)
    return error_set(err, ERR_USAGE, "--count takes a number from 1 to %d, not %s", MOST_COUNT, text);
  *ret = (size_t)count;
  return true;
}

/* What time does not cure: the gate's reason for which no window can be told. */
static const GateReason *find_unknown(const Plan *plan, const Verdict *verdict) {
  for (size_t i = 0; i < verdict->n; i++) {
    const GateReason *reason = &verdict->reasons[i];
    if (strcmp(reason->rule, "schedule-unknown") == 0 || strcmp(reason->rule, "p95-unknown") == 0 ||
        (strcmp(reason->rule, "freeze") == 0 && plan->clock.freeze_unknown != NULL))
      return reason;
  }
  return NULL;
}

static bool make(Session *session, WindowReport *ret, Verdict *verdict, Error *err) {
  Arena *arena = &session->arena;
  const char *from = args_value(session->args, "from");
  const GatePass *pass;
  Instant at;
  size_t count;
  *ret = (WindowReport){.plan = &session->plan};
  if (!read_count(session, &count, err)) return false;
  if (from != NULL && !instant_parse(from, &at, err)) return error_wrap(err, "--from");
  if (!session_spec(session, session_word(session, 0), err) ||
      !plan_resolve(arena, session->engine, &session->spec, &session->plan, err) ||
      !forecast_work(arena, session->engine, &session->plan, stop_interrupt(), &ret->forecast, err) ||
      (from == NULL && !session->engine->ops->now(session->engine, &at, err)))
    return false;
  forecast_windows(arena, &session->plan, at, HORIZON, count, &ret->forecast);
  if (!gate_judge(arena, session->engine, &session->plan, GATE_BATCH, ret->forecast.need, verdict, &pass, err))
    return false;
  ret->unknown = find_unknown(&session->plan, verdict);
  if (ret->unknown != NULL) {
    ret->forecast.n = ret->forecast.n_chosen = 0;
    ret->forecast.ends = 0;
  }
  if (from == NULL) ret->verdict = verdict;
  ret->week = week_make(arena, &session->plan, &ret->forecast, ret->unknown == NULL);
  return true;
}

static bool write_svg(Session *session, const char *path, const WindowReport *report, Error *err) {
  BUF_SCOPED text = {0};
  view_week_svg(&text, &session->arena, report);
  return session_write(session, path, &text, err);
}

static int run(Session *session) {
  WindowReport report;
  Verdict verdict;
  Error err;
  const char *svg = args_value(session->args, "svg");
  if (!make(session, &report, &verdict, &err) || (svg != NULL && !write_svg(session, svg, &report, &err)))
    return session_fail(session, &err);
  if (session->json) {
    Json json = session_object(session);
    view_window_json(&json, &session->arena, &report);
    session_object_end(session, &json);
  } else {
    view_window(&session->paint, &session->arena, &report);
  }
  int status = session_flush(session);
  return report.unknown == NULL ? status : error_exit_status(ERR_DENIED);
}
