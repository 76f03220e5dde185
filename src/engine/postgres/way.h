#ifndef TIDEGATE_ENGINE_POSTGRES_WAY_H
#define TIDEGATE_ENGINE_POSTGRES_WAY_H

#include "engine/postgres/publish.h"

/*
 * A way of publishing: what it puts beside production, and how that gets there and back. Each works inside the
 * transaction that is open. The change set is there on every way, as a table or as a view, named "changes".
 */
typedef struct Way {
  /* The change set and what stands beside production with it. */
  bool (*create)(EngineWriter *, Arena *, const ShapeSql *, Error *);
  bool (*compute)(EngineWriter *, Arena *, const ShapeSql *, const Job *, BatchFacts *ret, Error *);
  /* Takes away what was computed of these dates. */
  bool (*forget)(EngineWriter *, Arena *, const ShapeSql *, DateRange, Error *);
  /* All batches are there; outside the lock. */
  bool (*seal)(EngineWriter *, Arena *, const ShapeSql *, Error *);
  bool (*counts)(PgEngine *, const char *id, ChangeCounts *ret, Error *);
  bool (*apply)(EngineWriter *, Arena *, const ShapeSql *, const bool *columns, ChangeCounts expected,
                bool skip_triggers, Error *);
  /* The shape of these two has no tolerance, and no columns that came later. */
  bool (*conflicts)(PgEngine *, Arena *, const ShapeSql *, const char *id, size_t max_examples, Conflicts *ret,
                    Error *);
  bool (*revert)(EngineWriter *, Arena *, const ShapeSql *, const bool *columns, LaterRows, bool skip_triggers,
                 int64_t *ret_left, Error *);
} Way;

const Way *pg_way(const Shape *);

/* The pieces of the change set's way, by file. */
bool changes_create(EngineWriter *, Arena *, const ShapeSql *, Error *);
bool changes_compute(EngineWriter *, Arena *, const ShapeSql *, const Job *, BatchFacts *, Error *);
bool changes_forget(EngineWriter *, Arena *, const ShapeSql *, DateRange, Error *);
bool changes_seal(EngineWriter *, Arena *, const ShapeSql *, Error *);
bool changes_counts(PgEngine *, const char *id, ChangeCounts *, Error *);
bool changes_apply(EngineWriter *, Arena *, const ShapeSql *, const bool *, ChangeCounts, bool, Error *);
bool changes_conflicts(PgEngine *, Arena *, const ShapeSql *, const char *, size_t, Conflicts *, Error *);
bool changes_revert(EngineWriter *, Arena *, const ShapeSql *, const bool *, LaterRows, bool, int64_t *, Error *);
/* The same from another table of the change set's form. */
bool changes_revert_from(EngineWriter *, Arena *, const ShapeSql *, const char *changes, const bool *, LaterRows, bool,
                         int64_t *, Error *);

/* replace.c */
bool replace_create(EngineWriter *, Arena *, const ShapeSql *, Error *);
bool replace_compute(EngineWriter *, Arena *, const ShapeSql *, const Job *, BatchFacts *, Error *);
bool replace_forget(EngineWriter *, Arena *, const ShapeSql *, DateRange, Error *);
bool replace_seal(EngineWriter *, Arena *, const ShapeSql *, Error *);
bool replace_apply(EngineWriter *, Arena *, const ShapeSql *, const bool *, ChangeCounts, bool, Error *);
bool replace_revert(EngineWriter *, Arena *, const ShapeSql *, const bool *, LaterRows, bool, int64_t *, Error *);
bool pg_replace_facts(Engine *, Arena *, const Shape *, bool skip_triggers, const char **ret_why_not, Error *);

#endif
