#ifndef TIDEGATE_ENGINE_SQLITE_QUERY_INT_H
#define TIDEGATE_ENGINE_SQLITE_QUERY_INT_H

#include "engine/sqlite/reads.h"

/* A piece of SQL that a person wrote, and the statement in which it is looked at. */
typedef struct Written {
  const char *what; /* names it in messages: "the query", "the condition" */
  const char *sql;
  const char *before, *after; /* what stands around it in the statement; "" for a whole query */
  bool parameters;            /* may :from, :to and their kin occur? */
} Written;

/*
 * Prepares the piece as a statement that only reads. Refused: what lex_closed refuses, what SQLite does not accept,
 * what writes or acts, parameters that are not offered. *ret_offset is a byte of the piece, or −1. Errors: ERR_SPEC;
 * ERR_LOCKED and the like when the database cannot be read.
 */
bool written_prepare(SqliteEngine *engine, Arena *arena, const Written *written, Stmt *ret, AccessLog *ret_log,
                     int *ret_offset, Error *err);

#endif
