#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "gate/trigger/http_int.h"

/* Airflow's REST interface, 2 (/api/v1), 3 (/api/v2) and the experimental one of 1.10, as the sources of 2.11 and 3.3
 * have it. airflowctl and the page of Airflow 3 use the same paths. */

typedef enum Act {
  PASS,    /* changes no data */
  RANGE,   /* a backfill of dates in the body */
  CLEAR,   /* runs again; only says what it would do unless dry_run is false */
  RUN,     /* one run of a date in the body */
  CHANGE,  /* state or note of what ran */
  CHANGES, /* several of these */
  DELETE   /* of what ran */
} Act;

/* The first that fits counts; "*" is any one segment, "**" any rest. */
static const struct {
  const char *methods, *path;
  Act act;
} routes[] = {
    {"POST", "backfills/dry_run", PASS},
    {"POST", "backfills", RANGE},
    /* What goes on was judged when it was made. */
    {"PUT", "backfills/*/pause", PASS},
    {"PUT", "backfills/*/unpause", PASS},
    {"PUT", "backfills/*/cancel", PASS},
    {"POST", "dags/*/clearTaskInstances", CLEAR},
    {"POST", "dags/*/clearDagRuns", CLEAR},
    {"POST", "dags/*/clearPartitions", CLEAR},
    {"POST", "dags/*/updateTaskInstancesState", CLEAR},
    {"POST", "dags/*/dagRuns/*/clear", CLEAR},
    {"POST", "dags/*/dagRuns/list", PASS},
    {"POST", "dags/*/dagRuns/*/taskInstances/list", PASS},
    {"POST", "dags/*/taskInstances/list", PASS},
    {"POST", "dags/*/dagRuns", RUN},
    {"POST", "dags/*/dag_runs", RUN},
    {"PATCH", "dags/*/dagRuns", CHANGES},
    {"PATCH", "dags/*/dagRuns/*/taskInstances", CHANGES},
    {"PATCH", "dags/*/dagRuns/*/taskInstances/*/dry_run", PASS},
    {"PATCH", "dags/*/dagRuns/*/taskInstances/*/*/dry_run", PASS},
    {"PATCH", "dags/*/dagRuns/*/taskGroupInstances/*/dry_run", PASS},
    {"PATCH", "dags/*/dagRuns/*/setNote", PASS},
    {"PATCH", "dags/*/dagRuns/*/taskInstances/*/setNote", PASS},
    {"PATCH", "dags/*/dagRuns/*/taskInstances/*/*/setNote", PASS},
    /* What tasks tell one another, and what a person answers to a task that asks. */
    {"POST PUT PATCH DELETE", "dags/*/dagRuns/*/taskInstances/*/xcomEntries/**", PASS},
    {"POST PUT PATCH DELETE", "dags/*/dagRuns/*/taskInstances/*/state-store/**", PASS},
    {"PATCH", "dags/*/dagRuns/*/taskInstances/*/*/hitlDetails", PASS},
    {"PATCH PUT POST", "dags/*/dagRuns/**", CHANGE},
    {"DELETE", "dags/*/dagRuns/**", DELETE},
    {"POST", "assets/*/materialize", RUN},
};

enum { MAX_SEGMENTS = 24 };

typedef struct Path {
  const char *segments[MAX_SEGMENTS];
  size_t n;
  bool long_one; /* there are more */
} Path;

static char *decoded(Arena *arena, const char *text, size_t n) {
  char *out = arena_array(arena, n + 1, 1), hex[3] = "";
  size_t length = 0;
  for (size_t i = 0; i < n; i++) {
    bool coded =
        text[i] == '%' && i + 2 < n && isxdigit((unsigned char)text[i + 1]) && isxdigit((unsigned char)text[i + 2]);
    if (coded) memcpy(hex, text + i + 1, 2);
    unsigned char c = coded ? (unsigned char)strtoul(hex, NULL, 16) : (unsigned char)text[i];
    /* A byte that would be read as a mark of a word stays coded. */
    if (coded && c > ' ')
      i += 2;
    else
      c = (unsigned char)text[i];
    out[length++] = (char)c;
  }
  out[length] = '\0';
  return out;
}

/* Cut at slashes, as a server sees it: clients resolve "." and "..", and nobody tells a slash at the end. */
static Path cut(Arena *arena, const char *text) {
  Path path = {0};
  const char *plain = decoded(arena, text, strcspn(text, "?#"));
  for (const char *at = plain; *at != '\0';) {
    size_t n = strcspn(at, "/");
    const char *segment = arena_strndup(arena, at, n);
    if (strcmp(segment, "..") == 0 && path.n > 0)
      path.n--;
    else if (n > 0 && strcmp(segment, ".") != 0 && strcmp(segment, "..") != 0) {
      if (path.n == MAX_SEGMENTS)
        path.long_one = true;
      else
        path.segments[path.n++] = segment;
    }
    at += n + (at[n] == '/');
  }
  return path;
}

static bool fits(const char *pattern, const Path *path) {
  size_t i = 0;
  for (; *pattern != '\0'; i++) {
    size_t n = strcspn(pattern, "/");
    if (n == 2 && memcmp(pattern, "**", 2) == 0) return true;
    if (i >= path->n) return false;
    bool any = n == 1 && *pattern == '*';
    if (!any && (strlen(path->segments[i]) != n || memcmp(path->segments[i], pattern, n) != 0)) return false;
    pattern += n + (pattern[n] == '/');
  }
  return i == path->n && !path->long_one;
}

