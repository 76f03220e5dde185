#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/buf.h"
#include "engine/sqlite/lex.h"

/* The tokens as "kind:text|…", the kinds by their letters. */
static void assert_tokens(const char *sql, const char *expected) {
  static const char letters[] = {'e', 'w', 'n', 't', 'p', '.', 'o'};
  BUF_SCOPED text = {0};
  Lexer lexer = {.at = sql};
  for (LexToken token; (token = lex_next(&lexer)).kind != LEX_END;) {
    buf_printf(&text, "%s%c:", text.len == 0 ? "" : "|", letters[token.kind]);
    buf_append(&text, token.at, token.n);
  }
  assert_string_equal(buf_text(&text), expected);
}

static void tokens_are_cut_as_sqlite_does(void **state) {
  assert_tokens("SELECT a.b,1e5 FROM t", "w:SELECT|w:a|.:.|w:b|.:,|w:1e5|w:FROM|w:t");
  assert_tokens("'it''s' \"a\"\"b\" `c``d` [e]]f]", "t:'it''s'|n:\"a\"\"b\"|n:`c``d`|n:[e]|.:]|w:f|.:]");
  assert_tokens("a--b'\nc/*d'*/e", "w:a|w:c|w:e");
  assert_tokens("? ?12 :from @a $b::c(d e", "p:?|p:?12|p::from|p:@a|p:$b::c(d|w:e");
  assert_tokens(":x(y') z", "p::x(y')|w:z");
  assert_tokens("Ünï$1", "w:Ünï$1");
  assert_tokens("a 'b", "w:a|o:'b");
  assert_tokens("a /* b", "w:a|o:/* b");
  assert_tokens(" -- only", "");
}

static bool first_names(const char *sql, const char *name) {
  Lexer lexer = {.at = sql};
  LexToken token = lex_next(&lexer);
  return lex_names(&token, name);
}

static void quoted_names_are_compared(void **state) {
  assert_true(first_names("ABC", "abc") && first_names("\"Abc\"", "abc") && first_names("[a b]", "A B"));
  assert_true(first_names("\"a\"\"b\"", "a\"b") && first_names("`a``b`", "a`b") && first_names("\"\"", ""));
  assert_false(first_names("\"abcd\"", "abc") || first_names("\"ab\"", "abc") || first_names("(", "("));
}

/* The next of a fixed row of numbers. */
static unsigned next(unsigned *seed) { return *seed = *seed * 1103515245u + 12345u, *seed >> 16; }

/* What lex_closed lets through never swallows nor ends the statement around it, whatever SQLite makes of it. */
static void what_is_closed_stays_inside(void **state) {
  static const char *const parts[] = {
      "1",    "a", "'", "\"", "`", "[",  "]", "(", ")",        "--", "/*", "*/", "\n",   " ",       ";",     ":x",
      "$y::", "?", "-", "/",  "*", "''", "@", "#", "\xc3\xa4", ",",  "\f", "->", " OR ", "SELECT ", "x'00'", "1e5"};
  sqlite3 *db;
  unsigned seed = 7;
  int prepared = 0;
  assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
  for (int i = 0; i < 100000; i++) {
    BUF_SCOPED piece = {0}, statement = {0};
    Error err;
    int offset;
    for (unsigned n = next(&seed) % 9 + 1; n > 0; n--)
      buf_puts(&piece, parts[next(&seed) % (sizeof parts / sizeof *parts)]);
    if (!lex_closed(buf_text(&piece), "it", &offset, &err)) {
      assert_in_range(offset, 0, piece.len);
      continue;
    }
    sqlite3_stmt *stmt = NULL;
    const char *tail;
    buf_printf(&statement, "SELECT 1, (%s), 2 AS after", buf_text(&piece));
    if (sqlite3_prepare_v2(db, buf_text(&statement), -1, &stmt, &tail) == SQLITE_OK) {
      prepared++;
      if (sqlite3_column_count(stmt) != 3 || *tail != '\0' || strcmp(sqlite3_column_name(stmt, 2), "after") != 0)
        fail_msg("%s", buf_text(&statement));
    }
    sqlite3_finalize(stmt);
  }
  assert_true(prepared > 1000);
  sqlite3_close(db);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tokens_are_cut_as_sqlite_does),
                                     cmocka_unit_test(quoted_names_are_compared),
                                     cmocka_unit_test(what_is_closed_stays_inside)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
