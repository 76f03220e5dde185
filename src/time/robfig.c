#include <math.h>
#include <string.h>

#include "time/cron_field.h"
#include "time/interval.h"

/* github.com/robfig/cron v3 (parser.go, spec.go, constantdelay.go), and CronJobs of Kubernetes, which use it. */

enum { SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY, N_FIELDS };
static const CronField fields[N_FIELDS] = {
    [SECOND] = {"second", 0, 59, NULL, 0},      [MINUTE] = {"minute", 0, 59, NULL, 0},
    [HOUR] = {"hour", 0, 23, NULL, 0},          [DAY] = {"day of month", 1, 31, NULL, 0},
    [MONTH] = {"month", 1, 12, cron_months, 1}, [WEEKDAY] = {"day of week", 0, 6, cron_weekdays, 0}};

#define PRESETS "@hourly @daily @midnight @weekly @monthly @yearly @annually, @every 1h30m"
static const CronDialect robfig = {"robfig", "second (may be left out), minute, hour, day of month, month, day of week",
                                   PRESETS};
static const CronDialect kubernetes = {"kubernetes", "minute, hour, day of month, month, day of week", PRESETS};

static const struct {
  const char *name, *expression;
} shorthands[] = {{"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
                  {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
                  {"@hourly", "0 * * * *"}};

/* One part of a list; true in *star when it restricts nothing: a * or ? without a step above 1. */
static bool parse_range(CronReader *reader, bool *star) {
  int first = reader->field->min, last = reader->field->max, step = 1;
  bool all = cron_take(reader, '*') || cron_take(reader, '?'), single = false;
  if (!all) {
    if (!cron_take_value(reader, &first)) return false;
    single = !cron_take(reader, '-');
    last = first;
    if (!single && !cron_take_value(reader, &last)) return false;
    if (last < first)
      return cron_refuse(reader, "a range ends before it begins, which robfig/cron refuses",
                         "write it as a list of two, such as 22-23,0-4");
  }
  if (cron_take(reader, '/')) {
    if (!cron_take_step(reader, &step)) return false;
    /* "5/15" is "5-59/15". */
    if (single) last = reader->field->max;
  }
  *star = *star || (all && step == 1);
  cron_add(reader, first, last, step);
  return true;
}

static bool parse_field(CronReader *reader, bool *star) {
  *star = false;
  do {
    if (!parse_range(reader, star)) return false;
  } while (cron_take(reader, ','));
  return reader->text == reader->end || cron_refuse_sign(reader);
}

/* A duration as Go writes it, "1h30m" or "1.5s", in seconds; -1 when it is none. */
static double go_duration(const char *text) {
  static const struct {
    const char *name;
    double seconds;
  } units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"µs", 1e-6}, {"μs", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}};
  double sum = 0;
  if (*text == '\0') return -1;
  while (*text != '\0') {
    double value = 0, scale = 1;
    const char *begin = text;
    for (; *text >= '0' && *text <= '9'; text++) value = value * 10 + (*text - '0');
    bool digits = text > begin;
    if (*text == '.') {
      for (text++; *text >= '0' && *text <= '9'; text++, digits = true) value += (*text - '0') / (scale *= 10);
    }
    size_t n = strcspn(text, ".0123456789"), unit = 0;
    const size_t n_units = sizeof units / sizeof *units;
    while (unit < n_units && (strlen(units[unit].name) != n || strncmp(text, units[unit].name, n) != 0)) unit++;
    if (!digits || unit == n_units) return -1;
    sum += value * units[unit].seconds;
    text += n;
  }
  return sum;
}

/* "@every 1h30m": so long after whatever came before, in whole seconds, one at least. */
static bool parse_every(Arena *arena, const char *text, DialectRule *ret, Error *err) {
  const double go_max = 9223372036.0;
  double seconds = go_duration(text);
  if (!(seconds >= 0 && seconds < go_max)) {
    error_set(err, ERR_SPEC, "'@every %.40s' is not a duration as Go writes it, which is what follows @every", text);
    return error_hint(err, "write hours, minutes and seconds: @every 1h30m, @every 90s");
  }
  interval_rule(arena, (Interval){.step = seconds < 1 ? 1 : (int64_t)floor(seconds + 1e-9)}, ret);
  return true;
}

