#ifndef TIDEGATE_GATE_TRIGGER_SHELL_H
#define TIDEGATE_GATE_TRIGGER_SHELL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/*
 * A command line as bash reads it (bash(1), "SHELL GRAMMAR", "EXPANSION", "REDIRECTION"), as a tree. Nothing is
 * expanded here. Private to this folder.
 */

typedef struct ShellNode ShellNode;
typedef struct ShellWord ShellWord;

typedef enum ShellPartKind {
  SHELL_TEXT,    /* as it stands, quotes removed */
  SHELL_PARAM,   /* $x, ${x…} */
  SHELL_COMMAND, /* $(…), `…` */
  SHELL_PROCESS, /* <(…), >(…) */
  SHELL_ARITH    /* $((…)) */
} ShellPartKind;

typedef struct ShellPart {
  ShellPartKind kind;
  bool quoted;      /* stands in quotes: its value is one word */
  const char *text; /* SHELL_TEXT: the text; SHELL_PARAM: the name */
  /* SHELL_PARAM: '\0', or the character of :- := :+ :? (with or without the colon), of # % / ^ , and : for a part;
   * 'L' the length, '!' the variable that it names, 'o' another */
  char op;
  bool twice;             /* ## %% // ^^ ,, */
  bool all;               /* SHELL_PARAM: ${x[@]} or ${x[*]} */
  bool literal;           /* arg holds no quotes, so that its pattern is what it expands to */
  const ShellWord *arg;   /* what stands inside: behind the operator, in $((…)); may be NULL */
  const ShellWord *index; /* ${x[index]}; NULL: none, or all */
  const ShellNode *body;
} ShellPart;

struct ShellWord {
  const ShellPart *parts;
  size_t n;
  bool quoted;            /* some quotes were there: an empty value is still a word */
  const ShellWord *items; /* of an array, NAME=(…); n_items counts them */
  size_t n_items;
  bool is_array;
};

typedef enum ShellRedirectKind { SHELL_INPUT, SHELL_HERE, SHELL_OUTPUT } ShellRedirectKind;

typedef struct ShellRedirect {
  ShellRedirectKind kind;
  bool fd;               /* to or from a descriptor: 2>&1 */
  bool other;            /* not standard input or output: 2>file */
  const ShellWord *word; /* the file; of a here-document or here-string its text */
} ShellRedirect;

typedef enum ShellKind {
  SHELL_SIMPLE,   /* words; the first n_assigned of them are assignments */
  SHELL_LIST,     /* children one after the other */
  SHELL_PIPE,     /* children, each reading what the one before prints */
  SHELL_GROUP,    /* { }, ( ), coproc, time, ! : one child */
  SHELL_FOR,      /* words[0] the variable, the others its values; no_in: the arguments. One child */
  SHELL_BRANCHES, /* if, while, until, case, && and ||: each child may run or not; words may hold substitutions */
  SHELL_FUNCTION  /* words[0] the name, one child */
} ShellKind;

struct ShellNode {
  ShellKind kind;
  bool loop, no_in, apart; /* apart: in a shell of its own, what it assigns does not stay */
  const ShellWord *words;
  size_t n_words, n_assigned;
  const ShellRedirect *redirects;
  size_t n_redirects;
  const ShellNode *const *children;
  size_t n;
};

/* What is longer, deeper or made of more pieces is not understood. */
enum { SHELL_MAX_BYTES = 256 * 1024, SHELL_MAX_DEPTH = 64, SHELL_MAX_PIECES = 200 * 1000 };

typedef struct ShellText {
  const ShellNode *root; /* what was understood, also when the rest was not; never NULL */
  const char *why_not;   /* NULL: all of it was understood */
} ShellText;

/* Reads n bytes of text. Everything lives in the arena. */
ShellText shell_read(Arena *arena, const char *text, size_t n);

#endif
