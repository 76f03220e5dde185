#ifndef TIDEGATE_ENGINE_POSTGRES_WORK_H
#define TIDEGATE_ENGINE_POSTGRES_WORK_H

#include "engine/postgres/shape_sql.h"

/* The pieces of EngineOps that work on the backfill's objects, by file; and what those files share. */

struct EngineWriter {
  PgEngine *engine;
  char id[40];
  int64_t epoch;
  bool open;   /* a transaction is */
  bool insist; /* as in its TxnLimits */
};

/*
 * The change set of a backfill is one table, in the order written:
 *
 *   op "char"     I, U, D, or M (an update that moves the row to another date)
 *   date int8     start of the grain: of the new row, of the old one for D
 *   part oid      tableoid of production's row, NULL for I
 *   tid tid       its ctid when it was compared, NULL for I
 *   old_<column>  typed like production, every stored column; NULL for I (after the swap: what production gave the
 *                 columns that the recompute does not give)
 *   new_<column>  typed like production, every given column; NULL for D
 *
 * The old columns are the kept rows. A change is named by its own ctid inside one transaction.
 */

/* compare.c: the job compared into `table` (of the change set's form, empty of the job's dates) inside the open
 * snapshot transaction. */
bool compare_into(PgEngine *, Arena *, const ShapeSql *, const Job *, const char *table, BatchFacts *ret, Error *);
/* The same, and its differences are forgotten: at the end of the transaction when they may be kept till then. */
bool compare_aside(PgEngine *, Arena *, const ShapeSql *, const Job *, bool keep, BatchFacts *ret, Error *);
/* compare_written.c: the same where the job's new rows are written already: `written` gives them (the given columns),
 * and the differences are counted and not kept. *rows: how many rows it gives; less than 0: they are counted, and put
 * there. `there`: how many rows production has of the job's dates; less than 0: they are counted. */
bool compare_written(PgEngine *, Arena *, const ShapeSql *, const Job *, const char *written, int64_t *rows,
                     int64_t there, BatchFacts *ret, Error *err);
/* The statement that makes a table of the change set's form. kind: "", "UNLOGGED" or "TEMP". */
const char *changes_create_sql(const PgEngine *, Arena *, const ShapeSql *, const char *kind, const char *table);

/* compare.c: while a job's recompute reads the target it finds the overlay under the target's own name. */
bool compare_overlay(PgEngine *, Arena *, const ShapeSql *, const Job *, bool on, Error *err);
bool pg_compare(Engine *, Arena *, const Job *, const Interrupt *, BatchFacts *, Error *);
/* estimate.c */
bool pg_estimate(Engine *, Arena *, const Job *, EstimateFacts *, Error *);
/* changes.c */
/* Date by date, of the rows that a table of production's columns has in the range. */
bool fingerprint_of(PgEngine *, Arena *, const ShapeSql *, const char *table, DateRange, const DateFacts **, size_t *,
                    Error *);
bool pg_fingerprint(Engine *, Arena *, const Shape *, DateRange, const DateFacts **, size_t *, Error *);
bool pg_check_total(Engine *, const Job *, const char *, DateRange, bool *, Error *);
bool pg_change_counts(Engine *, const Shape *, const char *, ChangeCounts *, Error *);
bool pg_change_rows(Engine *, Arena *, const Shape *, const char *, Instant, size_t, const ChangeRow **, size_t *,
                    Error *);
bool pg_change_duplicates(Engine *, const Shape *, const char *, int64_t *, Error *);
/* vanished.c */
bool pg_vanished(Engine *, Arena *, const Job *, Finding *, Error *);
/* fence.c */
/* Keeps other writers of the table out to the end of the transaction. ERR_LOCKED when a transaction is open that has
 * read it and may still write it; with `insist`: only when that one waits for us. */
