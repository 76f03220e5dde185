#include "view/impact_int.h"
#include "view/words.h"
#include "view/xml.h"

enum { NAME = 200 };

/* One file, no script, nothing from elsewhere: the policy says so to the browser too. */
static const char head[] =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<style>\n"
    ":root { color-scheme: light dark; --ink: #1d2329; --paper: #fff; --soft: #f3f5f7; --line: #d5dade; --link: "
    "#0b5cad }\n"
    "@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ec; --paper: #14181c; --soft: #1f252b; --line: #39424a; "
    "--link: #7ab8ff } }\n"
    "* { box-sizing: border-box }\n"
    "body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper) }\n"
    "main { max-width: 80rem; margin: 0 auto; padding: 0 1rem 4rem }\n"
    "h1 { line-height: 1.2; overflow-wrap: anywhere }\n"
    "figure { margin: 1rem 0; overflow: auto; max-height: 85vh; border: 1px solid var(--line); border-radius: .5rem }\n"
    "a { color: var(--link) }\n"
    "ul { padding-left: 1.25rem }\n"
    "li { overflow-wrap: anywhere }\n"
    "</style>\n";

/* For a page of any make: its classes have a prefix of their own. */
static void put_table_styles(Buf *out) {
  buf_puts(out,
           "<style>\n"
           ".impact-list { overflow-x: auto }\n"
           ".impact-list table { border-collapse: collapse; width: 100% }\n"
           ".impact-list th, .impact-list td { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0; "
           "border-bottom: 1px solid var(--line); overflow-wrap: break-word; width: auto; min-width: 6em; max-width: "
           "24em }\n"
           ".impact-list tr:target { outline: .2rem solid var(--link) }\n"
           ".impact-list b { border-radius: .25rem; padding: .05rem .4rem; overflow-wrap: normal }\n");
  for (size_t night = 0; night < 2; night++) {
    if (night) buf_puts(out, "@media (prefers-color-scheme: dark) {\n");
    for (size_t i = 0; i < NEEDS_COUNT_; i++) {
      const NeedLook *look = need_look((Needs)i);
      buf_printf(out, ".impact-list b.%s { color: %s; background: %s }\n", needs_name((Needs)i),
                 night ? look->pale : look->ink, night ? look->dark : look->light);
    }
    if (night) buf_puts(out, "}\n");
  }
  buf_puts(out, "</style>\n");
}

static void put_cell(Buf *out, const char *text) {
  buf_puts(out, "<td>");
  if (text != NULL) xml_put_cut(out, text, NAME);
  buf_puts(out, "</td>");
}

static const char *known_by(Arena *arena, const ImpactNode *node) {
  if (node->reader == NULL) return NULL;
  return arena_printf(arena, "%s%s%s%s%s", node->reader, node->place == NULL ? "" : ", ",
                      node->place == NULL ? "" : node->place, node->age == NULL ? "" : ", ",
                      node->age == NULL ? "" : node->age);
}

void view_impact_table(Buf *out, Arena *arena, const ImpactFacts *facts, bool linked, ImpactSize size) {
  ImpactBoxes boxes;
  impact_boxes(arena, facts, size, &boxes);
  put_table_styles(out);
  buf_printf(out,
             "<div class=\"impact-list\" tabindex=\"0\" role=\"region\" aria-label=\"List\">\n<table>\n<thead><tr "
             "id=\"impact-l0\">"
             "<th scope=\"col\">Name</th>%s<th scope=\"col\">Kind</th><th scope=\"col\">%s</th><th scope=\"col\">Known "
             "by</th></tr></thead>\n<tbody>\n",
             facts->upstream ? "" : "<th scope=\"col\">Needs</th>", facts->upstream ? "Read by" : "Reads");
  for (size_t i = 1; i < facts->n && i <= IMPACT_LISTED; i++) {
    const ImpactNode *node = &facts->nodes[i];
    buf_printf(out, "<tr id=\"impact-l%zu\"><th scope=\"row\">", i);
    if (linked) buf_printf(out, "<a href=\"#impact-b%zu\">", boxes.of[i]);
    xml_put_cut(out, node->name, NAME);
    buf_puts(out, linked ? "</a></th>" : "</th>");
    if (!facts->upstream) {
      buf_printf(out, "<td><b class=\"%s\">%s</b> ", needs_name(node->needs), needs_name(node->needs));
      xml_put_cut(out, node->range == NULL ? "" : node->range, NAME);
      if (node->why != NULL) {
        buf_puts(out, "<br>");
        xml_put_cut(out, node->why, NAME);
      }
      buf_puts(out, "</td>");
    }
    put_cell(out, node->owner == NULL
                      ? node->kind
                      : arena_printf(arena, "%s of %s", node->kind == NULL ? "" : node->kind, node->owner));
    put_cell(out, impact_nearer(arena, facts, &boxes.tree, i, 20));
    put_cell(out, known_by(arena, node));
    buf_puts(out, "</tr>\n");
  }
  buf_puts(out, "</tbody>\n</table>\n");
  if (facts->n - 1 > IMPACT_LISTED)
    buf_printf(out, "<p>And %zu more: <code>tidegate impact --json</code> has them all.</p>\n",
               facts->n - 1 - IMPACT_LISTED);
  buf_puts(out, "</div>\n");
}

static void put_items(Buf *out, const char *title, const char *const *texts, size_t n) {
  if (n == 0) return;
  buf_printf(out, "<h2>%s</h2>\n<ul>\n", title);
  for (size_t i = 0; i < n; i++) {
    buf_puts(out, "<li>");
    xml_put_cut(out, texts[i], 1000);
    buf_puts(out, "</li>\n");
  }
  buf_puts(out, "</ul>\n");
}

static void put_coverage(Buf *out, Arena *arena, const ImpactFacts *facts) {
  const char **texts = arena_array(arena, facts->n_sources, sizeof *texts);
  for (size_t i = 0; i < facts->n_sources; i++) {
    const ImpactSource *source = &facts->sources[i];
    texts[i] = impact_source_text(arena, source);
    if (source->failed != NULL) texts[i] = arena_printf(arena, "%s; not wholly read: %s", texts[i], source->failed);
  }
  put_items(out, "Cycles", facts->cycles, facts->n_cycles);
  put_items(out, "Names that were taken for one", facts->joins, facts->n_joins);
  put_items(out, "What was read", texts, facts->n_sources);
  put_items(out, "What was not read", facts->blind, facts->n_blind);
}

void view_impact_html(Buf *out, Arena *arena, const ImpactFacts *facts, ImpactSize size) {
  BUF_SCOPED picture = {0};
  Error err;
  bool drawn = facts->n > 1 && view_impact_picture(&picture, arena, facts, size, &err);
  const char *title = impact_title(arena, facts);
  buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
  xml_put_cut(out, title, NAME);
  buf_printf(out, "</title>\n%s</head>\n<body>\n<main>\n<h1>", head);
  xml_put_cut(out, title, NAME);
  buf_puts(out, "</h1>\n");
  if (facts->n == 1) buf_puts(out, "<p>Nothing that is known.</p>\n");
  if (drawn)
    buf_printf(out, "<figure tabindex=\"0\" aria-label=\"Picture\">\n%s</figure>\n", buf_text(&picture));
  else if (facts->n > 1) {
    buf_puts(out, "<p>There is no picture: ");
    xml_put(out, err.message);
    buf_puts(out, ".</p>\n");
  }
  if (facts->n > 1) view_impact_table(out, arena, facts, drawn, size);
  put_coverage(out, arena, facts);
  buf_puts(out, "</main>\n</body>\n</html>\n");
}
