#ifndef TIDEGATE_CLI_GATE_COMMAND_H
#define TIDEGATE_CLI_GATE_COMMAND_H

#include "cli/session.h"

/* `tidegate gate --classify TEXT`, `--command TEXT` and `-- CMD ARG…`; each gives the exit status. */
int gate_classify(Session *session, const char *text);
int gate_command(Session *session, const char *text);
int gate_words(Session *session, const char *const *words, size_t n);

#endif
