#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "spec/spec_int.h"
#include "time/datecodec.h"

/* ---- one word out of a few --------------------------------------------------------------------------------------- */

/* The index of the value among the words (NULL-terminated); -1 when refused. */
static int one_of(SpecReader *reader, const SpecRow *row, const DocNode *value, const char *const *words) {
  BUF_SCOPED list = {0};
  size_t n = 0;
  if (!spec_check_text(reader, row, value)) return -1;
  for (; words[n] != NULL; n++) {
    if (strcmp(words[n], value->text) == 0) return (int)n;
    buf_printf(&list, "%s%s", n == 0 ? "" : ", ", words[n]);
  }
  const char *nearest = spec_nearest(value->text, words, n);
  spec_refuse(reader, value, "“%s” cannot be “%.100s”: it is one of %s", row->key.name, value->text, buf_text(&list));
  if (nearest != NULL)
    error_hint(reader->err, "did you mean “%s”?", nearest);
  else
    spec_hint_example(reader, row);
  return -1;
}

bool spec_read_shadow(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  static const char *const words[] = {"thin", "full", NULL};
  int i = one_of(reader, row, value, words);
  if (i < 0) return false;
  *(bool *)member = i == 1;
  return true;
}

bool spec_read_publish(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  static const char *const words[] = {"auto", "changes", "exchange", "replace", NULL}; /* in the order of SpecPublish */
  int i = one_of(reader, row, value, words);
  if (i < 0) return false;
  *(SpecPublish *)member = (SpecPublish)i;
  return true;
}

bool spec_read_unlogged(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  static const char *const words[] = {"logged", "unlogged", NULL};
  int i = one_of(reader, row, value, words);
  if (i < 0) return false;
  *(bool *)member = i == 1;
  return true;
}

bool spec_read_triggers(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  static const char *const words[] = {"deny", "fire", "skip", NULL}; /* in the order of SpecTriggers */
  int i = one_of(reader, row, value, words);
  if (i < 0) return false;
  *(SpecTriggers *)member = (SpecTriggers)i;
  return true;
}

bool spec_read_needs(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  static const char *const words[] = {"nothing", "follows", "refresh", "cascade", "rebuild", "person", "unknown", NULL};
  int i = one_of(reader, row, value, words);
  if (i < 0) return false;
  *(const char **)member = words[i];
  return true;
}

bool spec_read_dialect(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  const char *const *dialects = schedule_dialects();
  int i = one_of(reader, row, value, dialects);
  if (i < 0) return false;
  *(const char **)member = dialects[i];
  return true;
}

bool spec_read_grain(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  const char *words[GRAIN_YEAR + 2] = {0};
  for (int grain = GRAIN_HOUR; grain <= GRAIN_YEAR; grain++) words[grain] = grain_name((Grain)grain);
  if (one_of(reader, row, value, words) < 0) return false;
  *(SpecText *)member = spec_text(reader, value);
  return true;
}

bool spec_read_date_kind(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  const char *words[DATE_KINDS + 1] = {0};
  for (int kind = 0; kind < DATE_KINDS; kind++) words[kind] = date_kind_name((DateKind)kind);
  if (one_of(reader, row, value, words) < 0) return false;
  *(SpecText *)member = spec_text(reader, value);
  return true;
}

/* ---- maps with fixed keys ---------------------------------------------------------------------------------------- */

static bool is_mapping(SpecReader *reader, const SpecRow *row, const DocNode *value) {
  if (value->kind == DOC_MAPPING && value->n > 0) return true;
  if (value->kind == DOC_MAPPING)
    spec_refuse(reader, value, "“%s” is empty", row->key.name);
  else
    spec_refuse(reader, value, "“%s” must be a map of its keys", row->key.name);
  return spec_hint_example(reader, row);
}

bool spec_read_group(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  return is_mapping(reader, row, value) && spec_read_keys(reader, row->key.name, value, member);
}

