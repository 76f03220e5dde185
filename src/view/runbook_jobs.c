#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "time/schedule.h"
#include "view/runbook_int.h"
#include "view/runbook_sql.h"
#include "view/words.h"

/* When the jobs that concern the target run, and how a person asks whether one runs now. */

enum { NEXT_RUNS = 5 };

/* ---- which jobs -------------------------------------------------------------------------------------------------- */

static const char *bare(const char *table) {
  const char *dot = strrchr(table, '.');
  return dot == NULL ? table : dot + 1;
}

/* A name without its schema means every table of that name. */
static bool means(const char *written, const char *table) {
  bool whole = strchr(written, '.') != NULL && strchr(table, '.') != NULL;
  return strcasecmp(whole ? written : bare(written), whole ? table : bare(table)) == 0;
}

static bool among(const SpecTexts *list, const char *table) {
  for (size_t i = 0; i < list->n; i++)
    if (means(list->items[i].text, table)) return true;
  return false;
}

static bool feeds(const RunbookFacts *facts, const SpecJob *job) {
  for (size_t i = 0; i < facts->spec->n_sources; i++)
    if (among(&job->writes, facts->spec->sources[i].table.text)) return true;
  for (size_t i = 0; facts->plan != NULL && i < facts->plan->n_reads; i++)
    if (!means(facts->target, facts->plan->reads[i]) && among(&job->writes, facts->plan->reads[i])) return true;
  return false;
}

const char *runbook_concern(Arena *arena, const RunbookFacts *facts, const SpecJob *job) {
  const struct {
    bool so;
    const char *words;
  } all[] = {{among(&job->writes, facts->target), "writes it"},
             {among(&job->reads, facts->target), "reads it"},
             {feeds(facts, job), "feeds it"}};
  const char *text = NULL;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].so) text = text == NULL ? all[i].words : arena_printf(arena, "%s, %s", text, all[i].words);
  return text;
}

/* ---- when -------------------------------------------------------------------------------------------------------- */

static const Zone *zone_of(const RunbookFacts *facts, Arena *arena, const SpecSchedule *when) {
  const Spec *spec = facts->spec;
  const char *name = when->zone.text != NULL                   ? when->zone.text
                     : spec->production.when.zone.text != NULL ? spec->production.when.zone.text
                                                               : spec->zone.text;
  const Zone *zone = NULL;
  Error unknown;
  return name != NULL && zone_open(arena, name, &zone, &unknown) ? zone : zone_utc();
}

static const char *next_runs(Arena *arena, const RunbookFacts *facts, const SpecSchedule *when) {
  const Schedule *schedule = NULL;
  Error err;
  const char *text = NULL;
  Instant at = facts->now;
  if (!schedule_parse(arena, when->dialect, when->expression.text, zone_of(facts, arena, when), &schedule, &err))
    return arena_printf(arena, "cannot be told: %s", err.message);
  for (int i = 0; i < NEXT_RUNS && schedule_next_any(schedule, at, &at); i++) {
    const char *one = words_instant(arena, schedule_zone(schedule), at);
    text = text == NULL ? one : arena_printf(arena, "%s; %s", text, one);
  }
  return text == NULL ? "never" : text;
}

static const char *takes(Arena *arena, const SpecSchedule *when) {
  if (when->p95 < 0) return "not declared";
  const char *rests = when->runs > 0
                          ? arena_printf(arena, "measured on %s", words_count(arena, when->runs, "run", "runs"))
                          : "declared by a person, not measured";
  return arena_printf(arena, "%s for 95 of 100 runs, %s%s%s%s%s", words_duration(arena, when->p95), rests,
                      when->measured.text == NULL ? "" : ", read on ",
                      when->measured.text == NULL ? "" : when->measured.text, when->from.text == NULL ? "" : " from ",
                      when->from.text == NULL ? "" : when->from.text);
}

static bool is_scheduled(const SpecSchedule *when) {
  return when->expression.text != NULL && strcmp(when->expression.text, "none") != 0;
}

static void put_when(Page *page, const RunbookFacts *facts, const SpecSchedule *when) {
  Arena *arena = page->arena;
  if (!is_scheduled(when)) {
    page_fact(page, "schedule", when->expression.text == NULL ? NULL : "none, declared: no clock starts it");
    if (when->p95 >= 0) page_fact(page, "takes", takes(arena, when));
    return;
  }
  page_fact(
      page, "schedule",
      arena_printf(arena, "%s (%s, %s%s)", when->expression.text, when->dialect, zone_name(zone_of(facts, arena, when)),
                   when->interval ? ", data intervals: the run that starts is labelled with the date before" : ""));
  page->passing = true;
  page_fact(page, "next runs", next_runs(arena, facts, when));
  page->passing = false;
  page_fact(page, "takes", takes(arena, when));
  page_fact(page, "kept free",
            arena_printf(arena, "%s before and after%s%s%s", words_duration(arena, when->guard),
                         when->jitter > 0 ? "; it may start " : "",
                         when->jitter > 0 ? words_duration(arena, when->jitter) : "", when->jitter > 0 ? " late" : ""));
}

