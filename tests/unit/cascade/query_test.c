#include "cascade/cascade.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void what_fills_a_table(void **state) {
  static const struct {
    const char *statement, *query;
  } cases[] = {
      {"SELECT 1", "SELECT 1"},
      {"-- the days\n\n  with d as (select 1 as x) select x from d;\n", "with d as (select 1 as x) select x from d"},
      {"INSERT INTO t SELECT a FROM b", "SELECT a FROM b"},
      {"insert or replace into \"select\" (a, b) select a, b from c;", "select a, b from c"},
      {"INSERT INTO t(a) SELECT a FROM b ON CONFLICT (a) DO UPDATE SET a = excluded.a", "SELECT a FROM b"},
      {"INSERT INTO t SELECT a FROM b JOIN c ON b.x = c.x RETURNING a", "SELECT a FROM b JOIN c ON b.x = c.x"},
      {"CREATE TABLE t AS WITH d AS (SELECT 1) SELECT * FROM d", "WITH d AS (SELECT 1) SELECT * FROM d"},
      {"CREATE TABLE IF NOT EXISTS s.t AS /* select */ SELECT 'a; with' FROM b; DROP TABLE b",
       "SELECT 'a; with' FROM b"},
      {"SELECT $$with$$ AS a, ';' AS b FROM c -- end", "SELECT $$with$$ AS a, ';' AS b FROM c -- end"},
      {"UPDATE t SET a = (SELECT max(a) FROM b)", NULL},
      {"DELETE FROM t", NULL},
      {"MERGE INTO t USING (SELECT 1) s ON t.a = s.a WHEN MATCHED THEN DELETE", NULL},
      {"WITH d AS (SELECT 1) INSERT INTO t SELECT * FROM d", NULL},
      {"INSERT INTO t VALUES (1)", NULL},
      {"'never closed SELECT", NULL},
      {"/* never closed SELECT", NULL},
      {"", NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Arena arena = {0};
    const char *query = cascade_query(&arena, cases[i].statement).sql;
    if (cases[i].query == NULL)
      assert_null(query);
    else
      assert_string_equal(query == NULL ? "(none)" : query, cases[i].query);
    arena_release(&arena);
  }
  Arena arena = {0};
  assert_null(cascade_query(&arena, NULL).sql);
  arena_release(&arena);
}

/* An INSERT fills columns by their place; a query or CREATE TABLE … AS names them. */
static void which_columns_it_fills(void **state) {
  static const struct {
    const char *statement, *columns; /* "": by place, without names; NULL: by name */
  } cases[] = {
      {"SELECT (1) AS a", NULL},
      {"CREATE TABLE t (a) AS SELECT 1", NULL},
      {"INSERT INTO t SELECT (1)", ""},
      {"INSERT INTO t (a, b) SELECT 1, 2", "a, b"},
      {"insert or replace into \"t(\" /* ( */ (\"a)\", b) select 1, (2)", "\"a)\", b"},
      {"REPLACE INTO t(a) WITH x (y) AS (SELECT 1) SELECT y FROM x", "a"},
      {"INSERT INTO t (a) OVERRIDING SYSTEM VALUE SELECT 1", "a"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Arena arena = {0};
    CascadeQuery query = cascade_query(&arena, cases[i].statement);
    assert_int_equal(query.by_place, cases[i].columns != NULL);
    if (query.by_place) assert_string_equal(query.columns == NULL ? "" : query.columns, cases[i].columns);
    if (!query.by_place) assert_null(query.columns);
    arena_release(&arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_fills_a_table), cmocka_unit_test(which_columns_it_fills)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
