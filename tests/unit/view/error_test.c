#include "view/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/doc.h"

static void an_error_names_place_cause_and_remedy(void **state) {
  (void)state;
  BUF_SCOPED out = {0};
  Error err;
  error_set(&err, ERR_SPEC, "unknown key rnage");
  error_where(&err, "a.yaml", 3, 1);
  error_hint(&err, "did you mean range?");
  strcpy(err.snippet, "rnage: 2013\n^");
  view_error(&(Paint){.out = &out}, &err, NULL, NULL);
  assert_string_equal(buf_text(&out),
                      "tidegate: error: a.yaml:3:1: unknown key rnage\n"
                      "rnage: 2013\n"
                      "^\n"
                      "HINT: did you mean range?\n");
}

static void the_default_hint_names_the_backfill(void **state) {
  (void)state;
  BUF_SCOPED out = {0};
  Error err;
  error_set(&err, ERR_DRIFT, "production changed");
  view_error(&(Paint){.out = &out}, &err, "7f3a", "b.yaml");
  assert_non_null(strstr(buf_text(&out), "tidegate run 7f3a"));
  assert_null(strstr(buf_text(&out), "PLAN"));
}

static void only_whole_words_are_filled_in(void **state) {
  (void)state;
  BUF_SCOPED out = {0};
  Error err;
  error_set(&err, ERR_USAGE, "no");
  error_hint(&err, "PLANS MY_PLAN PLAN.");
  view_error(&(Paint){.out = &out}, &err, "7f3a", NULL);
  assert_non_null(strstr(buf_text(&out), "HINT: PLANS MY_PLAN PLAN.\n"));
}

static void a_pause_is_one_line(void **state) {
  (void)state;
  BUF_SCOPED out = {0};
  Error err;
  error_set(&err, ERR_PAUSED, "production untouched");
  error_hint(&err, "carry on with: tidegate run 7f3a");
  view_error(&(Paint){.out = &out}, &err, NULL, NULL);
  assert_string_equal(buf_text(&out), "tidegate: paused: production untouched; carry on with: tidegate run 7f3a\n");
}

static void a_message_cannot_control_the_terminal(void **state) {
  (void)state;
  BUF_SCOPED out = {0};
  Error err;
  error_set(&err, ERR_USAGE, "no table \x1b[31m");
  view_error(&(Paint){.out = &out}, &err, NULL, NULL);
  assert_null(strchr(buf_text(&out), '\x1b'));
}

static void the_json_is_valid_and_has_everything(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  Json json = {.out = &out};
  Error err;
  const DocNode *root = NULL;
  error_set(&err, ERR_LOCKED, "a \"quoted\"\n\x01 message \xFF");
  json_object(&json, NULL);
  view_error_json(&json, &err, NULL, NULL);
  json_object_end(&json);
  assert_true(doc_parse(&arena, "out", out.data, out.len, &root, &err));
  const DocNode *node = doc_get(root, "error");
  assert_string_equal(doc_text(node, "code", ""), "locked");
  assert_int_equal(doc_int(node, "exit", 0), 6);
  assert_non_null(strstr(doc_text(node, "message", ""), "\"quoted\"\n\x01"));
  assert_string_not_equal(doc_text(node, "hint", ""), "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_error_names_place_cause_and_remedy), cmocka_unit_test(the_default_hint_names_the_backfill),
      cmocka_unit_test(only_whole_words_are_filled_in),        cmocka_unit_test(a_pause_is_one_line),
      cmocka_unit_test(a_message_cannot_control_the_terminal), cmocka_unit_test(the_json_is_valid_and_has_everything)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