/* ---- is it running now? ------------------------------------------------------------------------------------------ */

/* A word for the shell. */
static const char *word(Arena *arena, const char *text) {
  BUF_SCOPED out = {0};
  buf_putc(&out, '\'');
  for (; *text != '\0'; text++) {
    if (*text == '\'')
      buf_puts(&out, "'\\''");
    else
      buf_putc(&out, *text);
  }
  buf_putc(&out, '\'');
  return arena_strdup(arena, buf_text(&out));
}

/* The secret goes through a pipe: a command line is seen by everybody on the machine. */
static const char *airflow_token(Arena *arena, const SpecAirflow *airflow) {
  if (airflow->token_env.text != NULL) return arena_printf(arena, "TOKEN=\"$%s\"", airflow->token_env.text);
  if (airflow->token_file.text != NULL)
    return arena_printf(arena, "TOKEN=$(cat -- %s)", word(arena, airflow->token_file.text));
  return arena_printf(
      arena,
      "TOKEN=$(printf '{\"username\":\"%%s\",\"password\":\"%%s\"}' %s \"$%s\" |\n  curl -fsS -H 'Content-Type: "
      "application/json' -d @- %s |\n  sed 's/.*\"access_token\": *\"\\([^\"]*\\)\".*/\\1/')",
      word(arena, airflow->user.text == NULL ? "USER" : airflow->user.text),
      airflow->password_env.text == NULL ? "PASSWORD" : airflow->password_env.text,
      word(arena, arena_printf(arena, "%s/auth/token", airflow->url.text)));
}

static const char *airflow_question(Arena *arena, const SpecAirflow *airflow, int version) {
  const char *url = word(arena, arena_printf(arena, "%s/api/v%d/dags/%s/dagRuns?state=running&state=queued",
                                             airflow->url.text, version - 1, airflow->dag.text));
  if (version == 2 && airflow->token_env.text == NULL && airflow->token_file.text == NULL)
    return arena_printf(arena, "printf 'user = \"%%s:%%s\"\\n' %s \"$%s\" |\n  curl -fsS -K - %s",
                        word(arena, airflow->user.text == NULL ? "USER" : airflow->user.text),
                        airflow->password_env.text == NULL ? "PASSWORD" : airflow->password_env.text, url);
  return arena_printf(arena, "%s\nprintf 'header = \"Authorization: Bearer %%s\"\\n' \"$TOKEN\" |\n  curl -fsS -K - %s",
                      airflow_token(arena, airflow), url);
}

static void ask_airflow(Page *page, const SpecAirflow *airflow) {
  if (airflow->url.text == NULL || airflow->dag.text == NULL) return;
  page_say(page, PAGE_TEXT, "Airflow: any `dag_run` in the answer is a run that is not over.");
  for (int version = 3; version >= 2; version--) {
    if (airflow->version != 0 && airflow->version != version) continue;
    if (airflow->version == 0 && version == 2) page_say(page, PAGE_TEXT, "Where that gives 404, it is Airflow 2:");
    const char *text = airflow_question(page->arena, airflow, version);
    page_code(page, "sh", text);
  }
}

static const char *which_sessions(Arena *arena, const SpecLive *live) {
  const struct {
    const SpecText *text;
    const char *column;
  } all[] = {{&live->application, "application_name ="}, {&live->role, "usename ="}, {&live->query, "query LIKE"}};
  const char *which = NULL;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (all[i].text->text == NULL) continue;
    const char *one = arena_printf(arena, "%s %s", all[i].column, hand_quoted(arena, "", all[i].text->text, '\''));
    which = which == NULL ? one : arena_printf(arena, "%s OR %s", which, one);
  }
  return which;
}

