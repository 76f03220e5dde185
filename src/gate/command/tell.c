#include <string.h>

#include "gate/command/command_int.h"
#include "time/quantity.h"
#include "time/zone.h"

/* The verdict, for people and for programs. */

const char *command_decision_name(CommandDecision decision) {
  static const char *const names[] = {[COMMAND_ALLOW] = "allow", [COMMAND_ASK] = "ask", [COMMAND_DENY] = "deny"};
  return names[decision];
}

const char *command_trigger_label(Arena *arena, const Trigger *trigger) {
  const char *system = strcmp(trigger->system, "?") == 0 ? "a command" : trigger->system;
  const char *dates = "";
  if (trigger->from != NULL && trigger->to != NULL)
    dates = strcmp(trigger->from, trigger->to) == 0 ? arena_printf(arena, " %s", trigger->from)
                                                    : arena_printf(arena, " %s to %s", trigger->from, trigger->to);
  else if (trigger->from != NULL)
    dates = arena_printf(arena, " from %s", trigger->from);
  else if (trigger->to != NULL)
    dates = arena_printf(arena, " until %s", trigger->to);
  return arena_printf(arena, "%s%s%s%s", system, trigger->target == NULL ? "" : " ",
                      trigger->target == NULL ? "" : trigger->target, dates);
}

const char *command_of(const CommandCase *c, const Trigger *trigger) {
  return c->report.n < 2 ? "" : arena_printf(c->arena, "%s: ", command_trigger_label(c->arena, trigger));
}

/* Each line of the text behind the same margin. */
static void put_lines(Buf *out, const char *margin, const char *text) {
  for (const char *at = text; *at != '\0';) {
    size_t n = strcspn(at, "\n");
    buf_puts(out, margin);
    buf_append(out, at, n);
    buf_putc(out, '\n');
    at += n + (at[n] == '\n');
  }
}

enum { MOST_SHOWN = 5 };

static void put_head(const CommandVerdict *verdict, Buf *out) {
  ARENA_SCOPED arena = {0};
  static const char *const words[] = {
      [COMMAND_ALLOW] = "ALLOWED", [COMMAND_ASK] = "A PERSON DECIDES", [COMMAND_DENY] = "DENIED"};
  buf_puts(out, verdict->overridden ? "ALLOWED BY OVERRIDE" : words[verdict->decision]);
  for (size_t i = 0; i < verdict->report.n && i < MOST_SHOWN; i++)
    buf_printf(out, "%s%s", i == 0 ? "  " : "; ", command_trigger_label(&arena, &verdict->report.items[i]));
  if (verdict->report.n > MOST_SHOWN) buf_printf(out, " and %zu more", verdict->report.n - MOST_SHOWN);
  buf_putc(out, '\n');
}

/* What is owed afterwards, by whoever runs it. */
static void put_pass(const CommandVerdict *verdict, Buf *out) {
  char until[40];
  if (verdict->until != 0 && verdict->decision != COMMAND_DENY) {
    instant_rfc3339(verdict->until, zone_utc(), until);
    buf_printf(out, "  it may run once, until %s\n", until);
  }
  if (verdict->backfill != NULL)
    buf_printf(out, "  afterwards: tidegate check %s; until then no other command over this table is allowed\n",
               verdict->backfill);
}

void command_text(const CommandVerdict *verdict, Buf *out) {
  if (verdict->report.verdict == TRIGGER_NO) return;
  put_head(verdict, out);
  for (size_t i = 0; i < verdict->n; i++) {
    buf_printf(out, "  %s: %s\n", verdict->reasons[i].rule, verdict->reasons[i].text);
    if (verdict->reasons[i].hint != NULL) put_lines(out, "    ", verdict->reasons[i].hint);
  }
  put_pass(verdict, out);
  if (verdict->n_offers > 0) buf_puts(out, "type instead:\n");
  for (size_t i = 0; i < verdict->n_offers; i++) put_lines(out, "  ", verdict->offers[i]);
}

static void put_triggers(const TriggerReport *report, Json *json) {
  json_array(json, "triggers");
  for (size_t i = 0; i < report->n; i++) {
    const Trigger *item = &report->items[i];
    json_object(json, NULL);
    json_bool(json, "sure", item->sure);
    json_text(json, "system", item->system);
    json_text(json, "target", item->target);
    json_text(json, "from", item->from);
    json_text(json, "to", item->to);
    json_text(json, "danger", item->danger);
    json_text(json, "why", item->why);
    json_object_end(json);
  }
  json_array_end(json);
}

void command_json(const CommandVerdict *verdict, Json *json) {
  json_object(json, NULL);
  json_text(json, "decision", command_decision_name(verdict->decision));
  json_text(json, "verdict", trigger_verdict_name(verdict->report.verdict));
  json_bool(json, "overridden", verdict->overridden);
  json_array(json, "reasons");
  for (size_t i = 0; i < verdict->n; i++) {
    json_object(json, NULL);
    json_text(json, "rule", verdict->reasons[i].rule);
    json_text(json, "text", verdict->reasons[i].text);
    json_text(json, "hint", verdict->reasons[i].hint);
    json_bool(json, "asks", verdict->reasons[i].asks);
    json_object_end(json);
  }
  json_array_end(json);
  put_triggers(&verdict->report, json);
  json_text(json, "pass", verdict->pass);
  json_text(json, "backfill", verdict->backfill);
  instant_json(json, "until", verdict->until);
  json_array(json, "offers");
  for (size_t i = 0; i < verdict->n_offers; i++) json_text(json, NULL, verdict->offers[i]);
  json_array_end(json);
  json_object_end(json);
}
