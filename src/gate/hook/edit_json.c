#include <stdlib.h>
#include <string.h>

#include "base/doc.h"
#include "gate/hook/edit_int.h"
#include "gate/hook/hook.h"

/*
 * JSON, also with comments and trailing commas. The text is read with all white space outside of strings and all
 * comments as blanks: then it is one line, and a node's column is its place. Bytes are spliced into the text as it was.
 */
typedef struct JsonFile {
  Arena *arena;
  const char *file, *text;
  char *blank; /* as long as text */
  size_t n;
  const DocNode *root; /* DOC_NULL: nothing is in it */
} JsonFile;

typedef struct Extent {
  size_t from, to; /* half-open, in bytes */
} Extent;

static size_t skip_string(const char *text, size_t at) {
  for (at++; text[at] != '\0' && text[at] != '"'; at++)
    if (text[at] == '\\' && text[at + 1] != '\0') at++;
  return text[at] == '"' ? at + 1 : at;
}

static bool refuse(const JsonFile *json, size_t at, const char *what, Error *err) {
  int line = 1, column = 1;
  for (size_t i = 0; i < at && i < json->n; i++) {
    column = json->text[i] == '\n' ? 1 : column + ((json->text[i] & 0xC0) != 0x80);
    line += json->text[i] == '\n';
  }
  doc_error(err, json->file, json->text, line, column, "%s, so the file is left as it is", what);
  return error_hint(err,
                    "put it right, then install again; or write the entry yourself, as docs/how-to-hooks.md has it");
}

static bool blank_comment(JsonFile *json, size_t *at, Error *err) {
  char *text = json->blank + *at;
  const char *end = text[1] == '/' ? strchr(text, '\n') : text[1] == '*' ? strstr(text + 2, "*/") : text;
  if (end == text) return refuse(json, *at, "this is no JSON", err);
  if (end == NULL && text[1] == '*') return refuse(json, *at, "this comment has no end", err);
  size_t n = end == NULL ? strlen(text) : (size_t)(end - text) + (*end == '*' ? 2 : 0);
  memset(text, ' ', n);
  *at += n;
  return true;
}

/* Numbers, true, false and null; what else may stand without quotes in YAML is no JSON. */
static bool is_literal(const char *word, size_t n) {
  static const char *const words[] = {"true", "false", "null"};
  for (size_t i = 0; i < 3; i++)
    if (strlen(words[i]) == n && memcmp(words[i], word, n) == 0) return true;
  return n > 0 && strchr("-0123456789", *word) != NULL && strspn(word, "+-.eE0123456789") >= n;
}

/* Blanks for white space and comments; and the commas and colons between values, which YAML does not always ask for. */
static bool blank_comments(JsonFile *json, Error *err) {
  char *text = json->blank, before = ','; /* what stands before the place, white space and comments aside */
  for (size_t at = 0; at < json->n;) {
    if (text[at] == '/') {
      if (!blank_comment(json, &at, err)) return false;
      continue;
    }
    if (strchr(" \t\r\n", text[at]) != NULL) {
      text[at++] = ' ';
      continue;
    }
    if (strchr("]},:", text[at]) != NULL) {
      before = text[at++];
      continue;
    }
    size_t n = strcspn(text + at, " \t\r\n,:[]{}\"/");
    bool opens = text[at] == '{' || text[at] == '[';
    if (strchr("{[,:", before) == NULL || (!opens && text[at] != '"' && !is_literal(text + at, n)))
      return refuse(json, at, "this is no JSON", err);
    before = opens ? text[at] : 'v';
    at = opens ? at + 1 : text[at] == '"' ? skip_string(text, at) : at + n;
  }
  return true;
}

