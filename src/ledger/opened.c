#include "ledger/opened.h"

#include <string.h>

#include "base/doc.h"
#include "base/json.h"

static void put_fingerprint(Json *json, const char *key, const Fingerprint *fingerprint) {
  char text[FINGERPRINT_TEXT];
  fingerprint_text(fingerprint, text);
  json_text(json, key, text);
}

static void put_range(Json *json, const DateRange *range) {
  json_int(json, "from", range->from);
  json_int(json, "to", range->to);
}

const char *opened_json(Arena *arena, const Opened *opened) {
  BUF_SCOPED out = {0};
  Json json = {.out = &out};
  json_object(&json, NULL);
  json_int(&json, "rows", opened->rows);
  put_fingerprint(&json, "outside", &opened->outside);
  if (opened->line != NULL) json_text(&json, "line", opened->line);
  json_array(&json, "done");
  for (size_t i = 0; i < opened->n; i++) {
    const OpenedBatch *batch = &opened->done[i];
    json_object(&json, NULL);
    put_range(&json, &batch->dates);
    put_fingerprint(&json, "after", &batch->after);
    json_int(&json, "dates", batch->n);
    json_int(&json, "rows", batch->rows);
    json_int(&json, "changed", batch->changed);
    json_real(&json, "seconds", batch->seconds);
    json_object_end(&json);
  }
  json_array_end(&json);
  if (opened->running.from != opened->running.to) {
    json_object(&json, "running");
    put_range(&json, &opened->running);
    put_fingerprint(&json, "outside", &opened->running_outside);
    json_object_end(&json);
  }
  json_object_end(&json);
  return arena_strdup(arena, buf_text(&out));
}

static DateRange read_range(const DocNode *node) {
  return (DateRange){doc_int(node, "from", 0), doc_int(node, "to", 0)};
}

static bool read_batch(const DocNode *node, OpenedBatch *ret) {
  *ret = (OpenedBatch){.dates = read_range(node),
                       .n = doc_int(node, "dates", 0),
                       .rows = doc_int(node, "rows", 0),
                       .changed = doc_int(node, "changed", 0),
                       .seconds = doc_real(node, "seconds", 0)};
  return fingerprint_parse(doc_text(node, "after", ""), &ret->after);
}

static bool read_document(Arena *arena, const DocNode *root, Opened *ret) {
  const DocNode *done = doc_get(root, "done"), *running = doc_get(root, "running");
  *ret = (Opened){.rows = doc_int(root, "rows", 0), .line = doc_text(root, "line", NULL)};
  if (!fingerprint_parse(doc_text(root, "outside", ""), &ret->outside)) return false;
  for (size_t i = 0; done != NULL && i < done->n; i++) {
    OpenedBatch batch;
    if (!read_batch(&done->children[i], &batch)) return false;
    opened_add(arena, ret, batch);
  }
  if (running == NULL) return true;
  ret->running = read_range(running);
  return fingerprint_parse(doc_text(running, "outside", ""), &ret->running_outside);
}

bool opened_read(Arena *arena, const BackfillRecord *record, Opened *ret, Error *err) {
  const DocNode *root;
  if (record->seal == NULL) return error_set(err, ERR_STATE, "backfill %s has no snapshot", record->id);
  if (!doc_parse(arena, "snapshot", record->seal, strlen(record->seal), &root, err)) return false;
  return read_document(arena, root, ret) ||
         error_set(err, ERR_STATE, "the record of snapshot %s cannot be read", record->id);
}

void opened_add(Arena *arena, Opened *opened, OpenedBatch batch) {
  opened->done = arena_grow(arena, opened->done, opened->n, sizeof *opened->done);
  opened->done[opened->n++] = batch;
}

const char *opened_mark(Arena *arena, const BackfillRecord *record) {
  return arena_printf(arena, "%s/%s", record->database_id, record->id);
}
