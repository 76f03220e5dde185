#ifndef TIDEGATE_CLI_CMD_HOOK_H
#define TIDEGATE_CLI_CMD_HOOK_H

#include "cli/session.h"

/* The actions of `tidegate hook`; each gives the exit status. */
int hook_run(Session *session);

#endif
