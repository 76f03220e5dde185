#include "time/quartz_field.h"

#include <ctype.h>

static const CronField fields[QUARTZ_FIELDS] = {
    [QUARTZ_SECOND] = {"second", 0, 59, NULL, 0},      [QUARTZ_MINUTE] = {"minute", 0, 59, NULL, 0},
    [QUARTZ_HOUR] = {"hour", 0, 23, NULL, 0},          [QUARTZ_DAY] = {"day of month", 1, 31, NULL, 0},
    [QUARTZ_MONTH] = {"month", 1, 12, cron_months, 1}, [QUARTZ_WEEKDAY] = {"day of week", 1, 7, cron_weekdays, 1},
    [QUARTZ_YEAR] = {"year", 1970, 2199, NULL, 0}};

/* Letters are read in any case. */
static bool take_letter(CronReader *reader, char upper) {
  return cron_take(reader, upper) || cron_take(reader, (char)tolower(upper));
}

static bool at_end(const CronReader *reader) { return reader->text == reader->end; }

static bool has(const CronReader *reader, char c) {
  for (const char *at = reader->text; at < reader->end; at++)
    if (toupper((unsigned char)*at) == c) return true;
  return false;
}

/* A step that is not above the values that the field has. */
static bool take_step(CronReader *reader, int *ret) {
  const CronField *field = reader->field;
  if (!cron_take_step(reader, ret)) return false;
  int most = field->min == 0 ? field->max : field->max - field->min + 1;
  return reader->years != NULL || *ret <= most ||
         cron_refuse(reader, "a step goes beyond the field", "write a smaller step, or the value alone");
}

/* The values from first to last, over the end of the field when last comes before first. */
static bool add_range(const QuartzForm *form, CronReader *reader, int first, int last, int step) {
  const CronField *field = reader->field;
  int span = field->max - field->min + 1;
  if (last >= first) {
    cron_add(reader, first, last, step);
    return true;
  }
  if (!form->wraps || reader->years != NULL)
    return cron_refuse(reader, "a range ends before it begins", "write it as a list of two, such as 22-23,0-4");
  for (int value = first; value <= last + span; value += step) {
    int at = (value - field->min) % span + field->min;
    cron_add(reader, at, at, 1);
  }
  return true;
}

/* One part of a list of plain values. */
static bool parse_range(const QuartzForm *form, CronReader *reader) {
  const CronField *field = reader->field;
  int first = field->min, last = field->max, step = 1;
  bool named = cron_word(reader) > 0;
  if (cron_take(reader, '*') || (form->offsets && reader->text < reader->end && *reader->text == '/')) {
    if (cron_take(reader, '/') && !take_step(reader, &step)) return false;
    return add_range(form, reader, first, last, step);
  }
  if (!cron_take_value(reader, &first)) return false;
  if (cron_take(reader, '-')) {
    if ((cron_word(reader) > 0) != named)
      return cron_refuse(reader, "a range has a name at one end and a number at the other", "write both as numbers");
    if (!cron_take_value(reader, &last)) return false;
    if (cron_take(reader, '/')) {
      if (named)
        return cron_refuse(reader, "a step after names is left out of account by Quartz", "write numbers: 2-6/2");
      if (!cron_take_step(reader, &step)) return false;
    }
    return add_range(form, reader, first, last, step);
  }
  if (!cron_take(reader, '/')) return add_range(form, reader, first, first, 1);
  if (named) return cron_refuse(reader, "a step after a name is left out of account by Quartz", "write numbers: 2/2");
  return take_step(reader, &step) && add_range(form, reader, first, last, step);
}

static bool parse_list(const QuartzForm *form, CronReader *reader) {
  do {
    if (!parse_range(form, reader)) return false;
  } while (cron_take(reader, ','));
  return at_end(reader) || cron_refuse_sign(reader);
}

/* "L", "L-3", "LW", "L-3W", after the L. */
static bool parse_last_day(const QuartzForm *form, CronReader *reader, CronDays *days) {
  int before = 0;
  if (form->offsets && cron_take(reader, '-')) {
    if (!cron_take_digits(reader, &before)) return cron_refuse_sign(reader);
    if (before > 30) return cron_refuse(reader, "L goes back more than 30 days", "write L-30 or less");
  }
  if (take_letter(reader, 'W')) {
    days->workdays_from_end = UINT32_C(1) << before;
  } else {
    days->from_end = UINT32_C(1) << before;
  }
  return at_end(reader) || cron_refuse_sign(reader);
}

