#include <stdio.h>
#include <string.h>

#include "cli/session.h"
#include "cli/steps.h"
#include "gate/trigger/trigger.h"
#include "view/verdict.h"

static int run(Session *session);

static const CliOption options[] = {
    {"classify", '\0', "TEXT",
     "say whether a command line starts a backfill with another tool; - reads standard input"},
    {NULL, '\0', NULL, NULL}};

static const CliExample examples[] = {
    {"tidegate gate daily_delays.yaml", "may it run now? exit status 0 or 3"},
    {"tidegate gate --classify 'airflow dags backfill -s 2024-01-01 -e 2024-01-31 sales'",
     "trigger, and a line of system, target, first and last date"},
    {NULL, NULL}};

const Command command_gate = {
    .name = "gate",
    .summary = "say whether a spec may run now, without recording anything",
    .arguments = "[SPEC]",
    .max_args = 1,
    .options = options,
    .about =
        "Judges the spec as `tidegate plan` does and prints the verdict alone. Nothing is written, to the ledger "
        "neither. The rules are listed in docs/reference/gate-rules.md.\n\n"
        "--classify is plumbing for scripts and tests, and its output is stable: it reads a command line as bash would "
        "and needs neither spec nor database. The first line is `trigger`, `not_trigger` or `ask` (not understood, and "
        "it names such a tool); then comes a line a trigger: system, target, first and last date (both included), with "
        "tabs between and - for what is not explicit. The exit status is 0 whatever the answer.",
    .exits = {ERR_DENIED, ERR_DATABASE, ERR_NOT_FOUND, ERR_PAUSED, ERR_NONE},
    .examples = examples,
    .run = run};

static const char *or_dash(const char *text) { return text == NULL ? "-" : text; }

static void tell_json(Session *session, const TriggerReport *report) {
  Json json = session_object(session);
  json_text(&json, "verdict", trigger_verdict_name(report->verdict));
  if (report->why != NULL) json_text(&json, "why", report->why);
  json_array(&json, "triggers");
  for (size_t i = 0; i < report->n; i++) {
    const Trigger *item = &report->items[i];
    json_object(&json, NULL);
    json_bool(&json, "sure", item->sure);
    json_text(&json, "system", item->system);
    json_text(&json, "target", item->target);
    json_text(&json, "from", item->from);
    json_text(&json, "to", item->to);
    json_text(&json, "danger", item->danger);
    json_text(&json, "why", item->why);
    json_object_end(&json);
  }
  json_array_end(&json);
  session_object_end(session, &json);
}

/* A target with a tab or a line end in it would make two fields of one. */
static void put_field(Buf *out, const char *text) {
  for (; *text != '\0'; text++) buf_putc(out, (unsigned char)*text < ' ' ? '?' : *text);
}

static void tell(Session *session, const TriggerReport *report) {
  buf_printf(&session->buffer, "%s\n", trigger_verdict_name(report->verdict));
  for (size_t i = 0; i < report->n; i++) {
    const Trigger *item = &report->items[i];
    put_field(&session->buffer, item->system);
    buf_putc(&session->buffer, '\t');
    put_field(&session->buffer, or_dash(item->target));
    buf_printf(&session->buffer, "\t%s\t%s\n", or_dash(item->from), or_dash(item->to));
  }
}

/* More is never understood, and needs not be read. */
enum { MOST_TEXT = 4 * 1024 * 1024 };

static void read_input(Buf *text) {
  char block[65536];
  size_t n;
  while (text->len < MOST_TEXT && (n = fread(block, 1, sizeof block, stdin)) > 0) buf_append(text, block, n);
}

static int classify(Session *session, const char *given) {
  BUF_SCOPED text = {0};
  if (strcmp(given, "-") == 0)
    read_input(&text);
  else
    buf_puts(&text, given);
  TriggerReport report = trigger_classify_apart(&session->arena, buf_text(&text), text.len);
  session->json ? tell_json(session, &report) : tell(session, &report);
  return session_flush(session);
}

static int run(Session *session) {
  Verdict verdict;
  Error err;
  const char *text = args_value(session->args, "classify");
  if (text != NULL && session_word(session, 0) == NULL) return classify(session, text);
  if (text != NULL || session_word(session, 0) == NULL) {
    error_set(&err, ERR_USAGE, "gate judges one spec, or the text of --classify");
    return session_fail(session, &err);
  }
  if (!step_plan(session, session_word(session, 0), false, &verdict, &err)) return session_fail(session, &err);
  if (session->json) {
    Json json = {.out = &session->buffer};
    gate_json(&verdict, &json);
    buf_putc(&session->buffer, '\n');
  } else {
    const char *then = verdict.allow ? arena_printf(&session->arena, "tidegate plan %s", session_word(session, 0)) : "";
    view_verdict(&session->paint, &session->arena, &session->plan, &verdict, session->plan.planned_at, then);
  }
  int status = session_flush(session);
  return verdict.allow ? status : error_exit_status(ERR_DENIED);
}
