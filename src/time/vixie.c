#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "time/dialect.h"

/* Bit i is set when the value i matches. Sunday is bit 0 alone. */
typedef struct Rule {
  uint64_t minutes;
  uint32_t hours, days, months, weekdays;
  bool both_days; /* AND of the two day fields; else OR */
} Rule;

typedef struct Field {
  const char *name;
  int min, max;
  const char *const *names; /* of the values from min on; NULL when it has none */
} Field;

static const char *const month_names[] = {"jan", "feb", "mar", "apr", "may", "jun", "jul",
                                          "aug", "sep", "oct", "nov", "dec", NULL};
static const char *const weekday_names[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL};

enum { MINUTE, HOUR, DAY, MONTH, WEEKDAY, N_FIELDS };
static const Field fields[N_FIELDS] = {[MINUTE] = {"minute", 0, 59, NULL},
                                       [HOUR] = {"hour", 0, 23, NULL},
                                       [DAY] = {"day of month", 1, 31, NULL},
                                       [MONTH] = {"month", 1, 12, month_names},
                                       [WEEKDAY] = {"day of week", 0, 7, weekday_names}};

static const struct {
  const char *name, *expression;
} shorthands[] = {{"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
                  {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
                  {"@hourly", "0 * * * *"}};

/* One field being read; `text` goes forward over it. */
typedef struct Reader {
  const Field *field;
  const char *text, *end;
  Error *err;
} Reader;

/* The text of the whole field is in [text, end) when an error is made of it. */
static bool field_error(Reader *reader, const char *why, const char *hint) {
  error_set(reader->err, ERR_SPEC, "the %s field of the schedule: %s", reader->field->name, why);
  return error_hint(reader->err, "%s", hint);
}

/* What other dialects write here, and what to do instead. */
static bool foreign_sign(Reader *reader) {
  static const char pause[] =
      "no idle hour can be computed from it: give the minutes at which it really fires, or leave the schedule out and "
      "pause that job while the backfill works";
  const char *word = reader->text;
  char c = word < reader->end ? (char)toupper((unsigned char)*word) : '\0';
  switch (c) {
    case '~':
      return field_error(reader, "'~' is a time picked at random when crond starts, which cannot be predicted", pause);
    case 'H':
      return field_error(reader, "'H' is a hash of the job's name (Jenkins, croniter), which cannot be predicted",
                         pause);
    case 'R':
      return field_error(reader, "'R' is a random time (croniter), which cannot be predicted", pause);
    case '#':
      return field_error(reader, "'#' (the n-th weekday of a month) is not of the vixie dialect",
                         "write the days of the month it can be, as in '0 9 */32,1-7 * mon' for the first Monday");
    case 'L':
      return field_error(reader, "'L' (the last day) is not of the vixie dialect",
                         "write every day it can be, such as 28-31: that only closes more time than needed");
    case 'W':
      return field_error(reader, "'W' (the nearest working day) is not of the vixie dialect",
                         "write every day it can be, such as 14-16: that only closes more time than needed");
    case '?':
      return field_error(reader, "'?' is of the Quartz dialect", "write * where any value will do");
    default:
      break;
  }
  error_set(reader->err, ERR_SPEC, "the %s field of the schedule: '%.*s' is not understood", reader->field->name,
            (int)(reader->end - word > 40 ? 40 : reader->end - word), word);
  return error_hint(reader->err, "write * or numbers %d-%d%s, as ranges 1-5, lists 1,2 or steps */2 and 1-9/2",
                    reader->field->min, reader->field->max,
                    reader->field->names == NULL ? "" : " or three-letter English names");
}

static bool take(Reader *reader, char c) {
  if (reader->text == reader->end || *reader->text != c) return false;
  reader->text++;
  return true;
}

static bool take_digits(Reader *reader, int *ret) {
  int value = 0;
  const char *begin = reader->text;
  for (; reader->text < reader->end && isdigit((unsigned char)*reader->text); reader->text++)
    if (value < 100000) value = value * 10 + (*reader->text - '0');
  *ret = value;
  return reader->text > begin;
}

/* A number in the field's range, or one of its names. */
static bool take_value(Reader *reader, int *ret) {
  const Field *field = reader->field;
  const char *begin = reader->text;
  if (take_digits(reader, ret)) {
    if (*ret >= field->min && *ret <= field->max) return true;
    error_set(reader->err, ERR_SPEC, "the %s field of the schedule: %.*s is not from %d to %d", field->name,
              (int)(reader->text - begin > 20 ? 20 : reader->text - begin), begin, field->min, field->max);
    return error_hint(reader->err, "the fields are minute, hour, day of month, month, day of week");
  }
  while (reader->text < reader->end && isalpha((unsigned char)*reader->text)) reader->text++;
  size_t n = (size_t)(reader->text - begin);
  for (int i = 0; n == 3 && field->names != NULL && field->names[i] != NULL; i++)
    if (strncasecmp(begin, field->names[i], n) == 0) {
      *ret = field->min + i;
      return true;
    }
  reader->text = begin;
  return foreign_sign(reader);
}

static bool take_step(Reader *reader, int *ret) {
  if (!take_digits(reader, ret)) return foreign_sign(reader);
  return *ret > 0 || field_error(reader, "a step of 0 never ends", "write a step of 1 or more");
}

static bool take_range(Reader *reader, int *ret_first, int *ret_last) {
  if (take(reader, '*')) {
    *ret_first = reader->field->min;
    *ret_last = reader->field->max;
    return true;
  }
  if (!take_value(reader, ret_first)) return false;
  *ret_last = *ret_first;
  if (!take(reader, '-')) {
    if (reader->text < reader->end && *reader->text == '/')
      return field_error(reader, "a step after a single value means nothing to cron",
                         "write the range that it goes over, such as 5-59/15 or */15");
    return true;
  }
  if (!take_value(reader, ret_last)) return false;
  if (*ret_last >= *ret_first) return true;
  return field_error(reader, "a range ends before it begins, which cron refuses",
                     "write it as a list of two, such as 22-23,0-4 (fri-7 for Friday to Sunday)");
}

/* The list of one field as bits. */
static bool parse_field(Reader *reader, uint64_t *ret_bits) {
  uint64_t bits = 0;
  do {
    int first, last, step = 1;
    if (!take_range(reader, &first, &last)) return false;
    if (take(reader, '/') && !take_step(reader, &step)) return false;
    for (int value = first; value <= last; value += step) bits |= UINT64_C(1) << value;
  } while (take(reader, ','));
  if (reader->text < reader->end) return foreign_sign(reader);
  *ret_bits = bits;
  return true;
}

static bool refuse_keyword(const char *expression, Error *err) {
  if (strcasecmp(expression, "@reboot") == 0) {
    error_set(err, ERR_SPEC, "@reboot fires when the machine starts, which cannot be predicted");
    return error_hint(err, "leave the schedule out and pause that job while the backfill works");
  }
  error_set(err, ERR_SPEC, "'%.40s' is not a shorthand of the vixie dialect", expression);
  return error_hint(err, "write five fields, or one of @hourly @daily @midnight @weekly @monthly @yearly @annually");
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* Splits the line into its fields; their number must be right. */
static bool split(const char *line, Reader readers[N_FIELDS], Error *err) {
  int n = 0;
  while (*line != '\0') {
    const char *end = line;
    while (*end != '\0' && !is_blank(*end)) end++;
    if (n < N_FIELDS) readers[n] = (Reader){&fields[n], line, end, err};
    n++;
    for (line = end; is_blank(*line);) line++;
  }
  if (n == N_FIELDS) return true;
  error_set(err, ERR_SPEC, "a vixie schedule has 5 fields (minute, hour, day of month, month, day of week), not %d", n);
  return error_hint(err, n > N_FIELDS ? "leave out seconds, years, the user and the command; a zone has its own key"
                                      : "write all five, with * where any value will do");
}

static bool vixie_next(const void *rule, const Civil *from, Civil *ret);

static bool check_fires(const Rule *rule, Error *err) {
  Civil any = {.year = 2000, .month = 1, .day = 1}, fire;
  if (vixie_next(rule, &any, &fire)) return true;
  error_set(err, ERR_SPEC, "the schedule never fires: the months named have no such day");
  return error_hint(err, "correct the day of month or the month, or leave the schedule out if nothing is scheduled");
}

static bool vixie_parse(Arena *arena, const char *expression, DialectRule *ret, Error *err) {
  Reader readers[N_FIELDS];
  uint64_t bits[N_FIELDS];
  while (is_blank(*expression)) expression++;
  size_t n = strlen(expression);
  while (n > 0 && is_blank(expression[n - 1])) n--;
  const char *line = arena_strndup(arena, expression, n);
  if (*line == '@') {
    const char *long_form = NULL;
    for (size_t i = 0; i < sizeof shorthands / sizeof *shorthands; i++)
      if (strcmp(line, shorthands[i].name) == 0) long_form = shorthands[i].expression;
    if (long_form == NULL) return refuse_keyword(line, err);
    line = long_form;
  }
  if (!split(line, readers, err)) return false;
  bool star = *readers[DAY].text == '*' || *readers[WEEKDAY].text == '*';
  for (int i = 0; i < N_FIELDS; i++)
    if (!parse_field(&readers[i], &bits[i])) return false;

  Rule *rule = arena_alloc(arena, sizeof *rule);
  rule->minutes = bits[MINUTE];
  rule->hours = (uint32_t)bits[HOUR];
  rule->days = (uint32_t)bits[DAY];
  rule->months = (uint32_t)bits[MONTH];
  rule->weekdays = (uint32_t)((bits[WEEKDAY] | bits[WEEKDAY] >> 7) & 0x7f);
  rule->both_days = star;
  if (!check_fires(rule, err)) return false;
  ret->rule = rule;
  ret->next = vixie_next;
  return true;
}

/* The days of the month that match, as bits 1–31. */
static uint32_t month_days(const Rule *rule, int year, int month) {
  if ((rule->months >> month & 1) == 0) return 0;
  int first = civil_weekday(civil_to_days(year, month, 1));
  uint32_t weekdays = 0;
  for (int i = 0; i < 7; i++)
    if (rule->weekdays >> (first + i) % 7 & 1) weekdays |= UINT32_C(0x10204081) << i; /* every seventh bit */
  weekdays <<= 1;
  uint32_t days = rule->both_days ? rule->days & weekdays : rule->days | weekdays;
  return days & (uint32_t)((UINT64_C(2) << civil_month_days(year, month)) - 2);
}

/* The first set bit at or after `from`, -1 if there is none. */
static int next_bit(uint64_t bits, int from) {
  bits = from > 63 ? 0 : bits >> from << from;
  return bits == 0 ? -1 : __builtin_ctzll(bits);
}

/* The first matching hour and minute of a day at or after the time given. */
static bool next_time(const Rule *rule, int hour, int minute, Civil *ret) {
  int h = next_bit(rule->hours, hour);
  int m = h == hour ? next_bit(rule->minutes, minute) : next_bit(rule->minutes, 0);
  if (h == hour && m < 0) {
    h = next_bit(rule->hours, hour + 1);
    m = next_bit(rule->minutes, 0);
  }
  if (h < 0) return false;
  ret->hour = h;
  ret->minute = m;
  return true;
}

static bool vixie_next(const void *opaque, const Civil *from, Civil *ret) {
  const Rule *rule = opaque;
  int day = from->day, hour = from->hour, minute = from->minute + (from->second > 0);
  for (int year = from->year, month = from->month; year <= CIVIL_YEAR_MAX;) {
    uint32_t days = month_days(rule, year, month);
    for (day = next_bit(days, day); day > 0; day = next_bit(days, day + 1)) {
      Civil fire = {.year = year, .month = month, .day = day};
      bool today = year == from->year && month == from->month && day == from->day;
      if (!next_time(rule, today ? hour : 0, today ? minute : 0, &fire)) continue;
      *ret = fire;
      return true;
    }
    day = 1;
    year += month == 12;
    month = month % 12 + 1;
  }
  return false;
}

const Dialect dialect_vixie = {GAP_SKIP, OVERLAP_BOTH, false, vixie_parse};
