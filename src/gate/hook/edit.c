#include "gate/hook/edit.h"

#include <string.h>

#include "base/buf.h"
#include "gate/hook/edit_int.h"
#include "gate/hook/hook.h"

/* What the formats share; and a block between two markers, for TOML and shells. */

const char *hook_splice(Arena *arena, const char *text, const Splice *splices, size_t n) {
  BUF_SCOPED out = {0};
  size_t at = 0;
  for (size_t i = 0; i < n; i++) {
    buf_append(&out, text + at, splices[i].at - at);
    buf_puts(&out, splices[i].with);
    at = splices[i].at + splices[i].length;
  }
  buf_puts(&out, text + at);
  return arena_strdup(arena, buf_text(&out));
}

const char *hook_program_of(Arena *arena, const char *command, const char *place) {
  const char *tail = arena_printf(arena, " hook run %s", place);
  size_t n = strlen(command), m = strlen(tail);
  BUF_SCOPED out = {0};
  if (n <= m || strcmp(command + n - m, tail) != 0) return NULL;
  for (const char *at = command; at < command + n - m; at++) {
    if (*at == '\\' && at + 1 < command + n - m)
      buf_putc(&out, *++at);
    else if (*at != '\'')
      buf_putc(&out, *at);
  }
  const char *slash = strrchr(buf_text(&out), '/');
  return slash != NULL && strncmp(slash, "/tidegate", 9) == 0 ? arena_strdup(arena, buf_text(&out)) : NULL;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

typedef struct Block {
  const char *from, *to; /* from the first marker to behind the last one's line; NULL: there is none */
} Block;

static const char *opening(Arena *arena, const char *place) {
  return arena_printf(
      arena, "# >>> tidegate %s: put here by `tidegate hook install`; `tidegate hook remove %s` takes it out\n", place,
      place);
}

static const char *closing(Arena *arena, const char *place) {
  return arena_printf(arena, "# <<< tidegate %s\n", place);
}

/* A marker, at the beginning of a line. */
static const char *find_line(const char *text, const char *from, const char *line) {
  for (const char *at = strstr(from, line); at != NULL; at = strstr(at + 1, line))
    if (at == text || at[-1] == '\n') return at;
  return NULL;
}

static bool find_block(Arena *arena, const char *place, const char *file, const char *text, Block *ret, Error *err) {
  const char *open = arena_printf(arena, "# >>> tidegate %s:", place), *close = closing(arena, place);
  Block block = {.from = find_line(text, text, open)};
  *ret = block;
  if (block.from == NULL && find_line(text, text, close) == NULL) return true;
  const char *end = block.from == NULL ? NULL : find_line(text, block.from, close);
  if (end == NULL || find_line(text, block.from + 1, open) != NULL) {
    error_set(err, ERR_SPEC, "%s: the lines that mark Tidegate's part are not one pair, so the file is left as it is",
              file);
    return error_hint(err, "take out by hand what stands between `%s` and `# <<< tidegate %s`", open, place);
  }
  block.to = end + strlen(close);
  *ret = block;
  return true;
}

static const char *fill(Arena *arena, const char *template, const char *binary) {
  BUF_SCOPED out = {0};
  static const char place[] = "@TIDEGATE@";
  for (const char *at; (at = strstr(template, place)) != NULL; template = at + sizeof place - 1) {
    buf_append(&out, template, (size_t)(at - template));
    buf_puts(&out, binary);
  }
  buf_puts(&out, template);
  return arena_strdup(arena, buf_text(&out));
}

/* The program as a shell reads it; in TOML that stands inside a basic string. */
static bool writes(Arena *arena, const HookConfig *config, const char *binary, const char **ret, Error *err) {
  *ret = hook_quote(arena, binary);
  if (config->format != HOOK_TOML) return true;
  BUF_SCOPED out = {0};
  for (const char *at = *ret; *at != '\0'; at++) {
    if (*at == '"' || (unsigned char)*at < ' ') {
      error_set(err, ERR_USAGE, "the program's own path cannot be written into TOML: %s", binary);
      return error_hint(err, "install Tidegate where the path has no double quotes and no control characters");
    }
    buf_puts(&out, *at == '\\' ? "\\" : "");
    buf_putc(&out, *at);
  }
  *ret = arena_strdup(arena, buf_text(&out));
  return true;
}

static bool block_add(Arena *arena, const HookConfig *config, const char *file, const char *text, const char *binary,
                      const char **ret, Error *err) {
  Block old;
  const char *word;
  if (!find_block(arena, config->place, file, text, &old, err) || !writes(arena, config, binary, &word, err))
    return false;
  const char *block = arena_printf(arena, "%s%s%s", opening(arena, config->place), fill(arena, config->template, word),
                                   closing(arena, config->place));
  if (old.from != NULL) {
    size_t n = (size_t)(old.to - old.from);
    bool same = strlen(block) == n && memcmp(block, old.from, n) == 0;
    *ret = same ? text : hook_splice(arena, text, &(Splice){(size_t)(old.from - text), n, block}, 1);
    return true;
  }
  if (config->format == HOOK_TOML && !hook_toml_takes_block(file, text, err)) return false;
  /* A line end goes before it in any case, so that taking both out again leaves what was there. */
  *ret = arena_printf(arena, "%s%s%s", text, *text == '\0' ? "" : "\n", block);
  return true;
}

static bool block_remove(Arena *arena, const HookConfig *config, const char *file, const char *text, const char **ret,
                         Error *err) {
  Block block;
  if (!find_block(arena, config->place, file, text, &block, err)) return false;
  *ret = text;
  if (block.from == NULL) return true;
  size_t from = (size_t)(block.from - text) - (block.from > text);
  *ret = hook_splice(arena, text, &(Splice){from, (size_t)(block.to - text) - from, ""}, 1);
  return true;
}

/* The command stands behind the words that the templates have before it. */
static bool block_find(Arena *arena, const HookConfig *config, const char *file, const char *text,
                       const char **ret_binary, const char **ret_command, Error *err) {
  Block block;
  BUF_SCOPED command = {0};
  bool toml = config->format == HOOK_TOML;
  *ret_binary = *ret_command = NULL;
  if (!find_block(arena, config->place, file, text, &block, err)) return false;
  if (block.from == NULL) return true;
  const char *inside = arena_strndup(arena, block.from, (size_t)(block.to - block.from));
  const char *lead = toml ? "command = \"" : "said=$(", *tail = arena_printf(arena, " hook run %s", config->place);
  const char *at = strstr(inside, lead), *end = at == NULL ? NULL : strstr(at, tail);
  *ret_binary = *ret_command = "";
  if (end == NULL) return true;
  for (at += strlen(lead); at < end + strlen(tail); at++) {
    if (toml && *at == '\\') at++;
    buf_putc(&command, *at);
  }
  *ret_command = arena_strdup(arena, buf_text(&command));
  const char *binary = hook_program_of(arena, *ret_command, config->place);
  if (binary != NULL) *ret_binary = binary;
  return true;
}

/* ---- the formats ------------------------------------------------------------------------------------------------- */

bool hook_edit_add(Arena *arena, const HookConfig *config, const char *file, const char *text, const char *binary,
                   const char **ret, Error *err) {
  return (config->format == HOOK_JSON ? hook_json_add : block_add)(arena, config, file, text, binary, ret, err);
}

bool hook_edit_remove(Arena *arena, const HookConfig *config, const char *file, const char *text, const char **ret,
                      Error *err) {
  return (config->format == HOOK_JSON ? hook_json_remove : block_remove)(arena, config, file, text, ret, err);
}

bool hook_edit_find(Arena *arena, const HookConfig *config, const char *file, const char *text, const char **ret_binary,
                    const char **ret_command, Error *err) {
  return (config->format == HOOK_JSON ? hook_json_find : block_find)(arena, config, file, text, ret_binary, ret_command,
                                                                     err);
}
