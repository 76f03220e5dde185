#include "view/paint.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { CELL_MAX = 40, WRAP_MIN = 40, USUAL_WIDTH = 80 };

static const char *const style_codes[] = {"", "\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[31m", "\x1b[33m"};

bool paint_wants_colour(bool terminal) {
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  return terminal && (no == NULL || no[0] == '\0') && term != NULL && strcmp(term, "dumb") != 0;
}

int paint_terminal_width(int fd) {
  struct winsize size;
  if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col > 0 ? size.ws_col : USUAL_WIDTH;
}

/* Decodes the UTF-8 sequence at s (RFC 3629): its length and code point; length 0 when it is none. */
static size_t decode(const unsigned char *s, uint32_t *ret) {
  if (s[0] < 0x80) {
    *ret = s[0];
    return 1;
  }
  size_t n = s[0] >= 0xC2 && s[0] <= 0xDF ? 2 : (s[0] & 0xF0) == 0xE0 ? 3 : s[0] >= 0xF0 && s[0] <= 0xF4 ? 4 : 0;
  if (n == 0) return 0;
  uint32_t code = s[0] & (0xFFU >> (n + 1));
  for (size_t i = 1; i < n; i++) {
    if ((s[i] & 0xC0) != 0x80) return 0;
    code = code << 6 | (s[i] & 0x3FU);
  }
  if ((n == 3 && code < 0x800) || (n == 4 && (code < 0x10000 || code > 0x10FFFF))) return 0;
  if (code >= 0xD800 && code <= 0xDFFF) return 0;
  *ret = code;
  return n;
}

/* Controls of C0 and C1, and what turns or hides text (Unicode TR 36, bidirectional text). */
static bool is_unsafe(uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0x9F) || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF;
}

void paint_escape(Buf *out, const char *text) {
  if (text == NULL) text = "NULL";
  for (const unsigned char *s = (const unsigned char *)text; *s != '\0';) {
    uint32_t code = 0;
    size_t n = decode(s, &code);
    if (n == 0) {
      buf_printf(out, "\\x%02x", *s++);
      continue;
    }
    if (code == '\n')
      buf_puts(out, "\\n");
    else if (code == '\t')
      buf_puts(out, "\\t");
    else if (code == '\r')
      buf_puts(out, "\\r");
    else if (is_unsafe(code))
      buf_printf(out, code < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)code);
    else
      buf_append(out, s, n);
    s += n;
  }
}

