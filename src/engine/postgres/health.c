#include "engine/postgres/catalog_int.h"
#include "engine/postgres/postgres_sql.h"

/* What doctor looks at on a server: what it is, how it is reached, what this role may do there. */

enum { NEWEST_TRIED = 18 };

/* The columns of sql_health_session. */
enum {
  VERSION,
  ROLE,
  STANDBY,
  READ_ONLY,
  BACKEND,
  NEAR,
  TEMPORARY,
  MAKE_SCHEMA,
  WATCH,
  SCHEMA_THERE,
  SCHEMA_OPEN,
  LEDGER_TABLES,
  LEDGER_CLOSED
};

typedef struct Look {
  PgEngine *engine;
  Arena *arena;
  const PGresult *facts; /* one row of sql_health_session */
  HealthFact *found;
  size_t n;
} Look;

/* todo "": all is well. */
static void tell(Look *look, const char *what, const char *how, const char *todo, bool bad) {
  look->found = arena_grow(look->arena, look->found, look->n, sizeof *look->found);
  look->found[look->n++] = (HealthFact){what, how, todo, bad};
}

static bool may(const Look *look, int column) { return pg_bool(look->facts, 0, column); }

static const char *ask_for(const Look *look, const char *options) {
  return arena_printf(look->arena, "have a DBA run what this prints: tidegate doctor --grant %s%s",
                      pg_peek(look->facts, 0, ROLE), options);
}

static void look_at_server(Look *look) {
  PGconn *conn = look->engine->conn;
  const char *version = arena_printf(look->arena, "PostgreSQL %s", pg_text(look->arena, look->facts, 0, VERSION));
  bool tried = PQserverVersion(conn) / 10000 <= NEWEST_TRIED;
  tell(look, "server", version, tried ? "" : "Tidegate was tried with 13 to 18: try the way on a copy first", false);
  if (may(look, STANDBY))
    tell(look, "primary", "no: this server is a standby, which can only be read", "connect to the primary server",
         true);
  else if (may(look, READ_ONLY))
    tell(look, "primary", "this session can only read (default_transaction_read_only)",
         "connect as a role that may write", true);
  else
    tell(look, "primary", "yes, it can be written", "", false);
}

static void look_at_connection(Look *look) {
  PGconn *conn = look->engine->conn;
  const char *role = pg_text(look->arena, look->facts, 0, ROLE);
  if (PQsslInUse(conn))
    tell(look, "connection", arena_printf(look->arena, "%s, as %s", PQsslAttribute(conn, "protocol"), role), "", false);
  else if (may(look, NEAR))
    tell(look, "connection", arena_printf(look->arena, "on this machine, without TLS, as %s", role), "", false);
  else
    tell(look, "connection", arena_printf(look->arena, "over the network without TLS, as %s", role),
         "who listens on the way reads rows and SQL: add sslmode=verify-full to the URL", false);
  /* One that shares a connection between sessions was refused when this one was opened. */
  if (pg_int(look->facts, 0, BACKEND) == PQbackendPID(conn))
    tell(look, "pooler", "none", "", false);
  else
    tell(look, "pooler", "one in session mode stands before the server",
         "that works; the server's own port spares its queue and its time limits", false);
}

static void look_at_rights(Look *look) {
  const char *schema = arena_printf(look->arena, "schema %s", look->engine->schema);
  int64_t tables = pg_int(look->facts, 0, LEDGER_TABLES), closed = pg_int(look->facts, 0, LEDGER_CLOSED);
  bool there = may(look, SCHEMA_THERE), works = may(look, SCHEMA_OPEN);
  if (!there && may(look, MAKE_SCHEMA))
    tell(look, schema, "none yet: the first plan makes it", "", false);
  else if (!there)
    tell(look, schema, "none yet, and this role may not make it", ask_for(look, ""), true);
  else if (!works)
    tell(look, schema, "this role may not make tables in it", ask_for(look, ""), true);
  else if (closed > 0)
    tell(look, schema,
         arena_printf(look->arena, "this role may not write %lld of the ledger's %lld tables", (long long)closed,
                      (long long)tables),
         ask_for(look, ""), true);
  else
    tell(look, schema, "this role may work in it", "", false);
  if (!may(look, TEMPORARY))
    tell(look, "temporary tables", "this role may not make any, and a batch is computed in one", ask_for(look, ""),
         true);
  if (!may(look, WATCH))
    tell(
        look, "other sessions",
        "this role does not see what sessions of other roles do: a transaction that is open on the target stops a swap",
        ask_for(look, " --publish"), false);
}

/* Whoever can write the table goes round every gate: there is no other place where that can be closed. */
static bool look_at_writers(Look *look, const char *target, const char *oid, Error *err) {
  PG_SCOPED result = NULL;
  Arena *arena = look->arena;
  if (!pg_query(look->engine, sql_health_writers, &oid, 1, &result, "reading who may write", err)) return false;
  const char *what = arena_printf(arena, "writers of %s", target), *names = pg_text(arena, result, 0, 0);
  long long n = (long long)pg_int(result, 0, 1), supers = (long long)pg_int(result, 0, 2);
  const char *beside = arena_printf(arena, "%lld superuser%s", supers, supers == 1 ? "" : "s");
  if (n == 0)
    tell(look, what, arena_printf(arena, "%s, and no other role that may log in", beside), "", false);
  else
    tell(look, what, arena_printf(arena, "%s; and %s", names, beside),
         n == 1 ? ""
                : "who logs in as one of these goes round the gate: leave the right to the production job alone, and "
                  "take it from people and agents (docs/how-to-hooks.md)",
         false);
  return true;
}

static bool look_at_target(Look *look, const char *target, Error *err) {
  PG_SCOPED result = NULL;
  const char *oid, *what = arena_printf(look->arena, "target %s", target);
  const char *options = arena_printf(look->arena, " %s", target);
  if (!catalog_find(look->engine, look->arena, target, &oid, err)) return false;
  if (oid == NULL) {
    tell(look, what, "there is no such table that this role can see", ask_for(look, options), true);
    return true;
  }
  if (!pg_query(look->engine, sql_health_table, &oid, 1, &result, "reading the role's rights", err)) return false;
  if (PQntuples(result) == 0 || !pg_bool(result, 0, 0))
    tell(look, what, "this role may not read it", ask_for(look, options), true);
  else if (!pg_bool(result, 0, 1))
    tell(look, what, "this role may plan, run and seal, and not swap",
         ask_for(look, arena_printf(look->arena, " --publish%s", options)), false);
  else
    tell(look, what, "this role may read and write it", "", false);
  return look_at_writers(look, target, oid, err);
}

bool pg_health(Engine *base, Arena *arena, const char *const *targets, size_t n, const HealthFact **ret, size_t *ret_n,
               Error *err) {
  PgEngine *engine = pg_engine(base);
  PG_SCOPED result = NULL;
  if (!pg_query(engine, sql_health_session, (const char *const[]){engine->schema}, 1, &result, "looking at the server",
                err))
    return false;
  Look look = {engine, arena, result, NULL, 0};
  look_at_server(&look);
  look_at_connection(&look);
  look_at_rights(&look);
  for (size_t i = 0; i < n; i++)
    if (!look_at_target(&look, targets[i], err)) return false;
  *ret = look.found;
  *ret_n = look.n;
  return true;
}
