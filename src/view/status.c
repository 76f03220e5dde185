#include "view/status.h"

#include <inttypes.h>
#include <string.h>

#include "view/findings.h"
#include "view/words.h"

enum { BATCHES_SHOWN = 12, EVENTS_SHOWN = 20 };

/* Verbs of the state table that a person types; the others happen inside a command. */
static const struct {
  const char *verb, *command, *why;
} typed[] = {{"run", "run", "write the batches"},
             {"retry", "run", "try again after the cause was put right"},
             {"seal", "run", "carry on"},
             {"swap", "swap", "publish"},
             {"rollback", "rollback", "take back"},
             {"reopen", "swap", "publish again"},
             {"finish", "finish", "drop what was kept"},
             {"check", "check", "judge what was written in place"},
             {"restore", "restore", "make the range what the snapshot holds"},
             {"discard", "discard", "give up and clear away"}};

const char *const *view_next_commands(Arena *arena, const BackfillRecord *record) {
  size_t n_transitions = 0, n = 0;
  const Transition *all = state_transitions(&n_transitions);
  const char **commands = arena_array(arena, n_transitions + 1, sizeof *commands);
  for (size_t i = 0; i < sizeof typed / sizeof *typed; i++)
    for (size_t t = 0; t < n_transitions; t++)
      if (strcmp(state_name(all[t].from), record->state) == 0 && strcmp(all[t].verb, typed[i].verb) == 0)
        commands[n++] = arena_printf(arena, "tidegate %s %s  # %s", typed[i].command, record->id, typed[i].why);
  return commands;
}

static const char *when(Arena *arena, const Zone *zone, Instant at) {
  return at == 0 ? "never" : words_instant(arena, zone, at);
}

void view_status_list(Paint *paint, Arena *arena, const BackfillRecord *records, size_t n, const Zone *zone) {
  static const char *const heads[] = {"id", "target", "state", "since", "driven by", "reason"};
  if (n == 0) {
    paint_text(paint, "No backfill is recorded here. Next: tidegate plan SPEC");
    buf_putc(paint->out, '\n');
    return;
  }
  const char **cells = arena_array(arena, n * 6, sizeof *cells);
  for (size_t i = 0; i < n; i++) {
    const char **line = &cells[i * 6];
    line[0] = records[i].id;
    line[1] = records[i].target;
    line[2] = records[i].state;
    line[3] = when(arena, zone, records[i].changed_at);
    line[4] = records[i].lease_owner == NULL ? "-" : records[i].lease_owner;
    line[5] = records[i].reason;
  }
  paint_table(paint, &(Table){.heads = heads, .cells = cells, .columns = 6, .rows = n});
  for (size_t i = 0; i < n; i++)
    if (strcmp(records[i].state, state_name(STATE_opened)) == 0 && records[i].lease_owner == NULL)
      paint_verdict(paint, STYLE_BAD, "CHECK",
                    "what was written into %s is owed a check: tidegate check %s (or restore)", records[i].target,
                    records[i].id);
}

static void json_record(Json *json, const BackfillRecord *record) {
  json_text(json, "id", record->id);
  json_text(json, "target", record->target);
  json_text(json, "state", record->state);
  json_text(json, "way", record->way);
  json_text(json, "reason", record->reason);
  json_text(json, "digest", record->digest);
  json_text(json, "spec", record->spec_path);
  json_text(json, "planned_by", record->owner);
  const struct {
    const char *key;
    Instant at;
  } times[] = {{"planned_at", record->created_at},
               {"changed_at", record->changed_at},
               {"swapped_at", record->swapped_at},
               {"heartbeat_at", record->lease_heartbeat}};
  for (size_t i = 0; i < sizeof times / sizeof *times; i++) instant_json(json, times[i].key, times[i].at);
  json_text(json, "driven_by", record->lease_owner);
}

void view_status_list_json(Json *json, const BackfillRecord *records, size_t n) {
  json_array(json, "backfills");
  for (size_t i = 0; i < n; i++) {
    json_object(json, NULL);
    json_record(json, &records[i]);
    json_object_end(json);
  }
  json_array_end(json);
}

static const char *range_text(Arena *arena, const StatusFacts *facts, Instant from, Instant to) {
  char text[96];
  date_range_label(&(DateRange){from, to}, facts->grain, facts->date_zone, text);
  return arena_strdup(arena, text);
}

