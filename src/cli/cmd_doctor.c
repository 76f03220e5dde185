#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/session.h"
#include "jobs/live.h"
#include "time/quantity.h"
#include "view/words.h"

static int run(Session *session);

static const CliOption options[] = {{"grant", 'g', "ROLE", "print the SQL by which a DBA lets ROLE plan, run and seal"},
                                    {"publish", 'p', NULL, "with --grant: and swap and roll back"},
                                    {NULL, '\0', NULL, NULL}};

static const CliExample examples[] = {
    {"tidegate doctor --database flights.db", "is everything as it must be?"},
    {"tidegate doctor --grant etl --publish daily_delays > grant.sql", "what a DBA must run first (PostgreSQL)"},
    {NULL, NULL}};

const Command command_doctor = {
    .name = "doctor",
    .summary = "check the database and this machine, and say what to do",
    .arguments = "[TARGET]",
    .max_args = 1,
    .options = options,
    .about =
        "Looks and changes nothing: does the database open, can it be written, what settings has it, is there a "
        "ledger and of which version, are there leftover objects, is the tz database here, do the clocks agree, "
        "is there disk space, and can it be told whether the jobs of tidegate.yaml run now. On PostgreSQL also: the "
        "server's version, whether it is the primary, TLS, a pooler, "
        "and what this role may do with the ledger and with TARGET, or with all targets of tidegate.yaml."
        "\n\n"
        "With --grant it prints SQL instead and runs nothing of it: what a DBA runs, in that database, so that ROLE "
        "may work on TARGET, or on all targets of tidegate.yaml. Without --publish the role can do everything but "
        "change production.",
    .exits = {ERR_DATABASE, ERR_SPEC, ERR_NOT_FOUND, ERR_NONE},
    .examples = examples,
    .run = run};

typedef enum Health { HEALTH_GOOD, HEALTH_NOTE, HEALTH_BAD } Health;

typedef struct Finder {
  Session *session;
  Json json;
  int bad;
} Finder;

/* One thing looked at: how it is, and what to do about it ("" when nothing). */
static void tell(Finder *finder, Health health, const char *what, const char *how, const char *todo) {
  static const char *const words[] = {"ok", "note", "bad"};
  static const Style styles[] = {STYLE_GOOD, STYLE_WARN, STYLE_BAD};
  finder->bad += health == HEALTH_BAD;
  if (finder->session->json) {
    json_object(&finder->json, NULL);
    json_text(&finder->json, "what", what);
    json_text(&finder->json, "health", words[health]);
    json_text(&finder->json, "how", how);
    json_text(&finder->json, "todo", todo);
    json_object_end(&finder->json);
    return;
  }
  Paint *paint = &finder->session->paint;
  paint_verdict(paint, styles[health], words[health], "%s: %s", what, how);
  if (todo[0] != '\0') paint_line(paint, "", "HINT: %s", todo);
}

static void look_at_machine(Finder *finder) {
  const Zone *zone = NULL;
  Error err;
  if (zone_open(&finder->session->arena, "America/New_York", &zone, &err))
    tell(finder, HEALTH_GOOD, "tz database", "present", "");
  else
    tell(finder, HEALTH_BAD, "tz database", err.message, "install the package tzdata");
}

static void look_at_clock(Finder *finder) {
  Engine *engine = finder->session->engine;
  Arena *arena = &finder->session->arena;
  Instant now = 0;
  Error err;
  if (!engine->ops->now(engine, &now, &err)) {
    tell(finder, HEALTH_BAD, "clock", err.message, error_hint_text(&err));
    return;
  }
  double apart = (double)(now - time(NULL));
  bool close = apart > -5 && apart < 5;
  tell(finder, close ? HEALTH_GOOD : HEALTH_NOTE, "clock",
       close ? "the database's and this machine's agree"
             : arena_printf(arena, "the database's is %s ahead", words_duration(arena, apart)),
       close ? "" : "windows are judged by the database's clock; set this machine's by it");
}

static void look_at_space(Finder *finder) {
  Engine *engine = finder->session->engine;
  Arena *arena = &finder->session->arena;
  SpaceFacts space;
  Error err;
  if (!engine->ops->space(engine, &space, &err)) {
    tell(finder, HEALTH_BAD, "disk", err.message, error_hint_text(&err));
    return;
  }
  if (space.free_bytes < 0) {
    tell(finder, HEALTH_NOTE, "disk",
         arena_printf(arena, "database %s, free unknown", words_size(arena, space.database_bytes)),
         "the database cannot say: look at the server's disk before a backfill of many rows");
    return;
  }
  bool scarce = space.free_bytes < space.database_bytes / 10;
  tell(finder, scarce ? HEALTH_NOTE : HEALTH_GOOD, "disk",
       arena_printf(arena, "database %s, free %s", words_size(arena, space.database_bytes),
                    words_size(arena, space.free_bytes)),
       scarce ? "free some before a backfill of many rows: plan says how much it needs" : "");
}

