#include "lineage_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "lineage/dbt.h"
#include "lineage/lineage.h"
#include "lineage/sql_text.h"

/* Manifests that dbt wrote (script/dbt made them), and such as nobody should write. */

typedef struct Scene {
  Arena arena;
  Graph *graph;
  char path[64];
} Scene;

static const char *data(Arena *arena, const char *file) {
  return arena_printf(arena, "%s/../data/dbt/%s", getenv("TIDEGATE_CASES"), file);
}

static void begin(Scene *scene) {
  *scene = (Scene){.path = "/tmp/tidegate_dbt_XXXXXX"};
  scene->graph = graph_new(&scene->arena);
  int fd = mkstemp(scene->path);
  assert_true(fd >= 0);
  close(fd);
}

static void end(Scene *scene) {
  unlink(scene->path);
  arena_release(&scene->arena);
}

static void write_text(const Scene *scene, const char *text, size_t n) {
  FILE *file = fopen(scene->path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, n, file), n);
  assert_int_equal(fclose(file), 0);
}

static void unpack(Scene *scene, const char *file) {
  char *command = arena_printf(&scene->arena, "xz -dc '%s' > %s", data(&scene->arena, file), scene->path);
  assert_int_equal(system(command), 0);
}

static const GraphNode *model(const Graph *graph, const char *id) { return graph_at(graph, find_id(graph, "dbt", id)); }

static bool reads(const Graph *graph, const char *child, const char *parent) {
  size_t n, n_edges;
  NodeId from = find_id(graph, "dbt", parent);
  const GraphEdge *edges = graph_edges(graph, &n_edges);
  const uint32_t *next = graph_next(graph, GRAPH_UP, find_id(graph, "dbt", child), &n);
  for (size_t i = 0; i < n; i++)
    if (edges[next[i]].parent == from) return true;
  return false;
}

/* What every version from 1.0 on says of the same project. */
static void check_project(Scene *scene, const char *version) {
  Graph *graph = scene->graph;
  size_t n;
  const GraphSource *source = graph_sources(graph, &n);
  assert_int_equal(n, 1);
  if (source->failed != NULL) fail_msg("dbt %s: %s", version, source->failed);
  if (strstr(source->covers, version) == NULL) fail_msg("%s does not name dbt %s", source->covers, version);
  assert_true(source->made_at > 1700000000);
  graph_blinds(graph, &n);
  assert_int_equal(n, 0);

  const GraphNode *node = model(graph, "model.flights.monthly_delays");
  assert_string_equal(node->kind, "model");
  assert_string_equal(node->materialization, "incremental");
  assert_string_equal(node->strategy, "delete+insert");
  assert_string_equal(node->unique_key, "month, carrier");
  assert_string_equal(node->name.schema, "analytics");
  assert_string_equal(node->name.table, "monthly_delays");
  assert_string_equal(node->shown, "analytics.monthly_delays");
  assert_non_null(strstr(node->file, "monthly_delays.sql"));
  assert_false(node->disabled);
  assert_true(reads(graph, "model.flights.monthly_delays", "model.flights.daily_delays"));
  assert_true(reads(graph, "model.flights.monthly_delays", "seed.flights.carriers"));
  assert_true(reads(graph, "exposure.flights.delays_dashboard", "model.flights.monthly_delays"));
  assert_true(reads(graph, "snapshot.flights.carrier_history", "model.flights.carrier_totals"));
  assert_true(reads(graph, "model.flights.stg_flights", "source.flights.raw.flights"));
  assert_false(reads(graph, "model.flights.worst_days", "model.flights.monthly_delays"));
  assert_string_equal(model(graph, "model.flights.worst_days")->materialization, "view");
  assert_string_equal(model(graph, "snapshot.flights.carrier_history")->kind, "snapshot");
  assert_string_equal(model(graph, "exposure.flights.delays_dashboard")->shown, "delays_dashboard");
  assert_non_null(model(graph, "exposure.flights.delays_dashboard")->owner);
  node = model(graph, "model.flights.late_days");
  assert_string_equal(node->materialization, "ephemeral");
  assert_null(node->name.table);
  assert_true(model(graph, "model.flights.old_delays")->disabled);
  assert_string_equal(graph_at(graph, find_relation(&scene->arena, graph, "public.flights"))->kind, "source");
}

static void every_version_of_dbt_is_read(void **state) {
  int read = 0;
  for (int minor = 0; minor <= 12; minor++) {
    Scene scene;
    begin(&scene);
    char *version = arena_printf(&scene.arena, "1.%d", minor);
    unpack(&scene, arena_printf(&scene.arena, "%s/manifest.json.xz", version));
    dbt_read_manifest(scene.graph, scene.path);
    graph_finish(scene.graph);
    check_project(&scene, version);
    read++;
    end(&scene);
  }
  assert_int_equal(read, 13);
}

