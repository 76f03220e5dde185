#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "time/dialect.h"

/*
 * OnCalendar of systemd timers: systemd.time(7), "CALENDAR EVENTS", and what systemd-analyze calendar of 252 takes.
 * Fires lie in the years 1970 to 2199, as there.
 */

enum { YEAR_FIRST = 1970, YEAR_LAST = 2199, MONTH_END_MAX = 28, N_COMPONENTS_MAX = 240 };

/* Bit i of the row of words is set when the value i (years: i + YEAR_FIRST) matches. */
typedef struct Values {
  uint64_t words[4];
} Values;

typedef struct Rule {
  Values years, months, days, hours, minutes, seconds;
  bool from_end;     /* days count from the month's end: 1 is its last day */
  unsigned weekdays; /* bit 0 is Sunday */
} Rule;

typedef struct Component {
  const char *name;
  int min, max, base;
} Component;

static const Component component_year = {"year", YEAR_FIRST, YEAR_LAST, YEAR_FIRST},
                       component_month = {"month", 1, 12, 0}, component_day = {"day", 1, 31, 0},
                       component_end_day = {"day from the month's end", 1, MONTH_END_MAX, 0},
                       component_hour = {"hour", 0, 23, 0}, component_minute = {"minute", 0, 59, 0},
                       component_second = {"second", 0, 59, 0};

static const char *const weekday_names[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                            "Thursday", "Friday", "Saturday"};

static const struct {
  const char *name, *expression;
} shorthands[] = {{"minutely", "*-*-* *:*:00"},
                  {"hourly", "*-*-* *:00:00"},
                  {"daily", "*-*-* 00:00:00"},
                  {"weekly", "Mon *-*-* 00:00:00"},
                  {"monthly", "*-*-01 00:00:00"},
                  {"quarterly", "*-01,04,07,10-01 00:00:00"},
                  {"semiannually", "*-01,07-01 00:00:00"},
                  {"semi-annually", "*-01,07-01 00:00:00"},
                  {"biannually", "*-01,07-01 00:00:00"},
                  {"bi-annually", "*-01,07-01 00:00:00"},
                  {"yearly", "*-01-01 00:00:00"},
                  {"annually", "*-01-01 00:00:00"},
                  {"anually", "*-01-01 00:00:00"}};

static bool bad(Error *err, const char *what, const char *text, const char *why, const char *hint) {
  error_set(err, ERR_SPEC, "the %s '%.40s' of the OnCalendar expression %s", what, text, why);
  return error_hint(err, "%s", hint);
}

static void values_add(Values *values, int at) { values->words[at / 64] |= UINT64_C(1) << at % 64; }

static bool values_have(const Values *values, int at) { return values->words[at / 64] >> at % 64 & 1; }

/* The first value in [from, max], -1 if there is none. */
static int values_next(const Values *values, int from, int max) {
  for (int at = from; at <= max; at++)
    if (values_have(values, at)) return at;
  return -1;
}

static void values_fill(Values *values, int from, int to, int step) {
  for (int at = from; at <= to; at += step) values_add(values, at);
}

static bool take_number(const char **at, int *ret) {
  if (!isdigit((unsigned char)**at)) return false;
  int value = 0;
  for (; isdigit((unsigned char)**at); ++*at)
    if (value < 100000) value = value * 10 + (**at - '0');
  *ret = value;
  return true;
}

/* A fraction of zeros may follow seconds; others are not of a whole second. */
static bool take_fraction(const char **at, bool *ret_whole) {
  if (**at != '.' || !isdigit((unsigned char)(*at)[1])) return true;
  for (++*at; isdigit((unsigned char)**at); ++*at)
    if (**at != '0') *ret_whole = false;
  return true;
}

static int full_year(int year) { return year < 70 ? year + 2000 : year < 100 ? year + 1900 : year; }

