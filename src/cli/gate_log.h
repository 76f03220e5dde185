#ifndef TIDEGATE_CLI_GATE_LOG_H
#define TIDEGATE_CLI_GATE_LOG_H

#include "cli/session.h"

/* `tidegate gate log` and `tidegate gate approve ID`; each gives the exit status. */
int gate_log(Session *session);
int gate_approve(Session *session, const char *id);

#endif
