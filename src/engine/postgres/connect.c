#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "engine/postgres/postgres_int.h"
#include "engine/postgres/postgres_sql.h"

enum { OLDEST_VERSION = 130000, WATCH_VERSION = 140000, CONNECT_SECONDS = 10 };

/* ---- the URL --------------------------------------------------------------------------------------------------- */

/* Is the option set to something? */
static bool is_given(const PQconninfoOption *options, const char *keyword) {
  for (; options->keyword != NULL; options++)
    if (strcmp(options->keyword, keyword) == 0) return options->val != NULL && options->val[0] != '\0';
  return false;
}

/* What libpq itself hides when it shows its options: passwords. */
static bool holds_secret(const PQconninfoOption *options) {
  for (; options->keyword != NULL; options++)
    if (options->dispchar[0] == '*' && options->val != NULL && options->val[0] != '\0') return true;
  return false;
}

/* Looks the URL over; nothing of a faulty one is said, since it may hold a password. */
static bool check_url(const char *url, bool *ret_timeout, Error *err) {
  PQconninfoOption *options = PQconninfoParse(url, NULL);
  if (options == NULL) {
    error_set(err, ERR_USAGE, "the database URL cannot be read");
    return error_hint(err, "write it as postgresql://user@host:port/database?option=value, special characters as %%XX");
  }
  bool secret = holds_secret(options);
  *ret_timeout = is_given(options, "connect_timeout");
  PQconninfoFree(options);
  if (!secret) return true;
  error_set(err, ERR_USAGE,
            "the database URL holds a password, which everybody on this machine could read in the list of processes");
  return error_hint(err,
                    "take it out of the URL; libpq finds it in ~/.pgpass, PGPASSFILE, PGPASSWORD or a service file");
}

/* ---- connecting ------------------------------------------------------------------------------------------------ */

static void say_nothing(void *context, const char *message) {}

/* What the server says to nobody: only its last words matter. */
static void take_note(void *context, const PGresult *notice) {
  PgEngine *engine = context;
  const char *severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
  if (severity != NULL && (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0)) engine->dismissed = true;
}

/* libpq's words on one line; they name host, port and user, never a password. */
static const char *words_of(Arena *arena, PGconn *conn) {
  char *words = arena_strdup(arena, PQerrorMessage(conn));
  size_t n = strlen(words);
  while (n > 0 && words[n - 1] == '\n') words[--n] = '\0';
  for (char *s = words; *s != '\0'; s++)
    if (*s == '\n' || *s == '\t') *s = ' ';
  return words;
}

/* What to do about a connection that failed, by libpq's words or the server's. */
static const char *way_out_of(const char *words) {
  static const struct {
    const char *words, *todo;
  } ways[] = {
      {"certificate verify failed",
       "the server's certificate is not signed by the authority that sslrootcert= names: "
       "ask whoever runs the server for its certificate, or somebody else answers there"},
      {"root certificate file", "name the file with the certificate of the server's authority by sslrootcert=FILE"},
      {"does not match host name", "connect by the name that the certificate gives; hostaddr= keeps the address"},
      {"private key file", "the client's key is for its owner alone: chmod 600 it, or name another by sslkey=FILE"},
      {"valid client certificate", "the server wants a certificate of this user: sslcert=FILE and sslkey=FILE"},
      {"certificate authentication failed",
       "the certificate of sslcert= is of another user: take that user's, or "
       "have it mapped in pg_ident.conf"},
      {"no encryption",
       "the server lets this user in by TLS alone, if at all: sslmode=verify-full and sslrootcert=FILE"},
      {"SSL off", "the server lets this user in by TLS alone, if at all: sslmode=verify-full and sslrootcert=FILE"},
      {"does not support SSL",
       "the server has no TLS: have it turned on (ssl = on), or find out who else answers there"},
      {"no pg_hba.conf entry",
       "the server lets this user not in from here: ask whoever runs it for a line in pg_hba.conf"},
  };
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
    if (strstr(words, ways[i].words) != NULL) return ways[i].todo;
  return "check `database:` in the spec or --database; a password belongs into ~/.pgpass or PGPASSWORD";
}

static PGconn *open_connection(const char *url, const char *timeout) {
  /* What stands before dbname may be overruled by the URL, what stands behind it not. A server that does not answer is
   * given up after some 25 seconds. `timeout` "": the URL's own. */
  const char *const keywords[] = {"fallback_application_name",
                                  "connect_timeout",
                                  "keepalives_idle",
                                  "keepalives_interval",
                                  "keepalives_count",
                                  "tcp_user_timeout",
                                  "dbname",
                                  "client_encoding",
                                  NULL};
  const char *const values[] = {"tidegate", timeout, "10", "5", "3", "25000", url, "UTF8", NULL};
  PGconn *conn = PQconnectdbParams(keywords, values, 1);
  if (conn == NULL) error_out_of_memory();
  PQsetNoticeProcessor(conn, say_nothing, NULL);
  return conn;
}

/* ---- poolers --------------------------------------------------------------------------------------------------- */

enum { FIRST_ANSWER_MS = 10000, PROBE_MS = 3000, PROBES = 8 };

