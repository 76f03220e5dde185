#include "engine/sql_text.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "base/buf.h"

static const char *place_value(const char *name, size_t n, va_list pairs) {
  for (const char *key; (key = va_arg(pairs, const char *)) != NULL;) {
    const char *value = va_arg(pairs, const char *);
    if (strlen(key) == n && memcmp(key, name, n) == 0) return value;
  }
  return NULL;
}

const char *sql_fill(Arena *arena, const char *template_text, ...) {
  BUF_SCOPED out = {0};
  for (const char *s = template_text; *s != '\0';) {
    const char *end = *s == '{' ? strchr(s, '}') : NULL;
    if (end == NULL) {
      size_t n = strcspn(s + 1, "{") + 1;
      buf_append(&out, s, n);
      s += n;
      continue;
    }
    va_list pairs;
    va_start(pairs, template_text);
    const char *value = place_value(s + 1, (size_t)(end - s - 1), pairs);
    va_end(pairs);
    assert(value != NULL);
    buf_puts(&out, value);
    s = end + 1;
  }
  return arena_strndup(arena, buf_text(&out), out.len);
}

static const char *quoted(Arena *arena, const char *text, char quote) {
  size_t n = 0;
  for (const char *s = text; *s != '\0'; s++) n += *s == quote ? 2 : 1;
  char *out = arena_alloc(arena, n + 3), *at = out;
  *at++ = quote;
  for (const char *s = text; *s != '\0'; s++) {
    if (*s == quote) *at++ = quote;
    *at++ = *s;
  }
  *at++ = quote;
  return out;
}

const char *sql_ident(Arena *arena, const char *name) { return quoted(arena, name, '"'); }

const char *sql_literal(Arena *arena, const char *text) { return quoted(arena, text, '\''); }
