#include <string.h>

#include "gate/hook/hook_int.h"

/* A verdict in each place's own words (tests/cases/interception.md, C.1). */

/* An exit status blocks in every version of these agents; the words on standard output are for those that read them. */
static void say_claude(const HookPlace *place, CommandDecision decision, const char *message, HookReply *ret) {
  if (decision == COMMAND_ALLOW) return; /* no output: no opinion, the agent's own rules hold */
  if (decision == COMMAND_DENY) {
    ret->status = place->closed;
    buf_puts(&ret->err, message);
    return;
  }
  Json json = {.out = &ret->out};
  json_object(&json, NULL);
  json_object(&json, "hookSpecificOutput");
  json_text(&json, "hookEventName", "PreToolUse");
  json_text(&json, "permissionDecision", "ask");
  json_text(&json, "permissionDecisionReason", message);
  json_object_end(&json);
  json_object_end(&json);
  buf_putc(&ret->out, '\n');
}

static void say_gemini(const HookPlace *place, CommandDecision decision, const char *message, HookReply *ret) {
  Json json = {.out = &ret->out};
  json_object(&json, NULL);
  if (decision != COMMAND_ALLOW) {
    json_text(&json, "decision", "deny");
    json_text(&json, "reason", message);
    buf_puts(&ret->err, message);
    ret->status = place->closed;
  }
  json_object_end(&json);
  buf_putc(&ret->out, '\n');
}

static void say_cursor(const HookPlace *place, CommandDecision decision, const char *message, HookReply *ret) {
  Json json = {.out = &ret->out};
  json_object(&json, NULL);
  if (decision != COMMAND_ALLOW) {
    json_text(&json, "permission", decision == COMMAND_ASK ? "ask" : "deny");
    json_text(&json, "user_message", message);
    json_text(&json, "agent_message", message);
  }
  json_object_end(&json);
  buf_putc(&ret->out, '\n');
  if (decision != COMMAND_DENY) return;
  ret->status = place->closed;
  buf_puts(&ret->err, message);
}

static void say_document(const HookPlace *place, CommandDecision decision, const char *message, const char *reasons,
                         HookReply *ret) {
  bool opa = strcmp(place->name, "opa") == 0;
  Json json = {.out = &ret->out};
  json_object(&json, NULL);
  if (opa) json_int(&json, "tidegate", 1);
  json_text(&json, "decision", command_decision_name(decision));
  json_text(&json, "message", message);
  json_raw(&json, "reasons", reasons);
  json_object_end(&json);
  buf_putc(&ret->out, '\n');
}

/* A shell must know which of its lines was let through by a pass: what is inside it is not judged once more. */
static void say_line(const HookPlace *place, CommandDecision decision, bool by_pass, const char *message,
                     HookReply *ret) {
  if (by_pass) buf_puts(&ret->out, "allowed\n");
  if (decision == COMMAND_ALLOW) return;
  ret->status = place->closed;
  buf_puts(&ret->err, message);
}

void hook_say(const HookPlace *place, CommandDecision decision, bool by_pass, const char *message, const char *reasons,
              HookReply *ret) {
  const char *name = place->name;
  if (strcmp(name, "airflow") == 0 || strcmp(name, "opa") == 0)
    say_document(place, decision, message, reasons, ret);
  else if (strcmp(name, "gemini") == 0)
    say_gemini(place, decision, message, ret);
  else if (strcmp(name, "cursor") == 0)
    say_cursor(place, decision, message, ret);
  else if (strcmp(name, "claude-code") == 0)
    say_claude(place, decision, message, ret);
  else
    say_line(place, decision, by_pass, message, ret);
}

void hook_close(const HookPlace *place, const char *why, HookReply *ret) {
  BUF_SCOPED message = {0};
  buf_printf(&message, "tidegate: stopped, because it could not be judged: %s\n", why);
  if (strcmp(place->name, "gemini") == 0) {
    say_gemini(place, COMMAND_DENY, buf_text(&message), ret);
  } else if (strcmp(place->name, "cursor") == 0) {
    say_cursor(place, COMMAND_DENY, buf_text(&message), ret);
  } else { /* airflow and OPA: without a document nothing is allowed */
    ret->status = place->closed;
    buf_puts(&ret->err, buf_text(&message));
  }
}
