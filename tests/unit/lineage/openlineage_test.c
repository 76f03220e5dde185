#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lineage/openlineage.h"
#include "lineage/sql_text.h"
#include "lineage_test.h"

/* The edge between two nodes of a finished graph; NULL: there is none. */
static const GraphEdge *edge_between(const Graph *graph, NodeId parent, NodeId child) {
  size_t n;
  const GraphEdge *edges = graph_edges(graph, &n);
  for (size_t i = 0; i < n; i++)
    if (edges[i].parent == parent && edges[i].child == child) return &edges[i];
  return NULL;
}

/* Reads events, a line each, as the file "events". */
static Graph *graph_of(Arena *arena, const char *lines) {
  Graph *graph = graph_new(arena);
  OpenLineage *reading = openlineage_begin(graph, "events");
  int line = 1;
  for (const char *at = lines; *at != '\0'; line++) {
    size_t n = strcspn(at, "\n");
    if (n > 0) openlineage_add(reading, "events", line, at, n);
    at += n + (at[n] == '\n');
  }
  openlineage_end(reading);
  graph_finish(graph);
  return graph;
}

static const GraphSource *only_source(const Graph *graph) {
  size_t n;
  const GraphSource *sources = graph_sources(graph, &n);
  assert_int_equal(n, 1);
  return &sources[0];
}

/* Made by openlineage-dbt 1.54.0 with dbt 1.10 on DuckDB: a seed, two tables, a view, a test, and a model that fails.
 */
static void events_of_a_real_emitter(void **state) {
  ARENA_SCOPED arena = {0};
  Graph *graph = graph_new(&arena);
  openlineage_read(graph, arena_printf(&arena, "%s/../data/openlineage/dbt-1.54.0.ndjson", getenv("TIDEGATE_CASES")));
  graph_finish(graph);
  const GraphSource *source = only_source(graph);
  assert_null(source->failed);
  assert_string_equal(source->covers, "12 events of 6 jobs");
  assert_true(source->made_at > 0);
  NodeId daily = find_relation(&arena, graph, "flights.main.daily_delays");
  assert_int_equal(daily, find_id(graph, "dbt", "model.flights.daily_delays"));
  assert_int_equal(daily, find_id(graph, "openlineage:duckdb://flights.duckdb", "flights.main.daily_delays"));
  NodeId monthly = find_relation(&arena, graph, "monthly_delays"), worst = find_relation(&arena, graph, "worst_days");
  const GraphEdge *edge = edge_between(graph, daily, monthly);
  assert_non_null(edge);
  assert_string_equal(edge->via, "job flights.main.flights.monthly_delays.build.run");
  /* The emitter does not name what is filtered or joined by; the SQL that it sends along does. */
  assert_int_equal(edge->columns == NULL ? 0 : edge->n_columns, sql_can_parse() ? 4 : 0);
  /* The seed is an input by its columns alone. */
  assert_non_null(edge_between(graph, find_relation(&arena, graph, "main.flights"), daily));
  edge = edge_between(graph, worst, find_relation(&arena, graph, "broken"));
  assert_non_null(edge);
  assert_non_null(strstr(edge->via, "in a run that failed"));
  NodeId test = find_id(graph, "openlineage job:dbt", "flights.main.flights.daily_delays.build.test");
  assert_string_equal(graph_at(graph, test)->kind, "test");
  assert_non_null(edge_between(graph, daily, test));
  assert_true(graph_at(graph, monthly)->at > 0);
}

#define JOB(name) "\"job\":{\"namespace\":\"etl\",\"name\":\"" name "\"}"
#define TABLE(name) "{\"namespace\":\"postgres://db:5432\",\"name\":\"" name "\"}"

