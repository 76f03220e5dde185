#include <stdarg.h>
#include <string.h>

#include "plan/plan_int.h"

void plan_infer(Resolver *resolver, const char *name, const char *value, const char *from) {
  Plan *plan = resolver->plan;
  Inferred *grown = arena_grow(resolver->arena, (void *)plan->inferred, plan->n_inferred, sizeof *grown);
  grown[plan->n_inferred++] = (Inferred){name, value, from};
  plan->inferred = grown;
}

void plan_warn(Arena *arena, Plan *plan, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char **grown = arena_grow(arena, (void *)plan->warnings, plan->n_warnings, sizeof *grown);
  grown[plan->n_warnings++] = arena_vprintf(arena, format, args);
  plan->warnings = grown;
  va_end(args);
}

const char *plan_join(Arena *arena, const char *const *texts, size_t n) {
  Buf joined = {0};
  for (size_t i = 0; i < n; i++) buf_printf(&joined, "%s%s", i == 0 ? "" : ", ", texts[i]);
  const char *ret = arena_strdup(arena, buf_text(&joined));
  buf_release(&joined);
  return ret;
}

bool plan_at_place(const SpecPlace *place, Error *err) {
  if (err->code != ERR_SPEC || err->where[0] != '\0') return false;
  Error old = *err;
  spec_error(err, place, "%s", old.message);
  if (old.hint[0] != '\0') error_hint(err, "%s", old.hint);
  return false;
}

/* The start of line `line` (from 1) of a text, NULL when it has fewer. */
static const char *line_start(const char *text, int line) {
  for (int i = 1; text != NULL && i < line; i++) {
    text = strchr(text, '\n');
    if (text != NULL) text++;
  }
  return text;
}

/* Characters (not bytes) of UTF-8 text, as places count them. */
static int characters(const char *text, const char *end) {
  int n = 0;
  for (; text < end; text++)
    if (((unsigned char)*text & 0xC0) != 0x80) n++;
  return n;
}

/*
 * Where the byte at `offset` of a SQL text stands in its file: YAML takes indentation and quotes away, so the SQL's
 * line is looked for, as it is, from the value's own line on. False when it is not to be found (escapes, folded lines).
 */
static bool find_in_file(const SpecText *sql, int offset, SpecPlace *ret) {
  const char *at = sql->text + offset, *start = at;
  while (start > sql->text && start[-1] != '\n') start--;
  while (*start == ' ' || *start == '\t') start++;
  if (start > at) at = start;
  size_t length = strcspn(start, "\n");
  while (length > 0 && strchr(" \t\r", start[length - 1]) != NULL) length--;
  if (length == 0 || sql->place.file == NULL) return false;

  const char *line = line_start(sql->place.source, sql->place.line);
  for (int number = sql->place.line; line != NULL; number++) {
    const char *end = line + strcspn(line, "\n");
    const char *from = number == sql->place.line ? line + strnlen(line, (size_t)(sql->place.column - 1)) : line;
    const char *found = from < end ? memmem(from, (size_t)(end - from), start, length) : NULL;
    if (found != NULL) {
      *ret = sql->place;
      ret->line = number;
      ret->column = characters(line, found + (at - start)) + 1;
      return true;
    }
    line = *end == '\n' ? end + 1 : NULL;
  }
  return false;
}

bool plan_at_sql(const SpecText *sql, int offset, const char *what, Error *err) {
  if (err->code != ERR_SPEC || err->where[0] != '\0') return false;
  Error old = *err;
  SpecPlace place = sql->place;
  bool in_text = offset >= 0 && (size_t)offset <= strlen(sql->text);
  if (in_text && !find_in_file(sql, offset, &place))
    spec_error(err, &sql->place, "%s, at byte %d of its SQL: %s", what, offset + 1, old.message);
  else
    spec_error(err, &place, "%s: %s", what, old.message);
  if (old.hint[0] != '\0') error_hint(err, "%s", old.hint);
  return false;
}