/* Columns of one code point: none for combining marks, two for East Asian wide forms and pictures. */
static size_t code_columns(uint32_t c) {
  if (c >= 0x300 && c <= 0x36F) return 0;
  bool wide = (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
              (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
              (c >= 0x1F300 && c <= 0x1FAFF);
  return wide ? 2 : 1;
}

/* The bytes of text that fit into `columns`; *ret_columns is what they take. */
static size_t fitting(const char *text, size_t columns, size_t *ret_columns) {
  size_t used = 0, bytes = 0;
  while (text[bytes] != '\0') {
    uint32_t code = 0;
    size_t n = decode((const unsigned char *)text + bytes, &code);
    size_t wide = n == 0 ? 1 : code_columns(code);
    if (used + wide > columns) break;
    used += wide;
    bytes += n == 0 ? 1 : n;
  }
  *ret_columns = used;
  return bytes;
}

size_t paint_columns(const char *text) {
  size_t columns = 0;
  fitting(text, SIZE_MAX, &columns);
  return columns;
}

void paint_cut(Buf *out, const char *text, size_t columns) {
  BUF_SCOPED safe = {0};
  paint_escape(&safe, text);
  size_t used, n = fitting(buf_text(&safe), columns, &used);
  bool cut = n < safe.len;
  if (cut) n = fitting(buf_text(&safe), columns - 1, &used);
  buf_append(out, buf_text(&safe), n);
  if (cut) buf_puts(out, "…");
}

static void put_styled(Paint *paint, Style style, const char *safe) {
  bool coloured = paint->colour && style != STYLE_PLAIN && safe[0] != '\0';
  if (coloured) buf_puts(paint->out, style_codes[style]);
  buf_puts(paint->out, safe);
  if (coloured) buf_puts(paint->out, "\x1b[0m");
}

void paint_styled(Paint *paint, Style style, const char *text) {
  BUF_SCOPED safe = {0};
  paint_escape(&safe, text);
  put_styled(paint, style, buf_text(&safe));
}

void paint_text(Paint *paint, const char *text) { paint_escape(paint->out, text); }

static void spaces(Buf *out, size_t n) {
  for (size_t i = 0; i < n; i++) buf_putc(out, ' ');
}

/* Writes safe text from column PAINT_LABEL on, broken at spaces where the width asks for it. */
static void wrap(Paint *paint, const char *safe) {
  size_t room = SIZE_MAX;
  if (paint->width >= PAINT_LABEL + WRAP_MIN) room = (size_t)paint->width - PAINT_LABEL;
  while (*safe != '\0') {
    size_t columns = 0, n = fitting(safe, room, &columns), cut = n;
    if (safe[n] != '\0')
      while (cut > 0 && safe[cut] != ' ') cut--;
    if (cut == 0) cut = n;
    buf_append(paint->out, safe, cut);
    buf_putc(paint->out, '\n');
    safe += cut;
    while (*safe == ' ') safe++;
    if (*safe != '\0') spaces(paint->out, PAINT_LABEL);
  }
}

static void line_text(Paint *paint, Style style, const char *label, const char *format, va_list args) {
  BUF_SCOPED safe = {0};
  BUF_SCOPED text = {0};
  buf_vprintf(&text, format, args);
  while (text.len > 0 && strchr(" \n", text.data[text.len - 1]) != NULL) text.data[--text.len] = '\0';
  for (size_t i = 0; i < text.len; i++)
    if (text.data[i] == '\n') text.data[i] = ' ';
  paint_escape(&safe, buf_text(&text));
  put_styled(paint, style, label);
  size_t taken = paint_columns(label);
  if (safe.len == 0) {
    buf_putc(paint->out, '\n');
    return;
  }
  spaces(paint->out, taken < PAINT_LABEL ? PAINT_LABEL - taken : 1);
  wrap(paint, buf_text(&safe));
}

void paint_line(Paint *paint, const char *label, const char *format, ...) {
  va_list args;
  va_start(args, format);
  line_text(paint, STYLE_DIM, label, format, args);
  va_end(args);
}

void paint_verdict(Paint *paint, Style style, const char *label, const char *format, ...) {
  va_list args;
  va_start(args, format);
  line_text(paint, style, label, format, args);
  va_end(args);
}

static void put_cell(Buf *out, const char *text, size_t width, bool right, bool last) {
  BUF_SCOPED safe = {0};
  if (text != NULL) paint_escape(&safe, text);
  size_t columns = 0, n = fitting(buf_text(&safe), CELL_MAX, &columns);
  bool cut = n < safe.len;
  if (cut) n = fitting(buf_text(&safe), CELL_MAX - 1, &columns);
  size_t pad = width - columns - (cut ? 1 : 0);
  if (right) spaces(out, pad);
  buf_append(out, buf_text(&safe), n);
  if (cut) buf_puts(out, "…");
  if (!last && !right) spaces(out, pad);
  if (!last) buf_puts(out, "  ");
}

static size_t cell_width(const char *text) {
  if (text == NULL) return 0;
  BUF_SCOPED safe = {0};
  paint_escape(&safe, text);
  size_t columns = paint_columns(buf_text(&safe));
  return columns > CELL_MAX ? CELL_MAX : columns;
}

static void put_row(Paint *paint, const Table *table, const char *const *cells, const size_t *widths) {
  size_t last = table->columns;
  while (last > 1 && (cells[last - 1] == NULL || cells[last - 1][0] == '\0')) last--;
  spaces(paint->out, (size_t)table->indent);
  for (size_t c = 0; c < last; c++) put_cell(paint->out, cells[c], widths[c], table->right >> c & 1, c + 1 == last);
  buf_putc(paint->out, '\n');
}

void paint_table(Paint *paint, const Table *table) {
  size_t widths[16] = {0};
  if (table->columns > 16) return;
  for (size_t c = 0; c < table->columns; c++) {
    if (table->heads != NULL) widths[c] = cell_width(table->heads[c]);
    for (size_t r = 0; r < table->rows; r++) {
      size_t width = cell_width(table->cells[r * table->columns + c]);
      if (width > widths[c]) widths[c] = width;
    }
  }
  if (table->heads != NULL) {
    if (paint->colour) buf_puts(paint->out, style_codes[STYLE_DIM]);
    put_row(paint, table, table->heads, widths);
    if (paint->colour) buf_puts(paint->out, "\x1b[0m");
  }
  for (size_t r = 0; r < table->rows; r++) put_row(paint, table, table->cells + r * table->columns, widths);
}
