#include <string.h>
#include <strings.h>

#include "engine/postgres/postgres_sql.h"
#include "engine/postgres/query_int.h"

/* What a query reads and calls. */

static const char doing[] = "looking up what the query reads";

void pg_names_add(Arena *arena, PgNames *names, const char *name) {
  for (size_t i = 0; i < names->n; i++)
    if (strcmp(names->items[i], name) == 0) return;
  names->items = arena_grow(arena, names->items, names->n, sizeof *names->items);
  names->items[names->n++] = arena_strdup(arena, name);
}

/* ---- what the text calls ---------------------------------------------------------------------------------------- */

static bool is_one_of(const PgToken *token, const char *const *words) {
  for (; *words != NULL; words++)
    if (pg_lex_is(token, *words)) return true;
  return false;
}

/* 'now', 'today' and their kin stand for the present time when they are read as a date or time. */
static bool is_relative(const PgToken *token) {
  static const char *const words[] = {"'now'", "'today'", "'tomorrow'", "'yesterday'"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (token->kind == PG_LEX_TEXT && token->n == strlen(words[i]) && strncasecmp(token->at, words[i], token->n) == 0)
      return true;
  return false;
}

/* Has the call that opens at the lexer's place one argument? */
static bool has_one_argument(PgLexer lexer) {
  int depth = 0;
  for (PgToken token; (token = pg_lex_next(&lexer)).kind != PG_LEX_END;) {
    if (pg_lex_is_punct(&token, '(')) depth++;
    if (pg_lex_is_punct(&token, ')') && --depth == 0) return true;
    if (depth == 1 && pg_lex_is_punct(&token, ',')) return false;
  }
  return false;
}

void pg_find_calls(Arena *arena, const char *sql, PgNames *found, PgNames *called) {
  static const char *const present[] = {"current_date", "current_time",   "current_timestamp",
                                        "localtime",    "localtimestamp", NULL};
  static const char *const calls[] = {"now", "transaction_timestamp", "statement_timestamp", NULL};
  static const char *const types[] = {"date", "time", "timetz", "timestamp", "timestamptz", NULL};
  PgLexer lexer = {.at = sql};
  PgToken before = {0};
  for (PgToken token; (token = pg_lex_next(&lexer)).kind != PG_LEX_END; before = token) {
    PgLexer ahead = lexer;
    PgToken next = pg_lex_next(&ahead);
    bool call = pg_lex_is_punct(&next, '('), part = pg_lex_is_punct(&before, '.');
    bool name = token.kind == PG_LEX_WORD || (token.kind == PG_LEX_NAME && *token.at == '"');
    bool cast = is_one_of(&before, types) || (next.kind == PG_LEX_PUNCT && next.n == 2 && next.at[1] == ':');
    if (name && call) pg_names_add(arena, called, pg_lex_name(arena, &token));
    if ((!part && is_one_of(&token, present)) || (call && is_one_of(&token, calls)) ||
        (call && pg_lex_is(&token, "age") && has_one_argument(lexer)))
      pg_names_add(arena, found, pg_lex_name(arena, &token));
    if (cast && is_relative(&token)) pg_names_add(arena, found, arena_strndup(arena, token.at, token.n));
  }
}

/* '{"a","b"}' */
static const char *array_of(Arena *arena, const PgNames *names) {
  BUF_SCOPED text = {0};
  buf_putc(&text, '{');
  for (size_t i = 0; i < names->n; i++) {
    buf_puts(&text, i == 0 ? "\"" : ",\"");
    for (const char *s = names->items[i]; *s != '\0'; s++) {
      if (*s == '"' || *s == '\\') buf_putc(&text, '\\');
      buf_putc(&text, *s);
    }
    buf_putc(&text, '"');
  }
  buf_putc(&text, '}');
  return arena_strdup(arena, buf_text(&text));
}

static bool find_volatile(PgEngine *engine, Arena *arena, const PgNames *called, PgNames *found, Error *err) {
  PG_SCOPED rows = NULL;
  const char *const values[] = {array_of(arena, called)};
  if (!pg_query(engine, sql_query_volatile, values, 1, &rows, doing, err)) return false;
  for (int i = 0; i < PQntuples(rows); i++) pg_names_add(arena, found, pg_peek(rows, i, 0));
  return true;
}

/* ---- what the catalogue knows ----------------------------------------------------------------------------------- */

/* What was found of one query. */
typedef struct Found {
  PgNames present, called, opaque;
  QueryRead *reads;
  size_t n;
  bool functions; /* may there be some that are not built in? */
} Found;

/* Where the catalogue is entered: `seed` with its n values, and further tables. */
typedef struct Entry {
  const char *seed, *named;
  const char *const *values;
  int n;
} Entry;

static bool read_relations(PgEngine *engine, Arena *arena, const Entry *entry, Found *found, Error *err) {
  PG_SCOPED rows = NULL;
  const char *uses = sql_fill(arena, sql_query_uses, "seed", entry->seed, NULL);
  const char *sql = sql_fill(arena, sql_query_relations, "uses", uses, "named", entry->named, NULL);
  if (!pg_query(engine, sql, entry->values, entry->n, &rows, doing, err)) return false;
  found->n = (size_t)PQntuples(rows);
  found->reads = arena_array(arena, found->n, sizeof *found->reads);
  found->functions = found->n == 0 || pg_bool(rows, 0, 4);
  for (int i = 0; i < PQntuples(rows); i++) {
    QueryRead *read = &found->reads[i];
    read->table = pg_text(arena, rows, i, 0);
    read->columns = pg_array(arena, pg_peek(rows, i, 1), &read->n);
    read->past = pg_text(arena, rows, i, 3);
    const char *view = pg_peek(rows, i, 2);
    if (view != NULL) pg_find_calls(arena, view, &found->present, &found->called);
  }
  return true;
}

static bool read_functions(PgEngine *engine, Arena *arena, const Entry *entry, Found *found, Error *err) {
  PG_SCOPED rows = NULL;
  const char *uses = sql_fill(arena, sql_query_uses, "seed", entry->seed, NULL);
  const char *sql = sql_fill(arena, sql_query_functions, "uses", uses, NULL);
  if (!pg_query(engine, sql, entry->values, entry->n, &rows, doing, err)) return false;
  for (int i = 0; i < PQntuples(rows); i++) {
    if (pg_bool(rows, i, 1)) pg_names_add(arena, &found->present, pg_peek(rows, i, 0));
    if (pg_bool(rows, i, 2)) pg_names_add(arena, &found->opaque, pg_peek(rows, i, 0));
  }
  return true;
}

static bool read_catalogue(PgEngine *engine, Arena *arena, const Entry *entry, Found *found, Error *err) {
  return read_relations(engine, arena, entry, found, err) &&
         (!found->functions || read_functions(engine, arena, entry, found, err));
}

/* *ret_seen is false where no view can be made: without the TEMP privilege, on a standby, inside a transaction that a
 * failure would spoil, or of a query that no view can hold. */
static bool read_by_catalogue(PgEngine *engine, Arena *arena, const char *sql, Found *found, bool *ret_seen,
                              Error *err) {
  Error refused = {0};
  bool own;
  *ret_seen = false;
  if (pg_in_transaction(engine)) return true;
  if (!pg_begin(engine, false, &own, doing, err)) return false;
  const char *look = sql_fill(arena, sql_query_look, "query", sql, NULL);
  *ret_seen = pg_run(engine, look, NULL, 0, NULL, doing, &refused);
  bool lost =
      !*ret_seen && (refused.code == ERR_LOCKED || refused.code == ERR_PAUSED || pg_sqlstate(engine)[0] == '\0');
  if (lost) *err = refused;
  const Entry entry = {.seed = sql_query_seed_look, .named = ""};
  bool ok = !lost && (!*ret_seen || read_catalogue(engine, arena, &entry, found, err));
  pg_undo(engine, own);
  return ok;
}

/* ---- by the text ------------------------------------------------------------------------------------------------ */

/* Behind which words and marks the name of a table may stand; what else is meant there, such as the list of columns or
 * a WITH query, is taken for a table of the same name. */
static bool names_follow(const PgToken *token) {
  static const char *const words[] = {"from", "join", "only", "table", "lateral", NULL};
  return is_one_of(token, words) || pg_lex_is_punct(token, ',') || pg_lex_is_punct(token, '(');
}

/* The name that begins with the token, `table` or `schema.table`; NULL when it is none. */
static const char *dotted_name(Arena *arena, PgLexer *lexer, PgToken token) {
  BUF_SCOPED name = {0};
  for (int parts = 1;; parts++) {
    bool bare = token.kind == PG_LEX_WORD, quoted = token.kind == PG_LEX_NAME && *token.at == '"';
    if (parts == 3 || (!bare && !quoted)) return NULL;
    buf_append(&name, token.at, token.n);
    PgLexer ahead = *lexer;
    PgToken dot = pg_lex_next(&ahead);
    if (!pg_lex_is_punct(&dot, '.')) return arena_strdup(arena, buf_text(&name));
    buf_putc(&name, '.');
    token = pg_lex_next(&ahead);
    *lexer = ahead;
  }
}

static PgNames names_in_text(Arena *arena, const char *sql) {
  PgNames names = {0};
  PgLexer lexer = {.at = sql};
  PgToken before = {0};
  for (PgToken token; (token = pg_lex_next(&lexer)).kind != PG_LEX_END; before = token) {
    const char *name = names_follow(&before) ? dotted_name(arena, &lexer, token) : NULL;
    if (name != NULL) pg_names_add(arena, &names, name);
  }
  return names;
}

static bool read_by_text(PgEngine *engine, Arena *arena, const char *sql, Found *found, Error *err) {
  PgNames names = names_in_text(arena, sql);
  const char *const values[] = {array_of(arena, &names), array_of(arena, &found->called)};
  const Entry entry = {.seed = sql_query_seed_names, .named = sql_query_named_tables, .values = values, .n = 2};
  return read_catalogue(engine, arena, &entry, found, err);
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

bool pg_query_reads(PgEngine *engine, Arena *arena, const char *sql, QueryFacts *facts, Error *err) {
  Found found = {0};
  bool seen;
  pg_find_calls(arena, sql, &found.present, &found.called);
  if (!read_by_catalogue(engine, arena, sql, &found, &seen, err)) return false;
  if (!seen && !read_by_text(engine, arena, sql, &found, err)) return false;
  if (!find_volatile(engine, arena, &found.called, &found.present, err)) return false;
  facts->reads = found.reads;
  facts->n_reads = found.n;
  facts->volatile_functions = found.present.items;
  facts->n_volatile = found.present.n;
  facts->opaque_functions = found.opaque.items;
  facts->n_opaque = found.opaque.n;
  return true;
}