bool pg_fence(PgEngine *, const char *table, bool insist, Error *);
/* *ret: is a transaction open that has read the table and may still write it? Then *ret_why names it. */
bool pg_fence_who(PgEngine *, const char *table, bool *ret, Error *ret_why, Error *err);
/* Puts into words who stands in the way; the transaction must be over, so that nothing is held meanwhile. */
void pg_fence_name_blockers(PgEngine *, const char *table, Error *);
/*
 * The last thing before a COMMIT that changes production: whoever reads the table from here on, reads what is
 * committed. A transaction that had read it since the fence went up may write back what it read: ERR_LOCKED when it
 * does not end within the moment that is waited for it. Beside transactions that read only, with a replica, whose
 * readers the lock would reach as well, or where the COMMIT waits for one, the COMMIT itself stays open.
 */
bool pg_fence_shut(EngineWriter *, const Shape *, Error *);
/* proof.c */
bool pg_orphans(Engine *, Arena *, const Shape *, const char *, const char **, int64_t *, Error *);
bool pg_probe_constraints(Engine *, Arena *, const Shape *, const char *, const char **, Error *);
bool pg_ask_oracle(Engine *, Arena *, const Shape *, const char *, const DateRange *, const char *, size_t, int64_t *,
                   Finding *, Error *);
/* writer.c */
bool pg_writer_open(Engine *, const GatePass *, const char *, int64_t, EngineWriter **, Error *);
void pg_writer_close(EngineWriter *);
bool pg_op_begin(EngineWriter *, TxnLimits, Error *);
bool pg_op_commit(EngineWriter *, Error *);
void pg_op_abort(EngineWriter *);
bool pg_create(EngineWriter *, const Shape *, const char *, Error *);
/* Puts the mark on an object that was just made, and records it in the ledger. */
bool writer_note_object(EngineWriter *, Arena *, const ShapeSql *, const char *name, const char *role, bool view,
                        Error *);
/* Makes and notes a table of production's stored columns, typed like them. kind: "" or "UNLOGGED". */
bool writer_copy(EngineWriter *, Arena *, const ShapeSql *, const char *kind, const char *table, const char *role,
                 Error *);
/* The comment, as a literal, by which an object of this name is known as the backfill's. */
const char *writer_mark(Arena *, const EngineWriter *, const ShapeSql *, const char *name);
bool pg_drop(EngineWriter *, const char *, Error *);
/* batch.c */
bool pg_compute(EngineWriter *, Arena *, const Job *, const Interrupt *, BatchFacts *, Error *);
bool pg_store(EngineWriter *, const Job *, const BatchFacts *, const BatchRecord *, Error *);
bool pg_fill_shadow(EngineWriter *, const Job *, const Interrupt *, Error *);
bool pg_settle_moves(EngineWriter *, const Shape *, Error *);
bool pg_seal_parts(Engine *, Arena *, const Shape *, const char *id, const DateRange **ret, size_t *ret_n, Error *);
bool pg_seal_part(EngineWriter *, const Shape *, DateRange part, const Interrupt *, Error *);
bool pg_forget(EngineWriter *, const Shape *, DateRange, Error *);
/* publish.c */
bool pg_apply(EngineWriter *, const Shape *, const bool *, ChangeCounts, bool, Error *);
/* triggers.c: turns the table's own triggers that are on off, and back to exactly what they were. `back`: statements,
 * each with a NUL at its end, and an empty one behind the last. */
bool pg_triggers_off(PgEngine *, Arena *, const char *table, const char **ret_back, Error *);
bool pg_triggers_back(PgEngine *, const char *back, Error *);
/* revert.c */
bool pg_conflicts(Engine *, Arena *, const Shape *, const char *, size_t, Conflicts *, Error *);
bool pg_revert(EngineWriter *, const Shape *, const bool *, LaterRows, bool, int64_t *, Error *);
/* snapshot.c */
bool pg_compare_snapshot(Engine *, Arena *, const Job *, BatchFacts *, Error *);
bool pg_copy_range(EngineWriter *, const Shape *, DateRange, Error *);
bool pg_restore_range(EngineWriter *, const Shape *, DateRange, bool, int64_t *, Error *);
/* refresh.c */
bool pg_refresh(EngineWriter *, const char *, bool *, Error *);

#endif
