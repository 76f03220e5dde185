#include <string.h>

#include "cli/session.h"
#include "view/cascade.h"
#include "view/status.h"

static int run(Session *session);

static const CliExample examples[] = {{"tidegate status", "every backfill in the database"},
                                      {"tidegate status 7f3a", "one of them: batches, findings, events, what next"},
                                      {NULL, NULL}};

const Command command_status = {
    .name = "status",
    .summary = "show the backfills that the ledger knows, or all about one",
    .arguments = "[PLAN]",
    .max_args = 1,
    .about =
        "Without PLAN: one line a backfill, the newest first. With PLAN: its state and reason, who drives it, its "
        "batches, findings, objects and events, and the commands that can be typed next.",
    .exits = {ERR_DATABASE, ERR_NOT_FOUND, ERR_NONE},
    .examples = examples,
    .run = run};

/* What a run waits for stands where the reason of a state does. */
static bool add_waits(Session *session, const BackfillRecord **records, size_t n, Error *err) {
  BackfillRecord *all = arena_array(&session->arena, n, sizeof *all);
  for (size_t i = 0; i < n; i++) {
    const EventRecord *events;
    size_t n_events;
    all[i] = (*records)[i];
    if (all[i].lease_owner == NULL || all[i].reason != NULL) continue;
    if (!session->engine->ops->ledger_events(session->engine, &session->arena, all[i].id, &events, &n_events, err))
      return false;
    all[i].reason = view_status_wait(&session->arena, &all[i], events, n_events);
  }
  *records = all;
  return true;
}

static int list(Session *session) {
  const BackfillRecord *records = NULL;
  size_t n = 0;
  bool exists = false;
  Error err;
  if (!session_pipeline(session, NULL, &err) || !session->engine->ops->ledger_exists(session->engine, &exists, &err) ||
      (exists && !session->engine->ops->ledger_list(session->engine, &session->arena, &records, &n, &err)) ||
      !add_waits(session, &records, n, &err))
    return session_fail(session, &err);
  if (session->json) {
    Json json = session_object(session);
    view_status_list_json(&json, records, n);
    session_object_end(session, &json);
  } else {
    view_status_list(&session->paint, &session->arena, records, n, zone_utc());
  }
  return session_flush(session);
}

static bool gather(Session *session, StatusFacts *facts, Error *err) {
  const EngineOps *ops = session->engine->ops;
  Engine *engine = session->engine;
  Arena *arena = &session->arena;
  const char *id = session->record.id;
  return ops->now(engine, &facts->now, err) &&
         ops->ledger_dates(engine, arena, id, &facts->dates, &facts->n_dates, err) &&
         ops->ledger_batches(engine, arena, id, &facts->batches, &facts->n_batches, err) &&
         ops->ledger_findings(engine, arena, id, &facts->findings, &facts->n_findings, err) &&
         ops->ledger_objects(engine, arena, id, &facts->objects, &facts->n_objects, err) &&
         ops->ledger_events(engine, arena, id, &facts->events, &facts->n_events, err);
}

/* Grain and zone come from the recorded spec alone: status must work when nothing resolves any more. */
static void read_grain(Session *session, StatusFacts *facts) {
  const BackfillRecord *record = &session->record;
  Spec spec;
  Error ignored;
  facts->zone = facts->date_zone = zone_utc();
  facts->grain = GRAIN_DAY;
  if (record->spec_text == NULL || !spec_parse(&session->arena, record->spec_path, record->spec_text,
                                               record->pipeline_path, record->pipeline_text, &spec, &ignored))
    return;
  if (spec.grain.text != NULL) grain_parse(spec.grain.text, &facts->grain);
  if (spec.zone.text != NULL) zone_open(&session->arena, spec.zone.text, &facts->date_zone, &ignored);
  if (spec.production.when.zone.text != NULL)
    zone_open(&session->arena, spec.production.when.zone.text, &facts->zone, &ignored);
}

/* What is still made from the old rows; false when there was no swap, or when it cannot be told any more. */
static bool find_stale(Session *session, Cascade *ret) {
  static const State states[] = {STATE_swapped, STATE_finished};
  const char *state = session->record.state;
  bool published = strcmp(state, state_name(states[0])) == 0 || strcmp(state, state_name(states[1])) == 0;
  Error ignored;
  return published && plan_load(&session->arena, session->engine, &session->record, &session->plan, &ignored) &&
         cascade_make(&session->arena, session->engine, &session->plan, &session->record, ret, &ignored);
}

static int run(Session *session) {
  StatusFacts facts = {0};
  Error err;
  if (session_word(session, 0) == NULL) return list(session);
  if (!session_record(session, session_word(session, 0), &err) || !gather(session, &facts, &err))
    return session_fail(session, &err);
  facts.record = &session->record;
  read_grain(session, &facts);
  Cascade cascade;
  bool stale = find_stale(session, &cascade);
  if (session->json) {
    Json json = session_object(session);
    view_status_json(&json, &session->arena, &facts);
    if (stale) view_cascade_stale_json(&json, &cascade);
    session_object_end(session, &json);
  } else {
    view_status(&session->paint, &session->arena, &facts);
    if (stale) view_cascade_stale(&session->paint, &session->arena, &cascade);
  }
  return session_flush(session);
}