/* TZ=ZONE or CRON_TZ=ZONE before the fields. NULL with an error when the dialect does not take it. */
static const char *take_zone(Arena *arena, const char *line, const CronDialect *dialect, DialectRule *ret, Error *err) {
  size_t key = strncmp(line, "TZ=", 3) == 0 ? 3 : strncmp(line, "CRON_TZ=", 8) == 0 ? 8 : 0;
  if (key == 0) return line;
  if (dialect == &kubernetes) {
    error_set(err, ERR_SPEC, "a zone in the schedule of a CronJob is refused by Kubernetes");
    (void)error_hint(err, "leave it out and write the CronJob's timeZone as the key 'zone'");
    return NULL;
  }
  size_t n = strcspn(line + key, " \t");
  ret->zone = arena_strndup(arena, line + key, n);
  return cron_trim(arena, line + key + n);
}

static bool make_rule(Arena *arena, CronReader readers[N_FIELDS], DialectRule *ret, Error *err) {
  bool star[N_FIELDS];
  for (int i = 0; i < N_FIELDS; i++) {
    readers[i].field = &fields[i];
    if (!parse_field(&readers[i], &star[i])) return false;
  }
  CronRule *rule = arena_alloc(arena, sizeof *rule);
  *rule = (CronRule){.seconds = readers[SECOND].bits,
                     .minutes = readers[MINUTE].bits,
                     .hours = (uint32_t)readers[HOUR].bits,
                     .months = (uint32_t)readers[MONTH].bits,
                     .days = {.of_month = (uint32_t)readers[DAY].bits,
                              .weekdays = (uint8_t)readers[WEEKDAY].bits,
                              .both_sides = star[DAY] || star[WEEKDAY]}};
  if (!cron_check_fires(rule, err)) return false;
  CronRule *every_month = arena_alloc(arena, sizeof *every_month);
  *every_month = *rule;
  every_month->months = CRON_ALL_MONTHS;
  ret->rule = rule;
  ret->next = cron_next;
  /* spec.go begins anew where an hour is 0 or a day the 1st, and a gap at midnight leads past both. */
  ret->spills = every_month;
  return true;
}

static bool parse(const CronDialect *dialect, Arena *arena, const char *expression, DialectRule *ret, Error *err) {
  static const char every[] = "@every ", no_second[] = "0";
  const char *line = take_zone(arena, cron_trim(arena, expression), dialect, ret, err);
  if (line == NULL) return false;
  if (strncmp(line, every, sizeof every - 1) == 0)
    return parse_every(arena, cron_trim(arena, line + sizeof every - 1), ret, err);
  if (*line == '@') {
    size_t i = 0;
    while (i < sizeof shorthands / sizeof *shorthands && strcmp(line, shorthands[i].name) != 0) i++;
    if (i == sizeof shorthands / sizeof *shorthands) return cron_refuse_shorthand(dialect, line, err);
    line = shorthands[i].expression;
  }
  /* Without seconds there is one field less, and 0 in its place. */
  CronReader readers[N_FIELDS + 1];
  int n = cron_split(line, dialect, err, readers + 1, N_FIELDS);
  readers[0] = (CronReader){.dialect = dialect, .text = no_second, .end = no_second + 1, .err = err};
  if (n == N_FIELDS - 1) return make_rule(arena, readers, ret, err);
  if (n == N_FIELDS && dialect == &robfig) return make_rule(arena, readers + 1, ret, err);
  error_set(err, ERR_SPEC, "a %s schedule has %s fields (%s), not %d", dialect->name,
            dialect == &robfig ? "5 or 6" : "5", dialect->order, n);
  return error_hint(err, "write all of them, with * where any value will do%s",
                    dialect == &kubernetes && n == N_FIELDS ? "; a CronJob has no seconds" : "");
}

static bool robfig_parse(Arena *arena, const char *expression, DialectRule *ret, Error *err) {
  return parse(&robfig, arena, expression, ret, err);
}

static bool kubernetes_parse(Arena *arena, const char *expression, DialectRule *ret, Error *err) {
  return parse(&kubernetes, arena, expression, ret, err);
}

const Dialect dialect_robfig = {.gap = GAP_SKIP, .overlap = OVERLAP_BOTH, .parse = robfig_parse};
const Dialect dialect_kubernetes = {.gap = GAP_SKIP, .overlap = OVERLAP_BOTH, .parse = kubernetes_parse};
