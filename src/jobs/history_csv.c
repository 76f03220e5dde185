#include <string.h>

#include "base/buf.h"
#include "base/doc.h"
#include "jobs/history_int.h"

/* A table of runs: job, scheduled, started, ended, with a header, times as RFC 3339 (RFC 4180 for the rest). */

enum { JOB, SCHEDULED, STARTED, ENDED, WANTED, MOST = 256 };
static const char *const wanted[WANTED] = {"job", "scheduled", "started", "ended"};

typedef struct Csv {
  Arena *arena;
  const char *path, *text, *at;
  int line;
  const char *fields[MOST];
  int columns[MOST]; /* where each begins, in characters from 1 */
  size_t n;
} Csv;

static bool at_end(const Csv *csv) { return *csv->at == '\0' || *csv->at == '\n' || *csv->at == '\r'; }

/* Characters between two places of one line. */
static int width(const char *from, const char *to) {
  int n = 0;
  for (; from < to; from++) n += ((unsigned char)*from & 0xC0) != 0x80;
  return n;
}

static bool read_quoted(Csv *csv, int column, const char **ret, Error *err) {
  BUF_SCOPED field = {0};
  for (csv->at++; *csv->at != '"' || csv->at[1] == '"'; csv->at++) {
    if (*csv->at == '\0' || *csv->at == '\n')
      return doc_error(err, csv->path, csv->text, csv->line, column, "the quote is not closed on its line");
    csv->at += *csv->at == '"';
    buf_putc(&field, *csv->at);
  }
  csv->at++;
  *ret = arena_strdup(csv->arena, buf_text(&field));
  if (*csv->at == ',' || at_end(csv)) return true;
  return doc_error(err, csv->path, csv->text, csv->line, column,
                   "after the closing quote stands neither a comma nor the "
                   "end of the line");
}

/* The next line that is not empty; n 0 at the end of the file. */
static bool read_line(Csv *csv, Error *err) {
  csv->n = 0;
  for (; *csv->at == '\n' || *csv->at == '\r'; csv->at++) csv->line += *csv->at == '\n';
  const char *start = csv->at;
  while (*csv->at != '\0') {
    int column = 1 + width(start, csv->at);
    if (csv->n == MOST)
      return doc_error(err, csv->path, csv->text, csv->line, column, "there are more than %d columns", MOST);
    csv->columns[csv->n] = column;
    if (*csv->at == '"') {
      if (!read_quoted(csv, column, &csv->fields[csv->n], err)) return false;
    } else {
      size_t length = strcspn(csv->at, ",\r\n");
      csv->fields[csv->n] = arena_strndup(csv->arena, csv->at, length);
      csv->at += length;
    }
    csv->n++;
    if (at_end(csv)) break;
    csv->at++;
    if (at_end(csv) && csv->n < MOST) { /* a comma at the end of the line: an empty field behind it */
      csv->fields[csv->n] = "";
      csv->columns[csv->n++] = 1 + width(start, csv->at);
      break;
    }
  }
  return true;
}

static bool read_header(Csv *csv, int where[WANTED], Error *err) {
  if (!read_line(csv, err)) return false;
  for (int w = 0; w < WANTED; w++) {
    where[w] = -1;
    for (size_t i = 0; i < csv->n; i++)
      if (strcmp(csv->fields[i], wanted[w]) == 0) where[w] = (int)i;
    if (where[w] >= 0) continue;
    doc_error(err, csv->path, csv->text, csv->line, 1, "the first line names no column '%s'", wanted[w]);
    return error_hint(err, "the first line is: job,scheduled,started,ended; other columns may stand beside them");
  }
  return true;
}

static bool read_time(const Csv *csv, int field, const char *name, Instant *ret, Error *err) {
  Error why;
  if (instant_parse(csv->fields[field], ret, &why)) return true;
  doc_error(err, csv->path, csv->text, csv->line, csv->columns[field], "%s is no time: '%.40s'", name,
            csv->fields[field]);
  return error_hint(err, "write it as RFC 3339 with its offset: 2026-11-01T02:00:00+01:00");
}

