#include <string.h>

#include "engine/sqlite/lex.h"
#include "engine/sqlite/query_int.h"
#include "engine/sqlite/sqlite_sql.h"

/* What a query gives, what it reads, and whether it would give the same again. */

static const char doing[] = "reading the query";

/* A list of names, each once. */
typedef struct Names {
  const char **items;
  size_t n;
} Names;

static void add_name(Arena *arena, Names *names, const char *name) {
  for (size_t i = 0; i < names->n; i++)
    if (sqlite3_stricmp(names->items[i], name) == 0) return;
  names->items = arena_grow(arena, names->items, names->n, sizeof *names->items);
  names->items[names->n++] = arena_strdup(arena, name);
}

/* ---- tables read ------------------------------------------------------------------------------------------------- */

/* The SQL of a table or view of the main database; NULL when it has none of that name (json_each and the like). */
static bool entry_sql(SqliteEngine *engine, Arena *arena, const char *name, const char **ret_sql, bool *ret_view,
                      Error *err) {
  STMT_SCOPED stmt = {0};
  bool row;
  if (!sql_prepare(engine, sql_facts_table, &stmt, doing, err)) return false;
  sql_bind_text(&stmt, ":name", name);
  if (!sql_step(engine, &stmt, &row, doing, err)) return false;
  *ret_sql = row ? sql_text(arena, &stmt, 4) : NULL;
  *ret_view = row && strcmp(sql_peek(&stmt, 1), "view") == 0;
  return true;
}

static Names columns_of(Arena *arena, const AccessLog *log, const char *table) {
  Names columns = {0};
  for (size_t i = 0; i < log->n; i++) {
    const Access *item = &log->items[i];
    if (item->kind == ACCESS_READ && item->column[0] != '\0' && sqlite3_stricmp(item->table, table) == 0)
      add_name(arena, &columns, item->column);
  }
  return columns;
}

/* Does the text say main.TABLE? */
static bool names_schema(const char *sql, const char *table) {
  Lexer lexer = {.at = sql};
  LexToken before[2] = {0};
  for (LexToken token; (token = lex_next(&lexer)).kind != LEX_END; before[0] = before[1], before[1] = token)
    if (lex_is_punct(&before[1], '.') && before[0].n > 0 && lex_names(&before[0], "main") && lex_names(&token, table))
      return true;
  return false;
}

/* Why a temporary view under the table's name would not be seen, as the end of "it is read …": what a view reads lies
 * in the view's own schema. NULL: it would be seen. */
static bool past_of(SqliteEngine *engine, Arena *arena, const char *sql, const AccessLog *log, const char *table,
                    const char **ret, Error *err) {
  *ret = names_schema(sql, table) ? arena_printf(arena, "as main.%s", table) : NULL;
  for (size_t i = 0; i < log->n && *ret == NULL; i++) {
    const Access *item = &log->items[i];
    const char *text;
    bool view;
    if (item->kind != ACCESS_READ || item->within == NULL || sqlite3_stricmp(item->table, table) != 0) continue;
    if (!entry_sql(engine, arena, item->within, &text, &view, err)) return false;
    if (view) *ret = arena_printf(arena, "through the view %s", item->within);
  }
  return true;
}

/* ---- what may differ the next time ------------------------------------------------------------------------------- */

static bool is_one_of(const char *name, const char *const *names) {
  for (; *names != NULL; names++)
    if (sqlite3_stricmp(name, *names) == 0) return true;
  return false;
}

/* Does the call that opens at the lexer's place ask for the present time: without a time, or with 'now'? `least`: how
 * many arguments it has when the time is among them. */
static bool asks_now(Lexer lexer, int least) {
  LexToken token = lex_next(&lexer);
  int depth = 1, arguments = 0;
  if (!lex_is_punct(&token, '(')) return false;
  while (depth > 0 && (token = lex_next(&lexer)).kind != LEX_END) {
    if (lex_is_punct(&token, '(')) depth++;
    if (lex_is_punct(&token, ')') && --depth == 0) break;
    if (arguments == 0) arguments = 1;
    if (depth == 1 && lex_is_punct(&token, ',')) arguments++;
    if (token.kind == LEX_TEXT && lex_names(&token, "now")) return true;
  }
  return arguments < least;
}

static void find_now(Arena *arena, const char *sql, Names *found) {
  static const struct {
    const char *name;
    int least;
  } calls[] = {{"date", 1}, {"time", 1}, {"datetime", 1}, {"julianday", 1}, {"unixepoch", 1}, {"strftime", 2}};
  Lexer lexer = {.at = sql};
  for (LexToken token; (token = lex_next(&lexer)).kind != LEX_END;)
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
      if (lex_names(&token, calls[i].name) && asks_now(lexer, calls[i].least))
        add_name(arena, found, arena_printf(arena, "%s('now')", calls[i].name));
}

