#include "engine/sqlite/sqlite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/sqlite/compare.h"
#include "engine/sqlite/sqlite_sql.h"
#include "engine/sqlite/work.h"

/* Statements run this many virtual-machine steps between two looks at the clock and the caller. */
enum { PROGRESS_STEPS = 20000 };

static int on_progress(void *context) {
  SqliteEngine *engine = context;
  if (engine->interrupt != NULL && !engine->interrupt->go_on(engine->interrupt->context)) return 1;
  return engine->deadline > 0 && clock_seconds() > engine->deadline;
}

void sqlite_deadline(SqliteEngine *engine, double seconds) {
  engine->deadline = seconds > 0 ? clock_seconds() + seconds : 0;
}

static void sqlite_close_engine(Engine *base) {
  SqliteEngine *engine = sqlite_engine(base);
  sqlite3_close_v2(engine->db);
  if (engine->watchdog >= 0) close(engine->watchdog);
  free(engine->path);
  free(engine);
}

static bool journal_is_wal(SqliteEngine *engine) {
  Error ignored;
  STMT_SCOPED stmt = {0};
  bool row = false;
  if (!sql_prepare(engine, sql_session_journal_mode, &stmt, "reading the journal mode", &ignored) ||
      !sql_step(engine, &stmt, &row, "reading the journal mode", &ignored) || !row)
    return false;
  return strcmp(sql_peek(&stmt, 0), "wal") == 0;
}

static EngineCaps sqlite_caps(Engine *base) {
  return (EngineCaps){.transactions = true,
                      .readers_unblocked = journal_is_wal(sqlite_engine(base)),
                      .row_change = true,
                      .cancel = true};
}

static bool sqlite_identity(Engine *base, Arena *arena, const char **ret, Error *err) {
  SqliteEngine *engine = sqlite_engine(base);
  struct stat info;
  bool exists;
  *ret = "";
  if (!sqlite_ledger_exists(base, &exists, err)) return false;
  if (!exists) return true;
  STMT_SCOPED stmt = {0};
  bool row;
  if (!sql_prepare(engine, sql_session_uuid, &stmt, "reading the identity", err) ||
      !sql_step(engine, &stmt, &row, "reading the identity", err))
    return false;
  if (!row) return error_set(err, ERR_DATABASE, "the ledger in %s has no identity", engine->path);
  if (stat(engine->path, &info) != 0)
    return error_set(err, ERR_DATABASE, "%s is gone: %s", engine->path, strerror(errno));
  *ret = arena_printf(arena, "%s/%ju", sql_peek(&stmt, 0), (uintmax_t)info.st_ino);
  return true;
}

static bool sqlite_now(Engine *base, Instant *ret, Error *err) {
  double seconds;
  if (!sqlite_number(base, sql_session_now, &seconds, err)) return false;
  *ret = (Instant)seconds;
  return true;
}

static bool sqlite_space(Engine *base, SpaceFacts *ret, Error *err) {
  SqliteEngine *engine = sqlite_engine(base);
  struct stat info;
  struct statvfs disk;
  if (stat(engine->path, &info) != 0 || statvfs(engine->path, &disk) != 0)
    return error_set(err, ERR_DATABASE, "cannot look at %s: %s", engine->path, strerror(errno));
  *ret = (SpaceFacts){(int64_t)info.st_size, (int64_t)(disk.f_bavail * disk.f_frsize)};
  return true;
}

static bool sqlite_settings(Engine *base, Arena *arena, const char **ret, Error *err) {
  SqliteEngine *engine = sqlite_engine(base);
  STMT_SCOPED stmt = {0};
  bool row;
  if (!sql_prepare(engine, sql_session_encoding, &stmt, "reading the settings", err) ||
      !sql_step(engine, &stmt, &row, "reading the settings", err))
    return false;
  *ret = arena_printf(arena, "encoding=%s", row ? sql_peek(&stmt, 0) : "");
  return true;
}

