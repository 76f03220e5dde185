#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "plan/plan_int.h"

/* A plan on its way out of the ledger: resolved again, and compared with what was recorded. */

/* The file's text, NULL when it cannot be read (it may live on another machine). */
static const char *read_file(Arena *arena, const char *path) {
  FILE *file = path == NULL ? NULL : fopen(path, "re");
  if (file == NULL) return NULL;
  BUF_SCOPED text = {0};
  char piece[8192];
  size_t n;
  while ((n = fread(piece, 1, sizeof piece, file)) > 0 && text.len < DOC_MAX_BYTES) buf_append(&text, piece, n);
  bool whole = !ferror(file) && text.len < DOC_MAX_BYTES;
  fclose(file);
  return whole ? arena_strdup(arena, buf_text(&text)) : NULL;
}

/* Where work still goes on from what was planned, a change is a reason to refuse; later, taking back must stay
 * possible. */
static bool refuses_changes(State state) {
  return state == STATE_planned || state == STATE_building || state == STATE_held || state == STATE_ready ||
         state == STATE_superseded;
}

/* What differs between the parts recorded with the plan and now, in words; NULL: nothing. */
static const char *find_change(Arena *arena, const BackfillRecord *record, const Plan *plan) {
  const struct {
    const char *key, *now, *words;
  } parts[] = {
      {"database", plan->parts.database, "this is another database than the one planned on (a copy is another one)"},
      {"target", plan->parts.target, "the definition of the target changed"},
      {"spec", plan->parts.spec, "what tidegate.yaml or the catalogue say of this backfill changed"},
      {"lineage", plan->parts.lineage, "what stands downstream of the target changed"},
      {"settings", plan->parts.settings, "the database's settings changed"},
  };
  const DocNode *root = NULL;
  Error unreadable;
  if (strcmp(record->digest, plan->digest) == 0) return NULL;
  if (record->plan != NULL && doc_parse(arena, "plan", record->plan, strlen(record->plan), &root, &unreadable)) {
    const DocNode *recorded = doc_get(root, "parts");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
      if (strcmp(doc_text(recorded, parts[i].key, ""), parts[i].now) != 0) return parts[i].words;
  }
  return "something that the plan rests on changed";
}

/* Moves the backfill to superseded where its state allows, and fails saying why. */
static bool supersede(Engine *engine, BackfillRecord *record, const char *why, Error *err) {
  Error not_possible;
  if (ledger_allows(record, "supersede", &not_possible) &&
      !ledger_move(engine, record, (LedgerMove){.verb = "supersede", .reason = why}, err))
    return false;
  return error_set(err, ERR_SUPERSEDED, "the plan %s no longer holds: %s", record->id, why);
}

static bool resolve_again(Arena *arena, Engine *engine, const BackfillRecord *record, Plan *ret, Error *err) {
  const char *pipeline = read_file(arena, record->pipeline_path);
  Spec spec;
  if (pipeline == NULL) pipeline = record->pipeline_text;
  bool same = pipeline == record->pipeline_text ||
              (record->pipeline_text != NULL && strcmp(pipeline, record->pipeline_text) == 0);
  if (spec_parse(arena, record->spec_path, record->spec_text, record->pipeline_path, pipeline, &spec, err))
    return plan_resolve(arena, engine, &spec, ret, err);
  if (same) err->code = ERR_INTERNAL; /* the very texts were read before: memory is short, nothing changed */
  return false;
}

static bool load_dates(Arena *arena, Engine *engine, const BackfillRecord *record, Plan *plan, Error *err) {
  const DateRecord *dates;
  size_t n;
  if (!engine->ops->ledger_dates(engine, arena, record->id, &dates, &n, err)) return false;
  if (n != (size_t)plan->n_dates) return true; /* another range: told as a change */
  plan->dates = arena_array(arena, n, sizeof *plan->dates);
  for (size_t i = 0; i < n; i++) {
    plan->dates[i] = dates[i];
    plan->rows += dates[i].expected;
    plan->suspects += dates[i].suspect;
  }
  return true;
}

bool plan_load(Arena *arena, Engine *engine, BackfillRecord *record, Plan *ret, Error *err) {
  State state;
  Plan plan;
  if (!state_of(record, &state, err)) return false;
  if (state == STATE_superseded)
    return error_set(err, ERR_SUPERSEDED, "the plan %s no longer holds: %s", record->id,
                     record->reason == NULL ? "something under it changed" : record->reason);
  bool refuses = refuses_changes(state);
  const char *on_disk = read_file(arena, record->spec_path), *changed = NULL;
  if (on_disk != NULL && strcmp(on_disk, record->spec_text) != 0)
    changed = arena_printf(arena, "the spec file %s changed", record->spec_path);
  if (changed != NULL && refuses) return supersede(engine, record, changed, err);
  if (!resolve_again(arena, engine, record, &plan, err)) {
    bool broken = err->code == ERR_SPEC || err->code == ERR_NOT_FOUND;
    return broken && refuses ? supersede(engine, record, arena_strdup(arena, err->message), err) : false;
  }
  if (changed == NULL) changed = find_change(arena, record, &plan);
  if (changed != NULL && refuses) return supersede(engine, record, changed, err);
  plan.changed = changed;
  plan.id = record->id;
  plan.planned_at = record->created_at;
  if (!load_dates(arena, engine, record, &plan, err) || !plan_load_way(arena, record, &plan, err)) return false;
  *ret = plan;
  return true;
}
