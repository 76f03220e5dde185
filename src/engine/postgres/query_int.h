#ifndef TIDEGATE_ENGINE_POSTGRES_QUERY_INT_H
#define TIDEGATE_ENGINE_POSTGRES_QUERY_INT_H

#include "engine/postgres/parameters.h"

/* A piece of SQL that a person wrote, and the statement in which it is looked at. */
typedef struct PgWritten {
  const char *what; /* names it in messages: "the query", "the condition" */
  const char *sql;
  const char *before, *after; /* what stands around it in the statement */
  bool parameters;            /* may :from, :to and their kin occur? */
} PgWritten;

/*
 * Has the server parse and resolve the piece inside its statement; nothing runs. Refused: what pg_lex_closed refuses,
 * what the server does not accept (inside a subquery it accepts nothing that writes), row locks, parameters that are
 * not offered. The date column's type is not known here: its literals are NULL, or of the first type that fits.
 * ret_replaced (may be NULL): the piece with the literals that fitted. *ret_offset: a byte of the piece, or −1.
 * Errors: ERR_SPEC; ERR_LOCKED and the like when the server could not answer.
 */
bool pg_written_describe(PgEngine *engine, Arena *arena, const PgWritten *written, PgReplaced *ret_replaced,
                         PGresult **ret, int *ret_offset, Error *err);

/* A list of names, each once. */
typedef struct PgNames {
  const char **items;
  size_t n;
} PgNames;

void pg_names_add(Arena *arena, PgNames *names, const char *name);
/* reads.c: what the query, as pg_written_describe accepted it, reads and calls; into reads, volatile_functions and
 * opaque_functions of the facts. */
bool pg_query_reads(PgEngine *engine, Arena *arena, const char *sql, QueryFacts *facts, Error *err);
/* What of the text (of a query or a view) asks for the present time, into `found`; names that are called, into
 * `called`. */
void pg_find_calls(Arena *arena, const char *sql, PgNames *found, PgNames *called);

#endif
