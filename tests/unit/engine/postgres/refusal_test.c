#include "catalog.h"

/* The table must be refused, for a reason that has `why`, with a way out that has `way`. */
static void assert_not_a_target(Fixture *f, const char *name, const char *why, const char *way) {
  TableFacts facts = describe(f, name);
  if (facts.refusal == NULL) fail_msg("%s is not refused", name);
  assert_has(facts.refusal, why);
  assert_has(facts.way_out, way);
}

static void assert_a_target(Fixture *f, const char *name) {
  TableFacts facts = describe(f, name);
  if (facts.refusal != NULL) fail_msg("%s is refused: it %s", name, facts.refusal);
  assert_int_equal(facts.kind, TABLE_ORDINARY);
  assert_null(facts.lacks);
}

static void tables_that_are_targets(void **state) {
  Fixture *f = fixture_of(state);
  script(f,
         "CREATE TABLE plain (d date); CREATE UNLOGGED TABLE unlogged (d date); CREATE TABLE base (d date);"
         "CREATE TABLE heir () INHERITS (base); CREATE TABLE ranged (d date) PARTITION BY RANGE (d);"
         "CREATE TABLE part PARTITION OF ranged FOR VALUES FROM ('2024-01-01') TO ('2025-01-01') PARTITION BY HASH (d);"
         "CREATE TABLE nested PARTITION OF part FOR VALUES WITH (MODULUS 1, REMAINDER 0);"
         "CREATE TABLE rest PARTITION OF ranged DEFAULT; CREATE TABLE listed (d date) PARTITION BY LIST (d);"
         "CREATE TABLE secured (d date); ALTER TABLE secured ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;"
         "CREATE TABLE silent (d date); CREATE RULE r AS ON INSERT TO silent DO ALSO NOTIFY x;"
         "ALTER TABLE silent DISABLE RULE r");
  static const char *const names[] = {"plain", "unlogged", "heir",    "ranged", "part", "nested",
                                      "rest",  "listed",   "secured", "silent"}; /* a superuser sees every row */
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) assert_a_target(f, names[i]);
  /* A partition is a table whose bound is one more check on what is written. */
  assert_true(describe(f, "nested").has_checks);
}

static void what_has_no_rows_of_its_own(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  must(pg_ledger_create(f->engine, &err), &err);
  script(f,
         "CREATE TABLE t (d date); CREATE VIEW v AS SELECT * FROM t; CREATE MATERIALIZED VIEW m AS SELECT * FROM t;"
         "CREATE FUNCTION tf() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';"
         "CREATE TRIGGER io INSTEAD OF INSERT ON v FOR EACH ROW EXECUTE FUNCTION tf(); CREATE TEMP TABLE fleeting (d "
         "date)");
  assert_not_a_target(f, "v", "INSTEAD OF", "name the table");
  assert_not_a_target(f, "m", "refresh", "REFRESH MATERIALIZED VIEW");
  assert_not_a_target(f, "fleeting", "temporary", "stays");
  assert_not_a_target(f, "pg_class", "belongs to the database", "production table");
  assert_not_a_target(f, "information_schema.tables", "belongs to the database", "production table");
  assert_not_a_target(f, "tidegate.backfill", "Tidegate itself", "production table");
  assert_int_equal(describe(f, "v").kind, TABLE_VIEW);
  assert_int_equal(describe(f, "m").kind, TABLE_VIEW);
  assert_int_equal(describe(f, "fleeting").kind, TABLE_OTHER);
  assert_int_equal(describe(f, "pg_class").kind, TABLE_SYSTEM);
  assert_int_equal(describe(f, "tidegate.backfill").kind, TABLE_SYSTEM);
}

static void tables_whose_writes_are_something_else(void **state) {
  Fixture *f = fixture_of(state);
  script(f,
         "CREATE TABLE base (d date); CREATE TABLE heir () INHERITS (base); CREATE TABLE ruled (d date);"
         "CREATE RULE r AS ON UPDATE TO ruled DO INSTEAD NOTHING");
  assert_not_a_target(f, "base", "inherited by heir", "on its own");
  assert_not_a_target(f, "ruled", "rules (r)", "DISABLE RULE");
  assert_int_equal(describe(f, "base").kind, TABLE_ORDINARY); /* it may still be a source */
}

static void tables_on_other_servers(void **state) {
  Fixture *f = fixture_of(state);
  script(
      f,
      "CREATE EXTENSION file_fdw; CREATE SERVER far FOREIGN DATA WRAPPER file_fdw;"
      "CREATE FOREIGN TABLE remote (d date) SERVER far OPTIONS (filename '/dev/null');"
      "CREATE TABLE mixed (d date) PARTITION BY RANGE (d); CREATE FOREIGN TABLE mixed_far PARTITION OF mixed DEFAULT "
      "SERVER far OPTIONS (filename '/dev/null')");
  assert_not_a_target(f, "remote", "foreign table of the server far", "on the database that holds the rows");
  assert_not_a_target(f, "mixed", "mixed_far", "one by one");
  assert_int_equal(describe(f, "remote").kind, TABLE_OTHER);
}

