#ifndef TIDEGATE_LINEAGE_SQL_TREE_H
#define TIDEGATE_LINEAGE_SQL_TREE_H

#include <jansson.h>

#include "lineage/sql_script.h"

/* The private header of the files that walk libpg_query's parse tree, as the JSON that it gives. */

/* The parse tree of one statement ("SelectStmt": {…} and the like), to be json_decref'ed; NULL with *ret_why: why not,
 * *ret_offset: its byte, −1: unknown. :parameters are taken for values. */
json_t *sql_tree(Arena *arena, const char *statement, const char **ret_why, int *ret_offset);

/* The member as text; NULL: absent or no text. */
const char *sql_member(const json_t *object, const char *key);

/* The last part of a name given as a list of String nodes (funcname, names, fields); NULL: it is `*`. */
const char *sql_last_name(const json_t *names);

/* sql_walk.c: into walk's reads and writes. */
void sql_walk(SqlWalk *walk, const json_t *tree);

/* ---- dates (sql_dates.c, sql_pairs.c) ---------------------------------------------------------------------------- */

/* What the tree says of dates. */
SqlDates sql_dates(const json_t *tree);

/* Two tables whose dates are compared. */
typedef struct SqlPair {
  const char *left, *right;
  bool right_later; /* the right one's date is the later one, or the same */
  bool offset;      /* with so many days between */
} SqlPair;

enum { SQL_MOST_PAIRS = 32 };

typedef struct SqlPairs {
  SqlPair items[SQL_MOST_PAIRS];
  size_t n;
  const json_t *output, *nearest; /* the target list of the outermost query, and of the one that is looked at */
} SqlPairs;

/* A comparison: which tables' dates it connects, and how far they are apart. */
void sql_look_at_comparison(SqlDates *dates, SqlPairs *pairs, const json_t *expression);
/* At the end: tables whose dates are compared without a bound on the other side. */
void sql_settle_pairs(SqlDates *dates, const SqlPairs *pairs);

void sql_say(SqlDates *dates, const char *why); /* the first reason stays */
bool sql_one_of(const char *word, const char *const *words);
bool sql_is_date_name(const char *name);
/* The fields of the column that the expression is, casts passed over; NULL: something else. */
const json_t *sql_column_of(const json_t *node);
/* A number of days, as an integer or an interval; −1: neither. */
int sql_days_of(const json_t *node);
/* A column's date, moved by days or cut to a grain. */
typedef struct SqlMoved {
  const json_t *fields; /* of the column; NULL: it is nothing like that */
  int later, earlier;   /* by so many days at most, whole ones */
} SqlMoved;

SqlMoved sql_moved(const json_t *node);
/* Adds what SQLite's '-6 days', '+1 month', 'weekday 0' or 'localtime' may move. */
void sql_modify(const json_t *node, SqlMoved *moved);
/* What is written stands at dates so much later, or earlier, than what it is made from. */
void sql_move(SqlDates *dates, int later, int earlier);
/* Does the expression give or hold a date, by a column's name? */
bool sql_has_date(const json_t *node);

#endif
