#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mask.h"
#include "base/process.h"
#include "jobs/history_int.h"

/* crontab(5) of cronie and of Debian's cron: the files of this machine, or one file. */

enum { PATIENCE = 10 /* seconds for crontab -l */, OUTPUT_MAX = 64 * 1024 /* what process_run keeps */ };

typedef struct Crontab {
  Arena *arena;
  const JobSource *source; /* its place is the file that is read; NULL: what crontab -l prints */
  HistoryList *list;
  bool with_user;   /* the sixth field is the user, as in /etc/crontab */
  const char *zone; /* CRON_TZ; NULL: the machine's */
  double delay;     /* RANDOM_DELAY, seconds */
  const char **commands;
  size_t n;
} Crontab;

static const char *skip_blanks(const char *text) { return text + strspn(text, " \t"); }

/* The next word, and what follows it. */
static const char *take_word(Arena *arena, const char **at) {
  const char *start = skip_blanks(*at);
  size_t length = strcspn(start, " \t");
  *at = skip_blanks(start + length);
  return arena_strndup(arena, start, length);
}

/* A name for a person to change: that of the program, else of the file. */
static const char *proposed_name(const Crontab *crontab, const char *command) {
  static const char *const none[] = {"test", "[",    "cd",   "if",     "root",  "env",
                                     "sh",   "bash", "nice", "ionice", "flock", ""};
  Arena *arena = crontab->arena;
  const char *at = command, *word = take_word(arena, &at), *slash = strrchr(word, '/');
  char *name = arena_strdup(arena, slash == NULL ? word : slash + 1);
  bool says_nothing = strchr(word, '=') != NULL;
  for (size_t i = 0; i < sizeof none / sizeof *none; i++) says_nothing = says_nothing || strcmp(name, none[i]) == 0;
  if (says_nothing) {
    const char *place = crontab->source->place == NULL ? "crontab" : crontab->source->place;
    name = arena_strdup(arena, strrchr(place, '/') == NULL ? place : strrchr(place, '/') + 1);
  }
  name[strcspn(name, ".")] = '\0';
  for (char *c = name; *c != '\0'; c++)
    if (!isalnum((unsigned char)*c) && *c != '_' && *c != '-') *c = '_';
  return *name == '\0' ? "job" : name;
}

/* NAME = VALUE, as cron reads it (crontab(5)); false: it is no assignment. */
static bool read_variable(Crontab *crontab, const char *line) {
  size_t name = strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789\"'");
  const char *at = skip_blanks(line + name);
  if (name == 0 || *at != '=') return false;
  at = skip_blanks(at + 1);
  size_t length = strlen(at);
  while (length > 0 && isspace((unsigned char)at[length - 1])) length--;
  if (length >= 2 && (*at == '"' || *at == '\'') && at[length - 1] == *at) {
    at++;
    length -= 2;
  }
  const char *value = arena_strndup(crontab->arena, at, length);
  if (name == strlen("CRON_TZ") && strncmp(line, "CRON_TZ", name) == 0) crontab->zone = *value == '\0' ? NULL : value;
  if (name == strlen("RANDOM_DELAY") && strncmp(line, "RANDOM_DELAY", name) == 0)
    crontab->delay = fmax(0, strtod(value, NULL)) * 60;
  return true;
}

static const char *without_secrets(Arena *arena, const char *text) { return mask_secrets(arena, text, strlen(text)); }

/* The command, told apart from equal ones above it in the file. */
static const char *identity(Crontab *crontab, const char *command) {
  int before = 0;
  for (size_t i = 0; i < crontab->n; i++) before += strcmp(crontab->commands[i], command) == 0;
  crontab->commands = arena_grow(crontab->arena, crontab->commands, crontab->n, sizeof *crontab->commands);
  crontab->commands[crontab->n++] = command;
  return before == 0 ? command : arena_printf(crontab->arena, "%s #%d", command, before + 1);
}

