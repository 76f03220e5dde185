#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "cli/proposal.h"
#include "cli/session.h"
#include "cli/target.h"
#include "time/quantity.h"

static int run(Session *session);

static const char file_name[] = "tidegate.yaml";

static const CliOption options[] = {
    {"jobs", '\0', "SOURCE[,SOURCE…]",
     "propose jobs from airflow=URL, csv=FILE, crontab[=FILE], systemd[=FOLDER], pg_cron[=DB]"},
    {"job", '\0', "NAME", "this job alone"},
    {"weeks", '\0', "N", "runs of the last N weeks (8)"},
    {"user", '\0', "NAME", "who asks Airflow; the password is that of --password-env"},
    {"password-env", '\0', "VARIABLE", "the environment variable that holds the password (AIRFLOW_PASSWORD)"},
    {"token-env", '\0', "VARIABLE", "the environment variable that holds a token for Airflow"},
    {NULL, '\0', NULL, NULL}};

static const CliExample examples[] = {
    {"tidegate init flights.db", "lists the tables that can be targets, writes tidegate.yaml"},
    {"tidegate init flights.db --jobs airflow=http://127.0.0.1:8080 --user tidegate",
     "also proposes the DAGs as jobs, with schedule and p95 as they ran"},
    {"tidegate init postgresql:///dwh --jobs pg_cron,crontab", "the jobs of the server and of this machine"},
    {NULL, NULL}};

const Command command_init = {
    .name = "init",
    .summary = "look at the database and write a first tidegate.yaml",
    .arguments = "DB",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .about =
        "Lists the tables that have a date column, with their key, and writes tidegate.yaml, the pipeline's "
        "runbook as a file, into the working directory. A file that exists is never overwritten. The database "
        "is only read.\n\n"
        "With --jobs it also reads when jobs run and how long they take: their schedule and zone, the p95 from the "
        "scheduled start to the last task's end, and how late they start. It is a proposal: what is doubtful has a "
        "comment that says why, and the file is refused until somebody has said which tables each job writes and "
        "reads. When tidegate.yaml exists already, the proposal is printed and nothing is written.",
    .exits = {ERR_DATABASE, ERR_NOT_FOUND, ERR_STATE, ERR_SPEC, ERR_COMMAND, ERR_NONE},
    .examples = examples,
    .run = run};

/* A table that a backfill could have as its target. */
typedef struct Candidate {
  const char *table, *key; /* key "": none */
  const DateCandidate *dates;
  size_t n_dates;
} Candidate;

static const char *key_text(Arena *arena, const TableFacts *table) {
  const char *text = "";
  int last = 0;
  for (size_t i = 0; i < table->n_columns; i++)
    if (table->columns[i].primary > last) last = table->columns[i].primary;
  for (int position = 1; position <= last; position++)
    for (size_t i = 0; i < table->n_columns; i++)
      if (table->columns[i].primary == position)
        text = arena_printf(arena, "%s%s%s", text, position == 1 ? "" : ", ", table->columns[i].name);
  for (size_t i = 0; last == 0 && i < table->n_indexes; i++) {
    const IndexFacts *index = &table->indexes[i];
    if (!index->unique || index->partial || index->expression || text[0] != '\0') continue;
    for (size_t c = 0; c < index->n; c++)
      text = arena_printf(arena, "%s%s%s", text, c == 0 ? "" : ", ", index->columns[c]);
  }
  return text;
}

static bool find_candidates(Session *session, Candidate **ret, size_t *ret_n, Error *err) {
  const char *const *names = NULL;
  size_t n_names = 0, n = 0;
  Arena *arena = &session->arena;
  if (!session->engine->ops->list_tables(session->engine, arena, &names, &n_names, err)) return false;
  Candidate *found = arena_array(arena, n_names, sizeof *found);
  for (size_t i = 0; i < n_names; i++) {
    TableFacts table;
    Candidate candidate = {.table = names[i]};
    if (strncasecmp(names[i], "tidegate_", 9) == 0) continue;
    if (!session->engine->ops->describe_table(session->engine, arena, names[i], &table, err)) return false;
    if (table.kind != TABLE_ORDINARY || table.refusal != NULL) continue;
    if (!target_candidates(session, &table, &candidate.dates, &candidate.n_dates, err)) return false;
    candidate.key = key_text(arena, &table);
    if (candidate.n_dates > 0) found[n++] = candidate;
  }
  *ret = found;
  *ret_n = n;
  return true;
}

