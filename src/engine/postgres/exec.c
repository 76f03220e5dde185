#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "engine/postgres/postgres_int.h"

/* ---- one statement --------------------------------------------------------------------------------------------- */

enum { ASK_MS = 100 }; /* how often a running statement is asked for its end */

static bool must_stop(const PgEngine *engine, double now) {
  if (engine->deadline > 0 && now > engine->deadline) return true;
  return engine->interrupt != NULL && !engine->interrupt->go_on(engine->interrupt->context);
}

/* Asks the server to end what runs. A request may overtake its statement: it is repeated until the statement ends. */
static void request_cancel(PgEngine *engine) {
  char ignored[256];
  PGcancel *cancel = PQgetCancel(engine->conn);
  if (cancel != NULL) PQcancel(cancel, ignored, sizeof ignored);
  PQfreeCancel(cancel);
}

/* Waits until PQgetResult does not block: the server has answered, or the connection is gone. */
static void wait_for_answer(PgEngine *engine, bool *stopped) {
  double asked = clock_seconds();
  while (PQisBusy(engine->conn)) {
    struct pollfd socket = {.fd = PQsocket(engine->conn), .events = POLLIN};
    int ready = poll(&socket, 1, ASK_MS);
    if (ready > 0 && !PQconsumeInput(engine->conn)) return;
    if (ready < 0 && errno != EINTR) return;
    double now = clock_seconds();
    if (now - asked < ASK_MS / 1000.0 && ready >= 0) continue;
    asked = now;
    if (!*stopped && !must_stop(engine, now)) continue;
    *stopped = true;
    request_cancel(engine);
  }
}

static void drop_connection(PgEngine *engine) {
  PQfinish(engine->conn);
  engine->conn = NULL;
}

static bool is_copy(ExecStatusType status) {
  return status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH;
}

/* Everything that the server says to what was sent, to its end; the first failure, else the last result. */
static PGresult *drain(PgEngine *engine, bool *stopped) {
  PGresult *kept = NULL;
  for (;;) {
    wait_for_answer(engine, stopped);
    PGresult *next = PQgetResult(engine->conn);
    if (next == NULL) break;
    if (kept != NULL && PQresultStatus(kept) == PGRES_FATAL_ERROR) {
      PQclear(next);
      continue;
    }
    PQclear(kept);
    kept = next;
    if (!is_copy(PQresultStatus(kept))) continue;
    drop_connection(engine); /* the only sure way out of a COPY that nobody asked for */
    break;
  }
  if (PQstatus(engine->conn) == CONNECTION_OK) engine->transaction = PQtransactionStatus(engine->conn) != PQTRANS_IDLE;
  return kept;
}

/* Has the server closed the connection while nothing was under way? */
static bool is_lost(PgEngine *engine) {
  if (PQstatus(engine->conn) == CONNECTION_BAD) return true;
  for (int reads = 0; reads < 10; reads++) {
    struct pollfd socket = {.fd = PQsocket(engine->conn), .events = POLLIN};
    if (poll(&socket, 1, 0) <= 0) break;
    if (!PQconsumeInput(engine->conn)) return true;
    PQisBusy(engine->conn); /* takes what was said to nobody out of the buffer, and notes it */
  }
  return engine->dismissed;
}

/* Before anything is sent: a connection that stands. Inside a transaction a lost one stays lost. */
static bool ready(PgEngine *engine, const char *doing, Error *err) {
  if (!is_lost(engine)) return true;
  if (engine->dismissed) drop_connection(engine);
  if (engine->transaction || engine->writer_open) return pg_fail(engine, NULL, doing, err);
  engine->sqlstate[0] = '\0';
  return pg_reconnect(engine, err) || error_wrap(err, "%s", doing);
}

static bool answer(PgEngine *engine, int sent, PGresult **ret, const char *doing, Error *err) {
  bool stopped = false;
  PG_SCOPED result = NULL;
  if (sent) result = drain(engine, &stopped);
  ExecStatusType status = PQresultStatus(result);
  if (PQstatus(engine->conn) == CONNECTION_OK && (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK)) {
    *ret = result;
    result = NULL;
    return true;
  }
  engine->sqlstate[0] = '\0';
  if (is_copy(status)) return error_set(err, ERR_SPEC, "%s: COPY gives no rows that can be read here", doing);
  pg_fail(engine, result, doing, err);
  if (stopped && err->code == ERR_PAUSED) return error_set(err, ERR_PAUSED, "%s: stopped before it had ended", doing);
  return false;
}

