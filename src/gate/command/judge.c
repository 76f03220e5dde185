#include "gate/command/command_int.h"

/* All rules are asked as far as what they need is worth looking up, so that everything can be put right at once. */

static bool denies(const CommandCase *c) {
  for (size_t i = 0; i < c->n; i++)
    if (!c->reasons[i].asks) return true;
  return false;
}

static void judge_rules(CommandCase *c) {
  size_t n;
  const CommandRule *rules = command_rule_table(&n);
  CommandNeeds needs = COMMAND_TEXT;
  for (size_t i = 0; i < n; i++) {
    if (rules[i].needs != needs && denies(c)) return;
    needs = rules[i].needs;
    rules[i].judge(c, rules[i].name);
  }
}

bool command_judge(Arena *arena, const CommandAsk *ask, CommandVerdict *ret, Error *err) {
  CommandCase c = {.arena = arena, .ask = ask};
  (void)err;
  c.report = ask->report != NULL ? *ask->report : trigger_classify_apart(arena, ask->text, ask->n);
  if (c.report.verdict != TRIGGER_NO) judge_rules(&c);
  *ret = (CommandVerdict){.report = c.report, .reasons = c.reasons, .n = c.n};
  if (denies(&c) || (c.n > 0 && !ask->can_ask))
    ret->decision = COMMAND_DENY;
  else
    ret->decision = c.n > 0 ? COMMAND_ASK : COMMAND_ALLOW;
  return true;
}
