#ifndef TIDEGATE_GATE_TRIGGER_SHELL_RUN_INT_H
#define TIDEGATE_GATE_TRIGGER_SHELL_RUN_INT_H

#include "base/buf.h"
#include "gate/trigger/shell_run.h"

/* What the files that follow a command line share. */

enum { SHELL_CHOICES = 8, SHELL_CHAINS = 256 };

typedef struct ShellFields {
  const char **items;
  size_t n;
  const char **keys; /* of an array whose places are not 0, 1, …; NULL: they are */
} ShellFields;

/* Every value that it may have; later ones come from branches. */
typedef struct ShellVariable {
  const char *name;
  ShellFields choices[SHELL_CHOICES];
  size_t n;
  const char *refers; /* of a nameref: the name that is meant; NULL: its own */
  size_t next;        /* in its chain, from 1; 0: the last */
} ShellVariable;

typedef struct ShellNamed {
  const char *name;
  const ShellNode *body; /* a function; NULL: it is unset */
  const char *text;      /* an alias, or a file's contents; NULL: not known */
  bool perhaps, busy;    /* of a function: defined where it may not run; being called */
  size_t next;           /* in its chain, from 1; 0: the last */
} ShellNamed;

typedef struct ShellTable {
  ShellNamed *items;
  size_t n, chains[SHELL_CHAINS];
} ShellTable;

struct ShellRun {
  Arena *arena;
  ShellSink *sink;
  void *context;
  const char *why_not;
  ShellVariable *variables;
  size_t n_variables, chains[SHELL_CHAINS]; /* variables by their names' hash, from 1 */
  ShellTable functions, aliases, files;
  const char **settings; /* NAME=value, in their order */
  size_t n_settings;
  ShellFields arguments;      /* $1 … */
  bool has_arguments;         /* inside a function, or after `set` */
  const char *zero;           /* $0, where it is known */
  ShellInput input;           /* of whatever has no other: exec < file */
  size_t steps, pipes, bytes; /* bytes: of all words so far */
  int depth;
  ShellVariable *hidden; /* what names were before a function or a command had them for itself */
  size_t n_hidden;
  int calls;             /* functions that run */
  bool branching;        /* this may not run: what it assigns is one more choice */
  size_t choice, widest; /* which choice is expanded now, and how many the widest variable had */
};

/* What is printed; known false: something that cannot be told. */
typedef struct ShellOutput {
  Buf text;
  bool unknown;
  bool made;        /* by a program that makes text of other text, or fetches it */
  const char *file; /* of what is not known: the file that is printed; or NULL */
} ShellOutput;

void shell_eval(ShellRun *run, const ShellNode *node, ShellInput input, ShellOutput *out);

/* shell_expand.c: the fields of words, and the text of one where nothing is split. */
void shell_expand(ShellRun *run, const ShellWord *words, size_t n, ShellFields *ret);
const char *shell_expand_text(ShellRun *run, const ShellWord *word);
void shell_add_field(ShellRun *run, ShellFields *fields, const char *text);
/* Counts bytes that were made of words; beyond SHELL_MAX_EXPANDED nothing is followed further. */
void shell_spend(ShellRun *run, size_t bytes);
/* Runs what is substituted in the word; its text is for those who want it. */
const char *shell_touch(ShellRun *run, const ShellWord *word);

/* shell_param.c: what the part's operator makes of its parameter's value; `index` (NULL: none) and `arg` expanded.
 * False: it is not known. */
bool shell_param(ShellRun *run, const ShellPart *part, const ShellFields *value, const char *index, const char *arg,
                 ShellFields *ret);

/* shell_names.c: variables. */
ShellVariable *shell_find(ShellRun *run, const char *name, size_t n);
void shell_set(ShellRun *run, const char *name, size_t n, ShellFields value);
void shell_forget(ShellRun *run, const char *name);
/* The name is one function's or command's own from here on, until shell_unhide gives back what was n deep. */
void shell_hide(ShellRun *run, const char *name, size_t n);
void shell_unhide(ShellRun *run, size_t n);
/* From here on the name, n bytes, means another. */
void shell_refer(ShellRun *run, const char *name, size_t n, const char *target);
/* An array with keys, and none in it yet. */
void shell_set_keyed(ShellRun *run, const char *name);
/* An element behind the others, at a place of its own. */
void shell_add_keyed(ShellRun *run, ShellFields *fields, const char *key, const char *text);
/* Which chain a name of n bytes is in; the newest stands first in it. */
size_t shell_chain(const char *name, size_t n);
ShellNamed *shell_named(const ShellTable *table, const char *name);
void shell_name(ShellRun *run, ShellTable *table, ShellNamed item);

/* shell_builtins.c: what the shell itself does by a command. True: nothing else is to be told of it. */
bool shell_builtin(ShellRun *run, const ShellCommand *command);
/* What a redirection or tee writes, behind what was there: whether that stays is not looked at. */
void shell_write_file(ShellRun *run, const char *name, const ShellOutput *printed);
/* NAME=…, NAME+=…, NAME=(…); own: as of shell_hide; refers: the value is the name that is meant. */
void shell_assign(ShellRun *run, const ShellWord *word, bool own, bool refers);
/* shell_print.c: what well-known programs print: echo, printf, cat, tee. */
void shell_print(ShellRun *run, const ShellCommand *command, ShellOutput *out);

#endif
