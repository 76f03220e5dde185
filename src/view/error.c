#include "view/error.h"

#include <ctype.h>
#include <string.h>

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.' || c == '/'; }

/* The hint with the words PLAN and SPEC filled in. */
static void fill_hint(Buf *out, const char *hint, const char *plan, const char *spec) {
  for (const char *s = hint; *s != '\0';) {
    bool starts = s == hint || !is_word(s[-1]);
    const char *fill = NULL;
    if (starts && strncmp(s, "PLAN", 4) == 0 && !is_word(s[4])) fill = plan;
    if (starts && strncmp(s, "SPEC", 4) == 0 && !is_word(s[4])) fill = spec;
    if (fill == NULL) {
      buf_putc(out, *s++);
    } else {
      buf_puts(out, fill);
      s += 4;
    }
  }
}

/* Lines of their own, each escaped. */
static void put_lines(Buf *out, const char *text) {
  while (*text != '\0') {
    size_t n = strcspn(text, "\n");
    BUF_SCOPED line = {0};
    buf_append(&line, text, n);
    paint_escape(out, buf_text(&line));
    buf_putc(out, '\n');
    text += n;
    if (*text == '\n') text++;
  }
}

void view_error(Paint *paint, const Error *err, const char *plan, const char *spec) {
  BUF_SCOPED hint = {0};
  bool paused = err->code == ERR_PAUSED;
  fill_hint(&hint, error_hint_text(err), plan, spec);
  buf_puts(paint->out, "tidegate: ");
  paint_styled(paint, paused ? STYLE_WARN : STYLE_BAD, paused ? "paused: " : "error: ");
  if (err->where[0] != '\0') {
    paint_text(paint, err->where);
    buf_puts(paint->out, ": ");
  }
  if (paused) {
    paint_text(paint, err->message);
    buf_puts(paint->out, "; ");
    put_lines(paint->out, buf_text(&hint));
    return;
  }
  put_lines(paint->out, err->message);
  put_lines(paint->out, err->snippet);
  if (hint.len == 0) return;
  buf_puts(paint->out, "HINT: ");
  put_lines(paint->out, buf_text(&hint));
}

void view_error_json(Json *json, const Error *err, const char *plan, const char *spec) {
  BUF_SCOPED hint = {0};
  fill_hint(&hint, error_hint_text(err), plan, spec);
  json_object(json, "error");
  json_text(json, "code", error_word(err->code));
  json_text(json, "where", err->where);
  json_text(json, "message", err->message);
  json_text(json, "snippet", err->snippet);
  json_text(json, "hint", buf_text(&hint));
  json_int(json, "exit", error_exit_status(err->code));
  json_object_end(json);
}
