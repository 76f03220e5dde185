#include <stdio.h>
#include <string.h>

#include "base/doc_int.h"

/* ---- places ------------------------------------------------------------------------------------------------------ */

static const char byte_order_mark[] = "\xEF\xBB\xBF";

size_t doc_utf8_step(const char *text, const char *end) {
  const unsigned char *s = (const unsigned char *)text;
  size_t n = s[0] < 0x80 ? 1 : s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 0;
  if (n > (size_t)(end - text)) return 0;
  for (size_t i = 1; i < n; i++)
    if ((s[i] & 0xC0) != 0x80) return 0;
  if (n == 3 && ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] >= 0xA0))) return 0;
  if (n == 4 && ((s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] >= 0x90))) return 0;
  return n;
}

/* The next character; a byte that is not UTF-8 counts as one. */
static const char *next_char(const char *s, const char *end) {
  size_t n = doc_utf8_step(s, end);
  return s + (n == 0 ? 1 : n);
}

const char *doc_skip_break(const char *s, const char *end) {
  if (s < end && *s == '\r') return s + 1 < end && s[1] == '\n' ? s + 2 : s + 1;
  return s < end && *s == '\n' ? s + 1 : s;
}

static const char *skip_mark(const char *text, size_t length) {
  return length >= 3 && memcmp(text, byte_order_mark, 3) == 0 ? text + 3 : text;
}

void doc_place_of(const char *text, size_t length, const char *at, int *ret_line, int *ret_column) {
  const char *end = text + length;
  *ret_line = *ret_column = 1;
  for (const char *s = skip_mark(text, length); s < at;) {
    const char *after = doc_skip_break(s, end);
    if (after != s) {
      ++*ret_line;
      *ret_column = 1;
      s = after;
    } else {
      ++*ret_column;
      s = next_char(s, end);
    }
  }
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

enum {
  SNIPPET_WIDTH = 100, /* characters shown of a line: 4 bytes each and the caret's line stay below Error.snippet */
  SNIPPET_BEFORE = 60  /* of them before the caret when the line is longer */
};

/* One printable character: tabs become a space so that the caret stands right, control bytes cannot reach a terminal.
 */
static void put_char(char **out, const char *s, const char *end) {
  size_t n = doc_utf8_step(s, end);
  bool c1 = n == 2 && (unsigned char)s[0] == 0xC2 && (unsigned char)s[1] < 0xA0;
  if (n == 1 && *s == '\t') {
    *(*out)++ = ' ';
  } else if (n == 0 || c1 || (n == 1 && ((unsigned char)*s < 0x20 || *s == 0x7F))) {
    *(*out)++ = '?';
  } else {
    memcpy(*out, s, n);
    *out += n;
  }
}

static void put_ellipsis(char **out) {
  memcpy(*out, "…", strlen("…"));
  *out += strlen("…");
}

/* The line's characters around the column, then a caret under it. */
static void fill_snippet(char *out, const char *line, const char *end, int column) {
  int length = 0;
  for (const char *s = line; s < end; s = next_char(s, end)) length++;
  int caret = column - 1 < length ? column - 1 : length;
  int first = length > SNIPPET_WIDTH && caret > SNIPPET_BEFORE ? caret - SNIPPET_BEFORE : 0;
  int last = length - first > SNIPPET_WIDTH ? first + SNIPPET_WIDTH : length;
  if (first > 0) put_ellipsis(&out);
  int i = 0;
  for (const char *s = line; i < last; s = next_char(s, end), i++)
    if (i >= first) put_char(&out, s, end);
  if (last < length) put_ellipsis(&out);
  *out++ = '\n';
  size_t pad = (size_t)(caret - first) + (first > 0 ? 1 : 0);
  memset(out, ' ', pad);
  out[pad] = '^';
  out[pad + 1] = '\0';
}

bool doc_verror(Error *err, const char *name, const char *text, size_t length, int line, int column, const char *format,
                va_list args) {
  char message[sizeof err->message];
  vsnprintf(message, sizeof message, format, args);
  error_set(err, ERR_SPEC, "%s", message);
  error_where(err, name == NULL ? "" : name, line, column);
  if (text == NULL || line < 1 || column < 1) return false;
  const char *end = text + length, *s = skip_mark(text, length), *stop;
  for (int n = 1; n < line && s < end; n++) {
    while (s < end && doc_skip_break(s, end) == s) s++;
    s = doc_skip_break(s, end);
  }
  for (stop = s; stop < end && doc_skip_break(stop, end) == stop;) stop++;
  fill_snippet(err->snippet, s, stop, column);
  return false;
}

bool doc_error(Error *err, const char *name, const char *text, int line, int column, const char *format, ...) {
  va_list args;
  va_start(args, format);
  doc_verror(err, name, text, text == NULL ? 0 : strlen(text), line, column, format, args);
  va_end(args);
  return false;
}
