#include "view/runbook_page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char hostile[] = "<script>alert('x')</script> `|* [a](b) &amp; \x1b[1m \"q\"";

static const char *rendered(Arena *arena, const Page *page, PageFormat format, const char *mark) {
  BUF_SCOPED out = {0};
  page_render(&out, arena, page, format, mark);
  return arena_strdup(arena, buf_text(&out));
}

static void has(const char *text, const char *part) {
  if (strstr(text, part) == NULL) fail_msg("“%s” is not in:\n%s", part, text);
}

static void lacks(const char *text, const char *part) {
  if (strstr(text, part) != NULL) fail_msg("“%s” is in:\n%s", part, text);
}

static Page hostile_page(Arena *arena) {
  Page page = {.arena = arena};
  page_heading(&page, 1, "Runbook of %s", hostile);
  page_heading(&page, 2, "One");
  page_fact(&page, hostile, hostile);
  page_say(&page, PAGE_TEXT, "type `%s` now", hostile);
  page_say(&page, PAGE_NEVER, "do %s", hostile);
  page_code(&page, "sql", "SELECT '```', '<b>';\n\t-- \x1b[2J");
  return page;
}

static void nothing_of_a_value_is_markup(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  Page page = hostile_page(&arena);
  const char *html = rendered(&arena, &page, PAGE_HTML, NULL);
  lacks(html, "<script>alert");
  lacks(html, "\x1b");
  lacks(html, "<b>'");
  has(html, "<title>Runbook of &lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;");
  has(html, "&amp;amp;");
  has(html, "SELECT &#39;```&#39;, &#39;&lt;b&gt;&#39;;\n\t-- \\x1b[2J");
  const char *markdown = rendered(&arena, &page, PAGE_MARKDOWN, NULL);
  lacks(markdown, "\x1b");
  lacks(markdown, " <script>");
  has(markdown, "\\[a\\](b) &amp;amp;");
  has(markdown, "````sql\nSELECT '```', '<b>';"); /* the fence is longer than any inside */
  has(markdown, "type ``<script>alert('x')</script> `|* [a](b)");
  const char *text = rendered(&arena, &page, PAGE_PLAIN, NULL);
  lacks(text, "\x1b");
  has(text, "DO NOT do <script>alert('x')</script>");
}

static void a_table_of_facts_stays_a_table(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  Page page = {.arena = &arena};
  page_fact(&page, "a", "x|y\nz");
  page_fact(&page, "b", NULL);
  page_say(&page, PAGE_ITEM, "one");
  page_say(&page, PAGE_ITEM, "two");
  assert_string_equal(rendered(&arena, &page, PAGE_MARKDOWN, NULL),
                      "| | |\n|---|---|\n| a | x\\|y z |\n| b | not declared |\n\n- one\n- two\n\n");
  has(rendered(&arena, &page, PAGE_HTML, NULL),
      "<table>\n<tr><th scope=\"row\">a</th><td>x|y z</td></tr>\n<tr><th scope=\"row\">b</th><td>not "
      "declared</td></tr>\n</table>\n<ul>\n<li>one</li>\n<li>two</li>\n</ul>\n");
}

static void headings_have_anchors_of_their_own(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  Page page = {.arena = &arena};
  page_heading(&page, 1, "T");
  page_heading(&page, 2, "Look: at it!");
  page_heading(&page, 3, "Look at it");
  page_heading(&page, 3, "Look at it");
  const char *html = rendered(&arena, &page, PAGE_HTML, NULL);
  has(html, "<h2 id=\"look-at-it\">");
  has(html, "<h3 id=\"look-at-it-1\">");
  has(html, "<h3 id=\"look-at-it-2\">");
  has(rendered(&arena, &page, PAGE_MARKDOWN, NULL), "- [Look: at it!](#look-at-it)\n  - [Look at it](#look-at-it-1)\n");
}

static void plain_text_is_80_columns(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  Page page = {.arena = &arena};
  for (int i = 0; i < 40; i++) {
    const char *words = arena_printf(&arena, "%.*s", 40 + i * 5,
                                     "Straße und Größe und so fort, wörtlich genommen, ein "
                                     "Wort nach dem anderen, bis es genug ist, und darüber "
                                     "hinaus noch einige mehr, damit es drei Zeilen werden");
    page_say(&page, i % 2 == 0 ? PAGE_ITEM : PAGE_BEFORE, "%s", words);
    page_fact(&page, "what it is", words);
  }
  const char *text = rendered(&arena, &page, PAGE_PLAIN, NULL);
  for (const char *line = text; *line != '\0';) {
    size_t n = strcspn(line, "\n"), columns = 0;
    for (size_t i = 0; i < n; i++) columns += (line[i] & 0xC0) != 0x80;
    assert_true(columns <= 80);
    line += n + (line[n] == '\n');
  }
}

static void the_digest_leaves_out_what_passes(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  char a[33], b[33], c[33];
  Page one = {.arena = &arena}, two = {.arena = &arena}, three = {.arena = &arena};
  page_fact(&one, "k", "v");
  page_fact(&two, "k", "v");
  two.passing = true;
  page_fact(&two, "next run", "02:00");
  page_fact(&three, "k", "w");
  page_digest(&one, a);
  page_digest(&two, b);
  page_digest(&three, c);
  assert_string_equal(a, b);
  assert_string_not_equal(a, c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_of_a_value_is_markup),       cmocka_unit_test(a_table_of_facts_stays_a_table),
      cmocka_unit_test(headings_have_anchors_of_their_own), cmocka_unit_test(plain_text_is_80_columns),
      cmocka_unit_test(the_digest_leaves_out_what_passes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
