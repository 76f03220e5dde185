#ifndef TIDEGATE_ENGINE_POSTGRES_LEX_H
#define TIDEGATE_ENGINE_POSTGRES_LEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

/*
 * SQL text as PostgreSQL's own scanner cuts it (scan.l, with standard_conforming_strings on, as every session of ours
 * pins it): what is a comment, a quoted name, a text or a parameter is decided as the server does, so that nothing can
 * hide from one and be seen by the other.
 */
typedef enum PgLexKind {
  PG_LEX_END,
  PG_LEX_WORD,      /* a bare name or keyword */
  PG_LEX_NUMBER,    /* digits */
  PG_LEX_NAME,      /* "name", U&"name" */
  PG_LEX_TEXT,      /* 'text', E'…', U&'…', B'…', X'…', N'…', $tag$…$tag$ */
  PG_LEX_PARAMETER, /* :name, $1; `::`, `:=` and what stands after them is none */
  PG_LEX_PUNCT,     /* one character, but `::` and `:=` as two */
  PG_LEX_OPEN       /* a quote or a comment that is never closed; n reaches to the end */
} PgLexKind;

typedef struct PgToken {
  PgLexKind kind;
  const char *at;
  size_t n;
} PgToken;

typedef struct PgLexer {
  const char *at;       /* where the next token is looked for */
  bool comment_at_last; /* a `--` comment ran to the end of the text: whatever is appended would be part of it */
} PgLexer;

/* The next token, white space and comments passed over. */
PgToken pg_lex_next(PgLexer *lexer);

/* Is it the bare word (upper or lower case)? */
bool pg_lex_is(const PgToken *token, const char *word);
/* A PG_LEX_WORD or quoted PG_LEX_NAME as the catalogue has it: bare in small letters, else without its quotes. */
const char *pg_lex_name(Arena *arena, const PgToken *token);
/* Is it the punctuation character? */
bool pg_lex_is_punct(const PgToken *token, char c);

/*
 * May the text be put between parentheses and stay there? Refused: parentheses that do not match, quotes and comments
 * that are not closed, `;`, a last line that is a comment, nothing at all. `what` names the text in the message
 * ("the condition"). Errors: ERR_SPEC, *ret_offset = byte of the fault.
 */
bool pg_lex_closed(const char *sql, const char *what, int *ret_offset, Error *err);

#endif
