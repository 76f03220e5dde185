#include <stdlib.h>
#include <string.h>

#include "view/impact_int.h"
#include "view/words.h"

/* The graph as a tree in the terminal: a node stands in full once, and is named where else it belongs. */

enum { LINES = 60, NAME_MOST = 56, NAME_LEAST = 20, DETAILS = 26, NEED = 8, DEEPEST = 200, LONGEST = 160 };

void impact_tree(Arena *arena, const ImpactFacts *facts, ImpactTree *ret) {
  ImpactTree tree = {.first = arena_array(arena, facts->n + 1, sizeof(size_t)),
                     .under = arena_array(arena, facts->n, sizeof(size_t)),
                     .weight = arena_array(arena, facts->n, sizeof(size_t)),
                     .back = arena_array(arena, facts->n + 2, sizeof(size_t)),
                     .nearer = arena_array(arena, facts->n_arrows, sizeof(size_t))};
  for (size_t i = 0; i < facts->n_arrows; i++) tree.first[facts->arrows[i].near + 1]++;
  for (size_t i = 0; i < facts->n; i++) {
    tree.first[i + 1] += tree.first[i];
    tree.under[i] = SIZE_MAX;
    tree.weight[i] = 1;
  }
  for (size_t i = 0; i < facts->n_arrows; i++) {
    const ImpactArrow *arrow = &facts->arrows[i];
    size_t *under = &tree.under[arrow->far];
    if (arrow->far == 0 || arrow->near >= arrow->far) continue; /* the nodes' order is the way away from the target */
    if (*under == SIZE_MAX || facts->nodes[arrow->near].level > facts->nodes[*under].level) *under = arrow->near;
  }
  for (size_t i = facts->n; i-- > 1;) {
    if (tree.under[i] == SIZE_MAX) tree.under[i] = 0;
    tree.weight[tree.under[i]] += tree.weight[i];
  }
  for (size_t i = 0; i < facts->n_arrows; i++) tree.back[facts->arrows[i].far + 2]++;
  for (size_t i = 2; i < facts->n + 2; i++) tree.back[i] += tree.back[i - 1];
  for (size_t i = 0; i < facts->n_arrows; i++)
    tree.nearer[tree.back[facts->arrows[i].far + 1]++] = facts->arrows[i].near;
  *ret = tree;
}

