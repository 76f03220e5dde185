#include "open.h"

static TableFacts describe(Fixture *f, const char *name) {
  TableFacts facts;
  Error err = {0};
  must(sqlite_describe_table(f->engine, &f->arena, name, &facts, &err), &err);
  return facts;
}

static const IndexFacts *index_of(const TableFacts *facts, const char *name) {
  for (size_t i = 0; i < facts->n_indexes; i++)
    if (strcmp(facts->indexes[i].name, name) == 0) return &facts->indexes[i];
  fail_msg("no index %s", name);
  return NULL;
}

/* "name via needs" of every dependent of the kind and name; "" when there is none. */
static const char *dependent(Fixture *f, const char *table, const char *kind, const char *name) {
  const DependentFacts *facts;
  const char *schema;
  size_t n;
  Error err = {0};
  must(sqlite_dependents(f->engine, &f->arena, table, &schema, &facts, &n, &err), &err);
  for (size_t i = 0; i < n; i++)
    if (strcmp(facts[i].kind, kind) == 0 && strcmp(facts[i].name, name) == 0)
      return arena_printf(&f->arena, "%s: %s", facts[i].needs, facts[i].via);
  return "";
}

static void lists_what_is_somebodys_own(void **state) {
  Fixture *f = *state;
  Error err = {0};
  const char *const *names;
  size_t n;
  must(sqlite_ledger_create(f->engine, &err), &err);
  run(f,
      "CREATE TABLE \"b \"\"q\"\" t\" (id INTEGER PRIMARY KEY AUTOINCREMENT); CREATE TABLE \"select\" (x);"
      "CREATE TABLE Ünï (x); CREATE VIEW a AS SELECT 1; CREATE VIEW broken AS SELECT nope FROM nowhere;"
      "CREATE VIRTUAL TABLE box USING rtree (id, low, high); CREATE TABLE sqlitex (x)");
  must(sqlite_list_tables(f->engine, &f->arena, &names, &n, &err), &err);
  static const char *const expected[] = {"a", "b \"q\" t", "box", "broken", "select", "sqlitex", "Ünï"};
  assert_int_equal(n, 7);
  for (size_t i = 0; i < n; i++) assert_string_equal(names[i], expected[i]);
  assert_int_equal(describe(f, "box").kind, TABLE_VIRTUAL);
  assert_int_equal(describe(f, "box_node").kind, TABLE_SYSTEM);
  assert_int_equal(describe(f, "sqlite_sequence").kind, TABLE_SYSTEM);
  assert_int_equal(describe(f, "a").kind, TABLE_VIEW);
  assert_int_equal(describe(f, "tidegate_event").kind, TABLE_SYSTEM);
  assert_int_equal(describe(f, "sqlitex").kind, TABLE_ORDINARY);
}

static void names_are_found_in_any_case(void **state) {
  Fixture *f = *state;
  Error err = {0};
  TableFacts facts;
  run(f, "CREATE TABLE \"Daily \"\"Délays\" (\"group\" TEXT, [x y] INT DEFAULT 4)");
  facts = describe(f, "DAILY \"DéLAYS");
  assert_string_equal(facts.name, "Daily \"Délays");
  assert_int_equal(facts.n_columns, 2);
  assert_string_equal(facts.columns[0].name, "group");
  assert_string_equal(facts.columns[1].name, "x y");
  assert_true(facts.columns[1].has_default && !facts.columns[0].has_default);
  assert_string_equal(facts.columns[1].type, "INT");
  assert_refused(sqlite_describe_table(f->engine, &f->arena, "x'; DROP TABLE y", &facts, &err), &err, ERR_NOT_FOUND,
                 "no table or view");
}

