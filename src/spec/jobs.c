#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "spec/spec_int.h"

/* `jobs`, `freeze`, and the values that only jobs have. */

static bool refuse_value(SpecReader *reader, const SpecRow *row, const DocNode *value, const char *wanted) {
  spec_refuse(reader, value, "“%s” must be %s, not “%.100s”", row->key.name, wanted, value->text);
  return spec_hint_example(reader, row);
}

bool spec_read_timetable(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  if (!spec_check_text(reader, row, value)) return false;
  bool interval = strcmp(value->text, "interval") == 0;
  if (!interval && strcmp(value->text, "trigger") != 0) return refuse_value(reader, row, value, "trigger or interval");
  *(bool *)member = interval;
  return true;
}

bool spec_read_day(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  DateRange day;
  if (!spec_check_text(reader, row, value)) return false;
  if (!date_range_parse(value->text, GRAIN_DAY, zone_utc(), &day, reader->err))
    return spec_refuse_inner(reader, row, value);
  if (date_range_count(&day, GRAIN_DAY, zone_utc()) != 1) return refuse_value(reader, row, value, "one day");
  return spec_read_text(reader, row, value, member);
}

bool spec_read_airflow_version(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  if (!spec_check_text(reader, row, value)) return false;
  if (strcmp(value->text, "2") != 0 && strcmp(value->text, "3") != 0) return refuse_value(reader, row, value, "2 or 3");
  *(int *)member = value->text[0] - '0';
  return true;
}

bool spec_read_override(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  static const char *const words[] = {[OVERRIDE_ALLOW] = "allow",
                                      [OVERRIDE_FORBID] = "forbid",
                                      [OVERRIDE_ROLE] = "role",
                                      [OVERRIDE_APPROVER] = "approver"};
  if (!spec_check_text(reader, row, value)) return false;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (strcmp(value->text, words[i]) != 0) continue;
    *(SpecOverride *)member = (SpecOverride)i;
    return true;
  }
  return refuse_value(reader, row, value, "allow, forbid, role or approver");
}

/* "-1d", "+2d", "0": at most a year. */
bool spec_read_shift(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  enum { MOST_DAYS = 366 };
  if (!spec_check_text(reader, row, value)) return false;
  const char *text = value->text;
  char *end;
  long days = strtol(text, &end, 10);
  bool digits =
      isdigit((unsigned char)text[text[0] == '-' || text[0] == '+']) && days >= -MOST_DAYS && days <= MOST_DAYS;
  bool unit = strcmp(end, "d") == 0 || (*end == '\0' && days == 0);
  if (!digits || !unit) return refuse_value(reader, row, value, "whole days with a sign, such as -1d");
  *(int *)member = (int)days;
  return true;
}

/* The line is not shown: it holds the password. */
static bool refuse_secret(SpecReader *reader, const SpecRow *row, const DocNode *value) {
  SpecPlace place = spec_place(reader, value);
  place.source = NULL;
  spec_error(reader->err, &place,
             "the URL of “%s” holds a user or a password: everybody who reads this file or a log would have it",
             row->key.name);
  return error_hint(reader->err,
                    "take it out and change it; write user, and the name of the environment variable "
                    "that holds the password: password_env: AIRFLOW_PASSWORD");
}

bool spec_read_url(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  if (!spec_check_text(reader, row, value)) return false;
  const char *host = strstr(value->text, "://");
  size_t scheme = host == NULL ? 0 : (size_t)(host - value->text);
  if (!(scheme == 4 && strncmp(value->text, "http", 4) == 0) && !(scheme == 5 && strncmp(value->text, "https", 5) == 0))
    return refuse_value(reader, row, value, "a URL that begins with http:// or https://");
  host += 3;
  if (host[0] == '\0' || host[0] == '/') return refuse_value(reader, row, value, "a URL with a host");
  if (memchr(host, '@', strcspn(host, "/?#")) != NULL) return refuse_secret(reader, row, value);
  return spec_read_text(reader, row, value, member);
}

/* A whole number from lowest to highest at the start of a text; *ret_end behind it. */
static bool take_number(const char *text, long long lowest, long long highest, const char **ret_end) {
  char *end;
  if (!isdigit((unsigned char)text[text[0] == '-'])) return false;
  errno = 0;
  long long number = strtoll(text, &end, 10);
  *ret_end = end;
  return errno == 0 && number >= lowest && number <= highest;
}

bool spec_read_advisory_lock(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  static const char wanted[] = "one number, or two with a comma between";
  const char *end;
  if (!spec_check_text(reader, row, value)) return false;
  bool two = strchr(value->text, ',') != NULL;
  if (!take_number(value->text, two ? INT32_MIN : INT64_MIN, two ? INT32_MAX : INT64_MAX, &end))
    return refuse_value(reader, row, value, wanted);
  if (two && (*end != ',' || !take_number(end + 1 + strspn(end + 1, " "), INT32_MIN, INT32_MAX, &end)))
    return refuse_value(reader, row, value, wanted);
  if (*end != '\0') return refuse_value(reader, row, value, wanted);
  return spec_read_text(reader, row, value, member);
}

/* ---- jobs -------------------------------------------------------------------------------------------------------- */

