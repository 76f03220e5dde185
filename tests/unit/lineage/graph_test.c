#include "lineage_test.h"

#include <string.h>

static void one_name_is_one_node(void **state) {
  ARENA_SCOPED arena = {0};
  Graph *graph = graph_new(&arena);
  graph_begin(graph, &(GraphSource){.reader = "catalogue"});
  NodeId a = add_relation(graph, "\"Flights\".public.Daily");
  assert_int_equal(a, add_relation(graph, "flights.public.daily"));
  assert_int_not_equal(a, add_relation(graph, "flights.private.daily"));
  assert_int_not_equal(a, add_id(graph, "dbt", "flights.public.daily"));
  graph_finish(graph);
  assert_int_equal(graph_count(graph), 3);
  assert_string_equal(graph_at(graph, 0)->shown, "public.Daily");
}

static void check_relation(const char *text, const char *database, const char *schema, const char *table) {
  ARENA_SCOPED arena = {0};
  GraphName name = graph_relation(&arena, text);
  assert_string_equal(name.table, table);
  if (schema == NULL)
    assert_null(name.schema);
  else
    assert_string_equal(name.schema, schema);
  if (database == NULL)
    assert_null(name.database);
  else
    assert_string_equal(name.database, database);
}

static void relations_are_split(void **state) {
  check_relation("daily", NULL, NULL, "daily");
  check_relation("main.daily", NULL, "main", "daily");
  check_relation("\"a.b\".\"say \"\"so\"\"\".\"t\"", "a.b", "say \"so\"", "t");
  check_relation("`p-1.x`.`d`.`t`", "p-1.x", "d", "t");
  check_relation("[a].[b]].c].[t]", "a", "b].c", "t");
  check_relation("spark.cat.schema.t", "cat", "schema", "t");
  check_relation("\"open", NULL, NULL, "open");
}

static size_t nodes_of(const char *const *relations, size_t n, size_t *ret_doubtful) {
  ARENA_SCOPED arena = {0};
  Graph *graph = graph_new(&arena);
  graph_begin(graph, &(GraphSource){.reader = "SQL text"});
  for (size_t i = 0; i < n; i++) add_relation(graph, relations[i]);
  graph_finish(graph);
  size_t n_joins;
  const GraphJoin *joins = graph_joins(graph, &n_joins);
  *ret_doubtful = 0;
  for (size_t i = 0; i < n_joins; i++) *ret_doubtful += joins[i].doubtful;
  return graph_count(graph);
}

#define NODES_OF(doubtful, ...) \
  nodes_of((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), doubtful)

static void shorter_names_are_joined_where_they_are_clear(void **state) {
  size_t doubtful;
  assert_int_equal(NODES_OF(&doubtful, "daily", "public.daily", "flights.public.daily"), 1);
  assert_int_equal(doubtful, 0);
  assert_int_equal(NODES_OF(&doubtful, "flights.public.daily", "daily", "other"), 2);
  assert_int_equal(doubtful, 0);
  /* Two databases have public.daily: nobody knows which is meant. */
  assert_int_equal(NODES_OF(&doubtful, "prod.public.daily", "test.public.daily", "public.daily"), 3);
  assert_int_equal(doubtful, 1);
  assert_int_equal(NODES_OF(&doubtful, "public.daily", "private.daily", "daily"), 3);
  assert_int_equal(doubtful, 1);
  /* Of full names none is taken for another. */
  assert_int_equal(NODES_OF(&doubtful, "prod.public.daily", "prod.private.daily"), 2);
  assert_int_equal(doubtful, 0);
}

static void an_alias_joins_two_nodes(void **state) {
  ARENA_SCOPED arena = {0};
  Graph *graph = graph_new(&arena);
  graph_begin(graph, &(GraphSource){.reader = "catalogue"});
  NodeId table = add_relation(graph, "public.daily");
  graph_facts(graph, table)->kind = "table";
  graph_facts(graph, table)->owner = "nobody";
  NodeId reader = add_relation(graph, "public.weekly");
  link_nodes(graph, table, reader);
  graph_begin(graph, &(GraphSource){.reader = "dbt manifest"});
  NodeId model = add_id(graph, "dbt", "model.x.daily");
  graph_facts(graph, model)->kind = "model";
  graph_facts(graph, model)->owner = "team";
  NodeId dashboard = add_id(graph, "dbt", "exposure.x.board");
  link_nodes(graph, model, dashboard);
  GraphName relation = graph_relation(&arena, "flights.public.daily");
  graph_alias(graph, model, &relation, "the manifest gives both");
  graph_finish(graph);

  assert_int_equal(graph_count(graph), 3);
  NodeId node = find_id(graph, "dbt", "model.x.daily");
  assert_int_equal(node, find_relation(&arena, graph, "daily"));
  const GraphNode *facts = graph_at(graph, node);
  assert_string_equal(facts->kind, "model");
  assert_string_equal(facts->owner, "team");
  assert_string_equal(facts->name.database, "flights");
  assert_string_equal(graph_readers(&arena, graph, node), "catalogue, dbt manifest");
  size_t n;
  graph_next(graph, GRAPH_DOWN, node, &n);
  assert_int_equal(n, 2);
}