static void not_null_is_what_sqlite_enforces(void **state) {
  Fixture *f = *state;
  run(f,
      "CREATE TABLE rowid_key (k INTEGER PRIMARY KEY, v); CREATE TABLE desc_key (k INTEGER PRIMARY KEY DESC);"
      "CREATE TABLE text_key (k TEXT PRIMARY KEY); CREATE TABLE strict_key (k TEXT PRIMARY KEY) STRICT;"
      "CREATE TABLE no_rowid (k TEXT PRIMARY KEY) WITHOUT ROWID; CREATE TABLE pair (a INTEGER, b INTEGER NOT NULL,"
      "PRIMARY KEY (b, a)); CREATE TABLE int_key (k INT PRIMARY KEY)");
  assert_true(describe(f, "rowid_key").columns[0].not_null);
  assert_false(describe(f, "rowid_key").columns[1].not_null);
  assert_false(describe(f, "desc_key").columns[0].not_null);
  assert_false(describe(f, "text_key").columns[0].not_null);
  assert_false(describe(f, "int_key").columns[0].not_null);
  assert_true(describe(f, "strict_key").columns[0].not_null);
  assert_true(describe(f, "no_rowid").columns[0].not_null);
  TableFacts pair = describe(f, "pair");
  assert_false(pair.columns[0].not_null);
  assert_true(pair.columns[1].not_null);
  assert_int_equal(pair.columns[0].primary, 2);
  assert_int_equal(pair.columns[1].primary, 1);
  run(f, "INSERT INTO desc_key VALUES (NULL); INSERT INTO text_key VALUES (NULL); INSERT INTO pair VALUES (NULL, 1)");
  static const char *const refused[] = {"INSERT INTO strict_key VALUES (NULL)", "INSERT INTO no_rowid VALUES (NULL)"};
  for (int i = 0; i < 2; i++)
    assert_int_equal(sqlite3_exec(sqlite_engine(f->engine)->db, refused[i], NULL, NULL, NULL) & 0xff,
                     SQLITE_CONSTRAINT);
}

static void keywords_are_read_not_searched(void **state) {
  Fixture *f = *state;
  run(f,
      "CREATE TABLE none (\"check\" INT, [autoincrement] TEXT DEFAULT 'CHECK (1) AUTOINCREMENT' /* CHECK (1) */,"
      "checked INT -- CHECK (x) AUTOINCREMENT\n, `autoincrement ` INT);"
      "CREATE TABLE both (id INTEGER PRIMARY KEY aUtOincrement, x cHeck/**/(x > 0))");
  TableFacts none = describe(f, "none"), both = describe(f, "both");
  assert_false(none.has_checks || none.autoincrement);
  assert_true(both.has_checks && both.autoincrement);
}

static void generated_columns(void **state) {
  Fixture *f = *state;
  run(f, "CREATE TABLE t (a INT, b INT AS (a + 1), c INT AS (a * 2) STORED NOT NULL) STRICT");
  TableFacts facts = describe(f, "t");
  assert_int_equal(facts.n_columns, 3);
  assert_true(!facts.columns[0].generated && facts.columns[1].generated && facts.columns[2].generated);
  assert_true(facts.columns[2].not_null && !facts.columns[1].has_default);
}

static void indexes(void **state) {
  Fixture *f = *state;
  run(f,
      "CREATE TABLE t (\"a b\" TEXT, c, d, UNIQUE (d, c)); CREATE UNIQUE INDEX part ON t (\"a b\") WHERE c > 0;"
      "CREATE UNIQUE INDEX expr ON t (c, lower(\"a b\"), d); CREATE INDEX \"odd 'name\" ON t (d DESC);"
      "CREATE INDEX by_rowid ON t (c)");
  TableFacts facts = describe(f, "t");
  assert_int_equal(facts.n_indexes, 5);
  const IndexFacts *part = index_of(&facts, "part"), *expr = index_of(&facts, "expr");
  assert_true(part->unique && part->partial && !part->expression);
  assert_string_equal(part->columns[0], "a b");
  assert_true(expr->unique && expr->expression && !expr->partial);
  assert_int_equal(expr->n, 2);
  assert_string_equal(expr->columns[1], "d");
  assert_false(index_of(&facts, "odd 'name")->unique);
  const IndexFacts *unique = index_of(&facts, "sqlite_autoindex_t_1");
  assert_int_equal(unique->n, 2);
  assert_string_equal(unique->columns[0], "d");
}

static void triggers_and_their_events(void **state) {
  Fixture *f = *state;
  run(f,
      "CREATE TABLE t (a, b); CREATE VIEW v AS SELECT a FROM t;"
      "CREATE TRIGGER \"delete\" AFTER INSERT ON t BEGIN SELECT 'UPDATE'; END;"
      "CREATE TRIGGER IF NOT EXISTS main.before BEFORE UPDATE OF b, a ON t BEGIN SELECT 1; END;"
      "CREATE TRIGGER [a trigger] /* INSERT */ DELETE ON t BEGIN SELECT 1; END;"
      "CREATE TRIGGER instead INSTEAD OF UPDATE ON v BEGIN SELECT 1; END");
  TableFacts t = describe(f, "T"), v = describe(f, "v");
  assert_int_equal(t.n_triggers, 3);
  assert_string_equal(t.triggers[0].name, "a trigger");
  assert_true(t.triggers[0].on_delete && !t.triggers[0].on_insert && !t.triggers[0].on_update);
  assert_string_equal(t.triggers[1].name, "before");
  assert_true(t.triggers[1].on_update && !t.triggers[1].on_insert);
  assert_true(t.triggers[2].on_insert && !t.triggers[2].on_delete);
  assert_int_equal(v.n_triggers, 1);
  assert_true(v.triggers[0].on_update);
}

