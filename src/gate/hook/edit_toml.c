#include <stdio.h>
#include <string.h>

#include "base/doc.h"
#include "gate/hook/edit_int.h"

/*
 * A TOML file is not read, only walked over: where strings, lists and comments end, and what keys are set. A block of
 * `[[hooks.PreToolUse]]` may stand behind everything, unless hooks were written in another way already.
 */
typedef struct Walk {
  const char *file, *text, *at;
} Walk;

static bool refuse(const Walk *walk, const char *what, Error *err) {
  int line = 1, column = 1;
  for (const char *c = walk->text; c < walk->at; c++) {
    column = *c == '\n' ? 1 : column + ((*c & 0xC0) != 0x80);
    line += *c == '\n';
  }
  doc_error(err, walk->file, walk->text, line, column, "%s, so the file is left as it is", what);
  return error_hint(err, "write the entry yourself, as docs/how-to-hooks.md has it");
}

/* Behind the string at the place: """…""", '''…''', "…" or '…'. */
static bool skip_string(Walk *walk, Error *err) {
  char quote = *walk->at;
  bool several = walk->at[1] == quote && walk->at[2] == quote;
  const char *start = walk->at;
  walk->at += several ? 3 : 1;
  for (; *walk->at != '\0'; walk->at++) {
    if (quote == '"' && *walk->at == '\\' && walk->at[1] != '\0') {
      walk->at++;
    } else if (*walk->at == '\n' && !several) {
      break;
    } else if (*walk->at == quote && (!several || (walk->at[1] == quote && walk->at[2] == quote))) {
      walk->at += several ? 3 : 1;
      while (several && *walk->at == quote) walk->at++; /* """a"""" ends with a quote inside */
      return true;
    }
  }
  walk->at = start;
  return refuse(walk, "this string has no end", err);
}

/* The value behind a key, to the end of its line; brackets may go over several. */
static bool skip_value(Walk *walk, Error *err) {
  int depth = 0;
  const char *start = walk->at;
  while (*walk->at != '\0') {
    char c = *walk->at;
    if (c == '"' || c == '\'') {
      if (!skip_string(walk, err)) return false;
      continue;
    }
    if (c == '#') {
      walk->at += strcspn(walk->at, "\n");
      continue;
    }
    depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    if (c == '\n' && depth <= 0) break;
    walk->at++;
  }
  if (depth == 0) return true;
  walk->at = start;
  return refuse(walk, "this list has no end", err);
}

/* A key or a table's name without blanks and quotes: `"hooks" . PreToolUse` is hooks.PreToolUse. Up to `end`. */
static bool take_name(Walk *walk, char end, char *name, size_t room, Error *err) {
  size_t n = 0;
  const char *start = walk->at;
  for (; *walk->at != '\0' && *walk->at != '\n' && *walk->at != end; walk->at++)
    if (strchr(" \t\"'\r", *walk->at) == NULL && n + 1 < room) name[n++] = *walk->at;
  name[n] = '\0';
  if (*walk->at == end) return true;
  walk->at = start;
  return refuse(walk, "this is no TOML", err);
}

static bool starts(const char *name, const char *with) {
  size_t n = strlen(with);
  return strncmp(name, with, n) == 0 && (name[n] == '\0' || name[n] == '.');
}

bool hook_toml_takes_block(const char *file, const char *text, Error *err) {
  Walk walk = {file, text, text};
  char table[256] = "", name[256] = "";
  while (*walk.at != '\0') {
    walk.at += strspn(walk.at, " \t\r\n");
    if (*walk.at == '\0') break;
    const char *start = walk.at;
    if (*walk.at == '#') {
      walk.at += strcspn(walk.at, "\n");
      continue;
    }
    if (*walk.at == '[') {
      bool list = walk.at[1] == '[';
      walk.at += list ? 2 : 1;
      if (!take_name(&walk, ']', table, sizeof table, err)) return false;
      bool wrong = !list && starts(table, "hooks.PreToolUse");
      walk.at = wrong ? start : walk.at + (list && walk.at[1] == ']' ? 2 : 1);
      if (wrong) return refuse(&walk, "hooks.PreToolUse is no list of tables", err);
    } else {
      if (!take_name(&walk, '=', name, sizeof name, err)) return false;
      const char *whole = name;
      char path[520];
      if (table[0] != '\0') {
        snprintf(path, sizeof path, "%s.%s", table, name);
        whole = path;
      }
      bool taken =
          strcmp(whole, "hooks") == 0 || (starts(whole, "hooks.PreToolUse") && !starts(table, "hooks.PreToolUse"));
      if (taken) walk.at = start;
      if (taken) return refuse(&walk, "hooks are written here in a way to which no list can be added", err);
      walk.at++;
    }
    if (!skip_value(&walk, err)) return false;
  }
  return true;
}
