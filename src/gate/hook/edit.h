#ifndef TIDEGATE_GATE_HOOK_EDIT_H
#define TIDEGATE_GATE_HOOK_EDIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

/*
 * A place's configuration, with Tidegate's entry and without it. Text in, text out: what is not Tidegate's stays byte
 * for byte, comments and order too. What is not understood is refused rather than broken. Texts live in the arena.
 */
typedef enum HookFormat { HOOK_JSON, HOOK_TOML, HOOK_SHELL } HookFormat;

/* One list in a JSON configuration to which an entry is added: hooks.EVENT; `{}` in the entry stands for the command.
 */
typedef struct HookEvent {
  const char *name;
  const char *entry;
} HookEvent;

typedef struct HookConfig {
  const char *place;
  HookFormat format;
  HookEvent events[2];  /* HOOK_JSON: those with a name */
  const char *head;     /* HOOK_JSON: a member that must be there, `"version": 1`; NULL: none */
  const char *template; /* the others: what is written between the markers, with @TIDEGATE@ for the program */
} HookConfig;

/*
 * The text with the entry for the program `binary`. When it is there already with this very program, *ret is the text
 * itself. `file` is named in errors (ERR_SPEC with the place).
 */
bool hook_edit_add(Arena *arena, const HookConfig *config, const char *file, const char *text, const char *binary,
                   const char **ret, Error *err);
/* The text without any entry of Tidegate's; the text itself when there is none. */
bool hook_edit_remove(Arena *arena, const HookConfig *config, const char *file, const char *text, const char **ret,
                      Error *err);
/* The program that the entry calls, "" when the entry is there and has another form; NULL: there is no entry.
 * *ret_command: the very command line. */
bool hook_edit_find(Arena *arena, const HookConfig *config, const char *file, const char *text, const char **ret_binary,
                    const char **ret_command, Error *err);

#endif
