#include "view/radius.h"

#include <string.h>

#include "view/words.h"

enum { SHOWN = 12, NAMED = 6, REASONS = 5 };

/* " Feb 2013", of the node's own grain; "" where nothing is to be done, no dates are known, or they are the plan's. */
static const char *range_text(Arena *arena, const Plan *plan, const LineageNode *node) {
  char label[96];
  if (!node->ranged || node->needs <= NEEDS_FOLLOWS) return "";
  if (node->range.from == plan->range.from && node->range.to == plan->range.to &&
      node->grain == plan->shape.codec.grain)
    return "";
  date_range_label(&node->range, node->grain, plan->shape.codec.zone, label);
  return arena_printf(arena, " %s%s", label, node->assumed ? "?" : "");
}

/* "monthly (cascade Feb 2013)", "worst_days (view, follows)". */
static const char *node_text(Arena *arena, const Plan *plan, const LineageNode *node) {
  bool table = node->kind == NULL || strcmp(node->kind, "table") == 0;
  return arena_printf(arena, "%s (%s%s%s%s)", node->name, table ? "" : node->kind, table ? "" : ", ",
                      needs_name(node->needs), range_text(arena, plan, node));
}

static bool is_stale(const LineageNode *node) { return node->needs > NEEDS_FOLLOWS; }

static const char *counts_text(Arena *arena, const BlastRadius *radius) {
  const char *text = "";
  for (size_t need = NEEDS_COUNT_; need-- > 0;) { /* the heaviest first */
    size_t n = 0;
    for (size_t i = 0; i < radius->n; i++) n += radius->nodes[i].needs == (Needs)need;
    if (n > 0) text = arena_printf(arena, "%s%s%zu %s", text, text[0] == '\0' ? "" : ", ", n, needs_name((Needs)need));
  }
  return text;
}

static const char *feeds_text(Arena *arena, const Plan *plan) {
  const BlastRadius *radius = &plan->radius;
  const char *text = "";
  if (radius->n == 0) return "nothing that is known";
  if (radius->n > SHOWN)
    return arena_printf(arena, "%zu: %s. All of them: tidegate impact %s", radius->n, counts_text(arena, radius),
                        plan->id == NULL ? plan->shape.table : plan->id);
  for (size_t i = 0; i < radius->n; i++)
    text = arena_printf(arena, "%s%s%s", text, i == 0 ? "" : "  ", node_text(arena, plan, &radius->nodes[i]));
  return text;
}

/* Of many a line a need, of those that need something, the heaviest first. */
static void put_by_need(Paint *paint, Arena *arena, const Plan *plan) {
  const BlastRadius *radius = &plan->radius;
  for (size_t need = NEEDS_COUNT_; need-- > NEEDS_REFRESH;) {
    const char *text = "";
    size_t n = 0;
    for (size_t i = 0; i < radius->n; i++) {
      const LineageNode *node = &radius->nodes[i];
      if (node->needs != (Needs)need || n++ >= NAMED) continue;
      text = arena_printf(arena, "%s%s%s%s", text, n == 1 ? "" : ", ", node->name, range_text(arena, plan, node));
    }
    if (n > NAMED) text = arena_printf(arena, "%s and %zu more", text, n - NAMED);
    if (n > 0) paint_line(paint, "", "%s: %s", needs_name((Needs)need), text);
  }
}

static void put_reasons(Paint *paint, const BlastRadius *radius) {
  size_t n = 0;
  for (size_t i = 0; i < radius->n; i++) {
    const LineageNode *node = &radius->nodes[i];
    if (node->why == NULL || node->needs < NEEDS_CASCADE) continue;
    if (n++ < REASONS) paint_line(paint, "", "- %s: %s", node->name, node->why);
  }
  if (n > REASONS) paint_line(paint, "", "- … %zu more", n - REASONS);
}

static void put_coverage(Paint *paint, Arena *arena, const Plan *plan) {
  size_t n = 0;
  const GraphSource *sources = plan->radius.graph == NULL ? NULL : graph_sources(plan->radius.graph, &n);
  const char *label = "lineage";
  for (size_t i = 0; i < n; i++, label = "") {
    const GraphSource *source = &sources[i];
    const char *age =
        source->made_at == 0 || plan->planned_at <= source->made_at
            ? ""
            : arena_printf(arena, ", %s old", words_duration(arena, (double)(plan->planned_at - source->made_at)));
    bool same = source->path == NULL || strcmp(source->path, source->reader) == 0;
    paint_line(paint, label, "%s%s%s%s%s%s", source->reader, same ? "" : " ", same ? "" : source->path, age,
               source->failed == NULL ? "" : "; NOT wholly read: ", source->failed == NULL ? "" : source->failed);
  }
  for (size_t i = 0; i < plan->radius.n_blind; i++, label = "")
    paint_line(paint, label, "not read: %s", plan->radius.blind[i]);
}

void view_feeds(Paint *paint, Arena *arena, const Plan *plan) {
  const BlastRadius *radius = &plan->radius;
  paint_line(paint, "feeds", "%s", feeds_text(arena, plan));
  if (radius->n > SHOWN) put_by_need(paint, arena, plan);
  put_reasons(paint, radius);
  for (size_t i = 0; i < radius->n_cycles; i++)
    paint_verdict(paint, STYLE_WARN, i == 0 ? "cycle" : "", "%s", radius->cycles[i]);
  put_coverage(paint, arena, plan);
  if (radius->finding != NULL) paint_verdict(paint, STYLE_WARN, "finding", "%s", radius->finding);
}

void view_stale(Paint *paint, Arena *arena, const Plan *plan, const char *id) {
  const BlastRadius *radius = &plan->radius;
  const char *label = "stale";
  size_t n = 0;
  for (size_t i = 0; i < radius->n; i++) n += is_stale(&radius->nodes[i]);
  for (size_t i = 0; i < radius->n && n <= SHOWN; i++) {
    const LineageNode *node = &radius->nodes[i];
    if (!is_stale(node)) continue;
    paint_verdict(paint, STYLE_WARN, label, "%s (%s%s): it was made from the old rows", node->name,
                  needs_name(node->needs), range_text(arena, plan, node));
    label = "";
  }
  if (n > SHOWN) {
    paint_verdict(paint, STYLE_WARN, label, "%zu were made from the old rows; all of them: tidegate impact %s", n, id);
    put_by_need(paint, arena, plan);
  }
  if (n > 0) paint_line(paint, "", "Next: tidegate cascade %s", id);
}

void view_stale_json(Json *json, const Plan *plan) {
  json_array(json, "stale");
  for (size_t i = 0; i < plan->radius.n; i++) {
    const LineageNode *node = &plan->radius.nodes[i];
    if (!is_stale(node)) continue;
    const Zone *zone = plan->shape.codec.zone;
    char first[32] = "", last[32] = "";
    if (node->ranged) grain_label(node->grain, zone, node->range.from, first);
    if (node->ranged) grain_label(node->grain, zone, grain_floor(node->grain, zone, node->range.to - 1), last);
    json_object(json, NULL);
    json_text(json, "name", node->name);
    json_text(json, "needs", needs_name(node->needs));
    json_text(json, "first", node->ranged ? first : NULL);
    json_text(json, "last", node->ranged ? last : NULL);
    json_object_end(json);
  }
  json_array_end(json);
}
