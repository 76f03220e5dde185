#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "run/run_int.h"

typedef struct Place {
  const char *name, *variable;
  const char *value;
} Place;

enum { N_PLACES = 6 };

static void fill_places(Run *run, const Job *job, int64_t batch, Place places[N_PLACES]) {
  const DateCodec *codec = &run->plan->shape.codec;
  char from[32], to[32], last[32];
  grain_label(codec->grain, codec->zone, job->dates[0], from);
  grain_label(codec->grain, codec->zone, job->dates[job->n], to);
  grain_label(codec->grain, codec->zone, job->dates[job->n - 1], last);
  const Place filled[N_PLACES] = {
      {"{from}", "TIDEGATE_FROM", arena_strdup(run->arena, from)},
      {"{to}", "TIDEGATE_TO", arena_strdup(run->arena, to)},
      {"{to_inclusive}", "TIDEGATE_TO_INCLUSIVE", arena_strdup(run->arena, last)},
      {"{shadow}", "TIDEGATE_SHADOW", arena_printf(run->arena, "tidegate_%s_shadow", run->record->id)},
      {"{batch}", "TIDEGATE_BATCH", arena_printf(run->arena, "%lld", (long long)batch)},
      {"{database}", "TIDEGATE_DATABASE", run->plan->spec.database_path},
  };
  memcpy(places, filled, sizeof filled);
}

static char *fill_word(Arena *arena, const char *word, const Place places[N_PLACES]) {
  BUF_SCOPED out = {0};
  while (*word != '\0') {
    const Place *place = NULL;
    for (int i = 0; i < N_PLACES && place == NULL; i++)
      if (strncmp(word, places[i].name, strlen(places[i].name)) == 0) place = &places[i];
    if (place != NULL) {
      buf_puts(&out, place->value);
      word += strlen(place->name);
    } else {
      buf_putc(&out, *word++);
    }
  }
  return arena_strdup(arena, buf_text(&out));
}

static bool go_on(void *context) {
  Run *run = context;
  run_tell(run, run->progress.doing, false);
  return run->options->stop == NULL || *run->options->stop < 2;
}

static bool whole_fingerprint(Run *run, Fingerprint *ret, Error *err) {
  ARENA_SCOPED arena = {0};
  const DateFacts *facts;
  size_t n;
  if (!run->engine->ops->fingerprint(run->engine, &arena, &run->plan->shape, (DateRange){0, 0}, &facts, &n, err))
    return false;
  *ret = facts[0].production;
  return true;
}

bool run_command(Run *run, const Job *job, int64_t batch, const char **ret_log, Error *err) {
  const SpecRecompute *recompute = &run->plan->spec.recompute;
  Place places[N_PLACES];
  BUF_SCOPED log = {0};
  Fingerprint before, after;
  fill_places(run, job, batch, places);
  size_t n = 0;
  char **argv = arena_array(run->arena, recompute->command.n + 3, sizeof *argv);
  if (recompute->shell) {
    argv[n++] = "/bin/sh";
    argv[n++] = "-c";
  }
  for (size_t i = 0; i < recompute->command.n; i++)
    argv[n++] = fill_word(run->arena, recompute->command.items[i].text, places);
  if (!whole_fingerprint(run, &before, err)) return false;
  ProcessVariable variables[N_PLACES];
  for (int i = 0; i < N_PLACES; i++) variables[i] = (ProcessVariable){places[i].variable, places[i].value};
  ProcessRules rules = {variables, N_PLACES, recompute->timeout, "`recompute: timeout`", go_on, run};
  bool ok = process_run(argv, &rules, &log, err);
  *ret_log = arena_strdup(run->arena, buf_text(&log));
  if (!ok) return false;
  if (!whole_fingerprint(run, &after, err)) return false;
  if (fingerprint_equal(&before, &after)) return true;
  error_set(err, ERR_COMMAND,
            "%s changed while the command ran: it wrote production instead of %s, or another writer did",
            run->plan->shape.table, places[3].value);
  return error_hint(
      err, "look at what the command writes; if production must be written in place, use: tidegate snapshot SPEC");
}