/* "2", "2..5", "2/4" or "2..10/4"; `at` goes over it. stop -1: none was given. repeat 0: neither. */
static bool take_range(const char **at, const Component *component, int *start, int *stop, int *repeat, Error *err) {
  const char *text = *at;
  bool seconds = component == &component_second, whole = true;
  *stop = -1;
  *repeat = 0;
  bool good = take_number(at, start) && (!seconds || take_fraction(at, &whole));
  if (good && (*at)[0] == '.' && (*at)[1] == '.') {
    *at += 2;
    *repeat = 1;
    good = take_number(at, stop) && (!seconds || take_fraction(at, &whole));
  }
  if (good && **at == '/') {
    ++*at;
    good = take_number(at, repeat) && (!seconds || take_fraction(at, &whole));
    if (good && *repeat == 0 && whole)
      return bad(err, component->name, text, "repeats after 0", "repeat after 1 or more");
  }
  if (!whole)
    return bad(err, component->name, text, "is not a whole second, and Tidegate reckons in whole seconds",
               "round it, and add the second to the job's jitter");
  if (!good)
    return bad(err, component->name, text, "is not understood",
               "write * or numbers as in 5, 1,15, 8..18, 0/15 or 8..18/2; a step needs a number before it");
  return true;
}

/* One part of a list. What may stand in it follows chain_valid() and normalize_chain() of systemd. */
static bool add_range(Values *values, const Component *component, int start, int stop, int repeat, const char *text,
                      Error *err) {
  if (component == &component_year) {
    start = full_year(start);
    if (stop >= 0) stop = full_year(stop);
  }
  if (stop >= 0 && stop < start)
    return bad(err, component->name, text, "ends before it begins", "write it as a list of two, such as 22..23,0..4");
  if (stop >= 0) stop -= (stop - start) % repeat;
  bool inside = start >= component->min && start <= component->max && stop <= component->max;
  if (!inside) {
    error_set(err, ERR_SPEC, "the %s '%.40s' of the OnCalendar expression is not from %d to %d", component->name, text,
              component->min, component->max);
    return error_hint(err, "the form is: Mon..Fri 2026-01-31 23:59:59 Europe/Berlin, with * where any value will do");
  }
  bool end_day = component == &component_end_day;
  if (stop < 0 && repeat > 0 && (end_day ? start - repeat < component->min : start + repeat > component->max))
    return bad(err, component->name, text, "repeats after more than there is left",
               "leave the repetition out, or begin earlier");
  if (stop < 0 && repeat > 0) {
    stop = end_day ? start : component->max;
    start = end_day ? component->min + (start - component->min) % repeat : start;
  }
  values_fill(values, start - component->base, (stop < 0 ? start : stop) - component->base, repeat > 0 ? repeat : 1);
  return true;
}

/* A whole component: "*" or a list; `at` goes over it. */
static bool take_component(const char **at, const Component *component, Values *ret, Error *err) {
  *ret = (Values){0};
  const char *text = *at;
  if (**at == '*') {
    ++*at;
    if (**at == '/' || **at == ',' || **at == '.')
      return bad(err, component->name, text, "is not understood: nothing can follow a *",
                 "write the first value in its place: 0/15 for every fifteen minutes");
    values_fill(ret, component->min - component->base, component->max - component->base, 1);
    return true;
  }
  for (int n = 0;; n++) {
    int start = 0, stop = -1, repeat = 0;
    if (n > N_COMPONENTS_MAX)
      return bad(err, component->name, text, "has more than 240 values, which systemd refuses", "write ranges: 0..59");
    if (!take_range(at, component, &start, &stop, &repeat, err)) return false;
    if (!add_range(ret, component, start, stop, repeat, text, err)) return false;
    if (**at != ',') return true;
    ++*at;
  }
}

/* The number of a weekday's name at the cursor, 0 for Sunday; -1 if there is none. */
static int take_weekday(const char **at) {
  for (int i = 0; i < 7; i++) {
    size_t n = strlen(weekday_names[i]);
    if (strncasecmp(*at, weekday_names[i], n) != 0) n = 3;
    if (strncasecmp(*at, weekday_names[i], n) != 0 || isalpha((unsigned char)(*at)[n])) continue;
    *at += n;
    return i;
  }
  return -1;
}

/* "Mon", "Mon..Fri", "Sat,Sun,Mon..Wed"; also "Mon-Fri" and a comma at the end, as systemd takes them. */
static bool parse_weekdays(const char *word, unsigned *ret, Error *err) {
  *ret = 0;
  for (const char *at = word; *at != '\0';) {
    int first = take_weekday(&at), last = first;
    if (first >= 0 && (*at == '-' || strncmp(at, "..", 2) == 0)) {
      at += *at == '-' ? 1 : 2;
      last = take_weekday(&at);
    }
    if (first < 0 || last < 0 || (*at != '\0' && *at != ','))
      return bad(err, "weekday", word, "is not understood", "write English names: Mon, Mon..Fri or Sat,Sun");
    /* A week begins on Monday here. */
    if ((first + 6) % 7 > (last + 6) % 7)
      return bad(err, "weekday", word, "ends before it begins: a week begins on Monday",
                 "write it as a list of two, such as Fri..Sun,Mon");
    for (int day = first; *ret |= 1u << day, day != last;) day = (day + 1) % 7;
    if (*at == ',') at++;
  }
  return true;
}