static void a_run_is_put_together(void **state) {
  ARENA_SCOPED arena = {0};
  Graph *graph = graph_of(
      &arena,
      "{\"eventType\":\"START\",\"eventTime\":\"2026-11-01T02:00:00Z\",\"run\":{\"runId\":\"1\"}," JOB("load") ",\"inputs\":[" TABLE("flights.public.a") "]}\n"
      "{\"eventType\":\"START\",\"eventTime\":\"2026-11-01T02:00:00Z\",\"run\":{\"runId\":\"2\"}," JOB("load") ",\"inputs\":[" TABLE("flights.public.other") "]}\n"
      "{\"eventType\":\"COMPLETE\",\"eventTime\":\"2026-11-01T02:10:00.123+01:00\",\"run\":{\"runId\":\"1\"}," JOB("load") ",\"outputs\":[" TABLE("flights.public.b") "]}\n"
      "{\"eventType\":\"COMPLETE\",\"eventTime\":\"2026-11-01T02:10:00.123+01:00\",\"run\":{\"runId\":\"1\"}," JOB("load") ",\"outputs\":[" TABLE("flights.public.b") "]}\n"
      "{\"eventType\":\"START\",\"run\":{\"runId\":\"3\"}," JOB("send") ",\"inputs\":[" TABLE("flights.public.b") "]}\n");
  NodeId a = find_relation(&arena, graph, "public.a"), b = find_relation(&arena, graph, "b");
  assert_non_null(edge_between(graph, a, b));
  assert_null(edge_between(graph, find_relation(&arena, graph, "other"), b)); /* of a run that wrote nothing */
  assert_string_equal(edge_between(graph, a, b)->via, "job load");
  NodeId send = find_id(graph, "openlineage job:etl", "send");
  assert_string_equal(graph_at(graph, send)->kind, "job");
  assert_non_null(edge_between(graph, b, send));
  assert_true(only_source(graph)->made_at == 1793498400); /* 2026-11-01T02:00:00Z is later than 02:10+01:00 */
}

static void failed_and_then_well(void **state) {
  ARENA_SCOPED arena = {0};
  Graph *graph = graph_of(
      &arena,
      "{\"eventType\":\"COMPLETE\",\"run\":{\"runId\":\"1\"}," JOB("x") ",\"inputs\":[" TABLE("a") "],\"outputs\":[" TABLE("b") "]}\n"
      "{\"eventType\":\"FAIL\",\"run\":{\"runId\":\"2\"}," JOB("x") ",\"inputs\":[" TABLE("a") "," TABLE("c") "],\"outputs\":[" TABLE("b") "]}\n"
      "{\"eventType\":\"RUNNING\",\"run\":{\"runId\":\"3\"}," JOB("x") ",\"inputs\":[" TABLE("d") "],\"outputs\":[" TABLE("b") "]}\n");
  NodeId b = find_relation(&arena, graph, "b");
  assert_string_equal(edge_between(graph, find_relation(&arena, graph, "a"), b)->via, "job x");
  assert_string_equal(edge_between(graph, find_relation(&arena, graph, "c"), b)->via, "job x, in a run that failed");
  assert_string_equal(edge_between(graph, find_relation(&arena, graph, "d"), b)->via,
                      "job x, in a run that has not ended");
}

/* Only whoever names what is filtered by names all columns that are read. */
static void columns(void **state) {
  static const char format[] =
      "{\"eventType\":\"COMPLETE\",\"run\":{\"runId\":\"1\"}," JOB("x") ",\"inputs\":[" TABLE("a") "],\"outputs\":[{\"namespace\":\"postgres://db:5432\",\"name\":\"b\","
      "\"facets\":{\"columnLineage\":{\"fields\":{\"n\":{\"inputFields\":[{\"namespace\":\"postgres://db:5432\",\"name\":\"a\",\"field\":\"x\"%s}]},"
      "\"m\":{\"inputFields\":[{\"namespace\":\"postgres://db:5432\",\"name\":\"a\",\"field\":\"y\"}]}}%s}}}]}";
  static const struct {
    const char *field, *dataset;
    int n; /* −1: not known */
  } cases[] = {
      {"", "", -1},
      {",\"transformations\":[{\"type\":\"DIRECT\"}]", ",\"dataset\":[]", -1},
      {",\"transformations\":[{\"type\":\"INDIRECT\",\"subtype\":\"FILTER\"}]", "", 2},
      {"", ",\"dataset\":[{\"namespace\":\"postgres://db:5432\",\"name\":\"a\",\"field\":\"z\"}]", 3},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ARENA_SCOPED arena = {0};
    Graph *graph = graph_of(&arena, arena_printf(&arena, format, cases[i].field, cases[i].dataset));
    const GraphEdge *edge = edge_between(graph, find_relation(&arena, graph, "a"), find_relation(&arena, graph, "b"));
    assert_int_equal(edge->columns == NULL ? -1 : (int)edge->n_columns, cases[i].n);
  }
}

