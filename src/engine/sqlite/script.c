#include <string.h>

#include "engine/sqlite/lex.h"
#include "engine/sqlite/reads.h"
#include "engine/sqlite/sqlite_sql.h"

/*
 * What the statements of texts would do, found by SQLite itself: in memory stands a copy of the schema without rows, in
 * which each statement is prepared under an authorizer. Only what makes or drops tables and views is also run there, so
 * that the statements behind it find them. A statement whose tables are made later, by another text, is tried again.
 */

enum { MOST_STEPS = 1000 * 1000, MOST_ROUNDS = 64 };

/* What stands at the head of a statement. */
typedef struct Head {
  bool create, drop, alter, temporary, view, table, as, nothing; /* nothing: BEGIN, PRAGMA and the like; or no words */
  const char *name;                                              /* of what is made, unquoted */
} Head;

typedef struct Copy {
  sqlite3 *db;
  Arena *arena;
  AccessLog *log; /* of the statement that is being prepared */
} Copy;

/* ---- the copy ---------------------------------------------------------------------------------------------------- */

static void close_copy(Copy *copy) { sqlite3_close_v2(copy->db); }
#define COPY_SCOPED __attribute__((cleanup(close_copy))) Copy

/* Nothing reaches beyond the copy. */
static int authorize(void *context, int action, const char *first, const char *second, const char *database,
                     const char *within) {
  Copy *copy = context;
  if (copy->log != NULL && access_note(copy->log, action, first, second, within)) return SQLITE_OK;
  bool away = action == SQLITE_ATTACH || action == SQLITE_DETACH || action == SQLITE_PRAGMA;
  return away ? SQLITE_DENY : SQLITE_OK;
}

static int too_long(void *context) { return 1; }

static void run_in(const Copy *copy, const char *sql) { sqlite3_exec(copy->db, sql, NULL, NULL, NULL); }

/* Tables of modules that are not there, and views that are broken, are left out: what reads them cannot be read. */
static bool open_copy(SqliteEngine *engine, Arena *arena, Copy *ret, Error *err) {
  static const char doing[] = "copying the schema";
  STMT_SCOPED stmt = {0};
  *ret = (Copy){.arena = arena};
  if (sqlite3_open_v2(":memory:", &ret->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY, NULL) !=
      SQLITE_OK)
    return error_set(err, ERR_DATABASE, "cannot open a database in memory: %s", sqlite3_errmsg(ret->db));
  sqlite3_progress_handler(ret->db, MOST_STEPS, too_long, NULL);
  if (!sql_prepare(engine, sql_facts_schema, &stmt, doing, err)) return false;
  for (bool row;;) {
    if (!sql_step(engine, &stmt, &row, doing, err)) return false;
    if (!row) return true;
    run_in(ret, sql_peek(&stmt, 0));
  }
}

/* ---- heads ------------------------------------------------------------------------------------------------------- */

static const char *name_text(Arena *arena, const LexToken *token) {
  if (token->kind != LEX_NAME && token->kind != LEX_TEXT) return arena_strndup(arena, token->at, token->n);
  char *name = arena_alloc(arena, token->n + 1);
  size_t n = 0;
  for (size_t i = 1; i + 1 < token->n; i++) {
    name[n++] = token->at[i];
    if (token->at[0] != '[' && token->at[i] == token->at[0]) i++; /* doubled */
  }
  return name;
}

/* Behind CREATE … TABLE or VIEW: [IF NOT EXISTS] [schema.]name [AS]. */
static void read_name(Arena *arena, Lexer *lexer, Head *head) {
  LexToken token = lex_next(lexer);
  if (lex_is(&token, "IF")) {
    lex_next(lexer);
    lex_next(lexer);
    token = lex_next(lexer);
  }
  Lexer ahead = *lexer;
  LexToken next = lex_next(&ahead);
  if (lex_is_punct(&next, '.')) {
    if (lex_names(&token, "temp")) head->temporary = true;
    token = lex_next(&ahead);
    next = lex_next(&ahead);
  }
  head->name = name_text(arena, &token);
  head->as = lex_is(&next, "AS");
}

