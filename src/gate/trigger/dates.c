#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "gate/trigger/trigger_int.h"
#include "time/civil.h"

/* Dates as other tools' arguments have them. */

static const char *day_text(Arena *arena, int64_t days) {
  Civil civil = civil_from_days(days);
  return arena_printf(arena, "%04d-%02d-%02d", civil.year, civil.month, civil.day);
}

/* YYYY-MM-DD or YYYYMMDD at the beginning; *ret_rest: what follows. */
static bool read_day(const char *text, int64_t *ret_days, const char **ret_rest) {
  int digits[8], n = 0;
  bool dashes = false;
  const char *at = text;
  for (; n < 8; at++) {
    if (*at == '-' && (n == 4 || n == 6) && at[-1] != '-') {
      dashes = true;
      continue;
    }
    if (!isdigit((unsigned char)*at)) return false;
    digits[n++] = *at - '0';
  }
  if (isdigit((unsigned char)*at) || (dashes && (text[4] != '-' || text[7] != '-'))) return false;
  Civil civil = {.year = digits[0] * 1000 + digits[1] * 100 + digits[2] * 10 + digits[3],
                 .month = digits[4] * 10 + digits[5],
                 .day = digits[6] * 10 + digits[7]};
  if (!civil_valid(&civil)) return false;
  *ret_days = civil_to_days(civil.year, civil.month, civil.day);
  *ret_rest = at;
  return true;
}

/* Is what follows the day midnight, or nothing? */
static bool is_midnight(const char *rest) {
  for (; *rest != '\0' && *rest != '+' && *rest != 'Z' && *rest != '-'; rest++)
    if (*rest >= '1' && *rest <= '9') return false;
  return true;
}

const char *date_day(Arena *arena, const char *text, bool before) {
  int64_t days;
  const char *rest;
  if (!read_day(text, &days, &rest)) return NULL;
  if (*rest != '\0' && strchr("T _:+Z", *rest) == NULL) return NULL;
  return day_text(arena, before && is_midnight(rest) ? days - 1 : days);
}

const char *date_add(Arena *arena, const char *day, int n) {
  int64_t days;
  const char *rest;
  return read_day(day, &days, &rest) ? day_text(arena, days + n) : NULL;
}

char date_role(const char *name) {
  static const char *const words[] = {"start from begin since min lower", "end to until stop max upper",
                                      "date day ds dt partition execution logical"};
  static const char roles[] = "fto";
  char role = '\0';
  for (const char *at = name; *at != '\0';) {
    char word[32];
    size_t n = 0;
    for (; *at != '\0' && strchr("_-./", *at) == NULL; at++)
      if (n + 1 < sizeof word) word[n++] = (char)tolower((unsigned char)*at);
    word[n] = '\0';
    if (*at != '\0') at++;
    for (size_t i = 0; n > 0 && i < sizeof words / sizeof *words; i++)
      if (word_in(word, words[i]) && (role == '\0' || role == 'o')) role = roles[i];
  }
  return role;
}

void date_take(Arena *arena, DateSpan *span, char role, const char *value, bool exclusive) {
  const char *sure = word_sure(arena, value), *behind = sure == NULL ? NULL : strstr(sure, "__");
  if (behind != NULL) sure = behind + 2; /* scheduled__2024-01-01T00:00:00+00:00, a run of Airflow */
  span->any = true;
  if (role != 't') span->from = sure == NULL ? NULL : date_day(arena, sure, false);
  if (role != 'f') span->to = sure == NULL ? NULL : date_day(arena, sure, role == 't' && exclusive);
}
