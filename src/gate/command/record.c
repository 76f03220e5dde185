#include <inttypes.h>
#include <string.h>

#include "gate/command/command_int.h"
#include "time/quantity.h"
#include "time/zone.h"

/* What is written down: that a table was opened, and every verdict. */

/* A pass without an end in sight, and a second person's signature, are good for a day. */
enum { DAY = 86400 };

static Instant pass_end(const CommandCase *c) {
  Instant until = 0;
  for (size_t i = 0; i < c->n_targets; i++)
    if (c->targets[i].until != 0 && (until == 0 || c->targets[i].until < until)) until = c->targets[i].until;
  return until == 0 || until > c->now + DAY ? c->now + DAY : until;
}

/* Over a shadow the same line could be run again and again: once in a window is what was judged. */
static bool used_before(CommandCase *c, Error *err) {
  enum { MOST = 50 };
  const AuditRecord *records;
  size_t n;
  if (!c->engine->ops->audit_list(c->engine, c->arena, c->digest, MOST, &records, &n, err)) return false;
  for (size_t i = 0; i < n; i++) {
    char until[40];
    if (strcmp(records[i].verdict, "allow") != 0 || records[i].until <= c->now) continue;
    instant_rfc3339(records[i].until, zone_utc(), until);
    error_set(err, ERR_DENIED, "this very line was allowed once already (%" PRId64 "), until %s", records[i].number,
              until);
    return error_hint(err, "see what became of it; it can be judged anew after that time");
  }
  return true;
}

bool command_open(CommandCase *c, CommandVerdict *verdict, Error *err) {
  char until[40];
  verdict->until = pass_end(c);
  instant_rfc3339(verdict->until, zone_utc(), until);
  if (!used_before(c, err)) return false;
  const char *command = mask_secrets(c->arena, c->ask->text == NULL ? "" : c->ask->text, c->ask->n);
  const char *reason = arena_printf(c->arena, "%s, until %s", *command == '\0' ? "a request" : command, until);
  for (size_t i = 0; i < c->n_targets; i++) {
    CommandTarget *target = &c->targets[i];
    if (target->shadow) continue;
    if (!ledger_move(c->engine, &target->record, (LedgerMove){.verb = "open", .reason = reason}, err)) return false;
    verdict->backfill = target->record.id;
  }
  return true;
}

/* ---- in spite of the rules --------------------------------------------------------------------------------------- */

static const char override_rule[] = "override";

/* A signature of a second person that nobody has used. */
static bool find_signed(CommandCase *c, bool *ret, Error *err) {
  enum { MOST = 50 };
  const AuditRecord *records;
  size_t n;
  if (!c->engine->ops->audit_list(c->engine, c->arena, c->digest, MOST, &records, &n, err)) return false;
  *ret = false;
  for (size_t i = 0; i < n && !*ret; i++) {
    if (records[i].signed_at == 0 || records[i].used_at != 0 || records[i].signed_at + DAY <= c->now) continue;
    if (!c->engine->ops->audit_use(c->engine, records[i].number, err)) return false;
    *ret = true;
  }
  return true;
}

static bool has_role(CommandCase *c, bool *ret, Error *err) {
  const char *role = c->pipeline.override_role.text;
  if (c->engine->ops->has_role == NULL) {
    command_because(c, override_rule, "an override needs the role %s, and %s has no roles", role, c->engine->ops->name);
    *ret = false;
    return true;
  }
  if (!c->engine->ops->has_role(c->engine, role, ret, err)) return false;
  if (!*ret) command_because(c, override_rule, "an override needs the role %s, which whoever asks has not", role);
  return true;
}

bool command_override(CommandCase *c, CommandVerdict *verdict, Error *err) {
  bool may = false;
  if (!command_open_database(c)) {
    command_because(c, override_rule, "an override must be written down, and that is not possible: %s",
                    c->trouble.message);
    return true;
  }
  switch (c->pipeline.override) {
    case OVERRIDE_ALLOW:
      may = true;
      break;
    case OVERRIDE_FORBID:
      command_because(c, override_rule, "an override is forbidden here (gate.override in %s)", c->pipeline_path);
      break;
    case OVERRIDE_ROLE:
      if (!has_role(c, &may, err)) return false;
      break;
    case OVERRIDE_APPROVER:
      if (!find_signed(c, &may, err)) return false;
      if (!may) command_because(c, override_rule, "an override needs the signature of a second person");
      break;
  }
  verdict->overridden = may;
  return true;
}

/* ---- the record -------------------------------------------------------------------------------------------------- */

static const char *reasons_json(const CommandCase *c) {
  BUF_SCOPED out = {0};
  Json json = {.out = &out};
  json_array(&json, NULL);
  for (size_t i = 0; i < c->n; i++) {
    json_object(&json, NULL);
    json_text(&json, "rule", c->reasons[i].rule);
    json_text(&json, "text", c->reasons[i].text);
    json_object_end(&json);
  }
  json_array_end(&json);
  return arena_strdup(c->arena, buf_text(&out));
}

/* The tables, else what the command itself names. */
static const char *target_names(const CommandCase *c) {
  BUF_SCOPED names = {0};
  for (size_t i = 0; i < c->n_targets; i++) buf_printf(&names, "%s%s", i == 0 ? "" : " ", c->targets[i].table);
  for (size_t i = 0; i < c->report.n && c->n_targets == 0; i++)
    if (c->report.items[i].target != NULL)
      buf_printf(&names, "%s%s", names.len == 0 ? "" : " ", c->report.items[i].target);
  return names.len == 0 ? NULL : arena_strdup(c->arena, buf_text(&names));
}

bool command_record(CommandCase *c, CommandVerdict *verdict, Error *err) {
  int64_t number;
  const CommandAsk *ask = c->ask;
  if (!command_open_database(c)) {
    *err = c->trouble;
    return false;
  }
  AuditRecord record = {.who = ask->who == NULL ? ledger_owner() : ask->who,
                        .place = ask->place,
                        .command = mask_secrets(c->arena, ask->text == NULL ? "" : ask->text, ask->n),
                        .digest = c->digest,
                        .verdict = verdict->overridden ? "override" : command_decision_name(verdict->decision),
                        .reasons = reasons_json(c),
                        .target = target_names(c),
                        .backfill = verdict->backfill,
                        .because = ask->override_reason,
                        .until = verdict->until};
  if (!c->engine->ops->audit_add(c->engine, &record, &number, err)) return false;
  const char *id = arena_printf(c->arena, "%" PRId64, number);
  if (verdict->decision == COMMAND_ALLOW) verdict->pass = id;
  bool wants_signature =
      ask->override_reason != NULL && !verdict->overridden && c->n > 0 && c->pipeline.override == OVERRIDE_APPROVER;
  if (wants_signature)
    command_advise(c, "a second person looks at it and types: tidegate gate approve %s; then type the same again", id);
  return true;
}
