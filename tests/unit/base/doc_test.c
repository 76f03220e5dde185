#include "base/doc.h"

#include <stdio.h>

#include "base_test.h"

static const DocNode *read_bytes(Arena *arena, const char *text, size_t length) {
  const DocNode *root;
  Error err;
  if (!doc_parse(arena, "f.yaml", text, length, &root, &err)) fail_msg("%s: %s", err.where, err.message);
  return root;
}

static const DocNode *read_text(Arena *arena, const char *text) { return read_bytes(arena, text, strlen(text)); }

static void assert_place(const DocNode *node, int line, int column) {
  assert_int_equal(node->line, line);
  assert_int_equal(node->column, column);
}

static void refuse_bytes(const char *text, size_t length, Error *ret_err) {
  ARENA_SCOPED arena = {0};
  const DocNode *untouched = (const DocNode *)&arena, *root = untouched;
  if (doc_parse(&arena, "f.yaml", text, length, &root, ret_err)) fail_msg("not refused: %s", text);
  assert_ptr_equal(root, untouched);
  assert_int_equal(ret_err->code, ERR_SPEC);
  assert_true(*ret_err->hint != '\0');
}

static void assert_refused(const char *text, const char *where, const char *message, const char *snippet) {
  Error err;
  refuse_bytes(text, strlen(text), &err);
  assert_string_equal(err.where, where);
  if (strstr(err.message, message) == NULL) fail_msg("“%s” is not in “%s”", message, err.message);
  assert_string_equal(err.snippet, snippet);
}

/* ---- what is read ------------------------------------------------------------------------------------------------ */

static void a_tree_with_places(void **state) {
  ARENA_SCOPED arena = {0};
  const DocNode *root =
      read_text(&arena, "a: 1\nlist:\n- x\n- é: {ü: \"q\"}\n- [p, 'r']\nempty:\nnone: ~\ntext: \"~\"\n");
  assert_int_equal(root->kind, DOC_MAPPING);
  assert_null(root->key);
  assert_int_equal(root->n, 5);
  assert_place(root, 1, 1);
  const DocNode *list = doc_get(root, "list"), *inner = &list->children[1].children[0];
  assert_int_equal(list->kind, DOC_SEQUENCE);
  assert_int_equal(list->n, 3);
  assert_int_equal(list->key_line, 2);
  assert_int_equal(list->key_column, 1);
  assert_null(list->children[0].key);
  assert_place(&list->children[0], 3, 3);
  assert_string_equal(inner->key, "é");
  assert_place(inner, 4, 6);
  assert_place(&inner->children[0], 4, 10);
  assert_true(inner->children[0].quoted);
  assert_string_equal(list->children[2].children[1].text, "r");
  assert_int_equal(doc_get(root, "empty")->kind, DOC_NULL);
  assert_place(doc_get(root, "empty"), 6, 1);
  assert_int_equal(doc_get(root, "none")->kind, DOC_NULL);
  assert_int_equal(doc_get(root, "text")->kind, DOC_SCALAR);
  assert_string_equal(doc_text(root, "text", ""), "~");
}

static void blocks_keep_their_lines_and_places(void **state) {
  ARENA_SCOPED arena = {0};
  const DocNode *root =
      read_text(&arena, "sql: |\n  SELECT 1,\n    2 -- c\nfold: >-\n\n   a\n   b\nnothing: |\nz: 1\n");
  const DocNode *sql = doc_get(root, "sql");
  assert_string_equal(sql->text, "SELECT 1,\n  2 -- c\n");
  assert_true(sql->quoted);
  assert_place(sql, 2, 3);
  assert_string_equal(doc_text(root, "fold", ""), "\na b");
  assert_place(doc_get(root, "fold"), 5, 4);
  assert_string_equal(doc_text(root, "nothing", "absent"), "");
}

