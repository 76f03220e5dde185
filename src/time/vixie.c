#include <string.h>

#include "time/cron_field.h"

enum { MINUTE, HOUR, DAY, MONTH, WEEKDAY, N_FIELDS };
static const CronField fields[N_FIELDS] = {[MINUTE] = {"minute", 0, 59, NULL, 0},
                                           [HOUR] = {"hour", 0, 23, NULL, 0},
                                           [DAY] = {"day of month", 1, 31, NULL, 0},
                                           [MONTH] = {"month", 1, 12, cron_months, 1},
                                           [WEEKDAY] = {"day of week", 0, 7, cron_weekdays, 0}};

static const CronDialect names = {"vixie", "minute, hour, day of month, month, day of week",
                                  "@hourly @daily @midnight @weekly @monthly @yearly @annually"};

static const struct {
  const char *name, *expression;
} shorthands[] = {{"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
                  {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
                  {"@hourly", "0 * * * *"}};

static bool take_range(CronReader *reader, int *ret_first, int *ret_last) {
  if (cron_take(reader, '*')) {
    *ret_first = reader->field->min;
    *ret_last = reader->field->max;
    return true;
  }
  if (!cron_take_value(reader, ret_first)) return false;
  *ret_last = *ret_first;
  if (!cron_take(reader, '-')) {
    if (reader->text < reader->end && *reader->text == '/')
      return cron_refuse(reader, "a step after a single value means nothing to cron",
                         "write the range that it goes over, such as 5-59/15 or */15");
    return true;
  }
  if (!cron_take_value(reader, ret_last)) return false;
  if (*ret_last >= *ret_first) return true;
  return cron_refuse(reader, "a range ends before it begins, which cron refuses",
                     "write it as a list of two, such as 22-23,0-4 (fri-7 for Friday to Sunday)");
}

static bool parse_field(CronReader *reader) {
  do {
    int first, last, step = 1;
    if (!take_range(reader, &first, &last)) return false;
    if (cron_take(reader, '/') && !cron_take_step(reader, &step)) return false;
    cron_add(reader, first, last, step);
  } while (cron_take(reader, ','));
  return reader->text == reader->end || cron_refuse_sign(reader);
}

/* The line in its long form; NULL with an error when it begins with an "@" that is none of the shorthands. */
static const char *expand(const char *line, Error *err) {
  if (*line != '@') return line;
  for (size_t i = 0; i < sizeof shorthands / sizeof *shorthands; i++)
    if (strcmp(line, shorthands[i].name) == 0) return shorthands[i].expression;
  (void)cron_refuse_shorthand(&names, line, err);
  return NULL;
}

static bool split(const char *line, CronReader readers[N_FIELDS], Error *err) {
  int n = cron_split(line, &names, err, readers, N_FIELDS);
  if (n != N_FIELDS) {
    error_set(err, ERR_SPEC, "a vixie schedule has 5 fields (%s), not %d", names.order, n);
    return error_hint(err, n > N_FIELDS ? "leave out seconds, years, the user and the command"
                                        : "write all five, with * where any value will do");
  }
  for (int i = 0; i < N_FIELDS; i++) readers[i].field = &fields[i];
  return true;
}

/* CRON_TZ=ZONE before the five fields, as a crontab has it on a line of its own. */
static const char *take_zone(Arena *arena, const char *line, DialectRule *ret) {
  static const char key[] = "CRON_TZ=";
  if (strncmp(line, key, sizeof key - 1) != 0) return line;
  line += sizeof key - 1;
  size_t n = strcspn(line, " \t");
  ret->zone = arena_strndup(arena, line, n);
  return cron_trim(arena, line + n);
}

static bool vixie_parse(Arena *arena, const char *expression, DialectRule *ret, Error *err) {
  CronReader readers[N_FIELDS];
  const char *line = expand(take_zone(arena, cron_trim(arena, expression), ret), err);
  if (line == NULL || !split(line, readers, err)) return false;
  bool star = *readers[DAY].text == '*' || *readers[WEEKDAY].text == '*';
  for (int i = 0; i < N_FIELDS; i++)
    if (!parse_field(&readers[i])) return false;

  CronRule *rule = arena_alloc(arena, sizeof *rule);
  rule->seconds = 1;
  rule->minutes = readers[MINUTE].bits;
  rule->hours = (uint32_t)readers[HOUR].bits;
  rule->months = (uint32_t)readers[MONTH].bits;
  rule->days = (CronDays){.of_month = (uint32_t)readers[DAY].bits,
                          .weekdays = (readers[WEEKDAY].bits | readers[WEEKDAY].bits >> 7) & CRON_ALL_WEEKDAYS,
                          .both_sides = star};
  if (!cron_check_fires(rule, err)) return false;
  ret->rule = rule;
  ret->next = cron_next;
  return true;
}

const Dialect dialect_vixie = {GAP_SKIP, OVERLAP_BOTH, false, vixie_parse};
