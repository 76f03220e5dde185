#include <pg_query.h>
#include <string.h>
#include <strings.h>

#include "engine/postgres/lex.h"
#include "lineage/sql_tree.h"

/* A text of PostgreSQL's dialect, statement by statement, by PostgreSQL's own parser (libpg_query). */

/* The text with every :parameter as $1 and spaces: what is left stays where it was. */
static const char *without_parameters(Arena *arena, const char *text) {
  char *copy = arena_strdup(arena, text);
  PgLexer lexer = {.at = text};
  for (PgToken token; (token = pg_lex_next(&lexer)).kind != PG_LEX_END;)
    if (token.kind == PG_LEX_PARAMETER && *token.at == ':' && token.n >= 2) {
      char *at = copy + (token.at - text);
      memset(at, ' ', token.n);
      at[0] = '$';
      at[1] = '1';
    }
  return copy;
}

json_t *sql_tree(Arena *arena, const char *statement, const char **ret_why, int *ret_offset) {
  PgQueryParseResult result = pg_query_parse(without_parameters(arena, statement));
  json_error_t fault;
  json_t *tree = NULL, *found = NULL;
  *ret_why = NULL;
  *ret_offset = -1;
  if (result.error != NULL) {
    *ret_why = arena_strdup(arena, result.error->message);
    *ret_offset = result.error->cursorpos - 1;
  } else if ((tree = json_loads(result.parse_tree, JSON_ALLOW_NUL, &fault)) == NULL) {
    *ret_why = arena_printf(arena, "it is nested too deeply, or no UTF-8 (%s)", fault.text);
  } else if (json_array_size(json_object_get(tree, "stmts")) != 1) {
    *ret_why = "it is not one statement";
  } else {
    found = json_incref(json_object_get(json_array_get(json_object_get(tree, "stmts"), 0), "stmt"));
  }
  json_decref(tree);
  pg_query_free_parse_result(result);
  return found;
}

static void set_search_path(SqlBuild *build, const json_t *tree) {
  const json_t *set = json_object_get(tree, "VariableSetStmt");
  const char *name = sql_member(set, "name");
  if (name == NULL || strcasecmp(name, "search_path") != 0) return;
  const json_t *first = json_object_get(json_array_get(json_object_get(set, "args"), 0), "A_Const");
  build->schema = arena_strdup(build->arena, sql_member(json_object_get(first, "sval"), "sval"));
}

static void read_statement(SqlBuild *build, size_t offset, const char *text) {
  const char *why;
  int fault;
  size_t start = offset + strspn(text, " \t\r\n");
  json_t *tree = sql_tree(build->arena, text, &why, &fault);
  if (tree == NULL) {
    sql_build_unread(build, fault >= 0 ? offset + (size_t)fault : start, why);
    return;
  }
  SqlWalk walk = {.arena = build->arena, .schema = build->schema};
  SqlDates dates = {0};
  set_search_path(build, tree);
  sql_walk(&walk, tree);
  if (walk.unread != NULL) sql_build_unread(build, start, walk.unread);
  if (walk.n_writes > 0) dates = sql_dates(tree);
  sql_build_add(build, &walk, &dates, start, text);
  json_decref(tree);
}

bool sql_can_parse(void) { return true; }

SqlScript sql_parse(Arena *arena, const char *text) {
  SqlBuild build = {.arena = arena, .text = text};
  PgQuerySplitResult split = pg_query_split_with_scanner(text);
  if (split.error != NULL)
    sql_build_unread(&build, split.error->cursorpos > 0 ? (size_t)split.error->cursorpos - 1 : 0,
                     arena_strdup(arena, split.error->message));
  for (int i = 0; split.error == NULL && i < split.n_stmts; i++) {
    size_t at = (size_t)split.stmts[i]->stmt_location, n = (size_t)split.stmts[i]->stmt_len;
    read_statement(&build, at, arena_strndup(arena, text + at, n == 0 ? strlen(text + at) : n));
  }
  pg_query_free_split_result(split);
  return sql_build_end(&build);
}

SqlScript sql_parse_query(Arena *arena, const char *text) {
  SqlScript script = sql_parse(arena, text);
  if (script.n > 0 || script.n_unread > 0) return script;
  return sql_parse(arena, arena_printf(arena, "create view query as %s", text));
}

SqlDates sql_dates_of(Arena *arena, const char *statement) {
  const char *why;
  int offset;
  json_t *tree = sql_tree(arena, statement, &why, &offset);
  SqlDates dates = {0};
  if (tree != NULL) dates = sql_dates(tree);
  json_decref(tree);
  return dates;
}