static void read_entry(Crontab *crontab, const char *line, const char *whole) {
  Arena *arena = crontab->arena;
  const char *at = line, *expression = take_word(arena, &at);
  for (int field = 1; expression[0] != '@' && field < 5; field++)
    expression = arena_printf(arena, "%s %s", expression, take_word(arena, &at));
  if (crontab->with_user) take_word(arena, &at);
  const char *bare = without_secrets(arena, at), *command = identity(crontab, bare), *wanted = crontab->source->job;
  if (wanted != NULL && strcmp(without_secrets(arena, wanted), command) != 0) return;
  JobHistory *history = history_add(arena, crontab->list, crontab->source, command);
  history->name = proposed_name(crontab, at);
  history->command = bare;
  history->jitter = crontab->delay;
  /* cronie's CRON_TZ holds for the lines after it; a file may set it again. */
  const char *zone = crontab->zone != NULL ? crontab->zone : history_machine_zone(arena);
  history_schedule(arena, history, "vixie", expression, zone);
  if (*at == '\0') history->refusal = arena_printf(arena, "the line runs nothing: %s", without_secrets(arena, whole));
  if (history->refusal != NULL) return;
  if (crontab->zone != NULL)
    history_doubt(arena, history, "zone",
                  "of CRON_TZ, which cronie follows; Debian's cron ignores it and takes the "
                  "machine's zone");
  else if (zone == NULL)
    history_doubt(arena, history, "zone", "cron follows the machine's clock, whose zone /etc/localtime does not name");
  else if (crontab->source->place == NULL || strncmp(crontab->source->place, "/etc/", 5) == 0)
    history_doubt(arena, history, "zone", "that of this machine");
  else
    history_doubt(arena, history, "zone", "that of this machine; the file's own machine may have another");
  history_doubt(arena, history, "p95", "cron keeps no record of how long a run took: measure it");
}

static void read_text(Crontab *crontab, const char *text) {
  while (*text != '\0') {
    size_t length = strcspn(text, "\r\n");
    const char *line = arena_strndup(crontab->arena, text, length), *start = skip_blanks(line);
    if (*start != '\0' && *start != '#' && !read_variable(crontab, start)) read_entry(crontab, start, line);
    text += length;
    text += strspn(text, "\r\n");
  }
}

static bool with_user(const char *path) {
  return strcmp(path, "/etc/crontab") == 0 || strstr(path, "/cron.d/") != NULL;
}

static bool read_path(Arena *arena, const JobSource *source, const char *path, HistoryList *list, Error *err) {
  const char *text;
  JobSource here = *source;
  here.place = path;
  Crontab crontab = {.arena = arena, .source = &here, .list = list, .with_user = with_user(path)};
  if (!history_file(arena, path, &text, err)) return false;
  read_text(&crontab, text);
  return true;
}

/* The crontab of whoever asks; having none, and no cron on the machine, is fine. */
static bool read_own(Arena *arena, const JobSource *source, HistoryList *list, Error *err) {
  char *const argv[] = {"crontab", "-l", NULL};
  ProcessRules rules = {.timeout = PATIENCE, .timeout_name = "reading the crontab"};
  BUF_SCOPED output = {0};
  Crontab crontab = {.arena = arena, .source = source, .list = list};
  if (!process_run(argv, &rules, &output, err)) {
    if (strstr(buf_text(&output), "no crontab for") != NULL || strstr(buf_text(&output), "cannot run crontab") != NULL)
      return true;
    return error_wrap(err, "reading the crontab of this user");
  }
  if (output.len >= OUTPUT_MAX)
    return error_set(err, ERR_COMMAND, "what crontab -l prints is longer than %d KiB", OUTPUT_MAX / 1024);
  read_text(&crontab, buf_text(&output));
  return true;
}

/* What cron leaves alone in /etc/cron.d: hidden files, and what editors and package managers leave behind. */
static int is_crontab(const struct dirent *entry) {
  const char *name = entry->d_name;
  size_t length = strlen(name);
  return name[0] != '.' && name[length - 1] != '~' && strstr(name, ".dpkg-") == NULL && strstr(name, ".rpm") == NULL;
}

static bool read_folder(Arena *arena, const JobSource *source, const char *folder, HistoryList *list, Error *err) {
  struct dirent **names;
  int n = scandir(folder, &names, is_crontab, alphasort);
  bool ok = true;
  for (int i = 0; i < n; i++) {
    ok = ok && read_path(arena, source, arena_printf(arena, "%s/%s", folder, names[i]->d_name), list, err);
    free(names[i]);
  }
  if (n >= 0) free(names);
  return ok;
}

bool history_crontab(Arena *arena, Engine *engine, const JobSource *source, HistoryList *list, Error *err) {
  (void)engine;
  if (source->place != NULL) return read_path(arena, source, source->place, list, err);
  Error absent;
  size_t before = list->n;
  if (!read_path(arena, source, "/etc/crontab", list, &absent)) {
    if (absent.code != ERR_NOT_FOUND) return *err = absent, false;
    list->n = before;
  }
  return read_folder(arena, source, "/etc/cron.d", list, err) && read_own(arena, source, list, err);
}
