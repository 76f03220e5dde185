#include <math.h>
#include <string.h>

#include "view/impact_int.h"
#include "view/layout.h"
#include "view/words.h"
#include "view/xml.h"

/*
 * The picture. Graphviz says where boxes and arrows stand; what is in it is written here, so that names pass one escape
 * and readers of screens get more than shapes. Sizes are pixels; monospaced letters have a known width.
 */

enum {
  MARGIN = 24,
  BOX = 42,
  BOX_LEAST = 120,
  NAME = 30,   /* columns of a name */
  DETAIL = 46, /* columns of the line below it */
  HEADS = 118, /* where the picture begins, its heads above it */
  LEAST = 760,
  LIST_COLUMN = 460,
  LIST_LINE = 18,
  FEW_LINES = 8, /* a list so long stays in one column */
  FIRST_NAMES = 3,
  LABEL_NAMES = 12
};
static const double LETTER = 7.85, SMALL = 6.1, LIST_LETTER = 6.5; /* of 13px monospace; of 11px and 12px sans */

typedef struct Picture {
  Buf *out;
  Arena *arena;
  const ImpactFacts *facts;
  ImpactBoxes boxes;
  Layout layout;
  double width, height, left; /* of the whole; where the layout begins */
} Picture;

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

static const char *first_names(const Picture *picture, const ImpactBox *box, size_t most) {
  const char *names = "";
  for (size_t i = 0; i < box->n && i < most; i++)
    names =
        arena_printf(picture->arena, "%s%s%s", names, i == 0 ? "" : ", ", picture->facts->nodes[box->members[i]].name);
  return box->n > most ? arena_printf(picture->arena, "%s …", names) : names;
}

static const char *box_detail(const Picture *picture, const ImpactBox *box) {
  const ImpactFacts *facts = picture->facts;
  const ImpactNode *node = &facts->nodes[box->members[0]];
  if (box->members[0] == 0) return facts->range == NULL ? "" : facts->range;
  if (box->n > 1) return first_names(picture, box, FIRST_NAMES);
  return arena_printf(picture->arena, "%s%s%s", node->kind == NULL ? "" : node->kind,
                      node->kind == NULL || node->range == NULL ? "" : ", ", node->range == NULL ? "" : node->range);
}

static size_t columns_of(const char *text, size_t most) {
  BUF_SCOPED cut = {0};
  paint_cut(&cut, text, most);
  return paint_columns(buf_text(&cut));
}

static double box_width(const Picture *picture, const ImpactBox *box) {
  double name = (double)columns_of(box->title, NAME) * LETTER;
  double below = (double)(strlen(impact_word(picture->facts, box->members[0])) + 2 +
                          columns_of(box_detail(picture, box), DETAIL)) *
                 SMALL;
  return fmax(fmax(name, below) + 28, BOX_LEAST);
}

/* All of a layer are as wide as the widest. */
static void make_layout(Picture *picture) {
  ImpactBoxes *boxes = &picture->boxes;
  double *widest = arena_array(picture->arena, boxes->levels, sizeof *widest);
  Layout *layout = &picture->layout;
  layout->boxes = arena_array(picture->arena, boxes->n, sizeof *layout->boxes);
  layout->arrows = arena_array(picture->arena, boxes->n_arrows, sizeof *layout->arrows);
  layout->n = boxes->n;
  layout->n_arrows = boxes->n_arrows;
  for (size_t i = 0; i < boxes->n; i++)
    widest[boxes->boxes[i].level] = fmax(widest[boxes->boxes[i].level], box_width(picture, &boxes->boxes[i]));
  bool up = picture->facts->upstream;
  for (size_t i = 0; i < boxes->n; i++) {
    unsigned level = boxes->boxes[i].level;
    layout->boxes[i] =
        (LayoutBox){.layer = (int)(up ? boxes->levels - 1 - level : level), .width = widest[level], .height = BOX};
  }
  for (size_t i = 0; i < boxes->n_arrows; i++) {
    const ImpactBoxArrow *arrow = &boxes->arrows[i];
    layout->arrows[i] =
        (LayoutArrow){.from = up ? arrow->far : arrow->near, .to = up ? arrow->near : arrow->far, .back = arrow->back};
  }
}

