#ifndef TIDEGATE_TESTS_ENGINE_POSTGRES_CATALOG_H
#define TIDEGATE_TESTS_ENGINE_POSTGRES_CATALOG_H

#include "server.h"

/* What the tests of the catalogue share. */

/* Several statements, as a person's client sends them. */
static inline void script_on(Engine *engine, const char *sql) {
  PG_SCOPED result = PQexec(pg_engine(engine)->conn, sql);
  ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
    fail_msg("%s: %s", PQerrorMessage(pg_engine(engine)->conn), sql);
}

static inline void script(Fixture *f, const char *sql) { script_on(f->engine, sql); }

static inline TableFacts describe_on(Fixture *f, Engine *engine, const char *name) {
  TableFacts facts;
  Error err = {0};
  must(pg_describe_table(engine, &f->arena, name, &facts, &err), &err);
  assert_true((facts.refusal == NULL) == (facts.way_out == NULL));
  return facts;
}

static inline TableFacts describe(Fixture *f, const char *name) { return describe_on(f, f->engine, name); }

/* A role that may log in, of a name that no other test uses. */
static inline const char *new_role(Fixture *f, const char *name) {
  const char *role = arena_printf(&f->arena, "%s_%s", f->name, name);
  script(f, arena_printf(&f->arena, "CREATE ROLE %s LOGIN", role));
  return role;
}

static inline void drop_role(Fixture *f, const char *role) {
  script(f, arena_printf(&f->arena, "DROP OWNED BY %s; DROP ROLE %s", role, role));
}

#endif