static void look_at_settings(Finder *finder) {
  Engine *engine = finder->session->engine;
  const char *settings = NULL;
  Error err;
  if (engine->ops->settings(engine, &finder->session->arena, &settings, &err))
    tell(finder, HEALTH_GOOD, "settings", settings, "");
  else
    tell(finder, HEALTH_BAD, "settings", err.message, error_hint_text(&err));
  if (engine->ops->health != NULL) return;
  const char *path = finder->session->spec.database_path;
  if (access(path, W_OK) == 0)
    tell(finder, HEALTH_GOOD, "writable", path, "");
  else
    tell(finder, HEALTH_BAD, "writable", arena_printf(&finder->session->arena, "%s cannot be written", path),
         "give this user the right to write the file and its directory");
}

/* The word of the command line, else every target of tidegate.yaml. */
static bool find_targets(Session *session, const char *const **ret, size_t *ret_n, Error *err) {
  const char *word = session_word(session, 0);
  if (word == NULL) return spec_pipeline_targets(&session->arena, NULL, ret, ret_n, err);
  const char **one = arena_array(&session->arena, 1, sizeof *one);
  one[0] = word;
  *ret = one;
  *ret_n = 1;
  return true;
}

static void look_at_server(Finder *finder, const char *const *targets, size_t n_targets) {
  Engine *engine = finder->session->engine;
  const HealthFact *facts = NULL;
  size_t n = 0;
  Error err;
  if (engine->ops->health == NULL) return;
  if (!engine->ops->health(engine, &finder->session->arena, targets, n_targets, &facts, &n, &err))
    tell(finder, HEALTH_BAD, "server", err.message, error_hint_text(&err));
  for (size_t i = 0; i < n; i++) {
    Health health = facts[i].bad ? HEALTH_BAD : facts[i].todo[0] != '\0' ? HEALTH_NOTE : HEALTH_GOOD;
    tell(finder, health, facts[i].what, facts[i].how, facts[i].todo);
  }
}

/* Objects named like Tidegate's of backfills that are over, or that the ledger does not list at all. */
static bool look_at_leftovers(Finder *finder, Error *err) {
  Session *session = finder->session;
  Engine *engine = session->engine;
  Arena *arena = &session->arena;
  const BackfillRecord *records = NULL;
  size_t n = 0, left = 0;
  if (!engine->ops->ledger_list(engine, arena, &records, &n, err)) return false;
  for (size_t i = 0; i < n; i++) {
    const ObjectRecord *objects = NULL;
    size_t n_objects = 0;
    State state;
    if (!state_of(&records[i], &state, err) ||
        !engine->ops->ledger_objects(engine, arena, records[i].id, &objects, &n_objects, err))
      return false;
    bool wanted = !state_is_final(state) && state != STATE_superseded;
    for (size_t o = 0; o < n_objects && !wanted; o++) {
      if (objects[o].dropped_at != 0) continue;
      left++;
      tell(finder, HEALTH_NOTE, "leftover",
           arena_printf(arena, "%s of %s (%s)", objects[o].name, records[i].id, records[i].state),
           arena_printf(arena, "tidegate discard %s", records[i].id));
    }
  }
  tell(finder, HEALTH_GOOD, "ledger", words_count(arena, (int64_t)n, "backfill", "backfills"), "");
  if (left == 0) tell(finder, HEALTH_GOOD, "leftovers", "none", "");
  return true;
}

static void look_at_ledger(Finder *finder) {
  Engine *engine = finder->session->engine;
  bool exists = false;
  Error err;
  if (!engine->ops->ledger_exists(engine, &exists, &err))
    tell(finder, HEALTH_BAD, "ledger", err.message, error_hint_text(&err));
  else if (!exists)
    tell(finder, HEALTH_GOOD, "ledger", "none yet: the first plan makes it", "");
  else if (!look_at_leftovers(finder, &err))
    tell(finder, HEALTH_BAD, "ledger", err.message, error_hint_text(&err));
}

/* ---- the jobs ---------------------------------------------------------------------------------------------------- */

/* Can it be told whether the job runs now? */
static void look_at_job(Finder *finder, const char *name, const SpecSchedule *when, const SpecLive *live) {
  Arena *arena = &finder->session->arena;
  JobAsk ask = {.name = name, .live = live, .guard = when->guard};
  JobAnswer answer;
  const char *what = arena_printf(arena, "job %s", name);
  char since[48] = "";
  if (!jobs_can_ask(live)) {
    tell(finder, HEALTH_NOTE, what, "nothing says how to ask whether it runs now: its schedule alone is known",
         "write live under it, for example live: {application: nightly_load}");
    return;
  }
  jobs_ask(arena, finder->session->engine, &ask, &answer);
  jobs_ask_end(&ask);
  if (answer.since != 0) instant_rfc3339(answer.since, zone_utc(), since);
  if (answer.state == JOB_UNKNOWN)
    tell(finder, HEALTH_BAD, what, arena_printf(arena, "whether it runs cannot be told: %s", answer.why), answer.todo);
  else if (answer.state == JOB_RUNNING)
    tell(finder, HEALTH_GOOD, what,
         arena_printf(arena, "runs%s%s: %s", since[0] == '\0' ? "" : " since ", since, answer.why), "");
  else if (answer.late || answer.failed)
    tell(finder, HEALTH_NOTE, what, arena_printf(arena, "does not run; %s", answer.why),
         answer.late ? "a backfill waits until it has run, or its schedule is paused"
                     : "look at it first: somebody may start it again at any time");
  else
    tell(finder, HEALTH_GOOD, what, "does not run now, as far as everything says that was asked", "");
}

