#include <string.h>

#include "time/cron_field.h"

/* cron-parser of npm as its release 5 has it: README.md, src/CronExpressionParser.ts, src/CronExpression.ts. */

enum { SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY, N_FIELDS };
static const CronField fields[N_FIELDS] = {
    [SECOND] = {"second", 0, 59, NULL, 0},      [MINUTE] = {"minute", 0, 59, NULL, 0},
    [HOUR] = {"hour", 0, 23, NULL, 0},          [DAY] = {"day of month", 1, 31, NULL, 0},
    [MONTH] = {"month", 1, 12, cron_months, 1}, [WEEKDAY] = {"day of week", 0, 7, cron_weekdays, 0}};

static const CronDialect names = {
    "cron-parser", "perhaps second, then minute, hour, day of month, month, day of week",
    "@secondly @minutely @hourly @daily @weekly @weekdays @weekends @monthly @yearly @annually"};

static const CronShorthand shorthands[] = {{"@yearly", "0 0 0 1 1 *"},     {"@annually", "0 0 0 1 1 *"},
                                           {"@monthly", "0 0 0 1 * *"},    {"@weekly", "0 0 0 * * 0"},
                                           {"@daily", "0 0 0 * * *"},      {"@hourly", "0 0 * * * *"},
                                           {"@minutely", "0 * * * * *"},   {"@secondly", "* * * * * *"},
                                           {"@weekdays", "0 0 0 * * 1-5"}, {"@weekends", "0 0 0 * * 0,6"}};

static bool is_any(const CronReader *reader) {
  return reader->end - reader->text == 1 && (*reader->text == '*' || *reader->text == '?');
}

static bool twice(CronReader *reader) {
  return cron_refuse(reader, "cron-parser refuses a value that its list holds twice", "write each value once");
}

/* Adds what is not there yet; a value that is there twice is refused, as it is there. */
static bool add(CronReader *reader, int first, int last, int step) {
  CronReader piece = *reader;
  piece.bits = 0;
  cron_add(&piece, first, last, step);
  if (reader->field == &fields[WEEKDAY]) piece.bits = (piece.bits | piece.bits >> 7) & CRON_ALL_WEEKDAYS;
  if (reader->bits & piece.bits) return twice(reader);
  reader->bits |= piece.bits;
  return true;
}

/* A number or a name, which an L may follow without a sign between. */
static bool take_value(CronReader *reader, int *ret) {
  CronReader value = *reader;
  if (reader->field == &fields[WEEKDAY] && cron_word(reader) == 4 && reader->text[3] == 'L')
    value.end = reader->text + 3;
  if (!cron_take_value(&value, ret)) return false;
  reader->text = value.text;
  return true;
}

static bool take_piece(CronReader *reader, CronDays *days) {
  const CronField *field = reader->field;
  int first = field->min, last = field->max, step = 1;
  if (field == &fields[DAY] && cron_take(reader, 'L')) {
    if (days->from_end != 0) return twice(reader);
    days->from_end = 1;
    return true;
  }
  bool any = cron_take(reader, '*') || cron_take(reader, '?'), range = any;
  if (!any && !take_value(reader, &first)) return false;
  if (!any && field == &fields[WEEKDAY] && cron_take(reader, 'L')) {
    if (days->nth[0] >> first % 7 & 1) return twice(reader);
    days->nth[0] |= (uint8_t)(1 << first % 7);
    return true;
  }
  if (!any && cron_take(reader, '-')) {
    if (!cron_take_value(reader, &last)) return false;
    if (last < first)
      return cron_refuse(reader, "a range ends before it begins, which cron-parser refuses",
                         "write it as a list of two, such as 22-23,0-4");
    range = true;
  }
  bool stepped = cron_take(reader, '/');
  if (stepped && !cron_take_step(reader, &step)) return false;
  return add(reader, first, range || stepped ? last : first, step);
}

/* A weekday alone and which of the month it is. */
static bool take_nth(CronReader *reader, CronDays *days) {
  int day, n = 0;
  if (!cron_take_value(reader, &day)) return false;
  if (!cron_take(reader, '#') || !cron_take_digits(reader, &n) || n < 1 || n > 5 || reader->text != reader->end)
    return cron_refuse(reader, "'#' stands after one weekday alone, and a number from 1 to 5 after it",
                       "write one such as 5#2");
  days->nth[n] = (uint8_t)(1 << day % 7);
  return true;
}

static bool parse_field(CronReader *reader, CronDays *days) {
  if (reader->field == &fields[WEEKDAY] && memchr(reader->text, '#', (size_t)(reader->end - reader->text)) != NULL)
    return take_nth(reader, days);
  do {
    if (!take_piece(reader, days)) return false;
  } while (cron_take(reader, ','));
  return reader->text == reader->end || cron_refuse_sign(reader);
}

/* With all 24 hours it goes by the time that passed; else a missing time is moved, and a doubled one runs once. */
static bool cron_parser_parse(Arena *arena, const char *expression, DialectRule *ret, Error *err) {
  CronReader readers[N_FIELDS];
  CronDays days = {0};
  const char *line =
      cron_expand(&names, shorthands, sizeof shorthands / sizeof *shorthands, false, cron_trim(arena, expression), err);
  if (line == NULL || !cron_split_second_first(line, &names, err, readers)) return false;
  for (int i = 0; i < N_FIELDS; i++) readers[i].field = &fields[i];
  days.both_sides = is_any(&readers[DAY]) || is_any(&readers[WEEKDAY]);
  for (int i = 0; i < N_FIELDS; i++)
    if (!parse_field(&readers[i], &days)) return false;
  days.of_month = (uint32_t)readers[DAY].bits;
  days.weekdays = (uint8_t)readers[WEEKDAY].bits;
  CronRule *rule = arena_alloc(arena, sizeof *rule);
  *rule = (CronRule){.seconds = readers[SECOND].bits,
                     .minutes = readers[MINUTE].bits,
                     .hours = (uint32_t)readers[HOUR].bits,
                     .months = (uint32_t)readers[MONTH].bits,
                     .days = days};
  if (!cron_check_fires(rule, err)) return false;
  if (rule->hours == CRON_ALL_HOURS) {
    ret->gap = GAP_SKIP;
    ret->overlap = OVERLAP_BOTH;
  }
  ret->rule = rule;
  ret->next = cron_next;
  return true;
}

const Dialect dialect_cron_parser = {GAP_SHIFT, OVERLAP_FIRST, false, cron_parser_parse};
