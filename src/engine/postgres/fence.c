#include "engine/postgres/postgres_sql.h"
#include "engine/postgres/work.h"

/*
 * Who else is at the target. A session that has read it in a transaction that is still open may write back what it read
 * (seen: an upsert after the swap reverted it without an error). So there must be none when the fence goes up, and none
 * that came since when the swap is committed.
 */

static const char looking[] = "looking for open transactions";

/* Milliseconds that readers may have to wait behind us; the longer one where all else was tried. */
static const char *const MOMENT_MS = "10", *const LONGEST_MS = "500";
enum { SHUT_TRIES = 3 };

void pg_fence_name_blockers(PgEngine *engine, const char *table, Error *err) {
  BUF_SCOPED who = {0};
  PG_SCOPED rows = NULL;
  Error ignored;
  if (!pg_query(engine, sql_objects_blockers, &table, 1, &rows, "looking who holds the lock", &ignored)) return;
  for (int i = 0; i < PQntuples(rows); i++) {
    buf_printf(&who, "%s%s (pid %s, user %s, %s, for %s s", i == 0 ? "" : "; ", pg_peek(rows, i, 2),
               pg_peek(rows, i, 0), pg_peek(rows, i, 1), pg_peek(rows, i, 3), pg_peek(rows, i, 4));
    if (pg_bool(rows, i, 7)) buf_puts(&who, ", to prevent wraparound: let it end first");
    buf_printf(&who, "): %s", pg_peek(rows, i, 5));
  }
  if (who.len == 0) return;
  error_set(err, ERR_LOCKED, "%s is written by another session: %s", table, buf_text(&who));
  error_hint(err, "production is untouched. Wait for it to end, or end it: SELECT pg_terminate_backend(pid)");
}

typedef enum Others { NOBODY, READERS, MAY_WRITE, WAITS_FOR_LOCK } Others;

/* *err is filled for those that may write: what a caller gives back that is stopped by them. */
static bool look(PgEngine *engine, const char *table, Others *ret, Error *ret_why, Error *err) {
  PG_SCOPED rows = NULL;
  *ret = NOBODY;
  if (!pg_run(engine, sql_jobs_fresh, NULL, 0, NULL, looking, err) ||
      !pg_query(engine, sql_objects_open, &table, 1, &rows, looking, err))
    return false;
  if (PQntuples(rows) == 0) return true;
  *ret = !pg_bool(rows, 0, 7) ? READERS : pg_bool(rows, 0, 8) ? WAITS_FOR_LOCK : MAY_WRITE;
  if (*ret == READERS) return true;
  error_set(ret_why, ERR_LOCKED,
            "%s: a transaction that has read it is open and may still write it: pid %s, user %s, %s, for %s s: %s",
            table, pg_peek(rows, 0, 0), pg_peek(rows, 0, 1), pg_peek(rows, 0, 3), pg_peek(rows, 0, 4),
            pg_peek(rows, 0, 5));
  error_hint(ret_why, pg_bool(rows, 0, 6)
                          ? "production is untouched. What that session does cannot be seen by this role: GRANT "
                            "pg_read_all_stats would show it"
                          : "production is untouched. Wait for it to end, or end it: SELECT pg_terminate_backend(pid)");
  return true;
}

bool pg_fence(PgEngine *engine, const char *table, bool insist, Error *err) {
  ARENA_SCOPED arena = {0};
  Others others;
  Error why;
  if (!pg_run(engine, sql_fill(&arena, sql_objects_fence, "table", table, NULL), NULL, 0, NULL,
              "keeping other writers out", err) ||
      !look(engine, table, &others, &why, err))
    return false;
  if (others < (insist ? WAITS_FOR_LOCK : MAY_WRITE)) return true;
  *err = why;
  return false;
}

bool pg_fence_who(PgEngine *engine, const char *table, bool *ret, Error *ret_why, Error *err) {
  Others others;
  if (!look(engine, table, &others, ret_why, err)) return false;
  *ret = others >= MAY_WRITE;
  return true;
}

/* Takes the lock that keeps readers out too. *ret: it was to be had. */
static bool take(EngineWriter *writer, const char *table, bool *ret, Error *err) {
  ARENA_SCOPED arena = {0};
  PG_SCOPED rows = NULL;
  PgEngine *engine = writer->engine;
  const char *wait = writer->insist ? LONGEST_MS : MOMENT_MS;
  static const char doing[] = "keeping readers out for the moment of the commit";
  *ret = false;
  if (!pg_run(engine, sql_session_savepoint, NULL, 0, NULL, doing, err) ||
      !pg_query(engine, sql_objects_patience, &wait, 1, &rows, doing, err))
    return false;
  bool waits_for_replica = pg_bool(rows, 0, 2), replica = pg_bool(rows, 0, 1);
  if (waits_for_replica || (replica && !writer->insist))
    return pg_run(engine, sql_session_back, NULL, 0, NULL, doing, err);
  if (pg_run(engine, sql_fill(&arena, sql_objects_shut_out, "table", table, NULL), NULL, 0, NULL, doing, err)) {
    *ret = true;
    return pg_run(engine, sql_session_release, NULL, 0, NULL, doing, err);
  }
  return err->code == ERR_LOCKED && pg_run(engine, sql_session_back, NULL, 0, NULL, doing, err);
}

bool pg_fence_shut(EngineWriter *writer, const Shape *shape, Error *err) {
  Others others;
  Error why;
  for (int tries = 0; tries < SHUT_TRIES; tries++) {
    bool shut = false;
    if (!look(writer->engine, shape->table, &others, &why, err)) return false;
    if (others == READERS) return true;
    if (others == WAITS_FOR_LOCK) break; /* it waits for us, and would wait for ever */
    if (!take(writer, shape->table, &shut, err)) return false;
    if (shut) return true;
  }
  if (others < MAY_WRITE) return true;
  *err = why;
  return false;
}
