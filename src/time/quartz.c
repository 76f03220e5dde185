#include "time/quartz_field.h"

/* Quartz 2.3 (org.quartz.CronExpression): seconds first, SUN is 1, and perhaps a year at the end. */

static const CronDialect quartz = {"quartz",
                                   "second, minute, hour, day of month, month, day of week, year (may be left out)",
                                   "0 0 0 * * ? for every day, 0 0 * * * ? for every hour"};

static bool quartz_parse(Arena *arena, const char *expression, DialectRule *ret, Error *err) {
  /* The real one gives up a hundred years from now, whenever that is. */
  static const QuartzForm form = {.last_year = CIVIL_YEAR_MAX, .wraps = true, .offsets = true};
  static const char any_year[] = "*";
  CronReader readers[QUARTZ_FIELDS];
  if (*cron_trim(arena, expression) == '@') return cron_refuse_shorthand(&quartz, cron_trim(arena, expression), err);
  int n = cron_split(expression, &quartz, err, readers, QUARTZ_FIELDS);
  if (n == QUARTZ_FIELDS - 1) {
    readers[n] = (CronReader){.dialect = &quartz, .text = any_year, .end = any_year + 1, .err = err};
  } else if (n != QUARTZ_FIELDS) {
    error_set(err, ERR_SPEC, "a quartz schedule has 6 or 7 fields (%s), not %d", quartz.order, n);
    return error_hint(err, "%s",
                      n == 5 ? "write the second first, such as 0, and ? for one of the two days"
                             : "write all of them, with * where any value will do");
  }
  return quartz_read(arena, &form, readers, ret, err);
}

const Dialect dialect_quartz = {.gap = GAP_SKIP, .overlap = OVERLAP_SECOND, .parse = quartz_parse};
