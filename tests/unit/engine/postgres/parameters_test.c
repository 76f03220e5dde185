#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "engine/postgres/parameters.h"

/* The tokens as "kind:text|…", the kinds by their letters. */
static void assert_tokens(const char *sql, const char *expected) {
  static const char letters[] = {'e', 'w', 'i', 'n', 't', 'p', '.', 'o'};
  BUF_SCOPED text = {0};
  PgLexer lexer = {.at = sql};
  for (PgToken token; (token = pg_lex_next(&lexer)).kind != PG_LEX_END;) {
    buf_printf(&text, "%s%c:", text.len == 0 ? "" : "|", letters[token.kind]);
    buf_append(&text, token.at, token.n);
  }
  assert_string_equal(buf_text(&text), expected);
}

static void tokens_are_cut_as_the_server_does(void **state) {
  assert_tokens("SELECT a.b,1e5 FROM t", "w:SELECT|w:a|.:.|w:b|.:,|i:1|w:e5|w:FROM|w:t");
  assert_tokens("'it''s' \"a\"\"b\" U&\"d\\0061\" u&'x\\'", "t:'it''s'|n:\"a\"\"b\"|n:U&\"d\\0061\"|t:u&'x\\'");
  assert_tokens("'a\\' E'b\\'c' e'\\\\' nE'\\' b", "t:'a\\'|t:E'b\\'c'|t:e'\\\\'|w:nE|t:'\\'|w:b");
  assert_tokens("B'1' X'f' N'n' $$a'b$$ $t$ $$ $u$ $t$ a$b$c",
                "t:B'1'|t:X'f'|t:N'n'|t:$$a'b$$|t:$t$ $$ $u$ $t$|w:a$b$c");
  assert_tokens("a--b'\nc/*d/*'*/e*/f--\rg", "w:a|w:c|w:f|w:g");
  assert_tokens("a*/*b*/c", "w:a|.:*|w:c");
  assert_tokens("1$$a$$ 12E'\\''", "i:1|t:$$a$$|i:12|t:E'\\''");
  assert_tokens("$1 :from ::date x:=:to a[1:2] a[:n]",
                "p:$1|p::from|.:::|w:date|w:x|.::=|p::to|w:a|.:[|i:1|.::|i:2|.:]|w:a|.:[|p::n|.:]");
  assert_tokens("E'a' --x'\n 'b\\'c' d", "t:E'a' --x'\n 'b\\'c'|w:d");
  assert_tokens("E'a' 'b\\' c", "t:E'a'|t:'b\\'|w:c");
  assert_tokens("a 'b", "w:a|o:'b");
  assert_tokens("a /* /* b */", "w:a|o:/* /* b */");
  assert_tokens("$a$ $b$ $", "o:$a$ $b$ $");
  assert_tokens(" -- only", "");
}

static void assert_open(const char *sql, int offset, const char *part) {
  Error err = {0};
  int at = -2;
  assert_false(pg_lex_closed(sql, "the condition", &at, &err));
  assert_int_equal(err.code, ERR_SPEC);
  if (strstr(err.message, part) == NULL) fail_msg("“%s” is not in “%s”", part, err.message);
  assert_int_equal(at, offset);
}

static void what_could_leave_its_parentheses_is_refused(void **state) {
  Error err = {0};
  int at;
  assert_true(pg_lex_closed("a > (1) AND b <> ';)' -- ok )\n AND $$)$$ = c", "the condition", &at, &err));
  assert_open("a) OR (b", 1, "closes a parenthesis");
  assert_open("(a", 0, "opens a parenthesis");
  assert_open("a; DROP TABLE t", 3, "several statements");
  assert_open("a ;", 2, "ends in ';'");
  assert_open("a -- b", 6, "ends in a comment");
  assert_open("a /* /* */", 2, "never closed");
  assert_open("a = E'\\'", 4, "never closed");
  assert_open("a = $x$ $$", 4, "never closed");
  assert_open(" /* nothing */ ", 15, "is empty");
}