/* "Y-M-D", "M-D" and, from the month's end, "Y-M~D", "M~D". */
static bool parse_date(const char *word, Rule *rule, Error *err) {
  int dashes = 0;
  for (const char *at = word; *at != '\0'; at++) dashes += *at == '-' || *at == '~';
  const char *at = word;
  if (dashes == 2) {
    if (!take_component(&at, &component_year, &rule->years, err)) return false;
    if (*at++ != '-') return bad(err, "date", word, "is not understood", "write it as 2026-01-31, *-*-01 or *-02~01");
  }
  if (!take_component(&at, &component_month, &rule->months, err)) return false;
  if (*at != '-' && *at != '~')
    return bad(err, "date", word, "is not understood", "write it as 2026-01-31, *-*-01 or *-02~01");
  rule->from_end = *at++ == '~' && *at != '*';
  if (!take_component(&at, rule->from_end ? &component_end_day : &component_day, &rule->days, err)) return false;
  return *at == '\0' || bad(err, "date", word, "is not understood", "write it as 2026-01-31, *-*-01 or *-02~01");
}

/* "H:M" or "H:M:S". */
static bool parse_time(const char *word, Rule *rule, Error *err) {
  const char *at = word;
  if (!take_component(&at, &component_hour, &rule->hours, err)) return false;
  if (*at++ != ':') return bad(err, "time", word, "is not understood", "write it as 02:00, *:00 or 05:40:23");
  if (!take_component(&at, &component_minute, &rule->minutes, err)) return false;
  if (*at == '\0') return true;
  if (*at++ != ':') return bad(err, "time", word, "is not understood", "write it as 02:00, *:00 or 05:40:23");
  if (!take_component(&at, &component_second, &rule->seconds, err)) return false;
  return *at == '\0' || bad(err, "time", word, "is not understood", "write it as 02:00, *:00 or 05:40:23");
}

enum { N_WORDS_MAX = 4 };

/* Cuts at blanks; how many words there are, N_WORDS_MAX + 1 at most. */
static int split(Arena *arena, const char *text, const char *words[N_WORDS_MAX]) {
  int n = 0;
  for (text += strspn(text, " \t"); *text != '\0'; n++) {
    size_t length = strcspn(text, " \t");
    if (n == N_WORDS_MAX) return n + 1;
    words[n] = arena_strndup(arena, text, length);
    text += length;
    text += strspn(text, " \t");
  }
  return n;
}

/* Everything but the zone: [weekdays] [date] [time]. */
static bool parse_words(const char *const *words, int n, Rule *rule, Error *err) {
  int at = 0;
  if (at < n && isalpha((unsigned char)*words[at]) && !parse_weekdays(words[at++], &rule->weekdays, err)) return false;
  if (at < n && strpbrk(words[at], "-~") != NULL && !parse_date(words[at++], rule, err)) return false;
  if (at < n && strchr(words[at], ':') != NULL && !parse_time(words[at++], rule, err)) return false;
  if (at == n) return true;
  return bad(err, "part", words[at], "is not understood",
             "write [weekdays] [date] [time] [zone], as in: Mon..Fri *-*-* 02:00 Europe/Berlin");
}

static bool systemd_next(const void *opaque, const Civil *from, Civil *ret);

/* "@1767225600": once. */
static bool parse_stamp(Arena *arena, const char *text, DialectRule *ret, Error *err);

