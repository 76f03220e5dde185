#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "lineage/sql_text.h"

/* "schema.name(a,b)", "name(*)" for all columns, in the order met; "; " between. */
static void put_name(Buf *out, const SqlName *name) {
  if (name->database != NULL) buf_printf(out, "%s.", name->database);
  if (name->schema != NULL) buf_printf(out, "%s.", name->schema);
  buf_puts(out, name->name == NULL ? "-" : name->name);
}

static const char *statement_text(Arena *arena, const SqlStatement *statement) {
  BUF_SCOPED out = {0};
  put_name(&out, &statement->writes);
  buf_printf(&out, "%s <-", statement->reads_itself ? " itself" : "");
  for (size_t i = 0; i < statement->n; i++) {
    const SqlRead *read = &statement->reads[i];
    buf_putc(&out, ' ');
    put_name(&out, &read->table);
    buf_putc(&out, '(');
    for (size_t k = 0; k < read->n && !read->all; k++) buf_printf(&out, "%s%s", k > 0 ? "," : "", read->columns[k]);
    buf_puts(&out, read->all ? "*)" : ")");
  }
  return arena_strdup(arena, buf_text(&out));
}

static const char *script_text(Arena *arena, const SqlScript *script) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < script->n; i++)
    buf_printf(&out, "%s%s", i > 0 ? "; " : "", statement_text(arena, &script->statements[i]));
  return arena_strdup(arena, buf_text(&out));
}

