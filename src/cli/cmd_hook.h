#ifndef TIDEGATE_CLI_CMD_HOOK_H
#define TIDEGATE_CLI_CMD_HOOK_H

#include "cli/session.h"
#include "gate/hook/hook.h"

/* The actions of `tidegate hook`; each gives the exit status. */
int hook_run(Session *session);
int hook_run_shim(Session *session);
int hook_run_git(Session *session);
int hook_run_ci(Session *session);
int hook_install_place(Session *session);
int hook_remove_place(Session *session);
int hook_status(Session *session);
int hook_test(Session *session);

/* Judges in another process, so that a crash, a lack of memory or a delay is an answer too. */
void hook_judge_apart(const HookPlace *place, const Buf *input, HookReply *ret);

/* Writes the reply; gives its exit status, or that of a closed place when nobody could hear it. */
int hook_reply(const HookPlace *place, HookReply *reply);

#endif
