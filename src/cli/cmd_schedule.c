#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/session.h"
#include "time/quantity.h"
#include "time/window.h"

static int run(Session *session);

static const CliOption options[] = {
    {"dialect", '\0', "NAME", "whose schedule language it is, see above (vixie)"},
    {"zone", '\0', "ZONE", "the IANA zone of its wall clock, unless it names one itself (UTC)"},
    {"from", '\0', "TIME", "next: fires after this instant, RFC 3339 (now)"},
    {"count", 'n', "N", "next: how many (1)"},
    {"gap", '\0', "POLICY",
     "next: a time that does not exist: skip, shift or gap_end (as the dialect's scheduler does)"},
    {"overlap", '\0', "POLICY",
     "next: a time that exists twice: first, second or both (as the dialect's scheduler does)"},
    {"day-and", '\0', NULL, "both day fields must match, as croniter does with day_or=False"},
    {"interval", '\0', NULL, "next: after each fire the logical date of its run, for Airflow's data intervals"},
    {"p95", '\0', "MIN", "check: how long a production run takes, in minutes or as 1h30m (0)"},
    {"guard", '\0', "MIN", "check: distance to keep from a run (15)"},
    {"jitter", '\0', "MIN", "check: how late a run may start (0)"},
    {"start", '\0', "TIME", "check: when the work would start, RFC 3339"},
    {"end", '\0', "TIME", "check: when it would have ended, RFC 3339"},
    {NULL, '\0', NULL, NULL}};

static const CliExample examples[] = {
    {"tidegate schedule next --zone America/New_York --from 2025-03-08T00:00:00Z --count 3 '30 2 * * *'",
     "three instants in UTC, one a line"},
    {"tidegate schedule next --dialect airflow --interval --from 2024-03-31T12:00:00Z @daily",
     "when the run starts, 2024-04-01, and its logical date, 2024-03-31"},
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
        "`next` prints the fires, one RFC 3339 instant in UTC a line: fewer than asked for when there are no more, and "
        "an error when there is none at all. `check` judges the half-open stretch from --start to --end against the "
        "union of all readings of the schedule and prints `allow` or `deny` with the reason. An expression that is not "
        "understood, or that never fires again, is exit status 2 for `next` and a denial for `check`: what is not "
        "understood is not safe.\n\n"
        "The dialect is never guessed. There are vixie or cronie (a crontab line), cronie-daemon (the same in crond's "
        "own zone), "
        "croniter, airflow, dagster, cron-parser, node-cron, jenkins, github-actions, robfig, kubernetes, quartz, aws, "
        "systemd (OnCalendar), dbt, interval and times.",
    .exits = {ERR_DENIED, ERR_NONE},
    .examples = examples,
    .run = run};

/* The index of an option's word; `own` when it is not given. */
static bool choose(const Args *args, const char *name, const char *const words[3], int own, int *ret, Error *err) {
  const char *given = args_value(args, name);
  *ret = own;
  if (given == NULL) return true;
  for (int i = 0; i < 3; i++) {
    if (strcmp(given, words[i]) != 0) continue;
    *ret = i;
    return true;
  }
  error_set(err, ERR_USAGE, "--%s is %s, %s or %s, not %s", name, words[0], words[1], words[2], given);
  return error_hint(err, "give one of the three; what each means: tidegate schedule --help");
}

/* "first(all fields)" is how the shared cases write systemd's "first". */
static bool policies(const Args *args, GapPolicy *ret_gap, OverlapPolicy *ret_overlap, Error *err) {
  static const char *const gaps[] = {"skip", "shift", "gap_end"}, *const overlaps[] = {"first", "second", "both"};
  int gap, overlap = OVERLAP_FIRST;
  const char *given = args_value(args, "overlap");
  bool all_fields = given != NULL && strcmp(given, "first(all fields)") == 0;
  if (!choose(args, "gap", gaps, GAP_OWN, &gap, err)) return false;
  if (!all_fields && !choose(args, "overlap", overlaps, OVERLAP_OWN, &overlap, err)) return false;
  *ret_gap = (GapPolicy)gap;
  *ret_overlap = (OverlapPolicy)overlap;
  return true;
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
  bool day_and = args_has(session->args, "day-and");
  const Zone *zone = NULL;
  return zone_open(&session->arena, name == NULL ? "UTC" : name, &zone, err) &&
         (day_and ? schedule_parse_and_days : schedule_parse)(&session->arena, dialect == NULL ? "vixie" : dialect,
                                                              session_word(session, 1), zone, ret, err);
}

static bool never_again(Instant after, Error *err) {
  char text[40];
  instant_rfc3339(after, zone_utc(), text);
  error_set(err, ERR_SPEC, "the schedule never fires after %s", text);
  return error_hint(err, "correct it, or leave it out if nothing is scheduled any more");
}

/* As text the fire, and after a tab the label if there is one; as JSON a string, or an object of both. */
static void put_fire(Session *session, Json *json, Instant fire, const Instant *label) {
  char text[40], label_text[40] = "";
  instant_rfc3339(fire, zone_utc(), text);
  if (label != NULL) instant_rfc3339(*label, zone_utc(), label_text);
  if (!session->json && label == NULL) {
    buf_printf(&session->buffer, "%s\n", text);
  } else if (!session->json) {
    buf_printf(&session->buffer, "%s\t%s\n", text, label_text);
  } else if (label == NULL) {
    json_text(json, NULL, text);
  } else {
    json_object(json, NULL);
    json_text(json, "start", text);
    json_text(json, "logical_date", label_text);
    json_object_end(json);
  }
}

static int next(Session *session) {
  const Schedule *schedule = NULL;
  GapPolicy gap;
  OverlapPolicy overlap;
  long count = 0, n = 0;
  Instant at = time(NULL), fire;
  Error err;
  const char *from = args_value(session->args, "from");
  if (!policies(session->args, &gap, &overlap, &err) || !args_number(session->args, "count", 1, 1, &count, &err) ||
      (from != NULL && !instant_parse(from, &at, &err)) || !parse(session, &schedule, &err))
    return session_fail(session, &err);
  if (!schedule_next(schedule, at, gap, overlap, &fire)) {
    (void)never_again(at, &err);
    return session_fail(session, &err);
  }
  Json json = {.out = &session->buffer};
  if (session->json) json_array(&json, NULL);
  do {
    Instant label;
    bool labelled = args_has(session->args, "interval") && schedule_previous(schedule, fire, gap, overlap, &label);
    put_fire(session, &json, fire, labelled ? &label : NULL);
  } while (++n < count && schedule_next(schedule, fire, gap, overlap, &fire));
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
  Instant begun = start - (Instant)(rule.p95 + rule.guard + rule.jitter) - 1, any;
  if (!schedule_next_any(rule.schedule, begun, &any) && !never_again(begun, &err))
    return answer(session, false, err.message);
  if (window_free(&(WindowRules){.busy = &rule, .n = 1}, start, end, &closed)) return answer(session, true, "");
  if (schedule_anytime(rule.schedule))
    return answer(session, false,
                  "a run may start at any second, because the schedule counts from when its scheduler began; write it "
                  "in the dialect interval with the start of any run, or pause that job");
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