static void put_batches(Paint *paint, Arena *arena, const StatusFacts *facts) {
  static const char *const heads[] = {"batch", "dates", "rows", "changes", "time", "done"};
  if (facts->n_batches == 0) return;
  size_t first = facts->n_batches > BATCHES_SHOWN ? facts->n_batches - BATCHES_SHOWN : 0, n = 0;
  const char **cells = arena_array(arena, (facts->n_batches - first) * 6, sizeof *cells);
  for (size_t i = first; i < facts->n_batches; i++, n++) {
    const BatchRecord *batch = &facts->batches[i];
    const char **line = &cells[n * 6];
    line[0] = arena_printf(arena, "%" PRId64, batch->number);
    line[1] = range_text(arena, facts, batch->from, batch->to);
    line[2] = arena_printf(arena, "%" PRId64, batch->rows);
    line[3] = arena_printf(arena, "%" PRId64, batch->changes);
    line[4] = words_duration(arena, batch->seconds);
    line[5] = when(arena, facts->zone, batch->done_at);
  }
  buf_putc(paint->out, '\n');
  if (first > 0) paint_line(paint, "", "… %zu earlier batches", first);
  paint_table(paint, &(Table){.heads = heads, .cells = cells, .columns = 6, .rows = n, .right = 0x1D});
}

static void put_events(Paint *paint, Arena *arena, const StatusFacts *facts) {
  if (facts->n_events == 0) return;
  size_t first = facts->n_events > EVENTS_SHOWN ? facts->n_events - EVENTS_SHOWN : 0;
  buf_putc(paint->out, '\n');
  for (size_t i = first; i < facts->n_events; i++) {
    const EventRecord *event = &facts->events[i];
    bool has = event->detail != NULL && event->detail[0] != '\0';
    paint_line(paint, i == first ? "events" : "", "%s  %s%s%s, by %s", when(arena, facts->zone, event->at), event->what,
               has ? ": " : "", has ? event->detail : "", event->who == NULL ? "?" : event->who);
  }
  if (first > 0) paint_line(paint, "", "… %zu earlier events: see --json", first);
}

/* Of whoever drives the backfill now. */
static const EventRecord *last_wait(const BackfillRecord *record, const EventRecord *events, size_t n) {
  const EventRecord *last = NULL;
  if (record->lease_owner == NULL) return NULL;
  for (size_t i = 0; i < n; i++) {
    const char *what = events[i].what;
    if (strcmp(what, "paused") == 0 || strcmp(what, "waits") == 0)
      last = &events[i];
    else if (strcmp(what, "stopped a batch") != 0)
      last = NULL; /* whatever happens ends it */
  }
  return last != NULL && last->who != NULL && strcmp(last->who, record->lease_owner) == 0 ? last : NULL;
}

const char *view_status_wait(Arena *arena, const BackfillRecord *record, const EventRecord *events, size_t n) {
  const EventRecord *last = last_wait(record, events, n);
  if (last == NULL) return NULL;
  return arena_printf(arena, "%s: %s", last->what, last->detail == NULL ? "?" : last->detail);
}

/* Why nothing moves. */
static void put_wait(Paint *paint, Arena *arena, const StatusFacts *facts) {
  const EventRecord *last = last_wait(facts->record, facts->events, facts->n_events);
  if (last == NULL) return;
  paint_line(paint, last->what, "%s", last->detail == NULL ? "?" : last->detail);
  paint_line(paint, "", "since %s; the run carries on by itself when that is over", when(arena, facts->zone, last->at));
}

static void put_objects(Paint *paint, Arena *arena, const StatusFacts *facts) {
  const char *label = "objects";
  for (size_t i = 0; i < facts->n_objects; i++, label = "") {
    const ObjectRecord *object = &facts->objects[i];
    paint_line(paint, label, "%s (%s)%s", object->name, object->role,
               object->dropped_at == 0
                   ? ""
                   : arena_printf(arena, ", dropped %s", when(arena, facts->zone, object->dropped_at)));
  }
}

