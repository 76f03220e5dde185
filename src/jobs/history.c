#include "jobs/history.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "jobs/history_int.h"

/* The table of sources: what stands before the job's name in `from`, and whether a place is a path. */
static const struct Kind {
  const char *name, *noun;
  bool path, place; /* place: it cannot do without one */
  HistoryReader *read;
} kinds[] = {{"airflow", "dag", false, true, history_airflow},
             {"csv", "job", true, true, history_csv},
             {"crontab", "command", true, false, history_crontab},
             {"systemd", "timer", true, false, history_systemd},
             {"pg_cron", "job", false, false, history_pg_cron}};

static const struct Kind *find_kind(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strlen(kinds[i].name) == length && strncmp(kinds[i].name, name, length) == 0) return &kinds[i];
  return NULL;
}

/* The same file from wherever it is asked for again; one that is not there stays as written, and the reader says so. */
static const char *absolute(Arena *arena, const char *path) {
  char whole[PATH_MAX];
  return realpath(path, whole) == NULL ? path : arena_strdup(arena, whole);
}

bool jobs_source_parse(Arena *arena, const char *text, JobSource *ret, Error *err) {
  size_t length = strcspn(text, "=");
  const struct Kind *kind = find_kind(text, length);
  const char *place = text[length] == '=' && text[length + 1] != '\0' ? text + length + 1 : NULL;
  if (kind == NULL) {
    error_set(err, ERR_USAGE, "'%.60s' is no source of jobs", text);
    return error_hint(err,
                      "airflow=URL, csv=FILE, crontab or crontab=FILE, systemd or systemd=FOLDER, pg_cron or "
                      "pg_cron=DATABASE");
  }
  if (kind->place && place == NULL) {
    error_set(err, ERR_USAGE, "%s does not say where", kind->name);
    return error_hint(err, "write: %s=%s", kind->name, kind->path ? "FILE" : "URL");
  }
  ret->kind = kind->name;
  ret->place = place != NULL && kind->path ? absolute(arena, place) : place;
  return true;
}

static const char *from_text(Arena *arena, const JobSource *source, const char *job) {
  const struct Kind *kind = find_kind(source->kind, strlen(source->kind));
  return arena_printf(arena, "%s%s%s %s %s", kind->name, source->place == NULL ? "" : " ",
                      source->place == NULL ? "" : source->place, kind->noun, job);
}

/* from_text read backwards. */
static bool parse_from(Arena *arena, const char *from, JobSource *ret, Error *err) {
  const struct Kind *kind = find_kind(from, strcspn(from, " "));
  if (kind != NULL) {
    const char *rest = from + strlen(kind->name);
    const char *divider = arena_printf(arena, " %s ", kind->noun), *at = strstr(rest, divider);
    if (at != NULL && at[strlen(divider)] != '\0' && (at > rest || !kind->place)) {
      ret->kind = kind->name;
      ret->place = at == rest ? NULL : arena_strndup(arena, rest + 1, (size_t)(at - rest) - 1);
      ret->job = at + strlen(divider);
      return true;
    }
  }
  error_set(err, ERR_USAGE, "what `from` says ('%.80s') is no source that can be asked", from);
  return error_hint(
      err,
      "tidegate init --jobs writes such as: airflow http://127.0.0.1:8080 dag nightly_load; somebody's own "
      "words are fine, and are not compared");
}

bool jobs_history(Arena *arena, Engine *engine, const JobSource *source, const JobHistory **ret, size_t *ret_n,
                  Error *err) {
  HistoryList list = {0};
  const struct Kind *kind = find_kind(source->kind, strlen(source->kind));
  if (!kind->read(arena, engine, source, &list, err)) return false;
  if (list.n == 0 && source->job != NULL) {
    error_set(err, ERR_NOT_FOUND, "%s%s%s knows no %s %s", source->kind, source->place == NULL ? "" : " ",
              source->place == NULL ? "" : source->place, kind->noun, source->job);
    return error_hint(err, "it was renamed or taken away: correct `from`, or take the job out of tidegate.yaml");
  }
  *ret = list.items;
  *ret_n = list.n;
  return true;
}

bool jobs_history_read(Arena *arena, Engine *engine, const char *from, const SpecAirflow *access, JobHistory *ret,
                       Error *err) {
  JobSource source = {0};
  const JobHistory *found;
  size_t n;
  if (access != NULL) source.access = *access;
  if (!parse_from(arena, from, &source, err) || !jobs_history(arena, engine, &source, &found, &n, err)) return false;
  *ret = found[0];
  return true;
}

JobHistory *history_add(Arena *arena, HistoryList *list, const JobSource *source, const char *job) {
  list->items = arena_grow(arena, list->items, list->n, sizeof *list->items);
  JobHistory *history = &list->items[list->n++];
  *history = (JobHistory){
      .name = arena_strdup(arena, job), .p95 = -1, .from = from_text(arena, source, job), .read_at = history_now()};
  return history;
}
