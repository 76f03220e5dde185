#include "lineage_test.h"

#include <string.h>

#include "lineage/lineage.h"

/* The walk from the target on, with what each node needs by those before it. */

static NodeId add(Graph *graph, const char *name, const char *materialization) {
  NodeId node = add_relation(graph, name);
  GraphNode *facts = graph_facts(graph, node);
  facts->kind = "model";
  facts->materialization = materialization;
  return node;
}

static Graph *begin(Arena *arena) {
  Graph *graph = graph_new(arena);
  graph_begin(graph, &(GraphSource){.reader = "dbt manifest", .path = "manifest.json"});
  return graph;
}

static BlastRadius radius_of(Arena *arena, Graph *graph, const LineageAsk *ask) {
  BlastRadius radius;
  graph_finish(graph);
  lineage_radius(arena, graph, NULL, ask, &radius);
  return radius;
}

static const LineageNode *node_of(const BlastRadius *radius, const char *name) {
  const LineageNode *found = NULL;
  for (size_t i = 0; i < radius->n; i++) {
    if (strcmp(radius->nodes[i].name, name) != 0) continue;
    assert_null(found);
    found = &radius->nodes[i];
  }
  assert_non_null(found);
  return found;
}

static void link_columns(Graph *graph, NodeId parent, NodeId child, const char *const *columns, uint32_t n) {
  graph_edge(graph, &(GraphEdge){.parent = parent, .child = child, .columns = columns, .n_columns = n});
}

static void what_reads_other_columns_is_not_touched(void **state) {
  static const char *const delay[] = {"flight_date", "AVG_DEP_DELAY"}, *const counts[] = {"flight_date", "flights"};
  static const char *const changed[] = {"avg_dep_delay"};
  ARENA_SCOPED arena = {0};
  Graph *graph = begin(&arena);
  NodeId target = add(graph, "daily", "incremental"), a = add(graph, "delays", "view"),
         b = add(graph, "counts", "table");
  NodeId below = add(graph, "below_counts", "table"), both = add(graph, "both", "table"),
         open = add(graph, "open", "view");
  link_columns(graph, target, a, delay, 2);
  link_columns(graph, target, b, counts, 2);
  link_nodes(graph, target, open);
  link_nodes(graph, b, below);
  link_nodes(graph, b, both);
  link_nodes(graph, a, both);
  BlastRadius radius = radius_of(&arena, graph, &(LineageAsk){.target = "daily", .columns = changed, .n_columns = 1});
  assert_int_equal(node_of(&radius, "delays")->needs, NEEDS_FOLLOWS);
  assert_int_equal(node_of(&radius, "counts")->needs, NEEDS_NOTHING);
  assert_non_null(strstr(node_of(&radius, "counts")->why, "no column that changes"));
  assert_int_equal(node_of(&radius, "below_counts")->needs, NEEDS_NOTHING);
  assert_int_equal(node_of(&radius, "both")->needs, NEEDS_REBUILD);
  assert_int_equal(node_of(&radius, "open")->needs, NEEDS_FOLLOWS); /* nobody knows what it reads */
  assert_int_equal(node_of(&radius, "both")->parents, 2);
}

static void without_a_scope_every_column_may_change(void **state) {
  static const char *const counts[] = {"flights"};
  ARENA_SCOPED arena = {0};
  Graph *graph = begin(&arena);
  NodeId target = add(graph, "daily", "incremental"), child = add(graph, "counts", "table");
  link_columns(graph, target, child, counts, 1);
  BlastRadius radius = radius_of(&arena, graph, &(LineageAsk){.target = "daily"});
  assert_int_equal(node_of(&radius, "counts")->needs, NEEDS_REBUILD);
}

static const Instant february = INT64_C(1359676800), day = 86400; /* 2013-02-01T00:00Z */

