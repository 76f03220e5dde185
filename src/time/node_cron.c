#include <string.h>
#include <strings.h>

#include "time/cron_field.h"

/*
 * node-cron of npm as its release 4.6 has it: src/pattern and src/time. Both day fields must match; a range that goes
 * down goes round the end of the field (up to 4.5 it was turned round); a step needs a range or `*`.
 */

enum { SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY, N_FIELDS };
static const CronField fields[N_FIELDS] = {
    [SECOND] = {"second", 0, 59, NULL, 0},      [MINUTE] = {"minute", 0, 59, NULL, 0},
    [HOUR] = {"hour", 0, 23, NULL, 0},          [DAY] = {"day of month", 1, 31, NULL, 0},
    [MONTH] = {"month", 1, 12, cron_months, 1}, [WEEKDAY] = {"day of week", 0, 7, cron_weekdays, 0}};

static const CronDialect names = {"node-cron", "perhaps second, then minute, hour, day of month, month, day of week",
                                  "@hourly @daily @midnight @weekly @monthly @yearly @annually"};

static const CronShorthand shorthands[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"}, {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},  {"@midnight", "0 0 * * *"}, {"@hourly", "0 * * * *"}};

static bool take_letter(CronReader *reader, char upper) {
  return cron_take(reader, upper) || cron_take(reader, (char)(upper + 'a' - 'A'));
}

/* A number or a name, written out or its first three letters, which an L may follow without a sign between. */
static bool take_value(CronReader *reader, int *ret) {
  const CronField *field = reader->field;
  size_t n = cron_word(reader);
  if (field == &fields[WEEKDAY] && n > 3 && (reader->text[n - 1] == 'L' || reader->text[n - 1] == 'l')) n--;
  for (int i = 0; n >= 3 && field->names != NULL && field->names[i] != NULL; i++) {
    if ((n != 3 && n != strlen(field->names[i])) || strncasecmp(reader->text, field->names[i], n) != 0) continue;
    reader->text += n;
    *ret = field->first_name + i;
    return true;
  }
  return cron_take_value(reader, ret);
}

/* Round the end of the field if need be, in steps that go on evenly. */
static void add_range(CronReader *reader, int first, int last, int step) {
  const CronField *field = reader->field;
  int max = field == &fields[WEEKDAY] ? 6 : field->max, size = max - field->min + 1;
  if (first <= last) {
    cron_add(reader, first, last, step);
    return;
  }
  for (int value = first; value <= last + size; value += step) {
    int round = value > max ? value - size : value;
    cron_add(reader, round, round, 1);
  }
}

static bool bad_day(CronReader *reader) {
  return cron_refuse(reader, "an offset or a day is out of reach", "write L-1 to L-30, 1W to 31W, 5L or 5#1 to 5#5");
}

/* L, LW and L-3. */
static bool take_last(CronReader *reader, CronDays *days) {
  int offset = 0;
  if (take_letter(reader, 'W')) {
    days->workdays_from_end |= 1;
    return true;
  }
  if (cron_take(reader, '-') && (!cron_take_digits(reader, &offset) || offset < 1 || offset > 30))
    return bad_day(reader);
  days->from_end |= UINT32_C(1) << offset;
  return true;
}

static bool take_piece(CronReader *reader, CronDays *days) {
  const CronField *field = reader->field;
  bool is_day = field == &fields[DAY], is_weekday = field == &fields[WEEKDAY];
  int first = field->min, last = is_weekday ? 6 : field->max, step = 1, n = 0;
  if (is_day && take_letter(reader, 'L')) return take_last(reader, days);
  bool any = cron_take(reader, '*'), range = any;
  if (!any && !take_value(reader, &first)) return false;
  if (is_day && !any && take_letter(reader, 'W')) {
    days->workdays |= UINT32_C(1) << first;
    return true;
  }
  if (is_weekday && !any && take_letter(reader, 'L')) {
    days->nth[0] |= (uint8_t)(1 << first % 7);
    return true;
  }
  if (is_weekday && !any && cron_take(reader, '#')) {
    if (!cron_take_digits(reader, &n) || n < 1 || n > 5) return bad_day(reader);
    days->nth[n] |= (uint8_t)(1 << first % 7);
    return true;
  }
  if (!any && cron_take(reader, '-')) {
    if (!take_value(reader, &last)) return false;
    range = true;
  }
  if (range && cron_take(reader, '/') && !cron_take_step(reader, &step)) return false;
  if (!range) last = first;
  add_range(reader, first, last, step);
  return true;
}

static bool parse_field(CronReader *reader, CronDays *days) {
  bool day_field = reader->field == &fields[DAY] || reader->field == &fields[WEEKDAY];
  if (day_field && reader->end - reader->text == 1 && *reader->text == '?') {
    cron_add(reader, reader->field->min, reader->field->max, 1);
    return true;
  }
  do {
    if (!take_piece(reader, days)) return false;
  } while (cron_take(reader, ','));
  if (reader->text < reader->end && *reader->text == '/')
    return cron_refuse(reader, "a step after a single value means nothing to node-cron",
                       "write the range that it goes over, such as 5-59/15 or */15");
  return reader->text == reader->end || cron_refuse_sign(reader);
}

static bool node_cron_parse(Arena *arena, const char *expression, DialectRule *ret, Error *err) {
  CronReader readers[N_FIELDS];
  CronDays days = {.both_sides = true};
  const char *line =
      cron_expand(&names, shorthands, sizeof shorthands / sizeof *shorthands, true, cron_trim(arena, expression), err);
  if (line == NULL || !cron_split_second_first(line, &names, err, readers)) return false;
  for (int i = 0; i < N_FIELDS; i++) readers[i].field = &fields[i];
  for (int i = 0; i < N_FIELDS; i++)
    if (!parse_field(&readers[i], &days)) return false;
  days.of_month = (uint32_t)readers[DAY].bits;
  days.weekdays = (uint8_t)((readers[WEEKDAY].bits | readers[WEEKDAY].bits >> 7) & CRON_ALL_WEEKDAYS);
  CronRule *rule = arena_alloc(arena, sizeof *rule);
  *rule = (CronRule){.seconds = readers[SECOND].bits,
                     .minutes = readers[MINUTE].bits,
                     .hours = (uint32_t)readers[HOUR].bits,
                     .months = (uint32_t)readers[MONTH].bits,
                     .days = days};
  if (!cron_check_fires(rule, err)) return false;
  ret->rule = rule;
  ret->next = cron_next;
  return true;
}

/* It runs a doubled time once: in the first pass west of Greenwich, in the second east of it. Both are named. */
const Dialect dialect_node_cron = {GAP_SKIP, OVERLAP_BOTH, false, node_cron_parse};
