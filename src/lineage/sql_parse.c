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

/* What a text of several statements needs beside the statements themselves. */
typedef struct Script {
  Arena *arena;
  const char *text, *schema;
  SqlStatement *statements;
  size_t n;
  SqlUnread *unread;
  size_t n_unread;
  SqlStatement *temporary; /* what made each temporary table */
  size_t n_temporary;
} Script;

static int line_at(const char *text, size_t offset) {
  int line = 1;
  for (size_t i = 0; i < offset && text[i] != '\0'; i++) line += text[i] == '\n';
  return line;
}

static void leave_unread(Script *script, size_t offset, const char *why) {
  script->unread = arena_grow(script->arena, script->unread, script->n_unread, sizeof *script->unread);
  script->unread[script->n_unread++] = (SqlUnread){line_at(script->text, offset), why};
}

/* What put rows into the temporary table of that name, from the i-th on; *i ends behind it. NULL: nothing more. */
static const SqlStatement *temporary_of(const Script *script, const SqlName *name, size_t *i) {
  if (name->schema != NULL && !sql_same(name->schema, script->schema)) return NULL;
  while (*i < script->n_temporary) {
    const SqlStatement *made = &script->temporary[(*i)++];
    if (sql_same(made->writes.name, name->name)) return made;
  }
  return NULL;
}

static void merge_read(Arena *arena, SqlRead **reads, size_t *n, SqlRead read) {
  for (size_t i = 0; i < *n; i++) {
    SqlRead *old = &(*reads)[i];
    if (!sql_same_table(&old->table, &read.table)) continue;
    const char **columns = arena_array(arena, old->n + read.n, sizeof *columns);
    size_t both = 0;
    for (size_t k = 0; k < old->n; k++) columns[both++] = old->columns[k];
    for (size_t k = 0; k < read.n; k++) columns[both++] = read.columns[k];
    *old = (SqlRead){old->table, columns, both, old->all || read.all};
    return;
  }
  *reads = arena_grow(arena, *reads, *n, sizeof **reads);
  (*reads)[(*n)++] = read;
}

/* Dates through a temporary table: the widest of both. */
static SqlDates widest(SqlDates a, SqlDates b) {
  a.known = a.known && b.known;
  a.cumulative = a.cumulative || b.cumulative;
  a.after = a.after || b.after;
  a.all = a.all || b.all;
  if (b.has_grain && (!a.has_grain || b.grain > a.grain)) a.grain = b.grain;
  a.has_grain = a.has_grain || b.has_grain;
  a.window += b.window;
  if (a.why == NULL) a.why = b.why;
  return a;
}

/* The statement as it is when temporary tables are looked through. */
static SqlStatement resolve(const Script *script, const SqlWalk *w, const SqlWalkWrite *write, SqlStatement statement) {
  SqlRead *reads = NULL;
  size_t n = 0;
  for (size_t i = 0; i < w->n; i++) {
    const SqlWalkRead *read = &w->reads[i];
    size_t at = 0;
    const SqlStatement *made = temporary_of(script, &read->table, &at);
    if (write->table.name != NULL && sql_same_table(&read->table, &write->table)) {
      statement.reads_itself = true;
    } else if (made != NULL) {
      for (; made != NULL; made = temporary_of(script, &read->table, &at)) {
        for (size_t k = 0; k < made->n; k++) merge_read(script->arena, &reads, &n, made->reads[k]);
        statement.dates = widest(statement.dates, made->dates);
      }
    } else {
      merge_read(script->arena, &reads, &n, (SqlRead){read->table, read->columns, read->n, read->all});
    }
  }
  statement.reads = reads;
  statement.n = n;
  return statement;
}

static void add_statement(Script *script, const SqlStatement *statement, bool temporary) {
  SqlStatement **list = temporary ? &script->temporary : &script->statements;
  size_t *n = temporary ? &script->n_temporary : &script->n;
  *list = arena_grow(script->arena, *list, *n, sizeof **list);
  (*list)[(*n)++] = *statement;
}

static void set_search_path(Script *script, const json_t *tree) {
  const json_t *set = json_object_get(tree, "VariableSetStmt");
  const char *name = sql_member(set, "name");
  if (name == NULL || strcasecmp(name, "search_path") != 0) return;
  const json_t *first = json_object_get(json_array_get(json_object_get(set, "args"), 0), "A_Const");
  script->schema = arena_strdup(script->arena, sql_member(json_object_get(first, "sval"), "sval"));
}

static void read_statement(Script *script, size_t offset, const char *text) {
  const char *why;
  int fault;
  size_t start = offset + strspn(text, " \t\r\n");
  json_t *tree = sql_tree(script->arena, text, &why, &fault);
  if (tree == NULL) {
    leave_unread(script, fault >= 0 ? offset + (size_t)fault : start, why);
    return;
  }
  SqlWalk w = {.arena = script->arena, .schema = script->schema};
  set_search_path(script, tree);
  sql_walk(&w, tree);
  if (w.unread != NULL) leave_unread(script, start, w.unread);
  SqlStatement plain = {.line = line_at(script->text, start), .text = text};
  if (w.n_writes > 0) plain.dates = sql_dates(tree);
  for (size_t i = 0; i < w.n_writes; i++) {
    const SqlWalkWrite *write = &w.writes[i];
    size_t at = 0;
    bool temporary = write->file_name == NULL && temporary_of(script, &write->table, &at) != NULL;
    plain.writes = write->table;
    plain.kind = write->kind;
    plain.deed = write->deed;
    plain.file_name = write->file_name;
    SqlStatement statement = resolve(script, &w, write, plain);
    add_statement(script, &statement, write->temporary || temporary);
  }
  json_decref(tree);
}

bool sql_can_parse(void) { return true; }

SqlScript sql_parse(Arena *arena, const char *text) {
  Script script = {.arena = arena, .text = text};
  PgQuerySplitResult split = pg_query_split_with_scanner(text);
  if (split.error != NULL)
    leave_unread(&script, split.error->cursorpos > 0 ? (size_t)split.error->cursorpos - 1 : 0,
                 arena_strdup(arena, split.error->message));
  for (int i = 0; split.error == NULL && i < split.n_stmts; i++) {
    size_t at = (size_t)split.stmts[i]->stmt_location, n = (size_t)split.stmts[i]->stmt_len;
    read_statement(&script, at, arena_strndup(arena, text + at, n == 0 ? strlen(text + at) : n));
  }
  pg_query_free_split_result(split);
  return (SqlScript){script.statements, script.n, script.unread, script.n_unread};
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