/* A rolling week of a rolling week needs both windows; a month below it the months that both reach. */
static void dates_go_from_parent_to_child(void **state) {
  ARENA_SCOPED arena = {0};
  Graph *graph = begin(&arena);
  NodeId target = add(graph, "daily", "incremental"), week = add(graph, "week", "incremental");
  NodeId weeks = add(graph, "weeks", "incremental"), month = add(graph, "month", "incremental");
  NodeId view = add(graph, "late", "view");
  GraphNode *facts = graph_facts(graph, week);
  facts->window = 6;
  facts->range_from = "tidegate.yaml";
  facts = graph_facts(graph, weeks);
  facts->window = 6;
  facts->range_from = "tidegate.yaml";
  facts = graph_facts(graph, month);
  facts->has_grain = true;
  facts->grain = GRAIN_MONTH;
  facts->range_from = "tidegate.yaml";
  link_nodes(graph, target, week);
  link_nodes(graph, week, view);
  link_nodes(graph, view, weeks);
  link_nodes(graph, weeks, month);
  link_nodes(graph, target, month);
  NodeId quarters = add(graph, "quarters", "incremental"); /* three months rolling, of rows that are months already */
  facts = graph_facts(graph, quarters);
  facts->window = 2;
  facts->range_from = "its SQL";
  link_nodes(graph, month, quarters);
  LineageAsk ask = {.target = "daily",
                    .ranged = true,
                    .range = {february + 20 * day, february + 22 * day},
                    .grain = GRAIN_DAY,
                    .zone = zone_utc()};
  BlastRadius radius = radius_of(&arena, graph, &ask);
  assert_int_equal(node_of(&radius, "week")->range.from, february + 20 * day);
  assert_int_equal(node_of(&radius, "week")->range.to, february + 28 * day);
  assert_int_equal(node_of(&radius, "weeks")->range.to, february + 34 * day);
  assert_int_equal(node_of(&radius, "month")->range.from, february);
  assert_int_equal(node_of(&radius, "month")->range.to, february + 59 * day); /* 1 April */
  assert_int_equal(node_of(&radius, "quarters")->range.from, february);
  assert_int_equal(node_of(&radius, "quarters")->range.to, february + 120 * day); /* 1 June */
  assert_int_equal(node_of(&radius, "quarters")->grain, GRAIN_MONTH);
  assert_false(node_of(&radius, "week")->assumed);
  assert_true(node_of(&radius, "late")->assumed); /* nobody said what the view does with dates */
  assert_true(node_of(&radius, "month")->assumed);
}

static void rings_need_a_person(void **state) {
  ARENA_SCOPED arena = {0};
  Graph *graph = begin(&arena);
  NodeId target = add(graph, "t", "incremental"), a = add(graph, "a", "incremental"), b = add(graph, "b", "table");
  NodeId c = add(graph, "c", "table");
  link_nodes(graph, target, a);
  link_nodes(graph, a, b);
  link_nodes(graph, b, a);
  link_nodes(graph, b, c);
  BlastRadius radius = radius_of(
      &arena, graph,
      &(LineageAsk){.target = "t", .ranged = true, .range = {0, day}, .grain = GRAIN_DAY, .zone = zone_utc()});
  assert_int_equal(radius.n, 3);
  assert_int_equal(node_of(&radius, "a")->needs, NEEDS_PERSON);
  assert_non_null(strstr(node_of(&radius, "b")->why, "a → b → a"));
  assert_int_equal(node_of(&radius, "c")->needs, NEEDS_REBUILD);
  assert_false(node_of(&radius, "c")->ranged);
  assert_int_equal(radius.n_cycles, 1);
}

static void tests_are_not_downstream(void **state) {
  ARENA_SCOPED arena = {0};
  Graph *graph = begin(&arena);
  NodeId target = add(graph, "t", "incremental"), test = add_id(graph, "dbt", "test.x.y");
  graph_facts(graph, test)->kind = "test";
  link_nodes(graph, target, test);
  BlastRadius radius = radius_of(&arena, graph, &(LineageAsk){.target = "t"});
  assert_int_equal(radius.n, 0);
}

/* ---- coverage ---------------------------------------------------------------------------------------------------- */

static bool is_blind(const BlastRadius *radius, const char *words) {
  for (size_t i = 0; i < radius->n_blind; i++)
    if (strstr(radius->blind[i], words) != NULL) return true;
  return false;
}

static void no_source_but_the_catalogue_is_not_enough(void **state) {
  ARENA_SCOPED arena = {0};
  Graph *graph = graph_new(&arena);
  graph_begin(graph, &(GraphSource){.reader = "catalogue"});
  link_nodes(graph, add_relation(graph, "t"), add_relation(graph, "v"));
  BlastRadius radius = radius_of(&arena, graph, &(LineageAsk){.target = "t"});
  assert_null(radius.finding);
  assert_non_null(strstr(radius.uncovered, "no source of lineage"));
  assert_true(is_blind(&radius, "dbt manifests and OpenLineage"));
}

