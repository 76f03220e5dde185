#ifndef TIDEGATE_PLAN_PLAN_INT_H
#define TIDEGATE_PLAN_PLAN_INT_H

#include "plan/plan.h"

/* The private header of the room: what its files share. */

/* What is being resolved. The parts run in the order of the table in resolve.c; each reads what those before it set. */
typedef struct Resolver {
  Arena *arena;
  Engine *engine;
  Plan *plan;
  const Spec *spec; /* the plan's copy */
  TableFacts table;
  QueryFacts query;     /* of the recompute; nothing for a command */
  ShapeColumn *columns; /* the shape's, while they are still being filled */
} Resolver;

enum { PLAN_MAX_DATES = 200000, PLAN_EXAMPLES = 10, PLAN_MISSING_SHOWN = 20 };

/* ---- notes.c: what was inferred, warnings, places of errors ------------------------------------------------------ */

/* Notes a thing and where it came from. */
void plan_infer(Resolver *resolver, const char *name, const char *value, const char *from);
/* A sentence for whoever reads the plan; nothing is refused for it. */
void plan_warn(Arena *arena, Plan *plan, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* "a, b, c" */
const char *plan_join(Arena *arena, const char *const *texts, size_t n);
/* Gives an ERR_SPEC without a place that place, keeping message and hint; other errors stay as they are. False. */
bool plan_at_place(const SpecPlace *place, Error *err);
/* The same for an error in a SQL text at a byte offset (−1: unknown), with `what` before the message. False. */
bool plan_at_sql(const SpecText *sql, int offset, const char *what, Error *err);

/* ---- columns.c --------------------------------------------------------------------------------------------------- */

/* The index of a column by name, else by name with small and capital letters the same; shape.n when there is none. */
size_t plan_column(const Resolver *resolver, const char *name);
/* Do two names, as the engine spells tables, mean one? Small and capital letters are the same where nothing is quoted.
 */
bool plan_same_table(const char *a, const char *b);
/* ERR_SPEC: no such column, with the nearest name. */
bool plan_no_column(const Resolver *resolver, const SpecText *name, const char *role, Error *err);
bool plan_resolve_target(Resolver *resolver, Error *err);
bool plan_resolve_recompute(Resolver *resolver, Error *err);
bool plan_resolve_columns(Resolver *resolver, Error *err);

/* ---- date_look.c ------------------------------------------------------------------------------------------------- */

/* What a column's declaration and values say about the dates in it. */
typedef struct DateLook {
  bool looks;    /* it looks like a date column */
  bool known;    /* … of this kind */
  bool refused;  /* it is meant to be one, but the engine cannot work with it: profile.why_not */
  DateKind kind; /* only when known */
  char separator;
  const char *from;    /* "sampled 200 values", … */
  DateProfile profile; /* rows −1 and nothing in it when the column was not looked into */
} DateLook;

/* declared: somebody named the column, so that it is looked into whatever it looks like. */
bool plan_date_look(Arena *arena, Engine *engine, const char *table, const ColumnFacts *column, bool declared,
                    DateLook *ret, Error *err);
/* Of several columns that tell the date, one of days or instants goes before days as digits, and these before months.
 * Whether a column of the kind `found` joins the n of the kind `held`: n becomes 0 when it goes before them, and false
 * says that it stands behind them. `held` is not read when there are none. */
bool plan_date_joins(DateKind held, size_t *n, DateKind found);
/* The first sample that the codec cannot read; NULL when it reads all. */
const char *plan_bad_sample(const DateCodec *codec, const DateProfile *profile);

/* ---- the other parts, a file each -------------------------------------------------------------------------------- */
bool plan_resolve_dates(Resolver *resolver, Error *err);    /* dates.c: the column, its kind, grain and zone */
bool plan_resolve_ranges(Resolver *resolver, Error *err);   /* ranges.c */
bool plan_resolve_key(Resolver *resolver, Error *err);      /* key.c */
bool plan_resolve_scope(Resolver *resolver, Error *err);    /* evidence.c */
bool plan_resolve_checks(Resolver *resolver, Error *err);   /* evidence.c */
bool plan_resolve_unproven(Resolver *resolver, Error *err); /* evidence.c */
bool plan_resolve_clock(Resolver *resolver, Error *err);    /* clock.c */
bool plan_resolve_sources(Resolver *resolver, Error *err);  /* sources.c: which tables, not yet their dates */
bool plan_resolve_workers(Resolver *resolver, Error *err);  /* workers.c */

/* clock.c: warns of schedules that were read long ago. */
void plan_measure_clock(Arena *arena, Plan *plan);
/* sources.c: date columns and dates of the sources, into plan->sources. */
bool plan_measure_sources(Arena *arena, Engine *engine, Plan *plan, Error *err);
/* control.c: recomputes and compares the control dates. */
bool plan_measure_control(Arena *arena, Engine *engine, Plan *plan, const Interrupt *interrupt, Error *err);

/* dbt_checks.c: sets plan->dbt_tests. */
void plan_measure_dbt_checks(Arena *arena, Engine *engine, Plan *plan);

/* estimate.c: sets plan->estimate, recomputing one date for trial, and warns of what every batch would read whole. Does
 * nothing where the engine has no planner. */
bool plan_measure_estimate(Arena *arena, Engine *engine, Plan *plan, const Interrupt *interrupt, Error *err);
void plan_json_estimate(const Plan *plan, Json *json);
/* Bytes of WAL a row that is updated or replaced; a row of exchanged partitions. */
double plan_change_wal(const Plan *plan);
double plan_exchange_wal(const Plan *plan);

/* way.c: sets plan->way and the shape's `way`, by plan->estimate. */
bool plan_measure_way(Arena *arena, Engine *engine, Plan *plan, Error *err);
void plan_json_way(const Plan *plan, Json *json);
/* The way that was chosen when the backfill was planned. */
bool plan_load_way(Arena *arena, const BackfillRecord *record, Plan *plan, Error *err);

/* json_resolved.c: a range as {from, to} labels, both included. */
void plan_json_range(const Plan *plan, Json *json, const char *key, const DateRange *range);
void plan_json_texts(Json *json, const char *key, const char *const *texts, size_t n);
void plan_json_date(const Plan *plan, Json *json, const char *key, Instant date);

/* digest.c: parts, digest and database_id, from the plan as resolved and the database as it is. */
bool plan_digest(Arena *arena, Engine *engine, Plan *plan, Error *err);
/* json_resolved.c: what the spec and the catalogue resolve to, and nothing that measuring found, as members of the
 * object that is open. */
void plan_json_resolved(const Plan *plan, Json *json);

#endif
