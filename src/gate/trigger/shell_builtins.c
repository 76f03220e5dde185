#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "gate/trigger/shell_run_int.h"

/* What the shell does by itself. */

/* x[1]=VALUE: the array with one element more or another. */
static ShellFields with_element(ShellRun *run, const ShellVariable *before, const char *index, const char *value) {
  ShellFields ret = {0}, old = {0};
  if (before != NULL && before->n > 0) old = before->choices[run->choice < before->n ? run->choice : before->n - 1];
  size_t i = strtoul(index, NULL, 10), digits = strspn(index, "0123456789");
  bool known = digits > 0 && index[digits] == ']' && index[digits + 1] == '=' && i <= old.n && old.keys == NULL;
  size_t n = strcspn(index, "]"); /* a variable's name may be a number of an array without keys */
  if (old.keys != NULL && strchr(index, SHELL_UNKNOWN) == NULL && index[n] == ']' &&
      shell_find(run, index, n) == NULL) {
    shell_spend(run, 2 * old.n * sizeof *old.items);
    for (size_t k = 0; k < old.n; k++) shell_add_keyed(run, &ret, old.keys[k], old.items[k]);
    shell_add_keyed(run, &ret, arena_strndup(run->arena, index, n), value);
    return ret;
  }
  if (!known) {
    shell_add_keyed(run, &ret, "\1", "\1");
    return ret;
  }
  shell_spend(run, old.n * sizeof *old.items);
  for (size_t k = 0; k < old.n; k++) shell_add_field(run, &ret, k == i ? value : old.items[k]);
  if (i == old.n) shell_add_field(run, &ret, value);
  return ret;
}

static const char **unknown_places(ShellRun *run, size_t n) {
  const char **keys = arena_array(run->arena, n + 1, sizeof *keys);
  for (size_t i = 0; i < n; i++) keys[i] = "\1";
  return keys;
}

/* a[$(…)] as a value is there to be run by arithmetic, by test -v, by printf -v. */
static void run_subscript(ShellRun *run, const char *value) {
  const char *index = strstr(value, "[$(");
  if (index == NULL) index = strstr(value, "[`");
  if (index != NULL) shell_run_text(run, arena_printf(run->arena, ": \"%s\"", index + 1), (ShellInput){0});
}

void shell_assign(ShellRun *run, const ShellWord *word, bool own, bool refers) {
  ShellFields value = {0};
  const char *text = shell_expand_text(run, word), *equals = strchr(text, '=');
  if (equals == NULL || equals == text) {
    if (own && *text != '-' && equals == NULL) shell_hide(run, text, strlen(text));
    for (size_t i = 0; i < word->n_items; i++) shell_touch(run, &word->items[i]);
    return;
  }
  if (!word->is_array) shell_run_setting(run, text);
  bool more = equals[-1] == '+';
  size_t n = strcspn(text, "[+=");
  if (word->is_array) {
    shell_expand(run, word->items, word->n_items, &value);
    for (size_t i = 0; i < value.n; i++) {
      const char *key = strstr(value.items[i], "]="); /* [key]=value; the [ counts as a pattern */
      if (key == NULL || (*value.items[i] != '[' && *value.items[i] != SHELL_UNKNOWN)) continue;
      if (value.keys == NULL) value.keys = unknown_places(run, value.n);
      value.keys[i] = arena_strndup(run->arena, value.items[i] + 1, (size_t)(key - value.items[i] - 1));
      value.items[i] = key + 2;
    }
  } else if (text[n] == '[') {
    value = with_element(run, shell_find(run, text, n), text + n + 1, equals + 1);
  } else {
    shell_add_field(run, &value, equals + 1);
  }
  const ShellVariable *before = more ? shell_find(run, text, n) : NULL;
  if (more && before == NULL) value = (ShellFields){0}, shell_add_field(run, &value, "\1");
  if (more && before != NULL && before->n > 0) {
    const ShellFields *old = &before->choices[run->choice < before->n ? run->choice : before->n - 1];
    ShellFields sum = {0};
    shell_spend(run, old->n * sizeof *old->items);
    for (size_t i = 0; i < old->n; i++) shell_add_field(run, &sum, old->items[i]);
    if (old->keys != NULL || value.keys != NULL) {
      sum.keys = unknown_places(run, old->n + value.n);
      for (size_t i = 0; old->keys != NULL && i < old->n; i++) sum.keys[i] = old->keys[i];
      for (size_t i = 0; value.keys != NULL && i < value.n; i++) sum.keys[old->n + i] = value.keys[i];
    }
    if (word->is_array)
      for (size_t i = 0; i < value.n; i++) shell_add_field(run, &sum, value.items[i]);
    else if (sum.n == 0)
      sum = value;
    else {
      shell_spend(run, strlen(sum.items[0]));
      sum.items[0] = arena_printf(run->arena, "%s%s", sum.items[0], value.items[0]);
    }
    value = sum;
  }
  run_subscript(run, equals + 1);
  if (own) shell_hide(run, text, n);
  if (refers)
    shell_refer(run, text, n, strchr(equals + 1, SHELL_UNKNOWN) == NULL ? equals + 1 : NULL);
  else
    shell_set(run, text, n, value);
}

