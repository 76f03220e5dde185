#include "jobs/timer_units.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jobs/history_int.h"

/* AccuracySec= of systemd.timer(5) unless given. */
static const double usual_accuracy = 60;

/* ---- spans ------------------------------------------------------------------------------------------------------- */

/* systemd.time(7), "Parsing Time Spans". */
static const struct {
  const char *names;
  double seconds;
} units[] = {{" usec us µs ", 1e-6},         {" msec ms ", 1e-3},           {" seconds second sec s ", 1},
             {" minutes minute min m ", 60}, {" hours hour hr h ", 3600},   {" days day d ", 86400},
             {" weeks week w ", 604800},     {" months month M ", 2629800}, {" years year y ", 31557600}};

static double unit_seconds(const char *name, size_t length) {
  char word[20];
  if (length == 0) return 1;
  if (length > sizeof word - 3) return -1;
  snprintf(word, sizeof word, " %.*s ", (int)length, name);
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strstr(units[i].names, word) != NULL) return units[i].seconds;
  return -1;
}

double timer_span(const char *text) {
  double sum = 0;
  text += strspn(text, " \t");
  if (*text == '\0') return -1;
  if (strcmp(text, "infinity") == 0) return INFINITY;
  while (*text != '\0') {
    char *end;
    if (!isdigit((unsigned char)*text) && *text != '.') return -1;
    double number = strtod(text, &end);
    end += strspn(end, " \t");
    size_t length = strcspn(end, " \t0123456789.");
    double unit = unit_seconds(end, length);
    if (end == text || unit < 0) return -1;
    sum += number * unit;
    text = end + length + strspn(end + length, " \t");
  }
  return sum;
}

/* ---- one setting after the other --------------------------------------------------------------------------------- */

static void add_calendar(Arena *arena, Timer *timer, const char *expression) {
  const char **calendars = arena_grow(arena, (void *)timer->calendars, timer->n, sizeof *calendars);
  calendars[timer->n++] = expression;
  timer->calendars = calendars;
}

static void add_monotonic(Arena *arena, Timer *timer, const char *what) {
  timer->monotonic = timer->monotonic == NULL ? what : arena_printf(arena, "%s, %s", timer->monotonic, what);
}

static bool is_true(const char *value) {
  return strcasecmp(value, "yes") == 0 || strcasecmp(value, "true") == 0 || strcasecmp(value, "on") == 0 ||
         strcmp(value, "1") == 0;
}

static bool is_monotonic(const char *key) {
  static const char *const keys[] = {"OnActiveSec",     "OnBootSec",         "OnStartupSec",
                                     "OnUnitActiveSec", "OnUnitInactiveSec", NULL};
  for (size_t i = 0; keys[i] != NULL; i++)
    if (strcmp(keys[i], key) == 0) return true;
  return false;
}

/* A delay that is not understood may be of any length. */
static double span_or_for_ever(const char *value) {
  double seconds = timer_span(value);
  return seconds < 0 ? INFINITY : seconds;
}

/* A line of [Timer]. An empty value takes back what was said before. */
static void take_setting(Arena *arena, Timer *timer, const char *key, const char *value) {
  bool empty = *value == '\0';
  if (strcmp(key, "OnCalendar") == 0 || is_monotonic(key)) {
    /* systemd.timer(5): the empty string resets all of these together. */
    if (empty) {
      timer->n = 0;
      timer->monotonic = NULL;
    } else if (key[2] == 'C') {
      add_calendar(arena, timer, value);
    } else {
      add_monotonic(arena, timer, arena_printf(arena, "%s=%s", key, value));
    }
  } else if (strcmp(key, "RandomizedDelaySec") == 0) {
    timer->delay = empty ? 0 : span_or_for_ever(value);
  } else if (strcmp(key, "AccuracySec") == 0) {
    timer->accuracy = empty ? usual_accuracy : span_or_for_ever(value);
  } else if (strcmp(key, "Unit") == 0) {
    timer->unit = empty ? NULL : value;
  } else if (strcmp(key, "Persistent") == 0) {
    timer->persistent = is_true(value);
  } else if ((strcmp(key, "OnClockChange") == 0 || strcmp(key, "OnTimezoneChange") == 0) && is_true(value)) {
    add_monotonic(arena, timer, arena_printf(arena, "%s=yes", key));
  }
}

static const char *trimmed(Arena *arena, const char *text, size_t length) {
  while (length > 0 && isspace((unsigned char)*text)) text++, length--;
  while (length > 0 && isspace((unsigned char)text[length - 1])) length--;
  return arena_strndup(arena, text, length);
}

/* ---- unit files -------------------------------------------------------------------------------------------------- */

/* systemd.syntax(7): a line that ends with a backslash goes on in the next one, with a space between. */
static void take_file(Arena *arena, Timer *timer, const char *text) {
  bool ours = false;
  while (*text != '\0') {
    const char *line = "";
    bool goes_on = true;
    while (goes_on && *text != '\0') {
      size_t length = strcspn(text, "\n");
      const char *part = trimmed(arena, text, length);
      size_t n = strlen(part);
      text += length + (text[length] == '\n');
      bool comment = *part == '#' || *part == ';';
      if (comment && *line != '\0') continue;
      goes_on = !comment && n > 0 && part[n - 1] == '\\';
      if (goes_on) part = trimmed(arena, part, n - 1);
      line = arena_printf(arena, "%s%s%s", line, *line == '\0' ? "" : " ", part);
    }
    const char *equals = strchr(line, '=');
    if (*line == '[') ours = strcmp(line, "[Timer]") == 0;
    if (!ours || *line == '[' || *line == '#' || *line == ';' || equals == NULL) continue;
    take_setting(arena, timer, trimmed(arena, line, (size_t)(equals - line)),
                 trimmed(arena, equals + 1, strlen(equals + 1)));
  }
}

