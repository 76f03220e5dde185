#include "changes.h"

/* A second way to get the values of changed rows. */

static Finding ask(Fixture *f, const Shape *shape, const char *sql, size_t n, int64_t *ret_asked) {
  Finding finding;
  Error err = {0};
  must(pg_ask_oracle(f->engine, &f->arena, shape, id, NULL, sql, n, ret_asked, &finding, &err), &err);
  return finding;
}

/* 300 rows on ten dates; a tenth of them is wrong by one, one is new, one goes, one moves. */
static Fixture *many(void **state, Shape *ret) {
  Fixture *f = fixture_of(state);
  run(f,
      "CREATE TABLE t (d date NOT NULL, region varchar(5) NOT NULL, k int NOT NULL, v numeric(10,2), f float8, j json, "
      "c char(4), t text, PRIMARY KEY (region, k))");
  run(f,
      "CREATE TABLE source AS SELECT '2024-01-01'::date + i % 10 AS d, 'r' || i % 3 AS region, i AS k, i * 1.10 AS v, "
      "i::float8 AS f, json_build_object('i', i) AS j, 'x' || i AS c, CASE WHEN i % 2 = 0 THEN '' END AS t FROM "
      "generate_series(1, 300) AS i");
  run(f,
      "INSERT INTO t SELECT d, region, k, v + CASE WHEN k % 10 < 3 THEN 1 ELSE 0 END, f, j, c, t FROM source "
      "WHERE k <> 7");
  run(f, "UPDATE t SET d = d + 1 WHERE k = 15");
  run(f, "INSERT INTO t VALUES ('2024-01-03', 'r0', 0)");
  *ret = shape_of(f, "t", "d", "region,k", NULL);
  stage(f, ret, "SELECT * FROM source WHERE d >= :from AND d < :to");
  return f;
}

static const char right[] = "SELECT s.v, j, f, c, t FROM source AS s WHERE s.region = :region AND k = :k -- one row";

static void an_oracle_that_agrees(void **state) {
  Shape shape;
  int64_t asked;
  Fixture *f = many(state, &shape);
  assert_string_equal(one(f, arena_printf(&f->arena,
                                          "SELECT string_agg(op || n, ' ' ORDER BY op::text) FROM (SELECT op, count(*) "
                                          "AS n FROM %s GROUP BY 1) AS c",
                                          changes)),
                      "D1 I1 M1 U90");
  Finding finding = ask(f, &shape, right, 1000, &asked);
  assert_int_equal(asked, 92);
  assert_int_equal(finding.count, 0);
  assert_int_equal(finding.n, 0);
}

static const Example *example_of(const Finding *finding, const char *key, const char *column) {
  for (size_t i = 0; i < finding->n; i++)
    if (strcmp(finding->examples[i].key, key) == 0 && strcmp(finding->examples[i].column, column) == 0)
      return &finding->examples[i];
  fail_msg("no example of %s, %s", key, column);
  return NULL;
}

static void what_it_says_otherwise_is_shown(void **state) {
  Shape shape;
  int64_t asked;
  Fixture *f = many(state, &shape);
  Finding finding = ask(f, &shape,
                        "SELECT v + CASE k WHEN 20 THEN 0.01 ELSE 0 END AS v, CASE k WHEN 21 THEN NULL ELSE "
                        "t END AS t, CASE k WHEN 22 THEN ' ' ELSE t END AS t2 FROM source WHERE region = "
                        ":region AND k = :k AND k <> 30",
                        1000, &asked);
  assert_int_equal(finding.count, 3);
  assert_int_equal(finding.n, 3);
  const Example *gone = example_of(&finding, "r0, 30", "v"), *other = example_of(&finding, "r2, 20", "v");
  assert_string_equal(gone->date, "2024-01-01");
  assert_string_equal(gone->old_value, "33.00");
  assert_null(gone->new_value);
  assert_string_equal(other->old_value, "22.00");
  assert_string_equal(other->new_value, "22.01");
  assert_null(example_of(&finding, "r0, 30", "t")->new_value);
  finding = ask(f, &shape, "SELECT 0 AS v", 1000, &asked);
  assert_int_equal(finding.count, 92);
  assert_int_equal(finding.n, 20);
}