static void put_file(Buf *out, const char *database, const Candidate *candidates, size_t n) {
  buf_puts(out,
           "# The pipeline's runbook as a file: what does not belong to one backfill. Everything here can also\n"
           "# stand in a backfill's own file, which wins. All keys: docs/reference/spec.md\n\ndatabase: ");
  proposal_scalar(out, database);
  buf_puts(out,
           "\n\n# When production itself writes the table: a backfill is never run beside it. Say `production: none`\n"
           "# if nothing is scheduled. Without either every plan is denied.\n"
           "# production: {schedule: \"0 2 * * *\", zone: Europe/Berlin, p95: 20m}\n\n"
           "# In which hours a backfill may work, how long old rows are kept, who answers for it.\n"
           "# idle: 22:00-06:00\n# retention: 7d\n# owner: data-platform\n# contacts: [data@example.org]\n\n"
           "# What is downstream and in no catalogue.\n"
           "# downstream:\n#   - {name: delays dashboard, kind: dashboard, needs: refresh}\n\n"
           "# Tables in which a date column was found. Only what Tidegate could not know by itself must stand here.\n");
  bool open = false;
  for (size_t i = 0; i < n; i++) {
    const Candidate *c = &candidates[i];
    bool sure = c->n_dates == 1;
    if (sure && !open) buf_puts(out, "targets:\n");
    open = open || sure;
    buf_puts(out, sure ? "  " : "#  ");
    proposal_scalar(out, c->table);
    buf_puts(out, ": {date_column: ");
    proposal_scalar(out, c->dates[0].column);
    buf_puts(out, "}");
    for (size_t d = 1; d < c->n_dates; d++) {
      buf_puts(out, d == 1 ? "  # or " : ", ");
      proposal_scalar(out, c->dates[d].column);
    }
    if (c->key[0] == '\0') buf_puts(out, sure && c->n_dates == 1 ? "  # no key found" : "; no key found");
    buf_putc(out, '\n');
  }
}

/* Creates the file; one that exists is left as it is. */
static bool write_file(const char *text, size_t length, Error *err) {
  int fd = open(file_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0 && errno == EEXIST) {
    error_set(err, ERR_STATE, "%s exists already and is not overwritten", file_name);
    return error_hint(err, "change it by hand, or move it away and type the same again");
  }
  if (fd < 0) return error_set(err, ERR_NOT_FOUND, "cannot write %s: %s", file_name, strerror(errno));
  ssize_t written = write(fd, text, length);
  bool ok = written == (ssize_t)length && fsync(fd) == 0;
  int cause = errno;
  ok = close(fd) == 0 && ok;
  if (ok) return true;
  unlink(file_name);
  return error_set(err, cause == ENOSPC ? ERR_FULL : ERR_INTERNAL, "cannot write %s: %s", file_name, strerror(cause));
}

static void show(Session *session, const Candidate *candidates, size_t n) {
  static const char *const heads[] = {"table", "date column", "kind", "first", "last", "key"};
  const char **cells = arena_array(&session->arena, n * 6, sizeof *cells);
  for (size_t i = 0; i < n; i++) {
    const DateCandidate *date = &candidates[i].dates[0];
    const char **line = &cells[i * 6];
    line[0] = candidates[i].table;
    line[1] = candidates[i].n_dates == 1 ? date->column : arena_printf(&session->arena, "%s, or another", date->column);
    line[2] = date_kind_name(date->kind);
    line[3] = date->profile.lowest;
    line[4] = date->profile.highest;
    line[5] = candidates[i].key[0] == '\0' ? "none" : candidates[i].key;
  }
  paint_table(&session->paint, &(Table){.heads = heads, .cells = cells, .columns = 6, .rows = n});
  paint_text(&session->paint,
             n == 0 ? "No table with a date column was found."
                    : "Next: tidegate scan TARGET; then write the backfill's file and: tidegate plan SPEC");
  buf_putc(&session->buffer, '\n');
}