bool spec_read_idle(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  Spec *spec = member;
  if (value->kind == DOC_SCALAR) return spec_read_text(reader, row, value, &spec->idle);
  return spec_read_group(reader, row, value, member);
}

bool spec_read_production(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  Spec *spec = member;
  if (value->kind == DOC_SCALAR && strcmp(value->text, "none") == 0) {
    SpecReader defaults = {.arena = reader->arena, .level = reader->level, .err = reader->err};
    spec->production = (SpecProduction){.when.p95 = -1, .none = true};
    return spec_apply_defaults(&defaults, "production", spec) &&
           spec_apply_defaults(&defaults, "production.live", spec);
  }
  if (value->kind == DOC_SCALAR) {
    spec_refuse(reader, value, "“production” must be none or a map of its keys");
    return spec_hint_example(reader, row);
  }
  spec->production.none = false;
  return spec_read_group(reader, row, value, member);
}

bool spec_read_targets(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  Spec unused = *(Spec *)member; /* the entry that applies is read after the whole top: merge.c */
  SpecReader inner = *reader;
  inner.level = SPEC_IN_TARGET;
  if (!is_mapping(reader, row, value)) return false;
  for (size_t i = 0; i < value->n; i++) {
    const DocNode *entry = &value->children[i];
    if (entry->kind != DOC_MAPPING && entry->kind != DOC_NULL) {
      spec_refuse(reader, entry, "the entry of “%.200s” must be a map of keys", entry->key);
      return spec_hint_example(reader, row);
    }
    if (!spec_read_keys(&inner, "", entry, &unused)) return false;
  }
  return true;
}

/* ---- recompute --------------------------------------------------------------------------------------------------- */

bool spec_read_command(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  SpecTexts *command = member;
  if (value->kind == DOC_SCALAR || value->kind == DOC_MAPPING || value->n == 0) {
    if (!spec_check_text(reader, row, value)) return false;
    SpecText *line = arena_alloc(reader->arena, sizeof *line);
    *line = spec_text(reader, value);
    *command = (SpecTexts){line, 1};
    return true;
  }
  SpecText *words = arena_array(reader->arena, value->n, sizeof *words);
  if (!spec_check_text(reader, row, &value->children[0])) return false;
  for (size_t i = 0; i < value->n; i++) {
    if (value->children[i].kind != DOC_SCALAR) {
      spec_refuse(reader, &value->children[i], "an argument of “%s” must be a text", row->key.name);
      return error_hint(reader->err, "put it into quotes; \"\" is an empty argument");
    }
    words[i] = spec_text(reader, &value->children[i]);
  }
  *command = (SpecTexts){words, value->n};
  return true;
}

static bool check_recompute(SpecReader *reader, const SpecRow *row, const DocNode *map,
                            const SpecRecompute *recompute) {
  const DocNode *sql = doc_get(map, "sql"), *command = doc_get(map, "command"), *shell = doc_get(map, "shell");
  const DocNode *timeout = doc_get(map, "timeout");
  if (sql != NULL && command != NULL) {
    spec_refuse(reader, command, "“recompute” has both sql and command");
    return error_hint(reader->err, "keep the one that produces the rows");
  }
  if (sql == NULL && command == NULL) {
    spec_refuse(reader, map, "“recompute” has neither sql nor command");
    return spec_hint_example(reader, row);
  }
  if (command == NULL && (shell != NULL || timeout != NULL)) {
    spec_refuse(reader, shell != NULL ? shell : timeout, "shell and timeout go with a command, not with SQL");
    return error_hint(reader->err, "take the line out; budget.statement limits SQL");
  }
  if (command != NULL && command->kind == DOC_SCALAR && !recompute->shell) {
    spec_refuse(reader, command, "a command in one text needs a shell to take it apart");
    return error_hint(reader->err, "write a list, [program, argument, …], or add: shell: yes");
  }
  if (command != NULL && command->kind == DOC_SEQUENCE && recompute->shell) {
    spec_refuse(reader, command, "a line for the shell must be one text, not a list");
    return error_hint(reader->err, "write the whole line as one text, or take out: shell: yes");
  }
  return true;
}

