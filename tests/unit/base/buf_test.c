#include "base/buf.h"

#include "base_test.h"

static void an_empty_buffer_reads_as_an_empty_text(void **state) {
  BUF_SCOPED buf = {0};
  assert_string_equal(buf_text(&buf), "");
  buf_append(&buf, NULL, 0);
  assert_string_equal(buf_text(&buf), "");
  buf_clear(&buf);
  buf_release(&buf);
  buf_release(&buf);
}

static void what_is_appended_stays_in_order(void **state) {
  BUF_SCOPED buf = {0};
  buf_puts(&buf, "a");
  buf_putc(&buf, 'b');
  buf_append(&buf, "cde", 2);
  buf_printf(&buf, "%d%s", 12, "f");
  buf_printf(&buf, "%s", "");
  assert_string_equal(buf_text(&buf), "abcd12f");
  assert_int_equal(buf.len, 7);
}

static void bytes_may_be_nul(void **state) {
  BUF_SCOPED buf = {0};
  buf_append(&buf, "a\0b", 3);
  assert_int_equal(buf.len, 3);
  assert_memory_equal(buf.data, "a\0b", 4);
}

static void it_grows_and_stays_terminated(void **state) {
  BUF_SCOPED buf = {0};
  for (int i = 0; i < 100000; i++) {
    buf_putc(&buf, (char)('a' + i % 26));
    if (buf.data[buf.len] != '\0') fail();
  }
  assert_int_equal(buf.len, 100000);
  assert_int_equal(buf.data[99999], 'a' + 99999 % 26);
}

static void a_long_printf_fits(void **state) {
  BUF_SCOPED buf = {0};
  buf_printf(&buf, "%300d|%5000s|", 7, "x");
  assert_int_equal(buf.len, 300 + 1 + 5000 + 1);
  assert_int_equal(buf.data[299], '7');
}

static void clear_keeps_the_memory(void **state) {
  BUF_SCOPED buf = {0};
  buf_puts(&buf, "abc");
  const char *data = buf.data;
  buf_clear(&buf);
  assert_string_equal(buf_text(&buf), "");
  buf_puts(&buf, "d");
  assert_ptr_equal(buf.data, data);
  assert_string_equal(buf_text(&buf), "d");
}

static void beyond_the_limit(void) {
  Buf buf = {0};
  buf_append(&buf, "", BUF_MAX);
}

static void the_limit_ends_the_process(void **state) {
  assert_int_equal(exit_status_of(beyond_the_limit), error_exit_status(ERR_MEMORY));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_empty_buffer_reads_as_an_empty_text),
      cmocka_unit_test(what_is_appended_stays_in_order),
      cmocka_unit_test(bytes_may_be_nul),
      cmocka_unit_test(it_grows_and_stays_terminated),
      cmocka_unit_test(a_long_printf_fits),
      cmocka_unit_test(clear_keeps_the_memory),
      cmocka_unit_test(the_limit_ends_the_process),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
