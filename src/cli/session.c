#include "cli/session.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "view/error.h"

void session_start(Session *session, const Args *args) {
  *session = (Session){.args = args, .json = args_has(args, "json"), .quiet = args_has(args, "quiet")};
  session->paint = (Paint){.out = &session->buffer,
                           .colour = !args_has(args, "no-color") && paint_wants_colour(isatty(STDOUT_FILENO)),
                           .width = paint_terminal_width(STDOUT_FILENO)};
}

void session_end(Session *session) {
  engine_close(&session->engine);
  buf_release(&session->buffer);
  arena_release(&session->arena);
}

const char *session_word(const Session *session, size_t i) {
  return i < session->args->n_words ? session->args->words[i] : NULL;
}

static bool open_engine(Session *session, const SpecPostgres *postgres, Error *err) {
  EngineOptions options = {
      .schema = postgres->schema.text, .tablespace = postgres->tablespace.text, .unlogged = postgres->unlogged};
  engine_close(&session->engine);
  return engine_open(session->spec.database_path, &options, &session->engine, err);
}

static bool open_database(Session *session, Error *err) {
  const char *given = args_value(session->args, "database");
  if (given != NULL) session->spec.database_path = given;
  if (session->spec.database_path == NULL) {
    error_set(err, ERR_USAGE,
              "which database? --database is not given, no tidegate.yaml from here upwards names "
              "one, and the spec files here do not agree on one");
    return error_hint(err, "give --database PATH, or write `database: PATH` into tidegate.yaml");
  }
  return open_engine(session, &session->spec.postgres, err);
}

bool session_spec(Session *session, const char *path, Error *err) {
  return spec_load(&session->arena, path, &session->spec, err) && open_database(session, err);
}

bool session_spec_text(Session *session, const char *path, const char *text, const char *pipeline_path,
                       const char *pipeline_text, Error *err) {
  return spec_parse(&session->arena, path, text, pipeline_path, pipeline_text, &session->spec, err) &&
         open_database(session, err);
}

