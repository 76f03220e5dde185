#ifndef TIDEGATE_ENGINE_SQLITE_LEX_H
#define TIDEGATE_ENGINE_SQLITE_LEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * SQL text as SQLite's own tokenizer cuts it (tokenize.c): what is a comment, a quoted name, a text or a parameter is
 * decided as SQLite does, so that nothing can hide from one and be seen by the other.
 */
typedef enum LexKind {
  LEX_END,
  LEX_WORD,      /* a bare name, keyword or number */
  LEX_NAME,      /* "name", `name` or [name] */
  LEX_TEXT,      /* 'text' */
  LEX_PARAMETER, /* ?, ?1, :name, @name, $name */
  LEX_PUNCT,     /* one character */
  LEX_OPEN       /* a quote or a comment that is never closed; n reaches to the end */
} LexKind;

typedef struct LexToken {
  LexKind kind;
  const char *at;
  size_t n;
} LexToken;

typedef struct Lexer {
  const char *at;       /* where the next token is looked for */
  bool comment_at_last; /* a `--` comment ran to the end of the text: whatever is appended would be part of it */
} Lexer;

/* The next token, white space and comments passed over. */
LexToken lex_next(Lexer *lexer);

/* Is it the bare word (upper or lower case)? */
bool lex_is(const LexToken *token, const char *word);
/* Is it the punctuation character? */
bool lex_is_punct(const LexToken *token, char c);
/* Does the token, bare or quoted, name the identifier? Case of ASCII letters does not matter. */
bool lex_names(const LexToken *token, const char *name);

/* Does the text join by USING or NATURAL? The columns that such a join compares are not told to an authorizer. */
bool lex_joins_by_name(const char *sql);

/*
 * May the text be put between parentheses and stay there? Refused: parentheses that do not match, quotes and comments
 * that are not closed, `;`, a last line that is a comment, nothing at all. `what` names the text in the message
 * ("the condition"). Errors: ERR_SPEC, *ret_offset = byte of the fault.
 */
bool lex_closed(const char *sql, const char *what, int *ret_offset, Error *err);

#endif
