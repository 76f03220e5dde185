#include "catalog.h"

/* "needs: via" of the dependent of the kind and name; "" when there is none. */
static const char *dependent(Fixture *f, const char *table, const char *kind, const char *name) {
  const DependentFacts *facts;
  const char *schema;
  size_t n;
  Error err = {0};
  must(pg_dependents(f->engine, &f->arena, table, &schema, &facts, &n, &err), &err);
  for (size_t i = 0; i < n; i++)
    if (strcmp(facts[i].kind, kind) == 0 && strcmp(facts[i].name, name) == 0)
      return arena_printf(&f->arena, "%s: %s", facts[i].needs, facts[i].via);
  return "";
}

static void views_in_turn(void **state) {
  Fixture *f = fixture_of(state);
  script(
      f,
      "CREATE SCHEMA s; CREATE TABLE t (a int, b int, \"C c\" int); CREATE TABLE o (a int); CREATE VIEW direct AS "
      "SELECT a, b FROM t;"
      "CREATE VIEW s.through AS SELECT max(a) AS m FROM direct; CREATE MATERIALIZED VIEW kept AS SELECT \"C c\" FROM t;"
      "CREATE VIEW over_kept AS SELECT * FROM kept; CREATE MATERIALIZED VIEW kept_twice AS SELECT * FROM over_kept;"
      "CREATE VIEW two_ways AS SELECT m FROM s.through, t WHERE t.a = 1; CREATE VIEW counts AS SELECT count(*) FROM t;"
      "CREATE TEMP VIEW passing AS SELECT a FROM t; CREATE VIEW unrelated AS SELECT 't' FROM o");
  assert_string_equal(dependent(f, "t", "view", "direct"), "follows: reads t (a, b)");
  assert_string_equal(dependent(f, "t", "view", "s.through"), "follows: reads t through direct (a)");
  assert_string_equal(dependent(f, "t", "materialized view", "kept"), "refresh: reads t (C c)");
  assert_string_equal(dependent(f, "t", "view", "over_kept"), "follows: reads t through kept (C c)");
  assert_string_equal(dependent(f, "t", "materialized view", "kept_twice"), "refresh: reads t through over_kept (C c)");
  assert_string_equal(dependent(f, "t", "view", "two_ways"), "follows: reads t (a)");
  assert_string_equal(dependent(f, "t", "view", "counts"), "follows: reads t");
  assert_string_equal(dependent(f, "t", "view", "unrelated"), "");
  assert_string_equal(dependent(f, "t", "view", "passing"), "");
  assert_string_equal(dependent(f, "direct", "view", "s.through"), "follows: reads direct (a)");
  assert_string_equal(dependent(f, "direct", "view", "direct"), "");
}

/* "(a, b)" of the read, "all" when the columns are not known, "" when there is none. */
static const char *view_read(Fixture *f, const char *reader, const char *source) {
  const ReadFacts *reads;
  size_t n;
  Error err = {0};
  must(pg_view_reads(f->engine, &f->arena, &reads, &n, &err), &err);
  for (size_t i = 0; i < n; i++) {
    if (strcmp(reads[i].reader, reader) != 0 || strcmp(reads[i].source, source) != 0) continue;
    if (reads[i].columns == NULL) return "all";
    BUF_SCOPED text = {0};
    for (size_t k = 0; k < reads[i].n; k++) buf_printf(&text, "%s%s", k == 0 ? "(" : ", ", reads[i].columns[k]);
    return arena_printf(&f->arena, "%s) of the %s", buf_text(&text), reads[i].kind);
  }
  return "";
}

static void views_read_their_own_sources(void **state) {
  Fixture *f = fixture_of(state);
  script(
      f,
      "CREATE SCHEMA s; CREATE TABLE t (a int, b int, \"C c\" int); CREATE VIEW direct AS SELECT a FROM t WHERE b > 0;"
      "CREATE VIEW s.through AS SELECT max(a) AS m FROM direct; CREATE MATERIALIZED VIEW kept AS SELECT \"C c\" FROM t;"
      "CREATE VIEW counts AS SELECT count(*) FROM t; CREATE VIEW whole AS SELECT t, a FROM t; CREATE VIEW star AS "
      "SELECT "
      "* FROM t;"
      "CREATE TEMP VIEW passing AS SELECT a FROM t");
  assert_string_equal(view_read(f, "direct", "t"), "(a, b) of the view");
  assert_string_equal(view_read(f, "s.through", "direct"), "(a) of the view");
  assert_string_equal(view_read(f, "s.through", "t"), "");
  assert_string_equal(view_read(f, "kept", "t"), "(C c) of the materialized view");
  assert_string_equal(view_read(f, "counts", "t"), "all");
  assert_string_equal(view_read(f, "whole", "t"), "all"); /* the catalogue would say: a alone */
  assert_string_equal(view_read(f, "star", "t"), "(C c, a, b) of the view");
  assert_string_equal(view_read(f, "passing", "t"), "");
}