static bool ends_with(const char *name, const char *end) {
  size_t length = strlen(name), tail = strlen(end);
  return length > tail && strcmp(name + length - tail, end) == 0;
}

static int is_timer(const struct dirent *entry) {
  return entry->d_name[0] != '.' && ends_with(entry->d_name, ".timer") && !ends_with(entry->d_name, "@.timer");
}

static int is_drop_in(const struct dirent *entry) {
  return entry->d_name[0] != '.' && ends_with(entry->d_name, ".conf");
}

/* The names in a folder that a filter takes, sorted; a folder that is not there has none. */
static bool list_names(Arena *arena, const char *folder, int (*filter)(const struct dirent *), const char ***ret,
                       size_t *ret_n) {
  struct dirent **names;
  int n = scandir(folder, &names, filter, alphasort);
  *ret_n = n < 0 ? 0 : (size_t)n;
  *ret = arena_array(arena, *ret_n, sizeof **ret);
  for (size_t i = 0; i < *ret_n; i++) {
    (*ret)[i] = arena_printf(arena, "%s/%s", folder, names[i]->d_name);
    free(names[i]);
  }
  if (n >= 0) free(names);
  return n >= 0;
}

bool timers_of_folder(Arena *arena, const char *folder, const Timer **ret, size_t *ret_n, Error *err) {
  const char **paths, **parts, *text;
  size_t n, n_parts;
  if (!list_names(arena, folder, is_timer, &paths, &n)) {
    error_set(err, ERR_NOT_FOUND, "cannot read the folder %s: %s", folder, strerror(errno));
    return error_hint(err, "check the name, and that whoever runs tidegate may read it");
  }
  Timer *timers = arena_array(arena, n, sizeof *timers);
  for (size_t i = 0; i < n; i++) {
    timers[i] = (Timer){.id = strrchr(paths[i], '/') + 1, .accuracy = usual_accuracy};
    if (!history_file(arena, paths[i], &text, err)) return false;
    take_file(arena, &timers[i], text);
    list_names(arena, arena_printf(arena, "%s.d", paths[i]), is_drop_in, &parts, &n_parts);
    for (size_t p = 0; p < n_parts; p++) {
      if (!history_file(arena, parts[p], &text, err)) return false;
      take_file(arena, &timers[i], text);
    }
  }
  *ret = timers;
  *ret_n = n;
  return true;
}

/* ---- systemctl show ---------------------------------------------------------------------------------------------- */

const char timers_properties[] =
    "--property=Id,Unit,TimersCalendar,TimersMonotonic,RandomizedDelayUSec,AccuracyUSec,Persistent,OnClockChange,"
    "OnTimezoneChange";

/* "{ OnCalendar=*-*-* 02:00:00 ; next_elapse=… }": the part before the semicolon; OnBootUSec is said as OnBootSec. */
static void take_braces(Arena *arena, Timer *timer, const char *value) {
  size_t start = strspn(value, "{ ");
  const char *end = strstr(value, " ; next_elapse="), *equals = strchr(value, '=');
  if (end == NULL || equals == NULL || equals > end) return;
  const char *key = arena_strndup(arena, value + start, (size_t)(equals - value) - start);
  if (ends_with(key, "USec")) key = arena_printf(arena, "%.*sSec", (int)(strlen(key) - strlen("USec")), key);
  take_setting(arena, timer, key, arena_strndup(arena, equals + 1, (size_t)(end - equals) - 1));
}

static void take_property(Arena *arena, Timer *timer, const char *key, const char *value) {
  if (strcmp(key, "Id") == 0)
    timer->id = value;
  else if (strncmp(key, "Timers", strlen("Timers")) == 0)
    take_braces(arena, timer, value);
  else if (ends_with(key, "USec"))
    take_setting(arena, timer, arena_printf(arena, "%.*sSec", (int)(strlen(key) - strlen("USec")), key), value);
  else
    take_setting(arena, timer, key, value);
}

void timers_of_show(Arena *arena, const char *text, const Timer **ret, size_t *ret_n) {
  Timer *timers = NULL;
  size_t n = 0;
  bool open = false;
  while (*text != '\0') {
    size_t length = strcspn(text, "\n");
    const char *line = arena_strndup(arena, text, length), *equals = strchr(line, '=');
    text += length + (text[length] == '\n');
    if (equals == NULL) {
      open = open && *line != '\0';
      continue;
    }
    if (!open) {
      timers = arena_grow(arena, timers, n, sizeof *timers);
      timers[n++] = (Timer){.id = "", .accuracy = usual_accuracy};
      open = true;
    }
    take_property(arena, &timers[n - 1], arena_strndup(arena, line, (size_t)(equals - line)), equals + 1);
  }
  /* A block without a name is none of a timer's. */
  size_t kept = 0;
  for (size_t i = 0; i < n; i++)
    if (ends_with(timers[i].id, ".timer")) timers[kept++] = timers[i];
  *ret = timers;
  *ret_n = kept;
}
