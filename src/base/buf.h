#ifndef TIDEGATE_BASE_BUF_H
#define TIDEGATE_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * A growing, always NUL-terminated byte buffer on the heap. Zero-initialise: `Buf buf = {0};`; `data` may be NULL
 * until something is appended: use buf_text to read. Grows to BUF_MAX bytes, beyond which the process ends as
 * for exhausted memory.
 */
typedef struct Buf {
  char *data;
  size_t len, cap;
} Buf;

enum { BUF_MAX = 256 * 1024 * 1024 };

/* Room for `more` bytes and the NUL behind what is there. */
void buf_reserve(Buf *buf, size_t more);
void buf_append(Buf *buf, const void *bytes, size_t n);
void buf_puts(Buf *buf, const char *text);
void buf_putc(Buf *buf, char c);
void buf_printf(Buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(Buf *buf, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/* Empties it and keeps the memory. */
void buf_clear(Buf *buf);
/* Frees it; it may be used again. */
void buf_release(Buf *buf);
/* The text so far, "" when empty; owned by the buffer, valid until the next append. */
const char *buf_text(const Buf *buf);

#define BUF_SCOPED __attribute__((cleanup(buf_release))) Buf

#endif
