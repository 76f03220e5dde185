#ifndef TIDEGATE_ENGINE_POSTGRES_CATALOG_INT_H
#define TIDEGATE_ENGINE_POSTGRES_CATALOG_INT_H

#include "engine/postgres/postgres_int.h"

/*
 * The oid, as a text, of the table or view that a person means by a name: as SQL reads it, else in the letters that it
 * is written in, with or without quotes and schema. *ret NULL: there is none.
 */
bool catalog_find(PgEngine *, Arena *, const char *name, const char **ret, Error *);
/* The same; ERR_NOT_FOUND, with where else there is one of the name, when there is none. */
bool catalog_must_find(PgEngine *, Arena *, const char *name, const char **ret, Error *);
/* Runs one of the statements of facts.sql for a table; `second` is its $2, NULL: it has none. */
bool catalog_query(PgEngine *, const char *sql, const char *oid, const char *second, PGresult **ret, Error *);

/* refusal.c: the kind of what a row of sql_facts_find or sql_facts_relation tells of. */
TableKind catalog_kind(const PGresult *row);
/* refusal.c: why rows of a table cannot be corrected, from the row of sql_facts_relation and the facts'
 * columns, into kind, refusal, way_out and lacks. */
bool catalog_judge(PgEngine *, Arena *, const char *oid, const PGresult *relation, TableFacts *, Error *);

#endif
