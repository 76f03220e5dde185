#include <string.h>
#include <time.h>

#include "engine/postgres/postgres_int.h"
#include "engine/postgres/postgres_sql.h"

bool pg_in_transaction(const PgEngine *engine) { return engine->transaction; }

bool pg_begin(PgEngine *engine, bool snapshot, bool *ret_own, const char *doing, Error *err) {
  bool own = !engine->transaction;
  if (own && !pg_run(engine, snapshot ? sql_session_begin_snapshot : sql_session_begin, NULL, 0, NULL, doing, err))
    return false;
  *ret_own = own;
  return true;
}

void pg_undo(PgEngine *engine, bool own) {
  if (!own) return;
  /* What was to be stopped is: its end is not. */
  const Interrupt *interrupt = engine->interrupt;
  double deadline = engine->deadline;
  char sqlstate[sizeof engine->sqlstate];
  memcpy(sqlstate, engine->sqlstate, sizeof sqlstate);
  engine->interrupt = NULL;
  engine->deadline = 0;
  Error ignored;
  /* A request to cancel that came late may hit the first ROLLBACK. */
  for (int tries = 0; tries < 3 && engine->transaction && PQstatus(engine->conn) == CONNECTION_OK; tries++)
    pg_run(engine, sql_session_rollback, NULL, 0, NULL, "rolling back", &ignored);
  if (engine->transaction) { /* the server rolls back what it has no client for */
    PQfinish(engine->conn);
    engine->conn = NULL;
    engine->transaction = false;
  }
  engine->interrupt = interrupt;
  engine->deadline = deadline;
  memcpy(engine->sqlstate, sqlstate, sizeof sqlstate);
}

/* ---- commit ---------------------------------------------------------------------------------------------------- */

typedef struct Xact {
  char id[24];      /* "" when the transaction has written nothing */
  char timeline[9]; /* of the server that ran it */
  char recovered[sizeof(((PgEngine *)NULL)->recovered)];
  bool elsewhere; /* it wrote to tables that are not Tidegate's */
} Xact;

static bool read_xact(PgEngine *engine, Xact *ret, const char *doing, Error *err) {
  PG_SCOPED result = NULL;
  if (!pg_query(engine, sql_session_xact, (const char *const[]){engine->schema}, 1, &result, doing, err)) return false;
  *ret = (Xact){0};
  const char *id = pg_peek(result, 0, 0), *timeline = pg_peek(result, 0, 1);
  if (id == NULL || timeline == NULL) return true;
  ret->elsewhere = pg_bool(result, 0, 2);
  strncpy(ret->id, id, sizeof ret->id - 1);
  strncpy(ret->timeline, timeline, sizeof ret->timeline - 1);
  memcpy(ret->recovered, engine->recovered, sizeof ret->recovered);
  return true;
}

/* What wrote to our own tables alone is noted as ours: it changes nothing that anybody else computes with. A swap is
 * not: to every other backfill it is a change like that of any writer. */
static bool prepare_commit(PgEngine *engine, Xact *ret, const char *doing, Error *err) {
  if (!read_xact(engine, ret, doing, err)) return false;
  return ret->id[0] == '\0' || ret->elsewhere || pg_ledger_own_xact(engine, err);
}

/* A writing COMMIT was sent and no answer came: asks the server what became of it, for ten seconds while its process
 * still works on it. */
static bool settle(PgEngine *engine, const Xact *xact, const char *doing, Error *err) {
  const char *const values[] = {xact->id, xact->timeline, xact->recovered};
  const struct timespec moment = {.tv_nsec = 100 * 1000 * 1000};
  Error reason;
  if (pg_reconnect(engine, &reason)) {
    for (int tries = 0; tries < 100; tries++) {
      PG_SCOPED result = NULL;
      if (!pg_query(engine, sql_session_xact_status, values, 3, &result, doing, &reason)) break;
      const char *status = pg_peek(result, 0, 0);
      if (status == NULL) break;
      if (strcmp(status, "committed") == 0) return true;
      if (strcmp(status, "aborted") == 0) {
        error_set(err, ERR_DATABASE, "the connection to the server was lost while %s: nothing of it was committed",
                  doing);
        return error_hint(err, "the same command carries on");
      }
      nanosleep(&moment, NULL);
    }
  }
  error_set(err, ERR_DATABASE,
            "the connection to the server was lost while %s, and whether it was committed cannot be asked now", doing);
  return error_hint(err, "the same command carries on: it reads from the ledger what happened");
}

/* Sends COMMIT. What is under way is not asked whether it shall go on any more: it is done. */
static bool send_commit(PgEngine *engine, bool *ret_lost, const char *doing, Error *err) {
  const Interrupt *interrupt = engine->interrupt;
  PG_SCOPED result = NULL;
  engine->interrupt = NULL;
  bool ok = pg_query(engine, sql_session_commit, NULL, 0, &result, doing, err);
  engine->interrupt = interrupt;
  *ret_lost = !ok && PQstatus(engine->conn) == CONNECTION_BAD;
  if (!ok || strcmp(PQcmdStatus(result), "COMMIT") == 0) return ok;
  return error_set(err, ERR_DATABASE, "%s: the server rolled back, since a statement had failed before", doing);
}

bool pg_end(PgEngine *engine, bool own, bool ok, const char *doing, Error *err) {
  Xact xact;
  bool lost;
  if (!own) return ok;
  if (!ok || !prepare_commit(engine, &xact, doing, err)) {
    pg_undo(engine, true);
    return false;
  }
  bool wrote = xact.id[0] != '\0';
  if (send_commit(engine, &lost, doing, err)) return true;
  if (!lost) {
    pg_undo(engine, true);
    return false;
  }
  engine->transaction = false;
  return !wrote || settle(engine, &xact, doing, err);
}