static void ask_database(Page *page, const RunbookFacts *facts, const SpecLive *live) {
  Arena *arena = page->arena;
  const HandNames none = {"", "", "", "", ""};
  Hand hand = hand_of(page, facts, &none);
  const char *which = which_sessions(arena, live);
  if (which != NULL) {
    page_say(page, PAGE_TEXT, "A session that is seen here and is not `idle` is a run.");
    hand_set(&hand, "which", which);
    HAND_SQL(&hand, {NULL, sql_runbook_postgres_live_sessions});
  }
  if (live->advisory_lock.text != NULL) {
    const char *comma = strchr(live->advisory_lock.text, ',');
    size_t n = comma == NULL ? strlen(live->advisory_lock.text) : (size_t)(comma - live->advisory_lock.text);
    hand_set(&hand, "first", arena_strndup(arena, live->advisory_lock.text, n));
    hand_set(&hand, "second", comma == NULL ? "" : comma + 1);
    page_say(page, PAGE_TEXT, "A lock that is granted here is held by a run.");
    HAND_SQL(&hand, {NULL, comma == NULL ? sql_runbook_postgres_live_lock_one : sql_runbook_postgres_live_lock_two});
  }
  if (live->running.text != NULL) {
    page_say(page, PAGE_TEXT, "Above 0: a run is going on.");
    page_code(page, "sql", live->running.text);
  }
  if (live->heartbeat.text == NULL) return;
  page_say(page, PAGE_TEXT, "A time that is at most %s ago: a run is going on.",
           words_duration(arena, live->heartbeat_within));
  page_code(page, "sql", live->heartbeat.text);
}

static const char *command_line(Arena *arena, const SpecTexts *command) {
  const char *line = "";
  for (size_t i = 0; i < command->n; i++)
    line = arena_printf(arena, "%s%s%s", line, i == 0 ? "" : " ", word(arena, command->items[i].text));
  return line;
}

static void ask_machine(Page *page, const SpecLive *live) {
  Arena *arena = page->arena;
  const struct {
    const char *given, *what, *line;
  } all[] = {
      {live->systemd.text, "On the machine of its systemd unit, active or activating is a run:",
       live->systemd.text == NULL ? ""
                                  : arena_printf(arena, "systemctl show -p ActiveState,SubState,Result -- %s",
                                                 word(arena, live->systemd.text))},
      {live->process.text, "On its machine, any line is a run:",
       live->process.text == NULL ? "" : arena_printf(arena, "pgrep -af -- %s", word(arena, live->process.text))},
      {live->lock_file.text, "On its machine, a file that is there, or that somebody holds, is a run:",
       live->lock_file.text == NULL
           ? ""
           : arena_printf(arena, "ls -l -- %s; fuser -v -- %s", word(arena, live->lock_file.text),
                          word(arena, live->lock_file.text))},
      {live->command.n == 0 ? NULL : "", "0 says idle, 1 says running, anything else that it cannot tell:",
       arena_printf(arena, "%s; echo $?", command_line(arena, &live->command))}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (all[i].given == NULL) continue;
    page_say(page, PAGE_TEXT, "%s", all[i].what);
    page_code(page, "sh", all[i].line);
  }
}

static void ask(Page *page, const RunbookFacts *facts, const SpecLive *live, const char *name) {
  size_t before = page->n;
  page_say(page, PAGE_TEXT, "Is %s running now? What cannot be asked counts as running.", name);
  size_t asked = page->n;
  ask_airflow(page, &live->airflow);
  ask_database(page, facts, live);
  ask_machine(page, live);
  if (page->n > asked) return;
  page->n = before;
  page_say(page, PAGE_BEFORE,
           "How to tell whether %s runs now is not declared: ask its owner before anything is written.", name);
}

/* ---- the chapter ------------------------------------------------------------------------------------------------- */

void runbook_jobs(Page *page, const RunbookFacts *facts) {
  const SpecProduction *production = &facts->spec->production;
  size_t shown = 0;
  page_heading(page, 2, "When production runs");
  page_say(page, PAGE_TEXT, "A backfill never runs beside a job that writes the target, reads it or feeds it.");
  for (size_t i = 0; i < facts->spec->n_jobs; i++) {
    const SpecJob *job = &facts->spec->jobs[i];
    const char *concern = runbook_concern(page->arena, facts, job);
    if (concern == NULL) continue;
    page_heading(page, 3, "The job %s", job->name.text);
    page_fact(page, "what it does", concern);
    put_when(page, facts, &job->when);
    ask(page, facts, &job->live, job->name.text);
    shown++;
  }
  bool declared = production->when.expression.text != NULL || production->none;
  if (!declared && shown > 0) return;
  page_heading(page, 3, "The production job");
  if (production->none)
    page_fact(page, "schedule", "none, declared: nothing writes it on a schedule");
  else
    put_when(page, facts, &production->when);
  if (production->lookback > 0)
    page_fact(page, "rewrites",
              arena_printf(page->arena, "its last %s at every run%s",
                           words_count(page->arena, production->lookback, "date", "dates"),
                           production->lookback_fixed ? "; the job itself is right by now" : ""));
  if (!production->none) ask(page, facts, &production->live, "the production job");
}
