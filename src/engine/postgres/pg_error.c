#include <string.h>

#include "engine/postgres/postgres_int.h"

/* What SQLSTATEs mean to Tidegate. */

typedef struct State {
  const char *state; /* a prefix of the SQLSTATE */
  ErrorCode code;
  const char *words; /* said instead of the server's; NULL: the server's */
} State;

static const State states[] = {
    {"55P03", ERR_LOCKED, "a lock that another session holds was not to be had in time"},
    {"40001", ERR_LOCKED, "another session changed the same rows at the same time"},
    {"40P01", ERR_LOCKED, "another session and this one waited for each other (a deadlock)"},
    {"57014", ERR_PAUSED, NULL},
    {"22", ERR_HELD, NULL},
    {"23", ERR_HELD, NULL},
    {"53100", ERR_FULL, "the server's disk is full"},
    {"42P01", ERR_NOT_FOUND, NULL},
    {"42704", ERR_NOT_FOUND, NULL},
};

static const State *state_of(const char *sqlstate) {
  static const State other = {"", ERR_DATABASE, NULL};
  for (size_t i = 0; i < sizeof states / sizeof *states; i++)
    if (strncmp(sqlstate, states[i].state, strlen(states[i].state)) == 0) return &states[i];
  return &other;
}

static bool starts(const char *text, const char *prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

static const char *field(const PGresult *result, int code) {
  const char *text = PQresultErrorField(result, code);
  return text == NULL ? "" : text;
}

/* The connection is gone and so is what was under way; `result` holds the server's last words, if there were any. */
static bool fail_lost(PgEngine *engine, const PGresult *result, const char *doing, Error *err) {
  const char *words = field(result, PG_DIAG_MESSAGE_PRIMARY);
  engine->sqlstate[0] = '\0';
  if (starts(field(result, PG_DIAG_SQLSTATE), "25P03"))
    words = "the transaction stood idle for longer than idle_in_transaction_session_timeout allows";
  error_set(err, ERR_DATABASE, "the connection to the server was lost while %s%s%s", doing, *words == '\0' ? "" : ": ",
            words);
  return error_hint(err, "the same command carries on");
}

static void add_hint(const char *sqlstate, const PGresult *result, Error *err) {
  const char *hint = field(result, PG_DIAG_MESSAGE_HINT);
  if (strcmp(sqlstate, "42501") == 0)
    error_hint(err,
               "have an owner of the database grant what is missing: tidegate doctor --grant ROLE prints it, with "
               "--publish also what a swap needs");
  else if (strcmp(sqlstate, "25006") == 0)
    error_hint(err, "connect to the primary server, as a role that may write");
  else if (starts(sqlstate, "42") && *hint != '\0')
    error_hint(err, "%s", hint);
}

bool pg_fail(PgEngine *engine, const PGresult *result, const char *doing, Error *err) {
  const char *sqlstate = field(result, PG_DIAG_SQLSTATE);
  if (PQstatus(engine->conn) == CONNECTION_BAD) return fail_lost(engine, result, doing, err);
  memcpy(engine->sqlstate, "XX000", sizeof engine->sqlstate);
  if (strlen(sqlstate) == 5) memcpy(engine->sqlstate, sqlstate, sizeof engine->sqlstate);
  const State *state = state_of(sqlstate);
  const char *words = state->words, *detail = field(result, PG_DIAG_MESSAGE_DETAIL);
  if (words == NULL) words = field(result, PG_DIAG_MESSAGE_PRIMARY);
  if (*words == '\0') words = "the server gave no answer that can be read";
  if (strcmp(sqlstate, "42601") == 0 && strstr(words, "multiple commands") != NULL)
    words = "it holds several statements; one is meant, without anything behind its end";
  if (*detail != '\0' && state->words == NULL)
    error_set(err, state->code, "%s: %s (%s)", doing, words, detail);
  else
    error_set(err, state->code, "%s: %s", doing, words);
  add_hint(sqlstate, result, err);
  return false;
}

const char *pg_sqlstate(const PgEngine *engine) { return engine->sqlstate; }
