#include <inttypes.h>
#include <string.h>

#include "run/run_int.h"
#include "validate/validate.h"

static const char *seal_json(Run *run, const ChangeCounts *counts, int64_t rows, Error *err) {
  const ColumnChange *columns;
  size_t n;
  BUF_SCOPED out = {0};
  Json json = {.out = &out};
  if (!run->engine->ops->ledger_columns(run->engine, run->arena, run->record->id, &columns, &n, err)) return NULL;
  json_object(&json, NULL);
  json_int(&json, "rows", rows);
  json_int(&json, "inserts", counts->inserts);
  json_int(&json, "updates", counts->updates);
  json_int(&json, "deletes", counts->deletes);
  json_int(&json, "moves", counts->moves);
  json_array(&json, "columns");
  for (size_t i = 0; i < n; i++)
    if (columns[i].rows > 0) json_text(&json, NULL, columns[i].column);
  json_array_end(&json);
  json_object_end(&json);
  return arena_strdup(run->arena, buf_text(&out));
}

static bool settle(Run *run, EngineWriter *writer, Error *err) {
  return run_begin(run, writer, false, err) &&
         engine_end(run->engine, writer, run->engine->ops->settle_moves(writer, &run->plan->shape, err), err);
}

/* Nothing to publish although a change was expected is a failure (law 11). */
static bool no_change(Run *run, EngineWriter *writer, Error *err) {
  Findings findings = {.arena = run->arena};
  findings_add(&findings,
               (FindingRecord){.kind = "no-change",
                               .subject = run->plan->shape.table,
                               .message = "the recompute equals production on every date: nothing would change"});
  run_hold(run, writer, &findings, err);
  if (err->code == ERR_HELD) {
    err->code = ERR_NO_CHANGE;
    error_hint(err, "is the recompute the corrected one, and the range the wrong dates? Then plan again");
  }
  return false;
}

static bool seal(Run *run, EngineWriter *writer, RunFacts *ret, Error *err) {
  Findings findings = {.arena = run->arena};
  ChangeCounts counts;
  int64_t rows = 0;
  if (!settle(run, writer, err) ||
      !validate_seal(&findings, run->engine, run->plan, run->dates, run->n_dates, &counts, err))
    return false;
  if (findings.n > 0) return run_hold(run, writer, &findings, err);
  if (counts.inserts + counts.updates + counts.deletes + counts.moves == 0) return no_change(run, writer, err);
  for (size_t i = 0; i < run->n_dates; i++) rows += run->dates[i].recomputed.rows;
  const char *json = seal_json(run, &counts, rows, err);
  if (json == NULL || !run_begin(run, writer, false, err)) return false;
  LedgerMove sealed = {.verb = "seal", .doc = "seal", .json = json};
  if (!ledger_commit(run->engine, run->arena, writer, run->record, sealed, err)) return false;
  run->record->seal = json;
  ret->counts = counts;
  ret->rows = rows;
  return true;
}

bool run_seal(Run *run, const GatePass *pass, RunFacts *ret, Error *err) {
  EngineWriter *writer = NULL;
  if (!run->engine->ops->writer_open(run->engine, pass, run->record->id, run->epoch, &writer, err)) return false;
  bool ok = seal(run, writer, ret, err);
  run->engine->ops->writer_close(writer);
  return ok;
}