static void what_newer_versions_know_is_read(void **state) {
  Scene scene;
  begin(&scene);
  unpack(&scene, "1.12/manifest.json.xz");
  dbt_read_manifest(scene.graph, scene.path);
  graph_finish(scene.graph);
  const GraphNode *node = model(scene.graph, "model.flights.carrier_days");
  assert_string_equal(node->strategy, "microbatch");
  assert_string_equal(node->event_time, "flight_date");
  assert_true(node->has_grain);
  assert_int_equal(node->grain, GRAIN_DAY);
  assert_string_equal(model(scene.graph, "model.flights.airport_totals")->materialization, "materialized_view");
  assert_string_equal(model(scene.graph, "model.flights.carrier_months")->begin, "2013-02-01T00:00:00");
  assert_true(model(scene.graph, "model.flights.origin_counts")->never_whole);
  assert_false(node->never_whole);
  assert_string_equal(model(scene.graph, "model.flights.carrier_ranks.v2")->shown, "analytics.carrier ranks");
  assert_true(reads(scene.graph, "metric.flights.flights_flown", "semantic_model.flights.airport_facts"));
  assert_true(reads(scene.graph, "semantic_model.flights.airport_facts", "model.flights.airport_days"));
  assert_true(reads(scene.graph, "saved_query.flights.flights_by_month", "metric.flights.flights_flown"));
  BlastRadius radius; /* every node that is named is described */
  lineage_radius(&scene.arena, scene.graph, NULL, &(LineageAsk){.target = "analytics.daily_delays"}, &radius);
  for (size_t i = 0; i < radius.n_blind; i++) assert_null(strstr(radius.blind[i], "no manifest describes"));
  assert_string_equal(model(scene.graph, "unit_test.flights.worst_days.a_cancelled_flight_is_not_punctual")->kind,
                      "test");
  end(&scene);
}

static const LineageTest *tests_of(Scene *scene, const char *id, size_t n) {
  const LineageTest *tests;
  size_t found;
  lineage_tests(&scene->arena, scene->graph, find_id(scene->graph, "dbt", id), &tests, &found);
  if (found != n) fail_msg("%s has %zu tests, not %zu", id, found, n);
  return tests;
}

static const LineageTest *of_kind(const LineageTest *tests, size_t n, const char *kind, const char *column) {
  for (size_t i = 0; i < n; i++)
    if (tests[i].kind != NULL && strcmp(tests[i].kind, kind) == 0 && strcmp(tests[i].column, column) == 0)
      return &tests[i];
  fail_msg("no test %s of %s", kind, column);
  return NULL;
}

static void tests_of_a_model_are_read(void **state) {
  for (int minor = 0; minor <= 12; minor++) {
    Scene scene;
    begin(&scene);
    unpack(&scene, arena_printf(&scene.arena, "1.%d/manifest.json.xz", minor));
    dbt_read_manifest(scene.graph, scene.path);
    graph_finish(scene.graph);
    const LineageTest *tests = tests_of(&scene, "model.flights.daily_delays", 2);
    assert_null(of_kind(tests, 2, "not_null", "flight_date")->why);
    const LineageTest *relation = of_kind(tests, 2, "relationships", "carrier");
    assert_int_equal(relation->to, find_id(scene.graph, "dbt", "seed.flights.carriers"));
    assert_string_equal(relation->field, "carrier");
    assert_null(relation->why);
    tests_of(&scene, "seed.flights.carriers", 0);
    tests_of(&scene, "source.flights.raw.flights", 0);
    tests_of(&scene, "model.flights.worst_days", 0); /* a unit test says nothing of rows */
    const LineageTest *alone = tests_of(&scene, "model.flights.airport_days", minor == 12 ? 5 : 1);
    for (size_t i = 0; i < (minor == 12 ? 5 : 1); i++)
      if (strcmp(alone[i].name, "no_negative_flights") == 0) assert_null(alone[i].kind);
    end(&scene);
  }
}

