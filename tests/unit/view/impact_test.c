#include "view/impact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/doc.h"
#include "view/layout.h"

static const ImpactSource sources[] = {{"dbt manifest", "target/manifest.json", "4 models", "2h old", NULL},
                                       {"SQL text", "sql", NULL, NULL, "sql/a.sql:3: it cannot be parsed"}};
static const char *const blind[] = {"dashboards"};

/* daily → monthly, daily → worst; both → board: a diamond. */
static const ImpactNode diamond_nodes[] = {
    {.name = "daily", .kind = "table"},
    {.name = "monthly",
     .kind = "model",
     .needs = NEEDS_CASCADE,
     .range = "Feb 2013",
     .reader = "dbt manifest",
     .age = "2h old",
     .level = 1,
     .depth = 1},
    {.name = "worst", .kind = "view", .needs = NEEDS_FOLLOWS, .reader = "catalogue", .level = 1, .depth = 1},
    {.name = "board",
     .kind = "dashboard",
     .needs = NEEDS_PERSON,
     .reader = "tidegate.yaml",
     .owner = "ann",
     .level = 2,
     .depth = 2}};
static const ImpactArrow diamond_arrows[] = {
    {0, 1, NULL, NULL}, {0, 2, NULL, NULL}, {1, 3, NULL, NULL}, {2, 3, NULL, NULL}};

static ImpactFacts diamond(void) {
  return (ImpactFacts){.known = true,
                       .range = "1–28 Feb 2013",
                       .nodes = diamond_nodes,
                       .n = 4,
                       .arrows = diamond_arrows,
                       .n_arrows = 4,
                       .sources = sources,
                       .n_sources = 2,
                       .blind = blind,
                       .n_blind = 1};
}

#define assert_said(out, part) \
  if (strstr(buf_text(out), part) == NULL) fail_msg("'%s' is not in:\n%s", part, buf_text(out))

static size_t occurrences(const char *text, const char *part) {
  size_t n = 0;
  for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part)) n++;
  return n;
}

static size_t lines_of(const Buf *out, size_t *ret_widest) {
  size_t n = 0;
  *ret_widest = 0;
  for (const char *at = buf_text(out); *at != '\0'; n++) {
    size_t length = strcspn(at, "\n");
    ARENA_SCOPED arena = {0};
    size_t columns = paint_columns(arena_strndup(&arena, at, length));
    if (columns > *ret_widest) *ret_widest = columns;
    at += length + (at[length] == '\n');
  }
  return n;
}

static void a_diamond_stands_once_and_is_referred_to(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  ImpactFacts facts = diamond();
  view_impact(&(Paint){.out = &out}, &arena, &facts, IMPACT_READABLE);
  assert_string_equal(buf_text(&out),
                      "daily  1–28 Feb 2013  3 downstream: 1 person, 1 cascade, 1 follows\n"
                      "├─ monthly            cascade   Feb 2013, model, by dbt manifest\n"
                      "│  └─ board           person    dashboard, ann, by tidegate.yaml\n"
                      "└─ worst              follows   view, by catalogue\n"
                      "   └─ → board (under another)\n"
                      "read      dbt manifest target/manifest.json: 4 models, 2h old\n"
                      "          SQL text sql; NOT wholly read: sql/a.sql:3: it cannot be parsed\n"
                      "not read  dashboards\n");
}

static void upstream_has_no_needs(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  ImpactFacts facts = diamond();
  facts.upstream = true;
  view_impact(&(Paint){.out = &out}, &arena, &facts, IMPACT_READABLE);
  assert_said(&out, "daily  1–28 Feb 2013  3 upstream\n├─ monthly            Feb 2013, model,");
  assert_null(strstr(buf_text(&out), "cascade"));
}

/* ---- many -------------------------------------------------------------------------------------------------------- */

typedef struct Many {
  Arena arena;
  ImpactFacts facts;
} Many;

static int by_ends(const void *left, const void *right) {
  const ImpactArrow *a = left, *b = right;
  if (a->near != b->near) return a->near < b->near ? -1 : 1;
  return a->far < b->far ? -1 : a->far > b->far;
}