static void equal_is_what_production_calls_equal(void **state) {
  Shape shape;
  int64_t asked;
  Fixture *f = many(state, &shape);
  /* scale, trailing spaces of char(n), the sign of zero */
  assert_int_equal(
      ask(f, &shape, "SELECT v::numeric(20,6) AS v, c || '  ' AS c, f - 0 AS f FROM source WHERE k = :k", 1000, &asked)
          .count,
      0);
  assert_int_equal(ask(f, &shape, "SELECT j::text || ' ' AS j FROM source WHERE k = :k", 1000, &asked).count, 92);
  assert_int_equal(ask(f, &shape, "SELECT f + 0.001 AS f FROM source WHERE k = :k", 1000, &asked).count, 92);
  ShapeColumn *columns = (ShapeColumn *)shape.columns;
  for (size_t i = 0; i < shape.n; i++)
    if (strcmp(columns[i].name, "f") == 0) columns[i].tolerance = 0.01;
  assert_int_equal(ask(f, &shape, "SELECT f + 0.001 AS f FROM source WHERE k = :k", 1000, &asked).count, 0);
}

static const char *asked_keys(Fixture *f, const Shape *shape, size_t n, int64_t *ret_asked) {
  BUF_SCOPED out = {0};
  Finding finding = ask(f, shape, "SELECT NULL::numeric AS v WHERE :k > 0", n, ret_asked);
  for (size_t i = 0; i < finding.n; i++) buf_printf(&out, "%s;", finding.examples[i].key);
  return arena_strdup(&f->arena, buf_text(&out));
}

static void a_sample_is_spread_and_can_be_drawn_again(void **state) {
  Shape shape;
  int64_t asked;
  Fixture *f = many(state, &shape);
  const char *keys = asked_keys(f, &shape, 10, &asked);
  assert_true(asked >= 10 && asked <= 13);
  assert_string_equal(keys, asked_keys(f, &shape, 10, &asked));
  assert_has(keys, "r1, 7;");  /* the only new row */
  assert_has(keys, "r0, 15;"); /* the only move */
  assert_int_equal(ask(f, &shape, "SELECT NULL::date AS d", 1, &asked).count, 3);
  assert_int_equal(asked, 3);
  /* dates: three hold thirty changes each */
  Finding finding = ask(f, &shape, "SELECT NULL::date AS d", 9, &asked);
  int on[32] = {0};
  for (size_t i = 0; i < finding.n; i++) on[atoi(finding.examples[i].date + 8)]++;
  assert_true(on[1] >= 2 && on[2] >= 2 && on[3] >= 2);
}

static void an_oracle_that_answers_nothing_is_refused(void **state) {
  Shape shape;
  int64_t asked;
  Fixture *f = many(state, &shape);
  Finding finding;
  Error err = {0};
  assert_refused(pg_ask_oracle(f->engine, &f->arena, &shape, id, NULL, "SELECT v AS w FROM source WHERE k = :k", 5,
                               &asked, &finding, &err),
                 &err, ERR_SPEC, "none of the columns");
  assert_refused(
      pg_ask_oracle(f->engine, &f->arena, &shape, id, NULL, "SELECT v FROM nowhere", 5, &asked, &finding, &err), &err,
      ERR_SPEC, "nowhere");
  assert_has(err.hint, ":region, :k");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(an_oracle_that_agrees),
      FIXTURE_TEST(what_it_says_otherwise_is_shown),
      FIXTURE_TEST(equal_is_what_production_calls_equal),
      FIXTURE_TEST(a_sample_is_spread_and_can_be_drawn_again),
      FIXTURE_TEST(an_oracle_that_answers_nothing_is_refused),
  };
  return cmocka_run_group_tests(tests, server_start, server_stop);
}