static Head read_head(Arena *arena, const char *sql) {
  static const char *const others[] = {"BEGIN",  "COMMIT",  "END",     "ROLLBACK", "SAVEPOINT", "RELEASE", "PRAGMA",
                                       "VACUUM", "ANALYZE", "REINDEX", "EXPLAIN",  "ATTACH",    "DETACH"};
  Lexer lexer = {.at = sql};
  LexToken token = lex_next(&lexer);
  Head head = {.nothing = token.kind == LEX_END};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) head.nothing = head.nothing || lex_is(&token, others[i]);
  head.create = lex_is(&token, "CREATE");
  head.drop = lex_is(&token, "DROP");
  head.alter = lex_is(&token, "ALTER");
  if (!head.create) return head;
  token = lex_next(&lexer);
  if (lex_is(&token, "TEMP") || lex_is(&token, "TEMPORARY")) {
    head.temporary = true;
    token = lex_next(&lexer);
  }
  head.view = lex_is(&token, "VIEW");
  head.table = lex_is(&token, "TABLE");
  if (head.view || head.table) read_name(arena, &lexer, &head);
  return head;
}

/* Where the statement that begins at `sql` ends, its semicolon included: that of a trigger behind its END. */
static size_t statement_length(const char *sql) {
  Lexer lexer = {.at = sql};
  bool create = false, trigger = false;
  LexToken before = {0};
  for (int i = 0;; i++) {
    LexToken token = lex_next(&lexer);
    if (token.kind == LEX_END || token.kind == LEX_OPEN) return strlen(sql);
    if (i == 0) create = lex_is(&token, "CREATE");
    if (create && i < 3 && lex_is(&token, "TRIGGER")) trigger = true;
    if (lex_is_punct(&token, ';') && (!trigger || lex_is(&before, "END"))) return (size_t)(token.at + 1 - sql);
    before = token;
  }
}

/* ---- statements -------------------------------------------------------------------------------------------------- */

static bool sql_is(const char *name, const char *other) { return other != NULL && sqlite3_stricmp(name, other) == 0; }

static bool is_catalogue(const char *table) { return sqlite3_strnicmp(table, "sqlite_", 7) == 0; }

static bool is_view_of(const Copy *copy, const char *name) {
  sqlite3_stmt *stmt = NULL;
  bool is = false;
  if (name == NULL || sqlite3_prepare_v2(copy->db, sql_facts_object, -1, &stmt, NULL) != SQLITE_OK) return false;
  sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
  if (sqlite3_step(stmt) == SQLITE_ROW) is = strcmp((const char *)sqlite3_column_text(stmt, 0), "view") == 0;
  sqlite3_finalize(stmt);
  return is;
}

static QueryRead *read_of(const Copy *copy, QueryRead **reads, size_t *n, const char *table) {
  const char **none = arena_alloc(copy->arena, sizeof *none);
  for (size_t i = 0; i < *n; i++)
    if (sqlite3_stricmp((*reads)[i].table, table) == 0) return &(*reads)[i];
  *reads = arena_grow(copy->arena, *reads, *n, sizeof **reads);
  (*reads)[*n] = (QueryRead){.table = table, .columns = none};
  return &(*reads)[(*n)++];
}

/* The statement's own reads: what stands in the text of a view that it reads is the view's, which is named here even if
 * none of its columns is. */
static void take_reads(const Copy *copy, const AccessLog *log, const char *self, bool hides, StatementFacts *facts) {
  QueryRead *reads = NULL;
  size_t n = 0;
  for (size_t i = 0; i < log->n; i++) {
    const Access *item = &log->items[i];
    if (item->kind != ACCESS_READ || is_catalogue(item->table)) continue;
    if (sql_is(item->table, self)) continue;
    bool in_view = item->within != NULL && !sql_is(item->within, self) && is_view_of(copy, item->within);
    QueryRead *read = read_of(copy, &reads, &n, in_view ? item->within : item->table);
    if (in_view || item->column[0] == '\0') continue;
    const char **columns = arena_grow(copy->arena, (void *)read->columns, read->n, sizeof *columns);
    columns[read->n++] = item->column;
    read->columns = columns;
  }
  for (size_t i = 0; i < n && hides; i++) reads[i] = (QueryRead){.table = reads[i].table};
  facts->reads = reads;
  facts->n_reads = n;
}

static void take_write(const AccessLog *log, const char *sql, StatementFacts *facts) {
  Lexer lexer = {.at = sql};
  for (size_t i = 0; i < log->n && facts->writes == NULL; i++)
    if (log->items[i].kind == ACCESS_WRITE && log->items[i].within == NULL && !is_catalogue(log->items[i].table))
      facts->writes = log->items[i].table;
  if (facts->writes == NULL) return;
  facts->kind = "table";
  facts->deed = "delete";
  for (LexToken token; (token = lex_next(&lexer)).kind != LEX_END;) {
    if (lex_is(&token, "INSERT") || lex_is(&token, "REPLACE")) facts->deed = "insert";
    if (lex_is(&token, "UPDATE")) facts->deed = "update";
    if (lex_is(&token, "INSERT") || lex_is(&token, "REPLACE") || lex_is(&token, "UPDATE") || lex_is(&token, "DELETE"))
      return;
  }
}

