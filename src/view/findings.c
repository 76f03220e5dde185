#include "view/findings.h"

#include <inttypes.h>
#include <string.h>

#include "base/doc.h"

static const char *const heads[] = {"date", "key", "column", "old", "new"};

void view_examples(Paint *paint, Arena *arena, const Example *examples, size_t n) {
  if (n == 0) return;
  const char **cells = arena_array(arena, n * 5, sizeof *cells);
  for (size_t i = 0; i < n; i++) {
    const Example *e = &examples[i];
    bool valued = e->column != NULL;
    cells[i * 5] = e->date == NULL ? "" : e->date;
    cells[i * 5 + 1] = e->key == NULL ? "" : e->key;
    cells[i * 5 + 2] = e->column == NULL ? "" : e->column;
    cells[i * 5 + 3] = e->old_value != NULL ? e->old_value : valued ? "NULL" : "";
    cells[i * 5 + 4] = e->new_value != NULL ? e->new_value : valued ? "NULL" : "";
  }
  paint_table(paint, &(Table){.heads = heads, .cells = cells, .columns = 5, .rows = n, .indent = PAINT_LABEL});
}

/* The examples that the ledger keeps as JSON. What cannot be read is left out: the finding itself is shown anyway. */
static const Example *read_examples(Arena *arena, const char *json, size_t *ret_n) {
  const DocNode *root = NULL;
  Error err;
  *ret_n = 0;
  if (json == NULL || !doc_parse(arena, "ledger", json, strlen(json), &root, &err) || root->n == 0) return NULL;
  Example *examples = arena_array(arena, root->n, sizeof *examples);
  for (size_t i = 0; i < root->n; i++) {
    const DocNode *node = &root->children[i];
    examples[i] = (Example){.date = doc_text(node, "date", NULL),
                            .key = doc_text(node, "key", NULL),
                            .column = doc_text(node, "column", NULL),
                            .old_value = doc_text(node, "old", NULL),
                            .new_value = doc_text(node, "new", NULL)};
  }
  *ret_n = root->n;
  return examples;
}

void view_findings(Paint *paint, Arena *arena, const FindingRecord *findings, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const FindingRecord *f = &findings[i];
    const char *batch = f->batch == 0 ? "" : arena_printf(arena, " (batch %" PRId64 ")", f->batch);
    const char *subject = f->subject == NULL || f->subject[0] == '\0' ? "" : arena_printf(arena, " %s", f->subject);
    paint_verdict(paint, STYLE_BAD, "wrong", "%s%s: %s%s", f->kind, subject, f->message, batch);
    size_t n_examples = 0;
    const Example *examples = read_examples(arena, f->examples, &n_examples);
    view_examples(paint, arena, examples, n_examples);
    if ((int64_t)n_examples < f->count && n_examples > 0)
      paint_line(paint, "", "… and %" PRId64 " more", f->count - (int64_t)n_examples);
  }
}

void view_findings_json(Json *json, const FindingRecord *findings, size_t n) {
  json_array(json, "findings");
  for (size_t i = 0; i < n; i++) {
    const FindingRecord *finding = &findings[i];
    json_object(json, NULL);
    json_int(json, "batch", finding->batch);
    json_text(json, "kind", finding->kind);
    json_text(json, "subject", finding->subject);
    json_text(json, "message", finding->message);
    json_int(json, "count", finding->count);
    json_raw(json, "examples", finding->examples == NULL ? "[]" : finding->examples);
    json_object_end(json);
  }
  json_array_end(json);
}
