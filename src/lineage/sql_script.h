#ifndef TIDEGATE_LINEAGE_SQL_SCRIPT_H
#define TIDEGATE_LINEAGE_SQL_SCRIPT_H

#include "lineage/sql_text.h"

/* Private to the readers of SQL text: statements as each parser finds them become an SqlScript, in which temporary
 * tables are looked through. */

typedef struct SqlWalkRead {
  SqlName table;
  const char **columns;
  size_t n;
  bool all;
} SqlWalkRead;

typedef struct SqlWalkWrite {
  SqlName table;
  const char *kind, *deed, *file_name; /* as in SqlStatement */
  bool temporary;
} SqlWalkWrite;

/* One statement. */
typedef struct SqlWalk {
  Arena *arena;
  const char *schema; /* of names without one; NULL: none is known */
  SqlWalkRead *reads; /* each table once */
  size_t n;
  SqlWalkWrite *writes;
  size_t n_writes;
  const char *unread; /* something in it that cannot be looked into; NULL: nothing */
  int depth;
} SqlWalk;

/* A script in the making. */
typedef struct SqlBuild {
  Arena *arena;
  const char *text, *schema; /* schema: the first of search_path; NULL: it is not set in the text */
  SqlStatement *statements;
  size_t n;
  SqlUnread *unread;
  size_t n_unread;
  SqlStatement *temporary; /* what put rows into temporary tables */
  size_t n_temporary;
} SqlBuild;

/* One statement, whose first word stands at byte `start`. */
void sql_build_add(SqlBuild *build, const SqlWalk *walk, const SqlDates *dates, size_t start, const char *statement);
void sql_build_unread(SqlBuild *build, size_t offset, const char *why);
SqlScript sql_build_end(const SqlBuild *build);

/* Names alike, the case of ASCII letters aside; either may be NULL. */
bool sql_same(const char *a, const char *b);
bool sql_same_table(const SqlName *a, const SqlName *b);

#endif
