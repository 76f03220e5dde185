#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "engine/postgres/postgres_sql.h"
#include "engine/postgres/work.h"
#include "time/quantity.h"

/* Where no budget says it: from so many on it is slower, from so many on it waits. Some wait somewhere at any time. */
enum { LOCK_WAITERS_SLOW = 2, LOCK_WAITERS_PAUSE = 10, DISK_WAITERS_SLOW = 4, DISK_WAITERS_PAUSE = 16 };

/* A slot may hold back so many times the WAL budget: less is a consumer that was down for a while. */
enum { SLOT_BUDGETS = 10 };

/* A transaction on the target that is older keeps vacuum from clearing away what changed since. */
#define LONG_READER_SECONDS "600"

/* So many times a computation is repeated, the first few to warm up, and so much longer than it needs it may take on
 * the average. On an idle server the mean was 1.04 to 1.06 times the shortest, beside pgbench 1.16 to 1.78 times. */
enum { COMPUTATIONS = 48, WARMING = 4 };
static const double CROWDED_STRETCH = 1.12;

/* A canary that takes so many times its budget is cut off. */
static const double CANARY_PATIENCE = 4;

typedef struct Look {
  PgEngine *engine;
  Arena *arena;
  const Shape *shape;
  const PressureLimits *limits;
  const char *wal_end;
  PressureSign *signs;
  size_t n;
} Look;