static bool sqlite_change_token(Engine *base, Arena *arena, const char **ret, Error *err) {
  SqliteEngine *engine = sqlite_engine(base);
  STMT_SCOPED stmt = {0};
  bool row;
  if (!sql_prepare(engine, sql_session_data_version, &stmt, "reading the change token", err) ||
      !sql_step(engine, &stmt, &row, "reading the change token", err))
    return false;
  *ret = arena_printf(arena, "%016jx:%lld", (uintmax_t)engine->nonce, (long long)sqlite3_column_int64(stmt.handle, 0));
  return true;
}

/* The file has one token for everything in it. */
static bool sqlite_unchanged(Engine *base, const Job *job, const char *token, int64_t rows, Unchanged *ret,
                             Error *err) {
  ARENA_SCOPED arena = {0};
  const char *now;
  if (!sqlite_change_token(base, &arena, &now, err)) return false;
  bool same = strcmp(token, now) == 0;
  *ret = (Unchanged){.production = same, .sources = same};
  return true;
}

static const char *sqlite_op_object_name(Engine *base, Arena *arena, const char *id, const char *role) {
  char name[SQLITE_OBJECT_NAME];
  sqlite_object_name(name, id, role);
  return arena_strdup(arena, name);
}

static bool sqlite_compare(Engine *base, Arena *arena, const Job *job, const Interrupt *interrupt, BatchFacts *ret,
                           Error *err) {
  SqliteEngine *engine = sqlite_engine(base);
  engine->interrupt = interrupt;
  bool ok = compare_run(engine, arena, job, NULL, ret, err);
  engine->interrupt = NULL;
  return ok;
}

/* Waits for no lock: it may be the first connection's. */
static bool sqlite_connect_again(Engine *base, Engine **ret, Error *err) {
  if (!sqlite_open(sqlite_engine(base)->path, ret, err)) return false;
  sqlite3_busy_timeout(sqlite_engine(*ret)->db, 0);
  return true;
}

static const EngineOps sqlite_ops = {
    .name = "sqlite",
    .close = sqlite_close_engine,
    .connect_again = sqlite_connect_again,
    .caps = sqlite_caps,
    .identity = sqlite_identity,
    .now = sqlite_now,
    .space = sqlite_space,
    .settings = sqlite_settings,
    .list_tables = sqlite_list_tables,
    .find_table = sqlite_find_table,
    .describe_table = sqlite_describe_table,
    .describe_query = sqlite_describe_query,
    .describe_condition = sqlite_describe_condition,
    .dependents = sqlite_dependents,
    .view_reads = sqlite_view_reads,
    .describe_scripts = sqlite_describe_scripts,
    .date_profile = sqlite_date_profile,
    .count_dates = sqlite_count_dates,
    .number = sqlite_job_number,
    .age = sqlite_age,
    .change_token = sqlite_change_token,
    .unchanged = sqlite_unchanged,
    .key_faults = sqlite_key_faults,
    .compare = sqlite_compare,
    .fingerprint = sqlite_fingerprint,
    .check_total = sqlite_check_total,
    .change_counts = sqlite_change_counts,
    .change_rows = sqlite_change_rows,
    .change_duplicates = sqlite_change_duplicates,
    .vanished = sqlite_vanished,
    .orphans = sqlite_orphans,
    .probe_constraints = sqlite_probe_constraints,
    .ask_oracle = sqlite_ask_oracle,
    .conflicts = sqlite_conflicts,
    .compare_snapshot = sqlite_compare_snapshot,
    .object_identity = sqlite_object_identity,
    .object_name = sqlite_op_object_name,
    .ledger_together = sqlite_ledger_together,
    .ledger_exists = sqlite_ledger_exists,
    .ledger_create = sqlite_ledger_create,
    .ledger_add = sqlite_ledger_add,
    .ledger_list = sqlite_ledger_list,
    .ledger_move = sqlite_ledger_move,
    .ledger_doc = sqlite_ledger_doc,
    .lease_take = sqlite_lease_take,
    .lease_drop = sqlite_lease_drop,
    .lease_beat = sqlite_lease_beat,
    .ledger_dates = sqlite_ledger_dates,
    .ledger_batches = sqlite_ledger_batches,
    .ledger_columns = sqlite_ledger_columns,
    .ledger_findings = sqlite_ledger_findings,
    .ledger_add_findings = sqlite_ledger_add_findings,
    .ledger_objects = sqlite_ledger_objects,
    .ledger_events = sqlite_ledger_events,
    .ledger_event = sqlite_ledger_event,
    .audit_add = sqlite_audit_add,
    .audit_list = sqlite_audit_list,
    .audit_sign = sqlite_audit_sign,
    .audit_use = sqlite_audit_use,
    .writer_open = sqlite_writer_open,
    .writer_close = sqlite_writer_close,
    .begin = sqlite_begin,
    .commit = sqlite_commit,
    .abort = sqlite_abort,
    .create = sqlite_create,
    .compute = sqlite_compute,
    .store = sqlite_store,
    .fill_shadow = sqlite_fill_shadow,
    .settle_moves = sqlite_settle_moves,
    .forget = sqlite_forget,
    .apply = sqlite_apply,
    .revert = sqlite_revert,
    .copy_range = sqlite_copy_range,
    .restore_range = sqlite_restore_range,
    .drop = sqlite_drop,
};