/* What a reader of screens says of it, and a mouse shows. */
static const char *box_label(const Picture *picture, const ImpactBox *box) {
  const ImpactFacts *facts = picture->facts;
  Arena *arena = picture->arena;
  const char *word = impact_word(facts, box->members[0]);
  if (box->members[0] == 0) return arena_printf(arena, "%s, the target", box->title);
  if (box->n == 1) {
    const ImpactNode *node = &facts->nodes[box->members[0]];
    const char *details = impact_details(arena, facts, node, ", "),
               *nearer = impact_nearer(arena, facts, &picture->boxes.tree, box->members[0], 4);
    return arena_printf(arena, "%s: %s%s%s%s%s%s%s", node->name, word, word[0] == '\0' ? "" : ", ", details,
                        nearer[0] == '\0' ? ""
                        : facts->upstream ? "; read by "
                                          : "; reads ",
                        nearer, node->why == NULL ? "" : ". ", node->why == NULL ? "" : node->why);
  }
  return arena_printf(arena, "%zu more%s%s: %s", box->n, word[0] == '\0' ? "" : ", ", word,
                      first_names(picture, box, LABEL_NAMES));
}

static void put_box(Picture *picture, size_t i) {
  Buf *out = picture->out;
  const ImpactBox *box = &picture->boxes.boxes[i];
  const LayoutBox *place = &picture->layout.boxes[i];
  const char *word = impact_word(picture->facts, box->members[0]), *detail = box_detail(picture, box);
  double x = picture->left + place->x - place->width / 2, y = HEADS + place->y - BOX / 2.0;
  buf_printf(out, "<a id=\"impact-b%zu\" class=\"box %s%s\" href=\"#impact-l%zu\" aria-label=\"", i,
             i == 0 ? "target" : needs_name(box->needs), box->n > 1 ? " several" : "",
             box->members[0] > IMPACT_LISTED ? 0 : box->members[0]);
  const char *label = box_label(picture, box);
  xml_put_cut(out, label, 400);
  buf_puts(out, "\"><title>");
  xml_put_cut(out, label, 400);
  buf_puts(out, "</title>");
  if (box->n > 1)
    buf_printf(out, "<rect class=\"behind\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"6\"/>", x + 4,
               y + 4, place->width, BOX);
  buf_printf(out, "<rect class=\"frame\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"6\"/>", x, y,
             place->width, BOX);
  buf_printf(out, "<rect class=\"band\" x=\"%.1f\" y=\"%.1f\" width=\"5\" height=\"%d\" rx=\"2\"/>", x + 5, y + 6,
             BOX - 12);
  buf_printf(out, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\">", x + 17, y + 18);
  xml_put_cut(out, box->title, NAME);
  buf_printf(out, "</text><text class=\"what\" x=\"%.1f\" y=\"%.1f\"><tspan class=\"word\">%s</tspan>%s", x + 17,
             y + 33, word, word[0] == '\0' || detail[0] == '\0' ? "" : "  ");
  xml_put_cut(out, detail, DETAIL);
  buf_puts(out, "</text></a>\n");
}

static void put_arrows(Picture *picture) {
  Buf *out = picture->out;
  buf_printf(out, "<g aria-hidden=\"true\" transform=\"translate(%.1f %d)\">\n", picture->left, HEADS);
  for (size_t i = 0; i < picture->layout.n_arrows; i++) {
    const LayoutArrow *arrow = &picture->layout.arrows[i];
    if (arrow->path != NULL)
      buf_printf(out, "<path class=\"arrow%s\" d=\"%s\" marker-end=\"url(#impact-tip)\"/>\n",
                 arrow->back                                                ? " back"
                 : picture->boxes.boxes[picture->boxes.arrows[i].far].n > 1 ? " several"
                                                                            : "",
                 arrow->path);
  }
  buf_puts(out, "</g>\n");
}