static void foreign_keys_both_ways(void **state) {
  Fixture *f = *state;
  run(f,
      "CREATE TABLE \"the parent\" (x, K2 TEXT, K1 TEXT, self TEXT REFERENCES \"the parent\", PRIMARY KEY (K1, K2));"
      "CREATE TABLE child (a, b, c, FOREIGN KEY (a, b) REFERENCES \"THE PARENT\" ON DELETE CASCADE,"
      "FOREIGN KEY (c) REFERENCES \"the parent\" (k1) ON DELETE SET NULL); CREATE TABLE lost (z REFERENCES gone)");
  TableFacts parent = describe(f, "the parent"), child = describe(f, "child"), lost = describe(f, "lost");
  assert_int_equal(parent.n_incoming, 3);
  assert_int_equal(parent.n_outgoing, 1);
  assert_int_equal(child.n_outgoing, 2);
  const ForeignKeyFacts *single = &parent.incoming[0], *pair = &parent.incoming[1];
  assert_string_equal(single->child, "child");
  assert_string_equal(single->parent, "the parent");
  assert_string_equal(single->on_delete, "SET NULL");
  assert_string_equal(single->parent_columns[0], "K1");
  assert_int_equal(pair->n, 2);
  assert_string_equal(pair->on_delete, "CASCADE");
  assert_string_equal(pair->child_columns[1], "b");
  assert_string_equal(pair->parent_columns[0], "K1");
  assert_string_equal(pair->parent_columns[1], "K2");
  assert_string_equal(lost.outgoing[0].parent, "gone");
  assert_string_equal(lost.outgoing[0].parent_columns[0], "");
  assert_string_equal(dependent(f, "the parent", "foreign key", "child"), "unknown: ON DELETE SET NULL");
  assert_string_equal(dependent(f, "the parent", "foreign key", "the parent"), "follows: ON DELETE NO ACTION");
}

static void the_definition_tells_changes_apart(void **state) {
  Fixture *f = *state;
  run(f, "CREATE TABLE t (a); CREATE INDEX z ON t (a); CREATE INDEX y ON t (a)");
  const char *before = describe(f, "t").definition;
  assert_string_equal(before, "CREATE TABLE t (a);\nCREATE INDEX y ON t (a);\nCREATE INDEX z ON t (a);\n");
  run(f, "DROP INDEX z; CREATE INDEX z ON t (a)");
  assert_string_equal(describe(f, "t").definition, before);
  run(f, "CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END");
  assert_string_not_equal(describe(f, "t").definition, before);
}

static void views_over_views(void **state) {
  Fixture *f = *state;
  run(f,
      "CREATE TABLE t (a, b); CREATE TABLE other (a); CREATE VIEW direct AS SELECT a FROM T;"
      "CREATE VIEW \"through it\" AS SELECT max(a) FROM direct; CREATE VIEW counts AS SELECT count(*) FROM t;"
      "CREATE VIEW cte AS WITH c AS (SELECT b FROM t) SELECT * FROM c; CREATE VIEW unrelated AS SELECT 't' FROM other;"
      "CREATE VIEW exists_only AS SELECT 1 AS x WHERE EXISTS (SELECT 1 FROM t);"
      "CREATE VIEW broken AS SELECT nope FROM other; CREATE VIEW gone AS SELECT * FROM nowhere");
  assert_string_equal(dependent(f, "t", "view", "direct"), "follows: reads t");
  assert_string_equal(dependent(f, "t", "view", "through it"), "follows: reads t through direct");
  assert_string_equal(dependent(f, "t", "view", "counts"), "follows: reads t");
  assert_string_equal(dependent(f, "t", "view", "cte"), "follows: reads t");
  assert_string_equal(dependent(f, "t", "view", "exists_only"), "follows: reads t");
  assert_string_equal(dependent(f, "t", "view", "unrelated"), "");
  assert_has(dependent(f, "t", "view", "broken"), "unknown: is broken: no such column: nope");
  assert_has(dependent(f, "t", "view", "gone"), "unknown: is broken: no such table");
  assert_string_equal(dependent(f, "direct", "view", "through it"), "follows: reads direct");
}

