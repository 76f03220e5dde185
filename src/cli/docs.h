#ifndef TIDEGATE_CLI_DOCS_H
#define TIDEGATE_CLI_DOCS_H

#include "base/buf.h"
#include "cli/command.h"

/*
 * What is printed from the program's own tables, so that it cannot differ from it: `tidegate --print-docs DIR` makes
 * DIR/docs/reference/, DIR/man/, DIR/completions/ and DIR/states.mermaid. Gives the exit status.
 */
int docs_print(const char *directory);

/* docs_reference.c: the pages of docs/reference. */
void docs_commands(Buf *out);
void docs_exit_codes(Buf *out);
void docs_states(Buf *out);
/* The diagram of states alone; script/docs puts it into ARCHITECTURE.md. */
void docs_states_diagram(Buf *out);
void docs_gate_rules(Buf *out);
void docs_spec(Buf *out);

/* docs_man.c: scdoc. command NULL: tidegate(1). */
void docs_man(Buf *out, const Command *command);

/* docs_shell.c */
void docs_bash(Buf *out);
void docs_zsh(Buf *out);

#endif
