#include <string.h>

#include "base/buf.h"
#include "gate/trigger/shell_int.h"

/* Here-documents. */

bool shell_read_delimiter(ShellReader *r, const char **ret, bool *ret_quoted) {
  BUF_SCOPED text = {0};
  size_t begin = r->at;
  *ret_quoted = false;
  while (!shell_ended(r) && !shell_is_meta(shell_peek(r, 0))) {
    char c = shell_peek(r, 0);
    r->at++;
    if (c == '\\') {
      *ret_quoted = true;
      if (!shell_ended(r)) buf_putc(&text, shell_peek(r, 0)), r->at++;
    } else if (c == '\'' || c == '"') {
      *ret_quoted = true;
      for (; !shell_ended(r) && shell_peek(r, 0) != c; r->at++) buf_putc(&text, shell_peek(r, 0));
      if (shell_ended(r)) return shell_refuse(r, "the delimiter of a here-document is not closed");
      r->at++;
    } else {
      buf_putc(&text, c);
    }
  }
  *ret = arena_strdup(r->arena, buf_text(&text));
  return r->at > begin || shell_refuse(r, "a here-document has no delimiter");
}

static bool read_body(ShellReader *r, const ShellPending *here) {
  BUF_SCOPED body = {0};
  while (!shell_ended(r)) {
    const char *line = r->text + r->at, *end = memchr(line, '\n', r->n - r->at);
    size_t n = end == NULL ? r->n - r->at : (size_t)(end - line);
    r->at += n + (end != NULL);
    while (here->tabs && n > 0 && *line == '\t') line++, n--;
    size_t bare = n > 0 && line[n - 1] == '\r' ? n - 1 : n;
    if (bare == strlen(here->delimiter) && memcmp(line, here->delimiter, bare) == 0) break;
    buf_append(&body, line, n);
    buf_putc(&body, '\n');
  }
  if (!here->quoted) return shell_read_body(r, buf_text(&body), body.len, here->body);
  ShellPart *part = arena_alloc(r->arena, sizeof *part);
  *part = (ShellPart){.kind = SHELL_TEXT, .quoted = true, .text = arena_strdup(r->arena, buf_text(&body))};
  *here->body = (ShellWord){.parts = part, .n = 1, .quoted = true};
  return true;
}

bool shell_read_here(ShellReader *r) {
  for (size_t i = 0; i < r->n_pending; i++)
    if (!read_body(r, &r->pending[i])) return false;
  r->n_pending = 0;
  return true;
}