static void triggers_that_read_or_write_it(void **state) {
  Fixture *f = *state;
  run(f,
      "CREATE TABLE t (a, b); CREATE VIEW v AS SELECT a FROM t; CREATE TABLE o (x, g AS (x + 1)); CREATE TABLE p (x);"
      "CREATE TABLE q (x); CREATE TRIGGER own AFTER DELETE ON t BEGIN SELECT 1; END;"
      "CREATE TRIGGER reads AFTER UPDATE OF x ON o BEGIN INSERT INTO p SELECT a FROM v; END;"
      "CREATE TRIGGER writes AFTER INSERT ON o BEGIN DELETE FROM t; END;"
      "CREATE TRIGGER both BEFORE DELETE ON o BEGIN UPDATE t SET a = b; END;"
      "CREATE TRIGGER neither AFTER INSERT ON o BEGIN INSERT INTO p VALUES ('t'); END;"
      "CREATE TRIGGER through INSTEAD OF INSERT ON v BEGIN INSERT INTO t (a) VALUES (NEW.a); END;"
      "CREATE TRIGGER stale AFTER INSERT ON q BEGIN INSERT INTO missing SELECT a FROM \"T\"; END;"
      "CREATE TRIGGER stale2 AFTER DELETE ON q BEGIN INSERT INTO missing VALUES (1); END");
  assert_string_equal(dependent(f, "t", "trigger", "own"), "unknown: fires on DELETE of t");
  assert_string_equal(dependent(f, "t", "trigger", "reads"), "unknown: reads t on UPDATE of o");
  assert_string_equal(dependent(f, "t", "trigger", "writes"), "unknown: writes t on INSERT of o");
  assert_string_equal(dependent(f, "t", "trigger", "both"), "unknown: reads and writes t on DELETE of o");
  assert_string_equal(dependent(f, "t", "trigger", "neither"), "");
  assert_has(dependent(f, "t", "trigger", "through"), "writes t on INSERT of v");
  assert_string_equal(dependent(f, "t", "trigger", "stale"), "unknown: mentions (by text) t on INSERT of q");
  assert_string_equal(dependent(f, "t", "trigger", "stale2"), "");
  assert_string_equal(one(f, "SELECT count(*) FROM p"), "0");
}

static void dependents_of_nothing(void **state) {
  Fixture *f = *state;
  Error err = {0};
  const DependentFacts *facts;
  const char *schema;
  size_t n;
  assert_refused(sqlite_dependents(f->engine, &f->arena, "none", &schema, &facts, &n, &err), &err, ERR_NOT_FOUND,
                 "'none'");
}

static void identity_follows_the_definition(void **state) {
  Fixture *f = *state;
  Error err = {0};
  const char *first, *second, *missing = "";
  run(f, "CREATE TABLE \"it's\" (a)");
  must(sqlite_object_identity(f->engine, &f->arena, "it's", &first, &err), &err);
  run(f, "INSERT INTO \"it's\" VALUES (1); VACUUM");
  must(sqlite_object_identity(f->engine, &f->arena, "IT'S", &second, &err), &err);
  assert_string_equal(first, second);
  assert_int_equal(strlen(first), 32);
  run(f, "ALTER TABLE \"it's\" ADD COLUMN b");
  must(sqlite_object_identity(f->engine, &f->arena, "it's", &second, &err), &err);
  assert_string_not_equal(first, second);
  must(sqlite_object_identity(f->engine, &f->arena, "none", &missing, &err), &err);
  assert_null(missing);
}

int main(void) {
  const struct CMUnitTest tests[] = {FIXTURE_TEST(lists_what_is_somebodys_own),
                                     FIXTURE_TEST(names_are_found_in_any_case),
                                     FIXTURE_TEST(not_null_is_what_sqlite_enforces),
                                     FIXTURE_TEST(keywords_are_read_not_searched),
                                     FIXTURE_TEST(generated_columns),
                                     FIXTURE_TEST(indexes),
                                     FIXTURE_TEST(triggers_and_their_events),
                                     FIXTURE_TEST(foreign_keys_both_ways),
                                     FIXTURE_TEST(the_definition_tells_changes_apart),
                                     FIXTURE_TEST(views_over_views),
                                     FIXTURE_TEST(triggers_that_read_or_write_it),
                                     FIXTURE_TEST(dependents_of_nothing),
                                     FIXTURE_TEST(identity_follows_the_definition)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
