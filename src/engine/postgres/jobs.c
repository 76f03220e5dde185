#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/postgres/postgres_int.h"
#include "engine/postgres/postgres_sql.h"

/* Whether a job runs: by its sessions, its lock, or what a person's query says. */

static const char doing[] = "asking whether a job runs";

/* Every session of Tidegate's says so, whatever the URL names it (session.sql). */
#define OUR_NAME "tidegate"

/* What PostgreSQL keeps of an application's name, in bytes of printable ASCII. */
enum { APPLICATION_NAME = 63 };

/* Answers within `timeout`, and within what was left before, which is put back by in_time. */
static double limit(PgEngine *engine, double timeout) {
  double before = engine->deadline, until = clock_seconds() + timeout;
  if (engine->deadline <= 0 || until < engine->deadline) engine->deadline = until;
  return before;
}

static bool in_time(PgEngine *engine, double before, bool ok, Error *err) {
  engine->deadline = before;
  if (!ok && err->code == ERR_PAUSED) error_set(err, ERR_LOCKED, "the database did not answer in time");
  return ok;
}

/* Runs a person's query, which must not write, and keeps nothing of it. */
static bool look(PgEngine *engine, const char *sql, PGresult **ret, Error *err) {
  Error ignored;
  bool own;
  if (!pg_begin(engine, false, &own, doing, err)) return false;
  bool ok = (own || (pg_run(engine, sql_session_savepoint, NULL, 0, NULL, doing, err) &&
                     pg_run(engine, sql_jobs_fresh, NULL, 0, NULL, doing, err))) &&
            pg_run(engine, sql_session_read_only, NULL, 0, NULL, doing, err);
  ok = ok && pg_query(engine, sql, NULL, 0, ret, doing, err);
  if (!ok && strcmp(pg_sqlstate(engine), "25006") == 0)
    error_set(err, ERR_SPEC, "a query about a job must not write");
  else if (!ok && err->code != ERR_PAUSED && err->code != ERR_LOCKED && strncmp(pg_sqlstate(engine), "42", 2) == 0)
    err->code = ERR_SPEC;
  if (own) {
    pg_undo(engine, true); /* there is nothing to keep */
  } else if (engine->transaction) {
    Error *of = ok ? err : &ignored;
    ok = pg_run(engine, sql_session_back, NULL, 0, NULL, doing, of) &&
         pg_run(engine, sql_session_release, NULL, 0, NULL, doing, of) && ok;
  }
  return ok;
}

/* A whole text that is a number; a truth value counts as 1 and 0. */
static bool read_number(const PGresult *result, double *ret, Error *err) {
  enum { BOOL_OID = 16 };
  if (PQnfields(result) != 1)
    return error_set(err, ERR_SPEC, "a query for a number gave %d columns instead of one", PQnfields(result));
  if (PQntuples(result) != 1)
    return error_set(err, ERR_SPEC, "a query for a number gave %s", PQntuples(result) == 0 ? "no row" : "several rows");
  const char *text = pg_peek(result, 0, 0);
  if (text == NULL) return error_set(err, ERR_SPEC, "a query for a number gave NULL");
  if (PQftype(result, 0) == BOOL_OID) {
    *ret = text[0] == 't';
    return true;
  }
  char *end = NULL;
  double number = strtod(text, &end);
  if (end == text || *end != '\0') return error_set(err, ERR_SPEC, "a query for a number gave a value that is not one");
  *ret = number;
  return true;
}

bool pg_job_number(Engine *base, const char *sql, double timeout, double *ret, Error *err) {
  PG_SCOPED result = NULL;
  PgEngine *engine = pg_engine(base);
  double before = limit(engine, timeout);
  return in_time(engine, before, look(engine, sql, &result, err), err) && read_number(result, ret, err);
}

/* Without what ends a statement: it becomes part of another. */
static const char *inner(Arena *arena, const char *sql) {
  size_t n = strlen(sql);
  while (n > 0 && strchr("; \t\r\n", sql[n - 1]) != NULL) n--;
  return arena_strndup(arena, sql, n);
}

bool pg_age(Engine *base, const char *sql, double timeout, double *ret, Error *err) {
  ARENA_SCOPED arena = {0};
  PG_SCOPED result = NULL;
  PgEngine *engine = pg_engine(base);
  double before = limit(engine, timeout);
  const char *text = arena_printf(&arena, "%s\n%s\n%s", sql_jobs_age_before, inner(&arena, sql), sql_jobs_age_after);
  bool ok = in_time(engine, before, look(engine, text, &result, err), err);
  if (!ok) return false;
  if (PQntuples(result) > 1) return error_set(err, ERR_SPEC, "a query for a time gave several rows");
  *ret = PQntuples(result) == 0 || pg_peek(result, 0, 0) == NULL ? INFINITY : pg_real(result, 0, 0);
  return true;
}

/* ---- sessions --------------------------------------------------------------------------------------------------- */

