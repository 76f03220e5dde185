#include "../engine/postgres/catalog.h"
#include "plan/plan.h"

/* Names of tables and columns as PostgreSQL has them: quoted, of a schema, differing by capital letters alone. */

static bool resolve(Fixture *f, Engine *engine, const char *yaml, Plan *ret, Error *err) {
  Spec spec;
  must(spec_parse(&f->arena, "spec.yaml", yaml, NULL, NULL, &spec, err), err);
  return plan_resolve(&f->arena, engine, &spec, ret, err) && plan_measure(&f->arena, engine, ret, NULL, err);
}

static Engine *open_whole(const Fixture *f, const char *role) {
  Engine *engine = NULL;
  Error err = {0};
  char url[256];
  snprintf(url, sizeof url, "postgresql:///%s?host=%s&user=%s", f->name, server.host, role);
  must(engine_open(url, NULL, &engine, &err), &err);
  return engine;
}

#define WORDS "range: 2024-03-05..2024-03-07\nwrong: w\ncorrect: c\nproduction: none\n"

static void capital_letters_tell_columns_apart(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  Plan plan;
  script(
      f,
      "CREATE SCHEMA \"S s\"; CREATE TABLE \"S s\".\"T\" (day date, \"Day\" date, k int, \"K\" int PRIMARY KEY, v int);"
      "INSERT INTO \"S s\".\"T\" SELECT '2020-01-01', date '2024-03-01' + i, 0, i, i FROM generate_series(1, 9) i;"
      "CREATE TABLE source (day date, \"Day\" date, k int, v int);"
      "INSERT INTO source SELECT '2020-01-01', \"Day\", \"K\", v + 1 FROM \"S s\".\"T\"");
  ENGINE_SCOPED engine = open_whole(f, "postgres");
  must(resolve(f, engine,
               "target: '\"S s\".\"T\"'\n" WORDS "date_column: Day\nchanges: [v]\nsources: {PUBLIC.source: "
               "Day}\nrecompute: SELECT \"Day\", k AS \"K\", v FROM "
               "source WHERE \"Day\" >= :from AND \"Day\" < :to\n",
               &plan, &err),
       &err);
  static const bool given[] = {false, true, false, true, true};
  assert_string_equal(plan.shape.table, "\"S s\".\"T\"");
  assert_int_equal(plan.shape.date, 1);
  for (size_t i = 0; i < 5; i++) assert_int_equal(plan.shape.columns[i].given, given[i]);
  assert_true(plan.shape.columns[3].key && !plan.shape.columns[2].key);
  assert_false(plan.overlay);
  assert_int_equal(plan.n_sources, 1);
  assert_string_equal(plan.sources[0].table, "source");
  assert_int_equal(plan.sources[0].dates_present, 3);
}

static void what_a_refused_table_is_told(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  Plan plan;
  script(f,
         "CREATE SCHEMA sales; CREATE TABLE sales.far_away (day date PRIMARY KEY); CREATE TABLE bare (day date);"
         "CREATE PUBLICATION p FOR TABLE bare");
  ENGINE_SCOPED engine = open_whole(f, "postgres");
  static const char *const rest =
      WORDS "changes: [day]\nrecompute: SELECT day FROM bare WHERE day >= :from AND day < :to\n";
  bool ok = resolve(f, engine, arena_printf(&f->arena, "target: bare\n%s", rest), &plan, &err);
  assert_refused(ok, &err, ERR_SPEC, "bare is published by p");
  assert_has(err.where, "spec.yaml:1:9");
  assert_has(err.hint, "REPLICA IDENTITY");
  ok = resolve(f, engine, arena_printf(&f->arena, "target: far_away\n%s", rest), &plan, &err);
  assert_refused(ok, &err, ERR_NOT_FOUND, "no table “far_away”");
  assert_has(err.hint, "sales.far_away");
}

/* Who seals and who publishes may be two people. */
static void a_role_that_may_not_publish_may_plan(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  Plan plan, whole;
  const char *role = new_role(f, "sealer");
  const char *yaml =
      "target: t\n" WORDS "changes: [v]\nrecompute: SELECT day, v FROM s WHERE day >= :from AND day < :to\n";
  script(f,
         "CREATE TABLE t (day date PRIMARY KEY, v int); CREATE TABLE s (day date, v int);"
         "INSERT INTO t VALUES ('2024-03-05', 1); INSERT INTO s VALUES ('2024-03-05', 2)");
  script(f, arena_printf(&f->arena, "GRANT SELECT ON s, t TO %s", role));
  Engine *engine = open_whole(f, role);
  must(resolve(f, engine, yaml, &plan, &err), &err);
  bool warned = false;
  for (size_t i = 0; i < plan.n_warnings; i++)
    warned = warned || strstr(plan.warnings[i], "lacks INSERT, UPDATE, DELETE on t") != NULL;
  assert_true(warned);
  engine_close(&engine);
  engine = open_whole(f, "postgres");
  must(resolve(f, engine, yaml, &whole, &err), &err);
  assert_string_equal(whole.digest, plan.digest); /* so the other may swap it */
  engine_close(&engine);
  drop_role(f, role);
}

int main(void) {
  const struct CMUnitTest tests[] = {FIXTURE_TEST(capital_letters_tell_columns_apart),
                                     FIXTURE_TEST(what_a_refused_table_is_told),
                                     FIXTURE_TEST(a_role_that_may_not_publish_may_plan)};
  return cmocka_run_group_tests(tests, server_start, server_stop);
}