static void texts_in_single_quotes(void **state) {
  static const struct {
    const char *written, *text;
  } cases[] = {{"''", ""},
               {"'it''s'", "it's"},
               {"''''", "'"},
               {"'a''''''b'", "a'''b"},
               {"''''''''''''''''''''''''''", "''''''''''''"},
               {"' a  b '", " a  b "},
               {"'a\\n\"b'", "a\\n\"b"},
               {"'a \n  b'", "a b"},
               {"'a\t\r\n\r\n \n  b'", "a\n\nb"},
               {"'\n  '", " "},
               {"'a''\n  ''b'", "a' 'b"},
               {"'a  \n '", "a "},
               {"'é\n  😀'", "é 😀"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ARENA_SCOPED arena = {0};
    const DocNode *root = read_text(&arena, arena_printf(&arena, "k: %s\nz: 1\n", cases[i].written));
    assert_string_equal(doc_text(root, "k", "absent"), cases[i].text);
    assert_string_equal(doc_text(root, "z", "absent"), "1");
  }
}

static void what_only_looks_like_nothing(void **state) {
  ARENA_SCOPED arena = {0};
  const DocNode *root = read_text(&arena, "[null, Null, NULL, ~, 'null', nULL, none, \"\"]");
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(root->children[i].kind, DOC_NULL);
    assert_null(root->children[i].text);
  }
  for (size_t i = 4; i < 8; i++) assert_int_equal(root->children[i].kind, DOC_SCALAR);
}

static void line_ends_of_other_systems(void **state) {
  ARENA_SCOPED arena = {0};
  const DocNode *root = read_text(&arena, "a: 1\r\nb: |\r\n  x\r\n  y\r\nc: 2\r\n");
  assert_string_equal(doc_text(root, "b", ""), "x\ny\n");
  assert_place(doc_get(root, "c"), 5, 4);
  root = read_text(&arena, "a: 1\rb: 2\r");
  assert_place(doc_get(root, "b"), 2, 4);
}

static void a_byte_order_mark_is_skipped(void **state) {
  ARENA_SCOPED arena = {0};
  const DocNode *root = read_text(&arena,
                                  "\xEF\xBB\xBF"
                                  "a: 1\n");
  assert_string_equal(doc_text(root, "a", ""), "1");
  assert_place(doc_get(root, "a"), 1, 4);
  assert_refused(
      "\xEF\xBB\xBF"
      "a: @x\n",
      "f.yaml:1:4", "in quotes", "a: @x\n   ^");
}

