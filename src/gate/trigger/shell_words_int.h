#ifndef TIDEGATE_GATE_TRIGGER_SHELL_WORDS_INT_H
#define TIDEGATE_GATE_TRIGGER_SHELL_WORDS_INT_H

#include "base/buf.h"
#include "gate/trigger/shell_int.h"

/* What the files share that read words. */

/* A word as far as it is read. */
typedef struct WordBuilder {
  ShellReader *r;
  ShellPart *parts;
  size_t n;
  Buf text;
  bool text_quoted, quoted;
} WordBuilder;

/* One more byte of text. */
void word_put(WordBuilder *b, char c, bool quoted);

/* shell_quotes.c: from the opening quote to behind the closing one; false, with the reason, when there is none. */
bool word_single_quotes(WordBuilder *b);
bool word_double_quotes(WordBuilder *b);
bool word_ansi_quotes(WordBuilder *b);

/* What a dollar or a backquote begins. */
bool word_take_piece(WordBuilder *b, bool in_quotes);

#endif
