#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lineage/openlineage.h"
#include "lineage/openlineage_int.h"

/* Where events come from: a file of a JSON text a line, a file of one JSON text, a folder of both, a server. */

enum { MOST_DEEP = 8 };

/* The next line into `line`, without its end; *ret_long: it is longer than what is taken, and left out. False: the end.
 */
static bool next_line(FILE *file, Buf *line, bool *ret_long) {
  char piece[65536];
  size_t n = 0;
  int c = 0;
  bool any = false;
  buf_clear(line);
  *ret_long = false;
  while (c != EOF && c != '\n') {
    c = getc_unlocked(file);
    any = any || c != EOF;
    if (c != EOF && c != '\n') piece[n++] = (char)c;
    if (n < sizeof piece && c != EOF && c != '\n') continue;
    if (line->len + n > OPENLINEAGE_MAX_LINE) *ret_long = true;
    if (!*ret_long) buf_append(line, piece, n);
    n = 0;
  }
  return any;
}

static bool is_blank(const char *text) { return text[strspn(text, " \t\r\n\xEF\xBB\xBF")] == '\0'; }

/* A file that is one JSON text over many lines begins with a line that is none. */
static bool is_one_text(const char *first) {
  const char *at = first + strspn(first, " \t\r\xEF\xBB\xBF");
  return (*at == '{' || *at == '[') && is_blank(at + 1);
}

static void read_whole(OpenLineage *reading, const char *path, FILE *file) {
  BUF_SCOPED text = {0};
  char piece[65536];
  rewind(file);
  for (size_t n; (n = fread(piece, 1, sizeof piece, file)) > 0;) {
    if (text.len + n > OPENLINEAGE_MAX_LINE) {
      openlineage_fault(reading, path, 0, "longer than %d MiB, and not an event a line", OPENLINEAGE_MAX_LINE >> 20);
      return;
    }
    buf_append(&text, piece, n);
  }
  openlineage_add(reading, path, 1, buf_text(&text), text.len);
}

static void read_file(OpenLineage *reading, const char *path) {
  BUF_SCOPED line = {0};
  bool too_long;
  FILE *file = fopen(path, "re");
  if (file == NULL) {
    openlineage_fault(reading, path, 0, "cannot be read: %s", strerror(errno));
    return;
  }
  for (int number = 1; next_line(file, &line, &too_long); number++) {
    if (number == 1 && is_one_text(buf_text(&line))) {
      read_whole(reading, path, file);
      break;
    }
    if (too_long)
      openlineage_fault(reading, path, number, "a line longer than %d MiB", OPENLINEAGE_MAX_LINE >> 20);
    else if (!is_blank(buf_text(&line)))
      openlineage_add(reading, path, number, buf_text(&line), line.len);
  }
  if (ferror(file)) openlineage_fault(reading, path, 0, "cannot be read to its end: %s", strerror(errno));
  fclose(file);
}

static bool is_event_file(const char *name) {
  static const char *const ends[] = {".json", ".ndjson", ".jsonl", ".log"};
  size_t n = strlen(name);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (n > strlen(ends[i]) && strcmp(name + n - strlen(ends[i]), ends[i]) == 0) return true;
  return false;
}

static void read_folder(OpenLineage *reading, const char *path, int depth) {
  struct dirent **entries;
  int n = scandir(path, &entries, NULL, alphasort);
  if (n < 0) openlineage_fault(reading, path, 0, "cannot be read: %s", strerror(errno));
  for (int i = 0; i < n; i++) {
    const char *name = entries[i]->d_name, *inner = arena_printf(&reading->scratch, "%s/%s", path, name);
    struct stat facts;
    if (name[0] != '.' && lstat(inner, &facts) == 0) {
      if (S_ISDIR(facts.st_mode) && depth < MOST_DEEP)
        read_folder(reading, inner, depth + 1);
      else if (!S_ISDIR(facts.st_mode) && is_event_file(name) && stat(inner, &facts) == 0 && S_ISREG(facts.st_mode))
        read_file(reading, inner);
    }
    free(entries[i]);
  }
  if (n >= 0) free(entries);
}

void openlineage_read(Graph *graph, const char *path) {
  struct stat facts;
  if (strncmp(path, "http://", 7) == 0 || strncmp(path, "https://", 8) == 0) {
    openlineage_ask(graph, path);
    return;
  }
  OpenLineage *reading = openlineage_begin(graph, path);
  if (stat(path, &facts) != 0)
    openlineage_fault(reading, path, 0, "cannot be read: %s", strerror(errno));
  else if (S_ISDIR(facts.st_mode))
    read_folder(reading, path, 0);
  else if (S_ISREG(facts.st_mode))
    read_file(reading, path);
  else
    openlineage_fault(reading, path, 0, "neither a file nor a folder");
  if (reading->n_events == 0 && reading->n_faults == 0) openlineage_fault(reading, path, 0, "it holds no events");
  openlineage_end(reading);
}

bool lineage_read_openlineage(LineageCase *reading, Error *err) {
  const SpecTexts *paths = &reading->spec->lineage.openlineage;
  for (size_t i = 0; i < paths->n; i++) openlineage_read(reading->graph, paths->items[i].text);
  return true;
}
