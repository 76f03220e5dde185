#ifndef TIDEGATE_LINEAGE_SQL_TEXT_H
#define TIDEGATE_LINEAGE_SQL_TEXT_H

#include "lineage/graph.h"

/*
 * What the statements of a text write and read, whatever its dialect: sql_parse.c (PostgreSQL's, by libpg_query) and
 * the engine's describe_script (SQLite's, by SQLite itself) fill it, sql_text.c puts it into the graph.
 */
typedef struct SqlName {
  const char *database, *schema, *name; /* unquoted; database and schema NULL: not said */
} SqlName;

typedef struct SqlRead {
  SqlName table;
  const char *const *columns;
  size_t n;
  bool all; /* which columns is not known: `*`, a whole row, NATURAL JOIN */
} SqlRead;

/* How the dates of what is written hang on the dates of what is read, as far as the text shows it (sql_dates.c). */
typedef struct SqlDates {
  bool known;      /* the text was looked at; else nothing below says anything */
  bool has_grain;  /* dates are cut to `grain` in the output */
  bool cumulative; /* reads all dates before its own */
  bool after;      /* reads dates after its own */
  bool all;        /* every date of it hangs on every date read: a window or total without a date */
  Grain grain;
  int window;      /* so many dates (rows) before its own are read too */
  int days;        /* so many days before its own are read too */
  int earlier;     /* so many days behind its own are read too */
  const char *why; /* the words in the text that say so; NULL: none */
} SqlDates;

typedef struct SqlStatement {
  SqlName writes;
  const char *kind;      /* table, view, materialized view, export */
  const char *deed;      /* "create table as", "insert", "update", … */
  const char *file_name; /* of an export, what it writes; else NULL */
  const SqlRead *reads;  /* each table once, what is written not among them */
  size_t n;
  bool reads_itself;
  SqlDates dates;
  int line; /* of the statement in the text, from 1 */
  const char *text;
} SqlStatement;

/* A statement that was not read, and why. */
typedef struct SqlUnread {
  int line;
  const char *why;
} SqlUnread;

typedef struct SqlScript {
  const SqlStatement *statements;
  size_t n;
  const SqlUnread *unread;
  size_t n_unread;
} SqlScript;

/* Can this build read PostgreSQL's SQL text? If not, sql_parse leaves everything unread. */
bool sql_can_parse(void);

/* The text of PostgreSQL's dialect. Tables made and used in the text alone (WITH, CREATE TEMP TABLE) are looked
 * through. Never fails: what is not understood is in `unread`. */
SqlScript sql_parse(Arena *arena, const char *text);

/* The same of a text that need not write anything: a query alone counts as what a view of it would be. */
SqlScript sql_parse_query(Arena *arena, const char *text);

/* The dates of one statement of any dialect that PostgreSQL's parser understands as well; known false: it does not. */
SqlDates sql_dates_of(Arena *arena, const char *statement);

/* Fills the node's facts in, if the dates are known. */
void sql_tell_dates(GraphNode *facts, const SqlDates *dates);

#endif
