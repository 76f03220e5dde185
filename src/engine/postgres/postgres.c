#include "engine/postgres/postgres.h"

#include <stdlib.h>
#include <string.h>

#include "engine/postgres/exchange.h"
#include "engine/postgres/way.h"

static void pg_close(Engine *base) {
  PgEngine *engine = pg_engine(base);
  if (engine->conn != NULL) PQfinish(engine->conn);
  free(engine->url);
  free(engine->schema);
  free(engine->tablespace);
  free(engine);
}

static const char *object_name(Engine *base, Arena *arena, const char *id, const char *role) {
  return pg_object(pg_engine(base), arena, id, role);
}

static bool connect_again(Engine *base, Engine **ret, Error *err) {
  ARENA_SCOPED arena = {0};
  ENGINE_SCOPED again = NULL;
  PgEngine *engine = pg_engine(base);
  const EngineOptions options = {engine->schema, engine->tablespace, engine->unlogged, engine->connect_seconds};
  const char *here, *there;
  if (!postgres_open(engine->url, &options, &again, err) || !pg_identity(base, &arena, &here, err) ||
      !pg_identity(again, &arena, &there, err))
    return false;
  if (strcmp(here, there) != 0) {
    error_set(err, ERR_DATABASE, "another connection by the same URL came to another database than the first");
    return error_hint(err, "a URL of several hosts must lead to one and the same primary");
  }
  *ret = again;
  again = NULL;
  return true;
}

static const EngineOps postgres_ops = {
    .name = "postgres",
    .close = pg_close,
    .connect_again = connect_again,
    .caps = pg_caps,
    .identity = pg_identity,
    .now = pg_now,
    .space = pg_space,
    .settings = pg_settings,
    .health = pg_health,
    .cron_jobs = pg_cron_jobs,
    .list_tables = pg_list_tables,
    .find_table = pg_find_table,
    .describe_table = pg_describe_table,
    .describe_query = pg_describe_query,
    .describe_condition = pg_describe_condition,
    .dependents = pg_dependents,
    .view_reads = pg_view_reads,
    .date_profile = pg_date_profile,
    .count_dates = pg_count_dates,
    .number = pg_job_number,
    .age = pg_age,
    .sessions = pg_sessions,
    .end_sessions = pg_end_sessions,
    .change_token = pg_change_token,
    .pressure = pg_pressure,
    .unchanged = pg_unchanged,
    .key_faults = pg_key_faults,
    .exchange_facts = pg_exchange_facts,
    .replace_facts = pg_replace_facts,
    .compare = pg_compare,
    .estimate = pg_estimate,
    .fingerprint = pg_fingerprint,
    .check_total = pg_check_total,
    .change_counts = pg_change_counts,
    .change_rows = pg_change_rows,
    .change_duplicates = pg_change_duplicates,
    .vanished = pg_vanished,
    .orphans = pg_orphans,
    .probe_constraints = pg_probe_constraints,
    .ask_oracle = pg_ask_oracle,
    .conflicts = pg_conflicts,
    .compare_snapshot = pg_compare_snapshot,
    .object_identity = pg_object_identity,
    .object_name = object_name,
    .grants = pg_grants,
    .ledger_together = pg_ledger_together,
    .ledger_exists = pg_ledger_exists,
    .ledger_create = pg_ledger_create,
    .ledger_add = pg_ledger_add,
    .ledger_list = pg_ledger_list,
    .ledger_move = pg_ledger_move,
    .ledger_doc = pg_ledger_doc,
    .lease_take = pg_lease_take,
    .lease_drop = pg_lease_drop,
    .lease_beat = pg_lease_beat,
    .ledger_dates = pg_ledger_dates,
    .ledger_batches = pg_ledger_batches,
    .ledger_columns = pg_ledger_columns,
    .ledger_findings = pg_ledger_findings,
    .ledger_add_findings = pg_ledger_add_findings,
    .ledger_objects = pg_ledger_objects,
    .ledger_events = pg_ledger_events,
    .ledger_event = pg_ledger_event,
    .audit_add = pg_audit_add,
    .audit_list = pg_audit_list,
    .audit_sign = pg_audit_sign,
    .audit_use = pg_audit_use,
    .role_writes = pg_role_writes,
    .has_role = pg_has_role,
    .writer_open = pg_writer_open,
    .writer_close = pg_writer_close,
    .begin = pg_op_begin,
    .commit = pg_op_commit,
    .abort = pg_op_abort,
    .create = pg_create,
    .compute = pg_compute,
    .store = pg_store,
    .fill_shadow = pg_fill_shadow,
    .settle_moves = pg_settle_moves,
    .seal_parts = pg_seal_parts,
    .seal_part = pg_seal_part,
    .forget = pg_forget,
    .apply = pg_apply,
    .revert = pg_revert,
    .copy_range = pg_copy_range,
    .restore_range = pg_restore_range,
    .refresh = pg_refresh,
    .drop = pg_drop,
};

static char *copy(const char *text) {
  if (text == NULL) return NULL;
  char *own = strdup(text);
  if (own == NULL) error_out_of_memory();
  return own;
}

bool postgres_open(const char *url, const EngineOptions *options, Engine **ret_engine, Error *err) {
  PgEngine *engine = calloc(1, sizeof *engine);
  if (engine == NULL) error_out_of_memory();
  engine->base.ops = &postgres_ops;
  engine->url = copy(url);
  engine->schema = copy(options == NULL || options->schema == NULL ? "tidegate" : options->schema);
  engine->tablespace = copy(options == NULL ? NULL : options->tablespace);
  engine->unlogged = options != NULL && options->unlogged;
  engine->connect_seconds = options == NULL ? 0 : options->connect_seconds;
  if (pg_connect(engine, err)) {
    *ret_engine = &engine->base;
    return true;
  }
  pg_close(&engine->base);
  return false;
}
