#include <limits.h>
#include <stdlib.h>

#include "plan/plan_int.h"

/* A plan on its way into the ledger. */

/* Absolute, so that the backfill is found from any directory; as written when the file is not there. */
static const char *full_path(Arena *arena, const char *path) {
  char resolved[PATH_MAX];
  if (path == NULL) return NULL;
  return arena_strdup(arena, realpath(path, resolved) == NULL ? path : resolved);
}

bool plan_record(Arena *arena, Engine *engine, Plan *plan, Error *err) {
  if (!engine->ops->ledger_create(engine, err) || !plan_digest(arena, engine, plan, err) ||
      !ledger_new_id(engine, arena, plan->digest, &plan->id, err))
    return false;
  BUF_SCOPED json_text = {0};
  Json json = {.out = &json_text};
  plan_json(plan, &json);
  BackfillRecord record = {.id = plan->id,
                           .target = plan->shape.table,
                           .state = state_name(STATE_planned),
                           .way = "shadow",
                           .digest = plan->digest,
                           .database_id = plan->database_id,
                           .spec_path = full_path(arena, plan->spec.backfill_file.file),
                           .spec_text = plan->spec.backfill_file.source,
                           .pipeline_path = full_path(arena, plan->spec.pipeline_file.file),
                           .pipeline_text = plan->spec.pipeline_file.source,
                           .plan = buf_text(&json_text),
                           .owner = ledger_owner(),
                           .created_at = plan->planned_at,
                           .changed_at = plan->planned_at};
  return engine->ops->ledger_add(engine, &record, plan->dates, plan->dates == NULL ? 0 : (size_t)plan->n_dates, err);
}
