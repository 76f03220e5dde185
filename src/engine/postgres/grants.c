#include <string.h>

#include "engine/postgres/catalog_int.h"
#include "engine/postgres/postgres_sql.h"

/*
 * What a DBA runs so that a role can work. The ledger belongs to a group of its own and everybody who works with it is
 * a member: an owner of the schema may drop what another member made in it, and default privileges open each member's
 * tables to the others.
 */

typedef struct Grants {
  Arena *arena;
  const PgEngine *engine;
  const PGresult *facts; /* one row of sql_facts_grantee */
  Buf *out;
} Grants;

enum {
  ROLE,
  INHERITS,
  SUPER,
  DATABASE,
  GROUP,
  LEDGER_OWNER,
  SCHEMA,
  TARGET,
  OWNER,
  TRIGGERS,
  REACHED,
  REACHED_SCHEMAS,
  SEQUENCES
};

/* NULL where the catalogue knows none. */
static const char *fact(const Grants *grants, int column) { return pg_peek(grants->facts, 0, column); }

/* From 16 on a membership says itself whether it is inherited; before, the role does. */
static bool membership_inherits(const Grants *grants) { return PQserverVersion(grants->engine->conn) >= 160000; }
static const char *with_inherit(const Grants *grants) {
  return membership_inherits(grants) ? " WITH INHERIT TRUE" : "";
}

/* `name` goes into {table} or {schema}, where the statement has it. */
static void put(const Grants *grants, const char *sql, const char *name) {
  const char *tablespace = grants->engine->tablespace;
  const char *text = sql_fill(
      grants->arena, sql, "role", fact(grants, ROLE), "database", fact(grants, DATABASE), "group", fact(grants, GROUP),
      "group_text", sql_literal(grants->arena, arena_printf(grants->arena, "%s_ledger", grants->engine->schema)),
      "ledger", pg_schema(grants->engine, grants->arena), "tablespace",
      tablespace == NULL ? "" : sql_ident(grants->arena, tablespace), "table", name, "schema", name, "inherit",
      with_inherit(grants), NULL);
  buf_printf(grants->out, "%s\n", text);
}

static void put_each(const Grants *grants, const char *sql, int column) {
  size_t n;
  const char *const *names = pg_array(grants->arena, fact(grants, column), &n);
  for (size_t i = 0; i < n; i++) put(grants, sql, names[i]);
}

static void put_ledger(const Grants *grants) {
  const char *owner = fact(grants, LEDGER_OWNER), *group = PQgetvalue(grants->facts, 0, GROUP);
  buf_printf(grants->out,
             "\n-- The ledger and the backfills' tables belong to a group; who works with them is a member.\n");
  put(grants, sql_facts_grant_group, "");
  buf_printf(grants->out, "-- Not a superuser? First: GRANT %s TO CURRENT_USER;\n", group);
  put(grants, sql_facts_grant_schema, "");
  if (owner != NULL && strcmp(owner, group) != 0) put(grants, sql_facts_grant_owner, "");
  put(grants, sql_facts_grant_tables, "");
  put(grants, sql_facts_grant_member, "");
  if (!membership_inherits(grants) && !pg_bool(grants->facts, 0, INHERITS))
    buf_printf(grants->out, "-- %s does not inherit what its groups may, and must: ALTER ROLE %s INHERIT;\n",
               fact(grants, ROLE), fact(grants, ROLE));
  put(grants, sql_facts_grant_default, "");
  if (grants->engine->tablespace != NULL) put(grants, sql_facts_grant_tablespace, "");
}

static void put_reading(const Grants *grants) {
  buf_puts(grants->out, "\n-- To plan, run and seal: read the target, what its foreign keys reach, and the sources.\n");
  put(grants, sql_facts_grant_database, "");
  put(grants, sql_facts_grant_enter, fact(grants, SCHEMA));
  put(grants, sql_facts_grant_read, fact(grants, TARGET));
  put_each(grants, sql_facts_grant_read_sequence, SEQUENCES);
  put_each(grants, sql_facts_grant_enter, REACHED_SCHEMAS);
  put_each(grants, sql_facts_grant_read, REACHED);
  buf_printf(grants->out,
             "-- And for every table that the recompute reads: GRANT SELECT ON … TO %s; GRANT USAGE ON its SCHEMA.\n",
             fact(grants, ROLE));
}

static void put_publishing(const Grants *grants) {
  const char *role = fact(grants, ROLE), *owner = fact(grants, OWNER);
  buf_puts(
      grants->out,
      "\n-- To swap and roll back: write the target; UPDATE also lets it take the lock that stops other writers.\n");
  put(grants, sql_facts_grant_write, fact(grants, TARGET));
  put_each(grants, sql_facts_grant_number, SEQUENCES);
  buf_puts(grants->out,
           "-- See what other sessions do: without it a transaction that is open on the target stops every swap.\n");
  put(grants, sql_facts_grant_watch, "");
  if (pg_bool(grants->facts, 0, TRIGGERS) && strcmp(owner, role) != 0)
    buf_printf(
        grants->out,
        "-- With `triggers: skip` triggers are turned off, which only the owner of the table may. That gives the\n"
        "-- role everything that %s has: GRANT %s TO %s%s;\n",
        owner, owner, role, with_inherit(grants));
}

static bool no_role(const char *role, Error *err) {
  error_set(err, ERR_NOT_FOUND, "there is no role “%s” on this server: it cannot be given rights", role);
  return error_hint(err, "a DBA makes it first: CREATE ROLE … LOGIN");
}

bool pg_grants(Engine *base, Arena *arena, const char *role, const char *target, bool publish, const char **ret,
               Error *err) {
  PgEngine *engine = pg_engine(base);
  PG_SCOPED result = NULL;
  BUF_SCOPED out = {0};
  const char *oid;
  if (!catalog_must_find(engine, arena, target, &oid, err)) return false;
  const char *values[] = {role, oid, engine->schema};
  if (!pg_query(engine, sql_facts_grantee, values, 3, &result, "reading what the role needs", err)) return false;
  if (PQntuples(result) == 0) return no_role(role, err);
  Grants grants = {arena, engine, result, &out};
  buf_printf(&out,
             "-- Lets %s plan, run and seal%s backfills of %s. Nothing of this was run: a superuser, or who owns\n"
             "-- the database and these tables, runs it, in the database %s, once.\n",
             fact(&grants, ROLE), publish ? ", and swap," : "", fact(&grants, TARGET), fact(&grants, DATABASE));
  if (pg_bool(result, 0, SUPER)) {
    buf_printf(&out, "-- %s is a superuser and may do all of it already.\n", fact(&grants, ROLE));
  } else {
    put_ledger(&grants);
    put_reading(&grants);
    if (publish) put_publishing(&grants);
  }
  *ret = arena_strdup(arena, buf_text(&out));
  return true;
}