void shell_run_setting(ShellRun *run, const char *setting) {
  static const char *const names[] = {"EDITOR",    "VISUAL",   "PAGER",           "MANPAGER", "GIT_EDITOR",
                                      "GIT_PAGER", "GIT_SSH",  "GIT_SSH_COMMAND", "BROWSER",  "PROMPT_COMMAND",
                                      "BASH_ENV",  "LESSOPEN", "GIT_ASKPASS",     "PS4"};
  const char *equals = strchr(setting, '=');
  if (run->n_settings < SHELL_MAX_NAMES) {
    run->settings = arena_grow(run->arena, run->settings, run->n_settings, sizeof *run->settings);
    run->settings[run->n_settings++] = setting;
  }
  for (size_t i = 0; equals != NULL && i < sizeof names / sizeof *names; i++)
    if (strlen(names[i]) == (size_t)(equals - setting) && strncmp(setting, names[i], strlen(names[i])) == 0)
      shell_run_text(run, equals + 1, (ShellInput){0});
}

const char *shell_run_value(const ShellRun *run, const char *name) {
  size_t n = strlen(name);
  for (size_t i = run->n_settings; i > 0; i--)
    if (strncmp(run->settings[i - 1], name, n) == 0 && run->settings[i - 1][n] == '=')
      return run->settings[i - 1] + n + 1;
  return NULL;
}

/* ---- builtins ---------------------------------------------------------------------------------------------------- */

static const char *joined(ShellRun *run, const char *const *words, size_t n) {
  BUF_SCOPED text = {0};
  for (size_t i = 0; i < n; i++) buf_printf(&text, "%s%s", i == 0 ? "" : " ", words[i]);
  return arena_strdup(run->arena, buf_text(&text));
}

static void forget_names(ShellRun *run, const ShellCommand *c, size_t from) {
  for (size_t i = from; i < c->n; i++)
    if (*c->argv[i] != '-') shell_forget(run, c->argv[i]);
}

/* mapfile A: the lines. */
static ShellFields lines_of(ShellRun *run, const char *at) {
  ShellFields ret = {0};
  while (*at != '\0' && ret.n <= SHELL_MAX_LOOP) {
    size_t n = strcspn(at, "\n");
    shell_add_field(run, &ret, arena_strndup(run->arena, at, n));
    at += n + (at[n] == '\n');
  }
  return ret;
}

/* The next word of the line, or the rest of it; *at moves behind it and what ends it. */
static const char *next_word(ShellRun *run, const char **at, bool rest) {
  const char *ifs = shell_run_value(run, "IFS"), *begin = *at + strspn(*at, " \t");
  if (ifs == NULL || *ifs == '\0' || strchr(ifs, SHELL_UNKNOWN) != NULL) ifs = " \t";
  size_t n = strcspn(begin, rest ? "\n" : arena_printf(run->arena, "%s\n", ifs));
  *at = begin + n + (begin[n] != '\0' && begin[n] != '\n');
  return arena_strndup(run->arena, begin, n);
}

/* mapfile -C CODE: run for each of the lines. */
static void run_callback(ShellRun *run, const ShellCommand *c) {
  for (size_t i = 1; i + 1 < c->n; i++)
    if (strcmp(c->argv[i], "-C") == 0) shell_run_text(run, c->argv[i + 1], (ShellInput){0});
}

/* read A B: the words of the first line, the rest of it in the last one; read -a A: all of them. */
static void take_input(ShellRun *run, const ShellCommand *c, bool lines) {
  const char *at = c->input.text;
  bool into_array = false;
  if (lines) run_callback(run, c);
  bool whole = false; /* -d '': the text is one line */
  for (size_t i = 1; i + 1 < c->n; i++) {
    bool ends = *c->argv[i] == '-' && c->argv[i][strlen(c->argv[i]) - 1] == 'd';
    whole |= !lines && ends && *c->argv[i + 1] == '\0';
    if (*c->argv[i] == '-' && !(ends && whole) && strpbrk(c->argv[i] + 1, lines ? "s" : "dnNu") != NULL) at = NULL;
  }
  size_t first = c->n;
  for (size_t i = 1; !lines && i < c->n; i++) into_array |= *c->argv[i] == '-' && strchr(c->argv[i], 'a') != NULL;
  while (first > 1 && *c->argv[first - 1] != '-') first--;
  if (at == NULL || first == c->n || (!lines && c->n > first + 8)) {
    forget_names(run, c, 1);
    return;
  }
  for (size_t i = first; i < c->n; i++) {
    ShellFields value = {0};
    if (whole)
      shell_add_field(run, &value, at);
    else if (lines)
      value = lines_of(run, at);
    else
      do shell_add_field(run, &value, next_word(run, &at, i + 1 == c->n && !into_array));
      while (into_array && *at != '\0' && *at != '\n' && value.n <= SHELL_MAX_LOOP);
    shell_set(run, c->argv[i], strlen(c->argv[i]), value);
  }
}