typedef struct CsvJob {
  const char *name;
  JobRun *runs;
  size_t n;
} CsvJob;

static CsvJob *find_job(Arena *arena, CsvJob **jobs, size_t *n, const char *name) {
  for (size_t i = 0; i < *n; i++)
    if (strcmp((*jobs)[i].name, name) == 0) return &(*jobs)[i];
  *jobs = arena_grow(arena, *jobs, *n, sizeof **jobs);
  (*jobs)[*n] = (CsvJob){.name = name};
  return &(*jobs)[(*n)++];
}

/* One line; a run without an end is still going on and says nothing yet. */
static bool take_line(Csv *csv, const int where[WANTED], const JobSource *source, CsvJob **jobs, size_t *n,
                      Error *err) {
  for (int w = 0; w < WANTED; w++)
    if ((size_t)where[w] >= csv->n)
      return doc_error(err, csv->path, csv->text, csv->line, 1, "the line has %zu fields, and none for %s", csv->n,
                       wanted[w]);
  const char *name = csv->fields[where[JOB]];
  JobRun run = {0};
  if (name[0] == '\0')
    return doc_error(err, csv->path, csv->text, csv->line, csv->columns[where[JOB]], "no job's name");
  bool ended = csv->fields[where[ENDED]][0] != '\0';
  if (!read_time(csv, where[SCHEDULED], "scheduled", &run.scheduled, err) ||
      !read_time(csv, where[STARTED], "started", &run.started, err) ||
      (ended && !read_time(csv, where[ENDED], "ended", &run.ended, err)))
    return false;
  if (ended && run.ended < run.started)
    return doc_error(err, csv->path, csv->text, csv->line, csv->columns[where[ENDED]], "the run ends before it starts");
  if (run.started < run.scheduled) {
    doc_error(err, csv->path, csv->text, csv->line, csv->columns[where[STARTED]], "the run starts before it is due");
    return error_hint(err, "`scheduled` is when the schedule fires, not the date that the run is labelled with");
  }
  if (source->job != NULL && strcmp(source->job, name) != 0) return true;
  CsvJob *job = find_job(csv->arena, jobs, n, name);
  if (!ended || run.scheduled < history_since(source)) return true;
  job->runs = arena_grow(csv->arena, job->runs, job->n, sizeof *job->runs);
  job->runs[job->n++] = run;
  return true;
}

static bool read_csv(Arena *arena, const JobSource *source, HistoryList *list, Error *err) {
  Csv csv = {.arena = arena, .path = source->place, .line = 1};
  int where[WANTED];
  CsvJob *jobs = NULL;
  size_t n = 0;
  if (!history_file(arena, source->place, &csv.text, err)) return false;
  csv.at = csv.text + (strncmp(csv.text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0);
  if (!read_header(&csv, where, err)) return false;
  for (;;) {
    if (!read_line(&csv, err)) return false;
    if (csv.n == 0) break;
    if (!take_line(&csv, where, source, &jobs, &n, err)) return false;
  }
  for (size_t i = 0; i < n; i++) {
    JobHistory *history = history_add(arena, list, source, jobs[i].name);
    history_runs(arena, history, jobs[i].runs, jobs[i].n, 0);
    history_doubt(arena, history, "schedule", "a table of runs does not say the schedule, its dialect and its zone");
  }
  return true;
}

bool history_csv(Arena *arena, Engine *engine, const JobSource *source, HistoryList *list, Error *err) {
  (void)engine;
  if (read_csv(arena, source, list, err)) return true;
  if (err->hint[0] == '\0' && err->code == ERR_SPEC)
    error_hint(err,
               "a run is one line of text: job,scheduled,started,ended; times as 2026-11-01T02:00:00+01:00, ended "
               "empty while it runs");
  return false;
}
