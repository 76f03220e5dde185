#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/session.h"
#include "time/quantity.h"
#include "time/window.h"

static int run(Session *session);

static const CliOption options[] = {
    {"dialect", '\0', "NAME", "how the expression is written (vixie)"},
    {"zone", '\0', "ZONE", "the IANA zone of its wall clock (UTC)"},
    {"from", '\0', "TIME", "next: fires after this instant, RFC 3339 (now)"},
    {"count", 'n', "N", "next: how many (1)"},
    {"gap", '\0', "POLICY", "next: a time that does not exist: skip, shift or gap_end (skip)"},
    {"overlap", '\0', "POLICY", "next: a time that exists twice: first, second or both (both)"},
    {"p95", '\0', "MIN", "check: how long a production run takes, in minutes or as 1h30m (0)"},
    {"guard", '\0', "MIN", "check: distance to keep from a run (15)"},
    {"jitter", '\0', "MIN", "check: how late a run may start (0)"},
    {"start", '\0', "TIME", "check: when the work would start, RFC 3339"},
    {"end", '\0', "TIME", "check: when it would have ended, RFC 3339"},
    {NULL, '\0', NULL, NULL}};

static const CliExample examples[] = {
    {"tidegate schedule next --zone America/New_York --from 2025-03-08T00:00:00Z --count 3 '30 2 * * *'",
     "three instants in UTC, one a line"},
    {"tidegate schedule check --zone UTC --p95 90 --guard 15 --start 2024-03-01T23:00:00Z --end "
     "2024-03-02T01:45:00Z '0 2 * * *'",
     "allow, exit status 0; or deny with the reason, exit status 3"},
    {NULL, NULL}};

const Command command_schedule = {
    .name = "schedule",
    .summary = "when a schedule fires, or whether a stretch of time is free of it",
    .arguments = "next|check EXPRESSION",
    .min_args = 2,
    .max_args = 2,
    .options = options,
    .about =
        "Plumbing for scripts and tests; the output is stable.\n\n"
        "`next` prints the fires under the two policies, one RFC 3339 instant in UTC a line. `check` judges the "
        "half-open stretch from --start to --end against the union of all readings of the schedule and prints "
        "`allow` or `deny` with the reason. An expression that is not understood is exit status 2 for `next` and "
        "a denial for `check`: what is not understood is not safe.",
    .exits = {ERR_DENIED, ERR_NONE},
    .examples = examples,
    .run = run};

/* The index of an option's word; 0 when it is not given. */
static bool choose(const Args *args, const char *name, const char *const words[3], int fallback, int *ret, Error *err) {
  const char *given = args_value(args, name);
  *ret = fallback;
  if (given == NULL) return true;
  for (int i = 0; i < 3; i++) {
    if (strcmp(given, words[i]) != 0) continue;
    *ret = i;
    return true;
  }
  return error_set(err, ERR_USAGE, "--%s is %s, %s or %s, not %s", name, words[0], words[1], words[2], given);
}

/* Minutes as a bare number, or a quantity with its unit; in seconds. */
static bool minutes(const Args *args, const char *name, double fallback, double *ret, Error *err) {
  const char *given = args_value(args, name);
  *ret = fallback * 60;
  if (given == NULL) return true;
  char *end = NULL;
  double value = strtod(given, &end);
  if (end != given && *end == '\0' && value >= 0 && value < 1e6) {
    *ret = value * 60;
    return true;
  }
  return duration_parse(given, ret, err) || error_wrap(err, "--%s", name);
}

static bool instant(const Args *args, const char *name, Instant *ret, Error *err) {
  const char *given = args_value(args, name);
  if (given == NULL) return error_set(err, ERR_USAGE, "schedule check needs --%s TIME", name);
  return instant_parse(given, ret, err) || error_wrap(err, "--%s", name);
}

static bool parse(Session *session, const Schedule **ret, Error *err) {
  const char *dialect = args_value(session->args, "dialect"), *name = args_value(session->args, "zone");
  const Zone *zone = NULL;
  return zone_open(&session->arena, name == NULL ? "UTC" : name, &zone, err) &&
         schedule_parse(&session->arena, dialect == NULL ? "vixie" : dialect, session_word(session, 1), zone, ret, err);
}

static int next(Session *session) {
  static const char *const gaps[] = {"skip", "shift", "gap_end"}, *const overlaps[] = {"first", "second", "both"};
  const Schedule *schedule = NULL;
  int gap = 0, overlap = 0;
  long count = 0;
  Instant at = time(NULL);
  Error err;
  const char *from = args_value(session->args, "from");
  if (!choose(session->args, "gap", gaps, GAP_SKIP, &gap, &err) ||
      !choose(session->args, "overlap", overlaps, OVERLAP_BOTH, &overlap, &err) ||
      !args_number(session->args, "count", 1, 1, &count, &err) || (from != NULL && !instant_parse(from, &at, &err)) ||
      !parse(session, &schedule, &err))
    return session_fail(session, &err);
  Json json = {.out = &session->buffer};
  if (session->json) json_array(&json, NULL);
  for (long i = 0; i < count && schedule_next(schedule, at, (GapPolicy)gap, (OverlapPolicy)overlap, &at); i++) {
    char text[40];
    instant_rfc3339(at, zone_utc(), text);
    if (session->json)
      json_text(&json, NULL, text);
    else
      buf_printf(&session->buffer, "%s\n", text);
  }
  if (session->json) json_array_end(&json);
  if (session->json) buf_putc(&session->buffer, '\n');
  return session_flush(session);
}

static int answer(Session *session, bool allow, const char *why) {
  if (session->json) {
    Json json = session_object(session);
    json_bool(&json, "allow", allow);
    json_text(&json, "why", why);
    session_object_end(session, &json);
  } else {
    buf_puts(&session->buffer, allow ? "allow" : "deny: ");
    paint_text(&session->paint, why);
    buf_putc(&session->buffer, '\n');
  }
  int status = session_flush(session);
  return allow ? status : error_exit_status(ERR_DENIED);
}

static int check(Session *session) {
  BusyRule rule = {0};
  Instant start = 0, end = 0;
  WindowClosed closed;
  Error err;
  if (!minutes(session->args, "p95", 0, &rule.p95, &err) || !minutes(session->args, "guard", 15, &rule.guard, &err) ||
      !minutes(session->args, "jitter", 0, &rule.jitter, &err) || !instant(session->args, "start", &start, &err) ||
      !instant(session->args, "end", &end, &err))
    return session_fail(session, &err);
  if (end < start) {
    error_set(&err, ERR_USAGE, "--end is before --start");
    return session_fail(session, &err);
  }
  if (!parse(session, &rule.schedule, &err)) return answer(session, false, err.message);
  if (window_free(&(WindowRules){.busy = &rule, .n = 1}, start, end, &closed)) return answer(session, true, "");
  char text[40];
  instant_rfc3339(closed.at, zone_utc(), text);
  return answer(session, false,
                arena_printf(&session->arena, "the production run of %s, with its guard, meets it", text));
}

static int run(Session *session) {
  const char *verb = session_word(session, 0);
  if (strcmp(verb, "next") == 0) return next(session);
  if (strcmp(verb, "check") == 0) return check(session);
  Error err;
  error_set(&err, ERR_USAGE, "schedule knows next and check, not %s", verb);
  return session_fail(session, &err);
}