bool pg_query(PgEngine *engine, const char *sql, const char *const *values, int n, PGresult **ret, const char *doing,
              Error *err) {
  if (!ready(engine, doing, err)) return false;
  int sent = PQsendQueryParams(engine->conn, sql, n, NULL, values, NULL, NULL, 0);
  return answer(engine, sent, ret, doing, err);
}

bool pg_run(PgEngine *engine, const char *sql, const char *const *values, int n, int64_t *ret_affected,
            const char *doing, Error *err) {
  PG_SCOPED result = NULL;
  if (!pg_query(engine, sql, values, n, &result, doing, err)) return false;
  if (ret_affected != NULL) *ret_affected = strtoll(PQcmdTuples(result), NULL, 10);
  return true;
}

bool pg_number(PgEngine *engine, const char *sql, const char *const *values, int n, int64_t *ret, const char *doing,
               Error *err) {
  PG_SCOPED result = NULL;
  if (!pg_query(engine, sql, values, n, &result, doing, err)) return false;
  *ret = PQntuples(result) > 0 ? pg_int(result, 0, 0) : 0;
  return true;
}

/* ---- describing ------------------------------------------------------------------------------------------------ */

/* The byte at which the character `position` (from 1) of an UTF-8 text begins. */
static int byte_of_character(const char *text, long position) {
  const char *at = text;
  while (position > 1 && *at != '\0') {
    do at++;
    while (((unsigned char)*at & 0xC0) == 0x80);
    position--;
  }
  return (int)(at - text);
}

static bool describe_failed(PgEngine *engine, const char *sql, const PGresult *result, int *ret_offset, Error *err) {
  const char *position = PQresultErrorField(result, PG_DIAG_STATEMENT_POSITION);
  if (position != NULL) *ret_offset = byte_of_character(sql, strtol(position, NULL, 10));
  const char *state = engine->sqlstate;
  bool text = strncmp(state, "42", 2) == 0 || strncmp(state, "22", 2) == 0 || strncmp(state, "0A", 2) == 0 ||
              strncmp(state, "3F", 2) == 0;
  if (text && strcmp(state, "42501") != 0) err->code = ERR_SPEC;
  return false;
}

bool pg_describe(PgEngine *engine, const char *sql, PGresult **ret_result, int *ret_offset, const char *doing,
                 Error *err) {
  bool stopped = false;
  *ret_offset = -1;
  if (!ready(engine, doing, err)) return false;
  PG_SCOPED prepared = NULL;
  if (PQsendPrepare(engine->conn, "", sql, 0, NULL)) prepared = drain(engine, &stopped);
  if (PQresultStatus(prepared) != PGRES_COMMAND_OK || PQstatus(engine->conn) != CONNECTION_OK) {
    pg_fail(engine, prepared, doing, err);
    return describe_failed(engine, sql, prepared, ret_offset, err);
  }
  PG_SCOPED described = NULL;
  if (!answer(engine, PQsendDescribePrepared(engine->conn, ""), &described, doing, err)) return false;
  if (ret_result == NULL) return true;
  *ret_result = described;
  described = NULL;
  return true;
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

const char *pg_text(Arena *arena, const PGresult *result, int row, int column) {
  const char *text = pg_peek(result, row, column);
  return text == NULL ? NULL : arena_strdup(arena, text);
}

int64_t pg_int(const PGresult *result, int row, int column) {
  const char *text = pg_peek(result, row, column);
  return text == NULL ? 0 : strtoll(text, NULL, 10);
}

double pg_real(const PGresult *result, int row, int column) {
  const char *text = pg_peek(result, row, column);
  return text == NULL ? 0 : strtod(text, NULL);
}

bool pg_bool(const PGresult *result, int row, int column) {
  const char *text = pg_peek(result, row, column);
  return text != NULL && text[0] == 't';
}

/* One element of an array's text, without its quotes and backslashes; *at moves behind it. */
static char *array_element(Arena *arena, const char **at) {
  BUF_SCOPED out = {0};
  bool quoted = **at == '"';
  const char *s = *at + quoted;
  while (*s != '\0' && (quoted ? *s != '"' : *s != ',' && *s != '}')) {
    if (*s == '\\' && s[1] != '\0') s++;
    buf_putc(&out, *s++);
  }
  *at = s + (quoted && *s == '"');
  return arena_strndup(arena, buf_text(&out), out.len);
}

const char *const *pg_array(Arena *arena, const char *text, size_t *ret_n) {
  const char **elements = arena_array(arena, 0, sizeof *elements);
  size_t n = 0;
  const char *at = text + (*text == '{');
  while (*at != '\0' && *at != '}') {
    elements = arena_grow(arena, elements, n, sizeof *elements);
    elements[n++] = array_element(arena, &at);
    if (*at == ',') at++;
  }
  *ret_n = n;
  return elements;
}