bool spec_read_recompute(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  Spec *spec = member;
  if (value->kind != DOC_MAPPING) return spec_read_sql(reader, row, value, &spec->recompute.sql);
  return spec_read_group(reader, row, value, member) && check_recompute(reader, row, value, &spec->recompute);
}

/* ---- database ---------------------------------------------------------------------------------------------------- */

/* The directory part of a file's path with its slash; "" for a bare name. */
static const char *directory(Arena *arena, const char *file) {
  const char *slash = strrchr(file, '/');
  return slash == NULL ? "" : arena_strndup(arena, file, (size_t)(slash - file) + 1);
}

const char *spec_beside(const SpecReader *reader, const char *path) {
  return *path == '/' ? path : arena_printf(reader->arena, "%s%s", directory(reader->arena, reader->file), path);
}

/* The part of a URL up to `end`, without its %XX. */
static const char *decoded(Arena *arena, const char *text, const char *end) {
  char *out = arena_strndup(arena, text, (size_t)(end - text)), *to = out;
  for (const char *from = out; *from != '\0'; from++) {
    unsigned byte;
    if (*from == '%' && isxdigit((unsigned char)from[1]) && sscanf(from + 1, "%2x", &byte) == 1 &&
        isxdigit((unsigned char)from[2])) {
      *to++ = (char)byte;
      from += 2;
    } else {
      *to++ = *from;
    }
  }
  *to = '\0';
  return out;
}

/* As libpq reads a URL: user:password@ before the host, or an option behind the question mark. */
static bool url_has_password(Arena *arena, const char *url) {
  const char *host = strstr(url, "://") + 3, *at = host + strcspn(host, "@/");
  if (*at == '@') {
    const char *colon = memchr(host, ':', (size_t)(at - host));
    if (colon != NULL && colon + 1 < at) return true;
    host = at + 1;
  }
  for (const char *option = strchr(host, '?'); option != NULL; option = strchr(option, '&')) {
    option++;
    const char *equals = option + strcspn(option, "=&");
    const char *name = decoded(arena, option, equals);
    if (*equals == '=' && equals[1] != '&' && equals[1] != '\0' &&
        (strcmp(name, "password") == 0 || strcmp(name, "sslpassword") == 0))
      return true;
  }
  return false;
}

/* The line is not shown: it holds the password. */
static bool refuse_password(SpecReader *reader, const DocNode *value) {
  SpecPlace place = spec_place(reader, value);
  place.source = NULL;
  spec_error(reader->err, &place,
             "the URL of “database” holds a password: everybody who reads this file, a log or the list of processes "
             "would have it");
  return error_hint(reader->err,
                    "take it out and change it; libpq finds a password in ~/.pgpass, in PGPASSWORD or in a service "
                    "file (postgresql:///?service=NAME)");
}

bool spec_read_database(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member) {
  static const char sqlite[] = "sqlite:";
  Spec *spec = member;
  if (!spec_read_text(reader, row, value, &spec->database)) return false;
  const char *path = spec->database.text;
  if (strncmp(path, sqlite, sizeof sqlite - 1) == 0) {
    path += sizeof sqlite - 1;
    if (strncmp(path, "//", 2) == 0) path += 2;
    if (*path == '\0') {
      spec_refuse(reader, value, "“database” names no file after sqlite:");
      return spec_hint_example(reader, row);
    }
  } else if (strstr(path, "://") != NULL) {
    if (url_has_password(reader->arena, path)) return refuse_password(reader, value);
    spec->database_path = path;
    return true;
  }
  spec->database_path = spec_beside(reader, path);
  return true;
}
