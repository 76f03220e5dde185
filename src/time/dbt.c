#include <string.h>

#include "time/cron_field.h"

/*
 * Jobs of the dbt platform (docs.getdbt.com, "Deploy jobs"): five-field cron, with L, and the two presets of its form.
 * All of it is UTC there, whatever zone the caller has.
 */

static const char forms[] =
    "write 'every 6 hours', 'at 0,12', either with 'on mon,tue' or 'on 1-5' after it, or five cron fields";

enum { N_WORDS_MAX = 6 };

/* The presets as cron: "every 6 hours on 1-5" is "0 star/6 * * 1-5", as dbt's own API shows it. NULL: none of them. */
static const char *preset(Arena *arena, char *const *words, int n) {
  const char *days = "*";
  if (n > 2 && strcmp(words[n - 2], "on") == 0) {
    days = words[n - 1];
    n -= 2;
  }
  bool hours = n == 3 && (strcmp(words[2], "hours") == 0 || strcmp(words[2], "hour") == 0);
  if (hours && strcmp(words[0], "every") == 0 && strspn(words[1], "0123456789") == strlen(words[1]))
    return arena_printf(arena, "0 */%s * * %s", words[1], days);
  if (n == 2 && strcmp(words[0], "at") == 0 && strspn(words[1], "0123456789,") == strlen(words[1]))
    return arena_printf(arena, "0 %s * * %s", words[1], days);
  return NULL;
}

static bool dbt_parse(Arena *arena, const char *expression, DialectRule *ret, Error *err) {
  char *rest = arena_strdup(arena, expression), *words[N_WORDS_MAX], *word;
  int n = 0;
  while ((word = strsep(&rest, " \t")) != NULL)
    if (*word != '\0' && n++ < N_WORDS_MAX) words[n - 1] = word;
  const char *cron = n < N_WORDS_MAX ? preset(arena, words, n) : NULL;
  if (cron == NULL && n == 5) cron = expression;
  if (cron == NULL) {
    error_set(err, ERR_SPEC, "'%.60s' is not a schedule of the dbt platform", expression);
    return error_hint(err, "%s", forms);
  }
  if (!dialect_croniter.parse(arena, cron, ret, err)) return error_wrap(err, "dbt");
  ret->zone = "UTC";
  return true;
}

const Dialect dialect_dbt = {.gap = GAP_SKIP, .overlap = OVERLAP_BOTH, .parse = dbt_parse};
