#ifndef TIDEGATE_ENGINE_POSTGRES_SHAPE_SQL_H
#define TIDEGATE_ENGINE_POSTGRES_SHAPE_SQL_H

#include "engine/postgres/postgres_int.h"

/* One column as SQL needs it. */
typedef struct PgColumn {
  const char *name;    /* quoted */
  const char *type;    /* as declared, with its length: "numeric(10,2)" */
  const char *cast;    /* what a recomputed value is cast to before it is compared: `type`, but text kinds without their
                          length, so that a text too long is refused by its column and never cut */
  const char *collate; /* " COLLATE x": what it is compared under; "" where the type has none */
  const char *hash;    /* a function (value, seed) → bigint; NULL only for `boxed` */
  const char *hash_cast; /* put behind the value that is hashed */
  bool as_text;          /* has no equality of its own (json, xml, point …): compared and hashed as text */
  bool boxed;            /* its hash function cannot be called by name: hashed as an array of one element */
} PgColumn;

/* A shape with what SQL needs to know of it, and the lists that every statement is made of. */
typedef struct ShapeSql {
  const Shape *shape;
  const char *table;         /* full name, always with its schema: "public"."fct_orders" */
  const char *schema, *name; /* the same in its parts, not quoted */
  const char *date;          /* "date column", quoted */
  const char *date_type; /* "date", "timestamp without time zone", "timestamp with time zone", "text", "bigint", … */
  const PgColumn *columns; /* like the shape's */
  const size_t *given, *stored, *key,
      *rest; /* indices in the shape: written; all but generated; key; stored not given */
  size_t n_given, n_stored, n_key, n_rest;
  bool partitioned; /* a ctid alone does not name a row */
  bool identity;    /* has a GENERATED ALWAYS AS IDENTITY column: inserts say OVERRIDING SYSTEM VALUE */
} ShapeSql;

bool pg_shape_sql(PgEngine *, Arena *, const Shape *, ShapeSql *ret, Error *);

/* The starts of the range's dates, and its end behind them. */
const Instant *shape_dates(Arena *, const DateCodec *, DateRange, size_t *ret_n);
/* An instant as the change set holds it: a number. */
const char *shape_number(Arena *, Instant);
/* The date of an instant as a typed literal in the date column's own form: '2024-07-01'::date. */
const char *shape_bound(Arena *, const ShapeSql *, Instant);
/* Is the date column one of texts or digits, which may hold what is no date ('2013-02-30', 20130230)? */
bool shape_may_be_no_date(const ShapeSql *sql);
/* "p.d >= … AND p.d < …": is this value of the date column one of [range)? Never so for what is no date. */
const char *shape_within(Arena *arena, const ShapeSql *sql, const char *column, DateRange range);
/* The same of the rows of a table under this alias ("p." or ""). */
const char *shape_in_range(Arena *, const ShapeSql *, const char *alias, DateRange);
/*
 * An int4 expression: the place of the value of `column` (an SQL expression of the date column's type) among the n + 1
 * ascending instants `dates`: 1 … n for the dates, 0 before the first, n + 1 at or after the last, NULL without a date.
 */
const char *shape_date_place(Arena *, const ShapeSql *, const char *column, const Instant *dates, size_t n);
/* An int8 expression: the instant that a place of shape_date_place stands for. */
const char *shape_place_instant(Arena *, const char *place, const Instant *dates, size_t n);
/* The way back: the place of an int8 expression that is one of the n instants. */
const char *shape_instant_place(Arena *, const char *instant, const Instant *dates, size_t n);

/* An int8 expression: the instant at which the grain of a value of the date column starts (UTC and day, week, month,
 * year or hour steps as the codec has them). */
const char *shape_instant(Arena *, const ShapeSql *, const char *column);

/* One column: `before` + quoted (prefix + name). */
const char *shape_column(Arena *, const Shape *, size_t column, const char *before, const char *prefix);
/* Comma-separated columns, each `before` + quoted (prefix + name): "p.", "" → p."a", p."b"; "n.", "new_" → n."new_a" …
 */
const char *pg_shape_list(Arena *, const Shape *, const size_t *columns, size_t n, const char *before,
                          const char *prefix);
/* "a"= n."new_a", … over the given columns that `columns` marks by index in the shape. */
const char *pg_shape_set(Arena *, const ShapeSql *, const bool *columns, const char *before, const char *prefix);
/* "p.k = n.old_k AND …" over the key; IS NOT DISTINCT FROM where a key column may be NULL. */
const char *pg_shape_key_match(Arena *, const ShapeSql *, const char *left, const char *left_prefix, const char *right,
                               const char *right_prefix);
/* True when the two sides' values of one column differ: "s.a IS DISTINCT FROM p.a", as text where the type has no
 * equality, within the tolerance equal. Both arguments are full SQL expressions. */
const char *shape_differs(Arena *, const ShapeSql *, size_t column, const char *left, const char *right);
/* An int8 hash of a row's columns under an alias and prefix; equal rows have equal hashes, NULL is not ''. */
const char *shape_hash(Arena *, const ShapeSql *, const size_t *columns, size_t n, const char *before,
                       const char *prefix);
/* The recompute's rows: SELECT of the given columns (named as in production, cast to their types) over [dates[0],
 * dates[n]); from the full shadow, or production itself, where job->recompute is NULL. */
const char *shape_recompute(PgEngine *, Arena *, const ShapeSql *, const Job *);
/* Does the job's recompute find the overlay (compare_overlay) where it names the target? Nothing is written yet while
 * planning: then it reads production. */
bool shape_overlaid(const Job *);
/* `SELECT all stored columns` of production with the change set applied as far as dates before `before` (INSTANT_MAX:
 * all). */
const char *pg_shape_overlay(PgEngine *, Arena *, const ShapeSql *, const char *id, Instant before);
/* The 128-bit sum that numeric text `sum(hash)` stands for, and the count. */
Fingerprint shape_fingerprint(int64_t rows, const char *sum);

#endif