static void put_heads(Picture *picture) {
  for (unsigned level = 0; level < picture->boxes.levels; level++) {
    size_t i = 0;
    while (i < picture->boxes.n && picture->boxes.boxes[i].level != level) i++;
    if (i == picture->boxes.n) continue;
    buf_printf(picture->out, "<text class=\"layer\" x=\"%.1f\" y=\"%d\">", picture->left + picture->layout.boxes[i].x,
               HEADS - 12);
    if (level == 0)
      buf_puts(picture->out, "target");
    else
      buf_printf(picture->out, "%u %s away", level, level == 1 ? "step" : "steps");
    buf_puts(picture->out, "</text>\n");
  }
}

/* ---- what stands around them ------------------------------------------------------------------------------------- */

static void put_styles(Buf *out) {
  buf_puts(out,
           "<style>\n"
           "svg.impact { --paper: #fff; --ink: #1d2329; --soft: #56606a; --line: #8a949d; --link: #0b5cad }\n"
           "@media (prefers-color-scheme: dark) { svg.impact { --paper: #14181c; --ink: #e4e8ec; --soft: #a9b3bc; "
           "--line: #77828c; --link: #7ab8ff } }\n"
           "svg.impact text { font: 12px system-ui, sans-serif; fill: var(--ink) }\n"
           "svg.impact .head { font-weight: 600; font-size: 17px }\n"
           "svg.impact .layer { fill: var(--soft); font-size: 11px; text-anchor: middle }\n"
           "svg.impact .name { font: 13px ui-monospace, monospace }\n"
           "svg.impact .what { font-size: 11px }\n"
           "svg.impact .word { font-weight: 700 }\n"
           "svg.impact .soft { fill: var(--soft) }\n"
           "svg.impact .arrow { fill: none; stroke: var(--line); stroke-width: 1.2 }\n"
           "svg.impact .arrow.several { stroke-opacity: .45 }\n"
           "svg.impact .back { stroke: #d1453b; stroke-dasharray: 5 3 }\n"
           "svg.impact .tip { fill: var(--line) }\n"
           "svg.impact .frame, svg.impact .behind { stroke-width: 1.2 }\n"
           "svg.impact .target .frame { fill: var(--ink); stroke: var(--ink) }\n"
           "svg.impact .target .band { fill: var(--paper) }\n"
           "svg.impact .target text { fill: var(--paper) }\n"
           "svg.impact .target .name { font-weight: 700 }\n"
           "svg.impact .unknown .frame { stroke-dasharray: 4 3 }\n"
           "svg.impact a { cursor: pointer; text-decoration: none }\n"
           "svg.impact a:hover .frame, svg.impact a:focus .frame { stroke-width: 3 }\n"
           "svg.impact a:focus { outline: none }\n"
           "svg.impact a:focus .frame { stroke: var(--link) }\n"
           "svg.impact a:hover .line, svg.impact a:focus .line { text-decoration: underline; fill: var(--link) }\n"
           "svg.impact a:target .frame { stroke: var(--link); stroke-width: 4 }\n"
           "svg.impact a:target .line { font-weight: 700; fill: var(--link) }\n");
  for (size_t night = 0; night < 2; night++) {
    if (night) buf_puts(out, "@media (prefers-color-scheme: dark) {\n");
    for (size_t i = 0; i < NEEDS_COUNT_; i++) {
      const NeedLook *look = need_look((Needs)i);
      const char *name = needs_name((Needs)i), *fill = night ? look->dark : look->light,
                 *ink = night ? look->pale : look->ink;
      buf_printf(out,
                 "svg.impact .%s .frame, svg.impact .%s .behind { fill: %s; stroke: %s }\n"
                 "svg.impact .%s .band, svg.impact .%s .word { fill: %s }\n",
                 name, name, fill, ink, name, name, ink);
    }
    if (night) buf_puts(out, "}\n");
  }
  buf_puts(out,
           "</style>\n<defs><marker id=\"impact-tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
           "markerHeight=\"7\" orient=\"auto\"><path class=\"tip\" d=\"M0 0 L8 4 L0 8 z\"/></marker></defs>\n");
}