static void columns_by_the_sql(void **state) {
  static const struct {
    const char *query;
    int n; /* −1: not known */
  } cases[] = {{"SELECT x FROM a WHERE y > 0", 2},
               {"WITH w AS (SELECT x FROM s.A) SELECT * FROM w", 1},
               {"INSERT INTO b SELECT x, y, z FROM a", 3},
               {"SELECT * FROM a", -1},
               {"SELECT x FROM s.a JOIN t.a AS o USING (k)", -1}, /* which of them is it? */
               {"SELECT x FROM other", -1},
               {"SELECT x FROM a; SELECT y FROM a; INSERT INTO c SELECT 1", -1},
               {"SELECT x QUALIFY FROM WHERE", -1}};
  if (!sql_can_parse()) return;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ARENA_SCOPED arena = {0};
    Graph *graph =
        graph_of(&arena, arena_printf(&arena,
                                      "{\"eventType\":\"COMPLETE\",\"run\":{\"runId\":\"1\"},\"job\":{\"namespace\":"
                                      "\"etl\",\"name\":\"x\",\"facets\":{\"sql\":"
                                      "{\"query\":\"%s\"}}},\"inputs\":[" TABLE("a") "],\"outputs\":[" TABLE("b") "]}",
                                      cases[i].query));
    const GraphEdge *edge = edge_between(graph, find_relation(&arena, graph, "a"), find_relation(&arena, graph, "b"));
    if ((edge->columns == NULL ? -1 : (int)edge->n_columns) != cases[i].n) fail_msg("%s", cases[i].query);
  }
}

static void several_names_for_one_table(void **state) {
  ARENA_SCOPED arena = {0};
  Graph *graph = graph_of(
      &arena,
      "{\"eventType\":\"COMPLETE\",\"run\":{\"runId\":\"1\"}," JOB("x") ",\"inputs\":[" TABLE("raw") "],\"outputs\":[{\"namespace\":\"s3://lake\",\"name\":\"warehouse/daily\","
      "\"facets\":{\"symlinks\":{\"identifiers\":[{\"namespace\":\"hive://metastore\",\"name\":\"mart.daily\",\"type\":\"TABLE\"}]}}}]}\n"
      "{\"eventType\":\"COMPLETE\",\"run\":{\"runId\":\"2\"}," JOB("y") ",\"inputs\":[{\"namespace\":\"hive://metastore\",\"name\":\"mart.daily\"}],\"outputs\":[" TABLE("weekly") "]}\n"
      "{\"eventTime\":\"2026-11-01T02:00:00Z\",\"dataset\":{\"namespace\":\"kafka://broker\",\"name\":\"topic.daily\","
      "\"facets\":{\"symlinks\":{\"identifiers\":[{\"namespace\":\"s3://lake\",\"name\":\"warehouse/daily\"}]}}}}\n");
  NodeId daily = find_relation(&arena, graph, "mart.daily");
  assert_int_equal(daily, find_id(graph, "openlineage:s3://lake", "warehouse/daily"));
  assert_int_equal(daily, find_id(graph, "openlineage:kafka://broker", "topic.daily"));
  assert_non_null(edge_between(graph, find_relation(&arena, graph, "raw"), daily));
  assert_non_null(edge_between(graph, daily, find_relation(&arena, graph, "weekly")));
}

/* Spark says where the rows lie, and what the table is called in a namespace of that place; Hive's hook the other way
 * round; Flink's tables are topics. */
static void a_symlink_says_whether_it_is_a_table(void **state) {
  ARENA_SCOPED arena = {0};
  Graph *graph = graph_of(
      &arena,
      "{\"eventType\":\"COMPLETE\",\"run\":{\"runId\":\"1\"}," JOB("x") ",\"inputs\":[{\"namespace\":\"file\",\"name\":\"/tmp/warehouse/target\",\"facets\":"
      "{\"symlinks\":{\"identifiers\":[{\"namespace\":\"file:/tmp/warehouse\",\"name\":\"mart.daily\",\"type\":\"TABLE\"}]}}},"
      "{\"namespace\":\"kafka://broker:9092\",\"name\":\"orders.raw\",\"facets\":"
      "{\"symlinks\":{\"identifiers\":[{\"namespace\":\"kafka://broker:9092\",\"name\":\"cat.db.orders\",\"type\":\"TABLE\"}]}}}],"
      "\"outputs\":[{\"namespace\":\"hive://metastore:9083\",\"name\":\"mart.weekly\",\"facets\":"
      "{\"symlinks\":{\"identifiers\":[{\"namespace\":\"oss\",\"name\":\"bucket.weekly\",\"type\":\"LOCATION\"}]}}}]}\n");
  NodeId weekly = find_relation(&arena, graph, "mart.weekly");
  assert_non_null(edge_between(graph, find_relation(&arena, graph, "mart.daily"), weekly));
  assert_non_null(edge_between(graph, find_relation(&arena, graph, "db.orders"), weekly));
  assert_int_equal(weekly, find_id(graph, "openlineage:oss", "bucket.weekly"));
  GraphName location = {.schema = "bucket", .table = "weekly"};
  assert_int_equal(graph_find(graph, &location, NULL), GRAPH_NONE);
}

