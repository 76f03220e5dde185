#ifndef TIDEGATE_ENGINE_SQLITE_WORK_H
#define TIDEGATE_ENGINE_SQLITE_WORK_H

#include "engine/sqlite/shape_sql.h"

/* The pieces of EngineOps that work on the backfill's objects, by file; and what those files share. */

struct EngineWriter {
  SqliteEngine *engine;
  char id[40];
  int64_t epoch;
  bool open;   /* a transaction is */
  bool direct; /* the last batch was computed straight into the change set */
};

/* sqlite.c: interrupts statements that run longer; 0 takes the deadline away. */
void sqlite_deadline(SqliteEngine *engine, double seconds);

/* changes.c */
bool sqlite_fingerprint(Engine *, Arena *, const Shape *, DateRange, const DateFacts **, size_t *, Error *);
bool sqlite_check_total(Engine *, const Job *, const char *, DateRange, bool *, Error *);
bool sqlite_change_counts(Engine *, const Shape *, const char *, ChangeCounts *, Error *);
bool sqlite_change_rows(Engine *, Arena *, const Shape *, const char *, Instant, size_t, const ChangeRow **, size_t *,
                        Error *);
bool sqlite_change_duplicates(Engine *, const Shape *, const char *, int64_t *, Error *);
/* vanished.c */
bool sqlite_vanished(Engine *, Arena *, const Job *, Finding *, Error *);
/* proof.c */
bool sqlite_orphans(Engine *, Arena *, const Shape *, const char *, const char **, int64_t *, Error *);
bool sqlite_probe_constraints(Engine *, Arena *, const Shape *, const char *, const char **, Error *);
bool sqlite_ask_oracle(Engine *, Arena *, const Shape *, const char *, const DateRange *, const char *, size_t,
                       int64_t *, Finding *, Error *);
/* writer.c */
bool sqlite_writer_open(Engine *, const GatePass *, const char *, int64_t, EngineWriter **, Error *);
void sqlite_writer_close(EngineWriter *);
bool sqlite_begin(EngineWriter *, TxnLimits, Error *);
bool sqlite_commit(EngineWriter *, Error *);
void sqlite_abort(EngineWriter *);
bool sqlite_create(EngineWriter *, const Shape *, const char *, Error *);
bool sqlite_drop(EngineWriter *, const char *, Error *);
/* batch.c */
bool sqlite_compute(EngineWriter *, Arena *, const Job *, const Interrupt *, BatchFacts *, Error *);
bool sqlite_store(EngineWriter *, const Job *, const BatchFacts *, const BatchRecord *, Error *);
bool sqlite_fill_shadow(EngineWriter *, const Job *, const Interrupt *, Error *);
bool sqlite_settle_moves(EngineWriter *, const Shape *, Error *);
bool sqlite_forget(EngineWriter *, const Shape *, DateRange, Error *);
/* publish.c */
bool sqlite_apply(EngineWriter *, const Shape *, const bool *, ChangeCounts, bool, Error *);
/* revert.c */
bool sqlite_conflicts(Engine *, Arena *, const Shape *, const char *, size_t, Conflicts *, Error *);
bool sqlite_revert(EngineWriter *, const Shape *, const bool *, LaterRows, bool, int64_t *, Error *);
/* snapshot.c */
bool sqlite_compare_snapshot(Engine *, Arena *, const Job *, BatchFacts *, Error *);
bool sqlite_copy_range(EngineWriter *, const Shape *, DateRange, Error *);
bool sqlite_restore_range(EngineWriter *, const Shape *, DateRange, bool, int64_t *, Error *);

#endif
