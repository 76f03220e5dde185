#ifndef TIDEGATE_ENGINE_POSTGRES_EXCHANGE_H
#define TIDEGATE_ENGINE_POSTGRES_EXCHANGE_H

#include "engine/postgres/work.h"

/*
 * Publishing by exchange. Each partition of the range has a replacement beside production, named like an object of the
 * role "p<nth>", that holds what the whole partition is to hold. At the swap the two change places, names and all; from
 * then on what stands under the replacement's name is the old partition: the kept rows. A rollback changes them back.
 * The change set is a view of the two sides ("changes"), and so is the new side alone ("rows").
 */
typedef struct ExchangePart {
  int64_t nth;
  const char *partition;     /* full name of the place in production */
  const char *replacement;   /* full name */
  const char *lower, *upper; /* its bounds as texts; "" where the whole range is replaced (replace.c) */
  DateRange range;           /* … and as instants */
  const char *kept;          /* where the old rows are copied to; NULL: the partition itself is kept */
  bool sealed;         /* its replacement is whole: rows outside the range, indexes, constraints; or the copy is made */
  const char *swapped; /* the transaction that put it into production; NULL: it is not there */
} ExchangePart;

/* exchange.c */
bool pg_exchange_facts(Engine *, Arena *, const Shape *, DateRange, bool skip_triggers, ExchangeFacts *ret, Error *);
bool exchange_parts(PgEngine *, Arena *, const char *id, ExchangePart **ret, size_t *ret_n, Error *);
/* The backfill's range within a part. */
DateRange exchange_within(const ExchangePart *, DateRange range);
bool exchange_create(EngineWriter *, Arena *, const ShapeSql *, Error *);
/* The full name of the nth replacement. */
const char *exchange_replacement(PgEngine *, Arena *, const char *id, int64_t nth);
/* Has the replacement vacuumed as its partition is, which before the swap it is not. */
bool exchange_vacuum_again(PgEngine *, Arena *, const ExchangePart *, Error *);
/* Both views, of the sides as they are: `swapped` or not. */
bool exchange_views(PgEngine *, Arena *, const ShapeSql *, const char *id, const ExchangePart *, size_t n, bool swapped,
                    Error *);
/* Makes both for the first time. */
bool exchange_note_views(EngineWriter *, Arena *, const ShapeSql *, const ExchangePart *, size_t n, Error *);
/* Writes a place and its replacement, which exists, into the ledger. */
bool exchange_note_part(EngineWriter *, Arena *, const ShapeSql *, const ExchangePart *, Error *);
/* The backfill's whole range, by its dates in the ledger. */
bool exchange_range(PgEngine *, const Shape *, const char *id, DateRange *ret, Error *);
/* The changes of one date, as a source of rows in the place of the view. */
bool exchange_changes_of(PgEngine *, Arena *, const ShapeSql *, const char *id, Instant date, const char **ret,
                         Error *);
bool exchange_counts(PgEngine *, const char *id, ChangeCounts *ret, Error *);

/* exchange_batch.c */
bool exchange_compute(EngineWriter *, Arena *, const ShapeSql *, const Job *, BatchFacts *ret, Error *);
/* The same where all dates are of one replacement, and production is known to have `there` rows of them. */
bool exchange_compute_beside(EngineWriter *, Arena *, const ShapeSql *, const Job *, int64_t there, BatchFacts *ret,
                             Error *);
bool exchange_seal(EngineWriter *, Arena *, const ShapeSql *, Error *);
bool exchange_forget(EngineWriter *, Arena *, const ShapeSql *, DateRange range, Error *);

/* "schema"."name" in its two parts, as SQL spells them. */
typedef struct FullName {
  const char *schema, *bare;
} FullName;
FullName exchange_split(Arena *, const char *full);

/* The name that the i-th index of a replacement has. */
const char *exchange_index_name(Arena *, const EngineWriter *, const ExchangePart *, int i);

/* exchange_publish.c */
bool exchange_apply(EngineWriter *, Arena *, const ShapeSql *, const bool *columns, ChangeCounts expected,
                    bool skip_triggers, Error *);
bool exchange_conflicts(PgEngine *, Arena *, const ShapeSql *, const char *id, size_t max_examples, Conflicts *ret,
                        Error *);
bool exchange_revert(EngineWriter *, Arena *, const ShapeSql *, const bool *columns, LaterRows later,
                     bool skip_triggers, int64_t *ret_left, Error *);
/* exchange_level.c: gives the kept partitions the columns that production got since the swap, with what its rows got
 * there. *ret: the shape with those columns as preserved ones; `sql` itself where there are none. ERR_STATE where a
 * column cannot be had so; what to do is the hint. */
bool exchange_level(PgEngine *, Arena *, const ShapeSql *sql, const ExchangePart *, size_t n, const ShapeSql **ret,
                    Error *);
/* The CHECK that says what the bound of the place demands, so that an ATTACH need not read the rows; made once. */
bool exchange_bound_check(PgEngine *, Arena *, const ExchangePart *, Error *);

#endif
