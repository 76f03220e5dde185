#include "open.h"

/* "v view: t(a,b)", one a line; "(*)" when the columns are not known. */
static const char *view_reads(Fixture *f) {
  BUF_SCOPED out = {0};
  const ReadFacts *reads;
  size_t n;
  Error err = {0};
  must(sqlite_view_reads(f->engine, &f->arena, &reads, &n, &err), &err);
  for (size_t i = 0; i < n; i++) {
    buf_printf(&out, "%s %s: %s(", reads[i].reader, reads[i].kind, reads[i].source);
    for (size_t k = 0; k < reads[i].n; k++) buf_printf(&out, "%s%s", k > 0 ? "," : "", reads[i].columns[k]);
    buf_puts(&out, reads[i].columns == NULL ? "*)\n" : ")\n");
  }
  return arena_strdup(&f->arena, buf_text(&out));
}

static void views_read_their_own_sources(void **state) {
  Fixture *f = *state;
  run(f,
      "CREATE TABLE t (a, b, c); CREATE TABLE u (a, x); CREATE VIEW v AS SELECT a FROM t WHERE b > 0;"
      "CREATE VIEW joined AS SELECT v.a, u.x FROM v JOIN u USING (a); CREATE VIEW counted AS SELECT count(*) FROM v;"
      "CREATE VIEW counted_all AS SELECT count(*) FROM t; CREATE VIEW broken AS SELECT nope FROM nowhere;"
      "CREATE VIEW with_cte AS WITH w AS (SELECT c FROM t) SELECT * FROM w; CREATE VIEW \"o\"\"dd\" AS SELECT * FROM "
      "counted");
  assert_string_equal(view_reads(f),
                      "counted_all view: t()\n"
                      "joined view: v(*)\njoined view: u(*)\n"
                      "o\"dd view: counted(count(*))\n"
                      "v view: t(a,b)\n"
                      "with_cte view: t(c)\n"
                      "counted view: v()\n");
}

/* "deed name: t(a,b) u(x)" of every statement that writes, "! why" of one that was not understood, "; " between. */
static const char *scripts(Fixture *f, const char *const *texts, size_t n) {
  BUF_SCOPED out = {0};
  ScriptFacts facts[4];
  Error err = {0};
  must(sqlite_describe_scripts(f->engine, &f->arena, texts, n, facts, &err), &err);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < facts[i].n; k++) {
      const StatementFacts *statement = &facts[i].statements[k];
      assert_true(statement->offset + statement->length <= strlen(texts[i]));
      if (statement->unread == NULL && statement->writes == NULL) continue;
      if (out.len > 0) buf_puts(&out, "; ");
      if (statement->unread != NULL) {
        buf_printf(&out, "! %s", statement->unread);
        continue;
      }
      buf_printf(&out, "%s%s %s:", statement->temporary ? "temp " : "", statement->deed, statement->writes);
      for (size_t r = 0; r < statement->n_reads; r++) {
        buf_printf(&out, " %s(", statement->reads[r].table);
        if (statement->reads[r].columns == NULL) buf_putc(&out, '*');
        for (size_t c = 0; statement->reads[r].columns != NULL && c < statement->reads[r].n; c++)
          buf_printf(&out, "%s%s", c > 0 ? "," : "", statement->reads[r].columns[c]);
        buf_putc(&out, ')');
      }
    }
  return arena_strdup(&f->arena, buf_text(&out));
}

static const char schema[] =
    "CREATE TABLE t (a, b, c); CREATE TABLE u (a PRIMARY KEY, x); CREATE VIEW v AS SELECT a FROM t WHERE b > 0;"
    "INSERT INTO t VALUES (1, 2, 3)";

static void statements_are_understood(void **state) {
  static const struct {
    const char *sql, *wanted;
  } cases[] = {
      {"INSERT INTO u SELECT a, max(b) FROM t GROUP BY 1", "insert u: t(a,b)"},
      {"REPLACE INTO u SELECT a, count(*) FROM v", "insert u: v(a)"},
      {"INSERT INTO u (x) SELECT count(*) FROM v", "insert u: v()"},
      {"UPDATE u SET x = (SELECT b FROM t WHERE t.a = u.a)", "update u: t(b,a) u(a)"},
      {"UPDATE u SET x = t.b FROM t WHERE t.a = u.a", "update u: t(b,a) u(a)"},
      {"DELETE FROM u WHERE a IN (SELECT c FROM t)", "delete u: t(c) u(a)"},
      {"WITH w AS (SELECT c FROM t) INSERT INTO u SELECT c, c FROM w", "insert u: t(c)"},
      {"CREATE TABLE n AS SELECT t.*, u.x FROM t JOIN u USING (a)", "create table as n: t(*) u(*)"},
      {"CREATE TABLE u AS SELECT c FROM t", "create table as u: t(c)"}, /* made anew */
      {"CREATE VIEW IF NOT EXISTS v AS SELECT c FROM t", "create view v: t(c)"},
      {"CREATE VIEW \"w \"\"x\" AS SELECT a FROM v", "create view w \"x: v(a)"},
      {"CREATE TEMP TABLE s AS SELECT c FROM t; INSERT INTO u SELECT c, 1 FROM s",
       "temp create table as s: t(c); insert u: s(c)"},
      {"DROP TABLE IF EXISTS n; CREATE TABLE n (a); INSERT INTO n SELECT b FROM t", "insert n: t(b)"},
      {"BEGIN; PRAGMA foreign_keys = 1; DELETE FROM u; COMMIT; ANALYZE; SELECT * FROM t", "delete u:"},
      {"CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM u; UPDATE u SET x = 1; END; DELETE FROM t", "delete t:"},
      {"INSERT INTO u SELECT * FROM nowhere", "! no such table: nowhere"},
      {"INSERT INTO u SELEC", "! near \"SELEC\": syntax error"},
      {"ATTACH '/tmp/tidegate-never' AS x; -- a comment", ""},
      {"-- nothing\n;;/* */", ""},
      {"INSERT INTO u SELECT a, 'not; closed FROM t", "! unrecognized token: \"'not; closed FROM t\""},
      {"INSERT INTO u SELECT :x, b FROM t WHERE a >= :from; UPDATE u SET x = ?", "insert u: t(b,a); update u:"},
      {"CREATE TABLE endless AS WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT i FROM r",
       "create table as endless:"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Fixture *f = *state;
    if (i == 0) run(f, schema);
    const char *found = scripts(f, &cases[i].sql, 1);
    if (strcmp(found, cases[i].wanted) != 0) fail_msg("%s:\n%s\n%s", cases[i].sql, found, cases[i].wanted);
  }
}

/* What one text makes another may read, whichever comes first; nothing of it happens in the database. */
static void texts_wait_for_one_another(void **state) {
  Fixture *f = *state;
  const char *const texts[] = {"CREATE TABLE c AS SELECT x FROM b", "CREATE TABLE b AS SELECT y AS x FROM a",
                               "CREATE TABLE a AS SELECT a AS y FROM t"};
  run(f, schema);
  assert_string_equal(scripts(f, texts, 3),
                      "create table as c: b(x); create table as b: a(y); create table as a: t(a)");
  const char *const *names;
  size_t n;
  Error err = {0};
  must(sqlite_list_tables(f->engine, &f->arena, &names, &n, &err), &err);
  assert_int_equal(n, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {FIXTURE_TEST(views_read_their_own_sources),
                                     FIXTURE_TEST(statements_are_understood), FIXTURE_TEST(texts_wait_for_one_another)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