/* ---- what the body says ------------------------------------------------------------------------------------------ */

static const char *text_at(const HttpRequest *r, const char *key) {
  const DocNode *found = r->json == NULL ? NULL : doc_get(r->json, key);
  return found != NULL && found->kind == DOC_SCALAR ? found->text : NULL;
}

static bool said(const HttpRequest *r, const char *key, const char *value) {
  const char *text = text_at(r, key);
  return text != NULL && strcasecmp(text, value) == 0;
}

/* What it does beside running the dates again. NULL: nothing. */
static const char *danger(const HttpRequest *r, Act act) {
  const char *reprocess = text_at(r, "reprocess_behavior");
  if (act == RANGE && reprocess != NULL && strcasecmp(reprocess, "none") != 0)
    return "runs dates again that are done or have failed";
  if (act == RANGE && said(r, "run_backwards", "true")) return "newest date first";
  if (act == CLEAR && (said(r, "include_past", "true") || said(r, "include_future", "true")))
    return "also runs dates again that are not given";
  if (act == CHANGE || act == CHANGES)
    return "sets by hand the state of what ran: it runs again, or counts as done without";
  if (act == DELETE) return "deletes the record of what ran, so that it may run again";
  return NULL;
}

/* A note on a run or a task, and no state. */
static bool only_note(const HttpRequest *r) {
  if (r->json == NULL || r->json->kind != DOC_MAPPING || doc_get(r->json, "note") == NULL) return false;
  return doc_get(r->json, "state") == NULL && doc_get(r->json, "new_state") == NULL &&
         doc_get(r->json, "dry_run") == NULL;
}

/* The end of a backfill or a clear is an instant, as the command line's is. */
static bool until_midnight(const HttpRequest *r, Act act) {
  if (r->json == NULL || (act != RANGE && act != CLEAR)) return false;
  size_t n = strlen(doc_text(r->json, act == RANGE ? "to_date" : "end_date", ""));
  return n > 0 && n <= 10;
}

static void add(const HttpRequest *r, const char *system, const char *target, Act act, const char *why) {
  DateSpan span = {0};
  /* The dates of a run by hand are where its DAG looks for them; what a backfill hands to its runs is no range of it.
   */
  if (r->json != NULL && act != CHANGE && act != CHANGES) http_dates(r->json, r->f->arena, act == RUN, &span);
  finder_add(r->f, (Trigger){.sure = why == NULL,
                             .system = arena_printf(r->f->arena, "%s%s", system, r->suffix),
                             .target = target,
                             .from = span.from,
                             .to = span.to,
                             .until_midnight = until_midnight(r, act),
                             .danger = danger(r, act),
                             .why = why});
}

static const char *doubt(const HttpRequest *r, Act act) {
  if (!word_known(r->method)) return "the method of the request is not known";
  if (act != CLEAR || said(r, "dry_run", "false")) return NULL;
  return "the request does not say dry_run, whose default is true today and may be another tomorrow";
}

static const char *known(const char *segment) {
  return word_known(segment) && strcmp(segment, "~") != 0 ? segment : NULL;
}

/* ---- which request it is ----------------------------------------------------------------------------------------- */

/* A path that is not in the table: does it concern runs? A DAG may be named like one. */
static bool names_runs(const Path *path) {
  for (size_t i = 0; i < path->n; i++)
    if (i != 1 && (!word_known(path->segments[i]) ||
                   text_names(path->segments[i], "run* backfill* clear* taskinstance* materialize* partition*")))
      return true;
  return path->long_one;
}

/* The part of the path behind /api/v2 and the like. Returns the system's name, NULL when it is not Airflow's. */
static const char *below_version(const Path *whole, Path *ret) {
  static const struct {
    const char *version, *system, *firsts;
  } versions[] = {{"v2", "airflow3 API", "dags backfills assets"},
                  {"v1", "airflow2 API", "dags"},
                  {"experimental", "airflow2 API", "dags"}};
  for (size_t i = 0; i + 2 < whole->n; i++) {
    if (strcmp(whole->segments[i], "api") != 0) continue;
    for (size_t k = 0; k < sizeof versions / sizeof *versions; k++) {
      if (strcmp(whole->segments[i + 1], versions[k].version) != 0) continue;
      if (!word_in(whole->segments[i + 2], versions[k].firsts)) continue;
      *ret = (Path){.n = whole->n - i - 2, .long_one = whole->long_one};
      memcpy(ret->segments, whole->segments + i + 2, ret->n * sizeof *ret->segments);
      return versions[k].system;
    }
  }
  return NULL;
}

bool http_airflow(const HttpRequest *r) {
  Path whole = cut(r->f->arena, r->path), path;
  const char *system = below_version(&whole, &path);
  if (system == NULL) return false;
  const char *target = path.n > 1 ? known(path.segments[1]) : text_at(r, "dag_id");
  size_t k = 0, n = sizeof routes / sizeof *routes;
  bool any_method = !word_known(r->method);
  while (k < n && !((any_method || word_in(r->method, routes[k].methods)) && fits(routes[k].path, &path))) k++;
  if (k == n) {
    if (names_runs(&path)) add(r, system, target, RUN, "what this request does is not known");
    return true;
  }
  Act act = routes[k].act;
  if (act == PASS || (act == CLEAR && said(r, "dry_run", "true")) || (act == CHANGE && only_note(r))) return true;
  add(r, system, target, act, doubt(r, act));
  return true;
}
