#include "view/cascade.h"

#include "view/words.h"

/* The step's dates, behind its name. */
static const char *dates_of(Arena *arena, const Cascade *cascade, const CascadeStep *step) {
  const LineageNode *node = step->node;
  bool own = node->needs == NEEDS_CASCADE || node->needs == NEEDS_UNKNOWN;
  char label[96];
  if (!own || !node->ranged) return "";
  date_range_label(&node->range, node->grain, cascade->parent->shape.codec.zone, label);
  return arena_printf(arena, ", %s%s", label, node->assumed ? " (taken to be the same dates)" : "");
}

static const char *label_of(const CascadeStep *step) {
  if (step->node->needs == NEEDS_NOTHING) return "untouched";
  if (step->act == CASCADE_NOTHING) return "follows";
  if (step->done != NULL) return "done";
  if (cascade_is_told(step)) return "tell";
  return step->waits != NULL ? "waits" : needs_name(step->node->needs);
}

static const char *text_of(Arena *arena, const CascadeStep *step) {
  if (step->act == CASCADE_NOTHING)
    return step->waits != NULL       ? arena_printf(arena, "when %s is right", step->waits)
           : step->node->why != NULL ? step->node->why
                                     : "";
  if (step->done != NULL) return step->done;
  const char *text = step->waits != NULL ? arena_printf(arena, "for %s; ", step->waits) : "";
  if (step->act == CASCADE_REFRESH) return arena_printf(arena, "%sit is refreshed", text);
  if (step->act == CASCADE_BACKFILL && step->child != NULL)
    return arena_printf(arena, "%sbackfill %s is %s", text, step->child->id, step->child->state);
  if (step->line != NULL) return arena_printf(arena, "%sits own tool, over a snapshot: %s", text, step->line);
  if (step->act == CASCADE_BACKFILL)
    return arena_printf(arena, "%sa backfill of its own%s%s", text, step->node->why == NULL ? "" : "; ",
                        step->node->why == NULL ? "" : step->node->why);
  text = arena_printf(arena, "%s%s", text, step->why);
  if (step->command != NULL) text = arena_printf(arena, "%s: %s", text, step->command);
  return text;
}

static Style style_of(const CascadeStep *step) {
  if (step->act == CASCADE_NOTHING) return STYLE_DIM;
  if (step->done != NULL) return STYLE_GOOD;
  return cascade_is_told(step) ? STYLE_PLAIN : STYLE_WARN;
}

void view_cascade(Paint *paint, Arena *arena, const Cascade *cascade) {
  const BlastRadius *radius = &cascade->parent->radius;
  for (size_t i = 0; i < cascade->n; i++) {
    const CascadeStep *step = &cascade->steps[i];
    const char *kind = step->node->kind == NULL ? "table" : step->node->kind;
    const char *text = text_of(arena, step);
    paint_verdict(paint, style_of(step), label_of(step), "%s (%s)%s%s%s", step->node->name, kind,
                  dates_of(arena, cascade, step), *text == '\0' ? "" : ": ", text);
  }
  for (size_t i = 0; i < radius->n_cycles; i++) paint_line(paint, "cycle", "%s", radius->cycles[i]);
  for (size_t i = 0; i < radius->n_blind; i++) paint_line(paint, i == 0 ? "not read" : "", "%s", radius->blind[i]);
}

static bool is_left(const CascadeStep *step) {
  return step->act != CASCADE_NOTHING && cascade_is_open(step) && !cascade_is_told(step);
}

static bool was_made(const CascadeStep *step) { return step->act != CASCADE_NOTHING && step->done != NULL; }

/* The names of the steps of which `is` holds; NULL: of none. */
static const char *names_of(Arena *arena, const Cascade *cascade, bool (*is)(const CascadeStep *)) {
  enum { SHOWN = 12 };
  const char *names = "";
  size_t n = 0;
  for (size_t i = 0; i < cascade->n; i++)
    if (is(&cascade->steps[i]) && n++ < SHOWN)
      names = arena_printf(arena, "%s%s%s", names, n == 1 ? "" : ", ", cascade->steps[i].node->name);
  if (n == 0) return NULL;
  return n > SHOWN ? arena_printf(arena, "%s and %zu more", names, n - SHOWN) : names;
}

