#include "view/impact.h"

#include <string.h>

#include "view/impact_int.h"
#include "view/words.h"

/* Colours by WCAG: each ink on its light and each pale on its dark has a contrast of at least 4.5. */
static const NeedLook looks[NEEDS_COUNT_] = {
    [NEEDS_NOTHING] = {STYLE_DIM, "reads nothing that changes", "#eef0f2", "#4d5761", "#262c32", "#aab4bd"},
    [NEEDS_FOLLOWS] = {STYLE_GOOD, "shows the new rows by itself", "#e6f4ea", "#1b6e35", "#12301c", "#7fd79b"},
    [NEEDS_REFRESH] = {STYLE_WARN, "is made anew in one step", "#e3f0fb", "#0b5595", "#0f2c45", "#86c1f5"},
    [NEEDS_CASCADE] = {STYLE_WARN, "is backfilled too, with a range of its own: tidegate cascade", "#fdf0dc", "#8a5300",
                       "#3a2807", "#f2bd6b"},
    [NEEDS_REBUILD] = {STYLE_BAD, "is made anew as a whole, by what makes it", "#fde8e6", "#a1261b", "#43140f",
                       "#ff9d93"},
    [NEEDS_PERSON] = {STYLE_BAD, "somebody has to decide", "#f3e8fb", "#6d2f9c", "#2f1642", "#d3a4f5"},
    [NEEDS_UNKNOWN] = {STYLE_BAD, "nobody knows what it needs", "#fff7c2", "#6b5800", "#363003", "#efd94f"}};

const NeedLook *need_look(Needs needs) { return &looks[needs]; }

const char *need_counts_text(Arena *arena, const NeedCounts *counts) {
  const char *text = "";
  for (size_t i = NEEDS_COUNT_; i-- > 0;) /* Needs has the lightest first */
    if (counts->of[i] > 0)
      text = arena_printf(arena, "%s%s%zu %s", text, text[0] == '\0' ? "" : ", ", counts->of[i], needs_name((Needs)i));
  return text;
}

const char *view_impact_counts(Arena *arena, const ImpactFacts *facts) {
  NeedCounts counts = {0};
  for (size_t i = 1; i < facts->n; i++) counts.of[facts->nodes[i].needs]++;
  return need_counts_text(arena, &counts);
}

static bool is_age_of_source(const ImpactFacts *facts, const char *age) {
  for (size_t i = 0; i < facts->n_sources; i++)
    if (facts->sources[i].age != NULL && strcmp(facts->sources[i].age, age) == 0) return true;
  return false;
}

const char *impact_details(Arena *arena, const ImpactFacts *facts, const ImpactNode *node, const char *separator) {
  bool aged = node->age != NULL && !is_age_of_source(facts, node->age);
  const char *source = node->reader == NULL ? NULL
                       : !aged              ? arena_printf(arena, "by %s", node->reader)
                                            : arena_printf(arena, "by %s, %s", node->reader, node->age);
  const char *parts[] = {node->range, node->kind, node->owner, source}, *text = "";
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (parts[i] != NULL && parts[i][0] != '\0')
      text = arena_printf(arena, "%s%s%s", text, text[0] == '\0' ? "" : separator, parts[i]);
  return text;
}

const char *impact_word(const ImpactFacts *facts, size_t node) {
  if (node == 0) return "target";
  return facts->upstream ? "" : needs_name(facts->nodes[node].needs);
}

const char *impact_title(Arena *arena, const ImpactFacts *facts) {
  return arena_printf(arena, "What is %s of %s", facts->upstream ? "upstream" : "downstream", facts->nodes[0].name);
}

/* ---- the report -------------------------------------------------------------------------------------------------- */

static void put_title(Paint *paint, Arena *arena, const ImpactFacts *facts) {
  paint_styled(paint, STYLE_BOLD, facts->nodes[0].name);
  if (facts->range != NULL) paint_text(paint, arena_printf(arena, "  %s", facts->range));
  const char *way = facts->upstream ? "upstream" : "downstream";
  if (facts->n > 1)
    paint_text(paint, arena_printf(arena, "  %zu %s%s%s", facts->n - 1, way, facts->upstream ? "" : ": ",
                                   facts->upstream ? "" : view_impact_counts(arena, facts)));
  else
    paint_text(paint, arena_printf(arena, "  nothing %s that is known", way));
  buf_putc(paint->out, '\n');
}

const char *impact_source_text(Arena *arena, const ImpactSource *source) {
  const char *text = source->reader;
  if (source->path != NULL && strcmp(source->path, source->reader) != 0)
    text = arena_printf(arena, "%s %s", text, source->path);
  if (source->covers != NULL) text = arena_printf(arena, "%s: %s", text, source->covers);
  if (source->age != NULL) text = arena_printf(arena, "%s, %s", text, source->age);
  return text;
}

/* What was read, how old it is, and what is not seen. */
static void put_coverage(Paint *paint, Arena *arena, const ImpactFacts *facts) {
  const char *label = "read";
  for (size_t i = 0; i < facts->n_sources; i++, label = "") {
    const ImpactSource *source = &facts->sources[i];
    if (source->failed == NULL)
      paint_line(paint, label, "%s", impact_source_text(arena, source));
    else
      paint_line(paint, label, "%s; NOT wholly read: %s", impact_source_text(arena, source), source->failed);
  }
  if (facts->n_sources == 0) paint_line(paint, label, "nothing");
  for (size_t i = 0; i < facts->n_blind; i++) paint_line(paint, i == 0 ? "not read" : "", "%s", facts->blind[i]);
}

static void put_joins(Paint *paint, const ImpactFacts *facts) {
  enum { SHOWN = 5 };
  for (size_t i = 0; i < facts->n_joins && i < SHOWN; i++)
    paint_line(paint, i == 0 ? "same" : "", "%s", facts->joins[i]);
  if (facts->n_joins > SHOWN) paint_line(paint, "", "… %zu more: see --json", facts->n_joins - SHOWN);
}

/* Of what is more than following by itself. */
static void put_reasons(Paint *paint, const ImpactFacts *facts, ImpactSize size) {
  enum { SHOWN = 8 };
  size_t n = 0;
  for (size_t i = 1; i < facts->n; i++) {
    const ImpactNode *node = &facts->nodes[i];
    if (node->why == NULL || (node->needs <= NEEDS_FOLLOWS && facts->columns == NULL)) continue;
    if (n++ < SHOWN || size == IMPACT_ALL) paint_line(paint, n == 1 ? "why" : "", "%s: %s", node->name, node->why);
  }
  if (n > SHOWN && size != IMPACT_ALL) paint_line(paint, "", "… %zu more: --all shows them", n - SHOWN);
}

void view_impact(Paint *paint, Arena *arena, const ImpactFacts *facts, ImpactSize size) {
  put_title(paint, arena, facts);
  view_impact_tree(paint, arena, facts, size);
  put_reasons(paint, facts, size);
  for (size_t i = 0; i < facts->n_cycles; i++)
    paint_verdict(paint, STYLE_WARN, i == 0 ? "cycle" : "", "%s", facts->cycles[i]);
  if (facts->left_out > 0)
    paint_line(paint, "left out", "%s of these columns: they need nothing; --all shows them",
               facts->left_out == 1 ? "1 that reads none" : arena_printf(arena, "%zu that read none", facts->left_out));
  put_joins(paint, facts);
  if (facts->finding != NULL) paint_verdict(paint, STYLE_BAD, "finding", "%s", facts->finding);
  put_coverage(paint, arena, facts);
}