/* ---- jobs -------------------------------------------------------------------------------------------------------- */

typedef struct Jobs {
  JobSource source; /* what all sources share: who asks, how many weeks */
  JobHistory *items;
  size_t n;
} Jobs;

/* The end of the source that begins here: a comma before the name of another. */
static size_t source_length(const char *text) {
  static const char *const kinds[] = {"airflow=", "csv=", "crontab", "systemd", "pg_cron"};
  const char *comma = text;
  while ((comma = strchr(comma, ',')) != NULL) {
    comma++;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
      if (strncmp(comma, kinds[i], strlen(kinds[i])) == 0) return (size_t)(comma - text) - 1;
  }
  return strlen(text);
}

static bool read_source(Session *session, const char *text, Jobs *jobs, Error *err) {
  const JobHistory *found;
  size_t n;
  const char *job = args_value(session->args, "job");
  JobSource source = jobs->source;
  if (!jobs_source_parse(&session->arena, text, &source, err)) return false;
  /* Only Airflow knows a job by the name that it is proposed by. */
  if (strcmp(source.kind, "airflow") == 0) source.job = job;
  if (!jobs_history(&session->arena, session->engine, &source, &found, &n, err)) return false;
  for (size_t i = 0; i < n; i++) {
    if (job != NULL && strcmp(job, found[i].name) != 0) continue;
    jobs->items = arena_grow(&session->arena, jobs->items, jobs->n, sizeof *jobs->items);
    jobs->items[jobs->n++] = found[i];
  }
  return true;
}

static bool read_jobs(Session *session, Jobs *ret, Error *err) {
  const Args *args = session->args;
  const char *sources = args_value(args, "jobs"), *password = args_value(args, "password-env");
  long weeks;
  Jobs jobs = {0};
  if (!args_number(args, "weeks", 1, 8, &weeks, err)) return false;
  jobs.source.weeks = (double)weeks;
  jobs.source.access.user.text = args_value(args, "user");
  jobs.source.access.token_env.text = args_value(args, "token-env");
  if (jobs.source.access.user.text != NULL)
    jobs.source.access.password_env.text = password == NULL ? "AIRFLOW_PASSWORD" : password;
  while (sources != NULL && *sources != '\0') {
    size_t length = source_length(sources);
    if (!read_source(session, arena_strndup(&session->arena, sources, length), &jobs, err)) return false;
    sources += length + (sources[length] == ',');
  }
  const char *job = args_value(args, "job");
  if (job != NULL && jobs.n == 0) {
    error_set(err, ERR_NOT_FOUND, "no job named %s was found in %s", job,
              args_value(args, "jobs") == NULL ? "anything: --jobs is not given" : args_value(args, "jobs"));
    return error_hint(err, "leave --job out: all that are found are listed with their names");
  }
  *ret = jobs;
  return true;
}

static void show_jobs(Session *session, const Jobs *jobs) {
  static const char *const heads[] = {"job", "schedule", "zone", "p95", "runs", "to confirm"};
  Arena *arena = &session->arena;
  const char **cells = arena_array(arena, jobs->n * 6, sizeof *cells);
  for (size_t i = 0; i < jobs->n; i++) {
    const JobHistory *job = &jobs->items[i];
    const char **line = &cells[i * 6], *doubts = "tables";
    char p95[32] = "unknown";
    if (job->p95 >= 0) duration_label(job->p95, p95);
    for (size_t d = 0; d < job->n_doubts; d++)
      if (strstr(doubts, job->doubts[d].key) == NULL)
        doubts = arena_printf(arena, "%s, %s", doubts, job->doubts[d].key);
    line[0] = job->name;
    line[1] = job->refusal != NULL ? "cannot be foreseen" : job->expression == NULL ? "unknown" : job->expression;
    line[2] = job->zone == NULL ? "unknown" : job->zone;
    line[3] = arena_strdup(arena, p95);
    line[4] = arena_printf(arena, "%d", job->runs);
    line[5] = doubts;
  }
  paint_table(&session->paint, &(Table){.heads = heads, .cells = cells, .columns = 6, .rows = jobs->n});
  if (jobs->n == 0) {
    paint_text(&session->paint, "No job was found there.");
    buf_putc(&session->buffer, '\n');
  }
}

