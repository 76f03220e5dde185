#include "cli/gate_command.h"

#include <stdio.h>
#include <string.h>

#include "gate/command/command.h"
#include "gate/command/offer.h"

/* Other tools' commands: what they are, and whether they may run. */

/* ---- what it is -------------------------------------------------------------------------------------------------- */

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

static void read_text(const char *given, Buf *text) {
  char block[65536];
  size_t n;
  if (strcmp(given, "-") != 0) {
    buf_puts(text, given);
    return;
  }
  while (text->len < MOST_TEXT && (n = fread(block, 1, sizeof block, stdin)) > 0) buf_append(text, block, n);
}

int gate_classify(Session *session, const char *given) {
  BUF_SCOPED text = {0};
  read_text(given, &text);
  TriggerReport report = trigger_classify_apart(&session->arena, buf_text(&text), text.len);
  session->json ? tell_json(session, &report) : tell(session, &report);
  return session_flush(session);
}

/* ---- may it run? ------------------------------------------------------------------------------------------------- */

static void tell_draft(Session *session, const Offer *offer, bool written) {
  if (session->json) {
    Json json = session_object(session);
    json_text(&json, "file", written ? offer->path : NULL);
    json_text(&json, "spec", offer->yaml);
    json_text(&json, "line", offer->line);
    json_text(&json, "why_not", offer->why_not);
    json_text(&json, "backfill", offer->backfill);
    json_text(&json, "snapshot", offer->snapshot);
    session_object_end(session, &json);
  } else if (!written) {
    buf_puts(&session->buffer, offer->yaml);
  } else {
    buf_printf(&session->buffer,
               "%s written. Fill in what it says FILL IN, then:\n  %s\nor, for a tool that can write another table, "
               "with {shadow} named as that table in it:\n  %s\n",
               offer->path, offer->snapshot, offer->backfill);
  }
}

static int draft(Session *session, const char *file, const char *text, size_t n) {
  CommandAsk ask = {.text = text, .n = n};
  bool print = strcmp(file, "-") == 0;
  Offer offer;
  Error err;
  if (!command_draft(&session->arena, &ask, print ? NULL : file, &offer, &err) ||
      (!print && !offer_write(&offer, &err)))
    return session_fail(session, &err);
  tell_draft(session, &offer, !print);
  return session_flush(session);
}

static int judge(Session *session, const char *text, size_t n) {
  const char *file = args_value(session->args, "draft");
  if (file != NULL) return draft(session, file, text, n);
  CommandVerdict verdict;
  Error err;
  const char *because = args_value(session->args, "override"), *place = args_value(session->args, "place");
  CommandAsk ask = {
      .text = text, .n = n, .place = place == NULL ? "shell" : place, .override_reason = because, .can_ask = true};
  if (because != NULL && because[strspn(because, " \t")] == '\0') {
    error_set(&err, ERR_USAGE, "an override needs a reason: it is written down, and somebody will read it");
    return session_fail(session, &err);
  }
  if (!command_judge(&session->arena, &ask, &verdict, &err)) return session_fail(session, &err);
  if (session->json) {
    Json json = {.out = &session->buffer};
    command_json(&verdict, &json);
    buf_putc(&session->buffer, '\n');
  } else {
    command_text(&verdict, &session->buffer);
  }
  int status = session_flush(session);
  if (verdict.decision == COMMAND_ALLOW) return status;
  return error_exit_status(verdict.decision == COMMAND_ASK ? ERR_ASK : ERR_DENIED);
}

int gate_command(Session *session, const char *given) {
  BUF_SCOPED text = {0};
  read_text(given, &text);
  return judge(session, buf_text(&text), text.len);
}

/* The words as bash would read them back. */
static void put_word(Buf *out, const char *word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+,-";
  if (*word != '\0' && word[strspn(word, plain)] == '\0') {
    buf_puts(out, word);
    return;
  }
  buf_putc(out, '\'');
  for (; *word != '\0'; word++) *word == '\'' ? buf_puts(out, "'\\''") : buf_putc(out, *word);
  buf_putc(out, '\'');
}

int gate_words(Session *session, const char *const *words, size_t n) {
  BUF_SCOPED text = {0};
  for (size_t i = 0; i < n; i++) {
    if (i > 0) buf_putc(&text, ' ');
    put_word(&text, words[i]);
  }
  return judge(session, buf_text(&text), text.len);
}