static void add(Look *look, PressureState state, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void add(Look *look, PressureState state, const char *format, ...) {
  char reason[512];
  va_list args;
  va_start(args, format);
  vsnprintf(reason, sizeof reason, format, args);
  va_end(args);
  look->signs = arena_grow(look->arena, look->signs, look->n, sizeof *look->signs);
  look->signs[look->n++] = (PressureSign){state, arena_strdup(look->arena, reason)};
}

static PressureState worse(PressureState a, PressureState b) { return a > b ? a : b; }

/* Half of what is allowed is the time to slow down: what comes of a batch is seen after it. */
static PressureState against(double value, double limit) {
  return value > limit ? PRESSURE_PAUSE : value > limit / 2 ? PRESSURE_SLOW_DOWN : PRESSURE_FINE;
}

static PressureState between(int64_t value, int64_t slow, int64_t pause) {
  return value >= pause ? PRESSURE_PAUSE : value >= slow ? PRESSURE_SLOW_DOWN : PRESSURE_FINE;
}

static const char *size(const Look *look, int64_t bytes) {
  char text[32];
  size_label(bytes, text);
  return arena_strdup(look->arena, text);
}

static const char *duration(const Look *look, double seconds) {
  char text[32];
  duration_label(seconds, text);
  return arena_strdup(look->arena, text);
}

/* ---- the write-ahead log and who follows it --------------------------------------------------------------------- */

static bool look_at_wal(Look *look, int64_t *ret_end, Error *err) {
  PG_SCOPED result = NULL;
  if (!pg_query(look->engine, sql_pressure_wal, NULL, 0, &result, "looking at the write-ahead log", err)) return false;
  look->wal_end = pg_text(look->arena, result, 0, 0);
  *ret_end = pg_int(result, 0, 1);
  if (look->limits->last_wal == 0) return true;
  int64_t written = *ret_end - look->limits->last_wal;
  add(look, written > look->limits->wal ? PRESSURE_SLOW_DOWN : PRESSURE_FINE,
      "%s of WAL were written meanwhile, by all sessions together; `budget: wal` allows %s", size(look, written),
      size(look, look->limits->wal));
  return true;
}

static bool look_at_replicas(Look *look, Error *err) {
  PG_SCOPED result = NULL;
  const char *const values[] = {look->wal_end};
  if (!pg_query(look->engine, sql_pressure_replica, values, 1, &result, "looking at the replicas", err)) return false;
  if (PQntuples(result) == 0) return true;
  double lag = pg_real(result, 0, 1);
  int64_t behind = pg_int(result, 0, 2);
  /* A replica that stands still reports its old lag on and on: then the bytes tell. */
  PressureState state = worse(against(lag, look->limits->lag), against((double)behind, (double)look->limits->wal));
  add(look, state, "replica %s is %s and %s behind; `budget: lag` allows %s, `budget: wal` %s", pg_peek(result, 0, 0),
      duration(look, lag), size(look, behind), duration(look, look->limits->lag), size(look, look->limits->wal));
  return true;
}

static bool look_at_slots(Look *look, Error *err) {
  PG_SCOPED result = NULL;
  const char *const values[] = {look->wal_end};
  if (!pg_query(look->engine, sql_pressure_slot, values, 1, &result, "looking at the replication slots", err))
    return false;
  if (PQntuples(result) == 0) return true;
  const char *name = pg_peek(result, 0, 0);
  bool active = pg_bool(result, 0, 1);
  int64_t held = pg_int(result, 0, 2);
  if (pg_bool(result, 0, 3)) {
    add(look, PRESSURE_PAUSE, "replication slot %s is about to lose WAL that its consumer still needs", name);
    return true;
  }
  PressureState state = held > SLOT_BUDGETS * look->limits->wal ? PRESSURE_PAUSE
                        : active && held > look->limits->wal    ? PRESSURE_SLOW_DOWN
                                                                : PRESSURE_FINE;
  add(look, state, "replication slot %s (%s) holds back %s of WAL, which fill the server's disk%s", name,
      active ? "in use" : "nobody uses it", size(look, held), active ? "" : ": drop it if nobody will");
  return true;
}

static bool look_at_archive(Look *look, Error *err) {
  PG_SCOPED result = NULL;
  int64_t waiting;
  if (!pg_query(look->engine, sql_pressure_archiver, NULL, 0, &result, "looking at the archiver", err)) return false;
  if (PQntuples(result) == 0 || !pg_bool(result, 0, 0)) return true;
  if (pg_bool(result, 0, 1)) {
    add(look, PRESSURE_PAUSE,
        "archiving of WAL fails (%s, since %s or before): what is not archived fills the server's disk",
        pg_peek(result, 0, 2), pg_peek(result, 0, 3));
    return true;
  }
  if (!pg_bool(result, 0, 4)) return true;
  if (!pg_number(look->engine, sql_pressure_archive_waiting, NULL, 0, &waiting, "looking at the archive", err))
    return false;
  add(look, against((double)waiting, (double)look->limits->wal),
      "%s of WAL wait to be archived; `budget: wal` allows %s", size(look, waiting), size(look, look->limits->wal));
  return true;
}

/* ---- who else is at work ---------------------------------------------------------------------------------------- */

static bool look_at_sessions(Look *look, Error *err) {
  PG_SCOPED result = NULL;
  if (!pg_query(look->engine, sql_pressure_sessions, NULL, 0, &result, "looking at the sessions", err)) return false;
  int64_t active = pg_int(result, 0, 0), lock = pg_int(result, 0, 1), disk = pg_int(result, 0, 2);
  int most = look->limits->sessions;
  if (most > 0)
    add(look, between(active, (int64_t)most * 3 / 4 + 1, (int64_t)most + 1),
        "%" PRId64 " other sessions are active; `budget: sessions` allows %d", active, most);
  add(look, between(lock, LOCK_WAITERS_SLOW, LOCK_WAITERS_PAUSE),
      "%" PRId64 " sessions have waited for a lock for more than a second", lock);
  add(look, between(disk, DISK_WAITERS_SLOW, DISK_WAITERS_PAUSE), "%" PRId64 " sessions wait for the disk", disk);
  return true;
}

/* The mean time of a computation, in units of the shortest: what nobody disturbed. */
static bool stretch(Look *look, double *ret, Error *err) {
  double least = 0, sum = 0;
  for (int i = 0; i < COMPUTATIONS; i++) {
    int64_t ignored;
    double began = clock_seconds();
    if (!pg_number(look->engine, sql_pressure_computation, NULL, 0, &ignored, "looking for a free processor", err))
      return false;
    double seconds = clock_seconds() - began;
    if (i < WARMING) continue;
    if (i == WARMING || seconds < least) least = seconds;
    sum += seconds;
  }
  *ret = least > 0 ? sum / (COMPUTATIONS - WARMING) / least : 1;
  return true;
}

/* Where others work and no processor is free, whatever we do takes time from them. Sessions that the role may not see
 * count as none. */
static bool look_for_room(Look *look, const char **ret_crowded, Error *err) {
  PG_SCOPED result = NULL;
  double stretched;
  *ret_crowded = NULL;
  if (!look->limits->room) return true;
  if (!pg_query(look->engine, sql_pressure_neighbour, NULL, 0, &result, "looking for other sessions", err))
    return false;
  if (!pg_bool(result, 0, 0)) return true;
  if (!stretch(look, &stretched, err)) return false;
  if (stretched > CROWDED_STRETCH)
    *ret_crowded = arena_printf(look->arena,
                                "others are at work and the server has no processor free: a computation takes %.1f "
                                "times as long as it needs",
                                stretched);
  return true;
}

static bool look_at_vacuum(Look *look, Error *err) {
  PG_SCOPED result = NULL;
  const char *const values[] = {look->shape->table};
  if (!pg_query(look->engine, sql_pressure_vacuum, values, 1, &result, "looking for a vacuum", err)) return false;
  if (PQntuples(result) > 0)
    add(look, PRESSURE_SLOW_DOWN, "a vacuum works on %s (pid %s, %s, %s %% scanned)", pg_peek(result, 0, 1),
        pg_peek(result, 0, 0), pg_peek(result, 0, 2), pg_peek(result, 0, 3) == NULL ? "0" : pg_peek(result, 0, 3));
  return true;
}

static bool look_at_readers(Look *look, Error *err) {
  PG_SCOPED result = NULL;
  const char *const values[] = {look->shape->table, LONG_READER_SECONDS};
  if (!pg_query(look->engine, sql_pressure_reader, values, 2, &result, "looking for long readers", err)) return false;
  if (PQntuples(result) > 0)
    add(look, PRESSURE_SLOW_DOWN,
        "pid %s (%s) has read %s in one transaction for %s: vacuum can clear nothing away behind it",
        pg_peek(result, 0, 0), pg_peek(result, 0, 1) == NULL ? "?" : pg_peek(result, 0, 1), look->shape->table,
        duration(look, pg_real(result, 0, 2)));
  return true;
}

/* ---- the canary ------------------------------------------------------------------------------------------------- */

/* The canary's time; *ret_cut: it was cut off. */
static bool ask_canary(Look *look, double *ret_seconds, bool *ret_cut, Error *err) {
  static const char doing[] = "asking the canary of `budget: canary`";
  PgEngine *engine = look->engine;
  PG_SCOPED result = NULL;
  bool own;
  double most = look->limits->canary_time * CANARY_PATIENCE;
  const char *const values[] = {arena_printf(look->arena, "%.0f", most * 1000 < 1 ? 1 : most * 1000)};
  if (!pg_begin(engine, false, &own, doing, err)) return false;
  bool ok = pg_run(engine, sql_session_read_only, NULL, 0, NULL, doing, err) &&
            pg_run(engine, sql_pressure_canary_limit, values, 1, NULL, doing, err);
  double began = clock_seconds();
  bool asked = ok && pg_query(engine, look->limits->canary, NULL, 0, &result, doing, err);
  *ret_seconds = clock_seconds() - began;
  *ret_cut = ok && !asked && strcmp(pg_sqlstate(engine), "57014") == 0;
  pg_undo(engine, own); /* there is nothing to keep */
  if (asked || *ret_cut) return true;
  return ok ? error_hint(err, "it must be one query that only reads, such as a look-up that users wait for") : false;
}

static bool look_at_canary(Look *look, Error *err) {
  double seconds, limit = look->limits->canary_time;
  bool cut;
  if (look->limits->canary == NULL) return true;
  if (!ask_canary(look, &seconds, &cut, err)) return false;
  add(look, cut ? PRESSURE_PAUSE : against(seconds, limit), "the canary took %s%s; `budget: canary_time` allows %s",
      cut ? "more than " : "", duration(look, seconds), duration(look, limit));
  return true;
}

bool pg_pressure(Engine *base, Arena *arena, const Shape *shape, const PressureLimits *limits, Pressure *ret,
                 Error *err) {
  Look look = {.engine = pg_engine(base), .arena = arena, .shape = shape, .limits = limits};
  int64_t wal;
  const char *crowded;
  if (!look_at_wal(&look, &wal, err) || !look_at_replicas(&look, err) || !look_at_slots(&look, err) ||
      !look_at_archive(&look, err) || !look_at_sessions(&look, err) || !look_at_vacuum(&look, err) ||
      !look_at_readers(&look, err) || !look_at_canary(&look, err) || !look_for_room(&look, &crowded, err))
    return false;
  *ret = (Pressure){.signs = look.signs, .n = look.n, .wal = wal, .crowded = crowded};
  for (size_t i = 0; i < look.n; i++) {
    if (look.signs[i].state <= ret->state) continue;
    ret->state = look.signs[i].state;
    ret->reason = look.signs[i].reason;
  }
  return true;
}
