#include <string.h>

#include "engine/postgres/query_int.h"

/* Judging SQL that a person wrote, before anything of it runs. */

/* ---- what the server would take, but we do not ------------------------------------------------------------------ */

static bool refuse(const PgWritten *written, const PgToken *token, int *ret_offset, Error *err, const char *format) {
  *ret_offset = (int)(token->at - written->sql);
  return error_set(err, ERR_SPEC, format, written->what, (int)token->n, token->at);
}

static bool refuse_parameter(const PgWritten *written, const PgToken *token, int *ret_offset, Error *err) {
  refuse(written, token, ret_offset, err, "%s has the parameter '%.*s', for which there is no value");
  if (!written->parameters) return error_hint(err, "write the value itself: no parameter can stand here");
  return error_hint(err, "write :from and :to, or :from_date, :to_date (dates), :from_unix, :to_unix (seconds)");
}

/* FOR UPDATE, FOR NO KEY UPDATE, FOR SHARE, FOR KEY SHARE. */
static bool locks_rows(PgLexer lexer) {
  PgToken token = pg_lex_next(&lexer);
  return pg_lex_is(&token, "update") || pg_lex_is(&token, "share") || pg_lex_is(&token, "no") ||
         pg_lex_is(&token, "key");
}

/* In an array's brackets a colon stands between two bounds: a name behind it may be a column. */
static bool check_tokens(const PgWritten *written, int *ret_offset, Error *err) {
  PgLexer lexer = {.at = written->sql};
  int brackets = 0;
  for (PgToken token; (token = pg_lex_next(&lexer)).kind != PG_LEX_END;) {
    if (pg_lex_is_punct(&token, '[')) brackets++;
    if (pg_lex_is_punct(&token, ']')) brackets--;
    if (pg_lex_is(&token, "for") && locks_rows(lexer)) {
      refuse(written, &token, ret_offset, err, "%s locks the rows that it reads: it may only read");
      return error_hint(err, "take the FOR UPDATE or FOR SHARE away");
    }
    if (token.kind != PG_LEX_PARAMETER || (written->parameters && pg_is_range_parameter(&token))) continue;
    if (*token.at == ':' && brackets > 0) continue;
    return refuse_parameter(written, &token, ret_offset, err);
  }
  return true;
}

/* ---- what the server says --------------------------------------------------------------------------------------- */

/* Does the failure come from the type of some value, so that another one may fit? */
static bool is_of_types(const char *sqlstate) {
  static const char *const states[] = {"42883", "42725", "42804", "42846", "42P18", "42P08", "22007", "22008", "22P02"};
  for (size_t i = 0; i < sizeof states / sizeof *states; i++)
    if (strcmp(states[i], sqlstate) == 0) return true;
  return false;
}

static PgReplaced replaced_by(Arena *arena, const PgWritten *written, const char *bound) {
  const char *const pairs[] = {":from",      bound,
                               ":to",        bound,
                               ":from_date", "('2001-01-01'::date)",
                               ":to_date",   "('2001-01-02'::date)",
                               ":from_unix", "('978307200'::bigint)",
                               ":to_unix",   "('978393600'::bigint)"};
  return pg_replace_places(arena, written->sql, pairs, written->parameters ? PG_RANGE_PARAMETERS : 0);
}

static bool describe_as(PgEngine *engine, Arena *arena, const PgWritten *written, const PgReplaced *replaced,
                        PGresult **ret, int *ret_offset, Error *err) {
  const char *doing = arena_printf(arena, "reading %s", written->what);
  const char *sql = arena_printf(arena, "%s%s%s", written->before, replaced->sql, written->after);
  int offset;
  Error words = {0};
  if (pg_describe(engine, sql, ret, &offset, doing, &words)) return true;
  offset = offset < (int)strlen(written->before) ? -1 : offset - (int)strlen(written->before);
  *ret_offset = pg_own_offset(replaced, offset);
  *err = words;
  if (words.code != ERR_SPEC) return false;
  const char *said = words.message + strlen(doing) + 2; /* pg_describe puts "doing: " before */
  error_set(err, ERR_SPEC, "%s is not accepted: %s", written->what, said);
  if (words.hint[0] != '\0') error_hint(err, "%s", words.hint);
  if (strstr(said, "data-modifying") != NULL || strstr(said, "INTO") != NULL)
    error_hint(err, "write one SELECT that only reads");
  return false;
}

bool pg_written_describe(PgEngine *engine, Arena *arena, const PgWritten *written, PgReplaced *ret_replaced,
                         PGresult **ret, int *ret_offset, Error *err) {
  static const char *const bounds[] = {"(NULL)",
                                       "('2001-01-01'::date)",
                                       "('2001-01-01 00:00:00+00'::timestamp with time zone)",
                                       "('2001-01-01 00:00:00'::timestamp without time zone)",
                                       "('2001-01-01'::text)",
                                       "('978307200'::bigint)"};
  Error first = {0};
  int first_offset = -1;
  *ret_offset = -1;
  if (!pg_lex_closed(written->sql, written->what, ret_offset, err) || !check_tokens(written, ret_offset, err))
    return false;
  for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
    Error failed = {0};
    PgReplaced replaced = replaced_by(arena, written, bounds[i]);
    if (describe_as(engine, arena, written, &replaced, ret, ret_offset, &failed)) {
      *ret_offset = -1;
      if (ret_replaced != NULL) *ret_replaced = replaced;
      return true;
    }
    if (i == 0) {
      first = failed;
      first_offset = *ret_offset;
    }
    if (is_of_types(pg_sqlstate(engine)) && replaced.n > 0) continue;
    *err = failed;
    return false;
  }
  *err = first;
  *ret_offset = first_offset;
  return false;
}