/* The process that answers on a connection; 0 when none does in time, −1 when the statement is refused. */
static int64_t backend_of(PGconn *conn, const char *sql, int wait_ms) {
  PG_SCOPED result = NULL;
  if (!PQsendQuery(conn, sql)) return -1;
  for (;;) {
    while (PQisBusy(conn)) {
      struct pollfd socket = {.fd = PQsocket(conn), .events = POLLIN};
      if (poll(&socket, 1, wait_ms) <= 0) return 0;
      if (!PQconsumeInput(conn)) return -1;
    }
    PGresult *next = PQgetResult(conn);
    if (next == NULL) break;
    PQclear(result);
    result = next;
  }
  return PQresultStatus(result) == PGRES_TUPLES_OK ? pg_int(result, 0, 0) : -1;
}

/*
 * A pooler stands between when the process that answers (`mine`) is not the one that greeted. It may hand the server's
 * connection to somebody else after each transaction; then settings, locks and temporary tables are not kept. It does
 * so when a second connection is answered by the same process while the first stands idle (a pool that hands out what
 * was used last), or when the first is answered by another one than before (a pool that takes turns). Other clients may
 * come between: it is tried several times.
 */
static bool pooler_shares(PGconn *conn, int64_t mine, const char *url, const char *timeout) {
  PGconn *second = open_connection(url, timeout);
  bool shares = PQstatus(second) != CONNECTION_OK; /* what is not known is not relied on */
  for (int i = 0; i < PROBES && !shares; i++) {
    int64_t again = backend_of(conn, sql_session_backend, PROBE_MS);
    int64_t other = again == mine ? backend_of(second, sql_session_backend, PROBE_MS) : -1;
    if (other == 0) break; /* it waits for a server connection of its own */
    shares = other < 0 || other == mine;
  }
  PQfinish(second);
  return shares;
}

/* ---- the session ------------------------------------------------------------------------------------------------ */

static bool check_server(PGconn *conn, const char *url, const char *timeout, Error *err) {
  int version = PQserverVersion(conn);
  if (version < OLDEST_VERSION) {
    error_set(err, ERR_DATABASE, "the server runs PostgreSQL %d; Tidegate needs what 13 and later can do",
              version / 10000);
    return error_hint(err, "upgrade the server: PostgreSQL %d gets no more security fixes", version / 10000);
  }
  int64_t mine = backend_of(conn, sql_session_backend, FIRST_ANSWER_MS);
  if (mine <= 0) {
    error_set(err, ERR_DATABASE, "connected, but the server (or the pool before it) answers nothing");
    return error_hint(err, "the pool may be used up: look at its clients, then try again");
  }
  if (mine == PQbackendPID(conn) || !pooler_shares(conn, mine, url, timeout)) return true;
  error_set(err, ERR_DATABASE,
            "a connection pooler stands before the server, and not in session mode: it hands the connection to others "
            "between two transactions, so that settings, locks and temporary tables are not kept");
  return error_hint(err, "connect to the server's own port, or to a pool in session mode");
}

static bool pin(PgEngine *engine, Error *err) {
  PG_SCOPED result = PQexec(engine->conn, sql_session_pin);
  if (PQresultStatus(result) != PGRES_TUPLES_OK) return pg_fail(engine, result, "setting the session up", err);
  if (PQserverVersion(engine->conn) >= WATCH_VERSION) PQclear(PQexec(engine->conn, sql_session_pin_watch));
  snprintf(engine->recovered, sizeof engine->recovered, "%s", PQgetvalue(result, 0, PQfnumber(result, "recovered")));
  return true;
}

bool pg_connect(PgEngine *engine, Error *err) {
  ARENA_SCOPED arena = {0};
  bool own_timeout = false;
  if (!libpq_load(err) || !check_url(engine->url, &own_timeout, err)) return false;
  own_timeout = own_timeout || getenv("PGCONNECT_TIMEOUT") != NULL;
  const char *timeout =
      own_timeout ? ""
                  : arena_printf(&arena, "%d", engine->connect_seconds > 0 ? engine->connect_seconds : CONNECT_SECONDS);
  PQfinish(engine->conn);
  engine->transaction = engine->dismissed = engine->ledger = engine->verdicts = false;
  engine->conn = open_connection(engine->url, timeout);
  PQsetNoticeReceiver(engine->conn, take_note, engine);
  if (PQstatus(engine->conn) != CONNECTION_OK) {
    const char *words = words_of(&arena, engine->conn);
    error_set(err, ERR_DATABASE, "cannot connect: %s", words);
    error_hint(err, "%s", way_out_of(words));
  } else if (check_server(engine->conn, engine->url, timeout, err) && pin(engine, err)) {
    return true;
  }
  PQfinish(engine->conn);
  engine->conn = NULL;
  return false;
}

bool pg_reconnect(PgEngine *engine, Error *err) {
  double begun = clock_seconds();
  long pause_ms = 100;
  for (int tries = 1; !pg_connect(engine, err); tries++, pause_ms *= 3) {
    if (tries == 5 || clock_seconds() - begun + (double)pause_ms / 1000 > 10) return false;
    const struct timespec pause = {.tv_sec = pause_ms / 1000, .tv_nsec = pause_ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
  }
  return true;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

const char *pg_schema(const PgEngine *engine, Arena *arena) { return sql_ident(arena, engine->schema); }

const char *pg_object(const PgEngine *engine, Arena *arena, const char *id, const char *role) {
  return arena_printf(arena, "%s.%s", pg_schema(engine, arena),
                      sql_ident(arena, arena_printf(arena, "tidegate_%s_%s", id, role)));
}
