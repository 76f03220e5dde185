#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

void buf_reserve(Buf *buf, size_t more) {
  if (more >= BUF_MAX || buf->len + more + 1 > BUF_MAX) error_out_of_memory();
  size_t need = buf->len + more + 1;
  if (need <= buf->cap) return;
  size_t cap = buf->cap == 0 ? 256 : buf->cap;
  while (cap < need) cap *= 2;
  char *data = realloc(buf->data, cap);
  if (data == NULL) error_out_of_memory();
  buf->data = data;
  buf->cap = cap;
}

void buf_append(Buf *buf, const void *bytes, size_t n) {
  buf_reserve(buf, n);
  if (n > 0) memcpy(buf->data + buf->len, bytes, n);
  buf->len += n;
  buf->data[buf->len] = '\0';
}

void buf_puts(Buf *buf, const char *text) { buf_append(buf, text, strlen(text)); }

void buf_putc(Buf *buf, char c) { buf_append(buf, &c, 1); }

void buf_vprintf(Buf *buf, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, again);
  va_end(again);
  if (n <= 0) return;
  buf_reserve(buf, (size_t)n);
  vsnprintf(buf->data + buf->len, (size_t)n + 1, format, args);
  buf->len += (size_t)n;
}

void buf_printf(Buf *buf, const char *format, ...) {
  va_list args;
  va_start(args, format);
  buf_vprintf(buf, format, args);
  va_end(args);
}

void buf_clear(Buf *buf) {
  buf->len = 0;
  if (buf->data != NULL) buf->data[0] = '\0';
}

void buf_release(Buf *buf) {
  free(buf->data);
  *buf = (Buf){0};
}

const char *buf_text(const Buf *buf) { return buf->data == NULL ? "" : buf->data; }
