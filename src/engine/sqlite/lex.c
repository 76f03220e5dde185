#include "engine/sqlite/lex.h"

#include <sqlite3.h>
#include <string.h>

static bool is_space(char c) { return c != '\0' && strchr(" \t\n\v\f\r", c) != NULL; }

static bool is_name_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         (unsigned char)c >= 0x80;
}

/* Passes over white space and comments; false at a block comment that is never closed. */
static bool skip_blank(Lexer *lexer) {
  for (;;) {
    const char *s = lexer->at;
    if (is_space(*s)) {
      lexer->at++;
    } else if (s[0] == '-' && s[1] == '-') {
      const char *end = strchr(s, '\n');
      lexer->comment_at_last = end == NULL;
      lexer->at = end == NULL ? s + strlen(s) : end + 1;
    } else if (s[0] == '/' && s[1] == '*') {
      const char *end = strstr(s + 2, "*/");
      if (end == NULL) return false;
      lexer->at = end + 2;
    } else {
      return true;
    }
  }
}

/* The length of a quoted token; 0 when it is never closed. `[name]` knows no doubling. */
static size_t quoted_length(const char *s) {
  char close = *s == '[' ? ']' : *s;
  for (size_t i = 1; s[i] != '\0'; i++) {
    if (s[i] != close) continue;
    if (close == ']' || s[i + 1] != close) return i + 1;
    i++;
  }
  return 0;
}

/* Name characters, `::`, and one (…) without spaces: SQLite reads Tcl's array variables as one parameter. */
static size_t parameter_length(const char *s) {
  size_t i = 1, names = 0;
  for (;;) {
    if (is_name_char(s[i])) {
      i++;
      names++;
    } else if (s[i] == ':' && s[i + 1] == ':') {
      i += 2;
    } else if (s[i] == '(' && names > 0) {
      do i++;
      while (s[i] != '\0' && !is_space(s[i]) && s[i] != ')');
      return s[i] == ')' ? i + 1 : i;
    } else {
      return i;
    }
  }
}

static LexToken quoted_token(const char *s) {
  size_t n = quoted_length(s);
  if (n == 0) return (LexToken){LEX_OPEN, s, strlen(s)};
  return (LexToken){*s == '\'' ? LEX_TEXT : LEX_NAME, s, n};
}

static LexToken token_at(const char *s) {
  if (*s == '\'' || *s == '"' || *s == '`' || *s == '[') return quoted_token(s);
  if (*s == '?') return (LexToken){LEX_PARAMETER, s, 1 + strspn(s + 1, "0123456789")};
  if (*s == ':' || *s == '@' || *s == '$' || *s == '#') {
    size_t n = parameter_length(s);
    return (LexToken){n > 1 ? LEX_PARAMETER : LEX_PUNCT, s, n};
  }
  size_t n = 0;
  while (is_name_char(s[n])) n++;
  return n > 0 ? (LexToken){LEX_WORD, s, n} : (LexToken){LEX_PUNCT, s, 1};
}

LexToken lex_next(Lexer *lexer) {
  if (!skip_blank(lexer)) {
    LexToken open = {LEX_OPEN, lexer->at, strlen(lexer->at)};
    lexer->at += open.n;
    return open;
  }
  if (*lexer->at == '\0') return (LexToken){LEX_END, lexer->at, 0};
  LexToken token = token_at(lexer->at);
  lexer->at += token.n;
  return token;
}

bool lex_is(const LexToken *token, const char *word) {
  return token->kind == LEX_WORD && strlen(word) == token->n && sqlite3_strnicmp(token->at, word, (int)token->n) == 0;
}

bool lex_is_punct(const LexToken *token, char c) { return token->kind == LEX_PUNCT && *token->at == c; }

bool lex_names(const LexToken *token, const char *name) {
  if (token->kind == LEX_WORD) return lex_is(token, name);
  if (token->kind != LEX_NAME && token->kind != LEX_TEXT) return false;
  char quote = *token->at == '[' ? '\0' : *token->at;
  const char *s = token->at + 1, *end = token->at + token->n - 1;
  for (; s < end && *name != '\0'; s++, name++) {
    if (sqlite3_strnicmp(s, name, 1) != 0) return false;
    if (*s == quote) s++;
  }
  return s == end && *name == '\0';
}

static bool refuse(const char *sql, const LexToken *token, int *ret_offset, Error *err, const char *message,
                   const char *what) {
  *ret_offset = (int)(token->at - sql);
  return error_set(err, ERR_SPEC, message, what);
}

/* Was there a statement before the `;`, and is there one after it? */
static bool refuse_semicolon(const char *sql, Lexer *lexer, const LexToken *token, const char *what, int *ret_offset,
                             Error *err) {
  LexToken next = lex_next(lexer);
  if (next.kind == LEX_END) {
    refuse(sql, token, ret_offset, err, "%s ends in ';', which cannot stand inside a larger statement", what);
    return error_hint(err, "take the ';' away");
  }
  refuse(sql, &next, ret_offset, err, "%s goes on after a ';': several statements are never run", what);
  return error_hint(err, "write one statement");
}

bool lex_joins_by_name(const char *sql) {
  Lexer lexer = {.at = sql};
  for (LexToken token; (token = lex_next(&lexer)).kind != LEX_END;)
    if (lex_is(&token, "USING") || lex_is(&token, "NATURAL")) return true;
  return false;
}

bool lex_closed(const char *sql, const char *what, int *ret_offset, Error *err) {
  Lexer lexer = {.at = sql};
  LexToken token, opened = {0};
  int depth = 0;
  size_t tokens = 0;
  for (; (token = lex_next(&lexer)).kind != LEX_END; tokens++) {
    if (token.kind == LEX_OPEN)
      return refuse(sql, &token, ret_offset, err, "%s has a quote or a comment here that is never closed", what);
    if (lex_is_punct(&token, ';')) return refuse_semicolon(sql, &lexer, &token, what, ret_offset, err);
    if (lex_is_punct(&token, '(') && depth++ == 0) opened = token;
    if (lex_is_punct(&token, ')') && depth-- == 0)
      return refuse(sql, &token, ret_offset, err, "%s closes a parenthesis here that it did not open", what);
  }
  if (depth > 0) return refuse(sql, &opened, ret_offset, err, "%s opens a parenthesis here and never closes it", what);
  if (tokens == 0) return refuse(sql, &token, ret_offset, err, "%s is empty", what);
  if (!lexer.comment_at_last) return true;
  refuse(sql, &token, ret_offset, err, "%s ends in a comment, which would swallow what stands after it", what);
  return error_hint(err, "put the comment on a line before, or write it as /* … */");
}
