#include "view/outcome.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/doc.h"
#include "scene.h"

static const Conflict conflict_rows[] = {{"changed since", "2013-02-01", "UA"}};

static void a_swap_says_how_to_undo_it_and_what_is_stale(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  Plan plan = scene_plan();
  plan.recompute = "SELECT 1";
  SwapFacts facts = {.counts = {.updates = 221}, .lock_seconds = 0.041, .tries = 1, .verified = true};
  view_swap(&(Paint){.out = &out}, &arena, &plan, "7f3a", &facts);
  assert_string_equal(buf_text(&out),
                      "checked   production unchanged ✓  sources unchanged ✓  idle ✓  counts exact ✓  production is "
                      "what was recomputed ✓\n"
                      "SWAPPED   221 changes: 221 updates, 41 ms under the lock. Undo: tidegate rollback 7f3a\n"
                      "stale     monthly (cascade): it was made from the old rows\n"
                      "          Next: tidegate cascade 7f3a\n");
}

static void a_rollback_shows_what_it_met(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  RollbackFacts facts = {.restored = 220,
                         .left = 1,
                         .arrived = 3,
                         .conflicts = {.count = 2, .rows = conflict_rows, .n = 1},
                         .lock_seconds = 0.005};
  view_rollback(&(Paint){.out = &out}, &arena, "7f3a", &facts);
  assert_string_equal(buf_text(&out),
                      "later     2 rows changed after the swap:\n"
                      "          what           date        key\n"
                      "          changed since  2013-02-01  UA\n"
                      "          … and 1 more\n"
                      "BACK      220 rows put back, 5.0 ms under the lock.\n"
                      "          1 row left as written after the swap.\n"
                      "          3 rows arrived in the range after the swap and stay.\n"
                      "          Next: tidegate swap 7f3a publishes again, tidegate discard 7f3a clears away\n");
}

static void every_outcome_is_valid_json(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  Plan plan = scene_plan();
  BackfillRecord record = {.id = "7f3a", .target = "a \"b\"", .state = "checked"};
  const DocNode *root = NULL;
  Error err;
  Json json = {.out = &out};
  json_array(&json, NULL);
  json_object(&json, NULL);
  view_run_json(&json, "7f3a", &(RunFacts){.counts = {.inserts = 2}, .rows = 20});
  json_object_end(&json);
  json_object(&json, NULL);
  view_swap_json(&json, &plan, "7f3a", &(SwapFacts){.tries = 1});
  json_object_end(&json);
  json_object(&json, NULL);
  view_rollback_json(&json, "7f3a", &(RollbackFacts){.conflicts = {.count = 1, .rows = conflict_rows, .n = 1}});
  json_object_end(&json);
  json_object(&json, NULL);
  view_snapshot_json(&json, &record, &(SnapshotFacts){.rows = 1});
  json_object_end(&json);
  json_object(&json, NULL);
  view_ended_json(&json, &record);
  json_object_end(&json);
  json_array_end(&json);
  assert_true(doc_parse(&arena, "out", out.data, out.len, &root, &err));
  assert_int_equal(root->n, 5);
  assert_int_equal(doc_int(doc_get(&root->children[0], "changes"), "total", 0), 2);
  assert_int_equal(doc_get(&root->children[1], "stale")->n, 1);
  assert_int_equal(doc_int(doc_get(&root->children[2], "conflicts"), "count", 0), 1);
  assert_string_equal(doc_text(&root->children[4], "target", ""), "a \"b\"");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_swap_says_how_to_undo_it_and_what_is_stale),
                                     cmocka_unit_test(a_rollback_shows_what_it_met),
                                     cmocka_unit_test(every_outcome_is_valid_json)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