static bool parse_day(const QuartzForm *form, CronReader *reader, CronDays *days) {
  static const char one[] = "write it alone: several schedules are several jobs here";
  if (has(reader, ',') && (has(reader, 'L') || has(reader, 'W')))
    return cron_refuse(reader, "L and W have no place in a list", one);
  if (take_letter(reader, 'L')) return parse_last_day(form, reader, days);
  if (has(reader, 'W')) {
    int day;
    if (!cron_take_value(reader, &day)) return false;
    days->workdays = UINT32_C(1) << day;
    days->spill_workdays = true;
    return (take_letter(reader, 'W') && at_end(reader)) || cron_refuse_sign(reader);
  }
  if (!parse_list(form, reader)) return false;
  days->of_month = (uint32_t)reader->bits;
  return true;
}

static bool parse_weekday(const QuartzForm *form, CronReader *reader, CronDays *days) {
  int weekday, n;
  const char *begin = reader->text;
  bool list = has(reader, ',');
  if (!list && take_letter(reader, 'L') && at_end(reader)) {
    days->weekdays = 1 << 6;
    return true;
  }
  reader->text = begin;
  bool nth = has(reader, '#'), last = toupper((unsigned char)reader->end[-1]) == 'L';
  if (list && (nth || has(reader, 'L')))
    return cron_refuse(reader, "L and # have no place in a list", "write one of them alone, or the weekdays as a list");
  if (!nth && !last) {
    if (!parse_list(form, reader)) return false;
    days->weekdays = (uint8_t)(reader->bits >> 1);
    return true;
  }
  /* FRIL: the name is the three letters before the L. */
  const char *end = reader->end;
  if (last) reader->end--;
  bool good = cron_take_value(reader, &weekday);
  reader->end = end;
  if (!good) return false;
  if (last) {
    days->nth[0] = (uint8_t)(1u << (weekday - 1));
    reader->text = reader->text + 1 == end ? end : reader->text;
    return at_end(reader) || cron_refuse_sign(reader);
  }
  if (!cron_take(reader, '#') || !cron_take_digits(reader, &n) || !at_end(reader)) return cron_refuse_sign(reader);
  if (n < 1 || n > 5) return cron_refuse(reader, "a month has no such weekday", "write #1 to #5, or L for the last");
  days->nth[n] = (uint8_t)(1u << (weekday - 1));
  return true;
}

static bool is_open(const CronReader *reader) { return reader->end == reader->text + 1 && *reader->text == '?'; }

/* Both day fields, of which one is "?". */
static bool parse_days(const QuartzForm *form, CronReader readers[QUARTZ_FIELDS], CronDays *days, Error *err) {
  bool any_day = is_open(&readers[QUARTZ_DAY]), any_weekday = is_open(&readers[QUARTZ_WEEKDAY]);
  *days = (CronDays){.both_sides = true};
  if (any_day == any_weekday) {
    error_set(err, ERR_SPEC, "%s of the two day fields of the schedule is '?', and %s takes exactly one",
              any_day ? "each" : "none", readers[QUARTZ_DAY].dialect->name);
    return error_hint(err, "write ? for the day that does not count: day of month or day of week");
  }
  if (any_day) {
    days->of_month = CRON_ALL_DAYS;
    return parse_weekday(form, &readers[QUARTZ_WEEKDAY], days);
  }
  days->weekdays = CRON_ALL_WEEKDAYS;
  return parse_day(form, &readers[QUARTZ_DAY], days);
}

bool quartz_read(Arena *arena, const QuartzForm *form, CronReader readers[QUARTZ_FIELDS], DialectRule *ret,
                 Error *err) {
  CronRule *rule = arena_alloc(arena, sizeof *rule);
  CronYears *years = arena_alloc(arena, sizeof *years);
  *years = (CronYears){0};
  const CronField year = {"year", 1970, form->last_year, NULL, 0};
  for (int i = 0; i < QUARTZ_FIELDS; i++) readers[i].field = &fields[i];
  readers[QUARTZ_YEAR].field = &year;
  readers[QUARTZ_YEAR].years = years;
  *rule = (CronRule){0};
  if (!parse_days(form, readers, &rule->days, err)) return false;
  for (int i = 0; i < QUARTZ_FIELDS; i++)
    if (i != QUARTZ_DAY && i != QUARTZ_WEEKDAY && !parse_list(form, &readers[i])) return false;
  rule->seconds = readers[QUARTZ_SECOND].bits;
  rule->minutes = readers[QUARTZ_MINUTE].bits;
  rule->hours = (uint32_t)readers[QUARTZ_HOUR].bits;
  rule->months = (uint32_t)readers[QUARTZ_MONTH].bits;
  rule->years = years;
  if (!cron_check_fires(rule, err)) return false;
  ret->rule = rule;
  ret->next = cron_next;
  return true;
}