static bool systemd_parse(Arena *arena, const char *expression, DialectRule *ret, Error *err) {
  static const Civil beginning = {.year = YEAR_FIRST, .month = 1, .day = 1};
  const char *words[N_WORDS_MAX];
  int n = split(arena, expression, words);
  if (n == 0 || n > N_WORDS_MAX) {
    error_set(err, ERR_SPEC,
              n == 0 ? "the OnCalendar expression is empty" : "the OnCalendar expression has too many parts");
    return error_hint(err, "write [weekdays] [date] [time] [zone], as in: Mon..Fri *-*-* 02:00 Europe/Berlin");
  }
  if (*words[0] == '@') return parse_stamp(arena, words[0], ret, err);
  if (n > 1 && isalpha((unsigned char)*words[n - 1])) {
    ret->zone = strcasecmp(words[n - 1], "UTC") == 0 ? "UTC" : words[n - 1];
    n--;
  }
  for (size_t i = 0; n == 1 && i < sizeof shorthands / sizeof *shorthands; i++) {
    if (strcasecmp(words[0], shorthands[i].name) != 0) continue;
    n = split(arena, shorthands[i].expression, words);
    break;
  }
  Rule *rule = arena_alloc(arena, sizeof *rule);
  *rule = (Rule){.weekdays = 0x7f, .hours.words = {1}, .minutes.words = {1}, .seconds.words = {1}};
  values_fill(&rule->years, 0, YEAR_LAST - YEAR_FIRST, 1);
  values_fill(&rule->months, 1, 12, 1);
  values_fill(&rule->days, 1, 31, 1);
  if (!parse_words(words, n, rule, err)) return false;
  Civil fire;
  if (!systemd_next(rule, &beginning, &fire)) {
    error_set(err, ERR_SPEC, "the OnCalendar expression never fires: no such day comes in the years %d to %d",
              YEAR_FIRST, YEAR_LAST);
    return error_hint(err, "correct the date or the weekday, or leave the schedule out if nothing is scheduled");
  }
  ret->rule = rule;
  ret->next = systemd_next;
  return true;
}

static bool stamp_next(const void *rule, Instant after, Instant *ret) {
  const Instant *at = rule;
  if (*at <= after) return false;
  *ret = *at;
  return true;
}

static bool parse_stamp(Arena *arena, const char *text, DialectRule *ret, Error *err) {
  size_t n = strspn(text + 1, "0123456789");
  Instant *at = arena_alloc(arena, sizeof *at);
  *at = 0;
  for (size_t i = 0; i < n && *at <= INSTANT_MAX; i++) *at = *at * 10 + (text[i + 1] - '0');
  if (n == 0 || text[n + 1] != '\0' || *at > INSTANT_MAX)
    return bad(err, "time stamp", text, "is not understood", "write whole seconds since 1970 after the @");
  ret->rule = at;
  ret->next_instant = stamp_next;
  return true;
}

static bool day_matches(const Rule *rule, int year, int month, int day) {
  if (!values_have(&rule->days, rule->from_end ? civil_month_days(year, month) - day + 1 : day)) return false;
  return rule->weekdays == 0x7f || (rule->weekdays >> civil_weekday(civil_to_days(year, month, day)) & 1);
}

/* The first matching time of a day at or after the one in `at`, which it takes the place of. */
static bool next_time(const Rule *rule, Civil *at) {
  int hour = values_next(&rule->hours, at->hour, 23);
  if (hour == at->hour) {
    int minute = values_next(&rule->minutes, at->minute, 59);
    int second = values_next(&rule->seconds, minute == at->minute ? at->second : 0, 59);
    if (minute == at->minute && second < 0) {
      minute = values_next(&rule->minutes, at->minute + 1, 59);
      second = values_next(&rule->seconds, 0, 59);
    }
    if (minute >= 0) {
      at->minute = minute;
      at->second = second;
      return true;
    }
    hour = values_next(&rule->hours, at->hour + 1, 23);
  }
  if (hour < 0) return false;
  at->hour = hour;
  at->minute = values_next(&rule->minutes, 0, 59);
  at->second = values_next(&rule->seconds, 0, 59);
  return true;
}

static bool systemd_next(const void *opaque, const Civil *from, Civil *ret) {
  const Rule *rule = opaque;
  Civil at = *from;
  if (at.year < YEAR_FIRST) at = (Civil){.year = YEAR_FIRST, .month = 1, .day = 1};
  while (at.year <= YEAR_LAST) {
    int days = civil_month_days(at.year, at.month);
    bool month = values_have(&rule->years, at.year - YEAR_FIRST) && values_have(&rule->months, at.month);
    for (; month && at.day <= days; at = (Civil){.year = at.year, .month = at.month, .day = at.day + 1}) {
      if (!day_matches(rule, at.year, at.month, at.day) || !next_time(rule, &at)) continue;
      *ret = at;
      return true;
    }
    at = (Civil){.year = at.year + at.month / 12, .month = at.month % 12 + 1, .day = 1};
  }
  return false;
}

const Dialect dialect_systemd = {.gap = GAP_SKIP, .overlap = OVERLAP_FIRST, .parse = systemd_parse};