static void published_rows_that_cannot_be_told_apart(void **state) {
  Fixture *f = fixture_of(state);
  script(f,
         "CREATE TABLE bare (d date); CREATE TABLE whole (d date); ALTER TABLE whole REPLICA IDENTITY FULL;"
         "CREATE TABLE keyed (id int PRIMARY KEY); CREATE TABLE inserted (d date); CREATE TABLE nothing (id int "
         "PRIMARY KEY);"
         "ALTER TABLE nothing REPLICA IDENTITY NOTHING; CREATE TABLE chosen (d date NOT NULL UNIQUE);"
         "ALTER TABLE chosen REPLICA IDENTITY USING INDEX chosen_d_key; CREATE TABLE unsent (d date);"
         "CREATE TABLE parts (d date) PARTITION BY RANGE (d); CREATE TABLE part PARTITION OF parts DEFAULT;"
         "CREATE TABLE rooted (d date) PARTITION BY RANGE (d); CREATE TABLE leaf PARTITION OF rooted DEFAULT;"
         "CREATE PUBLICATION p FOR TABLE bare, whole, keyed, nothing, chosen, parts;"
         "CREATE PUBLICATION pr FOR TABLE rooted WITH (publish_via_partition_root);"
         "CREATE PUBLICATION i FOR TABLE inserted WITH (publish = 'insert')");
  static const char *const targets[] = {"whole", "keyed", "inserted", "chosen", "unsent"};
  static const char *const refused[] = {"bare", "nothing", "parts", "part", "rooted", "leaf"};
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
    assert_a_target(f, targets[i]);
    script(f, arena_printf(&f->arena, "DELETE FROM %s", targets[i])); /* PostgreSQL agrees */
  }
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    assert_not_a_target(f, refused[i], "published by p", "REPLICA IDENTITY");
    PG_SCOPED result = PQexec(pg_engine(f->engine)->conn, arena_printf(&f->arena, "DELETE FROM %s", refused[i]));
    assert_string_equal(PQresultErrorField(result, PG_DIAG_SQLSTATE), "55000");
  }
  if (PQserverVersion(pg_engine(f->engine)->conn) < 150000) return;
  script(f,
         "CREATE TABLE filtered (id int PRIMARY KEY, a int); CREATE TABLE by_key (id int PRIMARY KEY, a int);"
         "CREATE PUBLICATION q FOR TABLE filtered WHERE (a > 1), by_key WHERE (id > 1)");
  assert_not_a_target(f, "filtered", "row filter", "REPLICA IDENTITY");
  assert_a_target(f, "by_key");
  script(f, "DROP PUBLICATION p; CREATE PUBLICATION every FOR ALL TABLES");
  assert_not_a_target(f, "unsent", "published by every", "REPLICA IDENTITY");
}

static void what_the_role_may(void **state) {
  Fixture *f = fixture_of(state);
  const char *role = new_role(f, "reader");
  script(f,
         "CREATE SCHEMA closed; CREATE TABLE closed.t (d date); CREATE TABLE dark (d date); CREATE TABLE readable (d "
         "date);"
         "CREATE TABLE secured (d date); ALTER TABLE secured ENABLE ROW LEVEL SECURITY; CREATE TABLE written (d date)");
  script(f, arena_printf(&f->arena,
                         "GRANT SELECT ON closed.t, readable, secured TO %s;"
                         "GRANT SELECT, INSERT, UPDATE, DELETE ON written TO %s; GRANT INSERT ON readable TO %s",
                         role, role, role));
  Engine *engine = open_as(f, role);
  TableFacts closed = describe_on(f, engine, "closed.t"), dark = describe_on(f, engine, "dark");
  TableFacts readable = describe_on(f, engine, "readable"), secured = describe_on(f, engine, "secured");
  assert_has(closed.refusal, "USAGE of its schema is missing");
  assert_has(dark.refusal, "SELECT is missing");
  assert_has(dark.way_out, arena_printf(&f->arena, "tidegate doctor --grant %s", role));
  assert_int_equal(dark.kind, TABLE_ORDINARY);
  /* Planning and sealing need no more than SELECT: what is missing for a swap is said, and no refusal. */
  assert_null(readable.refusal);
  assert_string_equal(readable.lacks, "UPDATE, DELETE");
  assert_null(describe_on(f, engine, "written").lacks);
  assert_has(secured.refusal, "row security");
  assert_has(secured.way_out, "BYPASSRLS");
  /* Two people's plans of one table have one digest. */
  assert_string_equal(readable.definition, describe(f, "readable").definition);
  const char *const *names;
  size_t n;
  Error err = {0};
  must(pg_list_tables(engine, &f->arena, &names, &n, &err), &err);
  for (size_t i = 0; i < n; i++) assert_string_not_equal(names[i], "closed.t");
  close_engine(engine);
  drop_role(f, role);
}

static void the_owner_and_row_security(void **state) {
  Fixture *f = fixture_of(state);
  const char *role = new_role(f, "owner");
  script(f, "CREATE TABLE secured (d date); ALTER TABLE secured ENABLE ROW LEVEL SECURITY");
  script(f, arena_printf(&f->arena, "ALTER TABLE secured OWNER TO %s", role));
  Engine *engine = open_as(f, role);
  assert_null(describe_on(f, engine, "secured").refusal);
  script(f, "ALTER TABLE secured FORCE ROW LEVEL SECURITY");
  assert_has(describe_on(f, engine, "secured").refusal, "row security");
  close_engine(engine);
  drop_role(f, role);
}

int main(void) {
  const struct CMUnitTest tests[] = {FIXTURE_TEST(tables_that_are_targets),
                                     FIXTURE_TEST(what_has_no_rows_of_its_own),
                                     FIXTURE_TEST(tables_whose_writes_are_something_else),
                                     FIXTURE_TEST(tables_on_other_servers),
                                     FIXTURE_TEST(published_rows_that_cannot_be_told_apart),
                                     FIXTURE_TEST(what_the_role_may),
                                     FIXTURE_TEST(the_owner_and_row_security)};
  return cmocka_run_group_tests(tests, server_start, server_stop);
}