/* Node i reads node (i − 1) / fan, and every third another one before that: fan 1 is a chain. */
static void make_many(Many *many, size_t n, size_t fan) {
  *many = (Many){.facts = diamond()};
  ImpactNode *nodes = arena_array(&many->arena, n, sizeof *nodes);
  ImpactArrow *arrows = arena_array(&many->arena, 2 * n, sizeof *arrows);
  size_t n_arrows = 0;
  nodes[0] = diamond_nodes[0];
  for (size_t i = 1; i < n; i++) {
    size_t near = (i - 1) / fan, other = near / 2;
    nodes[i] = (ImpactNode){.name = arena_printf(&many->arena, "a_table_with_a_long_name_%zu", i),
                            .kind = "model",
                            .needs = (Needs)(i % NEEDS_COUNT_),
                            .level = nodes[near].level + 1,
                            .depth = nodes[other].depth + 1};
    arrows[n_arrows++] = (ImpactArrow){near, i, NULL, NULL};
    if (i % 3 == 0 && other != near) arrows[n_arrows++] = (ImpactArrow){other, i, NULL, NULL};
  }
  qsort(arrows, n_arrows, sizeof *arrows, by_ends);
  many->facts.nodes = nodes;
  many->facts.arrows = arrows;
  many->facts.n = n;
  many->facts.n_arrows = n_arrows;
}

/* Shown in full or counted: every node is one or the other. */
static size_t accounted(const char *text) {
  size_t n = occurrences(text, "─ a_table");
  for (const char *at = text; (at = strstr(at, "─ … ")) != NULL; at += 1) n += strtoul(at + strlen("─ … "), NULL, 10);
  return n;
}

static void many_nodes_stay_readable(void **state) {
  (void)state;
  static const size_t fans[] = {1, 2, 4, 40, 300};
  for (size_t i = 0; i < sizeof fans / sizeof *fans; i++) {
    Many many;
    BUF_SCOPED out = {0};
    BUF_SCOPED all = {0};
    size_t widest;
    make_many(&many, 300, fans[i]);
    view_impact_tree(&(Paint){.out = &out, .width = 80}, &many.arena, &many.facts, IMPACT_READABLE);
    assert_in_range(lines_of(&out, &widest), 3, 61);
    assert_in_range(widest, 1, 80);
    assert_int_equal(accounted(buf_text(&out)), 299);
    view_impact_tree(&(Paint){.out = &all}, &many.arena, &many.facts, IMPACT_ALL);
    assert_int_equal(accounted(buf_text(&all)), 299);
    assert_true(fans[i] == 1 || strstr(buf_text(&all), "…") == NULL);
    arena_release(&many.arena);
  }
}

static void graphs_as_text_are_collapsed_too(void **state) {
  (void)state;
  static const size_t fans[] = {1, 3, 300};
  for (size_t i = 0; i < sizeof fans / sizeof *fans; i++) {
    Many many;
    BUF_SCOPED dot = {0};
    BUF_SCOPED mermaid = {0};
    BUF_SCOPED whole = {0};
    make_many(&many, 300, fans[i]);
    view_impact_dot(&dot, &many.arena, &many.facts, IMPACT_READABLE);
    view_impact_mermaid(&mermaid, &many.arena, &many.facts, IMPACT_READABLE);
    view_impact_dot(&whole, &many.arena, &many.facts, IMPACT_ALL);
    assert_in_range(occurrences(buf_text(&dot), "[label="), 2, 110);
    assert_int_equal(occurrences(buf_text(&mermaid), "]:::"), occurrences(buf_text(&dot), "[label="));
    assert_int_equal(occurrences(buf_text(&whole), "[label="), 300);
    arena_release(&many.arena);
  }
}

static void a_ring_is_named_and_ends(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  BUF_SCOPED dot = {0};
  static const char *const cycles[] = {"monthly → board → monthly"};
  static const ImpactArrow ring[] = {
      {0, 1, NULL, NULL}, {0, 2, NULL, NULL}, {1, 3, NULL, NULL}, {3, 0, NULL, NULL}, {3, 1, NULL, NULL}};
  ImpactFacts facts = diamond();
  facts.arrows = ring;
  facts.n_arrows = 5;
  facts.cycles = cycles;
  facts.n_cycles = 1;
  view_impact(&(Paint){.out = &out}, &arena, &facts, IMPACT_ALL);
  assert_said(&out,
              "│  └─ board           person    dashboard, ann, by tidegate.yaml\n"
              "│     └─ → daily, monthly (under another)\n");
  assert_said(&out, "cycle     monthly → board → monthly\n");
  view_impact_dot(&dot, &arena, &facts, IMPACT_ALL);
  assert_said(&dot, "n3 -> n1 [style=dashed");
}

/* ---- names of any kind ------------------------------------------------------------------------------------------- */

static const char hostile[] = "<script>alert(1)</script>\"'&]]>\n\x1b[2J`--|{}\\N end; \xff";

