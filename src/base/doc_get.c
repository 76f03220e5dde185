#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/doc.h"

/* Looking things up in a document that is read. */

const DocNode *doc_get(const DocNode *node, const char *key) {
  if (node == NULL || node->kind != DOC_MAPPING) return NULL;
  for (size_t i = 0; i < node->n; i++)
    if (strcmp(node->children[i].key, key) == 0) return &node->children[i];
  return NULL;
}

const char *doc_text(const DocNode *node, const char *key, const char *fallback) {
  const DocNode *value = doc_get(node, key);
  return value != NULL && value->kind == DOC_SCALAR ? value->text : fallback;
}

int64_t doc_int(const DocNode *node, const char *key, int64_t fallback) {
  const char *text = doc_text(node, key, "");
  char *end;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  return end == text || *end != '\0' || errno != 0 ? fallback : (int64_t)value;
}

double doc_real(const DocNode *node, const char *key, double fallback) {
  const char *text = doc_text(node, key, "");
  char *end;
  double value = strtod(text, &end);
  return end == text || *end != '\0' ? fallback : value;
}

bool doc_bool(const DocNode *node, const char *key, bool fallback) {
  const char *text = doc_text(node, key, "");
  return strcmp(text, "true") == 0 ? true : strcmp(text, "false") == 0 ? false : fallback;
}
