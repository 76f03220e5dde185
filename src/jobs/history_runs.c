#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "jobs/history_int.h"

/* What a history says of its runs and its schedule, worked out in one place for every source. */

enum { FILE_MAX = 64 * 1024 * 1024, WEEK = 7 * 86400, WEEKS = 8 };

Instant history_now(void) { return (Instant)time(NULL); }

Instant history_since(const JobSource *source) {
  return history_now() - (Instant)((source->weeks > 0 ? source->weeks : WEEKS) * WEEK);
}

void history_doubt(Arena *arena, JobHistory *history, const char *key, const char *format, ...) {
  va_list args;
  va_start(args, format);
  JobDoubt *doubts = arena_grow(arena, (void *)history->doubts, history->n_doubts, sizeof *doubts);
  doubts[history->n_doubts++] = (JobDoubt){key, arena_vprintf(arena, format, args)};
  va_end(args);
  history->doubts = doubts;
}

/* ---- durations --------------------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

double jobs_p95(const double *seconds, size_t n) {
  if (n == 0) return -1;
  ARENA_SCOPED arena = {0};
  double *sorted = arena_array(&arena, n, sizeof *sorted);
  memcpy(sorted, seconds, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, by_value);
  return sorted[(n * 95 + 99) / 100 - 1];
}

static int by_fire(const void *a, const void *b) {
  const JobRun *left = a, *right = b;
  if (left->scheduled != right->scheduled) return left->scheduled < right->scheduled ? -1 : 1;
  return (left->started > right->started) - (left->started < right->started);
}

/*
 * A run that began after the next one was due either waited for one before it, which is queue time like any other, or
 * was caught up. A chain of caught-up runs waits for one another: the first of it had nothing in its way.
 */
static void mark_late(JobRun *runs, size_t n, Instant next_due) {
  Instant busy_until = INSTANT_MIN; /* by runs in their time */
  for (size_t i = 0; i < n; i++) {
    Instant due = i + 1 < n ? runs[i + 1].scheduled : next_due;
    runs[i].late = runs[i].started >= due && busy_until < due;
    if (!runs[i].late && runs[i].ended > busy_until) busy_until = runs[i].ended;
  }
}

void history_runs(Arena *arena, JobHistory *history, JobRun *runs, size_t n, Instant next_due) {
  if (n > 0) qsort(runs, n, sizeof *runs, by_fire);
  if (next_due == 0 && n >= 2) next_due = 2 * runs[n - 1].scheduled - runs[n - 2].scheduled;
  if (next_due == 0) next_due = INSTANT_MAX;
  mark_late(runs, n, next_due);
  double *all = arena_array(arena, n, sizeof *all), *well = arena_array(arena, n, sizeof *well),
         *waits = arena_array(arena, n, sizeof *waits);
  size_t n_all = 0, n_well = 0;
  for (size_t i = 0; i < n; i++) {
    if (runs[i].late) continue;
    double length = (double)(runs[i].ended - runs[i].scheduled);
    waits[n_all] = (double)(runs[i].started - runs[i].scheduled);
    all[n_all++] = length;
    if (!runs[i].failed) well[n_well++] = length;
  }
  history->items = runs;
  history->n = n;
  history->runs = (int)n_all;
  history->late = (int)(n - n_all);
  /* Runs that fail soon are no reason to think that one which goes well is short. */
  double p95 = jobs_p95(all, n_all), p95_well = jobs_p95(well, n_well), wait = jobs_p95(waits, n_all);
  history->p95 = p95 > p95_well ? p95 : p95_well;
  if (history->jitter <= 0 && wait > 0) history->jitter = wait;
}

/* ---- schedules --------------------------------------------------------------------------------------------------- */

void history_schedule(Arena *arena, JobHistory *history, const char *dialect, const char *expression,
                      const char *zone) {
  const Zone *opened = zone_utc();
  const Schedule *schedule;
  Error err;
  history->zone = zone;
  if ((zone != NULL && !zone_open(arena, zone, &opened, &err)) ||
      !schedule_parse(arena, dialect, expression, opened, &schedule, &err)) {
    history->refusal = arena_printf(arena, "%s (%s)", err.message, error_hint_text(&err));
    return;
  }
  const char *own = zone_name(schedule_zone(schedule)); /* that of the expression, if it names one */
  if (strcmp(own, zone_name(opened)) != 0) history->zone = own;
  history->expression = arena_strdup(arena, expression);
  history->dialect = dialect;
}

bool history_fires(const char *dialect, const char *expression, const char *zone, const Instant *at, size_t n) {
  ARENA_SCOPED arena = {0};
  const Zone *opened;
  const Schedule *schedule;
  Error ignored;
  if (!zone_open(&arena, zone, &opened, &ignored) ||
      !schedule_parse(&arena, dialect, expression, opened, &schedule, &ignored))
    return false;
  for (size_t i = 0; i < n; i++) {
    Instant next;
    if (!schedule_next_any(schedule, at[i] - 1, &next) || next != at[i]) return false;
  }
  return true;
}

/* ---- this machine ------------------------------------------------------------------------------------------------ */

static void close_file(FILE **file) {
  if (*file != NULL) fclose(*file);
}

static bool cannot_read(const char *path, int cause, Error *err) {
  error_set(err, ERR_NOT_FOUND, "cannot read %s: %s", path, strerror(cause));
  return error_hint(err, "check the name, and that whoever runs tidegate may read it");
}

bool history_file(Arena *arena, const char *path, const char **ret, Error *err) {
  __attribute__((cleanup(close_file))) FILE *file = fopen(path, "re");
  BUF_SCOPED text = {0};
  char block[65536];
  size_t n;
  if (file == NULL) return cannot_read(path, errno, err);
  while (text.len <= FILE_MAX && (n = fread(block, 1, sizeof block, file)) > 0) buf_append(&text, block, n);
  if (ferror(file)) return cannot_read(path, errno, err);
  if (text.len > FILE_MAX) return error_set(err, ERR_SPEC, "%s is larger than %d MiB", path, FILE_MAX / 1024 / 1024);
  if (memchr(buf_text(&text), '\0', text.len) != NULL)
    return error_set(err, ERR_SPEC, "%s holds a NUL byte: it is no text", path) ||
           error_hint(err, "save it as UTF-8 text, or name the file that was meant");
  *ret = arena_strdup(arena, buf_text(&text));
  return true;
}

const char *history_machine_zone(Arena *arena) {
  static const char place[] = "/zoneinfo/";
  char target[512];
  ssize_t n = readlink("/etc/localtime", target, sizeof target - 1);
  if (n < 0) return errno == ENOENT ? "UTC" : NULL; /* localtime(5): without the file, UTC */
  target[n] = '\0';
  const char *name = strstr(target, place);
  if (name == NULL) return NULL;
  name += strlen(place);
  return strcmp(name, "Etc/UTC") == 0 ? "UTC" : arena_strdup(arena, name);
}