static void names_and_columns(void **state) {
  static const struct {
    const char *sql, *wanted;
  } cases[] = {
      {"CREATE TABLE a AS SELECT x, y FROM b", "a <- b(x,y)"},
      {"CREATE VIEW s.v AS SELECT t.x FROM s.t WHERE t.y > 0", "s.v <- s.t(x,y)"},
      {"INSERT INTO a (p, q) SELECT b.x, count(*) FROM b GROUP BY 1", "a <- b(x)"},
      {"INSERT INTO a SELECT * FROM b", "a <- b(*)"},
      {"INSERT INTO a SELECT b.*, c.z FROM b JOIN c USING (k)", "a <- b(*) c(k,z)"},
      {"INSERT INTO a SELECT x FROM b NATURAL JOIN c", "a <- b(*) c(*)"},
      {"INSERT INTO a SELECT b FROM b", "a <- b(*)"}, /* a whole row */
      {"UPDATE t SET x = u.y FROM u WHERE t.id = u.id", "t <- u(y,id)"},
      {"DELETE FROM a USING b WHERE a.x = b.x", "a <- b(x)"},
      {"MERGE INTO t USING (SELECT id, v FROM s WHERE w) q ON t.id = q.id WHEN MATCHED THEN UPDATE SET v = q.v WHEN "
       "NOT "
       "MATCHED THEN INSERT VALUES (q.id, q.v)",
       "t <- s(id,v,w)"},
      {"CREATE MATERIALIZED VIEW m AS WITH b AS (SELECT x FROM real) SELECT x FROM b", "m <- real(x)"},
      {"WITH b AS (SELECT x FROM real), c AS (SELECT b.x FROM b) INSERT INTO a SELECT x FROM c", "a <- real(x)"},
      {"CREATE TABLE a AS WITH b AS (SELECT 1 AS x) SELECT x FROM s.b", "a <- s.b(x)"}, /* not the WITH table */
      {"CREATE TABLE a AS WITH b AS (SELECT x FROM b) SELECT x FROM b", "a <- b(x)"},
      {"CREATE TABLE a AS WITH RECURSIVE r AS (SELECT x FROM b UNION ALL SELECT r.x FROM r) SELECT * FROM r",
       "a <- b(x)"},
      {"WITH gone AS (DELETE FROM old RETURNING *) INSERT INTO kept SELECT * FROM gone",
       "kept <- old(*); old itself <-"},
      {"CREATE TABLE a AS SELECT x FROM b WHERE EXISTS (SELECT 1 FROM c WHERE c.k = b.k AND w)",
       "a <- b(x,k,w) c(k,w)"},
      {"CREATE TABLE a AS SELECT (SELECT max(z) FROM d) FROM b UNION SELECT y FROM c", "a <- b(z) d(z) c(y)"},
      {"CREATE TABLE a AS SELECT l.v FROM b, LATERAL (SELECT c.v FROM c WHERE c.k = b.k) l", "a <- b(k) c(v,k)"},
      {"CREATE TABLE \"My \"\"Table\" AS SELECT \"Col;1\" FROM \"S\".\"T\"", "My \"Table <- S.T(Col;1)"},
      {"CREATE TABLE A AS SELECT X FROM B", "a <- b(x)"},
      {"CREATE TABLE db.s.a AS SELECT x FROM db.s.b", "db.s.a <- db.s.b(x)"},
      {"INSERT INTO a SELECT coalesce(max(a.x), 0), b.y FROM b, a", "a itself <- b(y)"},
      {"SET search_path TO mart, public; INSERT INTO a SELECT x FROM b; INSERT INTO a SELECT x FROM s.b",
       "mart.a <- mart.b(x); mart.a <- s.b(x)"},
      {"CREATE TEMP TABLE t AS SELECT x FROM b; INSERT INTO t SELECT y FROM c; INSERT INTO a SELECT x FROM t",
       "a <- b(x) c(y)"},
      {"CREATE TEMP TABLE t (x int); INSERT INTO t SELECT y FROM c; INSERT INTO a SELECT x FROM t", "a <- c(y)"},
      {"COPY (SELECT x FROM b) TO '/tmp/x.csv'", "- <- b(x)"},
      {"COPY b TO '/tmp/x.csv'", "- <- b(*)"},
      {"COPY b FROM '/tmp/x.csv'", "b <-"},
      {"SELECT x INTO a FROM b", "a <- b(x)"},
      {"INSERT INTO a SELECT x FROM b ON CONFLICT (k) DO UPDATE SET x = excluded.x", "a <- b(x)"},
      {"INSERT INTO a SELECT x FROM b WHERE d >= :from AND d < :to", "a <- b(x,d)"},
      {"SELECT 1; DROP TABLE a; GRANT SELECT ON b TO c", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ARENA_SCOPED arena = {0};
    SqlScript script = sql_parse(&arena, cases[i].sql);
    if (script.n_unread > 0) fail_msg("%s: %s", cases[i].sql, script.unread[0].why);
    if (strcmp(script_text(&arena, &script), cases[i].wanted) != 0)
      fail_msg("%s:\n%s\n%s", cases[i].sql, script_text(&arena, &script), cases[i].wanted);
  }
}

static const char *dates_text(Arena *arena, const SqlDates *dates) {
  const char *days = dates->days > 0 ? arena_printf(arena, " %dd", dates->days) : "";
  if (dates->earlier > 0) days = arena_printf(arena, "%s -%dd", days, dates->earlier);
  return arena_printf(arena, "%s %d%s%s%s%s", dates->has_grain ? grain_name(dates->grain) : "-", dates->window, days,
                      dates->cumulative ? " cumulative" : "", dates->after ? " after" : "", dates->all ? " all" : "");
}

static void dates_of_statements(void **state) {
  static const struct {
    const char *sql, *wanted;
  } cases[] = {
      {"SELECT flight_date, sum(n) FROM t GROUP BY flight_date", "- 0"},
      {"SELECT flight_date, n FROM t WHERE n > 3", "- 0"},
      {"SELECT date_trunc('month', d), sum(n) FROM t GROUP BY 1", "month 0 all"}, /* d is no name of a date */
      {"SELECT date_trunc('month', flight_date), sum(n) FROM t GROUP BY 1", "month 0"},
      {"SELECT date_trunc('month', flight_date) AS m, sum(n) FROM t GROUP BY 1", "month 0"},
      {"SELECT date_trunc('quarter', flight_date), sum(n) FROM t GROUP BY 1", "year 0"},
      {"SELECT strftime('%Y-%m', flight_date), sum(n) FROM t GROUP BY 1", "month 0"},
      {"SELECT to_char(flight_date, 'YYYY'), sum(n) FROM t GROUP BY to_char(flight_date, 'YYYY')", "year 0"},
      {"SELECT substr(flight_date, 1, 7) AS month, sum(n) FROM t GROUP BY month", "month 0"},
      {"SELECT date(flight_date, 'start of month'), sum(n) FROM t GROUP BY 1", "month 0"},
      {"SELECT extract(year FROM flight_date), extract(month FROM flight_date), sum(n) FROM t GROUP BY 1, 2", "year 0"},
      {"SELECT flight_date FROM t WHERE flight_date >= date_trunc('month', current_date)", "- 0"},
      {"SELECT flight_date, avg(n) OVER (ORDER BY flight_date ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) FROM t", "- 6"},
      {"SELECT flight_date, avg(n) OVER (PARTITION BY o ORDER BY flight_date ROWS 6 PRECEDING) FROM t", "- 6"},
      {"SELECT flight_date, avg(n) OVER w FROM t WINDOW w AS (ORDER BY flight_date RANGE BETWEEN '1 month' PRECEDING "
       "AND "
       "CURRENT ROW)",
       "- 0 31d"},
      {"SELECT flight_date, avg(n) OVER (ORDER BY flight_date RANGE BETWEEN INTERVAL '36 hours' PRECEDING AND CURRENT "
       "ROW) "
       "FROM t",
       "- 0 2d"},
      {"SELECT flight_date, avg(n) OVER (ORDER BY flight_date ROWS BETWEEN 3 PRECEDING AND 3 FOLLOWING) FROM t",
       "- 3 after"},
      {"SELECT flight_date, sum(n) OVER (ORDER BY flight_date) FROM t", "- 0 cumulative"},
      {"SELECT flight_date, sum(n) OVER (PARTITION BY o ORDER BY flight_date ROWS UNBOUNDED PRECEDING) FROM t",
       "- 0 cumulative"},
      {"SELECT flight_date, sum(n) OVER (PARTITION BY date_trunc('month', flight_date) ORDER BY flight_date) FROM t",
       "month 0"},
      {"SELECT flight_date, sum(n) OVER (PARTITION BY flight_date) FROM t", "- 0"},
      {"SELECT flight_date, sum(n) OVER (PARTITION BY origin) FROM t", "- 0 all"},
      {"SELECT flight_date, rank() OVER (PARTITION BY flight_date ORDER BY n) FROM t", "- 0"},
      {"SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY updated_at DESC) AS r FROM t) x WHERE r = "
       "1",
       "- 0 all"},
      {"SELECT flight_date, lag(n, 7) OVER (ORDER BY flight_date) FROM t", "- 7"},
      {"SELECT flight_date, lead(n) OVER (ORDER BY flight_date) FROM t", "- 1 after"},
      {"SELECT a.flight_date, sum(b.n) FROM a JOIN b ON b.flight_date BETWEEN a.flight_date - 6 AND a.flight_date "
       "GROUP BY 1",
       "- 0 6d"},
      {"SELECT a.flight_date, sum(b.n) FROM a JOIN b ON b.flight_date > a.flight_date - INTERVAL '7 days' AND "
       "b.flight_date <= "
       "a.flight_date GROUP BY 1",
       "- 0 7d"},
      {"SELECT a.flight_date, sum(b.n) FROM a JOIN b ON b.flight_date <= a.flight_date GROUP BY 1", "- 0 cumulative"},
      {"SELECT a.flight_date, sum(b.n) FROM a JOIN b ON a.flight_date >= b.flight_date GROUP BY 1", "- 0 cumulative"},
      {"SELECT a.flight_date, sum(b.n) FROM a JOIN b ON a.flight_date < b.flight_date GROUP BY 1", "- 0 after"},
      {"SELECT a.o, sum(b.n) FROM a JOIN b ON a.flight_date < b.flight_date GROUP BY a.flight_date, a.o", "- 0 all"},
      {"SELECT a.flight_date, (SELECT sum(b.n) FROM b WHERE b.flight_date BETWEEN date(a.flight_date, '-6 days') AND "
       "a.flight_date) FROM a",
       "- 0 6d"},
      {"SELECT a.flight_date, sum(b.n) FROM a JOIN b ON b.flight_date <= a.flight_date + 2 AND b.flight_date >= "
       "a.flight_date GROUP BY 1",
       "- 0 2d after"},
      {"SELECT carrier, sum(n) FROM t GROUP BY carrier", "- 0 all"},
      {"SELECT count(*) FROM t", "- 0 all"},
      {"SELECT DISTINCT carrier FROM t", "- 0 all"},
      {"SELECT DISTINCT flight_date FROM t", "- 0"},
      {"SELECT flight_date, carrier, sum(n) FROM t GROUP BY ROLLUP (flight_date, carrier)", "- 0 all"},
      {"SELECT flight_date, n / (SELECT max(n) FROM t) FROM t", "- 0 all"},
      {"SELECT flight_date FROM t WHERE flight_date >= current_date - 3", "- 0"},
      /* dates that are others in the output */
      {"SELECT flight_date + 7 AS flight_date, n FROM t", "- 0 7d"},
      {"SELECT (flight_date - INTERVAL '1 day')::date AS flight_date, n FROM t", "- 0 -1d"},
      {"INSERT INTO w SELECT flight_date - 1, n FROM t", "- 0 -1d"},
      {"INSERT INTO w SELECT date(flight_date, '+1 month'), n FROM t", "- 0 31d"},
      {"SELECT date(flight_date, 'weekday 0', '-6 days') AS week, sum(n) FROM t GROUP BY 1", "- 0 6d -6d"},
      {"SELECT date_trunc('week', flight_date + 1)::date - 1 AS week, sum(n) FROM t GROUP BY 1", "week 0 1d -1d"},
      {"SELECT (sent_at AT TIME ZONE 'America/New_York')::date AS day, count(*) FROM t GROUP BY 1", "- 0 1d -1d"},
      {"SELECT date(sent_at, 'localtime') AS day, count(*) FROM t GROUP BY 1", "- 0 1d -1d"},
      {"SELECT CASE WHEN n < 4 THEN flight_date - 1 ELSE flight_date END AS day, n FROM t", "- 0 all"},
      {"SELECT flight_date - delay AS day, n FROM t", "- 0 all"},
      {"SELECT flight_date, flight_date + delay AS due_date, n - 1 AS n FROM t", "- 0"},
      {"SELECT flight_date, closed_at - opened_at AS took FROM t", "- 0"},
      {"SELECT a.flight_date, b.n FROM a JOIN b ON b.flight_date = a.flight_date", "- 0"},
      {"SELECT a.flight_date, b.n FROM a JOIN b ON b.flight_date = a.flight_date - 364", "- 0 364d"},
      {"SELECT a.flight_date, b.n FROM a JOIN b ON a.flight_date = b.flight_date + 364", "- 0 364d"},
      {"SELECT a.flight_date, b.n FROM a JOIN b ON (b.flight_date - INTERVAL '1 week')::date = a.flight_date",
       "- 0 -7d"},
      {"WITH w AS (SELECT a.flight_date, b.n FROM a JOIN b ON date(a.flight_date, '-1 year') = b.flight_date) "
       "SELECT * FROM w",
       "- 0 366d"},
      {"SELECT flight_date, n FROM a, b WHERE b.flight_date = a.flight_date - 7", "- 0 7d -7d"}, /* of which? */
      {"SELECT a.flight_date, b.n FROM a JOIN b ON b.month = date_trunc('month', a.flight_date)::date", "month 0"},
      {"SELECT a.flight_date, b.n FROM a JOIN b ON b.number = a.number - 1", "- 0"},
      {"SELECT DISTINCT ON (id) id, flight_date, n FROM t ORDER BY id, flight_date DESC", "- 0 all"},
      {"SELECT DISTINCT ON (flight_date, id) id, flight_date, n FROM t ORDER BY flight_date, id", "- 0"},
      {"SELECT flight_date, n FROM t ORDER BY n DESC LIMIT 100", "- 0 all"},
      {"SELECT flight_date, n FROM t ORDER BY n OFFSET 10", "- 0 all"},
      {"SELECT a.flight_date, l.n FROM a, LATERAL (SELECT b.n FROM b WHERE b.flight_date = a.flight_date LIMIT 3) l",
       "- 0"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ARENA_SCOPED arena = {0};
    SqlDates dates = sql_dates_of(&arena, cases[i].sql);
    assert_true(dates.known);
    if (strcmp(dates_text(&arena, &dates), cases[i].wanted) != 0)
      fail_msg("%s:\n%s\n%s", cases[i].sql, dates_text(&arena, &dates), cases[i].wanted);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(names_and_columns), cmocka_unit_test(dates_of_statements)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
