#include "cascade/cascade.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { DAY = 86400, FEBRUARY = 15737 }; /* the day number of 2013-02-01 */

typedef struct Scene {
  Arena arena;
  ShapeColumn columns[2];
  Shape shape;
  Spec spec;
  Plan plan;
  BackfillRecord record;
  Graph *graph;
  LineageNode node;
  CascadeStep step;
  Cascade cascade;
  CascadeChild child;
} Scene;

static void set_scene(Scene *scene, const char *name) {
  *scene = (Scene){0};
  scene->columns[0] = (ShapeColumn){.name = "day", .type = "TEXT", .given = true};
  scene->columns[1] = (ShapeColumn){.name = "id", .type = "INTEGER"};
  scene->shape = (Shape){.table = name,
                         .columns = scene->columns,
                         .n = 2,
                         .codec = {.kind = DATE_TEXT, .grain = GRAIN_DAY, .zone = zone_utc()}};
  scene->plan.shape.table = "daily";
  scene->plan.spec.wrong.text = "it said “0”\n\"quoted\": {x}";
  scene->plan.spec.correct.text = "what the ledger says";
  scene->record = (BackfillRecord){.id = "7f3a"};
  scene->graph = graph_new(&scene->arena);
  graph_begin(scene->graph, &(GraphSource){.reader = "test"});
  NodeId id = graph_node(scene->graph, &(GraphName){.table = name});
  graph_facts(scene->graph, id)->unique_key = "day, id";
  graph_facts(scene->graph, id)->file = "models/a\nrange: 1900-01-01.sql";
  graph_finish(scene->graph);
  scene->plan.radius.graph = scene->graph;
  scene->node = (LineageNode){.name = name, .id = id};
  scene->step =
      (CascadeStep){.node = &scene->node, .table = name, .query.sql = "SELECT day, id\r\nFROM daily\n\nWHERE 1"};
  scene->cascade = (Cascade){.steps = &scene->step, .n = 1, .parent = &scene->plan, .record = &scene->record};
  scene->child = (CascadeChild){.shape = &scene->shape, .spec = &scene->spec};
}

static const char *draft(Scene *scene) {
  const Instant from = (Instant)FEBRUARY * DAY;
  return cascade_draft(&scene->arena, &scene->cascade, &scene->step, &scene->child, (DateRange){from, from + 28 * DAY},
                       (DateRange){from + 28 * DAY, from + 35 * DAY});
}

/* Whatever names and words hold, the draft is one spec that says what was meant. */
static void a_draft_is_a_spec(void **state) {
  static const char *const names[] = {"weekly", "we\"ek'ly", "a: b # c", "two\nlines", "ü", "{x}", "- y", "<script>"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    Scene scene;
    Spec spec;
    Error err = {0};
    set_scene(&scene, names[i]);
    const char *text = draft(&scene);
    bool ok = spec_parse(&scene.arena, "draft.yaml", text, NULL, NULL, &spec, &err);
    if (!ok) fail_msg("%s: %s\n%s", names[i], err.message, text);
    assert_string_equal(spec.target.text, names[i]);
    assert_string_equal(spec.follows.text, "7f3a");
    assert_string_equal(spec.range.text, "2013-02-01..2013-02-28");
    assert_string_equal(spec.control.text, "2013-03-01..2013-03-07");
    assert_non_null(strstr(spec.wrong.text, scene.plan.spec.wrong.text));
    assert_string_equal(spec.date_column.text, "day");
    assert_int_equal(spec.key.n, 2);
    assert_string_equal(spec.recompute.sql.text,
                        "SELECT * FROM (\nSELECT day, id\nFROM daily\n\nWHERE 1\n) AS everything\n"
                        "WHERE \"day\" >= :from AND \"day\" < :to\n");
    arena_release(&scene.arena);
  }
}

/* A spec takes whole weeks by their first and last day. */
static void weeks_are_written_as_a_person_writes_them(void **state) {
  const Instant monday = (Instant)(FEBRUARY - 4) * DAY;
  Scene scene;
  Spec spec;
  DateRange range;
  Error err = {0};
  set_scene(&scene, "weekly");
  scene.shape.codec.grain = GRAIN_WEEK;
  const char *text =
      cascade_draft(&scene.arena, &scene.cascade, &scene.step, &scene.child, (DateRange){monday, monday + 14 * DAY},
                    (DateRange){monday + 14 * DAY, monday + 21 * DAY});
  if (!spec_parse(&scene.arena, "draft.yaml", text, NULL, NULL, &spec, &err)) fail_msg("%s\n%s", err.message, text);
  assert_string_equal(spec.range.text, "2013-01-28..2013-02-10");
  assert_string_equal(spec.control.text, "2013-02-11..2013-02-17");
  assert_true(date_range_parse(spec.range.text, GRAIN_WEEK, zone_utc(), &range, &err));
  assert_int_equal(range.from, monday);
  assert_int_equal(range.to, monday + 14 * DAY);
  arena_release(&scene.arena);
}

/* What is handed to its own tool has its control dates in the range, and a command that any word may stand in. */
static void a_draft_for_a_tool_is_a_spec(void **state) {
  static const char line[] = "dbt run --select \"a b\" --vars '{x: #1}' --event-time-start {from}\n| tee \\log";
  Scene scene;
  Spec spec;
  Error err = {0};
  set_scene(&scene, "weekly");
  scene.step.query.sql = NULL;
  scene.step.line = line;
  const char *text = draft(&scene);
  if (!spec_parse(&scene.arena, "draft.yaml", text, NULL, NULL, &spec, &err)) fail_msg("%s\n%s", err.message, text);
  assert_null(spec.control.text);
  assert_true(spec.recompute.shell);
  assert_int_equal(spec.recompute.command.n, 1);
  assert_string_equal(spec.recompute.command.items[0].text, line);
  assert_string_equal(spec.range.text, "2013-02-01..2013-03-07");
  assert_int_equal(spec.n_changes, 3);
  for (size_t i = 0; i < spec.n_changes; i++) assert_string_equal(spec.changes[i].where.text, "\"day\" < '2013-03-01'");
  assert_false(cascade_draft_edited(text));
  arena_release(&scene.arena);
}