static void facets_of_the_job(void **state) {
  ARENA_SCOPED arena = {0};
  Graph *graph = graph_of(
      &arena,
      "{\"eventType\":\"COMPLETE\",\"eventTime\":\"2026-11-01T02:00:00Z\",\"run\":{\"runId\":\"1\",\"facets\":{"
      "\"airflow\":{\"dag\":{\"schedule_interval\":\"0 2 * * *\"}}}},"
      "\"job\":{\"namespace\":\"etl\",\"name\":\"x\",\"facets\":{\"ownership\":{\"owners\":[{\"name\":\"team:data\"}]},"
      "\"sourceCodeLocation\":{\"url\":\"https://example.org/x.sql\"},"
      "\"sql\":{\"query\":\"INSERT INTO b SELECT date_trunc('month', flight_date), sum(n) FROM a GROUP BY 1\"}}},"
      "\"inputs\":[" TABLE("a") "],\"outputs\":[" TABLE("b") "]}\n");
  NodeId b = find_relation(&arena, graph, "b");
  const GraphNode *node = graph_at(graph, b);
  assert_string_equal(edge_between(graph, find_relation(&arena, graph, "a"), b)->via, "job x (0 2 * * *)");
  assert_string_equal(node->owner, "team:data");
  assert_string_equal(node->url, "https://example.org/x.sql");
  assert_non_null(strstr(node->sql, "date_trunc"));
  if (sql_can_parse()) assert_true(node->has_grain && node->grain == GRAIN_MONTH);
}

static void garbage_is_left_out_and_said(void **state) {
  ARENA_SCOPED arena = {0};
  Graph *graph = graph_of(
      &arena,
      "not json\n"
      "{\"eventType\":\"COMPLETE\",\"run\":{\"runId\":\"1\"}," JOB("x") ",\"inputs\":[" TABLE("a") "],\"outputs\":[" TABLE("b") "]}\n"
      "{\"job\":{\"name\":\"no namespace\"}}\n"
      "{\"eventType\":\"COMPLETE\",\"run\":7,\"job\":[],\"inputs\":{},\"outputs\":\"x\"}\n"
      "[1, null, \"x\"]\n"
      "{\"job\":\n"
      "{\"eventType\":\"COMPLETE\",\"run\":{\"runId\":\"1\"}," JOB("y") ",\"inputs\":[1,null,{\"namespace\":\"n\"}," TABLE("a") "],\"outputs\":[{}]}\n");
  const GraphSource *source = only_source(graph);
  assert_non_null(strstr(source->failed, "events:1: no JSON"));
  assert_non_null(strstr(source->failed, "events:3: no OpenLineage event"));
  assert_non_null(strstr(source->failed, "events:4: "));
  assert_non_null(strstr(source->failed, "and 4 more"));
  assert_string_equal(source->covers, "2 events of 2 jobs");
  assert_non_null(edge_between(graph, find_relation(&arena, graph, "a"), find_relation(&arena, graph, "b")));
}

static void hostile_names_stay_names(void **state) {
  ARENA_SCOPED arena = {0};
  Graph *graph = graph_of(
      &arena,
      "{\"eventType\":\"COMPLETE\",\"run\":{\"runId\":\"1\"}," JOB("<script>alert(1)</script>\\n\\\"x\\u0000y") ",\"inputs\":[" TABLE("\\\"we\\\"\\\"ird\\\".\\\"ta\\nble\\\"") "],"
      "\"outputs\":[" TABLE("'; DROP TABLE x; --") "," TABLE("....") "," TABLE(".") "]}\n");
  assert_null(only_source(graph)->failed);
  NodeId parent = graph_find(graph, &(GraphName){.schema = "we\"ird", .table = "ta\nble"}, NULL);
  NodeId child = graph_find(graph, &(GraphName){.table = "'; DROP TABLE x; --"}, NULL);
  assert_int_not_equal(parent, GRAPH_NONE);
  assert_non_null(edge_between(graph, parent, child));
}

