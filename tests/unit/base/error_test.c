#include <ctype.h>
#include <stdio.h>

#include "base_test.h"

static void set_fills_and_returns_false(void **state) {
  Error err;
  memset(&err, 0x7F, sizeof err);
  assert_false(error_set(&err, ERR_DRIFT, "%d rows of %s", 3, "flights"));
  assert_int_equal(err.code, ERR_DRIFT);
  assert_string_equal(err.message, "3 rows of flights");
  assert_string_equal(err.where, "");
  assert_string_equal(err.snippet, "");
  assert_string_equal(err.hint, "");
}

static void a_hint_replaces_the_default(void **state) {
  Error err;
  error_set(&err, ERR_USAGE, "no");
  assert_string_equal(error_hint_text(&err), "see: tidegate --help");
  assert_false(error_hint(&err, "type %s", "this"));
  assert_string_equal(error_hint_text(&err), "type this");
}

static void where_leaves_out_what_is_not_known(void **state) {
  Error err;
  error_set(&err, ERR_SPEC, "no");
  assert_false(error_where(&err, "a.yaml", 3, 7));
  assert_string_equal(err.where, "a.yaml:3:7");
  error_where(&err, "a.yaml", 3, 0);
  assert_string_equal(err.where, "a.yaml:3");
  error_where(&err, "a.yaml", 0, 7);
  assert_string_equal(err.where, "a.yaml");
}

static void wrap_puts_the_context_before(void **state) {
  Error err;
  error_set(&err, ERR_DATABASE, "inner");
  error_hint(&err, "keep");
  assert_false(error_wrap(&err, "batch %d", 4));
  assert_string_equal(err.message, "batch 4: inner");
  error_wrap(&err, "run");
  assert_string_equal(err.message, "run: batch 4: inner");
  assert_string_equal(err.hint, "keep");
  assert_int_equal(err.code, ERR_DATABASE);
}

static void long_texts_are_cut_and_terminated(void **state) {
  Error err;
  char text[5000];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  error_set(&err, ERR_SPEC, "%s", text);
  assert_int_equal(strlen(err.message), sizeof err.message - 1);
  error_wrap(&err, "c");
  assert_int_equal(strlen(err.message), sizeof err.message - 1);
  assert_memory_equal(err.message, "c: xxx", 6);
  error_wrap(&err, "%s", text);
  assert_int_equal(strlen(err.message), sizeof err.message - 1);
  error_hint(&err, "%s", text);
  assert_int_equal(strlen(err.hint), sizeof err.hint - 1);
  error_where(&err, text, 1, 2);
  assert_int_equal(strlen(err.where), sizeof err.where - 1);
}

static void every_code_has_a_word_of_its_own(void **state) {
  for (int i = ERR_NONE; i < ERR_COUNT_; i++) {
    const char *word = error_word((ErrorCode)i);
    assert_true(*word != '\0');
    for (const char *c = word; *c != '\0'; c++) assert_true(islower(*c) || *c == '_');
    for (int j = ERR_NONE; j < i; j++) assert_string_not_equal(word, error_word((ErrorCode)j));
  }
}

static void exit_statuses_tell_the_truth(void **state) {
  assert_int_equal(error_exit_status(ERR_NONE), 0);
  assert_int_equal(error_exit_status(ERR_SPEC), 2);
  assert_int_equal(error_exit_status(ERR_DENIED), 3);
  for (int i = ERR_NONE + 1; i < ERR_COUNT_; i++) {
    int status = error_exit_status((ErrorCode)i);
    assert_in_range(status, 1, 125); /* 126 and above mean something else to a shell */
    Error err = {.code = (ErrorCode)i};
    assert_true(*error_hint_text(&err) != '\0');
  }
}

static void out_of_memory(void) { error_out_of_memory(); }

static void exhaustion_has_its_own_status(void **state) {
  assert_int_equal(exit_status_of(out_of_memory), error_exit_status(ERR_MEMORY));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(set_fills_and_returns_false),        cmocka_unit_test(a_hint_replaces_the_default),
      cmocka_unit_test(where_leaves_out_what_is_not_known), cmocka_unit_test(wrap_puts_the_context_before),
      cmocka_unit_test(long_texts_are_cut_and_terminated),  cmocka_unit_test(every_code_has_a_word_of_its_own),
      cmocka_unit_test(exit_statuses_tell_the_truth),       cmocka_unit_test(exhaustion_has_its_own_status),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
