#ifndef TIDEGATE_BASE_DOC_INT_H
#define TIDEGATE_BASE_DOC_INT_H

#include <stdarg.h>

#include "base/doc.h"

/* Private to the files of doc: characters, lines and places in a text. */

/* Length of the well-formed UTF-8 sequence that starts at s, before end; 0 if there is none (RFC 3629). */
size_t doc_utf8_step(const char *s, const char *end);

/* After the line break at s: "\n", "\r\n" or a "\r" alone; s itself if there is none. */
const char *doc_skip_break(const char *s, const char *end);

/* The place of the byte at `at`, from 1; a byte order mark is not counted. */
void doc_place_of(const char *text, size_t length, const char *at, int *ret_line, int *ret_column);

/* doc_error for a text that may hold NUL bytes. */
bool doc_verror(Error *err, const char *name, const char *text, size_t length, int line, int column, const char *format,
                va_list args) __attribute__((format(printf, 7, 0)));

/*
 * The text of a scalar in single quotes, from its first byte after the quote (YAML 1.2.2, 7.3.2 and 6.5): two quotes
 * are one, a line break is a space, and n breaks one after the other are n - 1.
 */
const char *doc_single_quoted(Arena *arena, const char *s, const char *end);

/* True if a text in double quotes, from its first byte after the quote, goes on in the next line. */
bool doc_spans_lines(const char *s, const char *end);

/* A complaint of libfyaml in plain words. An unknown one keeps its text, after a prefix; it lives as long as that. */
typedef struct DocComplaint {
  const char *prefix, *text, *hint;
} DocComplaint;

DocComplaint doc_explain(const char *message);

#endif