/* unset 'NAME[index]': the places of the others stay. */
static void unset_element(ShellRun *run, const char *name, size_t n, const char *index) {
  const ShellVariable *found = shell_find(run, name, n);
  size_t place = strtoul(index, NULL, 10);
  if (found == NULL || found->n != 1 || found->choices[0].keys != NULL || !isdigit((unsigned char)*index)) {
    shell_forget(run, arena_strndup(run->arena, name, n));
    return;
  }
  ShellFields before = found->choices[0], value = {0};
  for (size_t i = 0; i < before.n; i++)
    if (i != place) shell_add_keyed(run, &value, arena_printf(run->arena, "%zu", i), before.items[i]);
  shell_set(run, name, n, value);
}

static void unset(ShellRun *run, const ShellCommand *c) {
  bool functions = c->n > 1 && strcmp(c->argv[1], "-f") == 0, references = c->n > 1 && strcmp(c->argv[1], "-n") == 0;
  for (size_t i = 1; i < c->n; i++) {
    const char *name = c->argv[i], *index = strchr(name, '[');
    if (functions)
      shell_name(run, &run->functions, (ShellNamed){.name = name, .perhaps = run->branching});
    else if (references && *name != '-')
      shell_refer(run, name, strlen(name), NULL);
    else if (index != NULL)
      unset_element(run, name, (size_t)(index - name), index + 1);
    else if (*name != '-')
      shell_set(run, name, strlen(name), (ShellFields){0});
  }
}

static void alias(ShellRun *run, const ShellCommand *c) {
  for (size_t i = 1; i < c->n; i++) {
    const char *equals = strchr(c->argv[i], '=');
    if (equals == NULL) continue;
    const char *name = arena_strndup(run->arena, c->argv[i], (size_t)(equals - c->argv[i]));
    shell_name(run, &run->aliases, (ShellNamed){.name = name, .text = equals + 1});
  }
}

static void set(ShellRun *run, const ShellCommand *c) {
  size_t i = 1;
  while (i < c->n && (*c->argv[i] == '-' || *c->argv[i] == '+') && strcmp(c->argv[i], "--") != 0) i++;
  if (i == c->n) return;
  if (strcmp(c->argv[i], "--") == 0) i++;
  run->arguments = (ShellFields){.items = (const char **)c->argv + i, .n = c->n - i};
  run->has_arguments = true;
}

static void shift(ShellRun *run, const ShellCommand *c) {
  const char *by = c->n > 1 ? c->argv[1] : "1";
  size_t n = strtoul(by, NULL, 10);
  if (by[strspn(by, "0123456789")] != '\0') {
    run->arguments.n = 0;
    run->has_arguments = false;
  } else if (n <= run->arguments.n) {
    run->arguments.items += n;
    run->arguments.n -= n;
  }
}

/* `.` and source. */
static void source(ShellRun *run, const ShellCommand *c) {
  const char *text = shell_run_file(run, c->argv[1]);
  if (shell_is_input(c->argv[1])) text = c->input.text;
  if (text != NULL && c->n > 2)
    shell_run_script(run, text, c->argv + 2, c->n - 2, c->input);
  else if (text != NULL)
    shell_run_text(run, text, c->input);
  else if (strncmp(c->argv[1], "/dev/", 5) == 0 || strncmp(c->argv[1], "/proc/", 6) == 0)
    shell_doubt(run, "code is read from a pipe whose contents are not known");
}

static void trap(ShellRun *run, const ShellCommand *c) {
  size_t i = c->n > 1 && strcmp(c->argv[1], "--") == 0 ? 2 : 1;
  if (i < c->n && *c->argv[i] != '-') shell_run_text(run, c->argv[i], (ShellInput){0});
}

bool shell_builtin(ShellRun *run, const ShellCommand *c) {
  const char *name = c->argv[0];
  if (strcmp(name, "eval") == 0) {
    size_t from = c->n > 1 && strcmp(c->argv[1], "--") == 0 ? 2 : 1;
    shell_run_text(run, joined(run, c->argv + from, c->n - from), c->input);
  } else if ((strcmp(name, "source") == 0 || strcmp(name, ".") == 0) && c->n > 1 &&
             (shell_run_file(run, c->argv[1]) != NULL || strncmp(c->argv[1], "/dev/", 5) == 0 ||
              strncmp(c->argv[1], "/proc/", 6) == 0))
    source(run, c);
  else if (strcmp(name, "trap") == 0)
    trap(run, c);
  else if (strcmp(name, "alias") == 0)
    alias(run, c);
  else if (strcmp(name, "read") == 0 || strcmp(name, "mapfile") == 0 || strcmp(name, "readarray") == 0)
    take_input(run, c, *name != 'r' || name[4] != '\0');
  else if (strcmp(name, "getopts") == 0)
    forget_names(run, c, 2);
  else if (strcmp(name, "unset") == 0)
    unset(run, c);
  else if (strcmp(name, "set") == 0)
    set(run, c);
  else if (strcmp(name, "shift") == 0)
    shift(run, c);
  else
    return false;
  return true;
}