static void find_volatile(Arena *arena, const AccessLog *log, Names *found) {
  static const char *const names[] = {"random",        "randomblob",        "changes",
                                      "total_changes", "last_insert_rowid", "current_date",
                                      "current_time",  "current_timestamp", NULL};
  for (size_t i = 0; i < log->n; i++)
    if (log->items[i].kind == ACCESS_CALL && is_one_of(log->items[i].table, names))
      add_name(arena, found, log->items[i].table);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* The tables and views of the main database that are read; the text of views is searched for the present time. */
static bool read_tables(SqliteEngine *engine, Arena *arena, const char *query, const AccessLog *log, QueryFacts *facts,
                        Names *found, Error *err) {
  Names tables = {0};
  for (size_t i = 0; i < log->n; i++)
    if (log->items[i].kind == ACCESS_READ) add_name(arena, &tables, log->items[i].table);
  QueryRead *reads = arena_array(arena, tables.n, sizeof *reads);
  for (size_t i = 0; i < tables.n; i++) {
    const char *sql, *past;
    bool view;
    if (!entry_sql(engine, arena, tables.items[i], &sql, &view, err)) return false;
    if (sql == NULL) continue;
    if (!past_of(engine, arena, query, log, tables.items[i], &past, err)) return false;
    if (view) find_now(arena, sql, found);
    Names columns = columns_of(arena, log, tables.items[i]);
    reads[facts->n_reads++] = (QueryRead){tables.items[i], columns.items, columns.n, past};
  }
  facts->reads = reads;
  return true;
}

static bool uses(const Stmt *stmt, const char *const names[3]) {
  for (int i = 0; i < 3; i++)
    if (sqlite3_bind_parameter_index(stmt->handle, names[i]) > 0) return true;
  return false;
}

bool sqlite_describe_query(Engine *base, Arena *arena, const char *sql, QueryFacts *ret, int *ret_offset, Error *err) {
  SqliteEngine *engine = sqlite_engine(base);
  STMT_SCOPED stmt = {0};
  AccessLog log;
  Names found = {0};
  QueryFacts facts = {0};
  Written written = {.what = "the query", .sql = sql, .before = "", .after = "", .parameters = true};
  if (!written_prepare(engine, arena, &written, &stmt, &log, ret_offset, err)) return false;
  find_volatile(arena, &log, &found);
  find_now(arena, sql, &found);
  if (!read_tables(engine, arena, sql, &log, &facts, &found, err)) return false;
  facts.n_columns = (size_t)sqlite3_column_count(stmt.handle);
  const char **columns = arena_array(arena, facts.n_columns, sizeof *columns);
  for (size_t i = 0; i < facts.n_columns; i++)
    columns[i] = arena_strdup(arena, sqlite3_column_name(stmt.handle, (int)i));
  facts.columns = columns;
  facts.volatile_functions = found.items;
  facts.n_volatile = found.n;
  facts.uses_from = uses(&stmt, (const char *const[]){":from", ":from_date", ":from_unix"});
  facts.uses_to = uses(&stmt, (const char *const[]){":to", ":to_date", ":to_unix"});
  *ret = facts;
  return true;
}

bool sqlite_number(Engine *base, const char *sql, double *ret, Error *err) {
  SqliteEngine *engine = sqlite_engine(base);
  ARENA_SCOPED arena = {0};
  STMT_SCOPED stmt = {0};
  AccessLog log;
  int offset;
  bool row, more;
  Written written = {.what = "the query for a number", .sql = sql, .before = "", .after = "", .parameters = false};
  if (!written_prepare(engine, &arena, &written, &stmt, &log, &offset, err)) return false;
  int columns = sqlite3_column_count(stmt.handle);
  if (columns != 1) return error_set(err, ERR_SPEC, "a query for a number gave %d columns instead of one", columns);
  if (!sql_step(engine, &stmt, &row, "asking for a number", err)) return false;
  if (!row) return error_set(err, ERR_SPEC, "a query for a number gave no row");
  int type = sqlite3_column_type(stmt.handle, 0);
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
    return error_set(err, ERR_SPEC, "a query for a number gave %s",
                     type == SQLITE_NULL ? "NULL" : "a value that is not one");
  double number = sqlite3_column_double(stmt.handle, 0);
  if (!sql_step(engine, &stmt, &more, "asking for a number", err)) return false;
  if (more) return error_set(err, ERR_SPEC, "a query for a number gave several rows");
  *ret = number;
  return true;
}