static const char *summary(const Picture *picture) {
  const ImpactFacts *facts = picture->facts;
  if (facts->n == 1) return "Nothing that is known.";
  const char *counts = facts->upstream ? "" : view_impact_counts(picture->arena, facts);
  return arena_printf(picture->arena, "%s%s%s%s%s.",
                      words_count(picture->arena, (int64_t)facts->n - 1, "node", "nodes"),
                      counts[0] == '\0' ? "" : ": ", counts,
                      facts->n_cycles == 0 ? "" : "; cycles: ", facts->n_cycles == 0 ? "" : facts->cycles[0]);
}

static void put_legend(Picture *picture) {
  bool used[NEEDS_COUNT_] = {0};
  double x = MARGIN;
  if (picture->facts->upstream) return;
  for (size_t i = 1; i < picture->facts->n; i++) used[picture->facts->nodes[i].needs] = true;
  for (size_t i = 0; i < NEEDS_COUNT_; i++) {
    if (!used[i]) continue;
    const char *name = needs_name((Needs)i);
    double wide = 26 + (double)strlen(name) * 7.5;
    buf_printf(picture->out,
               "<g class=\"%s\"><rect class=\"frame\" x=\"%.1f\" y=\"67\" width=\"14\" height=\"14\" rx=\"3\"/><text "
               "x=\"%.1f\" "
               "y=\"79\"><title>",
               name, x, x + 20);
    xml_put(picture->out, need_look((Needs)i)->means);
    buf_printf(picture->out, "</title><tspan class=\"word\">%s</tspan></text></g>\n", name);
    x += wide + 14;
  }
}

/* The nodes as lines, in columns; returns where it ends. */
static double put_list(Picture *picture, double top) {
  const ImpactFacts *facts = picture->facts;
  size_t n = facts->n - 1 < IMPACT_LISTED ? facts->n - 1 : IMPACT_LISTED, rows = n;
  size_t columns = (size_t)((picture->width - MARGIN) / LIST_COLUMN);
  if (columns > (rows + FEW_LINES - 1) / FEW_LINES) columns = (rows + FEW_LINES - 1) / FEW_LINES;
  if (columns == 0) columns = 1;
  double wide = (picture->width - MARGIN) / (double)columns;
  size_t letters = (size_t)((wide - MARGIN) / LIST_LETTER);
  rows = (rows + columns - 1) / columns;
  buf_printf(
      picture->out,
      "<text id=\"impact-l0\" class=\"head\" x=\"%d\" y=\"%.1f\">The same as a list%s</text>\n<g role=\"list\">\n",
      MARGIN, top, n < facts->n - 1 ? ": the first 1000" : "");
  for (size_t i = 1; i <= n; i++) {
    const ImpactNode *node = &facts->nodes[i];
    const char *word = impact_word(facts, i), *details = impact_details(picture->arena, facts, node, ", ");
    size_t place = (i - 1) / rows;
    double x = MARGIN + (double)place * wide, y = top + 26 + (double)((i - 1) % rows * LIST_LINE);
    buf_printf(picture->out,
               "<g role=\"listitem\" class=\"%s\"><a id=\"impact-l%zu\" href=\"#impact-b%zu\"><text class=\"line\" "
               "x=\"%.1f\" y=\"%.1f\">",
               needs_name(node->needs), i, picture->boxes.of[i], x, y);
    xml_put_cut(picture->out, node->name, NAME);
    buf_printf(picture->out, "  <tspan class=\"word\">%s</tspan> <tspan class=\"soft\">", word);
    size_t used = columns_of(node->name, NAME) + strlen(word) + 3;
    xml_put_cut(picture->out, details, letters > used + 8 ? letters - used : 8);
    buf_puts(picture->out, "</tspan></text></a></g>\n");
  }
  buf_puts(picture->out, "</g>\n");
  return top + 26 + (double)(rows * LIST_LINE);
}

