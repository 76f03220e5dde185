#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gate/command/command_int.h"

/* The rules' table (rules.def), at the end, and those that need the text alone before it. */

enum { REASON_TEXT = 2048, MOST_REASONS = 10 };

static const char *format_text(Arena *arena, const char *format, va_list args) {
  char text[REASON_TEXT];
  vsnprintf(text, sizeof text, format, args);
  for (char *at = text; *at != '\0'; at++) /* the reader of command lines marks by such bytes what it does not know */
    if (iscntrl((unsigned char)*at) && *at != '\n') *at = '?';
  return arena_strdup(arena, text);
}

void command_because(CommandCase *c, const char *rule, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *text = format_text(c->arena, format, args);
  va_end(args);
  size_t said = 0;
  for (size_t i = 0; i < c->n; i++) {
    if (strcmp(c->reasons[i].text, text) == 0) return;
    said += strcmp(c->reasons[i].rule, rule) == 0;
  }
  if (said >= MOST_REASONS) return;
  c->reasons = arena_grow(c->arena, c->reasons, c->n, sizeof *c->reasons);
  c->reasons[c->n++] = (CommandReason){.rule = rule, .text = text};
}

void command_advise(CommandCase *c, const char *format, ...) {
  va_list args;
  va_start(args, format);
  c->reasons[c->n - 1].hint = format_text(c->arena, format, args);
  va_end(args);
}

bool command_denies(const CommandCase *c) {
  for (size_t i = 0; i < c->n; i++)
    if (!c->reasons[i].asks) return true;
  return false;
}

/* ---- the text ---------------------------------------------------------------------------------------------------- */

static void not_understood(CommandCase *c, const char *rule) {
  for (size_t i = 0; i < c->report.n; i++) {
    const Trigger *item = &c->report.items[i];
    if (item->sure) continue;
    command_because(c, rule, "it may start a backfill, and what it does cannot be told: %s",
                    item->why == NULL ? "it is not understood" : item->why);
    command_advise(c, "type the tool's own command, with its dates and its target written out");
    c->reasons[c->n - 1].asks = true;
  }
}

static void dates_not_given(CommandCase *c, const char *rule) {
  for (size_t i = 0; i < c->report.n; i++) {
    const Trigger *item = &c->report.items[i];
    const char *label = command_of(c, item);
    if (!item->sure || (item->from != NULL && item->to != NULL && strcmp(item->from, item->to) <= 0)) continue;
    if (item->from != NULL && item->to != NULL) {
      command_because(c, rule, "%sthe first date is behind the last", label);
    } else if (item->from == NULL && item->to == NULL) {
      command_because(c, rule,
                      "%sno first and last date stand in it as they are, so which dates it rewrites is unknown", label);
    } else {
      command_because(c, rule,
                      "%sonly the %s date stands in it as it is, and tools read that in different ways: as one "
                      "day, or without an end",
                      label, item->from != NULL ? "first" : "last");
    }
    command_advise(c, "write both dates out, as 2024-01-31, without a variable");
  }
}

/* A flag that only answers the tool's question does nothing to the rows. */
static const char *what_it_does(Arena *arena, const char *danger) {
  static const char harmless[] = "asks nothing";
  BUF_SCOPED kept = {0};
  for (const char *at = danger; *at != '\0';) {
    size_t n = strcspn(at, ";");
    const char *part = arena_strndup(arena, at, n);
    part += strspn(part, " ");
    if (strstr(part, harmless) == NULL && *part != '\0') buf_printf(&kept, "%s%s", kept.len == 0 ? "" : "; ", part);
    at += n + (at[n] == ';');
  }
  return arena_strdup(arena, buf_text(&kept));
}

static void dangerous(CommandCase *c, const char *rule) {
  for (size_t i = 0; i < c->report.n; i++) {
    const Trigger *item = &c->report.items[i];
    const char *what = item->danger == NULL ? "" : what_it_does(c->arena, item->danger);
    if (!item->sure || *what == '\0') continue;
    command_because(c, rule, "%sit does more than write the dates: %s", command_of(c, item), what);
    command_advise(c, "leave those flags out, or have a person decide");
    c->reasons[c->n - 1].asks = true;
  }
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

enum {
  TEXT = COMMAND_TEXT,
  FILE_THERE = COMMAND_FILE,
  PIPELINE = COMMAND_PIPELINE,
  CONNECTION = COMMAND_CONNECTION,
  DATABASE = COMMAND_DATABASE
};

static const CommandRule rules[] = {
#define RULE(name, needs, what, judge) {name, (CommandNeeds)needs, judge},
#include "gate/command/rules.def"
};

static const struct {
  const char *name, *what;
  CommandNeeds needs;
} facts[] = {
#define RULE(name, needs, what, judge) {name, what, (CommandNeeds)needs},
#include "gate/command/rules.def"
};

enum { N_RULES = sizeof rules / sizeof *rules };

const CommandRule *command_rule_table(size_t *ret_n) {
  *ret_n = N_RULES;
  return rules;
}

const CommandRuleFacts *command_rules(size_t *ret_n) {
  static const char *const needs[] = {[COMMAND_TEXT] = "the text",
                                      [COMMAND_FILE] = "tidegate.yaml",
                                      [COMMAND_PIPELINE] = "tidegate.yaml",
                                      [COMMAND_CONNECTION] = "the database",
                                      [COMMAND_DATABASE] = "the database"};
  static _Thread_local CommandRuleFacts table[N_RULES];
  for (size_t i = 0; i < N_RULES; i++)
    table[i] = (CommandRuleFacts){facts[i].name, needs[facts[i].needs], facts[i].what};
  *ret_n = N_RULES;
  return table;
}
