#ifndef TIDEGATE_CLI_DOCS_H
#define TIDEGATE_CLI_DOCS_H

#include "base/buf.h"

/*
 * What is printed from the program's own tables, so that it cannot differ from it: `tidegate --print-docs DIR` makes
 * DIR/docs/reference/, DIR/man/ and DIR/completions/.
 */
int docs_print(const char *directory);

#endif
