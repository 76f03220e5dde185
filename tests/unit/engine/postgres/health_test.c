#include "server.h"

/* What doctor is told of a server, a session and a role's rights. */

/* "health how|todo" of what was looked at; "" when it was not. */
static const char *look(Fixture *f, Engine *engine, const char *what) {
  static const char *const targets[] = {"sales"};
  const HealthFact *facts = NULL;
  size_t n = 0;
  Error err = {0};
  must(pg_health(engine, &f->arena, targets, 1, &facts, &n, &err), &err);
  for (size_t i = 0; i < n; i++)
    if (strcmp(facts[i].what, what) == 0)
      return arena_printf(&f->arena, "%s %s|%s",
                          facts[i].bad               ? "bad"
                          : facts[i].todo[0] == '\0' ? "ok"
                                                     : "note",
                          facts[i].how, facts[i].todo);
  return "";
}

static void granted(Fixture *f, const char *what) { run(f, arena_printf(&f->arena, "GRANT %s TO %s", what, f->name)); }

static void rights_are_told_one_by_one(void **state) {
  Fixture *f = fixture_of(state);
  Error err = {0};
  run(f, arena_printf(&f->arena, "CREATE ROLE %s LOGIN", f->name));
  run(f, arena_printf(&f->arena, "REVOKE TEMPORARY ON DATABASE %s FROM PUBLIC", f->name));
  Engine *role = open_as(f, f->name);
  assert_has(look(f, f->engine, "schema tidegate"), "ok none yet");
  assert_has(look(f, role, "schema tidegate"), "bad none yet, and this role may not make it|");
  assert_has(look(f, role, "schema tidegate"), arena_printf(&f->arena, "doctor --grant %s", f->name));
  assert_has(look(f, role, "target sales"), "bad there is no such table");
  assert_has(look(f, role, "temporary tables"), "bad this role may not make any");
  assert_has(look(f, role, "other sessions"), "note this role does not see");
  run(f, "CREATE TABLE sales (a int)");
  must(pg_ledger_create(f->engine, &err), &err);
  assert_has(look(f, role, "schema tidegate"), "bad this role may not make tables in it");
  assert_has(look(f, role, "target sales"), "bad this role may not read it");
  granted(f, "USAGE, CREATE ON SCHEMA tidegate");
  granted(f, "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA tidegate");
  run(f, arena_printf(&f->arena, "REVOKE UPDATE ON tidegate.event FROM %s", f->name));
  assert_has(look(f, role, "schema tidegate"), "bad this role may not write 1 of the ledger's");
  granted(f, "UPDATE ON tidegate.event");
  assert_has(look(f, role, "schema tidegate"), "ok this role may work in it");
  granted(f, "SELECT ON sales");
  assert_has(look(f, role, "target sales"), "note this role may plan, run and seal, and not swap");
  assert_has(look(f, role, "target sales"), "--publish sales");
  granted(f, "INSERT, UPDATE, DELETE ON sales");
  assert_has(look(f, role, "target sales"), "ok this role may read and write it");
  close_engine(role);
  run(f, arena_printf(&f->arena, "DROP OWNED BY %s CASCADE", f->name));
  run(f, arena_printf(&f->arena, "DROP ROLE %s", f->name));
}

static void the_session_is_told(void **state) {
  Fixture *f = fixture_of(state);
  assert_has(look(f, f->engine, "server"), arena_printf(&f->arena, "PostgreSQL %s", one(f, "SHOW server_version")));
  assert_has(look(f, f->engine, "connection"), "ok on this machine, without TLS, as postgres");
  assert_has(look(f, f->engine, "pooler"), "ok none");
  assert_has(look(f, f->engine, "primary"), "ok yes");
  assert_string_equal(look(f, f->engine, "temporary tables"), "");
  run(f, "SET default_transaction_read_only = on");
  assert_has(look(f, f->engine, "primary"), "bad this session can only read");
}

int main(void) {
  const struct CMUnitTest tests[] = {FIXTURE_TEST(rights_are_told_one_by_one), FIXTURE_TEST(the_session_is_told)};
  return cmocka_run_group_tests(tests, server_start, server_stop);
}
