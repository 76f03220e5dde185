#include "base/json.h"

#include <math.h>

#include "base/doc.h"
#include "base_test.h"

static void everything_in_one_document(void **state) {
  BUF_SCOPED out = {0};
  Json json = {&out, false};
  json_object(&json, NULL);
  json_text(&json, "t", "x");
  json_int(&json, "i", INT64_MIN);
  json_real(&json, "r", 0.1);
  json_bool(&json, "b", true);
  json_null(&json, "n");
  json_array(&json, "a");
  json_int(&json, NULL, 1);
  json_text(&json, NULL, NULL);
  json_array(&json, NULL);
  json_array_end(&json);
  json_object(&json, NULL);
  json_object_end(&json);
  json_array_end(&json);
  json_raw(&json, "raw", "{\"z\":[]}");
  json_bool(&json, "last", false);
  json_object_end(&json);
  assert_string_equal(buf_text(&out),
                      "{\"t\":\"x\",\"i\":-9223372036854775808,\"r\":0.1,\"b\":true,\"n\":null,"
                      "\"a\":[1,null,[],{}],\"raw\":{\"z\":[]},\"last\":false}");
}

static void what_is_not_a_number_is_null(void **state) {
  BUF_SCOPED out = {0};
  Json json = {&out, false};
  json_array(&json, NULL);
  json_real(&json, NULL, NAN);
  json_real(&json, NULL, INFINITY);
  json_real(&json, NULL, -INFINITY);
  json_real(&json, NULL, -0.5);
  json_array_end(&json);
  assert_string_equal(buf_text(&out), "[null,null,null,-0.5]");
}

static void assert_written(const char *text, const char *expected) {
  BUF_SCOPED out = {0};
  Json json = {&out, false};
  json_text(&json, NULL, text);
  assert_string_equal(buf_text(&out), expected);
}

static void strings_are_escaped(void **state) {
  assert_written("", "\"\"");
  assert_written("a\"b\\c/", "\"a\\\"b\\\\c/\"");
  assert_written("\x01\t\n\r\x1f\x7f", "\"\\u0001\\u0009\\u000a\\u000d\\u001f\x7f\"");
  assert_written("é€😀", "\"é€😀\"");
}

static void bytes_that_are_not_utf8_are_replaced(void **state) {
  assert_written("\xff", "\"\xEF\xBF\xBD\"");
  assert_written("a\xC3", "\"a\xEF\xBF\xBD\"");
  assert_written("\xC0\xAF", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
  assert_written("\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
  assert_written("\xF4\x90\x80\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

static void assert_round_trip(const char *text) {
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  Json json = {&out, false};
  const DocNode *root;
  Error err;
  json_object(&json, NULL);
  json_text(&json, "text", text);
  json_text(&json, text, "as a key");
  json_object_end(&json);
  if (!doc_parse(&arena, "round trip", buf_text(&out), out.len, &root, &err)) fail_msg("%s: %s", text, err.message);
  assert_string_equal(doc_text(root, "text", "absent"), text);
  assert_string_equal(doc_text(root, text, "absent"), "as a key");
}

static void what_is_written_reads_back(void **state) {
  static const char *const texts[] = {"",
                                      " ",
                                      "null",
                                      "~",
                                      "true",
                                      "- a",
                                      "a: b",
                                      "a #b",
                                      "# a",
                                      "*x",
                                      "&x",
                                      "!x",
                                      "%x",
                                      "@x",
                                      "`x",
                                      "{",
                                      "[",
                                      "]",
                                      "}",
                                      ",",
                                      "'",
                                      "\"",
                                      "\\",
                                      "\\u0041",
                                      "/",
                                      "|",
                                      ">",
                                      "? x",
                                      "---",
                                      "...",
                                      "\n",
                                      "a\nb",
                                      "\r\n",
                                      "\ta\t",
                                      "  a  ",
                                      "\x7f",
                                      "\xC2\x80",
                                      "\xC2\x85",
                                      "\xE2\x80\xA8",
                                      "\xE2\x80\xA9",
                                      "\xEF\xBB\xBF",
                                      "\xEF\xBF\xBE",
                                      "é€😀",
                                      "\xF4\x8F\xBF\xBF",
                                      "SELECT 'it''s' AS \"x\"\n  FROM t -- c\n WHERE a >= :from"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) assert_round_trip(texts[i]);
  for (int c = 1; c < 0x80; c++) {
    char text[] = {'a', (char)c, 'b', (char)c, '\0'};
    assert_round_trip(text);
  }
}

static void long_texts_read_back(void **state) {
  char *text = malloc(300001);
  assert_non_null(text);
  for (int i = 0; i < 300000; i++) text[i] = "abc \"\\\n\t:#{["[i % 12];
  text[300000] = '\0';
  assert_round_trip(text);
  free(text);
}

static void numbers_read_back(void **state) {
  static const double reals[] = {0, -0.5, 1e300, 1e-300, 123456789.125, 41.5};
  for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
    ARENA_SCOPED arena = {0};
    BUF_SCOPED out = {0};
    Json json = {&out, false};
    const DocNode *root;
    Error err;
    json_object(&json, NULL);
    json_real(&json, "r", reals[i]);
    json_int(&json, "i", INT64_MAX);
    json_bool(&json, "b", true);
    json_object_end(&json);
    assert_true(doc_parse(&arena, "n", buf_text(&out), out.len, &root, &err));
    assert_true(doc_real(root, "r", -1) == reals[i]);
    assert_true(doc_int(root, "i", 0) == INT64_MAX);
    assert_true(doc_bool(root, "b", false));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everything_in_one_document), cmocka_unit_test(what_is_not_a_number_is_null),
      cmocka_unit_test(strings_are_escaped),        cmocka_unit_test(bytes_that_are_not_utf8_are_replaced),
      cmocka_unit_test(what_is_written_reads_back), cmocka_unit_test(long_texts_read_back),
      cmocka_unit_test(numbers_read_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
