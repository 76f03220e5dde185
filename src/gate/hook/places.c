#include <string.h>

#include "gate/hook/hook_int.h"

enum { CLOSED_AGENT = 2 }; /* their contracts; a shell's, Airflow's and OPA's is the gate's own exit status */

static const HookPlace places[] = {
    {"claude-code", "Claude Code, before a tool is used", CLOSED_AGENT, true},
    {"codex", "Codex, before a tool is used", CLOSED_AGENT, false}, /* it takes "ask" for a fault, and runs the call */
    {"gemini", "Gemini CLI, before a tool is used", CLOSED_AGENT, false}, /* has no "ask" */
    {"cursor", "Cursor, before a shell or MCP tool is used", CLOSED_AGENT, true},
    {"bash", "an interactive bash, before each command", 3, false},
    {"zsh", "an interactive zsh, when a line is accepted", 3, false},
    {"shim", "a program of another tool, before it starts", 3, false},
    {"airflow", "Airflow itself: requests, the page, its command line", 3, false},
    {"opa", "a document for OPA and conftest", 3, false}};

const HookPlace *hook_places(size_t *ret_n) {
  *ret_n = sizeof places / sizeof *places;
  return places;
}

const HookPlace *hook_place(const char *name) {
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (strcmp(places[i].name, name) == 0) return &places[i];
  return NULL;
}

static bool read_line(Arena *arena, const char *input, size_t n, HookQuestion *ret, Error *err) {
  if (memchr(input, '\0', n) != NULL) return error_set(err, ERR_USAGE, "the command line holds a NUL byte");
  const char **texts = arena_array(arena, 1, sizeof *texts);
  while (n > 0 && input[n - 1] == '\n') n--; /* the end of a file, not of the command's text */
  texts[0] = arena_strndup(arena, input, n);
  *ret = (HookQuestion){.texts = texts, .n = 1};
  return true;
}

bool hook_read(Arena *arena, const HookPlace *place, const char *input, size_t n, HookQuestion *ret, Error *err) {
  if (n > HOOK_MAX_BYTES) return error_set(err, ERR_USAGE, "%s sent more than %d bytes", place->name, HOOK_MAX_BYTES);
  if (strcmp(place->name, "airflow") == 0) return hook_read_airflow(arena, input, n, ret, err);
  if (place->closed == CLOSED_AGENT) return hook_read_agent(arena, place, input, n, ret, err);
  return read_line(arena, input, n, ret, err);
}

static void put_reasons(const CommandVerdict *verdict, Json *json) {
  for (size_t i = 0; i < verdict->n; i++) {
    json_object(json, NULL);
    json_text(json, "rule", verdict->reasons[i].rule);
    json_text(json, "text", verdict->reasons[i].text);
    json_text(json, "hint", verdict->reasons[i].hint);
    json_object_end(json);
  }
}

typedef struct Judged {
  CommandDecision decision; /* the strictest */
  bool started;             /* something starts a backfill */
  Buf message, reasons;
} Judged;

static bool judge_all(Arena *arena, const HookPlace *place, const HookQuestion *question, Judged *ret, Error *err) {
  Json json = {.out = &ret->reasons};
  json_array(&json, NULL);
  for (size_t i = 0; i < question->n; i++) {
    CommandVerdict verdict;
    CommandAsk ask = {.text = question->texts[i],
                      .n = strlen(question->texts[i]),
                      .place = place->name,
                      .directory = question->directory,
                      .who = question->who,
                      .can_ask = question->can_ask,
                      .report = question->report};
    if (!command_judge(arena, &ask, &verdict, err)) return false;
    if (verdict.decision > ret->decision) ret->decision = verdict.decision;
    ret->started |= verdict.report.verdict != TRIGGER_NO;
    put_reasons(&verdict, &json);
    if (verdict.decision != COMMAND_ALLOW) command_text(&verdict, &ret->message);
  }
  json_array_end(&json);
  return true;
}

void hook_answer(Arena *arena, const HookPlace *place, const char *input, size_t n, HookReply *ret) {
  HookQuestion question;
  Judged judged = {.decision = COMMAND_ALLOW};
  Error err;
  if (!hook_read(arena, place, input, n, &question, &err) || !judge_all(arena, place, &question, &judged, &err)) {
    hook_close(place, arena_printf(arena, "%s\n%s", err.message, error_hint_text(&err)), ret);
  } else {
    if (judged.decision != COMMAND_ALLOW)
      buf_puts(&judged.message, judged.decision == COMMAND_ASK
                                    ? "Tidegate has not run anything; you decide.\n"
                                    : "Tidegate stopped this before it ran; nothing was changed.\n");
    hook_say(place, judged.decision, judged.started && judged.decision == COMMAND_ALLOW, buf_text(&judged.message),
             buf_text(&judged.reasons), ret);
  }
  buf_release(&judged.message);
  buf_release(&judged.reasons);
}

void hook_reply_release(HookReply *reply) {
  buf_release(&reply->out);
  buf_release(&reply->err);
}