static bool json_read(Arena *arena, const char *file, const char *text, JsonFile *ret, Error *err) {
  JsonFile json = {.arena = arena, .file = file, .text = text, .blank = arena_strdup(arena, text), .n = strlen(text)};
  Error cause;
  if (strncmp(text, "\xEF\xBB\xBF", 3) == 0) memset(json.blank, ' ', 3);
  if (!blank_comments(&json, err)) return false;
  if (!doc_parse(arena, file, json.blank, json.n, &json.root, &cause)) {
    const char *colon = strrchr(cause.where, ':');
    size_t at = colon == NULL ? 0 : (size_t)strtoul(colon + 1, NULL, 10);
    return refuse(&json, at == 0 ? 0 : at - 1, cause.message, err);
  }
  if (json.root->kind != DOC_MAPPING && json.root->kind != DOC_NULL)
    return refuse(&json, 0, "this is no JSON object", err);
  if (json.root->kind == DOC_NULL && json.blank[strspn(json.blank, " ")] != '\0')
    return refuse(&json, 0, "this is no JSON object", err);
  if (json.root->kind == DOC_MAPPING && json.blank[strspn(json.blank, " ")] != '{')
    return refuse(&json, 0, "this is no JSON object", err);
  *ret = json;
  return true;
}

/* The byte of a column, which counts characters from 1. */
static size_t byte_of(const JsonFile *json, int column) {
  size_t at = 0;
  for (int i = 1; i < column && at < json->n; i++)
    for (at++; at < json->n && (json->blank[at] & 0xC0) == 0x80;) at++;
  return at;
}

static size_t end_of(const JsonFile *json, size_t at) {
  const char *text = json->blank;
  int depth = 0;
  if (text[at] == '"') return skip_string(text, at);
  if (text[at] != '{' && text[at] != '[') return at + strcspn(text + at, " ,]}");
  while (at < json->n) {
    if (text[at] == '"') {
      at = skip_string(text, at);
      continue;
    }
    depth += (text[at] == '{' || text[at] == '[') - (text[at] == '}' || text[at] == ']');
    at++;
    if (depth == 0) break;
  }
  return at;
}

/* The value, with its key where it has one. */
static Extent extent_of(const JsonFile *json, const DocNode *node) {
  size_t value = byte_of(json, node->column);
  return (Extent){node->key != NULL && node->key_column > 0 ? byte_of(json, node->key_column) : value,
                  end_of(json, value)};
}

