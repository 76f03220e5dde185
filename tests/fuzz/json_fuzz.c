#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/doc.h"
#include "base/json.h"

/*
 * Arbitrary bytes through doc_parse; and the same bytes, as a text, written with json.c and read back: what comes back
 * must be what was written, and what is UTF-8 must come back unchanged.
 */

static void require(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "broken promise: %s\n", what);
  abort();
}

/* Every node has a place, and its children are inside the limits. */
static void walk(const DocNode *node, int depth) {
  require(depth <= DOC_MAX_DEPTH, "depth");
  require(node->line >= 1 && node->column >= 1, "place");
  require((node->text != NULL) == (node->kind == DOC_SCALAR), "text");
  for (size_t i = 0; i < node->n; i++) {
    require((node->children[i].key != NULL) == (node->kind == DOC_MAPPING), "key");
    walk(&node->children[i], depth + 1);
  }
}

static void parse_any(const uint8_t *data, size_t size) {
  ARENA_SCOPED arena = {0};
  const DocNode *root;
  Error err;
  if (doc_parse(&arena, "any", (const char *)data, size, &root, &err)) {
    walk(root, 0);
    return;
  }
  require(err.code == ERR_SPEC && err.message[0] != '\0' && err.where[0] != '\0', "error");
  require(err.hint[0] != '\0', "hint");
}

static void write_document(Buf *out, const char *text) {
  Json json = {out, false};
  buf_clear(out);
  json_object(&json, NULL);
  json_array(&json, text);
  json_text(&json, NULL, text);
  json_int(&json, NULL, -1);
  json_array_end(&json);
  json_object_end(&json);
}

static void round_trip(const uint8_t *data, size_t size) {
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  BUF_SCOPED again = {0};
  const DocNode *root;
  Error err;
  write_document(&out, arena_strndup(&arena, (const char *)data, size));
  require(doc_parse(&arena, "written", buf_text(&out), out.len, &root, &err), err.message);
  require(root->n == 1 && root->children[0].n == 2, "shape");
  const char *text = root->children[0].children[0].text;
  require(text != NULL && strcmp(text, root->children[0].key) == 0, "text and key alike");
  write_document(&again, text);
  require(strcmp(buf_text(&out), buf_text(&again)) == 0, "written again the same");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  parse_any(data, size);
  round_trip(data, size);
  return 0;
}
