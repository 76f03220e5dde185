#include <stdlib.h>
#include <string.h>

#include "time/interval.h"
#include "time/quartz_field.h"
#include "time/text.h"

/* Amazon EventBridge, rules and Scheduler: cron(…), rate(…), at(…), by its user guides. */

static const CronDialect aws = {"aws", "minute, hour, day of month, month, day of week, year", "rate(5 minutes)"};

static const char forms[] = "write cron(0 10 ? * MON-FRI *), rate(5 minutes) or at(2026-03-01T02:00:00)";

static bool parse_cron(Arena *arena, const char *text, DialectRule *ret, Error *err) {
  static const QuartzForm form = {.last_year = 2199};
  static const char no_second[] = "0";
  CronReader readers[QUARTZ_FIELDS];
  readers[0] = (CronReader){.dialect = &aws, .text = no_second, .end = no_second + 1, .err = err};
  int n = cron_split(text, &aws, err, readers + 1, QUARTZ_FIELDS - 1);
  if (n == QUARTZ_FIELDS - 1) return quartz_read(arena, &form, readers, ret, err);
  error_set(err, ERR_SPEC, "cron() of aws has 6 fields (%s), not %d", aws.order, n);
  return error_hint(err, "%s", forms);
}

/* "5 minutes", "1 day". A day is 24 hours, whatever the wall clock does. */
static bool parse_rate(Arena *arena, const char *text, DialectRule *ret, Error *err) {
  static const struct {
    const char *one, *many;
    int64_t seconds;
  } units[] = {{"minute", "minutes", 60}, {"hour", "hours", 3600}, {"day", "days", 86400}};
  char *end;
  long value = *text >= '0' && *text <= '9' ? strtol(text, &end, 10) : 0;
  if (value < 1 || value > 1000000 || *end != ' ') {
    error_set(err, ERR_SPEC, "rate(%.40s) does not begin with a number from 1 on and a blank", text);
    return error_hint(err, "write it as rate(1 minute), rate(12 hours) or rate(7 days)");
  }
  while (*end == ' ') end++;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    bool one = strcmp(end, units[i].one) == 0, many = strcmp(end, units[i].many) == 0;
    if (!one && !many) continue;
    if (one != (value == 1)) {
      error_set(err, ERR_SPEC, "rate(%.40s) is refused by AWS: the unit must be %s", text,
                one ? "in the plural" : "in the singular");
      return error_hint(err, "write rate(%ld %s)", value, one ? units[i].many : units[i].one);
    }
    interval_rule(arena, (Interval){.step = value * units[i].seconds}, ret);
    return true;
  }
  error_set(err, ERR_SPEC, "rate(%.40s) has a unit that is not minutes, hours or days", text);
  return error_hint(err, "write it as rate(1 minute), rate(12 hours) or rate(7 days)");
}

static bool once_next(const void *rule, const Civil *from, Civil *ret) {
  const Civil *at = rule;
  if (civil_to_seconds(at) < civil_to_seconds(from)) return false;
  *ret = *at;
  return true;
}

/* "2026-03-01T02:00:00", by the zone's wall clock. */
static bool parse_at(Arena *arena, const char *text, DialectRule *ret, Error *err) {
  TextStamp stamp;
  if (strlen(text) != 19 || !text_stamp(text, 19, &stamp) || stamp.separator != 'T' || stamp.has_offset) {
    error_set(err, ERR_SPEC, "at(%.40s) is not a date and time to the second without an offset", text);
    return error_hint(err, "%s", "write it as at(2026-03-01T02:00:00); the zone has its own key");
  }
  Civil *at = arena_alloc(arena, sizeof *at);
  *at = stamp.civil;
  ret->rule = at;
  ret->next = once_next;
  return true;
}

static bool aws_parse(Arena *arena, const char *expression, DialectRule *ret, Error *err) {
  static const struct {
    const char *name;
    bool (*parse)(Arena *arena, const char *text, DialectRule *ret, Error *err);
  } kinds[] = {{"cron(", parse_cron}, {"rate(", parse_rate}, {"at(", parse_at}};
  const char *line = cron_trim(arena, expression);
  size_t n = strlen(line);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    size_t begin = strlen(kinds[i].name);
    if (strncmp(line, kinds[i].name, begin) != 0 || line[n - 1] != ')') continue;
    return kinds[i].parse(arena, cron_trim(arena, arena_strndup(arena, line + begin, n - begin - 1)), ret, err);
  }
  error_set(err, ERR_SPEC, "'%.60s' is not a schedule of EventBridge", line);
  return error_hint(err, "%s", forms);
}

const Dialect dialect_aws = {.gap = GAP_SKIP, .overlap = OVERLAP_FIRST, .parse = aws_parse};
