#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "time/cron_field.h"

/*
 * croniter as its release 7.0 has it (README.rst, src/croniter/croniter.py), and what stands on it: Airflow
 * (timetables/_cron.py) and Dagster (_utils/schedules.py). Where its code and plain reading differ, its code counts.
 */

enum { MINUTE, HOUR, DAY, MONTH, WEEKDAY, SECOND, YEAR, N_FIELDS };
static const CronField fields[N_FIELDS] = {[MINUTE] = {"minute", 0, 59, NULL, 0},
                                           [HOUR] = {"hour", 0, 23, NULL, 0},
                                           [DAY] = {"day of month", 1, 31, NULL, 0},
                                           [MONTH] = {"month", 1, 12, cron_months, 1},
                                           [WEEKDAY] = {"day of week", 0, 7, cron_weekdays, 0},
                                           [SECOND] = {"second", 0, 59, NULL, 0},
                                           [YEAR] = {"year", 1970, 2099, NULL, 0}};

static const CronShorthand shorthands[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@quarterly", "0 0 1 */3 *"}, {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},    {"@hourly", "0 * * * *"}};

#define SHORTHANDS "@hourly @daily @midnight @weekly @monthly @quarterly @yearly @annually"
#define ORDER "minute, hour, day of month, month, day of week, then perhaps second, then perhaps year"
static const CronDialect croniter = {"croniter", ORDER, SHORTHANDS}, airflow = {"airflow", ORDER, SHORTHANDS},
                         dagster = {"dagster", "minute, hour, day of month, month, day of week", SHORTHANDS};

/* One expression while it is read. */
typedef struct Line {
  CronReader readers[N_FIELDS];
  CronYears *years;
  int n;
  bool star[N_FIELDS];     /* the field is, or lists, `*` */
  bool has_star[N_FIELDS]; /* the character stands somewhere in it */
  bool last_day;
  int workday;    /* of 15W; 0: none */
  uint8_t nth[6]; /* as in CronDays */
} Line;

static int field_max(const CronField *field) { return field == &fields[WEEKDAY] ? 6 : field->max; }

/* 7 is Sunday; months and days have no such second name. */
static int alias(const CronField *field, int value) { return field == &fields[WEEKDAY] && value == 7 ? 0 : value; }

static bool at_end(const CronReader *reader) { return reader->text == reader->end || *reader->text == ','; }

/*
 * From low up to the field's end and on from its beginning. After the end croniter leaves out as many values as the
 * step is longer than what was left of the field, which is one more than an even cycle would.
 */
static void add_wrapped(CronReader *reader, int low, int high, int step) {
  const CronField *field = reader->field;
  int max = field_max(field), last = low + (max - low) / step * step, left = max - last;
  int skip = last + step > max + 1 && left < step ? step - left : 0;
  cron_add(reader, low, max, step);
  cron_add(reader, field->min + skip, high, step);
}

static void add_range(CronReader *reader, int low, int high, int step) {
  const CronField *field = reader->field;
  low = alias(field, low);
  high = alias(field, high);
  if (low == high) /* equal bounds are the whole cycle */
    cron_add(reader, field->min, field_max(field), step);
  else if (low > high)
    add_wrapped(reader, low, high, step);
  else
    cron_add(reader, low, high, step);
}

static bool take_letter(CronReader *reader, char lower) {
  return cron_take(reader, lower) || cron_take(reader, (char)toupper((unsigned char)lower));
}

/* `*`, a value or a range, each perhaps with a step. */
static bool take_piece(Line *line, CronReader *reader) {
  const CronField *field = reader->field;
  int low, high, step = 1;
  if (cron_take(reader, '*')) {
    if (!cron_take(reader, '/')) {
      line->star[field - fields] = true;
      return true;
    }
    if (!cron_take_step(reader, &step)) return false;
    cron_add(reader, field->min, field_max(field), step);
    return true;
  }
  if (!cron_take_value(reader, &low)) return false;
  bool range = cron_take(reader, '-');
  high = field_max(field);
  if (range && field == &fields[DAY] && take_letter(reader, 'l'))
    high = 31;
  else if (range && !cron_take_value(reader, &high))
    return false;
  bool stepped = cron_take(reader, '/');
  if (stepped && !cron_take_step(reader, &step)) return false;
  if (range)
    add_range(reader, low, high, step);
  else
    cron_add(reader, alias(field, low), stepped ? high : alias(field, low), step);
  return true;
}

/* l, 15W and W15 of the day of month. True when there was one, or an error: then *ret_ok is false. */
static bool take_special_day(Line *line, CronReader *reader, bool *ret_ok) {
  const char *begin = reader->text;
  int day = 0;
  *ret_ok = true;
  if (take_letter(reader, 'l') && at_end(reader)) {
    line->last_day = true;
    return true;
  }
  reader->text = begin;
  bool before = take_letter(reader, 'w'), digits = cron_take_digits(reader, &day);
  if (!digits || (!before && !take_letter(reader, 'w'))) {
    reader->text = begin;
    return false;
  }
  if (day < 1 || day > 31)
    *ret_ok = cron_refuse(reader, "the day of W is not from 1 to 31", "write one such as 15W");
  else if (reader->text != reader->end || begin[-1] == ',')
    *ret_ok = cron_refuse(reader, "W stands with one day alone, not in a list or a range", "write one such as 15W");
  line->workday = day;
  return true;
}

/* What stands before "#": a weekday, or a range of two names, into `piece`. */
static bool take_nth_days(CronReader *piece) {
  int low, high = 0;
  bool name = piece->text < piece->end && isalpha((unsigned char)*piece->text);
  if (!cron_take_value(piece, &low)) return false;
  bool range = name && cron_take(piece, '-');
  if (range && cron_word(piece) > 0 && !cron_take_value(piece, &high)) return false;
  if (piece->text < piece->end || piece->text[-1] == '-')
    return cron_refuse(piece, "before '#' stand one weekday or two names", "write one such as fri#2 or mon-fri#2");
  if (range)
    add_range(piece, low, high, 1);
  else
    cron_add(piece, alias(piece->field, low), alias(piece->field, low), 1);
  return true;
}

/* L5 and 5#2, fri#2, mon-wed#2 of the day of week. As above. */
static bool take_special_weekday(Line *line, CronReader *reader, bool *ret_ok) {
  const char *begin = reader->text, *end = begin;
  int day = 0, n = 0;
  *ret_ok = true;
  while (end < reader->end && *end != ',' && *end != '#') end++;
  if (take_letter(reader, 'l') && reader->text < reader->end && isdigit((unsigned char)*reader->text)) {
    *ret_ok = cron_take_value(reader, &day) && (at_end(reader) || cron_refuse_sign(reader));
    line->nth[0] |= (uint8_t)(1 << alias(reader->field, day));
    return true;
  }
  reader->text = begin;
  if (end == reader->end || *end != '#') return false;
  CronReader piece = *reader;
  piece.end = end;
  piece.bits = 0;
  *ret_ok = take_nth_days(&piece);
  reader->text = end + 1;
  if (!*ret_ok) return true;
  if (!cron_take_digits(reader, &n) || n < 1 || n > 5)
    *ret_ok = cron_refuse(reader, "what follows '#' is not from 1 to 5", "write one such as fri#2, or L5 for the last");
  else if (!at_end(reader))
    *ret_ok = cron_refuse_sign(reader);
  else
    line->nth[n] |= (uint8_t)piece.bits;
  return true;
}

static bool parse_field(Line *line, int i) {
  CronReader *reader = &line->readers[i];
  reader->field = &fields[i];
  line->has_star[i] = memchr(reader->text, '*', (size_t)(reader->end - reader->text)) != NULL;
  if (i == YEAR) reader->years = line->years;
  if ((i == DAY || i == WEEKDAY) && reader->end - reader->text == 1 && *reader->text == '?') {
    line->star[i] = true;
    return true;
  }
  do {
    bool ok = true;
    bool special =
        (i == DAY && take_special_day(line, reader, &ok)) || (i == WEEKDAY && take_special_weekday(line, reader, &ok));
    if (!ok || (!special && !take_piece(line, reader))) return false;
  } while (cron_take(reader, ','));
  return reader->text == reader->end || cron_refuse_sign(reader);
}

/* croniter counts what the list holds, of which `l` is one more. */
static bool is_whole(const Line *line, int i) {
  const CronReader *reader = &line->readers[i];
  int size = field_max(&fields[i]) - fields[i].min + 1, n = i == DAY && line->last_day;
  if (i != YEAR) return n + __builtin_popcountll(reader->bits) == size;
  for (int value = fields[i].min; value <= fields[i].max; value++) n += line->years->bits[value / 64] >> value % 64 & 1;
  return n == size;
}

/* A list of every value is `*`, but for a day field beside one that has no `*`. */
static void find_whole_fields(Line *line) {
  for (int i = 0; i < line->n; i++) {
    if (!is_whole(line, i)) continue;
    if (i == DAY && !line->has_star[WEEKDAY]) continue;
    if (i == WEEKDAY && !line->has_star[DAY]) continue;
    line->star[i] = true;
  }
}

/* The values that match; those of a star are all. */
static uint64_t values_of(const Line *line, int i) {
  return line->star[i] ? (UINT64_C(2) << field_max(&fields[i])) - (UINT64_C(1) << fields[i].min)
                       : line->readers[i].bits;
}

static uint8_t nth_weekdays(const Line *line) {
  uint8_t days = 0;
  for (int n = 0; n <= 5; n++) days |= line->nth[n];
  return days;
}

/* To croniter `*` in a list is one more value, and seven of them are every day. */
static bool check_weekdays(Line *line) {
  uint8_t nth = nth_weekdays(line), plain = (uint8_t)line->readers[WEEKDAY].bits;
  int values = __builtin_popcount(plain | nth) + line->star[WEEKDAY];
  if (nth == 0 || (plain & ~nth) == 0 || values == 7) return true;
  return cron_refuse(&line->readers[WEEKDAY], "croniter refuses a list of plain weekdays and of n-th or last ones",
                     "write it as two schedules");
}

/*
 * The days that match. Both fields set are OR, by croniter's code of a union of two searches, each with the other
 * field left free. What `#`, `L5` and `W` ask is not left free there: beside them the plain field counts for nothing,
 * and when the two never meet croniter fails.
 */
static bool set_days(const Line *line, bool and_days, CronRule *rule, Error *err) {
  bool nth = nth_weekdays(line) != 0, workday = line->workday > 0;
  CronDays *days = &rule->days;
  *days = (CronDays){.clamp_workdays = true, .both_sides = true};
  if (workday)
    days->workdays = UINT32_C(1) << line->workday;
  else
    days->of_month = (uint32_t)values_of(line, DAY);
  if (line->last_day) days->from_end = 1;
  if (nth)
    memcpy(days->nth, line->nth, sizeof days->nth);
  else
    days->weekdays = (uint8_t)values_of(line, WEEKDAY);
  bool either = !line->star[DAY] && !line->star[WEEKDAY] && !and_days;
  if (either && !nth && !workday) days->both_sides = false;
  if (!cron_check_fires(rule, err)) return false;
  if (!either || nth == workday) return true;
  if (nth) days->of_month = CRON_ALL_DAYS;
  if (workday) days->weekdays = CRON_ALL_WEEKDAYS;
  return true;
}

static bool split(const CronDialect *dialect, const char *text, int max, Line *line, Error *err) {
  line->n = cron_split(text, dialect, err, line->readers, N_FIELDS);
  if (line->n >= 5 && line->n <= max) return true;
  error_set(err, ERR_SPEC, "%s %s schedule has 5%s fields (%s), not %d", *dialect->name == 'a' ? "an" : "a",
            dialect->name, max > 5 ? " to 7" : "", dialect->order, line->n);
  return error_hint(err, line->n < 5 ? "write all five, with * where any value will do"
                                     : "leave out what follows, and write a zone under its own key");
}

/* On what the policies of all three hang: is the hour `*`, or one in a list of which is? */
typedef enum Hours { HOURS_SOME, HOURS_LIST_STAR, HOURS_STAR } Hours;

static bool parse(Arena *arena, const CronDialect *dialect, const char *expression, int max, DialectRule *ret,
                  Hours *ret_hour, Error *err) {
  CronYears *years = arena_alloc(arena, sizeof *years);
  CronRule *rule = arena_alloc(arena, sizeof *rule);
  memset(years, 0, sizeof *years);
  Line line = {.years = years};
  const char *text =
      cron_expand(dialect, shorthands, sizeof shorthands / sizeof *shorthands, true, cron_trim(arena, expression), err);
  if (text == NULL || !split(dialect, text, max, &line, err)) return false;
  for (int i = 0; i < line.n; i++)
    if (!parse_field(&line, i)) return false;
  if (!check_weekdays(&line)) return false;
  bool starred = line.star[HOUR];
  find_whole_fields(&line);
  *rule = (CronRule){.seconds = line.n > SECOND ? values_of(&line, SECOND) : 1,
                     .minutes = values_of(&line, MINUTE),
                     .hours = (uint32_t)values_of(&line, HOUR),
                     .months = (uint32_t)values_of(&line, MONTH),
                     .years = line.n > YEAR && !line.star[YEAR] ? years : NULL};
  if (!set_days(&line, ret->and_days, rule, err)) return false;
  *ret_hour = !line.star[HOUR] ? HOURS_SOME : line.readers[HOUR].bits == 0 || !starred ? HOURS_STAR : HOURS_LIST_STAR;
  ret->rule = rule;
  ret->next = cron_next;
  return true;
}

/* Python out of a DAG's file, or a rule of calendars: what they are here. */
static bool refuse_python(const char *line, Error *err) {
  static const struct {
    const char *name, *hint;
  } known[] = {
      {"timedelta", "write it as dialect: interval, schedule: every 4h from the start of any run"},
      {"relativedelta", "write it as dialect: interval, schedule: every 4h from the start of any run"},
      {"DeltaDataInterval", "write it as dialect: interval, schedule: every 4h from the start of any run"},
      {"CronTrigger", "write its cron expression, its timezone as the key zone, and timetable: trigger"},
      {"CronDataInterval", "write its cron expression, its timezone as the key zone, and timetable: interval"},
      {"RRULE", "write it as dialect: times with the times of the day, or as the cron line that fires at these times"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strstr(line, known[i].name) == NULL) continue;
    error_set(err, ERR_SPEC, "'%.60s' is no cron expression", line);
    return error_hint(err, "%s", known[i].hint);
  }
  return true;
}

/* _add_tzinfo and what follows it: a missing time is moved to the end of the gap unless the hour is `*`. */
static bool croniter_parse(Arena *arena, const char *expression, DialectRule *ret, Error *err) {
  Hours hours;
  if (!refuse_python(expression, err) || !parse(arena, &croniter, expression, N_FIELDS, ret, &hours, err)) return false;
  if (hours != HOURS_SOME) ret->gap = GAP_SKIP;
  return true;
}

static bool refuse_event(const char *word, Error *err) {
  static const char *const events[] = {"none", "null", "dataset", "asset"};
  for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
    if (strncasecmp(word, events[i], strlen(events[i])) != 0) continue;
    error_set(err, ERR_SPEC, "'%.40s' is no time: the DAG starts when it is triggered, which cannot be predicted",
              word);
    return error_hint(err,
                      "leave the schedule out and pause the DAG while the backfill works, or have it watched "
                      "(live: under the job)");
  }
  return true;
}