/* Tables of a job that are not here: in another database, or misspelt. */
static void look_at_tables(Finder *finder, const SpecJob *job, const SpecTexts *tables, const char *how) {
  Session *session = finder->session;
  for (size_t i = 0; i < tables->n; i++) {
    TableKind kind;
    Error cause;
    const char *spelled, *name = tables->items[i].text;
    if (session->engine->ops->find_table(session->engine, &session->arena, name, &spelled, &kind, &cause) ||
        cause.code != ERR_NOT_FOUND)
      continue;
    tell(finder, HEALTH_NOTE, arena_printf(&session->arena, "job %s", job->name.text),
         arena_printf(&session->arena, "%s %s, which is not in this database", how, name),
         "correct the name in tidegate.yaml, if it should be: misspelt, the job closes no window");
  }
}

static void look_at_jobs(Finder *finder) {
  const Spec *spec = &finder->session->spec;
  const SpecProduction *production = &spec->production;
  if (production->when.expression.text != NULL || jobs_can_ask(&production->live))
    look_at_job(finder, "production", &production->when, &production->live);
  for (size_t i = 0; i < spec->n_jobs; i++) {
    look_at_job(finder, spec->jobs[i].name.text, &spec->jobs[i].when, &spec->jobs[i].live);
    look_at_tables(finder, &spec->jobs[i], &spec->jobs[i].writes, "writes");
    look_at_tables(finder, &spec->jobs[i], &spec->jobs[i].reads, "reads");
  }
}

/* ---- the rights of a role ---------------------------------------------------------------------------------------- */

static bool may_grant(const Session *session, size_t n_targets, Error *err) {
  if (session->engine->ops->grants == NULL) {
    error_set(err, ERR_USAGE, "--grant: %s has no roles: who may write the file may do everything",
              session->engine->ops->name);
    return error_hint(err, "give the user who runs Tidegate the right to write the file and its directory");
  }
  if (n_targets > 0) return true;
  error_set(err, ERR_USAGE,
            "--grant: for which table? No TARGET is given and no tidegate.yaml from here upwards lists any");
  return error_hint(err, "tidegate doctor --grant %s TARGET", args_value(session->args, "grant"));
}

static int print_grants(Session *session, const char *const *targets, size_t n) {
  const char *role = args_value(session->args, "grant");
  Json json = {0};
  Error err;
  if (!may_grant(session, n, &err)) return session_fail(session, &err);
  if (session->json) json = session_object(session);
  if (session->json) json_array(&json, "grants");
  for (size_t i = 0; i < n; i++) {
    const char *sql;
    if (!session->engine->ops->grants(session->engine, &session->arena, role, targets[i],
                                      args_has(session->args, "publish"), &sql, &err))
      return session_fail(session, &err);
    if (session->json)
      json_text(&json, NULL, sql);
    else
      buf_printf(&session->buffer, "%s%s", i == 0 ? "" : "\n", sql);
  }
  if (session->json) {
    json_array_end(&json);
    session_object_end(session, &json);
  }
  return session_flush(session);
}

static int run(Session *session) {
  Error err;
  Finder finder = {.session = session, .json = {.out = &session->buffer}};
  const char *const *targets = NULL;
  size_t n_targets = 0;
  if (args_has(session->args, "publish") && !args_has(session->args, "grant")) {
    error_set(&err, ERR_USAGE, "--publish says what to grant, and --grant ROLE is not given");
    return session_fail(session, &err);
  }
  if (!session_pipeline(session, session_word(session, 0), &err) || !find_targets(session, &targets, &n_targets, &err))
    return session_fail(session, &err);
  if (args_has(session->args, "grant")) return print_grants(session, targets, n_targets);
  if (session->json) finder.json = session_object(session);
  if (session->json) json_array(&finder.json, "looked_at");
  tell(&finder, HEALTH_GOOD, "database",
       arena_printf(&session->arena, "%s opens (%s)", session->spec.database_path, session->engine->ops->name), "");
  look_at_server(&finder, targets, n_targets);
  look_at_settings(&finder);
  look_at_clock(&finder);
  look_at_space(&finder);
  look_at_ledger(&finder);
  look_at_jobs(&finder);
  look_at_machine(&finder);
  if (session->json) {
    json_array_end(&finder.json);
    session_object_end(session, &finder.json);
  }
  int status = session_flush(session);
  return finder.bad > 0 ? error_exit_status(ERR_DATABASE) : status;
}
