#ifndef TIDEGATE_ENGINE_POSTGRES_PARAMETERS_H
#define TIDEGATE_ENGINE_POSTGRES_PARAMETERS_H

#include "engine/postgres/lex.h"
#include "engine/postgres/postgres_int.h"

/*
 * Parameters in SQL that a person wrote, replaced by literals, and the way back from a place in the replaced text to
 * the place in the person's own. A line's end stands behind the replaced text.
 */

/* A parameter that was replaced: where it stood in the person's text and where its literal stands, in bytes. */
typedef struct PgPlace {
  size_t own_at, own_n, at, n;
} PgPlace;

typedef struct PgReplaced {
  const char *sql;
  size_t own_n; /* length of the person's text */
  const PgPlace *places;
  size_t n;
} PgReplaced;

/* n pairs (name, literal, name, literal, …); a name with its colon: ":from". */
PgReplaced pg_replace_places(Arena *arena, const char *sql, const char *const *pairs, size_t n);
/* The byte of the person's text that a byte of the replaced text comes from: the parameter's first for any byte of a
 * literal; −1 stays −1, and so does what lies outside. */
int pg_own_offset(const PgReplaced *replaced, int offset);

/* The n = 6 parameters of a range and their literals as pairs. */
enum { PG_RANGE_PARAMETERS = 6 };
const char *const *pg_range_pairs(Arena *arena, const DateCodec *codec, const char *date_type, DateRange range);
/* Is it one of them? */
bool pg_is_range_parameter(const PgToken *token);

/*
 * The start of a date as a literal of the date column's type, in parentheses: ('2024-07-01'::date), ('2024-07-01
 * 04:00:00+00'::timestamp with time zone). Time stamps without a zone are UTC readings. `date_type` as format_type
 * spells it.
 */
const char *pg_date_literal(Arena *arena, const DateCodec *codec, const char *date_type, Instant date);

#endif