/* What says less than that no row may fail is no such test. */
static void what_a_test_leaves_out_is_read(void **state) {
  Scene scene;
  begin(&scene);
  unpack(&scene, "1.12/manifest.json.xz");
  dbt_read_manifest(scene.graph, scene.path);
  graph_finish(scene.graph);
  const LineageTest *tests = tests_of(&scene, "model.flights.airport_days", 5);
  const LineageTest *values = of_kind(tests, 5, "accepted_values", "origin");
  assert_int_equal(values->n, 3);
  assert_string_equal(values->values[2], "LGA");
  assert_false(values->bare);
  assert_null(values->why);
  values = of_kind(tests, 5, "accepted_values", "flights");
  assert_string_equal(values->values[0], "0");
  assert_true(values->bare);
  assert_string_equal(values->why, "fails only if > 100000");
  assert_string_equal(of_kind(tests, 5, "not_null", "flights")->why, "looks only where flight_date >= '2013-01-01'");
  tests = tests_of(&scene, "model.flights.rolling_week", 2);
  assert_string_equal(of_kind(tests, 2, "not_null", "avg_dep_delay")->why, "only warns");
  assert_int_equal(of_kind(tests, 2, "relationships", "origin")->to,
                   find_id(scene.graph, "dbt", "model.flights.airport_days"));
  of_kind(tests_of(&scene, "model.flights.delay_to_date", 1), 1, "unique", "flight_date");
  write_text(&scene, "{}", 2); /* another file by now */
  tests_of(&scene, "model.flights.daily_delays", 0);
  end(&scene);
}

/* Whatever its strategy is called: dbt 1.12 gave an ordinary run of carrier_counts its last date twice. */
static void what_has_no_key_is_appended(void **state) {
  Scene scene;
  begin(&scene);
  unpack(&scene, "1.12/manifest.json.xz");
  dbt_read_manifest(scene.graph, scene.path);
  graph_finish(scene.graph);
  assert_string_equal(model(scene.graph, "model.flights.carrier_counts")->strategy, "append");
  assert_string_equal(model(scene.graph, "model.flights.old_delays")->strategy, "insert_overwrite");
  assert_null(model(scene.graph, "model.flights.origin_counts")->strategy);
  assert_null(model(scene.graph, "model.flights.carrier_totals")->strategy);
  end(&scene);
}

/* SQL that was compiled where the table stood is that of a later run: it says nothing of how its dates come about. */
static void sql_of_a_later_run_tells_no_dates(void **state) {
  Scene scene;
  BlastRadius radius;
  if (!sql_can_parse()) skip();
  begin(&scene);
  unpack(&scene, "1.12/manifest.json.xz");
  dbt_read_manifest(scene.graph, scene.path);
  graph_finish(scene.graph);
  LineageAsk ask = {
      .target = "analytics.daily_delays", .ranged = true, .range = {0, 86400}, .zone = zone_utc(), .grain = GRAIN_DAY};
  lineage_radius(&scene.arena, scene.graph, NULL, &ask, &radius);
  for (size_t i = 0; i < radius.n; i++) {
    if (strcmp(radius.nodes[i].name, "analytics.origin_counts") != 0) continue;
    assert_int_equal(radius.nodes[i].needs, NEEDS_CASCADE);
    assert_true(radius.nodes[i].assumed);
    assert_true(radius.nodes[i].ranged);
    end(&scene);
    return;
  }
  fail();
}

static void compiled_sql_is_read_at_need(void **state) {
  Scene scene;
  begin(&scene);
  unpack(&scene, "1.12/manifest.json.xz");
  dbt_read_manifest(scene.graph, scene.path);
  graph_finish(scene.graph);
  size_t n;
  const GraphSource *source = graph_sources(scene.graph, &n);
  const GraphNode *node = model(scene.graph, "model.flights.worst_days");
  const char *sql = dbt_compiled(&scene.arena, source, node);
  assert_non_null(sql);
  assert_non_null(strstr(sql, "\"analytics\".\"daily_delays\""));
  assert_null(strstr(sql, "{{"));
  /* Another file by now: what stands there is not what was meant. */
  write_text(&scene, "{}", 2);
  assert_null(dbt_compiled(&scene.arena, source, node));
  end(&scene);
}

/* Which columns a model reads stands in its compiled SQL: what reads none that changes is not touched. */
static void columns_are_read_from_compiled_sql(void **state) {
  static const char *const changed[] = {"avg_dep_delay"};
  if (!sql_can_parse()) skip();
  Scene scene;
  BlastRadius radius;
  begin(&scene);
  unpack(&scene, "1.12/manifest.json.xz");
  dbt_read_manifest(scene.graph, scene.path);
  graph_finish(scene.graph);
  lineage_radius(&scene.arena, scene.graph, NULL,
                 &(LineageAsk){.target = "analytics.daily_delays", .columns = changed, .n_columns = 1}, &radius);
  size_t told = 0;
  for (size_t i = 0; i < radius.n; i++) {
    const LineageNode *node = &radius.nodes[i];
    told += node->needs == NEEDS_NOTHING;
    if (strcmp(node->name, "analytics.flight_counts") == 0) assert_int_equal(node->needs, NEEDS_NOTHING);
    if (strcmp(node->name, "analytics.monthly_delays") == 0) assert_int_equal(node->needs, NEEDS_CASCADE);
  }
  assert_int_equal(told, 6);
  end(&scene);
}