static void partitions_share_their_readers(void **state) {
  Fixture *f = fixture_of(state);
  script(f,
         "CREATE TABLE parts (d date, k int) PARTITION BY RANGE (d); CREATE TABLE part PARTITION OF parts DEFAULT;"
         "CREATE VIEW of_part AS SELECT k FROM part; CREATE VIEW of_all AS SELECT d FROM parts;"
         "CREATE TABLE base (d date); CREATE TABLE heir () INHERITS (base); CREATE VIEW of_base AS SELECT d FROM base");
  assert_string_equal(dependent(f, "parts", "view", "of_part"), "follows: reads part (k)");
  assert_string_equal(dependent(f, "part", "view", "of_all"), "follows: reads parts (d)");
  assert_string_equal(dependent(f, "heir", "view", "of_base"), "follows: reads base (d)");
}

static void triggers_rules_functions(void **state) {
  Fixture *f = fixture_of(state);
  script(f,
         "CREATE TABLE orders (id int, amount int); CREATE TABLE log (id int); CREATE TABLE \"Odd (name\" (id int);"
         "CREATE VIEW v AS SELECT id FROM orders;"
         "CREATE FUNCTION own() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';"
         "CREATE FUNCTION writes() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN UPDATE public.Orders SET id = 1; RETURN "
         "NEW; END';"
         "CREATE FUNCTION through(int) RETURNS int LANGUAGE sql AS 'SELECT max(id) FROM v';"
         "CREATE FUNCTION no() RETURNS text LANGUAGE sql AS $$ SELECT 'reorders orders_2' $$;"
         "CREATE FUNCTION odd() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM \"Odd (name\"';"
         "CREATE TRIGGER mine BEFORE INSERT OR DELETE ON orders FOR EACH ROW EXECUTE FUNCTION own();"
         "CREATE TRIGGER off AFTER UPDATE ON orders EXECUTE FUNCTION own(); ALTER TABLE orders DISABLE TRIGGER off;"
         "CREATE TRIGGER theirs AFTER INSERT ON log FOR EACH ROW EXECUTE FUNCTION writes();"
         "CREATE RULE also AS ON DELETE TO log DO ALSO DELETE FROM orders WHERE amount = OLD.id;"
         "CREATE RULE mine AS ON UPDATE TO orders DO ALSO NOTIFY x");
  assert_string_equal(dependent(f, "orders", "trigger", "mine"), "unknown: fires own() on INSERT or DELETE of orders");
  assert_string_equal(dependent(f, "orders", "trigger", "off"), "unknown: fires own() on UPDATE of orders (disabled)");
  assert_string_equal(dependent(f, "orders", "trigger", "theirs"),
                      "unknown: writes() names Orders (by text), on INSERT of log");
  assert_string_equal(dependent(f, "orders", "rule", "also"),
                      "unknown: reads or writes orders (amount) on DELETE of log");
  assert_string_equal(dependent(f, "orders", "rule", "mine"), "unknown: fires on UPDATE of orders");
  assert_string_equal(dependent(f, "orders", "function", "writes()"), "unknown: names Orders (by text)");
  assert_string_equal(dependent(f, "orders", "function", "through(integer)"), "unknown: names v (by text)");
  assert_string_equal(dependent(f, "orders", "function", "no()"), "");
  assert_string_equal(dependent(f, "orders", "function", "own()"), "");
  assert_string_equal(dependent(f, "\"Odd (name\"", "function", "odd()"), "unknown: names Odd (name (by text)");
  if (PQserverVersion(pg_engine(f->engine)->conn) < 140000) return;
  script(f, "CREATE FUNCTION parsed() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT sum(amount) FROM orders; END");
  assert_string_equal(dependent(f, "orders", "function", "parsed()"), "unknown: reads orders (amount)");
}

