#ifndef TIDEGATE_CLI_HELP_H
#define TIDEGATE_CLI_HELP_H

#include "base/buf.h"
#include "cli/command.h"

/* What `tidegate` alone says: the commands that one needs first. */
void help_orientation(Buf *out);
/* All commands and the global options. */
void help_all(Buf *out);
/* One command: usage, what it does, options, exit statuses, examples. */
void help_command(Buf *out, const Command *command);

#endif
