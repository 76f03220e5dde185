#ifndef TIDEGATE_GATE_HOOK_CONFIGS_H
#define TIDEGATE_GATE_HOOK_CONFIGS_H

#include "gate/hook/edit.h"

/* Where each place's configuration stands. Paths are relative to the home directory, or to the project. */
typedef struct HookFile {
  HookConfig config;
  const char *user;     /* under the home directory */
  const char *variable; /* that says another folder than the one `user` begins with; NULL: none */
  const char *project;  /* under the project's folder; NULL: the place has none there */
} HookFile;

const HookFile *hook_files(size_t *ret_n);

#endif