/* The job of that name among those read so far: a target's entry may say more of it. A new one has the defaults. */
static bool begin_job(SpecReader *reader, const Spec *spec, const DocNode *node, SpecJob *ret, size_t *ret_at) {
  SpecReader defaults = {.arena = reader->arena, .level = reader->level, .err = reader->err};
  for (size_t i = 0; i < spec->n_jobs; i++)
    if (strcmp(spec->jobs[i].name.text, node->key) == 0) {
      *ret = spec->jobs[i];
      *ret_at = i;
      return true;
    }
  *ret = (SpecJob){.name = spec_key_text(reader, node), .when.p95 = -1, .per_date = -1};
  *ret_at = spec->n_jobs;
  return spec_apply_defaults(&defaults, "jobs", ret) && spec_apply_defaults(&defaults, "jobs.live", ret);
}

static bool read_job(SpecReader *reader, const SpecRow *row, const DocNode *node, Spec *spec) {
  SpecJob job;
  size_t at;
  if (!begin_job(reader, spec, node, &job, &at)) return false;
  if (node->kind != DOC_MAPPING) {
    spec_refuse(reader, node, "the job “%.200s” must be a map of its keys", node->key);
    return spec_hint_example(reader, row);
  }
  if (!spec_read_keys(reader, row->key.name, node, &job)) return false;
  SpecJob *jobs = arena_array(reader->arena, spec->n_jobs + 1, sizeof *jobs);
  if (spec->n_jobs > 0) memcpy(jobs, spec->jobs, spec->n_jobs * sizeof *jobs);
  jobs[at] = job;
  spec->jobs = jobs;
  if (at == spec->n_jobs) spec->n_jobs++;
  return true;
}

bool spec_read_jobs(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  Spec *spec = member;
  if (value->kind != DOC_MAPPING || value->n == 0) {
    spec_refuse(reader, value, "“jobs” must be a map of jobs by name");
    return spec_hint_example(reader, row);
  }
  for (size_t i = 0; i < value->n; i++)
    if (!read_job(reader, row, &value->children[i], spec)) return false;
  return true;
}

static bool check_live(const char *job, const SpecLive *live, Error *err) {
  const SpecAirflow *airflow = &live->airflow;
  const SpecText *given = airflow->url.text != NULL ? &airflow->url : &airflow->dag;
  if (given->text != NULL && (airflow->url.text == NULL || airflow->dag.text == NULL)) {
    spec_error(err, &given->place, "to ask Airflow about %s, both url and dag are needed", job);
    return error_hint(err, "write: airflow: {url: \"http://127.0.0.1:8080\", dag: nightly_load}");
  }
  if (live->heartbeat.text != NULL && live->heartbeat_within <= 0) {
    spec_error(err, &live->heartbeat.place, "how old the heartbeat of %s may be while it runs is not said", job);
    return error_hint(err, "write beside it: heartbeat_within: 2m");
  }
  return true;
}

static bool check_shadow(const SpecJob *job, Error *err) {
  const SpecText *parameter = &job->shadow_parameter, *role = &job->shadow_role;
  if ((parameter->text == NULL) == (role->text == NULL)) return true;
  spec_error(err, parameter->text != NULL ? &parameter->place : &role->place,
             "that %.200s writes a shadow can be proven by parameter and role together only", job->name.text);
  return error_hint(err, "write: shadow: {parameter: \"--target shadow\", role: etl_shadow}");
}

static bool check_override(const Spec *spec, Error *err) {
  if (spec->override != OVERRIDE_ROLE || spec->override_role.text != NULL) return true;
  spec_error(err, &spec->pipeline_file, "“gate.override” is role, and which role is not said");
  return error_hint(err, "write: gate: {override: role, role: backfill_override}");
}

bool spec_check_jobs(const Spec *spec, Error *err) {
  if (!check_live("production", &spec->production.live, err) || !check_override(spec, err)) return false;
  for (size_t i = 0; i < spec->n_jobs; i++) {
    const SpecJob *job = &spec->jobs[i];
    if (job->writes.n == 0 && job->reads.n == 0) {
      spec_error(err, &job->name.place, "of the job “%.200s” neither what it writes nor what it reads is said",
                 job->name.text);
      return error_hint(err, "write the tables: writes: [daily_delays]");
    }
    if (!check_live(job->name.text, &job->live, err) || !check_shadow(job, err)) return false;
  }
  return true;
}

/* ---- freeze ------------------------------------------------------------------------------------------------------ */

static bool read_freeze(SpecReader *reader, const SpecRow *row, const DocNode *node, SpecFreeze *ret) {
  if (node->kind != DOC_MAPPING) return spec_read_text(reader, row, node, &ret->text);
  const DocNode *file = doc_get(node, "file");
  if (file == NULL || node->n != 1) {
    spec_refuse(reader, node, "an item of “freeze” is a text, or a map of file alone");
    return error_hint(reader->err, "write: {file: holidays.txt}");
  }
  *ret = (SpecFreeze){.file = true};
  if (!spec_read_text(reader, row, file, &ret->text)) return false;
  ret->path = spec_beside(reader, ret->text.text);
  return true;
}

bool spec_read_freeze(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  Spec *spec = member;
  const DocNode *items = value->kind == DOC_SEQUENCE ? value->children : value;
  size_t n = value->kind == DOC_SEQUENCE ? value->n : 1;
  SpecFreeze *freezes = arena_array(reader->arena, n, sizeof *freezes);
  for (size_t i = 0; i < n; i++)
    if (!read_freeze(reader, row, &items[i], &freezes[i])) return false;
  spec->freezes = freezes;
  spec->n_freezes = n;
  return true;
}
