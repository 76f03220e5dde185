#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/session.h"
#include "cli/target.h"

static int run(Session *session);

static const char file_name[] = "tidegate.yaml";

static const CliExample examples[] = {
    {"tidegate init flights.db", "lists the tables that can be targets, writes tidegate.yaml"}, {NULL, NULL}};

const Command command_init = {
    .name = "init",
    .summary = "look at the database and write a first tidegate.yaml",
    .arguments = "DB",
    .min_args = 1,
    .max_args = 1,
    .about =
        "Lists the tables that have a date column, with their key, and writes tidegate.yaml, the pipeline's "
        "runbook as a file, into the working directory. A file that exists is never overwritten. The database "
        "is only read.",
    .exits = {ERR_DATABASE, ERR_NOT_FOUND, ERR_STATE, ERR_NONE},
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

/* A YAML scalar in double quotes. */
static void put_scalar(Buf *out, const char *text) {
  Json json = {.out = out};
  json_text(&json, NULL, text);
}

static void put_file(Buf *out, const char *database, const Candidate *candidates, size_t n) {
  buf_puts(out,
           "# The pipeline's runbook as a file: what does not belong to one backfill. Everything here can also\n"
           "# stand in a backfill's own file, which wins. All keys: docs/reference/spec.md\n\ndatabase: ");
  put_scalar(out, database);
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
    put_scalar(out, c->table);
    buf_puts(out, ": {date_column: ");
    put_scalar(out, c->dates[0].column);
    buf_puts(out, "}");
    for (size_t d = 1; d < c->n_dates; d++) {
      buf_puts(out, d == 1 ? "  # or " : ", ");
      put_scalar(out, c->dates[d].column);
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

static int run(Session *session) {
  Candidate *candidates = NULL;
  size_t n = 0;
  Error err;
  const char *database = session_word(session, 0);
  if (!engine_open(database, NULL, &session->engine, &err) || !find_candidates(session, &candidates, &n, &err))
    return session_fail(session, &err);
  BUF_SCOPED file = {0};
  put_file(&file, database, candidates, n);
  if (!write_file(buf_text(&file), file.len, &err)) {
    if (!session->json) show(session, candidates, n);
    return session_fail(session, &err);
  }
  if (!session->json) {
    paint_line(&session->paint, "wrote", "%s", file_name);
    show(session, candidates, n);
    return session_flush(session);
  }
  Json json = session_object(session);
  json_text(&json, "wrote", file_name);
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
  session_object_end(session, &json);
  return session_flush(session);
}
