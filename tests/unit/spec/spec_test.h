#ifndef TIDEGATE_TESTS_SPEC_TEST_H
#define TIDEGATE_TESTS_SPEC_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "spec/spec.h"

/* The least that is a backfill: five lines, so that what a test adds stands in line 6. */
#define LEAST                       \
  "target: daily_delays\n"          \
  "range: 2013-02-01..2013-02-28\n" \
  "wrong: w\n"                      \
  "correct: c\n"                    \
  "recompute: SELECT 1\n"
#define CONTROL "control: 2013-01-31\n"

/* LEAST, the lines, and evidence after them. */
static inline const char *backfill_with(Arena *arena, const char *lines) {
  return arena_printf(arena, "%s%s%s", LEAST, lines, CONTROL);
}

static inline Spec parse_both(Arena *arena, const char *backfill, const char *pipeline) {
  Spec spec;
  Error err;
  if (!spec_parse(arena, "dir/b.yaml", backfill, "top/tidegate.yaml", pipeline, &spec, &err))
    fail_msg("%s: %s\n%s", err.where, err.message, err.snippet);
  return spec;
}

/* A backfill with these lines added. */
static inline Spec parse_with(Arena *arena, const char *lines) {
  return parse_both(arena, backfill_with(arena, lines), NULL);
}

static inline void assert_refusal(const Error *err, const char *where, const char *message, const char *snippet,
                                  const char *hint) {
  assert_int_equal(err->code, ERR_SPEC);
  assert_string_equal(err->where, where);
  if (strstr(err->message, message) == NULL) fail_msg("“%s” is not in “%s”", message, err->message);
  assert_string_equal(err->snippet, snippet);
  if (strstr(err->hint, hint) == NULL || *err->hint == '\0') fail_msg("“%s” is not in the hint “%s”", hint, err->hint);
}

/* The whole text is refused as a backfill. */
static inline void refused_backfill(const char *text, const char *where, const char *message, const char *snippet,
                                    const char *hint) {
  ARENA_SCOPED arena = {0};
  Spec spec;
  Error err;
  if (spec_parse(&arena, "b.yaml", text, NULL, NULL, &spec, &err)) fail_msg("not refused: %s", text);
  assert_refusal(&err, where, message, snippet, hint);
}

/* The lines are refused in a backfill that is right otherwise; they begin at b.yaml:6:1. */
static inline void refused_with(const char *lines, const char *where, const char *message, const char *snippet,
                                const char *hint) {
  ARENA_SCOPED arena = {0};
  refused_backfill(backfill_with(&arena, lines), where, message, snippet, hint);
}

/* The text is refused as tidegate.yaml. */
static inline void refused_pipeline(const char *text, const char *where, const char *message, const char *snippet,
                                    const char *hint) {
  ARENA_SCOPED arena = {0};
  Spec spec;
  Error err;
  if (spec_parse(&arena, "b.yaml", LEAST CONTROL, "tidegate.yaml", text, &spec, &err))
    fail_msg("not refused: %s", text);
  assert_refusal(&err, where, message, snippet, hint);
}

static inline void assert_text(SpecText text, const char *expected, const char *file, int line, int column) {
  assert_string_equal(text.text, expected);
  assert_string_equal(text.place.file, file);
  assert_int_equal(text.place.line, line);
  assert_int_equal(text.place.column, column);
}

#endif