static void a_target_that_no_source_knows_is_a_finding(void **state) {
  ARENA_SCOPED arena = {0};
  Graph *graph = graph_new(&arena);
  graph_begin(graph, &(GraphSource){.reader = "catalogue"});
  add_relation(graph, "t");
  graph_begin(graph, &(GraphSource){.reader = "dbt manifest", .path = "m.json"});
  add(graph, "other", "table");
  BlastRadius radius = radius_of(&arena, graph, &(LineageAsk){.target = "t"});
  assert_non_null(strstr(radius.finding, "none of the sources that were read (dbt manifest m.json)"));
  assert_string_equal(radius.uncovered, radius.finding);
  assert_false(is_blind(&radius, "dbt manifests"));
  assert_true(is_blind(&radius, "OpenLineage events"));
}

static void a_source_that_failed_is_blind_and_not_enough(void **state) {
  ARENA_SCOPED arena = {0};
  Graph *graph = begin(&arena);
  add(graph, "t", "table");
  graph_begin(graph, &(GraphSource){.reader = "SQL text", .path = "sql", .failed = "sql/a.sql:3: odd"});
  BlastRadius radius = radius_of(&arena, graph, &(LineageAsk){.target = "t"});
  assert_null(radius.finding);
  assert_non_null(strstr(radius.uncovered, "sql/a.sql:3: odd"));
  assert_true(is_blind(&radius, "SQL text sql: sql/a.sql:3: odd"));
}

static void a_missing_project_is_blind(void **state) {
  ARENA_SCOPED arena = {0};
  Graph *graph = begin(&arena);
  link_nodes(graph, add(graph, "t", "table"), add_id(graph, "dbt", "model.elsewhere.y"));
  BlastRadius radius = radius_of(&arena, graph, &(LineageAsk){.target = "t"});
  assert_true(is_blind(&radius,
                       "1 nodes of dbt that are named and that no manifest describes, the first is model.elsewhere.y"));
}

static void what_is_read_and_knows_the_target_is_enough(void **state) {
  ARENA_SCOPED arena = {0};
  Graph *graph = begin(&arena);
  add(graph, "t", "table");
  BlastRadius radius = radius_of(&arena, graph, &(LineageAsk){.target = "t"});
  assert_null(radius.finding);
  assert_null(radius.uncovered);
}

static void a_name_that_may_be_several_is_followed_everywhere(void **state) {
  ARENA_SCOPED arena = {0};
  Graph *graph = begin(&arena);
  link_nodes(graph, add(graph, "prod.a.t", "table"), add(graph, "prod.a.x", "view"));
  link_nodes(graph, add(graph, "test.b.t", "table"), add(graph, "test.b.y", "view"));
  BlastRadius radius = radius_of(&arena, graph, &(LineageAsk){.target = "t"});
  assert_int_equal(radius.n, 2);
  assert_non_null(strstr(radius.finding, "prod.a.t"));
  assert_non_null(strstr(radius.finding, "test.b.t"));
  assert_non_null(radius.uncovered);
}

static void an_unknown_target_is_no_empty_answer(void **state) {
  ARENA_SCOPED arena = {0};
  Graph *graph = begin(&arena);
  add(graph, "other", "table");
  BlastRadius radius = radius_of(&arena, graph, &(LineageAsk){.target = "t"});
  assert_int_equal(radius.target, GRAPH_NONE);
  assert_int_equal(radius.n, 0);
  assert_non_null(radius.finding);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_reads_other_columns_is_not_touched),
      cmocka_unit_test(without_a_scope_every_column_may_change),
      cmocka_unit_test(dates_go_from_parent_to_child),
      cmocka_unit_test(rings_need_a_person),
      cmocka_unit_test(tests_are_not_downstream),
      cmocka_unit_test(no_source_but_the_catalogue_is_not_enough),
      cmocka_unit_test(a_target_that_no_source_knows_is_a_finding),
      cmocka_unit_test(a_source_that_failed_is_blind_and_not_enough),
      cmocka_unit_test(a_missing_project_is_blind),
      cmocka_unit_test(what_is_read_and_knows_the_target_is_enough),
      cmocka_unit_test(a_name_that_may_be_several_is_followed_everywhere),
      cmocka_unit_test(an_unknown_target_is_no_empty_answer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
