#ifndef TIDEGATE_GATE_TRIGGER_SHELL_INT_H
#define TIDEGATE_GATE_TRIGGER_SHELL_INT_H

#include "gate/trigger/shell.h"

/* What the reader's files share. */

/* A here-document whose body comes after the next line end. */
typedef struct ShellPending {
  ShellWord *body;
  const char *delimiter;
  bool quoted, tabs; /* the body stands as it is; leading tabs do not count */
} ShellPending;

typedef struct ShellReader {
  Arena *arena;
  const char *text;
  size_t n, at;
  int depth;
  size_t *pieces; /* shared with the readers of what stands inside */
  const char **why_not;
  ShellPending pending[16];
  size_t n_pending;
} ShellReader;

/* The byte `ahead` of the place; '\0' behind the end. */
static inline char shell_peek(const ShellReader *r, size_t ahead) {
  return r->at + ahead < r->n ? r->text[r->at + ahead] : '\0';
}
static inline bool shell_ended(const ShellReader *r) { return r->at >= r->n; }

/* Gives up, with the first reason; always false. */
bool shell_refuse(ShellReader *r, const char *why);
/* Counts what was read; false when it is too much. */
bool shell_count(ShellReader *r);

/* Nodes, and what belongs to them. */
ShellNode *shell_new_node(ShellReader *r, ShellKind kind);
void shell_add_child(ShellReader *r, ShellNode *node, const ShellNode *child);
void shell_add_word(ShellReader *r, ShellNode *node, ShellWord word);

/* Does this text, or this reserved word, stand here? take: … and then it is read. expect: else it is refused. */
bool shell_at_text(const ShellReader *r, const char *text);
bool shell_at_reserved(const ShellReader *r, const char *word);
bool shell_take_reserved(ShellReader *r, const char *word);
bool shell_expect(ShellReader *r, const char *word);
/* Blanks, comments and line ends, with the here-documents behind these. */
bool shell_skip_lines(ShellReader *r);

/* A list up to what cannot begin a command; one command of any kind; a compound one, *ret NULL when none begins here.
 */
bool shell_read_list(ShellReader *r, const ShellNode **ret);
bool shell_read_command(ShellReader *r, const ShellNode **ret);
bool shell_read_compound(ShellReader *r, ShellNode **ret);

/* Blanks, continued lines and comments. A carriage return counts as a blank. */
void shell_skip_blanks(ShellReader *r);
bool shell_is_meta(char c);

/* A word; *ret_any: there was one. */
bool shell_read_word(ShellReader *r, ShellWord *ret, bool *ret_any);
/* Reads the bodies of the pending here-documents, from the beginning of a line. */
bool shell_read_here(ShellReader *r);
/* The delimiter of a here-document: quotes removed, nothing expanded. */
bool shell_read_delimiter(ShellReader *r, const char **ret, bool *ret_quoted);
/* The body of a here-document whose delimiter is not quoted. */
bool shell_read_body(ShellReader *r, const char *text, size_t n, ShellWord *ret);
/* What stands in (( … )) from behind the opening; false and the place kept when it does not end with )). */
bool shell_read_arithmetic(ShellReader *r, ShellWord *ret);
/* A word of a [[ … ]]: ends at a blank alone. */
bool shell_read_test_word(ShellReader *r, ShellWord *ret);

/* A list up to an unquoted `)`, which is read too. */
bool shell_read_parenthesis(ShellReader *r, const ShellNode **ret);
/* A text of its own inside: backquotes. */
bool shell_read_inside(ShellReader *r, const char *text, size_t n, const ShellNode **ret);

/* The word's text when it is nothing but text (quotes allowed), else NULL. */
const char *shell_plain(Arena *arena, const ShellWord *word);

#endif