/* What one source calls by both names is no other schema's table, and whoever says the name alone means it. */
static void a_name_that_is_placed_is_no_other(void **state) {
  ARENA_SCOPED arena = {0};
  Graph *graph = graph_new(&arena);
  size_t n;
  graph_begin(graph, &(GraphSource){.reader = "catalogue"});
  NodeId table = add_relation(graph, "public.daily");
  graph_alias(graph, table, &(GraphName){.table = "daily"}, "the search path");
  graph_begin(graph, &(GraphSource){.reader = "SQL text"});
  assert_int_equal(add_relation(graph, "daily"), table);
  add_relation(graph, "analytics.daily");
  graph_finish(graph);
  assert_int_equal(graph_count(graph), 2);
  assert_int_equal(find_relation(&arena, graph, "daily"), find_relation(&arena, graph, "public.daily"));
  const GraphJoin *joins = graph_joins(graph, &n);
  assert_int_equal(n, 1);
  assert_false(joins[0].doubtful);
  assert_string_equal(joins[0].what, "daily = public.daily, and not analytics.daily");
}

static void double_edges_are_one(void **state) {
  ARENA_SCOPED arena = {0};
  Graph *graph = graph_new(&arena);
  static const char *const some[] = {"a", "b"}, *const more[] = {"B", "c"};
  graph_begin(graph, &(GraphSource){.reader = "SQL text"});
  NodeId parent = add_relation(graph, "daily"), child = add_relation(graph, "weekly");
  graph_edge(graph, &(GraphEdge){.parent = parent, .child = child, .columns = some, .n_columns = 2});
  graph_edge(graph, &(GraphEdge){.parent = parent, .child = child, .columns = more, .n_columns = 2, .via = "job x"});
  graph_begin(graph, &(GraphSource){.reader = "dbt manifest"});
  link_nodes(graph, parent, child);
  link_nodes(graph, child, child);
  graph_finish(graph);
  size_t n;
  const GraphEdge *edges = graph_edges(graph, &n);
  assert_int_equal(n, 1);
  assert_int_equal(edges[0].n_columns, 3);
  assert_string_equal(edges[0].via, "job x");
  assert_true(graph_at(graph, edges[0].child)->reads_itself);
}

/* Two statements of one source: the columns of the one say nothing of the other's. */
static void unknown_columns_of_a_source_stay_unknown(void **state) {
  static const char *const some[] = {"a"}, *const more[] = {"b"};
  for (int order = 0; order < 2; order++) {
    ARENA_SCOPED arena = {0};
    Graph *graph = graph_new(&arena);
    graph_begin(graph, &(GraphSource){.reader = "SQL text"});
    NodeId parent = add_relation(graph, "daily"), child = add_relation(graph, "weekly");
    if (order == 0) link_nodes(graph, parent, child);
    graph_edge(graph, &(GraphEdge){.parent = parent, .child = child, .columns = some, .n_columns = 1});
    if (order == 1) link_nodes(graph, parent, child);
    graph_edge(graph, &(GraphEdge){.parent = parent, .child = child, .columns = some, .n_columns = 1});
    NodeId other = add_relation(graph, "monthly");
    link_nodes(graph, parent, other);
    graph_begin(graph, &(GraphSource){.reader = "catalogue"});
    graph_edge(graph, &(GraphEdge){.parent = parent, .child = other, .columns = more, .n_columns = 1});
    graph_finish(graph);
    size_t n;
    const GraphEdge *edges = graph_edges(graph, &n);
    assert_int_equal(n, 2);
    assert_null(edges[0].columns);
    assert_int_equal(edges[1].n_columns, 1);
  }
}

static void many_sources_and_names_without_end(void **state) {
  ARENA_SCOPED arena = {0};
  Graph *graph = graph_new(&arena);
  for (int i = 0; i < 100; i++)
    graph_begin(graph, &(GraphSource){.reader = "SQL text", .path = "p", .failed = i == 80 ? "odd" : NULL});
  for (int i = 0; i < 5000; i++) add_relation(graph, arena_printf(&arena, "s%d.t%d", i % 7, i));
  graph_finish(graph);
  assert_int_equal(graph_count(graph), 5000);
  size_t n;
  const char *const *blinds = graph_blinds(graph, &n);
  assert_int_equal(n, 1);
  assert_string_equal(blinds[0], "SQL text p: odd");
  for (int i = 0; i < 5000; i++)
    assert_int_equal(find_relation(&arena, graph, arena_printf(&arena, "T%d", i)), (NodeId)i);
  GraphName unknown = {.table = "nowhere"};
  assert_int_equal(graph_find(graph, &unknown, NULL), GRAPH_NONE);
}

static void what_is_not_seen_is_told_whole(void **state) {
  ARENA_SCOPED arena = {0};
  Graph *graph = graph_new(&arena);
  size_t n;
  graph_blind(graph, "%5000d end", 1);
  const char *const *blinds = graph_blinds(graph, &n);
  assert_int_equal(n, 1);
  assert_int_equal(strlen(blinds[0]), 5004);
}

static void an_empty_graph_is_finished(void **state) {
  ARENA_SCOPED arena = {0};
  Graph *graph = graph_new(&arena);
  graph_finish(graph);
  assert_int_equal(graph_count(graph), 0);
  assert_int_equal(graph_find(graph, &(GraphName){.table = "x"}, NULL), GRAPH_NONE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_name_is_one_node),
      cmocka_unit_test(relations_are_split),
      cmocka_unit_test(shorter_names_are_joined_where_they_are_clear),
      cmocka_unit_test(an_alias_joins_two_nodes),
      cmocka_unit_test(a_name_that_is_placed_is_no_other),
      cmocka_unit_test(double_edges_are_one),
      cmocka_unit_test(unknown_columns_of_a_source_stay_unknown),
      cmocka_unit_test(many_sources_and_names_without_end),
      cmocka_unit_test(what_is_not_seen_is_told_whole),
      cmocka_unit_test(an_empty_graph_is_finished),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
