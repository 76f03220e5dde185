#ifndef TIDEGATE_CLI_CMD_HOOK_H
#define TIDEGATE_CLI_CMD_HOOK_H

#include "cli/session.h"
#include "gate/hook/hook.h"

/* The actions of `tidegate hook`; each gives the exit status. */
int hook_run(Session *session);
int hook_run_git(Session *session);
int hook_run_ci(Session *session);
int hook_install_place(Session *session);
int hook_remove_place(Session *session);
int hook_status(Session *session);
int hook_test(Session *session);

#endif