#define META "\"metadata\": {\"dbt_schema_version\": \"https://schemas.getdbt.com/dbt/manifest/v12.json\"}"
#define WEEK                                                                                                        \
  "select day, sum(n) over (order by day rows between 6 preceding and current row) as n from \\\"db\\\".\\\"s\\\"." \
  "\\\"daily\\\""

/* A batch reads its own dates of a parent that says where they are, and all of another's: then its SQL counts. */
static void a_microbatch_reads_all_of_what_has_no_event_time(void **state) {
  static const Instant day = 86400;
  if (!sql_can_parse()) skip();
  for (int has = 0; has < 2; has++) {
    Scene scene;
    BlastRadius radius;
    begin(&scene);
    const char *text = arena_printf(
        &scene.arena,
        "{" META
        ", \"nodes\": {\"model.x.daily\": {\"unique_id\": \"model.x.daily\", \"resource_type\": \"model\", \"name\": "
        "\"daily\", \"relation_name\": \"db.s.daily\", \"config\": {\"materialized\": \"table\"%s}}, \"model.x.week\": "
        "{\"unique_id\": \"model.x.week\", \"resource_type\": \"model\", \"name\": \"week\", \"relation_name\": "
        "\"db.s.week\", "
        "\"depends_on\": {\"nodes\": [\"model.x.daily\"]}, \"config\": {\"materialized\": \"incremental\", "
        "\"incremental_strategy\": \"microbatch\", \"batch_size\": \"day\"}, \"compiled_code\": \"" WEEK "\"}}}",
        has ? ", \"event_time\": \"day\"" : "");
    write_text(&scene, text, strlen(text));
    dbt_read_manifest(scene.graph, scene.path);
    graph_finish(scene.graph);
    LineageAsk ask = {.target = "s.daily",
                      .ranged = true,
                      .range = {0, day},
                      .grain = GRAIN_DAY,
                      .zone = zone_utc(),
                      .now = 90 * day};
    lineage_radius(&scene.arena, scene.graph, NULL, &ask, &radius);
    assert_int_equal(radius.n, 1);
    assert_int_equal(radius.nodes[0].range.to, has ? day : 7 * day);
    end(&scene);
  }
}

static void the_catalog_gives_names(void **state) {
  Scene scene;
  begin(&scene);
  unpack(&scene, "1.12/catalog.json.xz");
  graph_begin(scene.graph, &(GraphSource){.reader = "dbt manifest"});
  add_id(scene.graph, "dbt", "model.flights.daily_delays");
  dbt_read_catalog(scene.graph, scene.path);
  graph_finish(scene.graph);
  assert_int_equal(find_relation(&scene.arena, scene.graph, "analytics.daily_delays"),
                   find_id(scene.graph, "dbt", "model.flights.daily_delays"));
  size_t n;
  const GraphSource *sources = graph_sources(scene.graph, &n);
  assert_null(sources[1].failed);
  assert_string_equal(model(scene.graph, "model.flights.worst_days")->kind, "view");
  end(&scene);
}

/* ---- what nobody should write ------------------------------------------------------------------------------------ */

/* Why the source failed; "" when it did not. */
static const char *fault_of(Scene *scene, const char *text, size_t length) {
  begin(scene);
  write_text(scene, text, length);
  dbt_read_manifest(scene->graph, scene->path);
  graph_finish(scene->graph);
  size_t n;
  const char *failed = graph_sources(scene->graph, &n)->failed;
  return failed == NULL ? "" : failed;
}

static void check_fault(const char *text, size_t length, const char *place, const char *words) {
  Scene scene;
  const char *fault = fault_of(&scene, text, length);
  char *wanted = arena_printf(&scene.arena, "%s:%s: ", scene.path, place);
  if (strncmp(fault, wanted, strlen(wanted)) != 0 || strstr(fault, words) == NULL)
    fail_msg("“%s” is not at %s, or does not say “%s”", fault, place, words);
  end(&scene);
}