static void foreign_keys_and_what_they_cascade_to(void **state) {
  Fixture *f = fixture_of(state);
  script(
      f,
      "CREATE TABLE parts (k int, d date, PRIMARY KEY (k, d)) PARTITION BY RANGE (d);"
      "CREATE TABLE part PARTITION OF parts DEFAULT; CREATE TABLE child (c int PRIMARY KEY, k int, d date,"
      "FOREIGN KEY (k, d) REFERENCES parts ON DELETE CASCADE DEFERRABLE); CREATE TABLE grandchild (c int REFERENCES "
      "child"
      " ON DELETE SET NULL); CREATE TABLE firm (k int, d date, FOREIGN KEY (k, d) REFERENCES parts ON DELETE RESTRICT);"
      "CREATE TABLE of_firm (x int); CREATE TABLE moved (k int, d date, FOREIGN KEY (k, d) REFERENCES parts ON UPDATE "
      "CASCADE)");
  assert_string_equal(dependent(f, "parts", "foreign key", "child"), "unknown: ON DELETE CASCADE by k, d, deferrable");
  assert_string_equal(dependent(f, "parts", "foreign key", "grandchild"),
                      "unknown: ON DELETE SET NULL by c through child");
  assert_string_equal(dependent(f, "parts", "foreign key", "firm"), "follows: ON DELETE RESTRICT by k, d");
  assert_string_equal(dependent(f, "parts", "foreign key", "moved"),
                      "unknown: ON DELETE NO ACTION by k, d, ON UPDATE CASCADE");
  assert_string_equal(dependent(f, "part", "foreign key", "child"), "unknown: ON DELETE CASCADE by k, d, deferrable");
}

static void what_leaves_the_database(void **state) {
  Fixture *f = fixture_of(state);
  script(f,
         "CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE o (id int); CREATE POLICY p ON o USING (id IN (SELECT id "
         "FROM t));"
         "CREATE POLICY own ON t USING (id > 0); CREATE PUBLICATION pub FOR TABLE t;"
         "CREATE TABLE parts (id int) PARTITION BY LIST (id); CREATE TABLE part PARTITION OF parts DEFAULT;"
         "CREATE PUBLICATION pub_parts FOR TABLE parts");
  assert_string_equal(dependent(f, "t", "policy", "p"), "follows: reads t (id) for the rows of o");
  assert_string_equal(dependent(f, "t", "policy", "own"), "");
  assert_string_equal(dependent(f, "t", "publication", "pub"), "unknown: sends the changes on: cannot see beyond");
  assert_string_equal(dependent(f, "o", "publication", "pub"), "");
  assert_string_equal(dependent(f, "parts", "publication", "pub_parts"),
                      "unknown: sends the changes on: cannot see beyond");
  assert_string_equal(dependent(f, "part", "publication", "pub_parts"),
                      "unknown: sends the changes on: cannot see beyond");
  if (strcmp(one(f, "SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'"), "1") != 0) return;
  script(f,
         "CREATE EXTENSION postgres_fdw; CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw;"
         "CREATE FOREIGN TABLE far_t (id int) SERVER far OPTIONS (table_name 't');"
         "CREATE FOREIGN TABLE other_t (id int) SERVER far OPTIONS (table_name 't', schema_name 'else');"
         "CREATE SCHEMA s; CREATE FOREIGN TABLE s.o (id int) SERVER far; CREATE TABLE s.t (id int)");
  assert_string_equal(dependent(f, "t", "foreign table", "far_t"),
                      "unknown: has its name on the server far: cannot see beyond");
  assert_string_equal(dependent(f, "t", "foreign table", "other_t"), "");
  assert_string_equal(dependent(f, "s.t", "foreign table", "far_t"), "");
  assert_string_equal(dependent(f, "o", "foreign table", "s.o"), "");
}

static void dependents_of_nothing(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  const DependentFacts *facts;
  const char *schema;
  size_t n;
  assert_refused(pg_dependents(f->engine, &f->arena, "none", &schema, &facts, &n, &err), &err, ERR_NOT_FOUND, "'none'");
  script(f, "CREATE TABLE alone (a int)");
  must(pg_dependents(f->engine, &f->arena, "alone", &schema, &facts, &n, &err), &err);
  assert_int_equal(n, 0);
  assert_string_equal(schema, "public");
}

int main(void) {
  const struct CMUnitTest tests[] = {FIXTURE_TEST(views_in_turn),
                                     FIXTURE_TEST(partitions_share_their_readers),
                                     FIXTURE_TEST(triggers_rules_functions),
                                     FIXTURE_TEST(foreign_keys_and_what_they_cascade_to),
                                     FIXTURE_TEST(what_leaves_the_database),
                                     FIXTURE_TEST(dependents_of_nothing),
                                     FIXTURE_TEST(views_read_their_own_sources)};
  return cmocka_run_group_tests(tests, server_start, server_stop);
}
