#include <string.h>

#include "engine/postgres/postgres_sql.h"
#include "engine/postgres/query_int.h"

/* What a query gives, what it reads, and whether it would give the same again. */

/* The server would say no more of another statement than that its first word is wrong. */
static bool check_first_word(const char *sql, int *ret_offset, Error *err) {
  static const char *const words[] = {"select", "with", "values", "table"};
  PgLexer lexer = {.at = sql};
  PgToken token;
  do token = pg_lex_next(&lexer);
  while (pg_lex_is_punct(&token, '('));
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (pg_lex_is(&token, words[i])) return true;
  *ret_offset = (int)(token.at - sql);
  error_set(err, ERR_SPEC, "the query begins with “%.*s”: it may only read", (int)token.n, token.at);
  return error_hint(err, "write one SELECT");
}

static bool uses(const char *sql, const char *const names[3]) {
  PgLexer lexer = {.at = sql};
  for (PgToken token; (token = pg_lex_next(&lexer)).kind != PG_LEX_END;)
    for (int i = 0; i < 3 && token.kind == PG_LEX_PARAMETER; i++)
      if (strlen(names[i]) == token.n && memcmp(names[i], token.at, token.n) == 0) return true;
  return false;
}

bool pg_describe_query(Engine *base, Arena *arena, const char *sql, QueryFacts *ret, int *ret_offset, Error *err) {
  PgEngine *engine = pg_engine(base);
  QueryFacts facts = {0};
  PgReplaced replaced;
  PG_SCOPED described = NULL;
  PgWritten written = {
      .what = "the query", .sql = sql, .before = sql_query_before, .after = sql_query_after, .parameters = true};
  *ret_offset = -1;
  if (!pg_lex_closed(sql, written.what, ret_offset, err) || !check_first_word(sql, ret_offset, err) ||
      !pg_written_describe(engine, arena, &written, &replaced, &described, ret_offset, err) ||
      !pg_query_reads(engine, arena, replaced.sql, &facts, err))
    return false;
  facts.n_columns = (size_t)PQnfields(described);
  const char **columns = arena_array(arena, facts.n_columns, sizeof *columns);
  for (size_t i = 0; i < facts.n_columns; i++) columns[i] = arena_strdup(arena, PQfname(described, (int)i));
  facts.columns = columns;
  facts.uses_from = uses(sql, (const char *const[]){":from", ":from_date", ":from_unix"});
  facts.uses_to = uses(sql, (const char *const[]){":to", ":to_date", ":to_unix"});
  *ret = facts;
  return true;
}