void view_status(Paint *paint, Arena *arena, const StatusFacts *facts) {
  const BackfillRecord *record = facts->record;
  int64_t done = 0;
  for (size_t i = 0; i < facts->n_dates; i++) done += facts->dates[i].batch != 0;
  paint_styled(paint, STYLE_BOLD, record->target);
  bool waits = view_status_wait(arena, record, facts->events, facts->n_events) != NULL;
  paint_text(paint, arena_printf(arena, "  %s  %s%s", record->id, record->state, waits ? ", waits" : ""));
  buf_putc(paint->out, '\n');
  State state;
  Error err;
  if (state_of(record, &state, &err)) paint_line(paint, "holds", "%s", state_meaning(state));
  if (record->reason != NULL) paint_line(paint, "reason", "%s", record->reason);
  if (facts->n_dates > 0)
    paint_line(paint, "range", "%s; %" PRId64 " of %s written",
               range_text(arena, facts, facts->dates[0].date,
                          grain_next(facts->grain, facts->date_zone, facts->dates[facts->n_dates - 1].date)),
               done, words_count(arena, (int64_t)facts->n_dates, "date", "dates"));
  if (record->spec_path != NULL) paint_line(paint, "spec", "%s", record->spec_path);
  paint_line(paint, "planned", "%s by %s", when(arena, facts->zone, record->created_at),
             record->owner == NULL ? "?" : record->owner);
  if (record->swapped_at != 0) paint_line(paint, "swapped", "%s", when(arena, facts->zone, record->swapped_at));
  if (record->lease_owner != NULL)
    paint_line(paint, "driven by", "%s, last heard %s ago", record->lease_owner,
               words_duration(arena, (double)(facts->now - record->lease_heartbeat)));
  put_wait(paint, arena, facts);
  put_objects(paint, arena, facts);
  view_findings(paint, arena, facts->findings, facts->n_findings);
  put_batches(paint, arena, facts);
  put_events(paint, arena, facts);
  const char *const *next = view_next_commands(arena, record);
  if (next[0] != NULL) buf_putc(paint->out, '\n');
  for (size_t i = 0; next[i] != NULL; i++) paint_line(paint, i == 0 ? "next" : "", "%s", next[i]);
}

static void json_events(Json *json, const StatusFacts *facts) {
  json_array(json, "events");
  for (size_t i = 0; i < facts->n_events; i++) {
    json_object(json, NULL);
    instant_json(json, "at", facts->events[i].at);
    json_text(json, "who", facts->events[i].who);
    json_text(json, "what", facts->events[i].what);
    json_text(json, "detail", facts->events[i].detail);
    json_object_end(json);
  }
  json_array_end(json);
}

static void json_batches(Json *json, const StatusFacts *facts) {
  json_array(json, "batches");
  for (size_t i = 0; i < facts->n_batches; i++) {
    const BatchRecord *batch = &facts->batches[i];
    char from[32], last[32];
    grain_label(facts->grain, facts->date_zone, batch->from, from);
    grain_label(facts->grain, facts->date_zone, grain_floor(facts->grain, facts->date_zone, batch->to - 1), last);
    json_object(json, NULL);
    json_int(json, "number", batch->number);
    json_text(json, "first", from);
    json_text(json, "last", last);
    json_int(json, "attempt", batch->attempt);
    json_int(json, "rows", batch->rows);
    json_int(json, "changes", batch->changes);
    json_real(json, "seconds", batch->seconds);
    json_text(json, "log", batch->log);
    json_object_end(json);
  }
  json_array_end(json);
}

void view_status_json(Json *json, Arena *arena, const StatusFacts *facts) {
  const BackfillRecord *record = facts->record;
  int64_t done = 0;
  for (size_t i = 0; i < facts->n_dates; i++) done += facts->dates[i].batch != 0;
  json_record(json, record);
  json_text(json, "waits", view_status_wait(arena, record, facts->events, facts->n_events));
  json_int(json, "dates", (int64_t)facts->n_dates);
  json_int(json, "dates_written", done);
  json_batches(json, facts);
  view_findings_json(json, facts->findings, facts->n_findings);
  json_array(json, "objects");
  for (size_t i = 0; i < facts->n_objects; i++) {
    json_object(json, NULL);
    json_text(json, "name", facts->objects[i].name);
    json_text(json, "role", facts->objects[i].role);
    json_bool(json, "dropped", facts->objects[i].dropped_at != 0);
    json_object_end(json);
  }
  json_array_end(json);
  json_events(json, facts);
  const char *docs[] = {record->plan, record->seal, record->swap}, *keys[] = {"plan", "seal", "swap"};
  for (size_t i = 0; i < 3; i++) json_raw(json, keys[i], docs[i] == NULL ? "null" : docs[i]);
}