static double put_foot(Picture *picture, double top) {
  const ImpactFacts *facts = picture->facts;
  Arena *arena = picture->arena;
  size_t letters = (size_t)((picture->width - 2 * MARGIN) / LIST_LETTER);
  for (size_t i = 0; i < facts->n_sources + facts->n_blind; i++) {
    const ImpactSource *source = i < facts->n_sources ? &facts->sources[i] : NULL;
    const char *text = source == NULL ? arena_printf(arena, "Not read: %s", facts->blind[i - facts->n_sources])
                       : source->failed == NULL ? arena_printf(arena, "Read: %s", impact_source_text(arena, source))
                                                : arena_printf(arena, "NOT wholly read: %s: %s",
                                                               impact_source_text(arena, source), source->failed);
    buf_printf(picture->out, "<text class=\"soft\" x=\"%d\" y=\"%.1f\">", MARGIN, top);
    xml_put_cut(picture->out, text, letters);
    buf_puts(picture->out, "</text>\n");
    top += LIST_LINE;
  }
  return top;
}

static void put_start(Picture *picture, double height) {
  Buf *out = picture->out;
  buf_printf(
      out,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"impact\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f "
      "%.0f\" role=\"group\" aria-labelledby=\"impact-title\" aria-describedby=\"impact-desc\">\n"
      "<title id=\"impact-title\">",
      picture->width, height, picture->width, height);
  xml_put_cut(out, impact_title(picture->arena, picture->facts), 120);
  buf_puts(out, "</title>\n<desc id=\"impact-desc\">");
  xml_put_cut(out, summary(picture), 400);
  buf_puts(out, "</desc>\n");
  put_styles(out);
  buf_printf(out,
             "<rect width=\"%.0f\" height=\"%.0f\" fill=\"var(--paper)\"/>\n<text class=\"head\" x=\"%d\" y=\"32\">",
             picture->width, height, MARGIN);
  xml_put_cut(out, impact_title(picture->arena, picture->facts), 70);
  buf_printf(out, "</text>\n<text class=\"soft\" x=\"%d\" y=\"53\">", MARGIN);
  xml_put_cut(out, summary(picture), 110);
  buf_puts(out, "</text>\n");
}

static bool draw(Buf *out, Arena *arena, const ImpactFacts *facts, ImpactSize size, bool list, Error *err) {
  BUF_SCOPED body = {0};
  Picture picture = {.out = &body, .arena = arena, .facts = facts};
  impact_boxes(arena, facts, size, &picture.boxes);
  make_layout(&picture);
  if (!layout_fill(arena, &picture.layout, err)) return false;
  picture.width = fmax(ceil(picture.layout.width) + 2.0 * MARGIN, LEAST);
  picture.left = MARGIN;
  put_legend(&picture);
  put_heads(&picture);
  put_arrows(&picture);
  for (size_t i = 0; i < picture.boxes.n; i++) put_box(&picture, i);
  double bottom = HEADS + picture.layout.height + MARGIN;
  if (list && facts->n > 1) bottom = put_list(&picture, bottom + 24) + 12;
  if (list) bottom = put_foot(&picture, bottom + 12);
  picture.out = out;
  put_start(&picture, ceil(bottom) + (list ? 4 : 0));
  buf_puts(out, buf_text(&body));
  buf_puts(out, "</svg>\n");
  return true;
}

bool view_impact_svg(Buf *out, Arena *arena, const ImpactFacts *facts, ImpactSize size, Error *err) {
  return draw(out, arena, facts, size, true, err);
}

bool view_impact_picture(Buf *out, Arena *arena, const ImpactFacts *facts, ImpactSize size, Error *err) {
  return draw(out, arena, facts, size, false, err);
}