const char *impact_nearer(Arena *arena, const ImpactFacts *facts, const ImpactTree *tree, size_t node, size_t most) {
  const char *text = "";
  size_t n = tree->back[node + 1] - tree->back[node];
  for (size_t i = 0; i < n && i < most; i++)
    text =
        arena_printf(arena, "%s%s%s", text, i == 0 ? "" : ", ", facts->nodes[tree->nearer[tree->back[node] + i]].name);
  return n > most ? arena_printf(arena, "%s and %zu more", text, n - most) : text;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

typedef struct Line {
  const char *prefix;
  const char *note; /* of what is not shown here; NULL: a node */
  size_t node;
} Line;

typedef struct Lines {
  Arena *arena;
  const ImpactFacts *facts;
  const ImpactTree *tree;
  size_t widest, deepest, most; /* children of one node, steps and lines that are shown */
  bool *mark;                   /* one a node, for whoever needs it */
  Line *items;
  size_t n;
} Lines;

static void put_line(Lines *lines, const char *prefix, const char *note, size_t node) {
  lines->items = arena_grow(lines->arena, lines->items, lines->n, sizeof *lines->items);
  lines->items[lines->n++] = (Line){prefix, note, node};
}

/* "… 12 more: 10 rebuild, 2 cascade": the children and everything below them. */
static const char *hidden_text(const Lines *lines, const size_t *children, size_t n_children, const char *where) {
  const ImpactFacts *facts = lines->facts;
  NeedCounts counts = {0};
  size_t n = 0;
  memset(lines->mark, 0, facts->n * sizeof *lines->mark);
  for (size_t i = 0; i < n_children; i++) lines->mark[children[i]] = true;
  for (size_t i = 1; i < facts->n; i++) { /* each stands behind what it is under */
    if (lines->tree->under[i] != 0 && lines->mark[lines->tree->under[i]]) lines->mark[i] = true;
    if (lines->mark[i]) counts.of[facts->nodes[i].needs]++, n++;
  }
  return arena_printf(lines->arena, "… %zu more%s: %s", n, where, need_counts_text(lines->arena, &counts));
}

/* Those that are shown in full elsewhere. */
static const char *elsewhere_text(const Lines *lines, size_t node) {
  enum { NAMED = 3 };
  const char *text = NULL;
  size_t n = 0;
  for (size_t i = lines->tree->first[node]; i < lines->tree->first[node + 1]; i++) {
    size_t far = lines->facts->arrows[i].far;
    if (far != 0 && lines->tree->under[far] == node) continue;
    const char *name = lines->facts->nodes[far].name;
    if (n++ < NAMED) text = text == NULL ? name : arena_printf(lines->arena, "%s, %s", text, name);
  }
  if (n == 0) return NULL;
  if (n > NAMED) text = arena_printf(lines->arena, "%s and %zu more", text, n - NAMED);
  return arena_printf(lines->arena, "→ %s (under another)", text);
}

/* The heaviest first: what can least be left out. */
static int by_weight(const void *left, const void *right, void *context) {
  const Lines *lines = context;
  size_t a = *(const size_t *)left, b = *(const size_t *)right;
  size_t heavy = lines->tree->weight[a], light = lines->tree->weight[b];
  Needs of_a = lines->facts->nodes[a].needs, of_b = lines->facts->nodes[b].needs;
  if (heavy != light) return heavy < light ? 1 : -1;
  if (of_a != of_b) return of_a < of_b ? 1 : -1;
  return a < b ? -1 : a > b;
}

static int by_place(const void *left, const void *right) {
  size_t a = *(const size_t *)left, b = *(const size_t *)right;
  return a < b ? -1 : a > b;
}

/* The children of a node: first those that are shown, in their order, then those that are not. */
static size_t choose(Lines *lines, size_t node, size_t widest, size_t **ret) {
  size_t n = 0, *children = NULL;
  for (size_t i = lines->tree->first[node]; i < lines->tree->first[node + 1]; i++) {
    size_t far = lines->facts->arrows[i].far;
    if (far == 0 || lines->tree->under[far] != node) continue;
    children = arena_grow(lines->arena, children, n, sizeof *children);
    children[n++] = far;
  }
  if (n > widest) {
    qsort_r(children, n, sizeof *children, by_weight, lines);
    qsort(children, widest, sizeof *children, by_place);
  }
  *ret = children;
  return n;
}

static void put_below(Lines *lines, size_t node, size_t depth, const char *prefix) {
  size_t *children, widest = depth >= lines->deepest ? 0 : lines->widest;
  size_t n = choose(lines, node, widest, &children), shown = n < widest ? n : widest;
  const char *elsewhere = elsewhere_text(lines, node), *rest = NULL;
  if (n > shown) rest = hidden_text(lines, children + shown, n - shown, shown == 0 ? " further on" : "");
  for (size_t i = 0; i < shown && lines->n <= lines->most; i++) {
    bool end = i + 1 == shown && rest == NULL && elsewhere == NULL;
    put_line(lines, arena_printf(lines->arena, "%s%s", prefix, end ? "└─ " : "├─ "), NULL, children[i]);
    put_below(lines, children[i], depth + 1, arena_printf(lines->arena, "%s%s", prefix, end ? "   " : "│  "));
  }
  if (rest != NULL)
    put_line(lines, arena_printf(lines->arena, "%s%s", prefix, elsewhere == NULL ? "└─ " : "├─ "), rest, node);
  if (elsewhere != NULL) put_line(lines, arena_printf(lines->arena, "%s└─ ", prefix), elsewhere, node);
}

/* As much as fits into LINES: first the widest places are cut, then the deepest. */
static void make_lines(Lines *lines, ImpactSize size) {
  static const size_t widths[] = {20, 12, 8, 5, 3}, depths[] = {12, 8, 6, 4, 3, 2};
  enum { WIDTHS = sizeof widths / sizeof *widths, TRIES = WIDTHS * (sizeof depths / sizeof *depths) };
  lines->mark = arena_array(lines->arena, lines->facts->n, sizeof *lines->mark);
  lines->widest = lines->most = SIZE_MAX;
  lines->deepest = DEEPEST;
  if (size == IMPACT_ALL || lines->facts->n <= LINES) {
    put_below(lines, 0, 0, "");
    return;
  }
  for (size_t i = 0; i < TRIES && (i == 0 || lines->n > LINES); i++) {
    lines->n = 0;
    lines->items = NULL;
    lines->most = LINES;
    lines->widest = widths[i % WIDTHS];
    lines->deepest = depths[i / WIDTHS];
    put_below(lines, 0, 0, "");
  }
}

/* ---- showing them ------------------------------------------------------------------------------------------------ */

static void pad(Buf *out, size_t have, size_t want) {
  for (; have < want; have++) buf_putc(out, ' ');
}

static void put_node(Paint *paint, Arena *arena, const ImpactFacts *facts, const Line *line, size_t column) {
  const ImpactNode *node = &facts->nodes[line->node];
  BUF_SCOPED name = {0};
  BUF_SCOPED details = {0};
  size_t need = facts->upstream ? 0 : NEED + 2;
  size_t prefix = paint_columns(line->prefix), room = column > prefix + NAME_LEAST ? column - prefix : NAME_LEAST;
  paint_cut(&name, node->name, room);
  size_t used = prefix + paint_columns(buf_text(&name));
  buf_puts(paint->out, buf_text(&name));
  pad(paint->out, used < column ? used : column, column + 2); /* a name that is deep in the tree may stand out */
  const char *word = impact_word(facts, line->node);
  paint_styled(paint, need_look(node->needs)->style, word);
  size_t taken = column + 2 + paint_columns(word);
  const char *more = impact_details(arena, facts, node, ", ");
  size_t left = paint->width == 0                          ? LONGEST
                : (size_t)paint->width > column + 2 + need ? (size_t)paint->width - column - 2 - need
                                                           : 0;
  if (more[0] != '\0' && left >= 8) {
    pad(paint->out, taken, column + 2 + need);
    paint_cut(&details, more, left);
    paint_styled(paint, STYLE_DIM, buf_text(&details));
  }
  buf_putc(paint->out, '\n');
}

/* The column in which names end. */
static size_t name_column(const Paint *paint, const Lines *lines) {
  size_t column = NAME_LEAST, most = NAME_MOST;
  if (paint->width > 0 && (size_t)paint->width < NAME_MOST + NEED + DETAILS)
    most = (size_t)paint->width > NAME_LEAST + NEED + DETAILS ? (size_t)paint->width - NEED - DETAILS : NAME_LEAST;
  for (size_t i = 0; i < lines->n; i++) {
    if (lines->items[i].note != NULL) continue;
    BUF_SCOPED name = {0};
    paint_escape(&name, lines->facts->nodes[lines->items[i].node].name);
    size_t columns = paint_columns(lines->items[i].prefix) + paint_columns(buf_text(&name));
    if (columns > column) column = columns;
  }
  return column < most ? column : most;
}

void view_impact_tree(Paint *paint, Arena *arena, const ImpactFacts *facts, ImpactSize size) {
  ImpactTree tree;
  impact_tree(arena, facts, &tree);
  Lines lines = {.arena = arena, .facts = facts, .tree = &tree};
  make_lines(&lines, size);
  size_t column = name_column(paint, &lines);
  bool cut = false;
  for (size_t i = 0; i < lines.n; i++) {
    const Line *line = &lines.items[i];
    paint_styled(paint, STYLE_DIM, line->prefix);
    if (line->note == NULL) {
      put_node(paint, arena, facts, line, column);
      continue;
    }
    BUF_SCOPED note = {0};
    size_t prefix = paint_columns(line->prefix);
    paint_cut(&note, line->note,
              paint->width == 0                    ? 200
              : (size_t)paint->width > prefix + 20 ? (size_t)paint->width - prefix
                                                   : 20);
    paint_styled(paint, STYLE_DIM, buf_text(&note));
    buf_putc(paint->out, '\n');
    cut = cut || strncmp(line->note, "…", strlen("…")) == 0;
  }
  if (cut)
    paint_line(paint, "all", "with --all; of one branch alone: tidegate impact%s NAME",
               facts->upstream ? " --upstream" : "");
}
