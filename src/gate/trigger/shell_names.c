#include <string.h>

#include "gate/trigger/shell_run_int.h"

/* What names stand for: variables, functions, aliases, files. */

void shell_add_keyed(ShellRun *run, ShellFields *fields, const char *key, const char *text) {
  fields->keys = arena_grow(run->arena, fields->keys, fields->n, sizeof *fields->keys);
  fields->keys[fields->n] = key;
  shell_add_field(run, fields, text);
}

size_t shell_chain(const char *name, size_t n) {
  unsigned hash = 0;
  for (size_t i = 0; i < n; i++) hash = hash * 31 + (unsigned char)name[i];
  return hash % SHELL_CHAINS;
}

static ShellVariable *find_own(ShellRun *run, const char *name, size_t n) {
  for (size_t i = run->chains[shell_chain(name, n)]; i > 0; i = run->variables[i - 1].next) {
    ShellVariable *found = &run->variables[i - 1];
    if (strncmp(found->name, name, n) == 0 && found->name[n] == '\0') return found;
  }
  return NULL;
}

enum { MOST_REFERENCES = 8 };

ShellVariable *shell_find(ShellRun *run, const char *name, size_t n) {
  ShellVariable *found = find_own(run, name, n);
  for (int i = 0; i < MOST_REFERENCES && found != NULL && found->refers != NULL; i++)
    found = find_own(run, found->refers, strlen(found->refers));
  return found;
}

static bool same(const ShellFields *a, const ShellFields *b) {
  if (a->n != b->n) return false;
  for (size_t i = 0; i < a->n; i++)
    if (strcmp(a->items[i], b->items[i]) != 0) return false;
  return true;
}

void shell_set(ShellRun *run, const char *name, size_t n, ShellFields value) {
  ShellVariable *found = find_own(run, name, n);
  if (found != NULL && found->refers != NULL) {
    name = found->refers;
    n = strlen(name);
    found = shell_find(run, name, n);
  }
  if (found == NULL && run->n_variables == SHELL_MAX_NAMES) {
    shell_doubt(run, "the text has more variables than are followed");
    return;
  }
  if (found == NULL) {
    run->variables = arena_grow(run->arena, run->variables, run->n_variables, sizeof *run->variables);
    found = &run->variables[run->n_variables++];
    size_t *chain = &run->chains[shell_chain(name, n)];
    *found = (ShellVariable){.name = arena_strndup(run->arena, name, n), .next = *chain};
    *chain = run->n_variables;
  }
  if (!run->branching) found->n = 0;
  for (size_t i = 0; i < found->n; i++)
    if (same(&found->choices[i], &value)) return;
  if (found->n == SHELL_CHOICES) {
    shell_doubt(run, "a variable has more values than are followed");
    return;
  }
  found->choices[found->n++] = value;
}

void shell_forget(ShellRun *run, const char *name) {
  ShellFields value = {0};
  shell_add_field(run, &value, "\1");
  shell_set(run, name, strlen(name), value);
}

void shell_hide(ShellRun *run, const char *name, size_t n) {
  ShellVariable *found = find_own(run, name, n);
  ShellVariable before = found == NULL ? (ShellVariable){.name = arena_strndup(run->arena, name, n)} : *found;
  run->hidden = arena_grow(run->arena, run->hidden, run->n_hidden, sizeof *run->hidden);
  run->hidden[run->n_hidden++] = before;
  if (found == NULL) return;
  found->n = 0;
  found->refers = NULL;
}

void shell_unhide(ShellRun *run, size_t n) {
  while (run->n_hidden > n) {
    const ShellVariable *before = &run->hidden[--run->n_hidden];
    ShellVariable *found = find_own(run, before->name, strlen(before->name));
    if (found == NULL) continue;
    size_t next = found->next;
    *found = *before;
    found->next = next;
  }
}

void shell_refer(ShellRun *run, const char *name, size_t n, const char *target) {
  if (find_own(run, name, n) == NULL) shell_set(run, name, n, (ShellFields){0});
  ShellVariable *found = find_own(run, name, n);
  if (found != NULL) found->refers = target;
}

void shell_set_keyed(ShellRun *run, const char *name) {
  const char **keys = arena_array(run->arena, 1, sizeof *keys);
  shell_set(run, name, strlen(name), (ShellFields){.keys = keys});
}

ShellNamed *shell_named(const ShellTable *table, const char *name) {
  for (size_t i = table->chains[shell_chain(name, strlen(name))]; i > 0; i = table->items[i - 1].next)
    if (strcmp(table->items[i - 1].name, name) == 0) return &table->items[i - 1];
  return NULL;
}

void shell_name(ShellRun *run, ShellTable *table, ShellNamed item) {
  if (table->n == SHELL_MAX_NAMES) {
    shell_doubt(run, "the text has more functions, aliases or files than are followed");
    return;
  }
  table->items = arena_grow(run->arena, table->items, table->n, sizeof *table->items);
  size_t *chain = &table->chains[shell_chain(item.name, strlen(item.name))];
  item.next = *chain;
  table->items[table->n++] = item;
  *chain = table->n;
}
