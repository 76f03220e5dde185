#include "view/diff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/doc.h"
#include "scene.h"

static const char *const old_row[] = {"2013-02-01", "UA", "7.3", "x"},
                         *const new_row[] = {"2013-02-01", "UA", NULL, NULL}, *const none[] = {NULL, NULL, NULL, NULL},
                         *const added[] = {"2013-02-02", "B\n6", "1", NULL};
static const ChangeRow rows[] = {
    {.op = 'U', .date = "2013-02-01", .key = "2013-02-01, UA", .old_values = old_row, .new_values = new_row},
    {.op = 'I', .date = "2013-02-02", .key = "2013-02-02, B\n6", .old_values = none, .new_values = added}};
static const ColumnChange columns[] = {{"delay", 2}};

static DiffFacts scene_diff(const Plan *plan) {
  return (DiffFacts){.plan = plan,
                     .id = "7f3a",
                     .state = "ready",
                     .counts = {.inserts = 1, .updates = 2},
                     .columns = columns,
                     .n_columns = 1,
                     .dates = scene_dates,
                     .n_dates = 3,
                     .rows = rows,
                     .n_rows = 2};
}

static void changes_are_counted_by_column_and_date_and_shown(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  Plan plan = scene_plan();
  DiffFacts diff = scene_diff(&plan);
  view_diff(&(Paint){.out = &out}, &arena, &diff);
  assert_string_equal(buf_text(&out),
                      "daily_delays  7f3a  ready\n"
                      "changes   3 changes: 1 insert, 2 updates\n"
                      "columns   delay in 2 rows\n"
                      "dates     2 of 3 dates change\n"
                      "\n"
                      "date        rows  inserts  updates  deletes  moved in  moved out\n"
                      "2013-02-01    10        -        2        -         -          -\n"
                      "2013-02-02     4        1        -        -         -          -\n"
                      "\n"
                      "change  date        key               column  old     new\n"
                      "update  2013-02-01  2013-02-01, UA    delay   7.3  →  NULL\n"
                      "insert  2013-02-02  2013-02-02, B\\n6  delay        →  1\n"
                      "… 2 of 3 changes shown; more: --limit N, one date: --date D\n");
}

static void the_summary_has_examples_of_updates(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  Plan plan = scene_plan();
  DiffFacts diff = scene_diff(&plan);
  view_diff_summary(&(Paint){.out = &out}, &arena, &diff);
  assert_non_null(strstr(buf_text(&out), "example   2013-02-01  2013-02-01, UA  delay 7.3 → NULL\n"));
}

static void the_json_is_valid_and_agrees(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  Plan plan = scene_plan();
  DiffFacts diff = scene_diff(&plan);
  const DocNode *root = NULL;
  Error err;
  Json json = {.out = &out};
  json_object(&json, NULL);
  view_diff_json(&json, &diff);
  json_object_end(&json);
  assert_true(doc_parse(&arena, "out", out.data, out.len, &root, &err));
  assert_int_equal(doc_int(doc_get(root, "changes"), "total", 0), 3);
  assert_int_equal(doc_int(doc_get(root, "columns"), "delay", 0), 2);
  const DocNode *examples = doc_get(root, "examples");
  assert_int_equal(examples->n, 2);
  assert_int_equal(doc_get(&examples->children[1], "old")->kind, DOC_NULL);
  assert_string_equal(doc_text(&examples->children[1], "key", ""), "2013-02-02, B\n6");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(changes_are_counted_by_column_and_date_and_shown),
                                     cmocka_unit_test(the_summary_has_examples_of_updates),
                                     cmocka_unit_test(the_json_is_valid_and_agrees)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
