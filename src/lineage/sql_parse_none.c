#include "lineage/sql_text.h"

/* In a build without the feature `sql`. */

bool sql_can_parse(void) { return false; }

SqlScript sql_parse(Arena *arena, const char *text) {
  SqlUnread *unread = arena_alloc(arena, sizeof *unread);
  *unread = (SqlUnread){1, "this build cannot read PostgreSQL's dialect (-Dsql=enabled needs libpg_query and jansson)"};
  return (SqlScript){.unread = unread, .n_unread = 1};
}

SqlScript sql_parse_query(Arena *arena, const char *text) { return sql_parse(arena, text); }

SqlDates sql_dates_of(Arena *arena, const char *statement) { return (SqlDates){0}; }
