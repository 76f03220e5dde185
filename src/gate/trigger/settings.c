#include <string.h>

#include "gate/trigger/trigger_int.h"

/* What other tools take from their environment as if it were a flag. */

static const struct {
  const char *programs, *variable, *flag;
} settings[] = {
#define SETTING(programs, variable, flag) {programs, variable, flag},
#include "gate/trigger/commands.def"
};

/* Click, which dbt is made with, takes these for false. */
static bool is_false(const char *value) { return word_in(value, "0 false False FALSE f no n off") || *value == '\0'; }

static bool given(Argv args, const char *flag) {
  size_t n = strcspn(flag, "=");
  for (size_t i = 0; i < args.n; i++)
    if (strncmp(args.words[i], flag, n) == 0 && (args.words[i][n] == '\0' || args.words[i][n] == '=')) return true;
  return false;
}

Argv settings_as_flags(Finder *f, const ShellRun *run, const char *program, Argv args) {
  enum { N = sizeof settings / sizeof *settings };
  if (!commands_know(program)) return args;
  const char **words = arena_array(f->arena, args.n + N, sizeof *words);
  Argv all = {words, args.n};
  for (size_t i = 0; i < args.n; i++) words[i] = args.words[i];
  for (size_t i = 0; i < N; i++) {
    const char *value = shell_run_value(run, settings[i].variable);
    bool valued = strchr(settings[i].flag, '=') != NULL;
    if (value == NULL || !word_in(program, settings[i].programs) || given(args, settings[i].flag)) continue;
    if (!valued && is_false(value)) continue;
    words[all.n++] = valued ? arena_printf(f->arena, "%s%s", settings[i].flag, value) : settings[i].flag;
  }
  return all;
}
