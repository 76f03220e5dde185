#ifndef TIDEGATE_TESTS_UNIT_GATE_TRIGGER_CASES_H
#define TIDEGATE_TESTS_UNIT_GATE_TRIGGER_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"

/* The case files of tests/cases: a row a line, its fields divided by tabs. */

/* The file's text, its \n, \t and \\ still written out. */
static inline char *read_cases(Arena *arena, const char *name) {
  const char *folder = getenv("TIDEGATE_CASES");
  char *path = arena_printf(arena, "%s/%s", folder == NULL ? "tests/cases" : folder, name);
  FILE *file = fopen(path, "rb");
  if (file == NULL) fail_msg("%s cannot be read", path);
  char *text = arena_alloc(arena, 1 << 20);
  size_t n = fread(text, 1, (1 << 20) - 1, file);
  fclose(file);
  assert_true(n > 1000);
  return text;
}

static inline char *unescape(Arena *arena, const char *text) {
  char *copy = arena_strdup(arena, text), *to = copy;
  for (; *text != '\0'; text++) {
    if (*text == '\\' && text[1] != '\0' && strchr("nt\\", text[1]) != NULL)
      *to++ = *++text == 'n' ? '\n' : *text == 't' ? '\t' : '\\';
    else
      *to++ = *text;
  }
  *to = '\0';
  return copy;
}

/* The next line's fields, as many as `most`; 0 at the end. */
static inline size_t next_row(char **at, char *fields[], size_t most) {
  if (**at == '\0') return 0;
  char *line = *at, *end = strchr(line, '\n');
  *at = end == NULL ? line + strlen(line) : end + 1;
  if (end != NULL) *end = '\0';
  size_t n = 0;
  for (char *field = line; field != NULL && n < most; n++) {
    fields[n] = field;
    field = strchr(field, '\t');
    if (field != NULL) *field++ = '\0';
  }
  return n;
}

#endif