static void parameters_are_replaced_outside_texts_and_comments(void **state) {
  ARENA_SCOPED arena = {0};
  static const char *const pairs[] = {":from", "(1)", ":k", "(2)"};
  assert_string_equal(pg_replace(&arena, "SELECT :from::date, ':from', a[1:k], :froms, \":k\", x::k -- :k", pairs, 2),
                      "SELECT (1)::date, ':from', a[1(2)], :froms, \":k\", x::k -- :k\n");
  assert_string_equal(pg_replace(&arena, "/* :k /* */ :k */ :k $$:k$$E'\\':k'", pairs, 2),
                      "/* :k /* */ :k */ (2) $$:k$$E'\\':k'\n");
  assert_string_equal(pg_replace(&arena, "", NULL, 0), "\n");
}

static void places_are_found_again(void **state) {
  ARENA_SCOPED arena = {0};
  static const char *const pairs[] = {":from", "('2024-07-01'::date)", ":k", ""};
  PgReplaced replaced = pg_replace_places(&arena, "é :from x :k y", pairs, 2);
  assert_string_equal(replaced.sql, "é ('2024-07-01'::date) x  y\n");
  assert_int_equal(pg_own_offset(&replaced, -1), -1);
  assert_int_equal(pg_own_offset(&replaced, 0), 0);
  assert_int_equal(pg_own_offset(&replaced, 3), 3);
  assert_int_equal(pg_own_offset(&replaced, 15), 3);
  assert_int_equal(pg_own_offset(&replaced, (int)(strchr(replaced.sql, 'x') - replaced.sql)), 9);
  assert_int_equal(pg_own_offset(&replaced, (int)(strchr(replaced.sql, 'y') - replaced.sql)), 14);
  assert_int_equal(pg_own_offset(&replaced, (int)strlen(replaced.sql)), -1);
}

static const char *in_form(Arena *arena, DateCodec codec, const char *type, DateRange range) {
  return pg_parameters(arena, ":from :to :from_date :to_date :from_unix :to_unix", &codec, type, range);
}

static void literals_have_the_form_of_the_column(void **state) {
  ARENA_SCOPED arena = {0};
  Error err = {0};
  const Zone *york;
  assert_true(zone_open(&arena, "America/New_York", &york, &err));
  DateRange july = {1719792000, 1719878400}; /* 2024-07-01Z, 2024-07-02Z */
  DateRange local = {1719806400, 1719892800};
  DateCodec day = {.kind = DATE_TEXT, .grain = GRAIN_DAY, .zone = zone_utc()};
  DateCodec stamp = {.kind = TIMESTAMP_TEXT, .grain = GRAIN_DAY, .zone = york, .separator = ' '};
  DateCodec millis = {.kind = UNIX_MILLIS, .grain = GRAIN_DAY, .zone = zone_utc()};
  assert_string_equal(in_form(&arena, day, "date", july),
                      "('2024-07-01'::date) ('2024-07-02'::date) ('2024-07-01'::date) ('2024-07-02'::date) "
                      "('1719792000'::bigint) ('1719878400'::bigint)\n");
  assert_string_equal(in_form(&arena, stamp, "timestamp with time zone", local),
                      "('2024-07-01 04:00:00+00'::timestamp with time zone) "
                      "('2024-07-02 04:00:00+00'::timestamp with time zone) ('2024-07-01'::date) ('2024-07-02'::date) "
                      "('1719806400'::bigint) ('1719892800'::bigint)\n");
  assert_string_equal(pg_date_literal(&arena, &stamp, "timestamp(3) without time zone", local.from),
                      "('2024-07-01 04:00:00'::timestamp(3) without time zone)");
  assert_string_equal(pg_date_literal(&arena, &day, "character varying(10)", july.from), "('2024-07-01'::text)");
  assert_string_equal(pg_date_literal(&arena, &day, "character(10)", july.from), "('2024-07-01'::bpchar)");
  assert_string_equal(pg_date_literal(&arena, &millis, "bigint", july.from), "('1719792000000'::bigint)");
  assert_string_equal(pg_date_literal(&arena, &day, "date", INSTANT_MAX + 1), "('10000-01-01'::date)");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tokens_are_cut_as_the_server_does),
      cmocka_unit_test(what_could_leave_its_parentheses_is_refused),
      cmocka_unit_test(parameters_are_replaced_outside_texts_and_comments),
      cmocka_unit_test(places_are_found_again),
      cmocka_unit_test(literals_have_the_form_of_the_column),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