static void broken_files_are_named_with_their_place(void **state) {
  check_fault("{\"nodes\": {", 11, "1:12", "ends in the middle");
  check_fault("", 0, "1:1", "ends in the middle");
  check_fault("{\n \"nodes\": {\n  \"a\": tru\n", 26, "3:11", "lexical error");
  check_fault("{\"nodes\": {}} more", 18, "1:16", "trailing garbage");
  check_fault("{\"nodes\": {\"model.x.\xff\": {}}}", 29, "1:22", "UTF8");
  static const char nul[] = "{\"nodes\": {\"m\": {\"unique_id\": \"a\\u0000b\"}}}";
  check_fault(nul, sizeof nul - 1, "1:40", "NUL");
}

static void depth_and_length_have_limits(void **state) {
  enum { DEEP = 100000, LONG = 3000000 };
  char *text = malloc(LONG + 100);
  memcpy(text, "{\"x\": ", 6);
  memset(text + 6, '[', DEEP);
  check_fault(text, 6 + DEEP, "1:518", "nested deeper");
  static const char head[] = "{\"nodes\": {\"m\": {\"name\": \"", tail[] = "\"}}}";
  memcpy(text, head, sizeof head - 1);
  memset(text + sizeof head - 1, 'x', LONG);
  memcpy(text + sizeof head - 1 + LONG, tail, sizeof tail - 1);
  check_fault(text, sizeof head - 1 + LONG + sizeof tail - 1, "1:3000027", "longer than");
  free(text);
}

static void what_is_left_out_is_said(void **state) {
  Scene scene;
  size_t n;
  static const char text[] =
      "{" META
      ", \"nodes\": {\"model.x.a\": {\"unique_id\": \"model.x.a\", \"resource_type\": \"model\", "
      "\"original_file_path\": \"a.sql\"}, \"model.x.a\": {\"unique_id\": \"model.x.a\", \"resource_type\": \"model\", "
      "\"original_file_path\": \"b.sql\", \"depends_on\": {\"nodes\": [\"model.y.b\", \"model.x.a\"]}}, \"n\": {}}}";
  assert_string_equal(fault_of(&scene, text, sizeof text - 1), "");
  const char *const *blinds = graph_blinds(scene.graph, &n);
  assert_int_equal(n, 2);
  assert_non_null(strstr(blinds[0], "1 nodes without unique_id"));
  assert_non_null(strstr(blinds[1], "stand twice, the first is model.x.a"));
  assert_string_equal(model(scene.graph, "model.x.a")->file, "a.sql");
  assert_true(reads(scene.graph, "model.x.a", "model.y.b"));
  assert_true(model(scene.graph, "model.x.a")->reads_itself);
  end(&scene);
  static const char other[] = "{\"metadata\": {}, \"nodes\": {}}";
  assert_non_null(strstr(fault_of(&scene, other, sizeof other - 1), "does not say that it is a manifest"));
  end(&scene);
  static const char newer[] = "{\"metadata\": {\"dbt_schema_version\": \"x/manifest/v13.json\"}}";
  assert_string_equal(fault_of(&scene, newer, sizeof newer - 1), "");
  assert_non_null(strstr(graph_blinds(scene.graph, &n)[0], "version 13"));
  end(&scene);
}

static void what_is_no_file_is_said(void **state) {
  ARENA_SCOPED arena = {0};
  Graph *graph = graph_new(&arena);
  size_t n;
  dbt_read_manifest(graph, "/nowhere/manifest.json");
  dbt_read_manifest(graph, "/tmp");
  dbt_read_manifest(graph, "/dev/zero");
  graph_finish(graph);
  const GraphSource *sources = graph_sources(graph, &n);
  assert_int_equal(n, 3);
  assert_non_null(strstr(sources[0].failed, "No such file"));
  assert_non_null(strstr(sources[1].failed, "directory"));
  assert_non_null(sources[2].failed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_version_of_dbt_is_read),
      cmocka_unit_test(what_newer_versions_know_is_read),
      cmocka_unit_test(tests_of_a_model_are_read),
      cmocka_unit_test(what_a_test_leaves_out_is_read),
      cmocka_unit_test(what_has_no_key_is_appended),
      cmocka_unit_test(sql_of_a_later_run_tells_no_dates),
      cmocka_unit_test(compiled_sql_is_read_at_need),
      cmocka_unit_test(a_microbatch_reads_all_of_what_has_no_event_time),
      cmocka_unit_test(columns_are_read_from_compiled_sql),
      cmocka_unit_test(the_catalog_gives_names),
      cmocka_unit_test(broken_files_are_named_with_their_place),
      cmocka_unit_test(depth_and_length_have_limits),
      cmocka_unit_test(what_is_left_out_is_said),
      cmocka_unit_test(what_is_no_file_is_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
