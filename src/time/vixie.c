#include <string.h>

#include "time/cron_field.h"

enum { MINUTE, HOUR, DAY, MONTH, WEEKDAY, N_FIELDS };
static const CronField fields[N_FIELDS] = {[MINUTE] = {"minute", 0, 59, NULL, 0},
                                           [HOUR] = {"hour", 0, 23, NULL, 0},
                                           [DAY] = {"day of month", 1, 31, NULL, 0},
                                           [MONTH] = {"month", 1, 12, cron_months, 1},
                                           [WEEKDAY] = {"day of week", 0, 7, cron_weekdays, 0}};

/* What crontab lines of different programs have in common, and where they differ. */
typedef struct Crontab {
  CronDialect names;
  bool has_names, has_shorthands; /* of months and weekdays; "@daily" */
  bool last_weekday_is_6;         /* 7 is no Sunday */
  bool ends_on_sunday;            /* fri-sun and 5-0 are 5-7 */
  bool step_after_value;          /* 5/15 is 5-59/15 */
  bool stars_join_days;           /* a day field that begins with `*` makes the two AND; else only `*` itself does */
  bool days_join;                 /* the two day fields are AND in any case */
  const char *zone_key;           /* what names a zone before the fields; NULL: nothing does */
} Crontab;

#define ORDER "minute, hour, day of month, month, day of week"
#define SHORTHANDS "@hourly @daily @midnight @weekly @monthly @yearly @annually"

/* crontab(5), src/entry.c and src/cron.c of cronie 1.7; of a range that ends on sun or 0, what follows that release. */
static const Crontab vixie = {.names = {"vixie", ORDER, SHORTHANDS},
                              .has_names = true,
                              .ends_on_sunday = true,
                              .has_shorthands = true,
                              .stars_join_days = true,
                              .zone_key = "CRON_TZ="};
static const Crontab cronie_daemon = {.names = {"cronie-daemon", ORDER, SHORTHANDS},
                                      .has_names = true,
                                      .ends_on_sunday = true,
                                      .has_shorthands = true,
                                      .stars_join_days = true,
                                      .zone_key = "CRON_TZ="};
/* core/src/main/java/hudson/scheduler/CronTab.java: every field must match; its shorthands are hashed. */
static const Crontab jenkins = {
    .names = {"jenkins", ORDER, "no shorthand: Jenkins hashes them all"}, .days_join = true, .zone_key = "TZ="};
/* docs.github.com, "Events that trigger workflows", schedule: POSIX cron, no shorthands. */
static const Crontab github = {.names = {"github-actions", ORDER, "no shorthand: GitHub has none"},
                               .has_names = true,
                               .last_weekday_is_6 = true,
                               .step_after_value = true};

