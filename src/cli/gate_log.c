#include "cli/gate_log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/ledger.h"
#include "view/audit.h"

/* The gate's record of verdicts on other tools' commands. */

enum { MOST_SHOWN = 50, MOST_JSON = 10000 };

int gate_log(Session *session) {
  const AuditRecord *records;
  size_t n;
  long most;
  Error err;
  if (!args_number(session->args, "last", 1, session->json ? MOST_JSON : MOST_SHOWN, &most, &err) ||
      !session_pipeline(session, NULL, &err) ||
      !session->engine->ops->audit_list(session->engine, &session->arena, NULL, (size_t)most, &records, &n, &err))
    return session_fail(session, &err);
  if (session->json) {
    Json json = session_object(session);
    view_audit_json(&json, records, n);
    session_object_end(session, &json);
  } else {
    view_audit(&session->paint, &session->arena, records, n);
  }
  return session_flush(session);
}

/* "ada" of "ada@host/place:pid:start". */
static const char *user_of(Arena *arena, const char *who) {
  return who == NULL ? "" : arena_strndup(arena, who, strcspn(who, "@"));
}

static bool find_record(Session *session, const char *id, AuditRecord *ret, Error *err) {
  const AuditRecord *records;
  size_t n;
  char *end;
  long long number = strtoll(id, &end, 10);
  if (*end != '\0' || number <= 0) {
    error_set(err, ERR_USAGE, "%s is not the number of a verdict", id);
    return error_hint(err, "see: tidegate gate log");
  }
  if (!session->engine->ops->audit_list(session->engine, &session->arena, NULL, MOST_JSON, &records, &n, err))
    return false;
  for (size_t i = 0; i < n; i++)
    if (records[i].number == number) {
      *ret = records[i];
      return true;
    }
  error_set(err, ERR_NOT_FOUND, "there is no verdict %lld", number);
  return error_hint(err, "see: tidegate gate log");
}

/* Who asks cannot sign, and where approvers are named, only they can. */
static bool may_sign(Session *session, const AuditRecord *record, const char *me, Error *err) {
  const SpecTexts *approvers = &session->spec.approvers;
  const char *user = user_of(&session->arena, me);
  if (record->because == NULL) {
    error_set(err, ERR_STATE, "verdict %" PRId64 " was no override: there is nothing to sign", record->number);
    return error_hint(err, "who asks types: tidegate gate --override \"REASON\" -- COMMAND");
  }
  if (session->spec.override != OVERRIDE_APPROVER)
    return error_set(err, ERR_STATE, "tidegate.yaml asks for no second signature (gate.override)");
  if (strcmp(user, user_of(&session->arena, record->who)) == 0) {
    error_set(err, ERR_DENIED, "%s asked for it: the second signature must be of somebody else", user);
    return error_hint(err, "have a colleague look at it, and sign from their own account");
  }
  for (size_t i = 0; i < approvers->n; i++)
    if (strcmp(approvers->items[i].text, user) == 0) return true;
  if (approvers->n == 0) return true;
  error_set(err, ERR_DENIED, "%s is not among those who may sign (gate.approvers)", user);
  return error_hint(err, "ask one of them");
}

int gate_approve(Session *session, const char *id) {
  AuditRecord record = {0};
  Error err;
  const char *me = ledger_owner();
  if (id == NULL) {
    error_set(&err, ERR_USAGE, "which verdict? tidegate gate approve needs its number");
    error_hint(&err, "see: tidegate gate log");
    return session_fail(session, &err);
  }
  if (!session_pipeline(session, NULL, &err) || !find_record(session, id, &record, &err) ||
      !may_sign(session, &record, me, &err) ||
      !session->engine->ops->audit_sign(session->engine, record.number, me, &err))
    return session_fail(session, &err);
  if (session->json) {
    Json json = session_object(session);
    json_int(&json, "signed", record.number);
    json_text(&json, "by", me);
    session_object_end(session, &json);
  } else {
    buf_printf(&session->buffer, "SIGNED  %" PRId64 ": ", record.number);
    paint_text(&session->paint, record.command);
    buf_puts(&session->buffer, "\nIt may run once within a day, when the same is typed again: ");
    paint_text(&session->paint, record.who == NULL ? "?" : record.who);
    buf_putc(&session->buffer, '\n');
  }
  return session_flush(session);
}