/* A list of the draft's own would take the place of tidegate.yaml's: that one's stand in it. */
static void tests_of_dbt_are_checks(void **state) {
  static const DbtCheck checks[] = {{.name = "a_\n\"b", .sql = "\"id\" IN ('#', '\"')"},
                                    {.name = "c", .sql = "count(id) = count(DISTINCT id)", .total = true},
                                    {.name = "d e", .why = "only\nwarns"}};
  Scene scene;
  Spec spec;
  Error err = {0};
  SpecText own = {.text = "id > 0"};
  set_scene(&scene, "weekly");
  scene.spec.row_checks = (SpecTexts){&own, 1};
  scene.child.checks = checks;
  scene.child.n_checks = 3;
  const char *text = draft(&scene);
  if (!spec_parse(&scene.arena, "draft.yaml", text, NULL, NULL, &spec, &err)) fail_msg("%s\n%s", err.message, text);
  assert_int_equal(spec.row_checks.n, 2);
  assert_string_equal(spec.row_checks.items[0].text, "id > 0");
  assert_string_equal(spec.row_checks.items[1].text, checks[0].sql);
  assert_int_equal(spec.total_checks.n, 1);
  assert_string_equal(spec.total_checks.items[0].text, checks[1].sql);
  assert_non_null(strstr(text, "\n# Not held against dbt's test d e, which only warns: dbt test --select 'd e'\n"));
  scene.child.checks = checks + 2;
  scene.child.n_checks = 1;
  assert_null(strstr(draft(&scene), "\nchecks:"));
  arena_release(&scene.arena);
}

/* Without a key `changes` holds nothing against the control dates: they are not written then. */
static void a_tool_without_a_key_has_no_control(void **state) {
  Scene scene;
  Spec spec;
  Error err = {0};
  set_scene(&scene, "weekly");
  scene.columns[1].name = "other";
  scene.step.query.sql = NULL;
  scene.step.line = "make it";
  const char *text = draft(&scene);
  if (!spec_parse(&scene.arena, "draft.yaml", text, NULL, NULL, &spec, &err)) fail_msg("%s\n%s", err.message, text);
  assert_string_equal(spec.range.text, "2013-02-01..2013-02-28");
  assert_null(spec.changes[0].where.text);
  assert_non_null(strstr(text, "# No control dates: without a key"));
  scene.child.keyed = true;
  assert_non_null(strstr(draft(&scene), "range: 2013-02-01..2013-03-07\n"));
  arena_release(&scene.arena);
}

static void what_is_said_elsewhere_is_left_out(void **state) {
  Scene scene;
  SpecText key = {.text = "id"};
  set_scene(&scene, "weekly");
  scene.spec.key = (SpecTexts){&key, 1};
  scene.spec.date_column.text = "day";
  const char *text = draft(&scene);
  assert_null(strstr(text, "\nkey:"));
  assert_null(strstr(text, "date_column"));
  arena_release(&scene.arena);
}

/* A key that is an expression is not one of columns. */
static void a_key_of_no_columns_is_left_out(void **state) {
  Scene scene;
  set_scene(&scene, "weekly");
  scene.columns[1].name = "other";
  assert_null(strstr(draft(&scene), "\nkey:"));
  arena_release(&scene.arena);
}

static void a_change_by_hand_is_seen(void **state) {
  Scene scene;
  set_scene(&scene, "weekly");
  const char *text = draft(&scene);
  assert_false(cascade_draft_edited(text));
  assert_true(cascade_draft_edited(arena_printf(&scene.arena, "%s# mine\n", text)));
  assert_true(cascade_draft_edited("target: weekly\n"));
  assert_true(cascade_draft_edited(""));
  assert_true(cascade_draft_edited("# Drafted by tidegate cascade 7f3a\ntarget: (weekly)\n"));
  arena_release(&scene.arena);
}

static void a_file_has_a_plain_name(void **state) {
  Scene scene;
  set_scene(&scene, "../a b/.c\"");
  const char *odd = cascade_file_name(&scene.arena, &scene.step);
  assert_memory_equal(odd, "_._a_b_.c_-", 11);
  assert_int_equal(strspn(odd, "abcdefghijklmnopqrstuvwxyz0123456789._-"), strlen(odd));
  scene.node.name = "../a b/_c\"";
  assert_string_not_equal(cascade_file_name(&scene.arena, &scene.step), odd);
  scene.node.name = "analytics.airport_days";
  assert_string_equal(cascade_file_name(&scene.arena, &scene.step), "analytics.airport_days.yaml");
  arena_release(&scene.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_draft_is_a_spec),
                                     cmocka_unit_test(weeks_are_written_as_a_person_writes_them),
                                     cmocka_unit_test(a_draft_for_a_tool_is_a_spec),
                                     cmocka_unit_test(a_tool_without_a_key_has_no_control),
                                     cmocka_unit_test(tests_of_dbt_are_checks),
                                     cmocka_unit_test(what_is_said_elsewhere_is_left_out),
                                     cmocka_unit_test(a_key_of_no_columns_is_left_out),
                                     cmocka_unit_test(a_change_by_hand_is_seen),
                                     cmocka_unit_test(a_file_has_a_plain_name)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
