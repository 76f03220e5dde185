#include "spec_test.h"

static void nearest_names(void **state) {
  static const char *const names[] = {"target", "range", "wrong", "correct", "recompute", "date_column", "zone"};
  static const struct {
    const char *word, *nearest;
  } cases[] = {{"range", "range"},
               {"rnage", "range"},
               {"taget", "target"},
               {"TARGET", "target"},
               {"ranges", "range"},
               {"worng", "wrong"},
               {"recomputation", NULL},
               {"datecolumn", "date_column"},
               {"date-column", "date_column"},
               {"xyzzy", NULL},
               {"schedule", NULL},
               {"", NULL},
               {"timezone", NULL},
               {"tone", "zone"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *nearest = spec_nearest(cases[i].word, names, sizeof names / sizeof *names);
    if (cases[i].nearest == NULL ? nearest != NULL : nearest == NULL || strcmp(nearest, cases[i].nearest) != 0)
      fail_msg("%s gives %s", cases[i].word, nearest == NULL ? "nothing" : nearest);
  }
}

static void the_first_of_equally_near_ones(void **state) {
  static const char *const names[] = {"bat", "cat", "hat"};
  assert_string_equal(spec_nearest("rat", names, 3), "bat");
  assert_string_equal(spec_nearest("hat", names, 3), "hat");
  assert_null(spec_nearest("rat", names, 0));
}

static void a_third_of_a_long_word(void **state) {
  static const char *const name[] = {"abcdefghijkl"};
  assert_non_null(spec_nearest("abcdefghXXXX", name, 1));
  assert_null(spec_nearest("abcdefgXXXXX", name, 1));
}

static void words_longer_than_any_name(void **state) {
  char word[1000];
  const char *names[] = {word, "ab"};
  memset(word, 'x', sizeof word - 1);
  word[sizeof word - 1] = '\0';
  assert_null(spec_nearest(word, names, 2));
  assert_string_equal(spec_nearest("abc", names, 2), "ab");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nearest_names),
      cmocka_unit_test(the_first_of_equally_near_ones),
      cmocka_unit_test(a_third_of_a_long_word),
      cmocka_unit_test(words_longer_than_any_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