static const char *or_nobody(const char *text) { return text == NULL || *text == '\0' ? "-" : text; }

static void found(Arena *arena, const PGresult *result, const char *what, SessionFacts *facts) {
  const char *application = pg_peek(result, 0, 2);
  facts->since = pg_int(result, 0, 4);
  facts->found = arena_printf(arena, "session %s of %s%s%s%s %s", or_nobody(pg_peek(result, 0, 0)),
                              or_nobody(pg_peek(result, 0, 1)), or_nobody(application)[0] == '-' ? "" : " (",
                              or_nobody(application)[0] == '-' ? "" : application,
                              or_nobody(application)[0] == '-' ? "" : ")", what);
}

static bool unknown(SessionFacts *facts, const char *why, const char *remedy) {
  facts->unknown = why;
  facts->remedy = remedy;
  return true;
}

/* Could no session ever have such a name? Then it would always look idle. */
static bool look_at_names(PgEngine *engine, Arena *arena, const SessionQuestion *question, SessionFacts *facts,
                          Error *err) {
  int64_t roles = 1;
  const char *name = question->application;
  for (const char *s = name; s != NULL && *s != '\0'; s++)
    if (*s < ' ' || *s > '~' || s - name >= APPLICATION_NAME)
      return unknown(facts, "no session can have that application name: PostgreSQL keeps 63 bytes of printable ASCII",
                     "write live.application as pg_stat_activity shows it");
  if (name != NULL && strncmp(name, OUR_NAME, strlen(OUR_NAME)) == 0)
    return unknown(facts, "names that begin with tidegate are those of Tidegate's own sessions",
                   "give the job another application_name");
  const char *const values[] = {question->role};
  if (question->role != NULL && !pg_number(engine, sql_jobs_has_role, values, 1, &roles, doing, err)) return false;
  if (roles == 0)
    return unknown(facts, arena_printf(arena, "there is no role %s", question->role), "correct live.role");
  return true;
}

static bool look_at_sessions(PgEngine *engine, Arena *arena, const SessionQuestion *question, SessionFacts *facts,
                             Error *err) {
  PG_SCOPED fresh = NULL;
  PG_SCOPED result = NULL;
  const char *const values[] = {question->application, question->role, question->query, question->except};
  if (question->application == NULL && question->role == NULL && question->query == NULL) return true;
  if (!pg_query(engine, sql_jobs_fresh, NULL, 0, &fresh, doing, err) ||
      !pg_query(engine, sql_jobs_session, values, 4, &result, doing, err))
    return false;
  if (PQntuples(result) == 0) return true;
  if (pg_bool(result, 0, 5)) {
    const char *state = pg_peek(result, 0, 3);
    found(arena, result, state == NULL ? "is connected" : arena_printf(arena, "is %s", state), facts);
    return true;
  }
  return unknown(facts,
                 arena_printf(arena, "what session %s of %s does cannot be seen", or_nobody(pg_peek(result, 0, 0)),
                              or_nobody(pg_peek(result, 0, 1))),
                 pg_peek(result, 0, 3) != NULL
                     ? "track_activities is off for it: switch it on, or ask by live.role, application or advisory_lock"
                     : arena_printf(arena,
                                    "grant it: GRANT pg_read_all_stats TO %s; or ask by live.role, application "
                                    "or advisory_lock",
                                    sql_ident(arena, PQuser(engine->conn))));
}

static bool look_at_lock(PgEngine *engine, Arena *arena, const SessionQuestion *question, SessionFacts *facts,
                         Error *err) {
  const char *key = question->advisory_lock;
  PG_SCOPED result = NULL;
  if (key == NULL) return true;
  size_t first = strcspn(key, ",");
  const char *const values[] = {arena_strndup(arena, key, first), key[first] == ',' ? key + first + 1 : NULL,
                                question->except};
  if (!pg_query(engine, sql_jobs_lock, values, 3, &result, doing, err)) return false;
  if (PQntuples(result) > 0)
    found(arena, result, arena_printf(arena, "%s advisory lock %s", pg_peek(result, 0, 3), key), facts);
  return true;
}

bool pg_end_sessions(Engine *base, const char *application, Error *err) {
  const char *const values[] = {application};
  int64_t ended;
  return pg_number(pg_engine(base), sql_jobs_end, values, 1, &ended, "ending the sessions of a tool", err);
}

bool pg_sessions(Engine *base, Arena *arena, const SessionQuestion *question, double timeout, SessionFacts *ret,
                 Error *err) {
  PgEngine *engine = pg_engine(base);
  SessionFacts facts = {0};
  double before = limit(engine, timeout);
  bool ok = look_at_lock(engine, arena, question, &facts, err) &&
            (facts.found != NULL || look_at_names(engine, arena, question, &facts, err)) &&
            (facts.found != NULL || facts.unknown != NULL || look_at_sessions(engine, arena, question, &facts, err));
  if (in_time(engine, before, ok, err)) *ret = facts;
  return ok;
}