static void hostile_names_stay_text(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  ImpactFacts facts = diamond();
  ImpactNode nodes[4];
  memcpy(nodes, diamond_nodes, sizeof nodes);
  nodes[1].name = nodes[3].name = hostile;
  nodes[2].name = nodes[2].kind = nodes[2].owner = nodes[2].why = nodes[2].place = hostile;
  nodes[0].name = arena_printf(&arena, "%s%010000d", hostile, 0);
  facts.nodes = nodes;
  for (int form = 0; form < 5; form++) {
    BUF_SCOPED out = {0};
    Error err;
    if (form == 0) view_impact(&(Paint){.out = &out}, &arena, &facts, IMPACT_ALL);
    if (form == 1) view_impact_mermaid(&out, &arena, &facts, IMPACT_ALL);
    if (form == 2) view_impact_dot(&out, &arena, &facts, IMPACT_ALL);
    if (form == 3) view_impact_html(&out, &arena, &facts, IMPACT_ALL);
    if (form == 4 && layout_possible()) assert_true(view_impact_svg(&out, &arena, &facts, IMPACT_ALL, &err));
    assert_null(strchr(buf_text(&out), 0x1b));
    assert_null(strstr(buf_text(&out), "\xff"));
    if (form == 1) assert_null(strchr(buf_text(&out), '('));
    if (form >= 3) assert_null(strstr(buf_text(&out), "<script"));
    if (form >= 3) assert_null(strstr(buf_text(&out), "]]>"));
  }
}

static void the_json_is_whole(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  const DocNode *root = NULL;
  Error err;
  ImpactFacts facts = diamond();
  Json json = {.out = &out};
  json_object(&json, NULL);
  view_impact_json(&json, &facts);
  json_object_end(&json);
  assert_true(doc_parse(&arena, "out", out.data, out.len, &root, &err));
  assert_int_equal(doc_get(root, "nodes")->n, 4);
  assert_int_equal(doc_get(root, "edges")->n, 4);
  assert_string_equal(doc_text(&doc_get(root, "nodes")->children[1], "needs", ""), "cascade");
  assert_string_equal(doc_text(&doc_get(root, "read")->children[1], "failed", ""), "sql/a.sql:3: it cannot be parsed");
}

/* ---- the picture ------------------------------------------------------------------------------------------------- */

static void the_picture_has_a_box_and_a_line_each(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  Error err;
  ImpactFacts facts = diamond();
  if (!layout_possible()) {
    assert_false(view_impact_svg(&out, &arena, &facts, IMPACT_READABLE, &err));
    assert_non_null(strstr(error_hint_text(&err), "--format dot"));
    return;
  }
  assert_true(view_impact_svg(&out, &arena, &facts, IMPACT_READABLE, &err));
  assert_said(&out, "<title id=\"impact-title\">What is downstream of daily</title>");
  assert_said(&out,
              "<a id=\"impact-b1\" class=\"box cascade\" href=\"#impact-l1\" aria-label=\"monthly: cascade, Feb 2013, "
              "model, by dbt manifest; reads daily\">");
  assert_said(&out, "<a id=\"impact-l3\" href=\"#impact-b3\">");
  assert_said(&out, "Not read: dashboards");
  assert_int_equal(occurrences(buf_text(&out), "<path class=\"arrow"), 4);
  assert_int_equal(occurrences(buf_text(&out), "class=\"box "), 4);
}

static void layers_stand_from_left_to_right(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  Error err;
  LayoutBox boxes[] = {{.layer = 0, .width = 100, .height = 40},
                       {.layer = 1, .width = 200, .height = 40},
                       {.layer = 1, .width = 200, .height = 40},
                       {.layer = 2, .width = 50, .height = 40}};
  LayoutArrow arrows[] = {{0, 1, false, NULL}, {0, 2, false, NULL}, {2, 3, false, NULL}, {3, 1, true, NULL}};
  Layout layout = {.boxes = boxes, .arrows = arrows, .n = 4, .n_arrows = 4};
  if (!layout_possible()) return;
  assert_true(layout_fill(&arena, &layout, &err));
  assert_true(boxes[0].x + 50 < boxes[1].x - 100 && boxes[1].x == boxes[2].x && boxes[1].x + 100 < boxes[3].x - 25);
  assert_true(boxes[1].y + 20 < boxes[2].y - 20 || boxes[2].y + 20 < boxes[1].y - 20);
  for (size_t i = 0; i < 4; i++) {
    assert_true(boxes[i].x - boxes[i].width / 2 >= 0 && boxes[i].x + boxes[i].width / 2 <= layout.width);
    assert_int_equal(arrows[i].path[0], 'M');
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_diamond_stands_once_and_is_referred_to),
      cmocka_unit_test(upstream_has_no_needs),
      cmocka_unit_test(many_nodes_stay_readable),
      cmocka_unit_test(graphs_as_text_are_collapsed_too),
      cmocka_unit_test(a_ring_is_named_and_ends),
      cmocka_unit_test(hostile_names_stay_text),
      cmocka_unit_test(the_json_is_whole),
      cmocka_unit_test(the_picture_has_a_box_and_a_line_each),
      cmocka_unit_test(layers_stand_from_left_to_right),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