static void put_names(Json *json, const Cascade *cascade, bool (*is)(const CascadeStep *)) {
  json_array(json, "stale");
  for (size_t i = 0; i < cascade->n; i++)
    if (is(&cascade->steps[i])) json_text(json, NULL, cascade->steps[i].node->name);
  json_array_end(json);
}

void view_cascade_stale(Paint *paint, Arena *arena, const Cascade *cascade) {
  const char *names = names_of(arena, cascade, is_left);
  if (names == NULL) return;
  paint_verdict(paint, STYLE_WARN, "stale", "%s. Next: tidegate cascade %s", names, cascade->record->id);
}

void view_cascade_stale_json(Json *json, const Cascade *cascade) { put_names(json, cascade, is_left); }

void view_cascade_back(Paint *paint, Arena *arena, const Cascade *cascade) {
  const char *names = names_of(arena, cascade, was_made);
  if (names == NULL) return;
  paint_verdict(paint, STYLE_WARN, "stale",
                "%s: made from the rows that were taken back. Before anything is discarded: tidegate cascade %s", names,
                cascade->record->id);
}

void view_cascade_back_json(Json *json, const Cascade *cascade) { put_names(json, cascade, was_made); }

void view_cascade_step(Paint *paint, Arena *arena, const Cascade *cascade, const CascadeStep *step) {
  size_t number = (size_t)(step - cascade->steps) + 1;
  paint_styled(paint, STYLE_BOLD, arena_printf(arena, "%zu of %zu  %s", number, cascade->n, step->node->name));
  paint_text(paint, dates_of(arena, cascade, step));
  buf_putc(paint->out, '\n');
}

static void put_range(Json *json, const Cascade *cascade, const LineageNode *node) {
  const Zone *zone = cascade->parent->shape.codec.zone;
  char from[32], last[32];
  if (!node->ranged) {
    json_null(json, "range");
    return;
  }
  grain_label(node->grain, zone, node->range.from, from);
  grain_label(node->grain, zone, grain_floor(node->grain, zone, node->range.to - 1), last);
  json_object(json, "range");
  json_text(json, "from", from);
  json_text(json, "to", last);
  json_text(json, "grain", grain_name(node->grain));
  json_bool(json, "assumed", node->assumed);
  json_object_end(json);
}

static void put_step(Json *json, const Cascade *cascade, const CascadeStep *step, const char *draft) {
  const LineageNode *node = step->node;
  json_object(json, NULL);
  json_text(json, "name", node->name);
  json_text(json, "kind", node->kind);
  json_text(json, "needs", needs_name(node->needs));
  json_text(json, "act", cascade_act_name(step->act));
  put_range(json, cascade, node);
  json_bool(json, "stale", cascade_is_open(step));
  json_text(json, "done", step->done);
  json_text(json, "waits_for", step->waits);
  json_text(json, "backfill", step->child == NULL ? NULL : step->child->id);
  json_text(json, "state", step->child == NULL ? NULL : step->child->state);
  json_text(json, "why", step->why != NULL ? step->why : node->why);
  json_text(json, "command", step->line != NULL ? step->line : step->command);
  if (draft != NULL) json_text(json, "draft", draft);
  json_object_end(json);
}

void view_cascade_json(Json *json, const Cascade *cascade, const char *const *drafts) {
  json_text(json, "id", cascade->record->id);
  json_text(json, "target", cascade->record->target);
  json_int(json, "left", (int64_t)cascade_left(cascade));
  json_array(json, "steps");
  for (size_t i = 0; i < cascade->n; i++)
    put_step(json, cascade, &cascade->steps[i], drafts == NULL ? NULL : drafts[i]);
  json_array_end(json);
  json_array(json, "cycles");
  for (size_t i = 0; i < cascade->parent->radius.n_cycles; i++)
    json_text(json, NULL, cascade->parent->radius.cycles[i]);
  json_array_end(json);
}
