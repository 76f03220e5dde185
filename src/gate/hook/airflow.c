#include <string.h>

#include "gate/hook/hook_int.h"

/*
 * Airflow asks about a request to its REST interface or page, or about its own command line:
 *   {"kind": "request", "method": …, "path": …, "query": …, "body": …, "user": …}
 *   {"kind": "cli", "argv": […], "user": …}
 */

static bool bad(Error *err, const char *what) {
  error_set(err, ERR_USAGE, "airflow sent %s", what);
  return error_hint(err, "the Python package and this program may be of different versions: install both again");
}

static const char *text_at(const DocNode *root, const char *key) {
  const DocNode *node = doc_get(root, key);
  return node != NULL && node->kind == DOC_SCALAR ? node->text : NULL;
}

static bool is_text_or_absent(const DocNode *root, const char *key) {
  const DocNode *node = doc_get(root, key);
  return node == NULL || node->kind == DOC_NULL || node->kind == DOC_SCALAR;
}

static bool read_request(Arena *arena, const DocNode *root, HookQuestion *ret, Error *err) {
  const char *method = text_at(root, "method"), *path = text_at(root, "path"), *query = text_at(root, "query");
  const char *body = text_at(root, "body");
  if (method == NULL || path == NULL || path[0] != '/') return bad(err, "a request without method or path");
  if (!is_text_or_absent(root, "query") || !is_text_or_absent(root, "body"))
    return bad(err, "a request whose query or body is not a text");
  const char *url = query == NULL || *query == '\0' ? path : arena_printf(arena, "%s?%s", path, query);
  TriggerReport *report = arena_alloc(arena, sizeof *report);
  *report = trigger_request(arena, method, url, body);
  const char **texts = arena_array(arena, 1, sizeof *texts);
  texts[0] = body == NULL || *body == '\0' ? arena_printf(arena, "%s %s", method, url)
                                           : arena_printf(arena, "%s %s %s", method, url, body);
  ret->report = report;
  ret->texts = texts;
  ret->n = 1;
  return true;
}

static bool read_cli(Arena *arena, const DocNode *root, HookQuestion *ret, Error *err) {
  const DocNode *argv = doc_get(root, "argv");
  if (argv == NULL || argv->kind != DOC_SEQUENCE || argv->n == 0) return bad(err, "a command line without words");
  const char **words = arena_array(arena, argv->n, sizeof *words), **texts = arena_array(arena, 1, sizeof *texts);
  for (size_t i = 0; i < argv->n; i++) {
    if (argv->children[i].kind != DOC_SCALAR) return bad(err, "a command line with a word that is not a text");
    words[i] = argv->children[i].text;
  }
  texts[0] = hook_quote_all(arena, words, argv->n);
  ret->texts = texts;
  ret->n = 1;
  return true;
}

bool hook_read_airflow(Arena *arena, const char *input, size_t n, HookQuestion *ret, Error *err) {
  const DocNode *root;
  if (!hook_parse(arena, "airflow", input, n, &root, err)) return false;
  const char *kind = doc_text(root, "kind", "");
  *ret = (HookQuestion){.who = text_at(root, "user")};
  if (ret->who != NULL && (*ret->who == '\0' || strcmp(ret->who, "-") == 0)) ret->who = NULL;
  if (strcmp(kind, "request") == 0) return read_request(arena, root, ret, err);
  if (strcmp(kind, "cli") == 0) return read_cli(arena, root, ret, err);
  return bad(err, "a question of a kind that is not known");
}
