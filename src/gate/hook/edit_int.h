#ifndef TIDEGATE_GATE_HOOK_EDIT_INT_H
#define TIDEGATE_GATE_HOOK_EDIT_INT_H

#include "gate/hook/edit.h"

/* Some bytes of a text, replaced by others. */
typedef struct Splice {
  size_t at, length;
  const char *with;
} Splice;

/* All splices at once; they are in order and do not overlap. */
const char *hook_splice(Arena *arena, const char *text, const Splice *splices, size_t n);

/* The program of a command `PROGRAM hook run PLACE`, quotes removed; NULL when it is another command. */
const char *hook_program_of(Arena *arena, const char *command, const char *place);

/* edit_json.c: as hook_edit_add, hook_edit_remove and hook_edit_find, for a file of JSON. */
bool hook_json_add(Arena *arena, const HookConfig *config, const char *file, const char *text, const char *binary,
                   const char **ret, Error *err);
bool hook_json_remove(Arena *arena, const HookConfig *config, const char *file, const char *text, const char **ret,
                      Error *err);
bool hook_json_find(Arena *arena, const HookConfig *config, const char *file, const char *text, const char **ret_binary,
                    const char **ret_command, Error *err);

/* edit_toml.c: can a block be put behind the text: is it a TOML file that ends outside of everything, without hooks
 * elsewhere? */
bool hook_toml_takes_block(const char *file, const char *text, Error *err);

#endif
