#include "time/cron_field.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

const char *const cron_months[] = {"january", "february",  "march",   "april",    "may",      "june", "july",
                                   "august",  "september", "october", "november", "december", NULL};
const char *const cron_weekdays[] = {"sunday",   "monday", "tuesday",  "wednesday",
                                     "thursday", "friday", "saturday", NULL};

static const char pause_job[] =
    "no idle hour can be computed from it: give the times at which it really fires, or leave the schedule out and "
    "pause "
    "that job while the backfill works, or have it watched (live: under the job)";

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

const char *cron_trim(Arena *arena, const char *line) {
  while (is_blank(*line)) line++;
  size_t n = strlen(line);
  while (n > 0 && is_blank(line[n - 1])) n--;
  return arena_strndup(arena, line, n);
}

int cron_split(const char *line, const CronDialect *dialect, Error *err, CronReader *readers, int max) {
  int n = 0;
  while (is_blank(*line)) line++;
  while (*line != '\0') {
    const char *end = line;
    while (*end != '\0' && !is_blank(*end)) end++;
    if (n < max) readers[n] = (CronReader){.dialect = dialect, .text = line, .end = end, .err = err};
    n++;
    for (line = end; is_blank(*line);) line++;
  }
  return n;
}

bool cron_split_second_first(const char *line, const CronDialect *dialect, Error *err, CronReader readers[6]) {
  static const char zero[] = "0";
  int n = cron_split(line, dialect, err, readers, 6);
  if (n != 5 && n != 6) {
    error_set(err, ERR_SPEC, "a %s schedule has 5 or 6 fields (%s), not %d", dialect->name, dialect->order, n);
    return error_hint(err, "write at least minute, hour, day of month, month and day of week, with * for any value");
  }
  if (n == 6) return true;
  memmove(readers + 1, readers, 5 * sizeof *readers);
  readers[0].text = zero;
  readers[0].end = zero + 1;
  return true;
}

const char *cron_expand(const CronDialect *dialect, const CronShorthand *table, size_t n, bool any_case,
                        const char *line, Error *err) {
  if (*line != '@') return line;
  for (size_t i = 0; i < n; i++)
    if ((any_case ? strcasecmp : strcmp)(line, table[i].name) == 0) return table[i].expression;
  (void)cron_refuse_shorthand(dialect, line, err);
  return NULL;
}

bool cron_take(CronReader *reader, char c) {
  if (reader->text == reader->end || *reader->text != c) return false;
  reader->text++;
  return true;
}

bool cron_take_digits(CronReader *reader, int *ret) {
  int value = 0;
  const char *begin = reader->text;
  for (; reader->text < reader->end && isdigit((unsigned char)*reader->text); reader->text++)
    if (value < 100000) value = value * 10 + (*reader->text - '0');
  *ret = value;
  return reader->text > begin;
}

size_t cron_word(const CronReader *reader) {
  const char *end = reader->text;
  while (end < reader->end && isalpha((unsigned char)*end)) end++;
  return (size_t)(end - reader->text);
}

bool cron_take_value(CronReader *reader, int *ret) {
  const CronField *field = reader->field;
  const char *begin = reader->text;
  if (cron_take_digits(reader, ret)) {
    if (*ret >= field->min && *ret <= field->max) return true;
    error_set(reader->err, ERR_SPEC, "the %s field of the schedule: %.*s is not from %d to %d", field->name,
              (int)(reader->text - begin > 20 ? 20 : reader->text - begin), begin, field->min, field->max);
    return error_hint(reader->err, "the fields of the %s dialect are %s", reader->dialect->name,
                      reader->dialect->order);
  }
  size_t n = cron_word(reader);
  for (int i = 0; n == 3 && field->names != NULL && field->names[i] != NULL; i++) {
    if (strncasecmp(begin, field->names[i], n) != 0) continue;
    reader->text += n;
    *ret = field->first_name + i;
    return true;
  }
  return cron_refuse_sign(reader);
}

