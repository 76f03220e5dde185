#include "view/outcome.h"

#include <inttypes.h>
#include <string.h>

#include "view/radius.h"
#include "view/words.h"

static void json_counts(Json *json, const ChangeCounts *counts) {
  json_object(json, "changes");
  json_int(json, "total", words_change_total(counts));
  json_int(json, "inserts", counts->inserts);
  json_int(json, "updates", counts->updates);
  json_int(json, "deletes", counts->deletes);
  json_int(json, "moves", counts->moves);
  json_object_end(json);
}

void view_run(Paint *paint, Arena *arena, const char *id, const RunFacts *facts) {
  paint_verdict(paint, STYLE_GOOD, "READY", "%s recomputed in %s, %s; sealed: %s.",
                words_count(arena, facts->rows, "row", "rows"), words_count(arena, facts->batches, "batch", "batches"),
                words_duration(arena, facts->seconds), words_changes(arena, &facts->counts));
  paint_line(paint, "", "Production untouched. Next: tidegate diff %s, then tidegate swap %s", id, id);
}

void view_run_json(Json *json, const char *id, const RunFacts *facts) {
  json_text(json, "id", id);
  json_text(json, "state", "ready");
  json_counts(json, &facts->counts);
  json_int(json, "rows", facts->rows);
  json_int(json, "batches", facts->batches);
  json_real(json, "seconds", facts->seconds);
}

void view_swap(Paint *paint, Arena *arena, const Plan *plan, const char *id, const SwapFacts *facts) {
  /* What a command reads is not known. */
  const char *sources = plan->recompute != NULL ? "sources unchanged ✓  " : "";
  paint_line(paint, "checked", "production unchanged ✓  %sidle ✓  counts exact ✓%s", sources,
             facts->verified ? "  production is what was recomputed ✓" : "");
  paint_verdict(paint, STYLE_GOOD, "SWAPPED", "%s, %s under the lock. Undo: tidegate rollback %s",
                words_changes(arena, &facts->counts), words_duration(arena, facts->lock_seconds), id);
  view_stale(paint, arena, plan, id);
}

void view_swap_json(Json *json, const Plan *plan, const char *id, const SwapFacts *facts) {
  json_text(json, "id", id);
  json_text(json, "state", "swapped");
  json_counts(json, &facts->counts);
  json_real(json, "lock_seconds", facts->lock_seconds);
  json_int(json, "tries", facts->tries);
  json_bool(json, "verified", facts->verified);
  view_stale_json(json, plan);
}

void view_conflicts(Paint *paint, Arena *arena, const Conflicts *conflicts) {
  static const char *const heads[] = {"what", "date", "key"};
  if (conflicts->count == 0) return;
  paint_verdict(paint, STYLE_WARN, "later",
                "%s changed after the swap:", words_count(arena, conflicts->count, "row", "rows"));
  const char **cells = arena_array(arena, conflicts->n * 3, sizeof *cells);
  for (size_t i = 0; i < conflicts->n; i++) {
    cells[i * 3] = conflicts->rows[i].what;
    cells[i * 3 + 1] = conflicts->rows[i].date;
    cells[i * 3 + 2] = conflicts->rows[i].key;
  }
  paint_table(paint,
              &(Table){.heads = heads, .cells = cells, .columns = 3, .rows = conflicts->n, .indent = PAINT_LABEL});
  if ((int64_t)conflicts->n < conflicts->count)
    paint_line(paint, "", "… and %" PRId64 " more", conflicts->count - (int64_t)conflicts->n);
}

void view_conflicts_json(Json *json, const Conflicts *conflicts) {
  json_object(json, "conflicts");
  json_int(json, "count", conflicts->count);
  json_array(json, "rows");
  for (size_t i = 0; i < conflicts->n; i++) {
    json_object(json, NULL);
    json_text(json, "what", conflicts->rows[i].what);
    json_text(json, "date", conflicts->rows[i].date);
    json_text(json, "key", conflicts->rows[i].key);
    json_object_end(json);
  }
  json_array_end(json);
  json_object_end(json);
}

void view_rollback(Paint *paint, Arena *arena, const char *id, const RollbackFacts *facts) {
  view_conflicts(paint, arena, &facts->conflicts);
  paint_verdict(paint, STYLE_GOOD, "BACK", "%s put back, %s under the lock.",
                words_count(arena, facts->restored, "row", "rows"), words_duration(arena, facts->lock_seconds));
  if (facts->left > 0)
    paint_line(paint, "", "%s left as written after the swap.", words_count(arena, facts->left, "row", "rows"));
  if (facts->arrived > 0)
    paint_line(paint, "", "%s arrived in the range after the swap and stay.",
               words_count(arena, facts->arrived, "row", "rows"));
  paint_line(paint, "", "Next: tidegate swap %s publishes again, tidegate discard %s clears away", id, id);
}

