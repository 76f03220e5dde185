#include <stdio.h>
#include <string.h>

#include "time/window.h"
#include "view/runbook_check.h"
#include "view/runbook_int.h"
#include "view/words.h"

/* The next windows, from tidegate.yaml alone: idle hours minus the jobs that concern the target, minus the freezes. */

enum { HORIZON = 14 * 86400, SHOWN = 5, MOST_BYTES = 1024 * 1024 };

static const Zone *zone_named(Arena *arena, const SpecText *name, const Zone *otherwise) {
  const Zone *zone = NULL;
  Error unknown;
  return name->text != NULL && zone_open(arena, name->text, &zone, &unknown) ? zone : otherwise;
}

static bool read_list(Arena *arena, const char *path, Freeze **items, size_t *n, Error *err) {
  FILE *file = fopen(path, "re");
  if (file == NULL) return error_set(err, ERR_NOT_FOUND, "%s cannot be read", path);
  BUF_SCOPED text = {0};
  char piece[8192];
  size_t length;
  while (text.len < MOST_BYTES && (length = fread(piece, 1, sizeof piece, file)) > 0) buf_append(&text, piece, length);
  fclose(file);
  return freeze_parse_lines(arena, path, buf_text(&text), items, n, err);
}

static bool find_freezes(Arena *arena, const Spec *spec, Freezes *ret, Error *err) {
  Freeze *items = NULL, one;
  size_t n = 0;
  for (size_t i = 0; i < spec->n_freezes; i++) {
    const SpecFreeze *freeze = &spec->freezes[i];
    if (freeze->file) {
      if (!read_list(arena, freeze->path, &items, &n, err)) return false;
      continue;
    }
    if (!freeze_parse(arena, freeze->text.text, &one, err)) return false;
    items = arena_grow(arena, items, n, sizeof *items);
    items[n++] = one;
  }
  ret->items = items;
  ret->n = n;
  return true;
}

/* What is not known of a job closes everything: that is told instead. */
static bool find_busy(Arena *arena, const RunbookFacts *facts, const Zone *zone, WindowRules *ret, Error *err) {
  size_t n;
  const RunbookJob *jobs = runbook_jobs_of(arena, facts, &n);
  BusyRule *rules = arena_array(arena, n, sizeof *rules);
  size_t n_rules = 0;
  for (size_t i = 0; i < n; i++) {
    const SpecSchedule *when = jobs[i].when;
    BusyRule *rule = &rules[n_rules];
    if (when->expression.text == NULL) return error_set(err, ERR_SPEC, "when %s runs is not declared", jobs[i].name);
    if (strcmp(when->expression.text, "none") == 0) continue;
    if (when->p95 < 0) return error_set(err, ERR_SPEC, "how long %s takes is not declared", jobs[i].name);
    *rule = (BusyRule){.p95 = when->p95, .guard = when->guard, .jitter = when->jitter};
    if (!schedule_parse(arena, when->dialect, when->expression.text, zone_named(arena, &when->zone, zone),
                        &rule->schedule, err))
      return false;
    n_rules++;
  }
  ret->busy = rules;
  ret->n = n_rules;
  return true;
}

static const char *told(Arena *arena, const Zone *zone, const Window *windows, size_t n, Instant end) {
  const char *text = NULL;
  for (size_t i = 0; i < n; i++) {
    const char *one =
        arena_printf(arena, "%s to %s", words_instant(arena, zone, windows[i].from),
                     windows[i].to >= end ? "further than 14 days" : words_instant(arena, zone, windows[i].to));
    text = text == NULL ? one : arena_printf(arena, "%s; %s", text, one);
  }
  return text == NULL ? "none in the next 14 days" : text;
}

const char *runbook_windows(Arena *arena, const RunbookFacts *facts) {
  const Spec *spec = facts->spec;
  const Zone *zone = zone_named(arena, &spec->production.when.zone, zone_named(arena, &spec->zone, zone_utc()));
  IdleHours idle = {0};
  Freezes freezes = {.zone = zone};
  WindowRules rules = {.freezes = &freezes, .idle = spec->idle.text == NULL ? NULL : &idle};
  const Window *windows;
  Error err;
  if (!find_busy(arena, facts, zone, &rules, &err) || !find_freezes(arena, spec, &freezes, &err) ||
      (spec->idle.text != NULL &&
       !idle_hours_parse(arena, spec->idle.text, zone_named(arena, &spec->idle_zone, zone), &idle, &err)))
    return arena_printf(arena, "cannot be told: %s", err.message);
  size_t n = window_list(arena, &rules, facts->now, spec->budget.batch, HORIZON, SHOWN, &windows);
  return told(arena, spec->idle.text == NULL ? zone : idle.zone, windows, n, facts->now + HORIZON);
}
