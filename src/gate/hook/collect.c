#include <string.h>

#include "gate/hook/hook_int.h"

/*
 * What can be judged of a tool's arguments. Agents have tools for shells, for Python, for databases, and whatever an
 * MCP server adds; only names of fields tell what is code. What holds none (an edit, a search) passes.
 */

typedef enum Language { NOT_CODE, SHELL, CODE, SQL } Language;

static const struct {
  const char *name;
  Language language;
} fields[] = {
    {"command", SHELL},     {"commands", SHELL}, {"cmd", SHELL},        {"cmds", SHELL},   {"command_line", SHELL},
    {"commandline", SHELL}, {"argv", SHELL},     {"shell", SHELL},      {"script", SHELL}, {"bash", SHELL},
    {"code", CODE},         {"python", CODE},    {"source_code", CODE}, {"sql", SQL}};

static Language language_of(const char *key) {
  for (size_t i = 0; key != NULL && i < sizeof fields / sizeof *fields; i++)
    if (strcasecmp(fields[i].name, key) == 0) return fields[i].language;
  return NOT_CODE;
}

void hook_add_text(HookTexts *texts, const char *text) {
  for (size_t i = 0; i < texts->n; i++)
    if (strcmp(texts->items[i], text) == 0) return;
  texts->items = arena_grow(texts->arena, texts->items, texts->n, sizeof *texts->items);
  texts->items[texts->n++] = text;
}

static bool mentions(const char *text, const char *word) { return text != NULL && strcasestr(text, word) != NULL; }

/* Code of which it is not known in what language is read as each. */
static void add_code(HookTexts *texts, const char *text, const char *says) {
  bool python = mentions(says, "py") || mentions(says, "notebook"), shell = mentions(says, "sh");
  bool script = mentions(says, "js") || mentions(says, "javascript") || mentions(says, "node");
  bool unknown = !python && !shell && !script;
  if (shell || unknown) hook_add_text(texts, text);
  if (python || unknown)
    hook_add_text(texts, arena_printf(texts->arena, "python3 -c %s", hook_quote(texts->arena, text)));
  if (script) hook_add_text(texts, arena_printf(texts->arena, "node -e %s", hook_quote(texts->arena, text)));
}

static void add(HookTexts *texts, Language language, const char *text, const char *says) {
  if (language == SHELL) hook_add_text(texts, text);
  if (language == CODE) add_code(texts, text, says);
  if (language == SQL) hook_add_text(texts, arena_printf(texts->arena, "psql -c %s", hook_quote(texts->arena, text)));
}

/* A list is a command's words, or several commands: both are judged. */
static void add_list(HookTexts *texts, Language language, const DocNode *node, const char *says) {
  const char **words = arena_array(texts->arena, node->n, sizeof *words);
  size_t n = 0;
  for (size_t i = 0; i < node->n; i++) {
    const DocNode *item = &node->children[i];
    if (item->kind != DOC_SCALAR) continue;
    words[n++] = item->text;
    if (language != SHELL || strpbrk(item->text, " \t\n") != NULL) add(texts, language, item->text, says);
  }
  if (n > 0 && language == SHELL) hook_add_text(texts, hook_quote_all(texts->arena, words, n));
}

static void collect(HookTexts *texts, const DocNode *node, const char *says) {
  const DocNode *said = doc_get(node, "language");
  if (said != NULL && said->kind == DOC_SCALAR) says = said->text;
  for (size_t i = 0; i < node->n; i++) {
    const DocNode *child = &node->children[i];
    Language language = language_of(child->key);
    if (language != NOT_CODE && child->kind == DOC_SCALAR) add(texts, language, child->text, says);
    if (language != NOT_CODE && child->kind == DOC_SEQUENCE) add_list(texts, language, child, says);
    collect(texts, child, says);
  }
}

/* Codex's edits come in a field named command, and are no code. */
void hook_collect(HookTexts *texts, const DocNode *input, const char *tool) {
  if (strcmp(tool, "apply_patch") != 0) collect(texts, input, tool);
}

bool hook_has_command(const DocNode *node) {
  if (node->kind != DOC_NULL && language_of(node->key) != NOT_CODE) return true;
  for (size_t i = 0; i < node->n; i++)
    if (hook_has_command(&node->children[i])) return true;
  return false;
}

bool hook_parse(Arena *arena, const char *what, const char *input, size_t n, const DocNode **ret, Error *err) {
  const DocNode *root;
  Error cause;
  if (!doc_parse(arena, what, input, n, &root, &cause)) {
    error_set(err, ERR_USAGE, "what %s sent is not JSON that can be read: %s", what, cause.message);
    return error_hint(err, "try again; when it stays so, %s and this Tidegate may not fit each other", what);
  }
  if (root->kind != DOC_MAPPING) {
    error_set(err, ERR_USAGE, "what %s sent is not a JSON object%s", what, n == 0 ? ": it is empty" : "");
    return error_hint(err, "%s and this Tidegate may not fit each other: get newer ones", what);
  }
  *ret = root;
  return true;
}