void view_rollback_json(Json *json, const char *id, const RollbackFacts *facts) {
  json_text(json, "id", id);
  json_text(json, "state", "rolled_back");
  json_int(json, "restored", facts->restored);
  json_int(json, "left", facts->left);
  json_int(json, "arrived", facts->arrived);
  json_real(json, "lock_seconds", facts->lock_seconds);
  view_conflicts_json(json, &facts->conflicts);
}

void view_snapshot(Paint *paint, Arena *arena, const BackfillRecord *record, const SnapshotFacts *facts, bool tool) {
  paint_verdict(paint, STYLE_GOOD, "snapshot", "%s: %s in the snapshot, %s differ%s from it in production now",
                record->state, words_count(arena, facts->rows, "row", "rows"),
                words_count(arena, facts->changed, "row", "rows"), facts->changed == 1 ? "s" : "");
  if (!facts->outside_unchanged)
    paint_verdict(paint, STYLE_WARN, "warning", "rows outside the range are no longer as they were");
  const char *id = record->id;
  if (strcmp(record->state, "snapshotted") != 0)
    paint_line(paint, "", "Undo: tidegate restore %s, until the snapshot goes: tidegate finish %s", id, id);
  else if (!tool)
    paint_line(paint, "", "Written by hand: tidegate check %s. Undo: tidegate restore %s", id, id);
}

void view_snapshot_json(Json *json, const BackfillRecord *record, const SnapshotFacts *facts) {
  json_text(json, "id", record->id);
  json_text(json, "state", record->state);
  json_int(json, "rows", facts->rows);
  json_int(json, "changed", facts->changed);
  json_bool(json, "outside_unchanged", facts->outside_unchanged);
}

void view_in_place_batch(Buf *out, Arena *arena, const Plan *plan, const InPlaceBatch *batch) {
  buf_printf(out, "batch %" PRId64 "  %s  %s, %" PRId64 " of %s changed, %s  passed\n", batch->number,
             words_range(arena, plan, batch->dates), words_count(arena, batch->n, "date", "dates"), batch->changed,
             words_count(arena, batch->rows, "row", "rows"), words_duration(arena, batch->seconds));
}

void view_in_place_json(Json *json, const Plan *plan, const BackfillRecord *record, const InPlaceResult *result) {
  const DateCodec *codec = &plan->shape.codec;
  view_snapshot_json(json, record, &result->facts);
  json_array(json, "batches");
  for (size_t i = 0; i < result->n; i++) {
    const InPlaceBatch *batch = &result->batches[i];
    char label[32];
    json_object(json, NULL);
    json_int(json, "number", batch->number);
    grain_label(codec->grain, codec->zone, batch->dates.from, label);
    json_text(json, "from", label);
    grain_label(codec->grain, codec->zone, grain_floor(codec->grain, codec->zone, batch->dates.to - 1), label);
    json_text(json, "to", label);
    json_int(json, "dates", batch->n);
    json_int(json, "rows", batch->rows);
    json_int(json, "changed", batch->changed);
    json_real(json, "seconds", batch->seconds);
    json_object_end(json);
  }
  json_array_end(json);
}

void view_restore(Paint *paint, Arena *arena, const BackfillRecord *record, const SnapshotFacts *facts) {
  paint_verdict(paint, STYLE_GOOD, "BACK", "%s put back: the range is what the snapshot holds. State: %s",
                words_count(arena, facts->changed, "row", "rows"), record->state);
  paint_line(paint, "", "Next: tidegate discard %s clears the snapshot away", record->id);
}

void view_restore_json(Json *json, const BackfillRecord *record, const SnapshotFacts *facts) {
  json_text(json, "id", record->id);
  json_text(json, "state", record->state);
  json_int(json, "restored", facts->changed);
}

void view_ended(Paint *paint, const char *word, const char *what) {
  paint_verdict(paint, STYLE_GOOD, word, "%s", what);
}

void view_ended_json(Json *json, const BackfillRecord *record) {
  json_text(json, "id", record->id);
  json_text(json, "target", record->target);
  json_text(json, "state", record->state);
}
