#include "base/hash.h"
#include "gate/command/command_int.h"

/* All rules are asked as far as what they need is worth looking up, so that everything can be put right at once. */

static void judge_rules(CommandCase *c) {
  size_t n;
  const CommandRule *rules = command_rule_table(&n);
  CommandNeeds needs = COMMAND_TEXT;
  for (size_t i = 0; i < n; i++) {
    if (rules[i].needs != needs && command_denies(c)) return;
    needs = rules[i].needs;
    rules[i].judge(c, rules[i].name);
  }
}

static CommandDecision decide(const CommandCase *c) {
  if (c->n == 0) return COMMAND_ALLOW;
  return command_denies(c) || !c->ask->can_ask ? COMMAND_DENY : COMMAND_ASK;
}

/* Is everything that it would write known and proven, so that it may be opened to it? */
static bool is_proven(const CommandCase *c) {
  for (size_t i = 0; i < c->report.n; i++)
    if (!c->report.items[i].sure) return false;
  for (size_t i = 0; i < c->n_targets; i++)
    if (c->targets[i].record.id == NULL) return false;
  return c->n_targets > 0 && !command_denies(c);
}

/* Of the text, and of what a request was understood to start. */
static const char *digest_of(const CommandCase *c) {
  BUF_SCOPED all = {0};
  char digest[33];
  if (c->ask->text != NULL) buf_append(&all, c->ask->text, c->ask->n);
  for (size_t i = 0; i < c->report.n && c->ask->report != NULL; i++)
    buf_printf(&all, "\n%s", command_trigger_label(c->arena, &c->report.items[i]));
  hash_hex(buf_text(&all), all.len, digest);
  return arena_strdup(c->arena, digest);
}

/* A verdict that becomes true when it is written down. */
typedef struct Settling {
  CommandCase *c;
  CommandVerdict *verdict;
  bool opens;  /* what it would write */
  bool failed; /* before it came to the record */
} Settling;

static bool write_down(void *context, Error *err) {
  Settling *settling = context;
  CommandCase *c = settling->c;
  CommandVerdict *verdict = settling->verdict;
  bool overrides = verdict->decision != COMMAND_ALLOW && c->ask->override_reason != NULL;
  settling->failed =
      (settling->opens && !command_open(c, verdict, err)) || (overrides && !command_override(c, verdict, err));
  if (settling->failed) return false;
  if (verdict->overridden) verdict->decision = COMMAND_ALLOW;
  return command_record(c, verdict, err);
}

static bool judge(CommandCase *c, CommandVerdict *verdict, Error *err) {
  c->digest = digest_of(c);
  judge_rules(c);
  if (!command_take_over(c, verdict, err)) return false;
  if (verdict->taken_over) c->n = 0;
  verdict->decision = decide(c);
  Settling settling = {
      .c = c, .verdict = verdict, .opens = verdict->decision != COMMAND_DENY && !verdict->taken_over && is_proven(c)};
  bool there = command_open_database(c);
  if (there ? c->engine->ops->ledger_together(c->engine, write_down, &settling, err) : write_down(&settling, err))
    return true;
  if (settling.failed) return false;
  bool overrides = there && c->ask->override_reason != NULL,
       stops = verdict->decision != COMMAND_ALLOW && !settling.opens && !overrides;
  return stops || error_wrap(err, "the verdict cannot be written down, so it is a denial");
}

bool command_judge(Arena *arena, const CommandAsk *ask, CommandVerdict *ret, Error *err) {
  CommandCase c = {.arena = arena, .ask = ask};
  CommandVerdict verdict = {.decision = COMMAND_ALLOW};
  c.report = ask->report != NULL ? *ask->report : command_classify(&c);
  if (c.report.verdict != TRIGGER_NO) command_drop_unknown_tables(&c);
  bool ok = c.report.verdict == TRIGGER_NO || command_is_ours(&c) || judge(&c, &verdict, err);
  if (ok && verdict.decision != COMMAND_ALLOW) command_offer(&c, &verdict);
  engine_close(&c.engine);
  if (!ok) return false;
  verdict.report = c.report;
  verdict.reasons = c.reasons;
  verdict.n = c.n;
  *ret = verdict;
  return true;
}