static bool is_container(const JsonFile *json, const DocNode *node, char opening) {
  return json->blank[byte_of(json, node->column)] == opening;
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

static size_t line_indent(const JsonFile *json, size_t at, const char **ret_from) {
  size_t from = at;
  while (from > 0 && json->text[from - 1] != '\n') from--;
  *ret_from = json->text + from;
  return strspn(json->text + from, " \t");
}

/* What one level is indented by: as the first indented line has it. */
static const char *unit_of(const JsonFile *json) {
  for (const char *line = strchr(json->text, '\n'); line != NULL; line = strchr(line + 1, '\n')) {
    size_t n = strspn(line + 1, " \t");
    if (n > 0 && n <= 8 && strchr("\r\n", line[1 + n]) == NULL) return arena_strndup(json->arena, line + 1, n);
  }
  return "  ";
}

/* The lines of `item` behind a line end and the indentation; a tab in `item` stands for one level. */
static void put_item(const JsonFile *json, Buf *out, const char *indent, const char *item) {
  const char *end = strstr(json->text, "\r\n") != NULL ? "\r\n" : "\n";
  const char *unit = unit_of(json);
  for (;;) {
    size_t n = strcspn(item, "\n"), levels = strspn(item, "\t");
    buf_puts(out, end);
    buf_puts(out, indent);
    for (size_t i = 0; i < levels; i++) buf_puts(out, unit);
    buf_append(out, item + levels, n - levels);
    if (item[n] == '\0') return;
    item += n + 1;
  }
}

/* Behind the last thing in the container, comments included; with a comma where the last one has one. */
static const char *append_item(const JsonFile *json, const DocNode *container, const char *item) {
  BUF_SCOPED with = {0};
  size_t open = byte_of(json, container->column), close = end_of(json, open) - 1, at = close;
  const char *line, *unit = unit_of(json);
  size_t n = line_indent(json, open, &line);
  const char *outer = arena_strndup(json->arena, line, n);
  Extent last = {at, at};
  if (container->n > 0) last = extent_of(json, &container->children[container->n - 1]);
  bool comma = memchr(json->blank + last.to, ',', close - last.to) != NULL;
  while (at > open + 1 && strchr(" \t\r\n", json->text[at - 1]) != NULL) at--;
  put_item(json, &with, arena_printf(json->arena, "%s%s", outer, unit), item);
  if (comma) buf_putc(&with, ',');
  if (container->n == 0 && memchr(json->text + at, '\n', close - at) == NULL) put_item(json, &with, outer, "");
  Splice splices[2] = {{last.to, 0, ","}, {at, 0, arena_strdup(json->arena, buf_text(&with))}};
  bool first = container->n == 0 || comma;
  return hook_splice(json->arena, json->text, splices + first, first ? 1 : 2);
}

static const char *entry_of(Arena *arena, const HookEvent *event, const char *command) {
  BUF_SCOPED text = {0};
  BUF_SCOPED quoted = {0};
  Json json = {.out = &quoted};
  json_text(&json, NULL, command);
  const char *at = strstr(event->entry, "{}");
  buf_append(&text, event->entry, (size_t)(at - event->entry));
  buf_puts(&text, buf_text(&quoted));
  buf_puts(&text, at + 2);
  return arena_strdup(arena, buf_text(&text));
}

/* Every line one level deeper. */
static const char *deeper(Arena *arena, const char *text) {
  BUF_SCOPED out = {0};
  buf_putc(&out, '\t');
  for (; *text != '\0'; text++) {
    buf_putc(&out, *text);
    if (*text == '\n') buf_putc(&out, '\t');
  }
  return arena_strdup(arena, buf_text(&out));
}

static bool add_event(const JsonFile *json, const HookEvent *event, const char *entry, const char **ret, Error *err) {
  Arena *arena = json->arena;
  const DocNode *hooks = doc_get(json->root, "hooks");
  const char *list = arena_printf(arena, "\"%s\": [\n%s\n]", event->name, deeper(arena, entry));
  if (hooks == NULL) {
    *ret = append_item(json, json->root, arena_printf(arena, "\"hooks\": {\n%s\n}", deeper(arena, list)));
    return true;
  }
  if (!is_container(json, hooks, '{')) return refuse(json, byte_of(json, hooks->column), "hooks is no object", err);
  const DocNode *found = doc_get(hooks, event->name);
  if (found == NULL) {
    *ret = append_item(json, hooks, list);
    return true;
  }
  if (!is_container(json, found, '['))
    return refuse(json, byte_of(json, found->column), arena_printf(arena, "hooks.%s is no list", event->name), err);
  *ret = append_item(json, found, entry);
  return true;
}

/* ---- finding ----------------------------------------------------------------------------------------------------- */

typedef struct Entry {
  const DocNode *item, *list, *command; /* the entry, the list that it stands in, the text of its command */
  const char *binary;
} Entry;

static bool find_in(const JsonFile *json, const HookConfig *config, const DocNode *list, Entry *ret) {
  for (size_t i = 0; list != NULL && i < list->n; i++) {
    const DocNode *item = &list->children[i], *command = doc_get(item, "command"), *inner = doc_get(item, "hooks");
    const char *binary = command == NULL || command->kind != DOC_SCALAR
                             ? NULL
                             : hook_program_of(json->arena, command->text, config->place);
    if (binary != NULL) *ret = (Entry){item, list, command, binary};
    if (binary != NULL) return true;
    if (inner == NULL || !find_in(json, config, inner, ret)) continue;
    if (inner->n == 1) ret->item = item, ret->list = list; /* it stands alone in its group */
    return true;
  }
  return false;
}

static bool find_entry(const JsonFile *json, const HookConfig *config, const char *event, Entry *ret) {
  const DocNode *hooks = doc_get(json->root, "hooks");
  return hooks != NULL && find_in(json, config, doc_get(hooks, event), ret);
}

bool hook_json_find(Arena *arena, const HookConfig *config, const char *file, const char *text, const char **ret_binary,
                    const char **ret_command, Error *err) {
  JsonFile json;
  if (!json_read(arena, file, text, &json, err)) return false;
  *ret_binary = *ret_command = NULL;
  for (size_t i = 0; i < sizeof config->events / sizeof *config->events && config->events[i].name != NULL; i++) {
    Entry entry;
    if (!find_entry(&json, config, config->events[i].name, &entry)) {
      *ret_binary = *ret_command = NULL; /* all of it must be there */
      return true;
    }
    *ret_binary = entry.binary;
    *ret_command = entry.command->text;
  }
  return true;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* The command of an entry that is there, when it is another one. */
static const char *set_command(const JsonFile *json, const Entry *entry, const char *command) {
  BUF_SCOPED quoted = {0};
  Json out = {.out = &quoted};
  json_text(&out, NULL, command);
  Extent old = extent_of(json, entry->command);
  size_t value = byte_of(json, entry->command->column);
  return hook_splice(json->arena, json->text,
                     &(Splice){value, old.to - value, arena_strdup(json->arena, buf_text(&quoted))}, 1);
}

bool hook_json_add(Arena *arena, const HookConfig *config, const char *file, const char *text, const char *binary,
                   const char **ret, Error *err) {
  const char *command = arena_printf(arena, "%s hook run %s", hook_quote(arena, binary), config->place);
  JsonFile json;
  if (!json_read(arena, file, text, &json, err)) return false;
  if (json.root->kind == DOC_NULL && json.blank[strspn(json.blank, " ")] == '\0') {
    bool ended = *text == '\0' || text[json.n - 1] == '\n';
    text = arena_printf(arena, "%s%s{\n}\n", text, ended ? "" : "\n");
    if (!json_read(arena, file, text, &json, err)) return false;
  }
  if (json.root->kind != DOC_MAPPING) return refuse(&json, 0, "this is no JSON object", err);
  if (config->head != NULL && doc_get(json.root, "version") == NULL) {
    text = append_item(&json, json.root, config->head);
    if (!json_read(arena, file, text, &json, err)) return false;
  }
  for (size_t i = 0; i < sizeof config->events / sizeof *config->events && config->events[i].name != NULL; i++) {
    const HookEvent *event = &config->events[i];
    Entry entry;
    if (find_entry(&json, config, event->name, &entry)) {
      if (strcmp(entry.command->text, command) != 0) text = set_command(&json, &entry, command);
    } else if (!add_event(&json, event, entry_of(arena, event, command), &text, err)) {
      return false;
    }
    if (!json_read(arena, file, text, &json, err)) return false;
  }
  *ret = text;
  return true;
}

/* Without child i of the container: its comma goes too, comments stay. */
static const char *without(const JsonFile *json, const DocNode *container, const DocNode *child) {
  size_t i = (size_t)(child - container->children);
  Extent own = extent_of(json, child);
  size_t from = own.from, limit = end_of(json, byte_of(json, container->column)) - 1;
  while (from > 0 && strchr(" \t\r\n", json->text[from - 1]) != NULL) from--;
  const char *comma = memchr(json->blank + own.to, ',', limit - own.to);
  if (comma == NULL && i > 0) {
    size_t before = extent_of(json, child - 1).to;
    comma = memchr(json->blank + before, ',', own.from - before);
  }
  Splice splices[2] = {{from, own.to - from, ""}};
  if (comma == NULL) return hook_splice(json->arena, json->text, splices, 1);
  size_t at = (size_t)(comma - json->blank);
  Splice cut = {at, 1, ""};
  splices[at < from ? 0 : 1] = cut;
  splices[at < from ? 1 : 0] = (Splice){from, own.to - from, ""};
  return hook_splice(json->arena, json->text, splices, 2);
}

/* Takes out what is empty now. */
static bool tidy(JsonFile *json, const char *event, const char **text, Error *err) {
  const DocNode *hooks = doc_get(json->root, "hooks"), *list = hooks == NULL ? NULL : doc_get(hooks, event);
  if (list == NULL || list->n > 0) return true;
  *text = hooks->n == 1 ? without(json, json->root, hooks) : without(json, hooks, list);
  return json_read(json->arena, json->file, *text, json, err);
}

bool hook_json_remove(Arena *arena, const HookConfig *config, const char *file, const char *text, const char **ret,
                      Error *err) {
  JsonFile json;
  if (!json_read(arena, file, text, &json, err)) return false;
  for (size_t i = 0; i < sizeof config->events / sizeof *config->events && config->events[i].name != NULL; i++) {
    Entry entry;
    bool any = false;
    while (find_entry(&json, config, config->events[i].name, &entry)) {
      text = without(&json, entry.list, entry.item);
      if (!json_read(arena, file, text, &json, err)) return false;
      any = true;
    }
    if (any && !tidy(&json, config->events[i].name, &text, err)) return false;
  }
  *ret = text;
  return true;
}