static bool configure(SqliteEngine *engine, Error *err) {
  sqlite3_busy_timeout(engine->db, SQLITE_LOCK_WAIT);
  sqlite3_progress_handler(engine->db, PROGRESS_STEPS, on_progress, engine);
  sqlite3_randomness(sizeof engine->nonce, &engine->nonce);
  return sql_run(engine, sql_session_cache, "opening", err) &&
         sql_run(engine, sql_session_foreign_keys_on, "opening", err) &&
         sql_run(engine, sql_session_touch, "opening", err) && sqlite_register_functions(engine, err);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/*
 * SQLite tells of exhausted memory by results that are easily not looked at: a text that is bound or read becomes NULL,
 * and a NULL would be published, or a swap be committed without its mark. So it never learns of it: the answer is the
 * one of the whole program (base/error.h), and an open transaction rolls back.
 */
static sqlite3_mem_methods memory;

static void *memory_get(int size) {
  void *got = memory.xMalloc(size);
  if (got == NULL) error_out_of_memory();
  return got;
}

static void *memory_resize(void *old, int size) {
  void *got = memory.xRealloc(old, size);
  if (got == NULL) error_out_of_memory();
  return got;
}

/* Before the first connection; later calls are refused by SQLite and harmless. */
static void configure_library(void) {
  if (memory.xMalloc != NULL) return;
  sqlite3_config(SQLITE_CONFIG_SINGLETHREAD); /* no mutexes: Tidegate has one thread */
  if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory) != SQLITE_OK) return;
  sqlite3_mem_methods ours = memory;
  ours.xMalloc = memory_get;
  ours.xRealloc = memory_resize;
  sqlite3_config(SQLITE_CONFIG_MALLOC, &ours);
}

bool sqlite_open(const char *path, Engine **ret_engine, Error *err) {
  struct stat info;
  if (stat(path, &info) != 0) {
    error_set(err, ERR_DATABASE, "cannot open %s: %s", path, strerror(errno));
    return error_hint(err, "check `database:` in the spec or in tidegate.yaml, or give --database PATH");
  }
  if (!S_ISREG(info.st_mode)) return error_set(err, ERR_DATABASE, "cannot open %s: it is not a file", path);
  configure_library();
  SqliteEngine *engine = calloc(1, sizeof *engine);
  if (engine == NULL) error_out_of_memory();
  engine->base.ops = &sqlite_ops;
  engine->watchdog = -1;
  engine->path = strdup(path);
  if (engine->path == NULL) error_out_of_memory();
  engine->codec = (DateCodec){.kind = DATE_TEXT, .grain = GRAIN_DAY, .zone = zone_utc()};
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_EXRESCODE;
  if (sqlite3_open_v2(path, &engine->db, flags, NULL) != SQLITE_OK)
    sql_fail(engine, "opening the database", err);
  else if (configure(engine, err)) {
    *ret_engine = &engine->base;
    return true;
  }
  sqlite_close_engine(&engine->base);
  return false;
}