static void deep_and_long(void **state) {
  ARENA_SCOPED arena = {0};
  const size_t deep = 100000;
  char *text = arena_alloc(&arena, deep + 1);
  memset(text, '[', deep);
  assert_non_null(strstr(only_source(graph_of(&arena, text))->failed, "events:1: no JSON"));
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void write_text(const char *path, const char *text, size_t n) {
  FILE *file = fopen(path, "we");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, n, file), n);
  assert_int_equal(fclose(file), 0);
}

static void files_of_every_kind(void **state) {
  static const char event[] = "{\"eventType\":\"COMPLETE\",\"run\":{\"runId\":\"1\"}," JOB("x") ",\"inputs\":[" TABLE(
      "a") "],\"outputs\":[" TABLE("b") "]}";
  ARENA_SCOPED arena = {0};
  char folder[] = "/tmp/tidegate-openlineage-XXXXXX";
  assert_non_null(mkdtemp(folder));
  const struct {
    const char *name, *text, *covers, *failed;
  } cases[] = {
      {"a.ndjson", arena_printf(&arena, "%s\r\n\n%s", event, event), "2 events of 1 jobs", NULL},
      {"b.json", arena_printf(&arena, "[\n%s,\n%s\n]\n", event, event), "2 events of 1 jobs", NULL},
      {"c.json", "{\n\"events\": [", "0 events of 0 jobs", "c.json:2: no JSON"},
      {"d.json", "", "0 events of 0 jobs", "it holds no events"},
      {"e.ndjson", "\n\nx\n", "0 events of 0 jobs", "e.ndjson:3: no JSON"},
      {"none", NULL, "0 events of 0 jobs", "cannot be read: No such file"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *path = arena_printf(&arena, "%s/%s", folder, cases[i].name);
    if (cases[i].text != NULL) write_text(path, cases[i].text, strlen(cases[i].text));
    Graph *graph = graph_new(&arena);
    openlineage_read(graph, path);
    graph_finish(graph);
    const GraphSource *source = only_source(graph);
    assert_string_equal(source->covers, cases[i].covers);
    if (cases[i].failed == NULL)
      assert_null(source->failed);
    else
      assert_non_null(strstr(source->failed, cases[i].failed));
  }
  assert_int_equal(mkdir(arena_printf(&arena, "%s/sub", folder), 0700), 0);
  write_text(arena_printf(&arena, "%s/sub/f.jsonl", folder), event, strlen(event));
  write_text(arena_printf(&arena, "%s/readme.txt", folder), "x", 1);
  Graph *graph = graph_new(&arena);
  openlineage_read(graph, folder);
  graph_finish(graph);
  assert_string_equal(only_source(graph)->covers, "5 events of 1 jobs");
  for (size_t i = 0; i + 1 < sizeof cases / sizeof *cases; i++)
    unlink(arena_printf(&arena, "%s/%s", folder, cases[i].name));
  unlink(arena_printf(&arena, "%s/sub/f.jsonl", folder));
  unlink(arena_printf(&arena, "%s/readme.txt", folder));
  rmdir(arena_printf(&arena, "%s/sub", folder));
  assert_int_equal(rmdir(folder), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(events_of_a_real_emitter),
                                     cmocka_unit_test(a_run_is_put_together),
                                     cmocka_unit_test(failed_and_then_well),
                                     cmocka_unit_test(columns),
                                     cmocka_unit_test(columns_by_the_sql),
                                     cmocka_unit_test(several_names_for_one_table),
                                     cmocka_unit_test(a_symlink_says_whether_it_is_a_table),
                                     cmocka_unit_test(facets_of_the_job),
                                     cmocka_unit_test(garbage_is_left_out_and_said),
                                     cmocka_unit_test(hostile_names_stay_names),
                                     cmocka_unit_test(deep_and_long),
                                     cmocka_unit_test(files_of_every_kind)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