static void put_json_jobs(Json *json, const Jobs *jobs) {
  json_array(json, "jobs");
  for (size_t i = 0; i < jobs->n; i++) {
    const JobHistory *job = &jobs->items[i];
    json_object(json, NULL);
    json_text(json, "job", job->name);
    json_text(json, "schedule", job->expression);
    json_text(json, "dialect", job->dialect);
    json_text(json, "zone", job->zone);
    json_text(json, "timetable", job->interval ? "interval" : "trigger");
    json_text(json, "refusal", job->refusal);
    json_real(json, "p95", job->p95 < 0 ? NAN : job->p95);
    json_int(json, "runs", job->runs);
    json_int(json, "late", job->late);
    json_real(json, "jitter", job->jitter);
    json_text(json, "from", job->from);
    json_array(json, "confirm");
    for (size_t d = 0; d < job->n_doubts; d++) json_text(json, NULL, job->doubts[d].key);
    json_array_end(json);
    json_object_end(json);
  }
  json_array_end(json);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static void put_json(Session *session, const Candidate *candidates, size_t n, const Jobs *jobs, bool wrote) {
  Json json = session_object(session);
  json_text(&json, "wrote", wrote ? file_name : NULL);
  json_array(&json, "tables");
  for (size_t i = 0; i < n; i++) {
    json_object(&json, NULL);
    json_text(&json, "table", candidates[i].table);
    json_text(&json, "key", candidates[i].key);
    json_array(&json, "date_columns");
    for (size_t d = 0; d < candidates[i].n_dates; d++) json_text(&json, NULL, candidates[i].dates[d].column);
    json_array_end(&json);
    json_object_end(&json);
  }
  json_array_end(&json);
  put_json_jobs(&json, jobs);
  session_object_end(session, &json);
}

/* Of a file that is there already the person makes one with what is printed here. */
static int print_proposal(Session *session, const Candidate *candidates, size_t n, const Jobs *jobs,
                          const Buf *proposal) {
  if (session->json) {
    put_json(session, candidates, n, jobs, false);
    return session_flush(session);
  }
  buf_puts(&session->buffer, buf_text(proposal));
  buf_putc(&session->buffer, '\n');
  show_jobs(session, jobs);
  paint_text(&session->paint, "tidegate.yaml exists and stays as it is: copy what you confirm into it.");
  buf_putc(&session->buffer, '\n');
  return session_flush(session);
}

static int run(Session *session) {
  Candidate *candidates = NULL;
  size_t n = 0;
  Error err;
  Jobs jobs = {0};
  const char *database = session_word(session, 0);
  if (!engine_open(database, NULL, &session->engine, &err) || !find_candidates(session, &candidates, &n, &err) ||
      !read_jobs(session, &jobs, &err))
    return session_fail(session, &err);
  BUF_SCOPED file = {0};
  BUF_SCOPED proposal = {0};
  if (jobs.n > 0) {
    proposal_jobs(&proposal, jobs.items, jobs.n, &jobs.source.access);
    proposal_idle(&proposal, &session->arena, jobs.items, jobs.n);
  }
  put_file(&file, database, candidates, n);
  if (jobs.n > 0) buf_printf(&file, "\n%s", buf_text(&proposal));
  if (!write_file(buf_text(&file), file.len, &err)) {
    if (err.code == ERR_STATE && args_has(session->args, "jobs"))
      return print_proposal(session, candidates, n, &jobs, &proposal);
    if (!session->json) show(session, candidates, n);
    return session_fail(session, &err);
  }
  if (session->json) {
    put_json(session, candidates, n, &jobs, true);
    return session_flush(session);
  }
  paint_line(&session->paint, "wrote", "%s", file_name);
  if (args_has(session->args, "jobs")) show_jobs(session, &jobs);
  show(session, candidates, n);
  return session_flush(session);
}