static void empty_documents(void **state) {
  ARENA_SCOPED arena = {0};
  static const char *const texts[] = {"", "\n", "# only a comment\n", "---\n", "\xEF\xBB\xBF", "null", "  \n\n"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    assert_int_equal(read_text(&arena, texts[i])->kind, DOC_NULL);
  assert_place(read_text(&arena, ""), 1, 1);
}

static void a_text_alone_is_a_document(void **state) {
  ARENA_SCOPED arena = {0};
  assert_string_equal(read_text(&arena, "just text")->text, "just text");
}

static void json_escapes(void **state) {
  ARENA_SCOPED arena = {0};
  const DocNode *root = read_text(&arena, "{\"a\":\"\\u00e9\\u0001\\n\\/\\ud83d\\ude00\",\"b\":[1,-2.5e3,true,null]}");
  assert_string_equal(doc_text(root, "a", ""), "é\x01\n/😀");
  assert_string_equal(doc_get(root, "b")->children[1].text, "-2.5e3");
  assert_int_equal(doc_get(root, "b")->children[3].kind, DOC_NULL);
}

static void text_need_not_be_terminated(void **state) {
  ARENA_SCOPED arena = {0};
  char *text = malloc(4);
  assert_non_null(text);
  memcpy(text, "a: b", 4);
  assert_string_equal(doc_text(read_bytes(&arena, text, 4), "a", ""), "b");
  free(text);
}

static void large_documents(void **state) {
  ARENA_SCOPED arena = {0};
  char *text = malloc(20 * 100000), *end = text;
  assert_non_null(text);
  for (int i = 0; i < 100000; i++) end += sprintf(end, "key%d: %d\n", i, i);
  const DocNode *root = read_bytes(&arena, text, (size_t)(end - text));
  assert_int_equal(root->n, 100000);
  assert_place(&root->children[99999], 100000, 11);
  assert_string_equal(root->children[99999].text, "99999");
  free(text);
}

static void lookups(void **state) {
  ARENA_SCOPED arena = {0};
  const DocNode *root =
      read_text(&arena, "i: -42\nr: 2.5\nyes: true\nno: false\nbad: 12x\nbig: 99999999999999999999\nl: [1]\nn:\n");
  assert_null(doc_get(root, "absent"));
  assert_null(doc_get(NULL, "a"));
  assert_null(doc_get(doc_get(root, "l"), "a"));
  assert_null(doc_get(doc_get(root, "i"), "a"));
  assert_int_equal(doc_int(root, "i", 7), -42);
  assert_int_equal(doc_int(root, "bad", 7), 7);
  assert_int_equal(doc_int(root, "big", 7), 7);
  assert_int_equal(doc_int(root, "n", 7), 7);
  assert_int_equal(doc_int(root, "l", 7), 7);
  assert_true(doc_real(root, "r", 0) == 2.5);
  assert_true(doc_real(root, "bad", 0.5) == 0.5);
  assert_true(doc_bool(root, "yes", false));
  assert_false(doc_bool(root, "no", true));
  assert_true(doc_bool(root, "bad", true));
  assert_null(doc_text(root, "n", NULL));
  assert_string_equal(doc_text(root, "l", "other"), "other");
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static void syntax_errors_in_plain_words(void **state) {
  assert_refused("a: [1, 2\nb: 3\n", "f.yaml:1:4", "never closed", "a: [1, 2\n   ^");
  assert_refused("a: {b: [c\n", "f.yaml:1:8", "never closed", "a: {b: [c\n       ^");
  assert_refused("a: \"abc\n", "f.yaml:1:5", "quote that opens here", "a: \"abc\n    ^");
  assert_refused("a: 'abc", "f.yaml:1:5", "quote that opens here", "a: 'abc\n    ^");
  assert_refused("a: 1\n b: 2\n", "f.yaml:1:4", "runs on into the next line", "a: 1\n   ^");
  assert_refused("a: b: c\n", "f.yaml:1:5", "a second “: ”", "a: b: c\n    ^");
  assert_refused("a: %x\n", "f.yaml:1:4", "in quotes", "a: %x\n   ^");
  assert_refused("a: - x\n", "f.yaml:1:4", "list cannot begin", "a: - x\n   ^");
  assert_refused("{\"a\": 1]\n", "f.yaml:1:8", "closes another kind", "{\"a\": 1]\n       ^");
  assert_refused("x: \"\\q\"\n", "f.yaml:1:5", "escape", "x: \"\\q\"\n    ^");
  assert_refused("x: {\n  a: b\n", "f.yaml:1:4", "a comma is missing here, or a closing", "x: {\n   ^");
  assert_refused("x: {a: b c: d}\n", "f.yaml:1:11", "a comma is missing", "x: {a: b c: d}\n          ^");
  assert_refused("\"a\" b: 1\n", "f.yaml:1:5", "after the closing quote", "\"a\" b: 1\n    ^");
  assert_refused("a: *\n", "f.yaml:1:5", "begins an alias", "a: *\n    ^");
  assert_refused("a: & b\n", "f.yaml:1:5", "begins an anchor", "a: & b\n    ^");
  assert_refused("a: 1\nb\n", "f.yaml:2:1", "neither", "b\n^");
  assert_refused("%YAML 3.0\n---\na: 1\n", "f.yaml:1:1", "version", "%YAML 3.0\n^");
  assert_refused("%YAML 1.1\n---\na: 1\n", "f.yaml:1:1", "YAML 1.1", "%YAML 1.1\n^");
}

static void tabs_keep_the_caret_right(void **state) {
  assert_refused("a:\n\tb: 1\n", "f.yaml:2:1", "tab", " b: 1\n^");
  assert_refused("ä: \"ü\t\\q\"\n", "f.yaml:1:7", "escape", "ä: \"ü \\q\"\n      ^");
}

static void keys_given_twice(void **state) {
  Error err;
  assert_refused("a: 1\nb: 2\na: 3\nb: 4\n", "f.yaml:3:1", "“a” is given twice: it stands in line 1", "a: 3\n^");
  assert_refused("x: {b: 1, 'b': 2}\n", "f.yaml:1:11", "“b” is given twice", "x: {b: 1, 'b': 2}\n          ^");
  assert_refused("[{\"\": 1, \"\": 2}]", "f.yaml:1:10", "given twice", "[{\"\": 1, \"\": 2}]\n         ^");
  refuse_bytes("a: 1\na: 1\n", 10, &err);
  assert_string_equal(err.hint, "keep one of the two lines");
}

static void keys_that_are_not_texts(void **state) {
  assert_refused("? [a]\n: 1\n", "f.yaml:1:3", "a key must be", "? [a]\n  ^");
  assert_refused("{a: 1}: 2\n", "f.yaml:1:1", "a key must be", "{a: 1}: 2\n^");
  assert_refused(": 2\n", "f.yaml:1:1", "a key must be", ": 2\n^");
}

static void aliases_anchors_tags_and_documents(void **state) {
  assert_refused("a: *x\n", "f.yaml:1:5", "aliases", "a: *x\n    ^");
  assert_refused("a: &x 1\nb: *x\n", "f.yaml:1:5", "aliases", "a: &x 1\n    ^");
  assert_refused("b:\n  a: &x [1]\n", "f.yaml:2:7", "aliases", "  a: &x [1]\n      ^");
  assert_refused("a: !!str 1\n", "f.yaml:1:4", "tags", "a: !!str 1\n   ^");
  assert_refused("a: 1\n---\nb: 2\n", "f.yaml:2:1", "second document", "---\n^");
}

static void bytes_that_are_not_text(void **state) {
  Error err;
  refuse_bytes("a: 1\nb\0c", 8, &err);
  assert_string_equal(err.where, "f.yaml:2:2");
  assert_string_equal(err.snippet, "b?c\n ^");
  assert_non_null(strstr(err.message, "0x00"));
  refuse_bytes("a: \x1b[31mred\n", 13, &err);
  assert_string_equal(err.where, "f.yaml:1:4");
  assert_null(strchr(err.snippet, '\x1b'));
  assert_refused("a: \xff\n", "f.yaml:1:4", "0xFF", "a: ?\n   ^");
  assert_refused("é\xC3", "f.yaml:1:2", "0xC3", "é?\n ^");
  assert_refused("a: \xED\xA0\x80\n", "f.yaml:1:4", "0xED", "a: ???\n   ^");
  refuse_bytes(
      "\xFF\xFE"
      "a\0:\0",
      6, &err);
  assert_string_equal(err.where, "f.yaml:1:1");
  assert_string_equal(err.hint, "save the file as UTF-8 text");
}

static void escapes_that_are_not_characters(void **state) {
  assert_refused("a: \"x\\0\"\n", "f.yaml:1:4", "not a character", "a: \"x\\0\"\n   ^");
  assert_refused("a: \"\\u0000\"\n", "f.yaml:1:4", "not a character", "a: \"\\u0000\"\n   ^");
  assert_refused("a: \"\\ud800\"\n", "f.yaml:1:5", "not a character", "a: \"\\ud800\"\n    ^");
  assert_refused("{\"\\0\": 1}\n", "f.yaml:1:2", "not a character", "{\"\\0\": 1}\n ^");
}

static void what_libfyaml_gets_wrong(void **state) {
  assert_refused("a: \"x\n  y\"\n", "f.yaml:1:4", "must end in the line", "a: \"x\n   ^");
  assert_refused("a: \"x\\\n  y\"\n", "f.yaml:1:4", "must end in the line", "a: \"x\\\n   ^");
  assert_refused("a: >-\n  q\n\n   x\n", "f.yaml:2:1", "folded block", "  q\n^");
  assert_refused("a: >\n  q\n   x\n", "f.yaml:2:1", "folded block", "  q\n^");
}

static void nesting_has_a_limit(void **state) {
  char text[3 * DOC_MAX_DEPTH];
  ARENA_SCOPED arena = {0};
  memset(text, '[', DOC_MAX_DEPTH);
  memset(text + DOC_MAX_DEPTH, ']', DOC_MAX_DEPTH);
  assert_int_equal(read_bytes(&arena, text, 2 * DOC_MAX_DEPTH)->kind, DOC_SEQUENCE);
  Error err;
  memset(text, '[', DOC_MAX_DEPTH + 1);
  memset(text + DOC_MAX_DEPTH + 1, ']', DOC_MAX_DEPTH + 1);
  refuse_bytes(text, 2 * DOC_MAX_DEPTH + 2, &err);
  assert_string_equal(err.where, "f.yaml:1:65");
  assert_non_null(strstr(err.message, "64 levels"));
  char *deep = malloc(200000);
  assert_non_null(deep);
  for (int i = 0; i < 200000; i++) deep[i] = i % 2 == 0 ? '-' : ' ';
  refuse_bytes(deep, 200000, &err);
  assert_string_equal(err.where, "f.yaml:1:129");
  free(deep);
}

static void size_has_a_limit(void **state) {
  size_t length = (size_t)DOC_MAX_BYTES + 1;
  char *text = malloc(length);
  Error err;
  assert_non_null(text);
  memset(text, '#', length);
  refuse_bytes(text, length, &err);
  assert_string_equal(err.where, "f.yaml");
  assert_non_null(strstr(err.message, "64 MiB"));
  free(text);
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static void an_error_can_be_made_of_itself(void **state) {
  Error err;
  error_set(&err, ERR_USAGE, "inner");
  assert_false(doc_error(&err, "f.yaml", "a: 1\nb: 2\n", 2, 4, "outer: %s", err.message));
  assert_int_equal(err.code, ERR_SPEC);
  assert_string_equal(err.message, "outer: inner");
  assert_string_equal(err.where, "f.yaml:2:4");
  assert_string_equal(err.snippet, "b: 2\n   ^");
}

static void places_that_do_not_exist(void **state) {
  Error err;
  doc_error(&err, "f.yaml", "a: 1\n", 1, 99, "x");
  assert_string_equal(err.snippet, "a: 1\n    ^");
  doc_error(&err, "f.yaml", "a: 1\n", 99, 3, "x");
  assert_string_equal(err.snippet, "\n^");
  doc_error(&err, "f.yaml", NULL, 1, 1, "x");
  assert_string_equal(err.snippet, "");
  doc_error(&err, "f.yaml", "a: 1\n", 0, 0, "x");
  assert_string_equal(err.snippet, "");
  assert_string_equal(err.where, "f.yaml");
}

static void long_lines_are_cut_around_the_column(void **state) {
  char line[1001], expected[400];
  Error err;
  for (int i = 0; i < 1000; i++) line[i] = (char)('a' + i % 26);
  line[1000] = '\0';
  doc_error(&err, "f", line, 1, 5, "x");
  snprintf(expected, sizeof expected, "%.100s…\n    ^", line);
  assert_string_equal(err.snippet, expected);
  doc_error(&err, "f", line, 1, 501, "x");
  snprintf(expected, sizeof expected, "…%.100s…\n%61s^", line + 440, "");
  assert_string_equal(err.snippet, expected);
  doc_error(&err, "f", line, 1, 1000, "x");
  snprintf(expected, sizeof expected, "…%s\n%61s^", line + 939, "");
  assert_string_equal(err.snippet, expected);
}

static void the_widest_snippet_fits(void **state) {
  char line[4 * 500 + 1];
  Error err;
  for (int i = 0; i < 500; i++) memcpy(line + 4 * i, "😀", 4);
  line[2000] = '\0';
  doc_error(&err, "f", line, 1, 250, "x");
  assert_in_range(strlen(err.snippet), 4 * 100, sizeof err.snippet - 1);
  assert_int_equal(err.snippet[strlen(err.snippet) - 1], '^');
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_tree_with_places),
      cmocka_unit_test(blocks_keep_their_lines_and_places),
      cmocka_unit_test(texts_in_single_quotes),
      cmocka_unit_test(what_only_looks_like_nothing),
      cmocka_unit_test(line_ends_of_other_systems),
      cmocka_unit_test(a_byte_order_mark_is_skipped),
      cmocka_unit_test(empty_documents),
      cmocka_unit_test(a_text_alone_is_a_document),
      cmocka_unit_test(json_escapes),
      cmocka_unit_test(text_need_not_be_terminated),
      cmocka_unit_test(large_documents),
      cmocka_unit_test(lookups),
      cmocka_unit_test(syntax_errors_in_plain_words),
      cmocka_unit_test(tabs_keep_the_caret_right),
      cmocka_unit_test(keys_given_twice),
      cmocka_unit_test(keys_that_are_not_texts),
      cmocka_unit_test(aliases_anchors_tags_and_documents),
      cmocka_unit_test(bytes_that_are_not_text),
      cmocka_unit_test(escapes_that_are_not_characters),
      cmocka_unit_test(what_libfyaml_gets_wrong),
      cmocka_unit_test(nesting_has_a_limit),
      cmocka_unit_test(size_has_a_limit),
      cmocka_unit_test(an_error_can_be_made_of_itself),
      cmocka_unit_test(places_that_do_not_exist),
      cmocka_unit_test(long_lines_are_cut_around_the_column),
      cmocka_unit_test(the_widest_snippet_fits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