/* For a schedule of every hour the time to the next one is added to the last run, as if the clock did not change on the
 * days between; else by the wall clock, with fold=1. */
static bool airflow_parse(Arena *arena, const char *expression, DialectRule *ret, Error *err) {
  Hours hours;
  const char *line = cron_trim(arena, expression);
  if (!refuse_event(line, err) || !refuse_python(line, err) ||
      !parse(arena, &airflow, line, N_FIELDS, ret, &hours, err))
    return false;
  if (hours != HOURS_STAR) return true;
  ret->overlap = OVERLAP_BOTH;
  ret->carries = true;
  return true;
}

static bool dagster_parse(Arena *arena, const char *expression, DialectRule *ret, Error *err) {
  Hours hours;
  if (!parse(arena, &dagster, expression, 5, ret, &hours, err)) return false;
  if (hours != HOURS_STAR) return true;
  ret->gap = GAP_SKIP;
  ret->overlap = OVERLAP_BOTH;
  return true;
}

const Dialect dialect_croniter = {GAP_END, OVERLAP_BOTH, true, croniter_parse};
const Dialect dialect_airflow = {GAP_SHIFT, OVERLAP_SECOND, false, airflow_parse};
const Dialect dialect_dagster = {GAP_END, OVERLAP_SECOND, false, dagster_parse};
