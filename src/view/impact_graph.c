#include "view/impact_int.h"

/* The boxes as the text of a graph, for Mermaid and for Graphviz' own programs. */

enum { NAME = 80 };

/* ---- Mermaid ----------------------------------------------------------------------------------------------------- */

/* As an entity wherever Mermaid, Markdown or HTML could read something into it. */
static void put_mermaid(Buf *out, const char *text) {
  BUF_SCOPED safe = {0};
  paint_cut(&safe, text, NAME);
  for (const char *at = buf_text(&safe); *at != '\0'; at++) {
    unsigned char c = (unsigned char)*at;
    bool plain = c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ' ' ||
                 c == '.' || c == ',';
    if (plain || (c == '_' && at > buf_text(&safe) && at[1] != '_' && at[-1] != '_'))
      buf_putc(out, (char)c);
    else
      buf_printf(out, "#%d;", c);
  }
}

static void put_mermaid_classes(Buf *out) {
  for (size_t i = 0; i < NEEDS_COUNT_; i++) {
    const NeedLook *look = need_look((Needs)i);
    buf_printf(out, "  classDef %s fill:%s,stroke:%s,color:#1d2329\n", needs_name((Needs)i), look->light, look->ink);
  }
  buf_puts(out, "  classDef target fill:#1d2329,stroke:#1d2329,color:#ffffff\n");
}

void view_impact_mermaid(Buf *out, Arena *arena, const ImpactFacts *facts, ImpactSize size) {
  ImpactBoxes boxes;
  impact_boxes(arena, facts, size, &boxes);
  buf_puts(out, "flowchart LR\n");
  for (size_t i = 0; i < boxes.n; i++) {
    const ImpactBox *box = &boxes.boxes[i];
    const char *word = impact_word(facts, box->members[0]);
    buf_printf(out, "  n%zu[\"", i);
    put_mermaid(out, box->title);
    if (word[0] != '\0') {
      buf_puts(out, "<br/>");
      put_mermaid(out, word);
    }
    buf_printf(out, "\"]:::%s\n", i == 0 ? "target" : needs_name(box->needs));
  }
  for (size_t i = 0; i < boxes.n_arrows; i++) {
    const ImpactBoxArrow *arrow = &boxes.arrows[i];
    buf_printf(out, "  n%zu %s n%zu\n", facts->upstream ? arrow->far : arrow->near, arrow->back ? "-.->" : "-->",
               facts->upstream ? arrow->near : arrow->far);
  }
  put_mermaid_classes(out);
}

/* ---- DOT --------------------------------------------------------------------------------------------------------- */

/* In a quoted string, where Graphviz reads backslashes and entities. */
static void put_dot(Buf *out, const char *text) {
  BUF_SCOPED safe = {0};
  paint_cut(&safe, text, NAME);
  for (const char *at = buf_text(&safe); *at != '\0'; at++) {
    if (*at == '&') {
      buf_puts(out, "&amp;");
      continue;
    }
    if (*at == '"' || *at == '\\') buf_putc(out, '\\');
    buf_putc(out, *at);
  }
}

static void put_dot_box(Buf *out, Arena *arena, const ImpactFacts *facts, const ImpactBox *box, size_t i) {
  const NeedLook *look = need_look(box->needs);
  const char *word = impact_word(facts, box->members[0]);
  buf_printf(out, "  n%zu [label=\"", i);
  put_dot(out, box->title);
  if (word[0] != '\0') {
    buf_puts(out, "\\n");
    put_dot(out, word);
  }
  if (i == 0)
    buf_puts(out, "\", fillcolor=\"#1d2329\", color=\"#1d2329\", fontcolor=\"#ffffff\"");
  else
    buf_printf(out, "\", fillcolor=\"%s\", color=\"%s\"", look->light, look->ink);
  buf_puts(out, ", tooltip=\"");
  put_dot(out, arena_printf(arena, "%s%s%s", box->title, box->n > 1 ? "" : ", ",
                            box->n > 1 ? "" : impact_details(arena, facts, &facts->nodes[box->members[0]], ", ")));
  buf_puts(out, "\"];\n");
}

void view_impact_dot(Buf *out, Arena *arena, const ImpactFacts *facts, ImpactSize size) {
  ImpactBoxes boxes;
  impact_boxes(arena, facts, size, &boxes);
  buf_puts(out,
           "digraph impact {\n  rankdir=LR;\n  charset=\"UTF-8\";\n"
           "  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\", fontcolor=\"#1d2329\"];\n");
  for (size_t i = 0; i < boxes.n; i++) put_dot_box(out, arena, facts, &boxes.boxes[i], i);
  for (unsigned level = 1; level < boxes.levels; level++) {
    buf_puts(out, "  {rank=same;");
    for (size_t i = 0; i < boxes.n; i++)
      if (boxes.boxes[i].level == level) buf_printf(out, " n%zu;", i);
    buf_puts(out, "}\n");
  }
  for (size_t i = 0; i < boxes.n_arrows; i++) {
    const ImpactBoxArrow *arrow = &boxes.arrows[i];
    buf_printf(out, "  n%zu -> n%zu%s;\n", facts->upstream ? arrow->far : arrow->near,
               facts->upstream ? arrow->near : arrow->far,
               arrow->back ? " [style=dashed, color=\"#a1261b\", constraint=false]" : "");
  }
  buf_puts(out, "}\n");
}
