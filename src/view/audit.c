#include "view/audit.h"

#include <inttypes.h>
#include <string.h>

#include "time/quantity.h"
#include "view/words.h"

/* The rule that decided: the first of the reasons. */
static const char *first_rule(Arena *arena, const char *reasons) {
  const DocNode *root = NULL;
  Error unreadable;
  if (!doc_parse(arena, "reasons", reasons, strlen(reasons), &root, &unreadable) || root->n == 0) return "";
  return doc_text(&root->children[0], "rule", "");
}

void view_audit(Paint *paint, Arena *arena, const AuditRecord *records, size_t n) {
  static const char *const heads[] = {"id", "when", "verdict", "rule", "who", "place", "target", "command"};
  enum { COLUMNS = sizeof heads / sizeof *heads };
  if (n == 0) {
    paint_text(paint, "No command of another tool was judged here yet.");
    buf_putc(paint->out, '\n');
    return;
  }
  const char **cells = arena_array(arena, n * COLUMNS, sizeof *cells);
  for (size_t i = 0; i < n; i++) {
    const AuditRecord *record = &records[i];
    const char **line = &cells[i * COLUMNS];
    line[0] = arena_printf(arena, "%" PRId64, record->number);
    line[1] = words_instant(arena, zone_utc(), record->at);
    line[2] = record->signed_at != 0 ? arena_printf(arena, "%s, signed", record->verdict) : record->verdict;
    line[3] = first_rule(arena, record->reasons);
    line[4] = record->who == NULL ? "?" : arena_strndup(arena, record->who, strcspn(record->who, "/"));
    line[5] = record->place;
    line[6] = record->target;
    line[7] = record->command;
  }
  paint_table(paint, &(Table){.heads = heads, .cells = cells, .columns = COLUMNS, .rows = n, .right = 1});
}

void view_audit_json(Json *json, const AuditRecord *records, size_t n) {
  json_array(json, "verdicts");
  for (size_t i = 0; i < n; i++) {
    const AuditRecord *record = &records[i];
    json_object(json, NULL);
    json_int(json, "id", record->number);
    instant_json(json, "at", record->at);
    json_text(json, "verdict", record->verdict);
    json_text(json, "who", record->who);
    json_text(json, "place", record->place);
    json_text(json, "command", record->command);
    json_text(json, "digest", record->digest);
    json_text(json, "target", record->target);
    json_raw(json, "reasons", record->reasons);
    json_text(json, "backfill", record->backfill);
    instant_json(json, "until", record->until);
    json_text(json, "because", record->because);
    json_text(json, "signed_by", record->signed_by);
    instant_json(json, "signed_at", record->signed_at);
    instant_json(json, "used_at", record->used_at);
    json_object_end(json);
  }
  json_array_end(json);
}