static bool is_yaml(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot != NULL && name[0] != '.' && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

/*
 * The database that the spec files of the working directory name, when they name one and the same; NULL else. So an id
 * that plan printed is enough, also where there is no tidegate.yaml.
 */
static const char *nearby_database(Arena *arena) {
  enum { MOST_FILES = 200 };
  const char *found = NULL;
  DIR *directory = opendir(".");
  if (directory == NULL) return NULL;
  const struct dirent *entry;
  for (int n = 0; n < MOST_FILES && (entry = readdir(directory)) != NULL;) {
    Spec spec;
    Error ignored;
    if (!is_yaml(entry->d_name)) continue;
    n++;
    if (!spec_load(arena, arena_strdup(arena, entry->d_name), &spec, &ignored) || spec.database_path == NULL) continue;
    bool other = found != NULL && strcmp(found, spec.database_path) != 0;
    found = other ? NULL : spec.database_path;
    if (other) break;
  }
  closedir(directory);
  return found;
}

bool session_pipeline(Session *session, const char *target, Error *err) {
  if (!spec_load_pipeline(&session->arena, NULL, target, &session->spec, err)) return false;
  if (session->spec.database_path == NULL && args_value(session->args, "database") == NULL)
    session->spec.database_path = nearby_database(&session->arena);
  return open_database(session, err);
}

static bool is_file(const char *path) {
  struct stat facts;
  return stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

/* A backfill's tables go where its target's entry in tidegate.yaml said when it was planned. */
static bool reopen_for(Session *session, Error *err) {
  Spec spec;
  Error ignored; /* who needs the spec reads it again and says what is wrong with it */
  const BackfillRecord *record = &session->record;
  const SpecPostgres *open = &session->spec.postgres;
  if (!spec_parse(&session->arena, record->spec_path, record->spec_text, record->pipeline_path, record->pipeline_text,
                  &spec, &ignored))
    return true;
  const char *now = open->tablespace.text, *then = spec.postgres.tablespace.text;
  bool same = now == then || (now != NULL && then != NULL && strcmp(now, then) == 0);
  if (same && open->unlogged == spec.postgres.unlogged) return true;
  SpecPostgres postgres = spec.postgres;
  postgres.schema = open->schema;
  return open_engine(session, &postgres, err);
}

bool session_record(Session *session, const char *reference, Error *err) {
  bool ok = is_file(reference) && args_value(session->args, "database") == NULL ? session_spec(session, reference, err)
                                                                                : session_pipeline(session, NULL, err);
  bool exists = false;
  if (!ok || !session->engine->ops->ledger_exists(session->engine, &exists, err)) return false;
  if (!exists) {
    error_set(err, ERR_NOT_FOUND, "no backfill %s: nothing was ever planned in %s", reference,
              session->spec.database_path);
    return error_hint(err, "plan one: tidegate plan SPEC; or give --database PATH when it is in another database");
  }
  return ledger_find(session->engine, &session->arena, reference, &session->record, err) && reopen_for(session, err);
}

bool session_plan(Session *session, const char *reference, Error *err) {
  return session_record(session, reference, err) &&
         plan_load(&session->arena, session->engine, &session->record, &session->plan, err);
}

Backfill session_backfill(Session *session) {
  return (Backfill){
      .arena = &session->arena, .engine = session->engine, .record = &session->record, .plan = &session->plan};
}

Json session_object(Session *session) {
  Json json = {.out = &session->buffer, .comma = false};
  json_object(&json, NULL);
  return json;
}

void session_object_end(Session *session, Json *json) {
  json_object_end(json);
  buf_putc(&session->buffer, '\n');
}

/* All of the text; false with errno. */
static bool write_all(int fd, const char *text, size_t n) {
  while (n > 0) {
    ssize_t written = write(fd, text, n);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text += written;
    n -= (size_t)written;
  }
  return true;
}

/* ---- what is written --------------------------------------------------------------------------------------------- */

static bool cannot_write(const char *path, int cause, Error *err) {
  error_set(err, cause == ENOSPC ? ERR_FULL : ERR_USAGE, "cannot write %s: %s", path, strerror(cause));
  return cause == ENOSPC ? false : error_hint(err, "name a file in a folder that can be written");
}

bool session_write(Session *session, const char *path, const Buf *text, Error *err) {
  struct stat facts;
  bool straight = stat(path, &facts) == 0 && !S_ISREG(facts.st_mode); /* /dev/stdout, a pipe */
  const char *aside = straight ? path : arena_printf(&session->arena, "%s.new", path);
  FILE *file = fopen(aside, "we");
  if (file == NULL) return cannot_write(path, errno, err);
  bool whole = fwrite(buf_text(text), 1, text->len, file) == text->len;
  int cause = errno;
  if (fclose(file) != 0 && whole) {
    whole = false;
    cause = errno;
  }
  if (whole && (straight || rename(aside, path) == 0)) return true;
  if (whole) cause = errno;
  if (!straight) unlink(aside);
  return cannot_write(path, cause, err);
}

int session_flush(Session *session) {
  bool ok = write_all(STDOUT_FILENO, buf_text(&session->buffer), session->buffer.len);
  int cause = errno;
  buf_clear(&session->buffer);
  if (ok || cause == EPIPE) return 0;
  fprintf(stderr, "tidegate: error: cannot write the output: %s\n", strerror(cause));
  return error_exit_status(cause == ENOSPC ? ERR_FULL : ERR_INTERNAL);
}

int session_fail(Session *session, const Error *err) {
  const char *spec = session->record.spec_path != NULL ? session->record.spec_path : session->spec.backfill_file.file;
  if (session->json) {
    buf_clear(&session->buffer);
    Json json = session_object(session);
    view_error_json(&json, err, session->record.id, spec);
    session_object_end(session, &json);
    session_flush(session);
    return error_exit_status(err->code);
  }
  session_flush(session);
  BUF_SCOPED text = {0};
  Paint paint = {.out = &text,
                 .colour = !args_has(session->args, "no-color") && paint_wants_colour(isatty(STDERR_FILENO)),
                 .width = 0};
  view_error(&paint, err, session->record.id, spec);
  write_all(STDERR_FILENO, buf_text(&text), text.len);
  return error_exit_status(err->code);
}