static int prepare_noted(Copy *copy, const char *sql, AccessLog *log, sqlite3_stmt **ret) {
  *log = (AccessLog){.arena = copy->arena};
  copy->log = log;
  sqlite3_set_authorizer(copy->db, authorize, copy);
  int code = sqlite3_prepare_v2(copy->db, sql, -1, ret, NULL);
  copy->log = NULL;
  return code;
}

/* What the view reads shows when it is read itself. */
static bool look_at_view(Copy *copy, const char *name, bool hides, StatementFacts *facts) {
  AccessLog log;
  sqlite3_stmt *stmt = NULL;
  const char *sql = sql_fill(copy->arena, sql_facts_view_rows, "view", sql_ident(copy->arena, name), NULL);
  bool ok = prepare_noted(copy, sql, &log, &stmt) == SQLITE_OK;
  if (ok) take_reads(copy, &log, name, hides, facts);
  sqlite3_finalize(stmt);
  return ok;
}

/* Makes room for what is made anew: the statement says what it will be. */
static void drop_old(const Copy *copy, const Head *head) {
  const char *name = sql_ident(copy->arena, head->name);
  run_in(copy, sql_fill(copy->arena, is_view_of(copy, head->name) ? sql_facts_drop_view : sql_facts_drop_table, "name",
                        name, NULL));
}

/* False: it cannot be understood (now), and facts->unread says why. */
static bool look_at(Copy *copy, const char *sql, StatementFacts *facts) {
  AccessLog log;
  sqlite3_stmt *stmt = NULL;
  Head head = read_head(copy->arena, sql);
  facts->unread = NULL;
  if (head.nothing || (head.create && !head.view && !head.table)) return true;
  if (head.view || (head.table && head.as)) drop_old(copy, &head);
  bool ok = prepare_noted(copy, sql, &log, &stmt) == SQLITE_OK;
  if (ok && (head.create || head.drop || head.alter)) sqlite3_step(stmt);
  if (!ok && head.table && !head.as) ok = true; /* it is there already */
  if (!ok) facts->unread = arena_strdup(copy->arena, sqlite3_errmsg(copy->db));
  sqlite3_finalize(stmt);
  if (!ok || head.drop || head.alter || (head.table && !head.as && !head.temporary)) return ok;
  if (head.create) {
    facts->writes = head.name;
    facts->kind = head.view ? "view" : "table";
    facts->deed = head.view ? "create view" : head.as ? "create table as" : "create table";
    facts->temporary = head.temporary;
  } else {
    take_write(&log, sql, facts);
  }
  if (head.view && !look_at_view(copy, head.name, lex_joins_by_name(sql), facts)) {
    facts->unread = arena_strdup(copy->arena, sqlite3_errmsg(copy->db));
    return false;
  }
  if (!head.view) take_reads(copy, &log, head.create ? head.name : NULL, lex_joins_by_name(sql), facts);
  return true;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static ScriptFacts split(Arena *arena, const char *text) {
  StatementFacts *statements = NULL;
  size_t n = 0;
  for (size_t at = 0; text[at] != '\0';) {
    size_t length = statement_length(text + at);
    statements = arena_grow(arena, statements, n, sizeof *statements);
    statements[n++] = (StatementFacts){.offset = at, .length = length, .unread = "it was not looked at"};
    at += length;
  }
  return (ScriptFacts){statements, n};
}

bool sqlite_describe_scripts(Engine *base, Arena *arena, const char *const *texts, size_t n, ScriptFacts *ret_scripts,
                             Error *err) {
  COPY_SCOPED copy;
  if (!open_copy(sqlite_engine(base), arena, &copy, err)) return false;
  for (size_t i = 0; i < n; i++) ret_scripts[i] = split(arena, texts[i]);
  bool more = true;
  for (int round = 0; more && round < MOST_ROUNDS; round++) {
    more = false;
    for (size_t i = 0; i < n; i++)
      for (size_t k = 0; k < ret_scripts[i].n; k++) {
        StatementFacts *facts = (StatementFacts *)&ret_scripts[i].statements[k];
        if (facts->unread == NULL) continue;
        const char *sql = arena_strndup(arena, texts[i] + facts->offset, facts->length);
        if (look_at(&copy, sql, facts)) more = true;
      }
  }
  return true;
}
