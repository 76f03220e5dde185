#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan_int.h"
#include "time/civil.h"

/* What an external command is told of its batch, and the places in its words. */

enum { MOST_DAYS = 100000 };

/* A label without its dashes, 20240110, as many tools name partitions. */
static const char *without_dashes(Arena *arena, const char *label) {
  BUF_SCOPED out = {0};
  for (; *label != '\0'; label++)
    if (*label != '-') buf_putc(&out, *label);
  return arena_strdup(arena, buf_text(&out));
}

static const char *label_of(Arena *arena, const DateCodec *codec, Instant date) {
  char label[32];
  grain_label(codec->grain, codec->zone, date, label);
  return arena_strdup(arena, label);
}

static const char *all_labels(Arena *arena, const DateCodec *codec, DateRange range) {
  BUF_SCOPED out = {0};
  for (Instant at = range.from; at < range.to; at = grain_next(codec->grain, codec->zone, at))
    buf_printf(&out, "%s%s", out.len == 0 ? "" : ",", label_of(arena, codec, at));
  return arena_strdup(arena, buf_text(&out));
}

/* A file by its whole path: the command may change to another directory. A URL stays. */
static const char *database_of(Arena *arena, const Plan *plan) {
  const char *path = plan->spec.database_path;
  char whole[PATH_MAX];
  if (path == NULL) return "";
  return realpath(path, whole) == NULL ? path : arena_strdup(arena, whole);
}

void plan_variables(Arena *arena, const Plan *plan, DateRange range, ProcessVariable ret[PLAN_VARIABLES]) {
  const DateCodec *codec = &plan->shape.codec;
  const char *from = label_of(arena, codec, range.from), *to = label_of(arena, codec, range.to);
  const char *last = label_of(arena, codec, grain_floor(codec->grain, codec->zone, range.to - 1));
  const ProcessVariable all[PLAN_VARIABLES] = {
      {"{from}", "TIDEGATE_FROM", from},
      {"{to}", "TIDEGATE_TO", to},
      {"{to_inclusive}", "TIDEGATE_TO_INCLUSIVE", last},
      {"{date}", "TIDEGATE_DATE", from},
      {"{dates}", "TIDEGATE_DATES", all_labels(arena, codec, range)},
      {"{from_nodash}", "TIDEGATE_FROM_NODASH", without_dashes(arena, from)},
      {"{to_nodash}", "TIDEGATE_TO_NODASH", without_dashes(arena, to)},
      {"{to_inclusive_nodash}", "TIDEGATE_TO_INCLUSIVE_NODASH", without_dashes(arena, last)},
      {"{date_nodash}", "TIDEGATE_DATE_NODASH", without_dashes(arena, from)},
      {"{database}", "TIDEGATE_DATABASE", database_of(arena, plan)}};
  memcpy(ret, all, sizeof all);
}

/* ---- places that name another day -------------------------------------------------------------------------------- */

/* 2024-01-31 or 20240131 by so many days; NULL: the value is no such date. */
static const char *other_day(Arena *arena, const char *value, long days) {
  size_t n = strlen(value);
  Civil civil;
  if (n != 10 && n != 8) return NULL;
  if (sscanf(value, n == 10 ? "%4d-%2d-%2d" : "%4d%2d%2d", &civil.year, &civil.month, &civil.day) != 3) return NULL;
  civil = civil_from_days(civil_to_days(civil.year, civil.month, civil.day) + days);
  return arena_printf(arena, n == 10 ? "%04d-%02d-%02d" : "%04d%02d%02d", civil.year, civil.month, civil.day);
}

/* The value of a place such as {from+1d} at the beginning of text; *ret_n: its bytes. NULL: it is none. */
static const char *shifted_place(Arena *arena, const char *text, const ProcessVariable *variables, size_t n,
                                 size_t *ret_n) {
  size_t name = strcspn(text, "+-}");
  char *end;
  if (text[0] != '{' || (text[name] != '+' && text[name] != '-') || !isdigit((unsigned char)text[name + 1]))
    return NULL;
  long days = strtol(text + name, &end, 10);
  if (end[0] != 'd' || end[1] != '}' || days < -MOST_DAYS || days > MOST_DAYS) return NULL;
  for (size_t i = 0; i < n; i++) {
    const char *place = variables[i].place;
    if (strlen(place) != name + 1 || strncmp(place, text, name) != 0) continue;
    *ret_n = (size_t)(end + 2 - text);
    return other_day(arena, variables[i].value, days);
  }
  return NULL;
}

char *plan_fill(Arena *arena, const char *word, const ProcessVariable *variables, size_t n) {
  BUF_SCOPED out = {0};
  size_t length;
  for (char before = '\0'; *word != '\0';) {
    const char *value = before == '$' ? NULL : shifted_place(arena, word, variables, n, &length);
    before = *word;
    if (value == NULL) {
      buf_putc(&out, *word++);
    } else {
      buf_puts(&out, value);
      word += length;
    }
  }
  return process_fill(arena, buf_text(&out), variables, n);
}

bool plan_takes_one_date(const char *command) {
  for (const char *at = command; (at = strstr(at, "{date")) != NULL; at++)
    if (at[5] != '\0' && strchr("}_+-", at[5]) != NULL) return true;
  for (const char *at = command; (at = strstr(at, "TIDEGATE_DATE")) != NULL; at++)
    if (at[13] != 'S') return true;
  return false;
}