static const CronShorthand shorthands[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"}, {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},  {"@midnight", "0 0 * * *"}, {"@hourly", "0 * * * *"}};

/* One piece of a list, up to its step. */
static bool take_range(CronReader *reader, const Crontab *crontab, int *ret_first, int *ret_last) {
  const CronField *field = reader->field;
  if (cron_take(reader, '*')) {
    *ret_first = field->min;
    *ret_last = field->max;
    return true;
  }
  if (!cron_take_value(reader, ret_first)) return false;
  *ret_last = *ret_first;
  if (!cron_take(reader, '-')) {
    if (reader->text == reader->end || *reader->text != '/') return true;
    *ret_last = field->max;
    return crontab->step_after_value || cron_refuse(reader, "a step after a single value means nothing to cron",
                                                    "write the range that it goes over, such as 5-59/15 or */15");
  }
  if (!cron_take_value(reader, ret_last)) return false;
  bool steps = reader->text < reader->end && *reader->text == '/';
  if (crontab->ends_on_sunday && field->max == 7 && *ret_last == 0 && !steps) *ret_last = *ret_first == 0 ? 0 : 7;
  if (*ret_last >= *ret_first) return true;
  return cron_refuse(reader, "a range ends before it begins, which cron refuses",
                     "write it as a list of two, such as 22-23,0-4 (fri-7 for Friday to Sunday)");
}

static bool parse_field(CronReader *reader, const Crontab *crontab) {
  do {
    int first, last, step = 1;
    if (!take_range(reader, crontab, &first, &last)) return false;
    if (cron_take(reader, '/') && !cron_take_step(reader, &step)) return false;
    cron_add(reader, first, last, step);
  } while (cron_take(reader, ','));
  return reader->text == reader->end || cron_refuse_sign(reader);
}

static bool split(const Crontab *crontab, const char *line, CronField own[N_FIELDS], CronReader readers[N_FIELDS],
                  Error *err) {
  int n = cron_split(line, &crontab->names, err, readers, N_FIELDS);
  if (n != N_FIELDS) {
    error_set(err, ERR_SPEC, "a %s schedule has 5 fields (%s), not %d", crontab->names.name, crontab->names.order, n);
    return error_hint(err, n > N_FIELDS ? "leave out seconds, years, the user and the command"
                                        : "write all five, with * where any value will do");
  }
  for (int i = 0; i < N_FIELDS; i++) {
    own[i] = fields[i];
    if (!crontab->has_names) own[i].names = NULL;
    if (i == WEEKDAY && crontab->last_weekday_is_6) own[i].max = 6;
    readers[i].field = &own[i];
  }
  return true;
}

/* The zone before the fields, as a crontab has it on a line of its own. */
static const char *take_zone(Arena *arena, const Crontab *crontab, const char *line, DialectRule *ret) {
  size_t n = crontab->zone_key == NULL ? 0 : strlen(crontab->zone_key);
  if (n == 0 || strncmp(line, crontab->zone_key, n) != 0) return line;
  size_t zone = strcspn(line + n, " \t\r\n");
  ret->zone = arena_strndup(arena, line + n, zone);
  return cron_trim(arena, line + n + zone);
}

static bool is_star(const CronReader *reader) { return reader->end - reader->text == 1 && *reader->text == '*'; }

static bool joins_days(const Crontab *crontab, const CronReader *day, const CronReader *weekday) {
  if (crontab->days_join) return true;
  if (crontab->stars_join_days) return *day->text == '*' || *weekday->text == '*';
  return is_star(day) || is_star(weekday);
}

static bool parse(Arena *arena, const Crontab *crontab, const char *expression, DialectRule *ret, bool *ret_wild,
                  Error *err) {
  CronField own[N_FIELDS];
  CronReader readers[N_FIELDS];
  size_t n_shorthands = crontab->has_shorthands ? sizeof shorthands / sizeof *shorthands : 0;
  const char *line = cron_expand(&crontab->names, shorthands, n_shorthands, false,
                                 take_zone(arena, crontab, cron_trim(arena, expression), ret), err);
  if (line == NULL || !split(crontab, line, own, readers, err)) return false;
  bool joined = joins_days(crontab, &readers[DAY], &readers[WEEKDAY]);
  *ret_wild = *readers[MINUTE].text == '*' || *readers[HOUR].text == '*';
  for (int i = 0; i < N_FIELDS; i++)
    if (!parse_field(&readers[i], crontab)) return false;

  CronRule *rule = arena_alloc(arena, sizeof *rule);
  *rule = (CronRule){.seconds = 1,
                     .minutes = readers[MINUTE].bits,
                     .hours = (uint32_t)readers[HOUR].bits,
                     .months = (uint32_t)readers[MONTH].bits};
  rule->days = (CronDays){.of_month = (uint32_t)readers[DAY].bits,
                          .weekdays = (readers[WEEKDAY].bits | readers[WEEKDAY].bits >> 7) & CRON_ALL_WEEKDAYS,
                          .both_sides = joined};
  if (!cron_check_fires(rule, err)) return false;
  ret->rule = rule;
  ret->next = cron_next;
  return true;
}

static bool vixie_parse(Arena *arena, const char *expression, DialectRule *ret, Error *err) {
  bool wild;
  return parse(arena, &vixie, expression, ret, &wild, err);
}

/*
 * crond in its own zone looks how far the wall clock jumped (src/cron.c): jobs at fixed times are caught up after a
 * jump forward and not repeated after one back; a job whose minute or hour begins with `*` runs by the time that
 * passed. A job with a CRON_TZ has neither.
 */
static bool cronie_daemon_parse(Arena *arena, const char *expression, DialectRule *ret, Error *err) {
  bool wild;
  if (!parse(arena, &cronie_daemon, expression, ret, &wild, err)) return false;
  ret->rolling = wild;
  if (ret->zone == NULL) return true;
  ret->gap = GAP_SKIP;
  ret->overlap = OVERLAP_BOTH;
  return true;
}

static bool jenkins_parse(Arena *arena, const char *expression, DialectRule *ret, Error *err) {
  bool wild;
  return parse(arena, &jenkins, expression, ret, &wild, err);
}

static bool github_parse(Arena *arena, const char *expression, DialectRule *ret, Error *err) {
  bool wild;
  return parse(arena, &github, expression, ret, &wild, err);
}

const Dialect dialect_vixie = {GAP_SKIP, OVERLAP_BOTH, false, vixie_parse};
const Dialect dialect_cronie_daemon = {GAP_END, OVERLAP_FIRST, false, cronie_daemon_parse};
const Dialect dialect_jenkins = {GAP_SKIP, OVERLAP_BOTH, false, jenkins_parse};
const Dialect dialect_github_actions = {GAP_SKIP, OVERLAP_BOTH, false, github_parse};
