#include "time/text.h"

#include "time_test.h"

static void digits(void **state) {
  assert_int_equal(text_digits("2013", 4), 2013);
  assert_int_equal(text_digits("07", 2), 7);
  assert_int_equal(text_digits("0x", 2), -1);
  assert_int_equal(text_digits("-1", 2), -1);
  assert_int_equal(text_digits("1:", 2), -1);
  assert_int_equal(text_digits("/0", 2), -1);
}

static void parts_of_a_stamp(void **state) {
  static const char text[] = "2013-02-01T05:06:07.25-05:30";
  TextStamp stamp;
  assert_true(text_stamp(text, strlen(text), &stamp));
  assert_int_equal(stamp.civil.day, 1);
  assert_int_equal(stamp.civil.second, 7);
  assert_int_equal(stamp.separator, 'T');
  assert_true(stamp.has_seconds && stamp.has_offset);
  assert_int_equal(stamp.offset, -19800);
  assert_true(text_stamp(text, 16, &stamp));
  assert_false(stamp.has_seconds || stamp.has_offset);
  for (size_t n = 0; n < 16; n++) assert_false(text_stamp(text, n, &stamp));
}

static void written_offsets(void **state) {
  static const struct {
    int offset;
    const char *text;
  } known[] = {{0, "+00:00"}, {-18000, "-05:00"}, {20700, "+05:45"}, {-1800, "-00:30"}, {-17762, "-04:56:02"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    char text[12];
    text_put_offset(text, known[i].offset);
    assert_string_equal(text, known[i].text);
  }
}

static void written_dates_sort_as_dates(void **state) {
  char text[12], before[12] = "";
  for (int64_t days = civil_to_days(1, 1, 1); days <= civil_to_days(10000, 1, 1); days++) {
    Civil civil = civil_from_days(days), back;
    text_put_date(text, &civil);
    if (strcmp(before, text) >= 0) fail_msg("%s after %s", text, before);
    memcpy(before, text, sizeof before);
    if (civil.year <= 9999) assert_true(text_date(text, &back) && back.day == civil.day && back.year == civil.year);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(digits), cmocka_unit_test(parts_of_a_stamp),
                                     cmocka_unit_test(written_offsets), cmocka_unit_test(written_dates_sort_as_dates)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
