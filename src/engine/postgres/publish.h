#ifndef TIDEGATE_ENGINE_POSTGRES_PUBLISH_H
#define TIDEGATE_ENGINE_POSTGRES_PUBLISH_H

#include "engine/postgres/work.h"

/* Writing production from a table of the change set's form; inside a transaction in which nobody else writes it. */
typedef struct Publish {
  PgEngine *engine;
  Arena *arena;
  const ShapeSql *sql;
  const char *changes; /* full name */
} Publish;

/* Some rows of the change set, and how production's rows are found by them. */
typedef struct PublishRows {
  const char *of;   /* which: a condition over alias n */
  const char *key;  /* prefix of the key to find by: "old_" or "new_" */
  const char *date; /* prefix of the date at which production's rows are now; NULL: they may be anywhere */
  bool by_tid;      /* they may still lie where they were when they were compared */
  int64_t expected; /* exactly so many, else ERR_DRIFT; 0: nothing is done */
} PublishRows;

bool pg_publish_delete(const Publish *, const PublishRows *, const char *doing, Error *);
/* set: "a" = n."new_a", … */
bool pg_publish_update(const Publish *, const PublishRows *, const char *set, const char *doing, Error *);
/* Inserts the n columns from the `prefix` side. Of rows only `of` and `expected` count. */
bool pg_publish_insert(const Publish *, const PublishRows *, const size_t *columns, size_t n, const char *prefix,
                       const char *doing, Error *);

/*
 * Row `left` of production ("p.") is that of a change, alias n: by its key or, without one, by the hash of what it
 * holds. Can be hashed for a join also where the key may hold a NULL.
 */
const char *pg_publish_match(const Publish *, const char *left, const char *prefix);

/*
 * Before the first write: turns triggers off where wanted, and lets deferrable constraints wait, so that the order of
 * the statements is no matter to them. Afterwards they are checked and the triggers turned back. A failure leaves both
 * to the rollback.
 */
bool pg_publish_open(const Publish *, bool skip_triggers, const char **ret_back, Error *);
bool pg_publish_close(const Publish *, const char *back, Error *);

/* Must rows come before rows go, because the table has a foreign key to itself? */
bool pg_publish_refers_to_itself(const Publish *, bool *ret, Error *);

/* Per column of the shape: no update may write it (GENERATED ALWAYS AS IDENTITY). */
bool pg_publish_fixed(const Publish *, const bool **ret, Error *);

/* Deletes, updates of the `columns` that change, inserts, from the new side. */
bool pg_publish_changes(const Publish *, const bool *columns, ChangeCounts expected, Error *);

/* children.c: ERR_HELD when rows of other tables would be deleted or written too, because their foreign key says so.
 * columns NULL: the rows go; else those columns take the value of the `to` side. */
bool pg_publish_spares_children(const Publish *, const PublishRows *, const bool *columns, const char *to, Error *);

#endif
