#include "engine/postgres/lex.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"

static bool is_space(char c) { return c != '\0' && strchr(" \t\n\v\f\r", c) != NULL; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_name_char(char c) { return is_name_start(c) || is_digit(c) || c == '$'; }

/* ---- what stands between tokens --------------------------------------------------------------------------------- */

/* The end of a block comment, which may hold others; NULL when it is never closed. */
static const char *comment_end(const char *s) {
  int depth = 0;
  do {
    if (s[0] == '/' && s[1] == '*') {
      depth++;
      s += 2;
    } else if (s[0] == '*' && s[1] == '/') {
      depth--;
      s += 2;
    } else if (*s++ == '\0') {
      return NULL;
    }
  } while (depth > 0);
  return s;
}

/* Passes over white space and comments; false at a block comment that is never closed. */
static bool skip_blank(PgLexer *lexer) {
  for (;;) {
    const char *s = lexer->at;
    if (is_space(*s)) {
      lexer->at++;
    } else if (s[0] == '-' && s[1] == '-') {
      lexer->at = s + strcspn(s, "\n\r");
      lexer->comment_at_last = *lexer->at == '\0';
    } else if (s[0] == '/' && s[1] == '*') {
      const char *end = comment_end(s);
      if (end == NULL) return false;
      lexer->at = end;
    } else {
      return true;
    }
  }
}

/* ---- quotes ----------------------------------------------------------------------------------------------------- */

/* After a quote's end: the opening quote of its next segment, if one stands on a later line with nothing but white
 * space and `--` comments between; else NULL. */
static const char *next_segment(const char *s) {
  bool line = false;
  for (;; s++) {
    if (s[0] == '-' && s[1] == '-') s += strcspn(s, "\n\r");
    line |= *s == '\n' || *s == '\r';
    if (!is_space(*s)) return line && *s == '\'' ? s : NULL;
  }
}

/* The end of a quoted token that opens at `s`; NULL when it is never closed. Only E'…' knows backslashes, in its
 * segments on further lines too. */
static const char *quoted_end(const char *s, bool escapes) {
  char quote = *s++;
  for (;;) {
    if (*s == '\0') return NULL;
    if (escapes && s[0] == '\\' && s[1] != '\0') {
      s += 2;
    } else if (*s != quote) {
      s++;
    } else if (s[1] == quote) {
      s += 2;
    } else {
      const char *more = escapes ? next_segment(s + 1) : NULL;
      if (more == NULL) return s + 1;
      s = more + 1;
    }
  }
}

/* The length of `$tag$` or `$$`; 0 when none stands here. */
static size_t dollar_tag(const char *s) {
  size_t n = 1;
  if (is_name_start(s[n]))
    while (is_name_char(s[n]) && s[n] != '$') n++;
  return s[n] == '$' ? n + 1 : 0;
}

static PgToken up_to(PgLexKind kind, const char *s, const char *end) {
  if (end == NULL) return (PgToken){PG_LEX_OPEN, s, strlen(s)};
  return (PgToken){kind, s, (size_t)(end - s)};
}

static PgToken dollar_token(const char *s) {
  size_t digits = strspn(s + 1, "0123456789"), tag = dollar_tag(s);
  if (digits > 0) return (PgToken){PG_LEX_PARAMETER, s, 1 + digits};
  if (tag == 0) return (PgToken){PG_LEX_PUNCT, s, 1};
  for (const char *end = s + tag; (end = strchr(end, '$')) != NULL; end++)
    if (strncmp(end, s, tag) == 0) return up_to(PG_LEX_TEXT, s, end + tag);
  return up_to(PG_LEX_TEXT, s, NULL);
}

/* ---- tokens ----------------------------------------------------------------------------------------------------- */

static size_t name_length(const char *s) {
  size_t n = 0;
  if (!is_name_start(*s)) return 0;
  while (is_name_char(s[n])) n++;
  return n;
}

static PgToken colon_token(const char *s) {
  size_t n = name_length(s + 1);
  if (s[1] == ':' || s[1] == '=') return (PgToken){PG_LEX_PUNCT, s, 2};
  return n > 0 ? (PgToken){PG_LEX_PARAMETER, s, n + 1} : (PgToken){PG_LEX_PUNCT, s, 1};
}

static PgToken token_at(const char *s) {
  if (*s == '\'') return up_to(PG_LEX_TEXT, s, quoted_end(s, false));
  if (*s == '"') return up_to(PG_LEX_NAME, s, quoted_end(s, false));
  if (*s == '$') return dollar_token(s);
  if (*s == ':') return colon_token(s);
  if (is_digit(*s)) return (PgToken){PG_LEX_NUMBER, s, strspn(s, "0123456789")};
  if (strchr("EeBbXxNn", *s) != NULL && s[1] == '\'')
    return up_to(PG_LEX_TEXT, s, quoted_end(s + 1, *s == 'E' || *s == 'e'));
  if ((*s == 'U' || *s == 'u') && s[1] == '&' && (s[2] == '\'' || s[2] == '"'))
    return up_to(s[2] == '"' ? PG_LEX_NAME : PG_LEX_TEXT, s, quoted_end(s + 2, false));
  size_t n = name_length(s);
  return n > 0 ? (PgToken){PG_LEX_WORD, s, n} : (PgToken){PG_LEX_PUNCT, s, 1};
}

PgToken pg_lex_next(PgLexer *lexer) {
  if (!skip_blank(lexer)) {
    PgToken open = up_to(PG_LEX_OPEN, lexer->at, NULL);
    lexer->at += open.n;
    return open;
  }
  if (*lexer->at == '\0') return (PgToken){PG_LEX_END, lexer->at, 0};
  PgToken token = token_at(lexer->at);
  lexer->at += token.n;
  return token;
}

bool pg_lex_is(const PgToken *token, const char *word) {
  return token->kind == PG_LEX_WORD && strlen(word) == token->n && strncasecmp(token->at, word, token->n) == 0;
}

const char *pg_lex_name(Arena *arena, const PgToken *token) {
  BUF_SCOPED name = {0};
  bool bare = token->kind == PG_LEX_WORD;
  for (size_t i = bare ? 0 : 1; i < token->n - (bare ? 0 : 1); i++) {
    buf_putc(&name, bare ? (char)tolower((unsigned char)token->at[i]) : token->at[i]);
    if (!bare && token->at[i] == '"') i++;
  }
  return arena_strdup(arena, buf_text(&name));
}

bool pg_lex_is_punct(const PgToken *token, char c) {
  return token->kind == PG_LEX_PUNCT && token->n == 1 && *token->at == c;
}

/* ---- texts that stand inside a statement ------------------------------------------------------------------------ */

static bool refuse(const char *sql, const PgToken *token, int *ret_offset, Error *err, const char *message,
                   const char *what) {
  *ret_offset = (int)(token->at - sql);
  return error_set(err, ERR_SPEC, message, what);
}

static bool refuse_semicolon(const char *sql, PgLexer *lexer, const PgToken *token, const char *what, int *ret_offset,
                             Error *err) {
  PgToken next = pg_lex_next(lexer);
  if (next.kind == PG_LEX_END) {
    refuse(sql, token, ret_offset, err, "%s ends in ';', which cannot stand inside a larger statement", what);
    return error_hint(err, "take the ';' away");
  }
  refuse(sql, &next, ret_offset, err, "%s goes on after a ';': several statements are never run", what);
  return error_hint(err, "write one statement");
}

bool pg_lex_closed(const char *sql, const char *what, int *ret_offset, Error *err) {
  PgLexer lexer = {.at = sql};
  PgToken token, opened = {0};
  int depth = 0;
  size_t tokens = 0;
  for (; (token = pg_lex_next(&lexer)).kind != PG_LEX_END; tokens++) {
    if (token.kind == PG_LEX_OPEN)
      return refuse(sql, &token, ret_offset, err, "%s has a quote or a comment here that is never closed", what);
    if (pg_lex_is_punct(&token, ';')) return refuse_semicolon(sql, &lexer, &token, what, ret_offset, err);
    if (pg_lex_is_punct(&token, '(') && depth++ == 0) opened = token;
    if (pg_lex_is_punct(&token, ')') && depth-- == 0)
      return refuse(sql, &token, ret_offset, err, "%s closes a parenthesis here that it did not open", what);
  }
  if (depth > 0) return refuse(sql, &opened, ret_offset, err, "%s opens a parenthesis here and never closes it", what);
  if (tokens == 0) return refuse(sql, &token, ret_offset, err, "%s is empty", what);
  if (!lexer.comment_at_last) return true;
  refuse(sql, &token, ret_offset, err, "%s ends in a comment, which would swallow what stands after it", what);
  return error_hint(err, "put the comment on a line before, or write it as /* … */");
}
