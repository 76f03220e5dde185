#include <string.h>

#include "view/impact.h"
#include "view/runbook_int.h"
#include "view/words.h"

/* More nodes than this are not told one by one but for those that need something. */
enum { ALL = 20, MOST = 40 };

/* What is done about the target's own triggers is said by `triggers`. */
static bool is_own_trigger(const RunbookFacts *facts, const LineageNode *node) {
  for (size_t i = 0; facts->table != NULL && i < facts->table->n_triggers; i++)
    if (strcmp(node->kind, "trigger") == 0 && strcmp(facts->table->triggers[i].name, node->name) == 0) return true;
  return false;
}

static void put_node(Page *page, const RunbookFacts *facts, const LineageNode *node, const char *label) {
  static const char *const todo[NEEDS_COUNT_] = {
      [NEEDS_NOTHING] = "is not touched",
      [NEEDS_FOLLOWS] = "follows by itself",
      [NEEDS_REFRESH] = "must be refreshed after a publication",
      [NEEDS_CASCADE] = "must be backfilled too",
      [NEEDS_REBUILD] = "must be built anew",
      [NEEDS_PERSON] = "somebody must see to it",
      [NEEDS_UNKNOWN] = "nobody wrote down what it needs: ask before you publish"};
  bool own = node->needs == NEEDS_UNKNOWN && is_own_trigger(facts, node);
  const char *owner = facts->radius->graph == NULL ? NULL : graph_at(facts->radius->graph, node->id)->owner;
  page_fact(page, label,
            arena_printf(page->arena, "%s (%s%s%s): %s", node->name, node->kind, owner == NULL ? "" : ", of ",
                         owner == NULL ? "" : owner, own ? "its own, see “What the table is”" : todo[node->needs]));
}

static void put_nodes(Page *page, const RunbookFacts *facts) {
  const BlastRadius *radius = facts->radius;
  size_t shown = 0;
  for (size_t i = 0; i < radius->n; i++) {
    const LineageNode *node = &radius->nodes[i];
    if (radius->n > ALL && (node->needs <= NEEDS_FOLLOWS || shown == MOST)) continue;
    put_node(page, facts, node, shown++ == 0 ? "feeds" : "");
  }
  if (shown < radius->n)
    page_fact(page, shown == 0 ? "feeds" : "",
              arena_printf(page->arena, "%zu more; all of them: tidegate impact %s", radius->n - shown, facts->target));
  if (radius->n == 0) page_fact(page, "feeds", "nothing that the database or tidegate.yaml know of");
}

/* What that rests on: it changes whenever dbt runs. */
static void put_coverage(Page *page, const RunbookFacts *facts) {
  size_t n = 0;
  const GraphSource *sources = facts->radius->graph == NULL ? NULL : graph_sources(facts->radius->graph, &n);
  page->passing = true;
  for (size_t i = 0; i < n; i++) {
    const GraphSource *source = &sources[i];
    bool named = source->path == NULL || strcmp(source->path, source->reader) == 0;
    const char *made = source->made_at == 0 ? ""
                                            : arena_printf(page->arena, ", made %s",
                                                           words_instant(page->arena, zone_utc(), source->made_at));
    page_fact(page, i == 0 ? "known by" : "",
              arena_printf(
                  page->arena, "%s%s%s%s%s%s", source->reader, named ? "" : " ", named ? "" : source->path, made,
                  source->failed == NULL ? "" : "; not wholly read: ", source->failed == NULL ? "" : source->failed));
  }
  for (size_t i = 0; i < facts->radius->n_blind; i++)
    page_fact(page, i == 0 ? "not read" : "", facts->radius->blind[i]);
  page->passing = false;
}

/* Where Graphviz is missing there is none: the words above say the same. */
static void put_picture(Page *page, const RunbookFacts *facts) {
  BUF_SCOPED html = {0};
  BUF_SCOPED picture = {0};
  ImpactFacts impact;
  Error err;
  if (!facts->pictures || facts->radius->graph == NULL || facts->radius->n == 0) return;
  impact_facts(page->arena, facts->radius, &(ImpactAsk){.target = facts->target, .now = facts->now}, &impact);
  if (!view_impact_picture(&picture, page->arena, &impact, IMPACT_READABLE, &err)) return;
  buf_printf(&html, "<figure tabindex=\"0\" aria-label=\"Picture of what it feeds\">\n%s</figure>\n",
             buf_text(&picture));
  view_impact_table(&html, page->arena, &impact, true, IMPACT_READABLE);
  page_picture(page, arena_strdup(page->arena, buf_text(&html)));
}

void runbook_downstream(Page *page, const RunbookFacts *facts) {
  if (facts->radius != NULL) {
    put_nodes(page, facts);
    put_coverage(page, facts);
    put_picture(page, facts);
    return;
  }
  for (size_t i = 0; i < facts->spec->n_downstream; i++) {
    const SpecDownstream *node = &facts->spec->downstream[i];
    page_fact(page, i == 0 ? "feeds" : "",
              arena_printf(page->arena, "%s (%s): %s", node->name.text, node->kind, node->needs));
  }
  page_fact(page, facts->spec->n_downstream == 0 ? "feeds" : "", "what the database knows of was not seen");
}