bool cron_take_step(CronReader *reader, int *ret) {
  if (!cron_take_digits(reader, ret)) return cron_refuse_sign(reader);
  return *ret > 0 || cron_refuse(reader, "a step of 0 never ends", "write a step of 1 or more");
}

void cron_add(CronReader *reader, int first, int last, int step) {
  for (int value = first; value <= last; value += step) {
    if (reader->years == NULL)
      reader->bits |= UINT64_C(1) << value;
    else
      reader->years->bits[value / 64] |= UINT64_C(1) << value % 64;
  }
}

bool cron_refuse(CronReader *reader, const char *why, const char *hint) {
  error_set(reader->err, ERR_SPEC, "the %s field of the schedule: %s", reader->field->name, why);
  return error_hint(reader->err, "%s", hint);
}

/* A sign that another dialect has, or has in another field. */
static bool not_here(CronReader *reader, const char *sign, const char *hint) {
  error_set(reader->err, ERR_SPEC, "the %s field of the schedule: %s has no place there in the %s dialect",
            reader->field->name, sign, reader->dialect->name);
  return error_hint(reader->err, "%s", hint);
}

bool cron_refuse_sign(CronReader *reader) {
  const CronField *field = reader->field;
  const char *word = reader->text;
  char c = word < reader->end ? (char)toupper((unsigned char)*word) : '\0';
  char after = word + 1 < reader->end ? (char)toupper((unsigned char)word[1]) : '\0';
  bool alone = !isalpha((unsigned char)after) || after == 'W';
  switch (alone ? c : '\0') {
    case '~':
      return cron_refuse(reader, "'~' is a time picked at random when crond starts, which cannot be predicted",
                         pause_job);
    case 'H':
      return cron_refuse(reader, "'H' is a hash of the job's name (Jenkins, croniter), which cannot be predicted",
                         pause_job);
    case 'R':
      return cron_refuse(reader, "'R' is a random time (croniter), which cannot be predicted", pause_job);
    case '#':
      return not_here(
          reader, "'#' (the n-th weekday of a month)",
          "write the days of the month it can be, as in '0 9 */32,1-7 * mon' of vixie for the first Monday");
    case 'L':
      return not_here(reader, "'L' (the last day)",
                      "write every day it can be, such as 28-31: that only closes more time than needed");
    case 'W':
      return not_here(reader, "'W' (the nearest working day)",
                      "write every day it can be, such as 14-16: that only closes more time than needed");
    case '?':
      return not_here(reader, "'?' (no value, of Quartz)", "write * where any value will do");
    default:
      break;
  }
  error_set(reader->err, ERR_SPEC, "the %s field of the schedule: '%.*s' is not understood", field->name,
            (int)(reader->end - word > 40 ? 40 : reader->end - word), word);
  return error_hint(reader->err, "write * or numbers %d-%d%s, as ranges 1-5, lists 1,2 or steps */2 and 1-9/2",
                    field->min, field->max, field->names == NULL ? "" : " or three-letter English names");
}

bool cron_refuse_shorthand(const CronDialect *dialect, const char *expression, Error *err) {
  static const struct {
    const char *word, *why;
  } unpredictable[] = {{"@reboot", "fires when the machine starts"},
                       {"@once", "fires once, when the DAG is switched on"},
                       {"@continuous", "starts again as soon as it ends"}};
  for (size_t i = 0; i < sizeof unpredictable / sizeof *unpredictable; i++) {
    if (strcasecmp(expression, unpredictable[i].word) != 0) continue;
    error_set(err, ERR_SPEC, "%s %s, which cannot be predicted", unpredictable[i].word, unpredictable[i].why);
    return error_hint(err, "%s", pause_job);
  }
  error_set(err, ERR_SPEC, "'%.40s' is not a shorthand of the %s dialect", expression, dialect->name);
  return error_hint(err, "write the fields (%s), or one of %s", dialect->order, dialect->shorthands);
}
